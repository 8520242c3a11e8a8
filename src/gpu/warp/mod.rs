//! Warps: launch, execution on the shader cores, and the program that they run.

pub mod cores;
mod exact_alpha;
pub mod fragment;
pub mod launch;
pub mod schedule;

pub use cores::ShaderIssue;
pub use exact_alpha::{ExactAlpha, NearCut};
pub use fragment::{FragmentShader, ShadedQuad};
