//! Effects of a fragment on a pixel: falloff, blending and stop rules, colour formats, depth and stencil tests.

mod blend;
mod colour_format;
mod compare_op;
mod depth;
mod falloff;
mod profile;
mod quad_blend;
mod stencil;

pub use blend::{Accumulated, Blended};
pub use blend::{falloff_at, fragment_alpha};
pub use colour_format::ColourFormat;
pub use compare_op::CompareOp;
pub use depth::DepthTest;
pub use falloff::{cap_rounded_down, falloff_alpha, falloff_exponent};
pub use profile::ALPHA_CUT;
pub use profile::{JacobianClamp, OpacityFactor, Profile, SplatOrder, StopRule};
pub use quad_blend::{QuadColour, under};
pub use quad_blend::{under_channel, under_lanes};
pub use stencil::{StencilOperation, StencilTest};
pub use stencil::{StencilOutcome, TERMINATED};
