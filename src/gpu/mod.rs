//! The emulated graphics pipeline of a GPU: functional and timed, with VR-Pipe's additions ("VR-Pipe:
//! Streamlining Hardware Graphics Pipeline for Volume Rendering").
//!
//! ```text
//! splats in drawing order
//!   -> geometry: vertex shading, primitive assembly
//!   -> coalesce: [tile-grid coalescing]
//!   -> raster: setup, coarse, Hi-Z, fine
//!   -> coalesce: tile coalescing -> zrop: PROP, termination + stencil + depth tests
//!   -> coalesce: [quad reordering], warp packing -> warp: launch, shader cores, [merge]
//!   -> crop: cache, blend, [alpha test] -> [termination bit, back to zrop]
//! ```
//!
//! In brackets: what VR-Pipe adds; a [`Variant`](variant::Variant) says which of it is on.
//! [`pipeline::run`] wires the units and runs a [`Draw`](draw::Draw); an
//! [`Outcome`](outcome::Outcome) holds the picture, the cycles and the counters.
//!
//! The raster units and the depth test also work on triangles with several samples per pixel: they are
//! generic over the state that all units share, and the mesh path brings its own.
//!
//! # Time
//!
//! Function and time are one model: what a fragment does depends on whether its pixel's termination
//! bit was written before its test, in cycles.
//!
//! Every unit takes its packets in order, from a queue of finite depth, and each packet's times
//! follow from those before it: it enters the queue when it is offered and the packet `depth` places
//! ahead has left; work on it starts when it has entered and the unit is free; it leaves when the
//! next unit's queue takes it, and until then a rigid pipeline behind it stands still. So units push
//! packets into each other (see [`stage`](crate::pipeline::stage)), one packet all the way to the end before the next, and
//! no queue of events is needed.
//!
//! This is exact, not an approximation, because nothing that happens to a packet depends on a packet
//! behind it in the same order: queues are first-in-first-out, bins are flushed by what has come
//! before, schedulers serve the oldest warp first, termination updates have the right of way over
//! tests. The only way back, from CROP to ZROP, carries the time at which it lands: a test reads the
//! bit as of its own cycle, and every blend that could have set it before that cycle belongs to a
//! packet further ahead. Two resources are shared by packets whose times interleave: issue slots of
//! the shader cores, which vertex warps take and the next fragment warps owe, and the bandwidth of
//! memory, kept as a calendar; both conserve what they hand out, their order among equals is the
//! order of packets.

pub mod coalesce;
pub mod config;
pub mod crop;
pub mod draw;
pub mod draw_state;
pub mod geometry;
pub mod microbench;
pub mod outcome_counts;
pub mod raster;
pub mod result;
pub mod tile_owner;
pub mod variant;
pub mod view;
pub mod warp;
pub mod wiring;
pub mod zrop;
