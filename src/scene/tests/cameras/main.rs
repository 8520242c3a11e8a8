//! Tests of cameras: files beside scenes, flights, projections, sizes of pictures, lists of views.
#![allow(clippy::unwrap_used, reason = "tests")]

mod beside;
mod flight;
mod picture_size;
mod projection;
mod refused;
mod view_list;
