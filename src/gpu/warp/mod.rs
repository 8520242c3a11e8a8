//! Warps: launch, timing on the shader cores, and the fragment shader.

pub mod attribute_cache;
pub mod cores;
pub mod exact_alpha;
pub mod fragment;
pub mod issue;
pub mod launch;
pub mod schedule;
pub mod update;
