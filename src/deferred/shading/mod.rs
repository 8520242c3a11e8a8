//! Shading space: identifiers of shading points, and the grids whose points they name.

pub mod adaptive;
pub mod grid;
mod region;
pub mod spid;
