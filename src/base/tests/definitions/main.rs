//! Rules of shading, functions of lanes and formats of films against their definitions.
#![allow(clippy::unwrap_used, reason = "tests")]

mod apng;
mod blend;
mod colour_format;
mod compare_op;
mod falloff;
mod harmonics;
mod lanes;
mod lpips;
mod quad_blend;
mod stencil;
mod yuv;
