//! Loading of scene files: one file or folder per format, and the table of all formats.
//!
//! To add a format, write its file with a `FormatReader` and add a line to `FORMATS`.

mod batches;
mod column_rows;
mod dot_splat;
mod format_reader;
pub mod gltf;
mod ksplat;
mod limits;
pub mod ply;
mod scene_folder;
mod sog;
mod source_files;
mod spz;
mod unread;
mod write;

use std::path::Path;

use super::bytes::FileBytes;
use super::encoding::LoadOptions;
use super::scene_file::{Scene, SceneFormat};
use super::table::SplatTable;
pub use batches::SplatBatches;
pub use format_reader::{BatchNotes, EachBatch};
use quadrille_base::error::{Error, Result, shown};
use quadrille_base::task::Task;
pub use scene_folder::scene_file;
pub use source_files::source_files;
pub use write::{OutputFormat, WriteOptions, write_levels_if, write_table, write_table_task};

use format_reader::{FormatReader, Reader, SceneSource};

pub(crate) const BYTES: &str = "<bytes>";

/// A file's format is the first whose mark it has, else the first with its extension, else the one that its
/// values suggest.
const FORMATS: [&FormatReader; 9] = [
    &ply::COMPRESSED,
    &ply::FORMAT,
    &dot_splat::FORMAT,
    &spz::FORMAT,
    &sog::FORMAT,
    &gltf::FORMAT,
    &ksplat::FORMAT,
    &unread::MESH,
    &unread::GZIP,
];

/// Loads the scene file `path` of any format; `-` is standard input, and a folder is a SOG or the output of a trainer
/// ([`scene_file`]).
///
/// Binary rows are read in small parts and other files are mapped: besides the splats' arrays, a PLY or `.splat` needs next to no
/// memory.
///
/// ```no_run
/// let scene = quadrille_scene::load("truck.ply")?;
/// println!("{} splats, {} bad rows", scene.splats.len(), scene.dropped.total());
/// # Ok::<(), quadrille_base::Error>(())
/// ```
///
/// # Errors
/// [`Error::Read`] when the file cannot be read; [`Error::Malformed`] when its content does not follow
/// its format; [`Error::Limit`] for more than 4 GiB from a pipe, or more than about 2^32 splats.
pub fn load(path: impl AsRef<Path>) -> Result<Scene> {
    load_with(path, LoadOptions::default())
}

/// As [`load`], with options.
///
/// # Errors
/// As [`load`], and [`Error::Argument`] for a level of detail that a streamed SOG does not have.
pub fn load_with(path: impl AsRef<Path>, options: LoadOptions) -> Result<Scene> {
    load_task(path, options, &Task::NEVER)
}

/// As [`load_with`], as a task, whose progress is in splats.
pub fn load_task(path: impl AsRef<Path>, options: LoadOptions, task: &Task) -> Result<Scene> {
    open(path.as_ref(), options, task, read_scene)
}

/// Opens the scene file `path` to read it batch by batch.
///
/// # Errors
/// [`Error::Read`]; [`Error::Malformed`] for another format, for a layout that is read as a whole, and for a file that does
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

/// Reads the raw columns of the scene file `path` of any format, for conversion. Columns with unknown names
/// are kept, and nothing is activated.
pub fn load_table(path: impl AsRef<Path>, options: LoadOptions) -> Result<SplatTable> {
    load_table_task(path, options, &Task::NEVER)
}

/// As [`load_table`], as a task.
pub fn load_table_task(
    path: impl AsRef<Path>,
    options: LoadOptions,
    task: &Task,
) -> Result<SplatTable> {
    open(path.as_ref(), options, task, |reader, source| {
        let mut table = (reader.table)(source)?;
        task.check()?;
        table.warn_of_rounding();
        table.encoding.warn_of_unused(source.options);
        Ok(table)
    })
}

/// Loads a scene from bytes of any format, which is recognized by the content. Errors call the source
/// `<bytes>`.
///
/// # Errors
/// As [`load`], for content. A SOG in a folder needs its other files, so that only a zip can be read.
pub fn load_bytes(bytes: &[u8]) -> Result<Scene> {
    load_named_bytes(bytes, Path::new(BYTES))
}

/// Loads a scene from bytes of a known format, such as a `.splat`, which has no mark of its own.
pub fn load_bytes_as(bytes: &[u8], format: SceneFormat) -> Result<Scene> {
    let known = FORMATS.into_iter().find(|known| known.format == format);
    let (bytes, path) = (&FileBytes::Borrowed(bytes), Path::new(BYTES));
    read_as(known, &SceneSource::of_bytes(bytes, path), read_scene)
}

/// Loads a scene from the bytes of a file called `path`, which provides the extension and is named in
/// errors.
pub fn load_named_bytes(bytes: &[u8], path: &Path) -> Result<Scene> {
    load_named_bytes_with(bytes, path, LoadOptions::default(), &Task::NEVER)
}

/// As [`load_named_bytes`], with options and as a task.
pub fn load_named_bytes_with(
    bytes: &[u8],
    path: &Path,
    options: LoadOptions,
    task: &Task,
) -> Result<Scene> {
    let bytes = &FileBytes::Borrowed(bytes);
    let source = SceneSource { options, task, ..SceneSource::of_bytes(bytes, path) };
    read(&source, read_scene)
}

impl SceneFormat {
    /// The format of files with this extension, without its dot.
    pub fn of_extension(extension: &str) -> Option<Self> {
        let extension = extension.to_ascii_lowercase();
        let mut formats = FORMATS.into_iter();
        let found = formats.find(|f| f.extensions.contains(&extension.as_str()));
        found.map(|found| found.format)
    }
}

fn open<T>(
    path: &Path,
    options: LoadOptions,
    task: &Task,
    read_with: impl Fn(Reader, &SceneSource<'_>) -> Result<T>,
) -> Result<T> {
    quadrille_base::span!("load");
    let path = &scene_file(path)?;
    let source = SceneSource {
        bytes: &FileBytes::open(path)?,
        path,
        has_folder: path.as_os_str() != "-",
        options,
        task,
    };
    read(&source, read_with)
}

fn read_scene(reader: Reader, source: &SceneSource<'_>) -> Result<Scene> {
    let mut scene = match reader.scene {
        Some(scene) => scene(source)?,
        None => (reader.table)(source)?.into_scene_with(source.task)?,
    };
    scene.warn_of_rounding();
    scene.encoding.warn_of_unused(source.options);
    Ok(scene)
}

fn read<T>(
    source: &SceneSource<'_>,
    read_with: impl Fn(Reader, &SceneSource<'_>) -> Result<T>,
) -> Result<T> {
    read_as(sniff(source.bytes, source.path), source, read_with)
}

/// Reads a file of the format `known`, or fails if there is none.
fn read_as<T>(
    known: Option<&FormatReader>,
    source: &SceneSource<'_>,
    read_with: impl Fn(Reader, &SceneSource<'_>) -> Result<T>,
) -> Result<T> {
    source.task.check()?;
    let path = source.path;
    if let Some(found) = unread::stand_in(source.bytes) {
        return Err(Error::malformed(path, "format", format!("a scene: {}", readable()), found));
    }
    let read = match known {
        Some(FormatReader { reader: Some(reader), .. }) => read_with(*reader, source),
        Some(known) => Err(not_read(known, path)),
        None => Err(Error::malformed(
            path,
            "format",
            format!("a scene: {}", readable()),
            "none of them, by content and by extension",
        )),
    };
    // A reader of a task fails as one of a broken file would.
    read.or_else(|error| source.task.check().and(Err(error))).map_err(|error| match error {
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

/// Format without a mark that the values suggest; a pipe has no extension.
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
