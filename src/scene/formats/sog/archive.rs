//! Files of a SOG, in a zip or in a folder.

use std::cell::{Cell, RefCell};
use std::io::{Cursor, Read};
use std::path::{Component, Path, PathBuf};

use zip::ZipArchive;

use crate::bytes::Bytes;
use crate::formats::format_reader::SceneSource;
use quadrille_base::error::{Error, Result};

/// Largest ratio of a file's size to the zip's size: deflate cannot do better.
const MAX_EXPANSION: u64 = 1032;

/// The files of a SOG.
pub(super) struct Archive<'a> {
    source: &'a SceneSource<'a>,
    files: Files<'a>,
    /// Bytes of all files read so far, as stored.
    bytes_read: Cell<u64>,
}

enum Files<'a> {
    Zip(Box<RefCell<ZipArchive<Cursor<&'a [u8]>>>>),
    /// The folder of the description. The bytes of the description are the source itself.
    Folder(PathBuf),
}

impl<'a> Archive<'a> {
    /// The zip that `source` is, or the folder in which it lies.
    pub(super) fn open(source: &'a SceneSource<'a>) -> Result<Self> {
        let bytes: &[u8] = source.bytes;
        let files = if bytes.starts_with(b"PK") {
            let zip = ZipArchive::new(Cursor::new(bytes));
            let zip = zip.map_err(|e| source.malformed("zip", "a zip archive", e.to_string()))?;
            Files::Zip(Box::new(RefCell::new(zip)))
        } else if source.has_folder {
            Files::Folder(source.path.parent().unwrap_or(Path::new("")).to_owned())
        } else {
            let found = "a description without its folder";
            return Err(source.malformed("format", "a zip, or a file in a folder", found));
        };
        Ok(Self {
            source,
            files,
            bytes_read: Cell::new(0),
        })
    }

    pub(super) fn source(&self) -> &'a SceneSource<'a> {
        self.source
    }

    /// Bytes of all files read so far, as stored.
    pub(super) fn bytes_read(&self) -> u64 {
        self.bytes_read.get()
    }

    /// Whether the archive has a file `name`. In a folder, that is the description alone.
    pub(super) fn has(&self, name: &str) -> bool {
        match &self.files {
            Files::Zip(zip) => zip.borrow().index_for_name(name).is_some(),
            Files::Folder(_) => false,
        }
    }

    pub(super) fn is_zip(&self) -> bool {
        matches!(self.files, Files::Zip(_))
    }

    /// The content of the file `name`, a relative path with `/`.
    pub(crate) fn read(&self, name: &str) -> Result<Vec<u8>> {
        let parts = Path::new(name).components();
        let is_inside = { parts }.all(|part| matches!(part, Component::Normal(_)));
        if !is_inside || name.is_empty() {
            let expected = "the name of a file inside the archive";
            return Err(self.source.malformed("files", expected, name));
        }
        let (bytes, stored) = match &self.files {
            Files::Zip(zip) => self.read_zip(zip, name)?,
            Files::Folder(folder) => {
                let path = folder.join(name);
                let bytes = Bytes::open(&path)?.to_vec();
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
        name: &str,
    ) -> Result<(Vec<u8>, u64)> {
        let wrong = |found: String| {
            self.source
                .malformed(format!("zip, \"{name}\""), "a file in the archive", found)
        };
        let mut zip = zip.borrow_mut();
        let file = zip.by_name(name).map_err(|e| wrong(e.to_string()))?;
        // Sizes come from the central directory; headers of the files themselves may hold zeros.
        let (size, stored) = (file.size(), file.compressed_size());
        let most = (self.source.bytes.len() as u64).saturating_mul(MAX_EXPANSION);
        Error::check_limit(
            format!("bytes of \"{name}\" by the size of the zip"),
            most,
            size,
        )?;
        let mut bytes = Vec::new();
        let file = self.source.task.reader(file);
        let read = file.take(size.saturating_add(1)).read_to_end(&mut bytes);
        read.map_err(|e| wrong(e.to_string()))?;
        if bytes.len() as u64 != size {
            return Err(wrong(format!("{} bytes in place of {size}", bytes.len())));
        }
        Ok((bytes, stored))
    }
}
