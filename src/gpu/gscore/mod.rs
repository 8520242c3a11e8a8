//! Model of GSCore, an accelerator for Gaussian splatting ("GSCore: Efficient Radiance Field Rendering via Architectural
//! Support for 3D Gaussian Splatting", ASPLOS 2024), with which VR-Pipe compares itself in section VII-C.
//!
//! ```text
//! splats of the scene
//!   -> cull: culling and conversion units; oriented box against tiles, a bitmap of four subtiles per pair
//!   -> sort: coarsely into chunks, each chunk exactly by a bitonic unit
//!   -> render: a tile per core; live subtiles of the bitmaps of its entries
//! ```
//!
//! The three stages work on different tiles at the same time and share DRAM. The picture equals that of the software
//! renderer with oriented boxes, since a subtile outside the box of a splat has no fragment of the splat.

pub mod accelerator;
pub mod cull;
pub mod kept_order;
pub mod render;
pub mod sort;
pub mod spec;
