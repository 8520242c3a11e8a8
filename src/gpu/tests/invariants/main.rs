//! Estimates by hand, tiles and their owners, names of methods, and which fields a method reads.
#![allow(clippy::unwrap_used, reason = "tests")]

mod energy;
mod method;
mod tile_owner;
mod unused_fields;
