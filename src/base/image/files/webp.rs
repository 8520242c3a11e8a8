//! WebP: lossless, 8 bits per channel in sRGB, straight alpha; written only.

use std::io::{self, Write};

use image::ImageEncoder;
use image::codecs::webp::WebPEncoder;

use super::png::{eight_bit, io_error};
use crate::image::Frame;

/// Maximum side of a picture, in pixels: sizes have 14 bits (WebP Lossless Bitstream Specification, section 3).
pub(super) const MAX_SIDE_PIXELS: u32 = 1 << 14;

/// Writes RGB when every alpha rounds to 255, else RGBA.
pub(super) fn encode(out: &mut impl Write, frame: &Frame) -> io::Result<()> {
    let (bytes, kind) = eight_bit(frame);
    WebPEncoder::new_lossless(out)
        .write_image(&bytes, frame.width(), frame.height(), kind)
        .map_err(io_error)
}
