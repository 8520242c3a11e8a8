//! Films: pictures of one size at an even rate, in one file.
//!
//! | format | holds |
//! |---|---|
//! | `.y4m` | uncompressed Y'CbCr 4:2:0 of 8 bits, BT.709, limited range, for pipes into encoders |
//! | `.apng` | PNG frames without loss, with or without alpha |
//! | `.mp4` | AV1, 4:2:0 of 8 bits, BT.709, limited range (Cargo feature `video`) |
//!
//! [`FilmFormat::prepare`] converts a frame independently of all others, so that threads can share the work; [`FilmWriter`]
//! takes the results in order.

mod apng;
#[cfg(feature = "video")]
mod av1;
mod facts;
mod rate;
mod reader;
mod y4m;
mod y4m_reader;
mod yuv;

use std::io::{self, Write};
use std::path::Path;

use super::Frame;
use crate::math::index;
pub use facts::FilmFacts;
pub use rate::FrameRate;
pub use reader::{FilmReader, is_film_name};

/// The scene that a frame shows, from 0 on, where `scenes` are distributed evenly over `frames`.
pub fn scene_of_frame(frame: usize, frames: usize, scenes: usize) -> usize {
    index(frame as u64 * scenes as u64 / (frames as u64).max(1))
}

/// The format of a film.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FilmFormat {
    /// Uncompressed frames in YCbCr (YUV4MPEG2).
    Y4m,
    /// Animated PNG.
    Apng,
    /// AV1 in MP4; needs the Cargo feature `video`.
    Mp4,
}

impl FilmFormat {
    const ALL: [(Self, &str); 3] = [(Self::Y4m, "y4m"), (Self::Apng, "apng"), (Self::Mp4, "mp4")];

    /// The format of the extension of `path`, in upper or lower case. `-.y4m` is Y4M on standard output.
    pub fn of_name(path: &Path) -> Option<Self> {
        let extension = path.extension()?.to_str()?;
        let mut all = Self::ALL.into_iter();
        all.find_map(|(format, own)| own.eq_ignore_ascii_case(extension).then_some(format))
    }

    /// Whether this build writes the format: MP4 needs the feature `video`.
    pub fn is_built(self) -> bool {
        self != Self::Mp4 || cfg!(feature = "video")
    }

    /// Whether films of this format keep the alpha of their frames.
    pub fn has_alpha(self) -> bool {
        self == Self::Apng
    }

    /// Converts a frame, composited over an opaque background if there is one, to the input of [`FilmWriter::push`].
    pub fn prepare(self, frame: &Frame, background: Option<[f32; 3]>) -> io::Result<Vec<u8>> {
        match (self, background) {
            (Self::Y4m | Self::Mp4, _) => Ok(yuv::planes(frame, background)),
            (Self::Apng, None) => apng::compressed(frame),
            (Self::Apng, Some(background)) => apng::compressed(&frame.over(background)),
        }
    }
}

/// Writer of a film, frame by frame.
pub enum FilmWriter<W: Write> {
    /// Writer of YUV4MPEG2.
    Y4m(y4m::Y4mWriter<W>),
    /// Writer of animated PNG.
    Apng(apng::ApngWriter<W>),
    /// Writer of AV1 in MP4.
    #[cfg(feature = "video")]
    Mp4(Box<av1::Av1Writer<W>>),
}

impl<W: Write> FilmWriter<W> {
    /// Starts a film that is written to `out`.
    pub fn begin(format: FilmFormat, out: W, facts: FilmFacts) -> io::Result<Self> {
        match format {
            FilmFormat::Y4m => Ok(Self::Y4m(y4m::Y4mWriter::begin(out, facts)?)),
            FilmFormat::Apng => Ok(Self::Apng(apng::ApngWriter::begin(out, facts)?)),
            #[cfg(feature = "video")]
            FilmFormat::Mp4 => Ok(Self::Mp4(Box::new(av1::Av1Writer::begin(out, facts)?))),
            #[cfg(not(feature = "video"))]
            FilmFormat::Mp4 => Err(io::Error::new(
                io::ErrorKind::Unsupported,
                "this program was built without the feature video",
            )),
        }
    }

    /// Appends a frame, as [`FilmFormat::prepare`] returned it.
    pub fn push(&mut self, prepared: &[u8]) -> io::Result<()> {
        match self {
            Self::Y4m(writer) => writer.push(prepared),
            Self::Apng(writer) => writer.push(prepared),
            #[cfg(feature = "video")]
            Self::Mp4(writer) => writer.push(prepared),
        }
    }

    /// Writes the end of the file and flushes it.
    pub fn finish(self) -> io::Result<()> {
        match self {
            Self::Y4m(writer) => writer.finish(),
            Self::Apng(writer) => writer.finish(),
            #[cfg(feature = "video")]
            Self::Mp4(writer) => writer.finish(),
        }
    }
}
