//! What a fragment does to a pixel: falloff, blend and stop rules, buffers' formats, depth and
//! stencil tests, each defined once, without time.

mod blend;
mod colour_format;
mod comparison;
mod depth;
mod falloff;
mod profile;
mod quad_blend;
mod stencil;

pub use blend::{Accumulated, Blended, fragment_alpha};
pub use colour_format::ColourFormat;
pub use comparison::Comparison;
pub use depth::DepthTest;
pub use falloff::{cap_rounded_down, falloff_alpha, falloff_exponent};
pub use profile::{ALPHA_CUT, JacobianClamp, OpacityFactor, Profile, StopRule};
pub use quad_blend::{QuadColour, under, under_channel};
pub use stencil::{StencilOperation, StencilOutcome, StencilTest, TERMINATED};
