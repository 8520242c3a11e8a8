//! Picture files: PNG, JPEG, WebP, `OpenEXR` and NPY.
//!
//! | format | holds | reading | writing |
//! |---|---|---|---|
//! | `.jpg`, `.jpeg` | 8 bits per channel in sRGB | baseline and progressive | opaque pictures, baseline, 4:4:4 |
//! | `.webp` | as PNG | no | lossless |
//! | `.png` | 8 bits per channel, clamped, in sRGB, straight alpha | 8 and 16 bits, grey or colour, with or without alpha, one frame | RGB when every alpha rounds to 255, else RGBA |
//! | `.exr` | f32, premultiplied | the first layer with R, G, B and perhaps A | RGBA, lossless |
//! | `.npy` | f32, premultiplied, H x W x 4, top row first | H x W x 3 or 4 of f4, f8 or u1, either byte and index order | little-endian, C order, version 1.0 |
//!
//! PNG files are in sRGB, and say so; JPEG and WebP files are in sRGB. The others hold colours in the picture's own
//! [colour space](super::ColourSpace), which only EXR files name: sRGB for splats, linear light for meshes, unless chosen
//! otherwise. Files are read as sRGB. Photos are turned upright by their EXIF orientation.
//!
//! The extension decides the format when writing, the first bytes of the content when reading. Readers check the sizes in
//! headers against limits and against the length of the file before they allocate memory.

mod band;
mod byte_rows;
mod exr;
mod jpeg;
mod layer_png;
mod limits;
mod npy;
mod npy_header;
mod photo;
mod planes;
mod png;
mod png_filter;
mod webp;
mod zlib_pieces;

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

use super::orientation::ExifOrientation;
use super::{Frame, LayerPicture};
use crate::error::{Error, Result, shown};
use crate::output::write_whole;
use crate::task::Task;
pub use jpeg::JpegQuality;
pub use layer_png::LayerRange;
pub use photo::Photo;
pub use planes::Plane;
pub use webp::encode_webp;

use band::PushBand;
pub(crate) use byte_rows::ByteRows;
use byte_rows::is_opaque;
pub(crate) use limits::stated_size;
use limits::{MAX_FILE_BYTES, check_size};
pub(crate) use png::{MAGIC as PNG_MAGIC, animation_frames, encode as encode_png};

/// A picture file format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PictureFormat {
    /// 8 or 16 bits per channel, straight alpha.
    Png,
    /// OpenEXR, 32-bit float RGBA.
    Exr,
    /// NumPy array, height x width x 3 or 4.
    Npy,
    /// 8 bits per channel, no alpha, lossy.
    Jpeg(JpegQuality),
    /// 8 bits per channel, straight alpha, lossless.
    WebP,
}

impl PictureFormat {
    const ALL: [(Self, &str); 6] = [
        (Self::Png, "png"),
        (Self::Exr, "exr"),
        (Self::Npy, "npy"),
        (Self::Jpeg(JpegQuality::DEFAULT), "jpg"),
        (Self::Jpeg(JpegQuality::DEFAULT), "jpeg"),
        (Self::WebP, "webp"),
    ];

    const READ: [(Self, &[u8]); 4] = [
        (Self::Png, png::MAGIC),
        (Self::Exr, exr::MAGIC),
        (Self::Npy, npy::MAGIC),
        (Self::Jpeg(JpegQuality::DEFAULT), jpeg::MAGIC),
    ];

    /// The format of the extension of `path`, in upper or lower case; JPEG has the default quality.
    pub fn of_name(path: &Path) -> Option<Self> {
        let extension = path.extension()?.to_str()?;
        let mut all = Self::ALL.into_iter();
        all.find_map(|(format, own)| own.eq_ignore_ascii_case(extension).then_some(format))
    }

    fn of_content(content: &[u8]) -> Option<Self> {
        let mut all = Self::READ.into_iter();
        all.find_map(|(format, magic)| content.starts_with(magic).then_some(format))
    }

    /// Whether [`write_bands`] supports the format: NPY for any pictures, PNG for opaque ones.
    pub fn has_bands(self, is_opaque: bool) -> bool {
        match self {
            Self::Npy => true,
            Self::Png => is_opaque,
            Self::Exr | Self::Jpeg(_) | Self::WebP => false,
        }
    }

    /// Whether files can hold the alpha of a picture.
    pub fn has_alpha(self) -> bool {
        !matches!(self, Self::Jpeg(_))
    }

    /// Whether [`read`] returns the stored values exactly: false for JPEG, which is lossy, and WebP, which is not read.
    pub fn reads_back(self) -> bool {
        matches!(self, Self::Png | Self::Exr | Self::Npy)
    }

    /// Refuses a picture of a size (width, height) that files of this format cannot hold.
    ///
    /// # Errors
    /// [`Error::Argument`] for a picture without pixels, or with more than [`write()`] accepts.
    pub fn check_size(self, size: [u32; 2]) -> Result<()> {
        check_size(size)?;
        let side = size[0].max(size[1]);
        if self == Self::WebP && side > webp::MAX_SIDE_PIXELS {
            let expected = format!("at most {} pixels per side in a .webp", webp::MAX_SIDE_PIXELS);
            let found = format!("{} x {}", size[0], size[1]);
            return Err(Error::argument("picture size", expected, found));
        }
        Ok(())
    }
}

/// Whether `path` has the extension of a picture that [`read`] accepts.
pub fn is_readable_name(path: &Path) -> bool {
    let is_read = |own| PictureFormat::READ.iter().any(|(format, _)| *format == own);
    PictureFormat::of_name(path).is_some_and(is_read)
}

/// Reads the picture file `path`: PNG, JPEG, `OpenEXR` or NPY, by its content.
///
/// ```no_run
/// let photo = quadrille_base::image::files::read("photo.png")?;
/// quadrille_base::image::files::write("photo.exr", &photo)?;
/// # Ok::<(), quadrille_base::Error>(())
/// ```
///
/// # Errors
/// [`Error::Read`] when the file cannot be read; [`Error::Limit`] when it, or the picture in it, is
/// larger than this program's limits; [`Error::Malformed`] when its content is not a picture of a known
/// format, or is damaged.
pub fn read(path: impl AsRef<Path>) -> Result<Frame> {
    let path = path.as_ref();
    read_from(File::open(path).map_err(|e| Error::read(path, e))?, path)
}

/// Width and height of the picture in the file `path`, as stored, from its header: PNG, JPEG, WebP or OpenEXR.
///
/// # Errors
/// [`Error::Read`] when the file cannot be read, [`Error::Malformed`] when it does not start as such a picture.
pub fn size_of(path: &Path) -> Result<[u32; 2]> {
    let reader = image::ImageReader::open(path).and_then(image::ImageReader::with_guessed_format);
    let size = reader.map_err(|e| Error::read(path, e))?.into_dimensions();
    let (width, height) = size.map_err(|e| {
        Error::malformed(path, "header", "a picture: PNG, JPEG, WebP or OpenEXR", e)
    })?;
    stated_size(path, width.into(), height.into()).map(|size| [size.width, size.height])
}

/// Reads a picture file from `source`; `named` is its name in errors.
pub(crate) fn read_from(source: impl Read, named: &Path) -> Result<Frame> {
    decode(&content_of(source, named)?, named)
}

fn content_of(source: impl Read, named: &Path) -> Result<Vec<u8>> {
    let mut content = Vec::new();
    source.take(MAX_FILE_BYTES + 1).read_to_end(&mut content).map_err(|e| Error::read(named, e))?;
    let what = format!("{}: bytes of a picture file", shown(named));
    Error::check_limit(what, MAX_FILE_BYTES, content.len() as u64)?;
    Ok(content)
}

/// Decodes the content of a picture file, and turns the picture upright; `named` is its name in errors.
///
/// # Errors
/// Errors of [`read`], except [`Error::Read`].
pub fn decode(content: &[u8], named: &Path) -> Result<Frame> {
    decode_photo(content, named).map(Photo::upright)
}

/// Reads the picture file `path` without turning it upright.
pub fn read_photo(path: &Path) -> Result<Photo> {
    read_photo_from(File::open(path).map_err(|e| Error::read(path, e))?, path)
}

/// As [`read_photo`], from `source`; `named` is its name in errors.
pub fn read_photo_from(source: impl Read, named: &Path) -> Result<Photo> {
    decode_photo(&content_of(source, named)?, named)
}

/// Decodes the content of a picture file without turning the picture upright; `named` is its name in errors.
///
/// # Errors
/// Errors of [`read`], except [`Error::Read`].
pub(crate) fn decode_photo(content: &[u8], named: &Path) -> Result<Photo> {
    let floats = |stored, is_linear| Photo {
        stored,
        orientation: ExifOrientation::UPRIGHT,
        is_eight_bit: false,
        is_linear,
    };
    match PictureFormat::of_content(content) {
        Some(PictureFormat::Png) => png::decode(content, named),
        Some(PictureFormat::Exr) => {
            Ok(floats(exr::decode(content, named)?, exr::states_linear_light(content)))
        }
        Some(PictureFormat::Npy) => Ok(floats(npy::decode(content, named)?, false)),
        Some(PictureFormat::Jpeg(_)) => {
            let (stored, orientation) = jpeg::decode(content, named)?;
            Ok(Photo { stored, orientation, is_eight_bit: true, is_linear: false })
        }
        Some(PictureFormat::WebP) | None => Err(Error::malformed(
            named,
            "first bytes",
            "a picture: PNG, JPEG, OpenEXR or NPY",
            match (unread_format(content), &content[..content.len().min(8)]) {
                (Some(name), _) => format!("{name}, which is not read (convert it to PNG or JPEG)"),
                (None, []) => "an empty file".to_owned(),
                (None, start) => format!("{start:02x?}"),
            },
        )),
    }
}

/// Name of a format of pictures that is recognised but not read.
fn unread_format(content: &[u8]) -> Option<&'static str> {
    let brand = content.get(4..12).and_then(|bytes| bytes.strip_prefix(b"ftyp"));
    match (content, brand) {
        (_, Some(b"avif" | b"avis")) => Some("AVIF"),
        (_, Some(b"heic" | b"heix" | b"heim" | b"heis" | b"hevc" | b"mif1" | b"msf1")) => {
            Some("HEIC")
        }
        ([b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..], _) => Some("WebP"),
        ([b'I', b'I', 42, 0, ..] | [b'M', b'M', 0, 42, ..], _) => Some("TIFF"),
        ([0xff, 0x0a, ..] | [0, 0, 0, 12, b'J', b'X', b'L', b' ', ..], _) => Some("JPEG XL"),
        ([b'G', b'I', b'F', b'8', ..], _) => Some("GIF"),
        ([b'B', b'M', ..], _) => Some("BMP"),
        _ => None,
    }
}

/// Reads planes from `path`: the channels of an `OpenEXR` file besides R, G, B and A, or an NPY of H x W or H x W x 3.
pub fn read_planes(path: &Path) -> Result<Vec<Plane>> {
    let file = File::open(path).map_err(|e| Error::read(path, e))?;
    let content = content_of(file, path)?;
    match PictureFormat::of_content(&content) {
        Some(PictureFormat::Exr) => exr::decode_planes(&content, path),
        Some(PictureFormat::Npy) => npy::decode_planes(&content, path),
        _ => {
            let expected = "layers: an OpenEXR or NPY file";
            Err(Error::malformed(path, "first bytes", expected, "another format"))
        }
    }
}

/// Writes `frame` to the file `path`, whole or not at all, in the format of its extension.
///
/// # Errors
/// [`Error::Argument`] when the extension is not `.png`, `.exr`, `.npy`, `.jpg`, `.jpeg` or `.webp`, or the picture has
/// no pixels, more than 65 535 per side (of WebP, 16 383) or more than 2^28, or is transparent for JPEG;
/// [`Error::Write`] when the file cannot be written.
pub fn write(path: impl AsRef<Path>, frame: &Frame) -> Result<()> {
    let path = path.as_ref();
    let format = PictureFormat::of_name(path).ok_or_else(|| {
        Error::argument(
            "picture file",
            "a name that ends in .png, .exr, .npy, .jpg or .webp",
            shown(path),
        )
    })?;
    write_as(path, format, frame)
}

/// Writes `frame` to the file `path`, whole or not at all, in `format`.
///
/// # Errors
/// As [`write()`]; the extension does not matter.
pub fn write_as(path: &Path, format: PictureFormat, frame: &Frame) -> Result<()> {
    write_over(path, format, frame, None)
}

/// As [`write_as`], composited over `background` (sRGB) if there is one, as by [`Frame::over`]. Formats of 8 bits do so
/// without a copy of the picture.
pub fn write_over(
    path: &Path,
    format: PictureFormat,
    frame: &Frame,
    background: Option<[f32; 3]>,
) -> Result<()> {
    format.check_size([frame.width(), frame.height()])?;
    if !format.has_alpha() && background.is_none() && !is_opaque(frame) {
        let expected = "an opaque picture, since JPEG has no alpha (a background makes it opaque)";
        return Err(Error::argument(shown(path), expected, "transparent pixels"));
    }
    write_whole(path, &Task::NEVER, |mut out| write_over_to(&mut out, format, frame, background))
}

/// Writes a picture of `size` (width, height) to the file `path`, whole or not at all, in the bands that `draw` passes from
/// the top: opaque bands for PNG, any for NPY. It may have more pixels than [`read`] accepts.
///
/// # Errors
/// Errors of `draw`; [`Error::Write`], also for formats other than PNG and NPY; [`Error::Cancelled`].
pub fn write_bands<T>(
    path: &Path,
    format: PictureFormat,
    size: [u32; 2],
    task: &Task,
    draw: impl FnOnce(&mut dyn FnMut(&Frame) -> Result<()>) -> Result<T>,
) -> Result<T> {
    let mut drawn = None;
    let written = write_whole(path, task, |out| {
        let all = |push: PushBand<'_>| {
            let mut rows = 0;
            let mut write = |band: &Frame| {
                rows += band.height();
                push(band).map_err(|e| Error::write(path, e))
            };
            if drawn.insert(draw(&mut write)).is_err() {
                return Err(io::ErrorKind::Other.into());
            }
            match rows == size[1] {
                true => Ok(()),
                false => Err(io::Error::new(
                    io::ErrorKind::InvalidInput,
                    format!("expected {} rows of pixels, found {rows}", size[1]),
                )),
            }
        };
        match format {
            PictureFormat::Npy => npy::encode_bands(out, size, all),
            PictureFormat::Png => png::encode_bands(out, size, all),
            _ => Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "only .png and .npy files can be written in bands of rows",
            )),
        }
    });
    match drawn {
        // A band that is skipped because the task is cancelled is not a write error.
        Some(Err(error)) => task.check().and(Err(error)),
        Some(Ok(value)) => written.map(|()| value),
        None => Err(written.err().unwrap_or(Error::Cancelled)),
    }
}

/// Writes `frame` to `out` in `format`, without the checks of [`write()`]: a transparent picture becomes a JPEG over black.
///
/// # Errors
/// Errors of the output, and [`io::ErrorKind::InvalidInput`] for a picture without pixels.
pub fn write_to(out: &mut impl Write, format: PictureFormat, frame: &Frame) -> io::Result<()> {
    write_over_to(out, format, frame, None)
}

/// As [`write_to`], composited over `background` (sRGB) if there is one.
pub fn write_over_to(
    out: &mut impl Write,
    format: PictureFormat,
    frame: &Frame,
    background: Option<[f32; 3]>,
) -> io::Result<()> {
    if frame.pixels().is_empty() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "the picture has no pixels"));
    }
    let floats = || match background {
        Some(background) => Cow::Owned(frame.over(background)),
        None => Cow::Borrowed(frame),
    };
    match format {
        PictureFormat::Png => png::encode(out, &ByteRows::of(frame, background)),
        PictureFormat::Exr => exr::encode(out, &floats(), &[]),
        PictureFormat::Npy => npy::encode(out, &floats()),
        PictureFormat::Jpeg(quality) => {
            let rows = match background {
                Some(background) => ByteRows::over(frame, background),
                None => ByteRows::opaque(frame),
            };
            jpeg::encode(out, &rows, quality)
        }
        PictureFormat::WebP => webp::encode(out, &ByteRows::of(frame, background)),
    }
}

/// Writes `frame` and `layers` of the same size to the `OpenEXR` file `path`, whole or not at all.
pub fn write_exr_layers(
    path: impl AsRef<Path>,
    frame: &Frame,
    layers: &[LayerPicture],
) -> Result<()> {
    let path = path.as_ref();
    let size = [frame.width(), frame.height()];
    check_size(size)?;
    if let Some(other) = layers.iter().find(|l| [l.width, l.height] != size) {
        let expected = format!("{} x {} pixels", size[0], size[1]);
        let found = format!("{} x {}", other.width, other.height);
        return Err(Error::argument(other.layer.name(), expected, found));
    }
    write_whole(path, &Task::NEVER, |mut out| exr::encode(&mut out, frame, layers))
}

/// Writes `layer` to the NPY file `path`, whole or not at all: f32 or u32, H x W, or H x W x N for layers of N planes.
pub fn write_npy_layer(path: impl AsRef<Path>, layer: &LayerPicture) -> Result<()> {
    check_size([layer.width, layer.height])?;
    write_whole(path.as_ref(), &Task::NEVER, |mut out| npy::encode_layer(&mut out, layer))
}

/// Writes `layer` to the PNG file `path`, whole or not at all, with 16 bits per channel: near depths are bright. `depths` is
/// the nearest and the farthest depth of the greys, else the layer's own. Returns the mapping, which the file also states.
///
/// # Errors
/// Errors of writing, and [`Error::Argument`] for a layer of identifiers.
pub fn write_layer_png(
    path: &Path,
    layer: &LayerPicture,
    depths: Option<[f32; 2]>,
) -> Result<LayerRange> {
    check_size([layer.width, layer.height])?;
    let range = layer_png::range(layer, depths)?;
    write_whole(path, &Task::NEVER, |mut out| layer_png::encode(&mut out, layer, &range))?;
    Ok(range)
}

/// Writes one u32 per pixel, row by row, to the NPY file `path`, whole or not at all: H x W. [`read`] refuses such files.
pub fn write_counts(path: &Path, size: [u32; 2], counts: &[u32]) -> Result<()> {
    check_size(size)?;
    let pixels = size.map(u64::from).iter().product::<u64>();
    if counts.len() as u64 != pixels {
        return Err(Error::argument(
            "counts of pixels",
            format!("{pixels}, one per pixel"),
            format!("{}", counts.len()),
        ));
    }
    write_whole(path, &Task::NEVER, |mut out| npy::encode_counts(&mut out, size, counts))
}
