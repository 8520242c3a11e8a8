//! Shading space: identifiers of shading points.

pub mod spid;
