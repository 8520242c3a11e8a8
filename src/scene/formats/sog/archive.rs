//! Files of a SOG, in a zip or in a folder.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeSet, HashMap};
use std::io::{Cursor, Read};
use std::path::{Component, Path, PathBuf};

use zip::ZipArchive;

use super::{LOD_META, META};
use crate::bytes::FileBytes;
use crate::formats::format_reader::SceneSource;
use quadrille_base::error::{Error, Result};

/// Largest ratio of unpacked to packed size that deflate can reach.
const MAX_EXPANSION: u64 = 1032;

const MAC_METADATA: &str = "__MACOSX";

const LISTED_NAMES: usize = 8;

/// Index in the zip of each file of its only SOG, by name relative to the folder of the description.
fn indices(
    zip: &ZipArchive<Cursor<&[u8]>>,
    source: &SceneSource<'_>,
) -> Result<HashMap<String, usize>> {
    let names = (0..zip.len()).filter_map(|index| {
        let name = zip.name_for_index(index)?.ok()?.replace('\\', "/");
        let name = name.trim_start_matches("./").to_owned();
        (!name.split('/').any(|part| part == MAC_METADATA)).then_some((name, index))
    });
    let names: Vec<(String, usize)> = names.collect();
    let folders = names.iter().filter_map(|(name, _)| {
        let (folder, file) =
            name.rsplit_once('/').map_or(("", &name[..]), |(folder, file)| (folder, file));
        [META, LOD_META].contains(&file).then_some(folder)
    });
    // A streamed SOG contains folders with descriptions of their own, so the outermost description counts.
    let folders: BTreeSet<&str> = folders.collect();
    let is_below = |folder: &str, top: &str| {
        top.is_empty()
            || folder == top
            || folder.strip_prefix(top).is_some_and(|rest| rest.starts_with('/'))
    };
    let top =
        folders.iter().copied().find(|top| folders.iter().all(|folder| is_below(folder, top)));
    let Some(top) = top else {
        let listed = names.iter().filter(|(name, _)| !name.ends_with('/'));
        let listed: Vec<&str> = listed.map(|(name, _)| name.as_str()).collect();
        let more = if listed.len() > LISTED_NAMES { ", ..." } else { "" };
        let shown = listed[..listed.len().min(LISTED_NAMES)].join(", ");
        let expected = format!("one SOG, with its {META} (unpack the zip to read another format)");
        let found = match listed.is_empty() {
            true => "an empty archive".to_owned(),
            false => format!("{shown}{more}"),
        };
        return Err(source.malformed("zip", expected, found));
    };
    let prefix = if top.is_empty() { String::new() } else { format!("{top}/") };
    let below = names
        .into_iter()
        .filter_map(|(name, index)| Some((name.strip_prefix(&prefix)?.to_owned(), index)));
    Ok(below.collect())
}

pub(super) struct Archive<'a> {
    source: &'a SceneSource<'a>,
    files: Files<'a>,
    bytes_read: Cell<u64>,
}

enum Files<'a> {
    Zip {
        zip: Box<RefCell<ZipArchive<Cursor<&'a [u8]>>>>,
        /// Index in the zip of each file, by name relative to the folder of the description.
        indices: HashMap<String, usize>,
    },
    /// Folder of the description; the description itself is the source.
    Folder(PathBuf),
}

impl<'a> Archive<'a> {
    /// Opens `source` if it is a zip, or else the folder that contains it.
    pub(super) fn open(source: &'a SceneSource<'a>) -> Result<Self> {
        let bytes: &[u8] = source.bytes;
        let files = if bytes.starts_with(b"PK") {
            let zip = ZipArchive::new(Cursor::new(bytes));
            let zip = zip.map_err(|e| source.malformed("zip", "a zip archive", e.to_string()))?;
            Files::Zip { indices: indices(&zip, source)?, zip: Box::new(RefCell::new(zip)) }
        } else if source.has_folder {
            Files::Folder(source.path.parent().unwrap_or(Path::new("")).to_owned())
        } else {
            let found = "a description without its folder";
            return Err(source.malformed("format", "a zip, or a file in a folder", found));
        };
        Ok(Self { source, files, bytes_read: Cell::new(0) })
    }

    pub(super) fn source(&self) -> &'a SceneSource<'a> {
        self.source
    }

    pub(super) fn bytes_read(&self) -> u64 {
        self.bytes_read.get()
    }

    /// True if the zip has a file `name`; always false for a folder, whose files are not listed.
    pub(super) fn has(&self, name: &str) -> bool {
        match &self.files {
            Files::Zip { indices, .. } => indices.contains_key(name),
            Files::Folder(_) => false,
        }
    }

    pub(super) fn is_zip(&self) -> bool {
        matches!(self.files, Files::Zip { .. })
    }

    /// Content of the file `name`, a path with `/` relative to the description.
    pub(crate) fn read(&self, name: &str) -> Result<Vec<u8>> {
        let parts = Path::new(name).components();
        let is_inside = { parts }.all(|part| matches!(part, Component::Normal(_)));
        if !is_inside || name.is_empty() {
            let expected = "the name of a file inside the archive";
            return Err(self.source.malformed("files", expected, name));
        }
        let (bytes, stored) = match &self.files {
            Files::Zip { zip, indices } => self.read_zip(zip, indices.get(name), name)?,
            Files::Folder(folder) => {
                let bytes = FileBytes::open(&folder.join(name))?.to_vec();
                let size = bytes.len() as u64;
                (bytes, size)
            }
        };
        self.bytes_read.set(self.bytes_read.get() + stored);
        Ok(bytes)
    }

    fn read_zip(
        &self,
        zip: &RefCell<ZipArchive<Cursor<&'a [u8]>>>,
        index: Option<&usize>,
        name: &str,
    ) -> Result<(Vec<u8>, u64)> {
        let wrong = |found: String| {
            self.source.malformed(format!("zip, \"{name}\""), "a file in the archive", found)
        };
        let index = index.ok_or_else(|| wrong("none of this name".to_owned()))?;
        let mut zip = zip.borrow_mut();
        let file = zip.by_index(*index).map_err(|e| wrong(e.to_string()))?;
        // Sizes come from the central directory; headers of the files themselves may hold zeros.
        let (size, stored) = (file.size(), file.compressed_size());
        let most = (self.source.bytes.len() as u64).saturating_mul(MAX_EXPANSION);
        Error::check_limit(format!("bytes of \"{name}\" in a zip of this size"), most, size)?;
        let mut bytes = Vec::new();
        let file = self.source.task.reader(file);
        let read = file.take(size.saturating_add(1)).read_to_end(&mut bytes);
        read.map_err(|e| wrong(e.to_string()))?;
        if bytes.len() as u64 != size {
            return Err(wrong(format!("{} bytes instead of {size}", bytes.len())));
        }
        Ok((bytes, stored))
    }
}
