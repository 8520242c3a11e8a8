//! Shading space: identifiers of shading points, and the grids whose points they name.

pub mod adaptive;
mod bands;
mod cells;
pub mod grid;
pub(crate) mod grid_cache;
pub mod grid_view;
mod region;
pub mod spid;
