//! Splat scenes in files: a file or a folder for each format.

pub(crate) mod dot_splat;
pub(crate) mod ply;
