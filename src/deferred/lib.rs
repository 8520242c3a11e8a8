//! Sort-based deferred shading of stochastically rasterized meshes (Clarberg, Toth and Munkberg, "A Sort-based Deferred
//! Shading Architecture for Decoupled Sampling", 2013), and the pipelines to which the paper compares it.
//!
//! ```text
//! grids --both ends of the shutter--> moving triangles --raster--> hits
//!   hits --depth test, map to the shading grid--> samples {depth, primitive, morton}
//!   samples --tile, sort, scan--> shading quads --shade, scatter, resolve--> picture
//!   hits, in submission order --> MSAA, cached decoupled sampling, the same with a depth prepass
//! ```
//!
//! A hit is a sample that a triangle covers. It is mapped to a shading point, the point of the triangle's shading grid that
//! gives the sample its colour, with a shading point identifier ([`shading::spid`]). The colour depends on the identifier
//! alone, so all pipelines with decoupled sampling draw the same picture; they differ in shader executions and traffic.
//!
//! Two data structures join the parts: [`hits`], in submission order, for the pipelines that shade during the raster, and
//! [`samples`], the visible identifier and depth of each sample, for the sorted back end.

pub mod backend;
pub mod camera;
pub mod config;
pub mod draw;
pub mod forward;
pub mod frame;
pub mod geometry;
mod hit_stream;
pub mod hits;
pub mod memory;
pub mod outcome;
pub mod raster;
mod raster_block;
pub mod sample;
pub mod samples;
pub mod settings;
pub mod shading;
pub mod simulate;
pub mod spid_traffic;
