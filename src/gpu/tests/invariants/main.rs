//! Tests of energy estimates, tile owners, names of methods, fields that methods read, and the buffer of vertex results.
#![allow(clippy::unwrap_used, reason = "tests")]

mod energy;
mod method;
mod tile_owner;
mod unused_fields;
mod vertex_buffer;
