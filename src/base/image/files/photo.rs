//! Photos: pictures with an EXIF orientation.

use image::ImageDecoder;

use crate::image::Frame;
use crate::image::orientation::{ExifOrientation, have_equal_proportions};

/// A picture as stored in a file.
#[derive(Debug, Clone)]
pub struct Photo {
    /// The pixels in the order of the file.
    pub stored: Frame,
    /// Orientation that the file states in its EXIF data.
    pub orientation: ExifOrientation,
    /// Whether the file holds 8 bits per channel.
    pub is_eight_bit: bool,
    /// Whether the file states that its values are linear light, of which only EXR files say so. Values are as stored.
    pub is_linear: bool,
}

impl Photo {
    /// Turns the picture upright.
    pub fn upright(self) -> Frame {
        self.orientation.upright(self.stored)
    }

    /// Whether `size`, of a camera's pictures, has the proportions of the stored pixels and not of the upright picture.
    /// COLMAP and the trainers ignore the orientation that cameras write into photos.
    pub fn is_seen_as_stored(&self, size: [u32; 2]) -> bool {
        let stored = [self.stored.width(), self.stored.height()];
        let upright = self.orientation.upright_size(stored);
        have_equal_proportions(stored, size) && !have_equal_proportions(upright, size)
    }
}

/// The orientation in the EXIF data of a file. Broken EXIF data count as upright, since the pixels are intact.
pub(super) fn stated_orientation(decoder: &mut impl ImageDecoder) -> ExifOrientation {
    let stated = decoder.orientation();
    stated.map_or(ExifOrientation::UPRIGHT, |stated| ExifOrientation::of_exif(stated.to_exif()))
}
