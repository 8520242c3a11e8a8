//! Pictures that an earlier call has drawn, and that need not be drawn again.
//!
//! Beside the file of each picture stands a note, `PICTURE.resume`, with two hashes: of everything that decides the
//! picture (build, scene, camera, settings), and of the content of its files. It is written when they are whole.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use quadrille::PROGRAM;
use quadrille_base::error::{Error, Result};
use quadrille_base::output::write_whole;
use quadrille_scene::Camera;
use quadrille_scene::formats::source_files;
use quadrille_suite::Fnv1a;

/// What decides all pictures of a call.
pub(super) struct Resume {
    hash: u64,
}

impl Resume {
    /// Takes the scene by its content, and `settings` as text that tells everything else but the camera.
    ///
    /// # Errors
    /// Failures of reading, and [`Error::Argument`] for a scene on standard input.
    pub(super) fn new(scene: &Path, settings: &str) -> Result<Self> {
        if scene == Path::new("-") {
            let expected = "a scene file, whose content is compared";
            return Err(Error::argument("--resume", expected, "standard input (-)"));
        }
        let mut hash = Fnv1a::default();
        // Writing to a hash cannot fail.
        let _ = write!(hash, "{}\n{settings}\n", PROGRAM.sources);
        for file in source_files(scene)? {
            hash.add_file(&file).map_err(|e| Error::read(&file, e))?;
        }
        Ok(Self { hash: hash.0 })
    }

    /// Whether the files of a view, the picture first, are there as this call would write them.
    pub(super) fn is_made(&self, camera: &Camera, files: &[PathBuf]) -> bool {
        let Some(note) = files.first().map(|picture| note_of(picture)) else {
            return false;
        };
        let expected = self.note(camera, files);
        matches!((fs::read_to_string(note), expected), (Ok(found), Ok(own)) if found == own)
    }

    /// Writes the note of a view, whose files are whole.
    ///
    /// # Errors
    /// Failures of reading the files and of writing.
    pub(super) fn record(&self, camera: &Camera, files: &[PathBuf]) -> Result<()> {
        let Some(picture) = files.first() else {
            return Ok(());
        };
        let text = self.note(camera, files);
        let text = text.map_err(|e| Error::read(picture, e))?;
        write_whole(&note_of(picture), |out| out.write_all(text.as_bytes()))
    }

    fn note(&self, camera: &Camera, files: &[PathBuf]) -> io::Result<String> {
        let mut made = Fnv1a(self.hash);
        write!(made, "{camera:?}")?;
        let mut content = Fnv1a::default();
        for file in files {
            content.add_file(file)?;
        }
        Ok(format!("{:016x} {:016x}\n", made.0, content.0))
    }
}

/// The note of a picture.
pub(super) fn note_of(picture: &Path) -> PathBuf {
    let mut name = picture.as_os_str().to_owned();
    name.push(".resume");
    name.into()
}
