//! Shading space: shading grids, and identifiers of their points.

pub mod adaptive;
mod bands;
mod cells;
pub mod grid;
pub(crate) mod grid_cache;
pub mod grid_view;
mod region;
pub mod spid;
