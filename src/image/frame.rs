//! Pictures in memory.

use crate::error::{Error, Result};
use crate::math::buffer::Buffer;

/// A picture of premultiplied RGBA in f32, not clamped, with rows from the top.
#[derive(Debug, Clone, PartialEq)]
pub struct Frame {
    width: u32,
    height: u32,
    pixels: Buffer<[f32; 4]>,
}

impl Frame {
    /// Creates a transparent black picture.
    #[must_use]
    pub fn new(width: u32, height: u32) -> Self {
        Self {
            width,
            height,
            pixels: Buffer::zeroed(width as usize * height as usize),
        }
    }

    /// Creates a picture from its pixels, row by row from the top.
    ///
    /// # Panics
    /// When there are not `width * height` pixels.
    #[must_use]
    pub fn from_pixels(width: u32, height: u32, pixels: Vec<[f32; 4]>) -> Self {
        assert_eq!(
            pixels.len(),
            width as usize * height as usize,
            "pixels of {width} x {height}"
        );
        Self {
            width,
            height,
            pixels: pixels.into(),
        }
    }

    /// Width in pixels.
    #[must_use]
    pub fn width(&self) -> u32 {
        self.width
    }

    /// Height in pixels.
    #[must_use]
    pub fn height(&self) -> u32 {
        self.height
    }

    /// The pixels, premultiplied RGBA, row by row from the top.
    #[must_use]
    pub fn pixels(&self) -> &[[f32; 4]] {
        &self.pixels
    }

    /// The pixels, mutable, in the same order.
    #[must_use]
    pub fn pixels_mut(&mut self) -> &mut [[f32; 4]] {
        &mut self.pixels
    }

    /// Composites the picture over an opaque background: `C + (1 - a) * background`, with alpha 1.
    #[must_use]
    pub fn over(&self, background: [f32; 3]) -> Self {
        let pixels = self.pixels.iter().map(|&[r, g, b, a]| {
            let t = 1.0 - a;
            [
                r + t * background[0],
                g + t * background[1],
                b + t * background[2],
                1.0,
            ]
        });
        Self {
            width: self.width,
            height: self.height,
            pixels: pixels.collect::<Vec<_>>().into(),
        }
    }
}

/// Refuses pictures of a size (width, height) whose pixels do not fit in the available memory, before
/// a renderer aborts for want of it.
#[allow(dead_code, reason = "for the command line")]
pub(crate) fn check_memory(size: [u32; 2]) -> Result<()> {
    check_memory_of(size, available_bytes())
}

fn check_memory_of([width, height]: [u32; 2], available: Option<u64>) -> Result<()> {
    let needed = u64::from(width) * u64::from(height) * size_of::<[f32; 4]>() as u64;
    let is_mappable = usize::try_from(needed).is_ok_and(Buffer::<u8>::can_hold);
    if is_mappable && available.is_none_or(|available| needed <= available) {
        return Ok(());
    }
    let gigabytes = |bytes: u64| format!("{:.1} GB", bytes as f64 / 1e9);
    let of = available.map_or(String::new(), |bytes| {
        format!(" ({} available)", gigabytes(bytes))
    });
    Err(Error::caller(
        "picture size",
        format!("a picture that fits in memory{of}"),
        format!(
            "{width} x {height} pixels, which take {}",
            gigabytes(needed)
        ),
    ))
}

/// Memory that the system can give to this process, where it says so.
fn available_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    kib.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_beyond_memory_are_refused_with_their_size() {
        check_memory([640, 480]).unwrap();
        check_memory_of([1024, 1024], Some(16 << 20)).unwrap();
        let error = check_memory_of([32768, 32768], Some(8_100_000_000)).unwrap_err();
        let text = error.to_string();
        assert!(
            text.contains("17.2 GB") && text.contains("(8.1 GB available)"),
            "{text}"
        );
        assert!(check_memory_of([u32::MAX; 2], None).is_err());
    }
}
