//! Loading of scene files: one file or folder per format, and the table of all formats.
//!
//! To add a format, write its file with a `FormatReader` and add a line to `FORMATS`.

mod batches;
mod column_rows;
mod dot_splat;
mod format_reader;
pub mod gltf;
mod ksplat;
mod lcc;
mod limits;
pub mod ply;
mod scene_folder;
mod scene_input;
mod sog;
mod source_files;
mod spz;
mod unread;
mod usd;
mod write;

use std::path::Path;

use super::bytes::FileBytes;
use super::encoding::LoadOptions;
use super::scene_file::{Scene, SceneFormat};
use super::table::SplatTable;
pub use batches::SplatBatches;
pub use format_reader::{BatchNotes, EachBatch};
use quadrille_base::error::{Error, Result, shown};
pub use scene_folder::{scene_file, trained_on_white};
pub(crate) use scene_input::BYTES;
pub use scene_input::SceneInput;
pub use source_files::source_files;
pub use write::{OutputFormat, WriteOptions, write_levels_if, write_table};

use format_reader::{FormatReader, Reader, SceneSource};

/// All known formats. The first match counts: by the first bytes of the file, else by its extension.
const FORMATS: [&FormatReader; 12] = [
    &ply::COMPRESSED,
    &ply::FORMAT,
    &dot_splat::FORMAT,
    &spz::FORMAT,
    &usd::FORMAT,
    &sog::FORMAT,
    &gltf::FORMAT,
    &ksplat::FORMAT,
    &lcc::GRID,
    &lcc::TREE,
    &unread::MESH,
    &unread::GZIP,
];

/// Loads a scene of any format from a path, or from a [`SceneInput`] with options.
///
/// Binary rows are read in small parts and other files are mapped, so a PLY or `.splat` needs little memory besides the
/// arrays of the scene. The progress of a task is in splats.
///
/// ```no_run
/// let scene = quadrille_scene::load("truck.ply")?;
/// println!("{} splats, {} bad rows", scene.splats.len(), scene.dropped.total());
/// # Ok::<(), quadrille_base::Error>(())
/// ```
///
/// # Errors
/// [`Error::Read`] when the file cannot be read; [`Error::Malformed`] when its content does not follow
/// its format; [`Error::Limit`] for more than 4 GiB from a pipe, or more than about 2^32 splats;
/// [`Error::Argument`] for a level of detail that the scene does not have; [`Error::Cancelled`].
pub fn load<'a>(input: impl Into<SceneInput<'a>>) -> Result<Scene> {
    read(&input.into(), |reader, source| {
        let mut scene = match reader.scene {
            Some(scene) => scene(source)?,
            None => (reader.table)(source)?.into_scene_with(source.task)?,
        };
        scene.warn_of_rounding();
        scene.encoding.warn(source.options);
        Ok(scene)
    })
}

/// Reads the raw columns of a scene, for conversion. Columns with unknown names are kept, and nothing is activated.
///
/// # Errors
/// Errors of [`load`].
pub fn load_table<'a>(input: impl Into<SceneInput<'a>>) -> Result<SplatTable> {
    read(&input.into(), |reader, source| {
        let mut table = (reader.table)(source)?;
        source.task.check()?;
        table.warn_of_rounding();
        table.encoding.warn(source.options);
        Ok(table)
    })
}

/// Opens the scene file `path` to read it batch by batch.
///
/// # Errors
/// [`Error::Read`]; [`Error::Malformed`] for a format or layout that can only be read as a whole, and for a file that does
/// not follow its format; [`Error::Argument`] for a level of detail that a streamed SOG does not have.
pub fn open_batches(path: &Path, options: LoadOptions) -> Result<SplatBatches> {
    let bytes = FileBytes::open(path)?;
    let known = sniff(&bytes, path);
    if let Some(reader) = known.and_then(|known| known.reader?.batches) {
        return SplatBatches::new(bytes, path.to_path_buf(), options, reader);
    }
    let has_batches = |format: &&FormatReader| format.reader.is_some_and(|r| r.batches.is_some());
    let read = FORMATS.into_iter().filter(has_batches);
    let expected = format!("a scene that is read in batches: {}", listed(read));
    let found = known.map_or("another format", |known| known.format.name());
    Err(Error::malformed(path, "format", expected, found))
}

impl SceneFormat {
    /// Format of files with this extension, given without its dot in any letter case.
    pub fn of_extension(extension: &str) -> Option<Self> {
        let extension = extension.to_ascii_lowercase();
        let mut formats = FORMATS.into_iter();
        let found = formats.find(|f| f.extensions.contains(&extension.as_str()));
        found.map(|found| found.format)
    }
}

/// Opens the input, identifies its format, and calls `read_with` with the reader of that format.
fn read<T>(
    input: &SceneInput<'_>,
    read_with: impl Fn(Reader, &SceneSource<'_>) -> Result<T>,
) -> Result<T> {
    quadrille_base::span!("load");
    let task = input.task;
    let path = &match input.bytes {
        Some(_) => input.path.to_path_buf(),
        None => scene_file(&input.path)?,
    };
    let bytes = &match input.bytes {
        Some(bytes) => FileBytes::Borrowed(bytes),
        None => FileBytes::open(path)?,
    };
    let has_folder = input.bytes.is_none() && path.as_os_str() != "-";
    let source = SceneSource { bytes, path, has_folder, options: input.options, task };
    let known = match input.format {
        Some(format) => FORMATS.into_iter().find(|known| known.format == format),
        None => sniff(bytes, path),
    };
    task.check()?;
    if let Some(found) = unread::stand_in(bytes) {
        return Err(Error::malformed(path, "format", format!("a scene: {}", readable()), found));
    }
    let read = match known {
        Some(FormatReader { reader: Some(reader), .. }) => read_with(*reader, &source),
        Some(known) => Err(not_read(known, path)),
        None => Err(Error::malformed(
            path,
            "format",
            format!("a scene: {}", readable()),
            if bytes.is_empty() {
                "an empty file"
            } else {
                "none of them, by content and by extension"
            },
        )),
    };
    // A cancelled reader may report a broken file; the cancellation is the true reason.
    read.or_else(|error| task.check().and(Err(error))).map_err(|error| match error {
        Error::Limit { what, limit, found } => {
            Error::Limit { what: format!("{}: {what}", shown(path)), limit, found }
        }
        other => other,
    })
}

fn sniff(bytes: &[u8], path: &Path) -> Option<&'static FormatReader> {
    // A gzip file that is cut short or of unknown content is identified by its extension first.
    let mark = FORMATS.into_iter().find(|f| (f.has_mark)(bytes));
    let extension = path.extension().and_then(|extension| extension.to_str());
    let extension = extension.unwrap_or_default().to_ascii_lowercase();
    let by_extension = || {
        let mut formats = FORMATS.into_iter();
        formats.find(|f| f.extensions.contains(&extension.as_str()))
    };
    match mark {
        Some(format) if format.format != unread::GZIP.format => mark,
        _ => by_extension().or(mark).or_else(|| by_values(bytes)),
    }
}

/// Format without a mark that the values of the file suggest, for input without an extension such as a pipe.
fn by_values(bytes: &[u8]) -> Option<&'static FormatReader> {
    if ksplat::is_likely(bytes) {
        Some(&ksplat::FORMAT)
    } else if dot_splat::is_likely(bytes) {
        Some(&dot_splat::FORMAT)
    } else {
        None
    }
}

fn not_read(known: &FormatReader, path: &Path) -> Error {
    let found = if known.format == unread::GZIP.format {
        "a gzip file (unpack it first, with gunzip)"
    } else {
        "a mesh (`quadrille mesh` draws it)"
    };
    Error::malformed(path, "format", readable(), found)
}

fn readable() -> String {
    listed(FORMATS.into_iter().filter(|f| f.reader.is_some()))
}

fn listed<'f>(formats: impl Iterator<Item = &'f FormatReader>) -> String {
    let names: Vec<&str> = formats.map(|f| f.format.name()).collect();
    let (last, others) = names.split_last().unwrap_or((&"", &[]));
    format!("{} or {last}", others.join(", "))
}
