//! Warps: launch, execution on the shader cores, and the program that they run.

pub mod cores;
pub mod exact_alpha;
pub mod fragment;
pub mod issue;
pub mod launch;
pub mod schedule;
