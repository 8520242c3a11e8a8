use std::time::Instant;

use bytes::Bytes;
use image_webp::{ColorType, WebPEncoder};
use jpeg_encoder::{Encoder, SamplingFactor};

use super::header::{Codec, Header, Kind};
use super::outbox::Picture;
use quadrille_base::error::{Error, Result};

/// JPEG quality from which chroma is not subsampled.
const FULL_CHROMA_QUALITY: u8 = 90;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Uncoded<'a> {
    pub(crate) kind: Kind,
    pub(crate) number: u32,
    pub(crate) generation: u32,
    pub(crate) flags: u16,
    pub(crate) render_us: u32,
    pub(crate) size: [u32; 2],
    pub(crate) rgb: &'a [u8],
}

impl Uncoded<'_> {
    pub(crate) fn jpeg(&self, quality: u8) -> Result<Picture> {
        let start = Instant::now();
        let mut bytes = Vec::new();
        let mut encoder = Encoder::new(&mut bytes, quality);
        encoder.set_sampling_factor(match quality >= FULL_CHROMA_QUALITY {
            true => SamplingFactor::F_1_1,
            false => SamplingFactor::F_2_2,
        });
        let [width, height] = self.sides();
        let encoded = encoder.encode(self.rgb, width, height, jpeg_encoder::ColorType::Rgb);
        encoded.map_err(|error| failed(&error))?;
        Ok(self.picture(Codec::Jpeg, bytes.into(), start))
    }

    pub(crate) fn webp(&self) -> Result<Picture> {
        let start = Instant::now();
        let mut bytes = Vec::new();
        let [width, height] = self.size;
        let encoded = WebPEncoder::new(&mut bytes).encode(self.rgb, width, height, ColorType::Rgb8);
        encoded.map_err(|error| failed(&error))?;
        Ok(self.picture(Codec::WebP, bytes.into(), start))
    }

    pub(crate) fn picture(&self, codec: Codec, bytes: Bytes, start: Instant) -> Picture {
        let header = Header {
            kind: self.kind,
            codec,
            flags: self.flags,
            number: self.number,
            generation: self.generation,
            size: self.sides(),
            render_us: self.render_us,
            encode_us: microseconds(start.elapsed()),
            bytes: 0,
            offset: 0,
        };
        Picture { header, bytes }
    }

    /// Width and height in 16 bits; they fit, since requests are checked when they arrive.
    fn sides(&self) -> [u16; 2] {
        self.size.map(quadrille_base::math::fit)
    }
}

/// Microseconds of a duration, at most 71 minutes.
pub(crate) fn microseconds(duration: std::time::Duration) -> u32 {
    u32::try_from(duration.as_micros()).unwrap_or(u32::MAX)
}

fn failed(error: &dyn std::fmt::Display) -> Error {
    Error::argument("picture", "a picture that can be encoded", error)
}
