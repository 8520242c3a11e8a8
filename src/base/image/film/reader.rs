//! Films as sequences of pictures.

use std::fmt::Display;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek};
use std::path::{Path, PathBuf};

use image::codecs::png::PngDecoder;
use image::{AnimationDecoder, Frames, ImageDecoder};

use super::y4m_reader::Y4mReader;
use crate::error::{Error, Result, shown};
use crate::image::files::{PNG_MAGIC, animation_frames, stated_size};
use crate::image::{Frame, from_8_bit};

const UNREAD: [&str; 8] = ["mp4", "m4v", "mov", "mkv", "webm", "avi", "gif", "ts"];

/// Pictures of a film in YUV4MPEG2 or animated PNG, one at a time.
pub struct FilmReader {
    path: PathBuf,
    frames: FrameSource,
}

enum FrameSource {
    Y4m(Box<Y4mReader<BufReader<File>>>),
    Apng(Box<Frames<'static>>),
}

/// Whether `path` has the extension of a film, of formats that [`FilmReader`] reads or refuses with advice.
pub fn is_film_name(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str());
    let is = |own: &str| extension.is_some_and(|e| e.eq_ignore_ascii_case(own));
    ["y4m", "apng"].iter().any(|own| is(own)) || UNREAD.iter().any(|own| is(own))
}

impl FilmReader {
    /// Begins to read a film, which is recognised by its content; `path` names it in errors.
    ///
    /// # Errors
    /// [`Error::Read`] for a file that cannot be read; [`Error::Limit`] for pictures above the limits of
    /// [picture files](crate::image::files); [`Error::Malformed`] for a broken film or another format.
    pub fn of(file: File, path: &Path) -> Result<Self> {
        let failed = |e| Error::read(path, e);
        let mut source = BufReader::new(file);
        let start = source.fill_buf().map_err(failed)?;
        let frames = if start.starts_with(super::y4m_reader::MAGIC) {
            FrameSource::Y4m(Box::new(Y4mReader::begin(source, path)?))
        } else if start.starts_with(PNG_MAGIC) {
            FrameSource::Apng(Box::new(apng_frames(source, path)?))
        } else {
            return Err(other_format(path));
        };
        Ok(Self { path: path.to_owned(), frames })
    }

    /// Number of frames of a film, without decoding them. The file is left at its start.
    ///
    /// # Errors
    /// As [`Self::of`].
    pub fn count(mut file: &File, path: &Path) -> Result<u64> {
        let failed = |e| Error::read(path, e);
        let count = match Self::of(file.try_clone().map_err(failed)?, path)?.frames {
            FrameSource::Y4m(reader) => reader.count_rest(),
            FrameSource::Apng(_) => {
                file.rewind().map_err(failed)?;
                let frames = animation_frames(BufReader::new(file));
                frames.map(u64::from).map_err(|e| broken(path, &e))
            }
        };
        file.rewind().map_err(failed)?;
        count
    }

    /// Returns the next picture; `None` after the last one.
    pub fn next_frame(&mut self) -> Result<Option<Frame>> {
        match &mut self.frames {
            FrameSource::Y4m(reader) => reader.next_frame(),
            FrameSource::Apng(frames) => {
                let Some(frame) = frames.next() else { return Ok(None) };
                let frame = frame.map_err(|e| broken(&self.path, &e))?.into_buffer();
                let pixels = frame.pixels().map(|pixel| {
                    let [r, g, b, a] = pixel.0.map(from_8_bit);
                    [r * a, g * a, b * a, a]
                });
                let (width, height) = frame.dimensions();
                Ok(Some(Frame::from_pixels(width, height, pixels.collect())))
            }
        }
    }
}

/// Reads the whole file, since its decoder jumps within it.
fn apng_frames(mut source: impl Read, path: &Path) -> Result<Frames<'static>> {
    let mut content = Vec::new();
    let read = source.read_to_end(&mut content);
    read.map_err(|e| Error::read(path, e))?;
    let decoder = PngDecoder::new(std::io::Cursor::new(content)).map_err(|e| broken(path, &e))?;
    let (width, height) = decoder.dimensions();
    stated_size(path, width.into(), height.into())?;
    if !decoder.is_apng().map_err(|e| broken(path, &e))? {
        let (expected, found) = ("an animated PNG", "a single picture");
        return Err(Error::malformed(path, "chunks", expected, found));
    }
    Ok(decoder.apng().map_err(|e| broken(path, &e))?.into_frames())
}

fn broken(path: &Path, error: &dyn Display) -> Error {
    Error::malformed(path, "animated PNG", "intact frames", error)
}

fn other_format(path: &Path) -> Error {
    let name = shown(path);
    let expected = format!(
        "a film in YUV4MPEG2 or animated PNG (`ffmpeg -i {name} -pix_fmt yuv420p film.y4m` converts others)"
    );
    Error::malformed(path, "first bytes", expected, "another format")
}
