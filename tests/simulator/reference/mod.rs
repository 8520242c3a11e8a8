//! A slow simulator of the emulated pipeline, cycle by cycle, and its comparison with the fast one.
//!
//! The fast simulator computes the cycles of a packet from the cycles of the packets before it. This one is a
//! clocked machine: queues hold packets, ports let a certain amount of work pass in a cycle, and units
//! look at both in every cycle. It shares no timing with the fast simulator, and works out coverage,
//! blending and termination of flat rectangles and triangles on its own; colours are rounded, quads merged
//! and points tested against triangles by functions of the library.
//!
//! Within a cycle, bins fall due first. Then units move packets, from the last unit to the first and again
//! until none can: an item may enter a queue and leave it in one cycle, and a place that is left in a cycle
//! is free in it. ZROP performs an update that has arrived before it tests quads.
//!
//! Exact, on one GPC, in all variants: queues, rates, latencies, pipelines that fill up, bins with all
//! four reasons for flushes, quad reordering, packing, schedulers and warp slots, the port towards CROP,
//! dependent blends, termination updates, and the cycle in which the draw ends. Vertices take no bytes
//! and no issue slots, and the caches hold the picture, so that memory plays no part.
//!
//! Bounded: vertex warps that take issue slots, and queues of termination updates that are full.

mod agreement;
mod bins;
mod coarse;
mod cores;
mod crop;
mod draws;
mod front;
mod grids;
mod machine;
mod observed;
mod pack;
mod packets;
mod probe;
mod queue;
mod tiles;
mod zrop;

use quadrille::machine::rate::Rate;

use queue::Ratio;

/// A configured rate.
fn ratio(rate: Rate) -> Ratio {
    Ratio { items: rate.items().into(), cycles: rate.cycles().into() }
}
