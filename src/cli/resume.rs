//! `--resume`: skips files that an earlier call has written completely.
//!
//! A note `FILE.resume` beside each picture or scene holds two hashes: of everything that the file depends on (build,
//! scenes, camera, settings), and of the written content. The note is written last, after its files are complete.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use quadrille::PROGRAM;
use quadrille_base::error::{Error, Result};
use quadrille_base::output::write_bytes;
use quadrille_scene::formats::source_files;
use quadrille_suite::Fnv1a;

/// Hash of everything that the pictures of a call depend on.
pub(super) struct Resume {
    hash: u64,
}

impl Resume {
    /// Hashes scenes by content, and `settings`: all settings except the camera, as text.
    pub(super) fn new(scenes: &[PathBuf], settings: &str) -> Result<Self> {
        if scenes.iter().any(|scene| scene == Path::new("-")) {
            let needed = "a scene in a file, whose content it compares, not standard input";
            return Err(Error::needs("--resume", needed));
        }
        let mut hash = Fnv1a::default();
        // Writing to a hash cannot fail.
        let _ = write!(hash, "{}\n{settings}\n", PROGRAM.sources);
        for scene in scenes {
            for file in source_files(scene)? {
                hash.add_file(&file).map_err(|e| Error::read(&file, e))?;
            }
        }
        Ok(Self { hash: hash.0 })
    }

    pub(super) fn with<'p>(mut self, paths: impl Iterator<Item = &'p Path>) -> Result<Self> {
        let mut hash = Fnv1a(self.hash);
        for path in paths {
            let failed = |e| Error::read(path, e);
            let mut files = vec![path.to_owned()];
            if path.is_dir() {
                let entries = fs::read_dir(path).map_err(failed)?.map(|entry| Ok(entry?.path()));
                files = entries.collect::<io::Result<_>>().map_err(failed)?;
                files.retain(|file| file.is_file());
                files.sort();
            }
            for file in files {
                hash.add_file(&file).map_err(|e| Error::read(&file, e))?;
            }
        }
        self.hash = hash.0;
        Ok(self)
    }

    /// Whether `files` are exactly what this call would write, by the note beside the first one. `what` describes the
    /// inputs besides the settings, such as the camera.
    pub(super) fn is_made(&self, what: &str, files: &[PathBuf]) -> bool {
        let Some(note) = files.first().map(|picture| note_of(picture)) else { return false };
        let found = fs::read_to_string(note);
        self.note(what, files).is_ok_and(|own| found.is_ok_and(|found| found == own))
    }

    pub(super) fn record(&self, what: &str, files: &[PathBuf]) -> Result<()> {
        let Some(picture) = files.first() else { return Ok(()) };
        write_bytes(&note_of(picture), self.note(what, files).map_err(|e| Error::read(picture, e))?)
    }

    fn note(&self, what: &str, files: &[PathBuf]) -> io::Result<String> {
        let mut made = Fnv1a(self.hash);
        write!(made, "{what}")?;
        let mut content = Fnv1a::default();
        for file in files {
            content.add_file(file)?;
        }
        Ok(format!("{:016x} {:016x}\n", made.0, content.0))
    }
}

pub(super) fn note_of(picture: &Path) -> PathBuf {
    let mut name = picture.as_os_str().to_owned();
    name.push(".resume");
    name.into()
}
