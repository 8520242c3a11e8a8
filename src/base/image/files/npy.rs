//! NPY, `NumPy`'s array file: magic, version, length of the header, header, elements.
//!
//! Layout by `numpy/lib/_format_impl.py`: `\x93NUMPY`, major and minor version, the header's length
//! (u16 in version 1, u32 in 2 and 3, little-endian), the header as text, the elements.

use std::io::{self, Write};
use std::path::Path;

use super::band::PushBand;
use super::limits::{Size, stated_size};
use super::npy_header;
use super::planes::Plane;
use crate::error::{Error, Result};
use crate::image::{Frame, Layer, LayerPicture, from_8_bit};
use crate::math::narrow;

pub(super) const MAGIC: &[u8] = b"\x93NUMPY";

const ALIGNMENT_BYTES: usize = 64;

const PREAMBLE_BYTES: usize = 10;

const MAX_HEADER_BYTES: usize = 65_536;

const MAX_PLANES: u64 = 64;

#[derive(Debug, Clone, Copy)]
enum ElementType {
    /// Unsigned byte; 255 is 1.0.
    U1,
    F4Little,
    F4Big,
    F8Little,
    F8Big,
}

impl ElementType {
    fn of_descr(descr: &str) -> Option<Self> {
        match descr {
            "|u1" | "<u1" | ">u1" | "u1" => Some(Self::U1),
            "<f4" => Some(Self::F4Little),
            ">f4" => Some(Self::F4Big),
            "<f8" => Some(Self::F8Little),
            ">f8" => Some(Self::F8Big),
            _ => None,
        }
    }

    fn size_bytes(self) -> usize {
        match self {
            Self::U1 => 1,
            Self::F4Little | Self::F4Big => 4,
            Self::F8Little | Self::F8Big => 8,
        }
    }

    /// First element in `bytes`; 0 if there is none, which the check of the file's length excludes.
    fn value(self, bytes: &[u8]) -> f32 {
        let four = || bytes.first_chunk().copied().unwrap_or_default();
        let eight = || bytes.first_chunk().copied().unwrap_or_default();
        match self {
            Self::U1 => from_8_bit(bytes.first().copied().unwrap_or_default()),
            Self::F4Little => f32::from_le_bytes(four()),
            Self::F4Big => f32::from_be_bytes(four()),
            Self::F8Little => narrow(f64::from_le_bytes(eight())),
            Self::F8Big => narrow(f64::from_be_bytes(eight())),
        }
    }
}

pub(super) fn decode(content: &[u8], named: &Path) -> Result<Frame> {
    let (text, elements) = split(content, named)?;
    let header = header(text, named)?;
    let element = ElementType::of_descr(&header.descr).ok_or_else(|| {
        let expected = "<f4, >f4, <f8, >f8 or |u1";
        Error::malformed(named, "NPY header, descr", expected, header.descr.clone())
    })?;
    let [height, width, channels @ (3 | 4)] = header.shape[..] else {
        let (place, expected) = ("NPY header, shape", "height x width x 3 or 4");
        return Err(Error::malformed(named, place, expected, format!("{:?}", header.shape)));
    };
    let size = stated_size(named, width, height)?;
    let expected_bytes = size.pixels() * channels * element.size_bytes() as u64;
    if elements.len() as u64 != expected_bytes {
        let place = format!("elements of the {height} x {width} x {channels} array");
        let expected = format!("{expected_bytes} bytes");
        return Err(Error::malformed(named, place, expected, format!("{} bytes", elements.len())));
    }
    let channels = if channels == 4 { 4 } else { 3 };
    Ok(gather(elements, element, size, channels, header.fortran_order))
}

pub(super) fn decode_planes(content: &[u8], named: &Path) -> Result<Vec<Plane>> {
    let (text, elements) = split(content, named)?;
    let header = header(text, named)?;
    let (width, height, names): (_, _, Vec<String>) = match header.shape[..] {
        [height, width] => (width, height, vec![String::new()]),
        [height, width, 3] => (width, height, ["X", "Y", "Z"].map(str::to_owned).to_vec()),
        [height, width, planes @ 1..=MAX_PLANES] => {
            (width, height, (1..=planes).map(|p| p.to_string()).collect())
        }
        _ => {
            let expected = format!("height x width x 1 to {MAX_PLANES}, or height x width");
            let found = format!("{:?}", header.shape);
            return Err(Error::malformed(named, "NPY header, shape", expected, found));
        }
    };
    let is_whole = header.descr == "<u4";
    if (!is_whole && header.descr != "<f4") || header.fortran_order {
        let (place, expected) = ("NPY header", "<f4 or <u4 in C order");
        return Err(Error::malformed(named, place, expected, header.descr));
    }
    let size = stated_size(named, width, height)?;
    let expected_bytes = size.pixels() * names.len() as u64 * 4;
    if elements.len() as u64 != expected_bytes {
        let found = format!("{} bytes", elements.len());
        let expected = format!("{expected_bytes} bytes");
        return Err(Error::malformed(named, "elements of the array", expected, found));
    }
    let value = |bytes: &[u8; 4]| match is_whole {
        true => f64::from(u32::from_le_bytes(*bytes)),
        false => f64::from(f32::from_le_bytes(*bytes)),
    };
    let words = elements.as_chunks::<4>().0;
    let plane = |(part, name): (usize, &String)| Plane {
        name: name.clone(),
        size: [size.width, size.height],
        values: words.iter().skip(part).step_by(names.len()).map(value).collect(),
    };
    Ok(names.iter().enumerate().map(plane).collect())
}

fn header(text: &str, named: &Path) -> Result<npy_header::NpyHeader> {
    npy_header::parse(text).map_err(|refusal| {
        let found: String = text.get(refusal.at..).unwrap_or("").chars().take(24).collect();
        let place = format!("byte {} of the NPY header's text", refusal.at);
        Error::malformed(named, place, refusal.expected, format!("{found:?}"))
    })
}

fn split<'a>(content: &'a [u8], named: &Path) -> Result<(&'a str, &'a [u8])> {
    let cut = |expected: &str| {
        let found = format!("a file of {} bytes", content.len());
        Error::malformed(named, "NPY preamble", expected, found)
    };
    let preamble = content.strip_prefix(MAGIC).unwrap_or(content);
    let (version, rest) = preamble.split_first_chunk::<2>().ok_or_else(|| cut("a version"))?;
    let length_bytes = match version {
        [1, _] => 2,
        [2 | 3, _] => 4,
        [major, minor] => {
            let found = format!("version {major}.{minor}");
            return Err(Error::malformed(named, "NPY preamble", "version 1, 2 or 3", found));
        }
    };
    let (length, rest) =
        rest.split_at_checked(length_bytes).ok_or_else(|| cut("the header's length"))?;
    let length = length.iter().rfold(0, |sum, &b| sum << 8 | usize::from(b));
    let limit = rest.len().min(MAX_HEADER_BYTES);
    if length > limit {
        let expected = format!("a header of at most {limit} bytes");
        let found = format!("a stated length of {length} bytes");
        return Err(Error::malformed(named, "NPY preamble", expected, found));
    }
    let (text, elements) = rest.split_at(length);
    let text = std::str::from_utf8(text).map_err(|e| {
        let place = format!("byte {} of the NPY header's text", e.valid_up_to());
        Error::malformed(named, place, "text in UTF-8", "other bytes")
    })?;
    Ok((text, elements))
}

fn gather(
    bytes: &[u8],
    element: ElementType,
    size: Size,
    channels: usize,
    fortran_order: bool,
) -> Frame {
    let (width, height) = (size.width as usize, size.height as usize);
    let (row_step, column_step, channel_step) =
        if fortran_order { (1, height, height * width) } else { (width * channels, channels, 1) };
    let value = |y: usize, x: usize, c: usize| {
        let index = y * row_step + x * column_step + c * channel_step;
        element.value(&bytes[index * element.size_bytes()..])
    };
    let pixels = (0..height).flat_map(|y| (0..width).map(move |x| (y, x))).map(|(y, x)| {
        let alpha = if channels == 4 { value(y, x, 3) } else { 1.0 };
        [value(y, x, 0), value(y, x, 1), value(y, x, 2), alpha]
    });
    Frame::from_pixels(size.width, size.height, pixels.collect())
}

pub(super) fn encode(out: &mut impl Write, frame: &Frame) -> io::Result<()> {
    encode_bands(out, [frame.width(), frame.height()], |push| push(frame))
}

pub(super) fn encode_bands(
    out: &mut dyn Write,
    [width, height]: [u32; 2],
    draw: impl FnOnce(PushBand<'_>) -> io::Result<()>,
) -> io::Result<()> {
    encode_header(out, "<f4", &format!("({height}, {width}, 4)"))?;
    draw(&mut |band| encode_rows(out, band))
}

fn encode_rows(out: &mut dyn Write, frame: &Frame) -> io::Result<()> {
    for row in frame.pixels().chunks(frame.width() as usize) {
        if cfg!(target_endian = "little") {
            out.write_all(bytemuck::cast_slice(row))?;
        } else {
            for value in row.iter().flatten() {
                out.write_all(&value.to_le_bytes())?;
            }
        }
    }
    Ok(())
}

pub(super) fn encode_counts(
    out: &mut impl Write,
    [width, height]: [u32; 2],
    counts: &[u32],
) -> io::Result<()> {
    encode_header(out, "<u4", &format!("({height}, {width})"))?;
    counts.iter().try_for_each(|count| out.write_all(&count.to_le_bytes()))
}

/// Writes version 1.0, little-endian f32 or u32, C order, H x W, or H x W x N for layers of N planes.
pub(super) fn encode_layer(out: &mut impl Write, layer: &LayerPicture) -> io::Result<()> {
    let kind = layer.layer;
    let planes: Vec<&[u32]> = (0..kind.planes()).map(|p| layer.plane_bits(p)).collect();
    let channels = match kind {
        Layer::Normal | Layer::TopId(_) | Layer::TopWeight(_) => format!(", {}", planes.len()),
        _ => String::new(),
    };
    let shape = format!("({}, {}{channels})", layer.height, layer.width);
    encode_header(out, if kind.is_whole() { "<u4" } else { "<f4" }, &shape)?;
    for pixel in 0..planes[0].len() {
        for plane in &planes {
            out.write_all(&plane[pixel].to_le_bytes())?;
        }
    }
    Ok(())
}

fn encode_header(out: &mut (impl Write + ?Sized), descr: &str, shape: &str) -> io::Result<()> {
    let mut header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
    // The header is padded with blanks and a line feed.
    let unpadded = PREAMBLE_BYTES + header.len() + 1;
    header.extend(std::iter::repeat_n(' ', unpadded.next_multiple_of(ALIGNMENT_BYTES) - unpadded));
    header.push('\n');
    let length = u16::try_from(header.len()).map_err(io::Error::other)?;
    out.write_all(MAGIC)?;
    out.write_all(&[1, 0])?;
    out.write_all(&length.to_le_bytes())?;
    out.write_all(header.as_bytes())
}
