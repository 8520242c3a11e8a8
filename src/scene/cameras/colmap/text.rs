//! Reader of COLMAP's text files.
//!
//! `cameras.txt`: `IDENTIFIER MODEL WIDTH HEIGHT PARAMETERS...` per line. `images.txt`: two lines per image,
//! `IDENTIFIER QW QX QY QZ TX TY TZ CAMERA NAME` and its points, perhaps none. Some programs leave out the line of points,
//! which is triples of numbers or empty. Lines that begin with `#` are comments.

use std::path::Path;
use std::str::FromStr;

use super::model::{Lens, LensModel, Lenses, MAX_PARAMETERS, PosedImage};
use quadrille_base::error::{Error, Result, shown};

pub(super) fn read_cameras(bytes: &[u8], path: &Path) -> Result<Lenses> {
    let mut lenses = Lenses::new();
    let mut lines = numbered_lines(bytes);
    while let Some((place, line)) = next_entry(&mut lines) {
        let mut fields = Fields::new(path, &place, &line);
        let id = fields.parse("a camera identifier")?;
        let model = LensModel::by_name(fields.word("a camera model")?, path, &place)?;
        let size_px = [fields.parse("a width in pixels")?, fields.parse("a height in pixels")?];
        let mut parameters = [0.0; MAX_PARAMETERS];
        fields.fill(&mut parameters[..model.parameters], "a parameter of the camera model")?;
        if let Some(extra) = fields.next() {
            return Err(fields.error("no further parameter", extra));
        }
        lenses.insert(id, Lens { model, size_px, parameters });
    }
    Ok(lenses)
}

pub(super) fn read_images(bytes: &[u8], path: &Path) -> Result<Vec<PosedImage>> {
    let mut images = Vec::new();
    let mut lines = numbered_lines(bytes).peekable();
    while let Some((place, line)) = next_entry(&mut lines) {
        let mut fields = Fields::new(path, &place, &line);
        let id = fields.parse("an image identifier")?;
        let (mut quaternion, mut translation) = ([0.0; 4], [0.0; 3]);
        fields.fill(&mut quaternion, "a quaternion w x y z")?;
        fields.fill(&mut translation, "a translation x y z")?;
        let camera_id = fields.parse("a camera identifier")?;
        // A name may contain several blanks in a row.
        let name = fields.rest.trim_ascii().to_owned();
        if name.is_empty() {
            return Err(fields.error("an image name", "the end of the line"));
        }
        lines.next_if(|(_, line)| are_points(line));
        images.push(PosedImage { id, place, quaternion, translation, camera_id, name });
    }
    Ok(images)
}

/// True for a line of points: triples `X Y POINT3D_ID`, or nothing.
fn are_points(line: &[u8]) -> bool {
    let words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let is_number =
        |word: &[u8]| str::from_utf8(word).is_ok_and(|word| word.parse::<f64>().is_ok());
    words.clone().all(is_number) && words.count().is_multiple_of(3)
}

/// Warning if the comment of the header, `# Number of cameras: 3`, counts other than `read` entries.
pub(super) fn wrong_count(bytes: &[u8], path: &Path, what: &str, read: usize) -> Option<String> {
    let header = format!("# Number of {what}:");
    let comments = numbered_lines(bytes).map(|(_, line)| String::from_utf8_lossy(line));
    let mut comments = comments.take_while(|line| line.starts_with('#') || line.trim().is_empty());
    let count = comments.find_map(|line| line.strip_prefix(&header).map(str::to_owned))?;
    let count: usize = count.split(',').next()?.trim().parse().ok()?;
    let path = shown(path);
    (count != read)
        .then(|| format!("{path}: its comment counts {count} {what}, but it holds {read}"))
}

fn numbered_lines(bytes: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    (1..).zip(bytes.split(|&b| b == b'\n'))
}

/// Line number, for messages, and text of the next line that is neither empty nor a comment.
fn next_entry<'a>(lines: &mut impl Iterator<Item = (usize, &'a [u8])>) -> Option<(String, String)> {
    lines.find_map(|(number, line)| {
        let line = line.trim_ascii();
        let is_entry = !line.is_empty() && !line.starts_with(b"#");
        let text = || String::from_utf8_lossy(line).into_owned();
        is_entry.then(|| (format!("line {number}"), text()))
    })
}

struct Fields<'a> {
    path: &'a Path,
    place: &'a str,
    /// The line behind the fields read so far.
    rest: &'a str,
}

impl<'a> Fields<'a> {
    fn new(path: &'a Path, place: &'a str, line: &'a str) -> Self {
        Self { path, place, rest: line }
    }

    fn next(&mut self) -> Option<&'a str> {
        let rest = self.rest.trim_ascii_start();
        let end = rest.find(|c: char| c.is_ascii_whitespace()).unwrap_or(rest.len());
        let (word, rest) = rest.split_at(end);
        self.rest = rest;
        (!word.is_empty()).then_some(word)
    }

    fn word(&mut self, expected: &str) -> Result<&'a str> {
        self.next().ok_or_else(|| self.error(expected, "the end of the line"))
    }

    fn parse<T: FromStr>(&mut self, expected: &str) -> Result<T> {
        let word = self.word(expected)?;
        word.parse().map_err(|_| self.error(expected, word))
    }

    fn fill(&mut self, values: &mut [f64], expected: &str) -> Result<()> {
        for value in values {
            *value = self.parse(expected)?;
        }
        Ok(())
    }

    fn error(&self, expected: &str, found: &str) -> Error {
        Error::malformed(self.path, self.place, expected, format!("{found:.60}"))
    }
}
