//! A frame of the mesh path without timing: all counts and the picture, on all cores.
//!
//! ```text
//! batches --chunk--> quads, in submission order      (chunks in parallel)
//!         --visibility--> samples that pass the test (bins in parallel, each in order)
//!         --merging--> quads for the shader          (grids or draws in parallel)
//!         --picture--> shaded and resolved pixels
//! ```
//!
//! Edge functions, coverage, depth test and merging units are shared with the cycle-level pipeline, which gives
//! the same counts and the same owner of every sample, but draws no picture.

pub mod chunk;
mod drawn_area;
mod layers;
pub mod merging;
pub mod picture;
mod reyes;
mod sample_fragments;
pub mod settings;
pub mod visibility;
mod visible_frame;

pub use drawn_area::DrawnArea;
pub use merging::{ShaderQuad, Shading};
pub use picture::ShadedColours;
pub use sample_fragments::SampleFragment;
pub use settings::{Cull, Faces, FrameSettings, MEMORY_BYTES};
pub use visible_frame::VisibleFrame;
