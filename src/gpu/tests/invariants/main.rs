//! Estimates by hand, tiles and their owners, names of methods, which fields a method reads, and the buffer of vertex
//! results.
#![allow(clippy::unwrap_used, reason = "tests")]

mod energy;
mod method;
mod tile_owner;
mod unused_fields;
mod vertex_buffer;
