//! The emulated graphics pipeline of a GPU with VR-Pipe's additions ("VR-Pipe: Streamlining Hardware
//! Graphics Pipeline for Volume Rendering"), functional and timed.
//!
//! ```text
//! splats in drawing order
//!   -> geometry: vertex shading, primitive assembly
//!   -> coalesce: [tile-grid coalescing]
//!   -> raster: setup, coarse, Hi-Z, fine
//!   -> coalesce: tile coalescing -> zrop: PROP, termination + stencil + depth tests
//!   -> coalesce: [quad reordering], warp packing -> warp: launch, shader cores, [quad merging]
//!   -> crop: cache, blend, [alpha test] -> [termination bit, back to zrop]
//! ```
//!
//! Brackets mark VR-Pipe's additions, which a [`Variant`](variant::Variant) switches on. A [`Simulator`](wiring::Simulator)
//! wires the units and runs a [`Draw`](draw::Draw); the [`SimulationResult`](result::SimulationResult) holds picture,
//! cycles and counters. Raster units and ZROP are generic over the shared state, which lets the mesh path use them.
//!
//! Other [`Method`](method::Method)s draw the same splats: [`passes`] terminates pixels in software,
//! [`imitation`] replaces VR-Pipe's additions by the stencil test and the fragment shader,
//! [`shader_blend`](warp::shader_blend) blends in the fragment shader, [`compute`] is the software renderer on the shader
//! cores, [`tile_gpu`] bins primitives and draws tile by tile on the chip, and [`gscore`] is an accelerator. A [`Machine`](machine::Machine) runs any of them.
//!
//! # Time
//!
//! Function and time are one model: whether a pixel's termination bit precedes a test, in cycles, decides the test.
//!
//! Every unit processes packets in order from a queue of finite depth. A packet enters the queue when it is offered and the
//! packet `depth` positions ahead has left. Work starts when the packet has entered, the unit's port is free, and the
//! pipeline behind the port has room. The packet leaves that pipeline when the next unit's queue accepts it; packets behind
//! it close up and wait. All times of a packet therefore follow from packets ahead of it, so units push each packet through
//! to the end before the next one (see [`stage`](quadrille_machine::stage)), without an event queue.
//!
//! The model is exact for order, rates, latencies and back-pressure: queues are first-in-first-out, bins are flushed by
//! earlier packets and at deadlines, schedulers serve the oldest warp first, and termination updates have priority over
//! tests. The feedback from CROP to ZROP carries the cycle at which it arrives: a test reads the bit as of its own cycle,
//! and every blend that could set it before belongs to a packet further ahead. A second simulator among the tests
//! (`tests/simulator/reference`) runs one GPC cycle by cycle, from the mechanisms alone, and agrees on 10,000 random small
//! draws: on the cycle of every raster tile, beat and termination bit, on all busy cycles, and on the picture.
//!
//! The model is approximate where a packet depends on later ones or shares a resource with them:
//!
//! - Vertex warps take issue slots from the fragment warps pushed next, which are not always the ones that run next.
//! - A full queue of termination updates drains at their rate alone, although a test may hold the port of ZROP.
//! - Memory bandwidth is reserved in a calendar, and caches see accesses in packet order.

pub mod coalesce;
pub mod compute;
pub mod config;
pub mod crop;
pub mod draw;
pub mod draw_state;
pub mod energy;
pub mod estimates;
pub mod extension;
pub mod frame;
pub mod frame_sequence;
pub mod geometry;
pub mod gpc;
pub mod gscore;
pub mod host_memory;
pub mod imitated_draw;
pub mod imitation;
pub mod in_shader;
pub mod machine;
pub mod method;
pub mod optional_parts;
pub mod outcome;
pub mod outcome_counts;
pub mod passes;
pub mod raster;
pub mod relief;
pub mod result;
pub mod sensitivity;
pub mod simulation;
pub mod tile_gpu;
pub mod tile_owner;
pub mod unused_fields;
pub mod variant;
pub mod view;
pub mod warp;
pub mod wiring;
pub mod zrop;
