//! PLY, the polygon file format: its header and its values for any file, its layout for splats.

mod body;
mod header;
mod layout;
mod lines;
mod number;
mod rows;
mod write;

pub(crate) use body::{Body, Row};
pub use header::Header;
pub(crate) use header::{Element, Encoding, Kind, Scalar};
pub(crate) use lines::quoted;
pub(crate) use number::{read as read_number, whole};
pub(super) use rows::FORMAT;
pub use write::PlyWriter;
