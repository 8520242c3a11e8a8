//! Shading rules.

mod profile;

pub use profile::{ALPHA_CUT, JacobianClamp, OpacityFactor, Profile, StopRule};
