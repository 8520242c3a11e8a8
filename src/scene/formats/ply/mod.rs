//! PLY, the polygon file format: header and body of any file, and the layouts of splats.

mod batches;
mod body;
mod compress;
mod compressed;
mod header;
mod in_place;
mod layout;
mod lines;
mod number;
mod rows;
mod table;
mod unused_columns;
mod write;

pub use body::{Body, PlyRow};
pub(crate) use compress::write_compressed;
pub use header::Header;
pub use header::{Element, Encoding, PropertyKind};
pub use in_place::{Ahead, SplatsInPlace};
pub use lines::quoted;
pub use number::{parse_float, to_count};
pub(crate) use table::write_table;
pub use write::{PlyWriter, encoded_rows};

pub use quadrille_base::scalar::Scalar;

use super::format_reader::{FormatReader, Reader};

pub(super) const FORMAT: FormatReader = FormatReader {
    format: layout::NAME,
    has_mark: |bytes| bytes.starts_with(b"ply\n") || bytes.starts_with(b"ply\r"),
    extensions: &["ply"],
    reader: Some(Reader {
        table: table::read_table,
        scene: Some(rows::read),
        batches: Some(batches::BATCHES),
    }),
};

pub(super) use compressed::FORMAT as COMPRESSED;
