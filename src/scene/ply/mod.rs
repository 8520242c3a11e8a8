//! PLY, the polygon file format, as splat scenes use it.

mod write;

pub use write::PlyWriter;
