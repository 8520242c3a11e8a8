//! Triangle meshes and subdivision surfaces through the same kind of pipeline as splats, with 1 to 16 samples
//! per pixel, and the units that merge quads of adjacent triangles before they are shaded.
//!
//! ```text
//! grids --frame-----> counts and picture, on all cores
//!       --pipeline--> the same counts and the same owner of every sample, in cycles
//! ```
//!
//! A merging unit may stand between the depth test and the shader: quad-fragment merging ([`qfm`](merge::qfm)) or the pixel
//! merge unit ([`pmu`](merge::pmu)). These modules define its function once; `frame` runs it as fast as the host allows,
//! `pipeline` as stages with queues, rates and latencies. Coverage and depth test are shared with the emulated
//! pipeline ([`quadrille_base::raster::sampled`], [`quadrille_base::raster::sample_depth`]).

pub mod clip;
pub mod draw;
pub mod frame;
pub mod mean_area;
pub mod merge;
pub mod project;
pub mod result;
pub mod shade;
