//! Warps: what the shader cores run.

mod exact_alpha;
mod fragment;

pub use exact_alpha::{ExactAlpha, NearCut};
pub use fragment::{FragmentShader, ShadedQuad};
