//! Camera files beside scenes, flights, projections and sizes of pictures by hand.
#![allow(clippy::unwrap_used, reason = "tests")]

mod beside;
mod flight;
mod picture_size;
mod projection;
mod refused;
mod view_list;
