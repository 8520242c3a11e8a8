//! Sort-based deferred shading of stochastically rasterized meshes (Clarberg, Toth and Munkberg, "A Sort-based Deferred
//! Shading Architecture for Decoupled Sampling", 2013), and the pipelines that it is compared with.
//!
//! ```text
//! grids --both ends of the shutter--> moving triangles --raster--> hits
//!   hits --depth test, map to the shading grid--> samples {depth, primitive, morton}
//!   samples --tile, sort, scan--> shading quads --shade, scatter, resolve--> picture
//!   hits, in submission order --> MSAA, cached decoupled sampling, the same with a depth prepass
//! ```
//!
//! A hit is a sample that a triangle covers. It is mapped to a shading point, the point of the triangle's shading grid that
//! gives the sample its colour, whose name is a shading point identifier ([`shading::spid`]). A shading point's colour is a
//! function of that identifier alone, so all pipelines with decoupled sampling draw the same picture; they differ in how
//! often they compute it and in what they move to and from memory.
//!
//! Two data structures join the parts: [`hits`], in submission order, which the pipelines that shade during the raster
//! consume, and [`samples`], the identifier and depth that each sample shows in the end, for the sorted back end.

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
