//! COLMAP's text files.
//!
//! `cameras.txt`: `IDENTIFIER MODEL WIDTH HEIGHT PARAMETERS...` a line. `images.txt`: two lines an
//! image, `IDENTIFIER QW QX QY QZ TX TY TZ CAMERA NAME` and its points, which may be an empty
//! line. Lines that begin with `#` are comments.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;
use std::str::{FromStr, SplitAsciiWhitespace};

use super::lens::{Lens, MAX_PARAMETERS, Model};
use super::{Image, Lenses};
use crate::error::{Error, Result};

pub(super) fn read_cameras_file(path: &Path) -> Result<Lenses> {
    read_cameras(open(path)?, path)
}

pub(super) fn read_images_file(path: &Path) -> Result<Vec<Image>> {
    read_images(open(path)?, path)
}

fn open(path: &Path) -> Result<BufReader<File>> {
    File::open(path)
        .map(BufReader::new)
        .map_err(|e| Error::read(path, e))
}

pub(super) fn read_cameras(input: impl BufRead, path: &Path) -> Result<Lenses> {
    let mut lenses = Lenses::new();
    let mut lines = Lines::new(input, path);
    while let Some((place, line)) = lines.next_entry()? {
        let mut fields = Fields::new(path, &place, &line);
        let id = fields.parse("a camera identifier")?;
        let model = Model::by_name(fields.word("a camera model")?, path, &place)?;
        let size_px = [
            fields.parse("a width in pixels")?,
            fields.parse("a height in pixels")?,
        ];
        let mut parameters = [0.0; MAX_PARAMETERS];
        for parameter in &mut parameters[..model.parameters] {
            *parameter = fields.parse("a parameter of the camera model")?;
        }
        if let Some(extra) = fields.words.next() {
            return Err(fields.error("no further parameter", extra));
        }
        lenses.insert(id, Lens::new(model, size_px, parameters));
    }
    Ok(lenses)
}

pub(super) fn read_images(input: impl BufRead, path: &Path) -> Result<Vec<Image>> {
    let mut images = Vec::new();
    let mut lines = Lines::new(input, path);
    while let Some((place, line)) = lines.next_entry()? {
        let mut fields = Fields::new(path, &place, &line);
        let _id: u32 = fields.parse("an image identifier")?;
        let mut quaternion = [0.0; 4];
        for value in &mut quaternion {
            *value = fields.parse("a quaternion w x y z")?;
        }
        let mut translation = [0.0; 3];
        for value in &mut translation {
            *value = fields.parse("a translation x y z")?;
        }
        let camera_id = fields.parse("a camera identifier")?;
        let words: Vec<&str> = fields.words.by_ref().collect();
        let name = words.join(" ");
        if name.is_empty() {
            return Err(fields.error("an image name", "the end of the line"));
        }
        lines.skip_one()?;
        images.push(Image {
            place,
            quaternion,
            translation,
            camera_id,
            name,
        });
    }
    Ok(images)
}

/// The lines of a file, numbered from 1.
struct Lines<'a, R> {
    input: R,
    path: &'a Path,
    number: u64,
}

impl<'a, R: BufRead> Lines<'a, R> {
    fn new(input: R, path: &'a Path) -> Self {
        Self {
            input,
            path,
            number: 0,
        }
    }

    /// The next line that is neither empty nor a comment, and its place.
    fn next_entry(&mut self) -> Result<Option<(String, String)>> {
        let mut line = Vec::new();
        loop {
            line.clear();
            self.number += 1;
            let read = self.input.read_until(b'\n', &mut line);
            if read.map_err(|e| Error::read(self.path, e))? == 0 {
                return Ok(None);
            }
            let text = String::from_utf8_lossy(&line);
            let text = text.trim();
            if !text.is_empty() && !text.starts_with('#') {
                return Ok(Some((format!("line {}", self.number), text.to_owned())));
            }
        }
    }

    /// Skips a line, whatever it holds, without keeping it.
    fn skip_one(&mut self) -> Result<()> {
        self.number += 1;
        let skipped: io::Result<usize> = self.input.skip_until(b'\n');
        skipped.map(|_| ()).map_err(|e| Error::read(self.path, e))
    }
}

/// The words of a line.
struct Fields<'a> {
    path: &'a Path,
    place: &'a str,
    words: SplitAsciiWhitespace<'a>,
}

impl<'a> Fields<'a> {
    fn new(path: &'a Path, place: &'a str, line: &'a str) -> Self {
        Self {
            path,
            place,
            words: line.split_ascii_whitespace(),
        }
    }

    fn word(&mut self, expected: &str) -> Result<&'a str> {
        self.words
            .next()
            .ok_or_else(|| self.error(expected, "the end of the line"))
    }

    fn parse<T: FromStr>(&mut self, expected: &str) -> Result<T> {
        let word = self.word(expected)?;
        word.parse().map_err(|_| self.error(expected, word))
    }

    fn error(&self, expected: &str, found: &str) -> Error {
        Error::file(self.path, self.place, expected, format!("{found:.60}"))
    }
}
