//! What a fragment does to a pixel: falloff, blend and stop rules, each defined once, without time.

mod blend;
mod profile;

pub use blend::{Accumulated, Blended, fragment_alpha};
pub use profile::{ALPHA_CUT, JacobianClamp, OpacityFactor, Profile, StopRule};
