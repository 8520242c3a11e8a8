//! Raster operations before shading: ordering (PROP) and the termination, stencil and depth tests (ZROP).

pub mod early;
pub mod framebuffer;
pub mod late;
pub mod prop;
pub mod termination;
pub mod tile_stencil;
pub mod unit;
