//! Warps: launch, timing on the shader cores, and the fragment shader.

pub mod attribute_cache;
pub mod cores;
pub mod exact_alpha;
pub mod fragment;
pub(crate) mod imitated_merging;
pub mod interlock;
pub mod issue;
pub mod launch;
mod race;
pub mod raced_picture;
pub mod schedule;
pub mod shader_blend;
pub mod tile_fetch;
pub mod update;
mod warp_slots;
