//! Animated PNG (PNG specification, third edition, sections 4.9 and 11.3.6).
//!
//! Each frame is compressed as a PNG of its own; its IDAT chunks become the data of the animation, and
//! fcTL chunks say when it is shown. The first frame is also the picture of viewers without animation.

use std::io::{self, Write};

use flate2::Crc;

use super::facts::FilmFacts;
use crate::image::Frame;
use crate::image::files::{ByteRows, PNG_MAGIC, encode_png};

const CHUNK_OVERHEAD: usize = 12;

/// Dispose and blend operations: leave the frame, replace all of it by the next one.
const REPLACE: [u8; 2] = [0, 0];

/// Encodes a frame as an RGBA PNG, so that all frames have the same colour type.
pub(super) fn compressed(frame: &Frame) -> io::Result<Vec<u8>> {
    let mut png = Vec::new();
    encode_png(&mut png, &ByteRows::straight(frame))?;
    Ok(png)
}

pub struct ApngWriter<W: Write> {
    out: W,
    facts: FilmFacts,
    sequence: u32,
    is_first: bool,
}

impl<W: Write> ApngWriter<W> {
    pub(super) fn begin(mut out: W, facts: FilmFacts) -> io::Result<Self> {
        out.write_all(PNG_MAGIC)?;
        let [width, height] = facts.size.map(u32::to_be_bytes);
        // 8 bits, RGBA, and the only compression, filter and interlacing that all frames share.
        chunk(&mut out, *b"IHDR", &[&width[..], &height, &[8, 6, 0, 0, 0]].concat())?;
        // A count of 0 plays the film forever.
        chunk(&mut out, *b"acTL", &[facts.frames.to_be_bytes(), 0_u32.to_be_bytes()].concat())?;
        Ok(Self { out, facts, sequence: 0, is_first: true })
    }

    pub(super) fn push(&mut self, png: &[u8]) -> io::Result<()> {
        let control = self.control();
        chunk(&mut self.out, *b"fcTL", &control)?;
        for data in data_chunks(png) {
            if self.is_first {
                chunk(&mut self.out, *b"IDAT", data)?;
            } else {
                let number = self.next().to_be_bytes();
                chunk(&mut self.out, *b"fdAT", &[&number[..], data].concat())?;
            }
        }
        self.is_first = false;
        Ok(())
    }

    pub(super) fn finish(mut self) -> io::Result<()> {
        chunk(&mut self.out, *b"IEND", &[])?;
        self.out.flush()
    }

    fn next(&mut self) -> u32 {
        self.sequence += 1;
        self.sequence - 1
    }

    fn control(&mut self) -> Vec<u8> {
        let [width, height] = self.facts.size.map(u32::to_be_bytes);
        let (delay, per_second) = self.delay();
        let mut data = self.next().to_be_bytes().to_vec();
        data.extend([width, height, [0; 4], [0; 4]].concat());
        data.extend(delay.to_be_bytes());
        data.extend(per_second.to_be_bytes());
        data.extend(REPLACE);
        data
    }

    fn delay(&self) -> (u16, u16) {
        let rate = self.facts.rate;
        let exact = u16::try_from(rate.denominator).ok();
        exact.zip(u16::try_from(rate.numerator).ok()).unwrap_or_else(|| {
            // Larger numbers do not fit: the delay is rounded to milliseconds.
            let ms = format!("{:.0}", 1000.0 / rate.per_second());
            (ms.parse().unwrap_or(u16::MAX), 1000)
        })
    }
}

fn data_chunks(png: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = &png[PNG_MAGIC.len().min(png.len())..];
    std::iter::from_fn(move || {
        loop {
            let (length, after) = rest.split_first_chunk::<4>()?;
            let length = u32::from_be_bytes(*length) as usize;
            let (name, data) = after.split_first_chunk::<4>()?;
            let data = data.get(..length)?;
            rest = rest.get(length + CHUNK_OVERHEAD..)?;
            if name == b"IDAT" {
                return Some(data);
            }
        }
    })
}

fn chunk(out: &mut impl Write, name: [u8; 4], data: &[u8]) -> io::Result<()> {
    let length = u32::try_from(data.len()).map_err(io::Error::other)?;
    let mut checksum = Crc::new();
    checksum.update(&name);
    checksum.update(data);
    out.write_all(&length.to_be_bytes())?;
    out.write_all(&name)?;
    out.write_all(data)?;
    out.write_all(&checksum.sum().to_be_bytes())
}
