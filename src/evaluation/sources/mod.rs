//! Sources of pairs: files, films, scenes, sequences of scenes, a scene and photos.

mod films;
mod photos;
mod pictures;
mod scene_sequences;
mod scenes;

pub use films::Films;
pub use photos::{PhotoSettings, PhotoSizes, ScenePhotos};
pub use pictures::Pictures;
pub use scene_sequences::{ScenePair, SceneSequences};
pub use scenes::Scenes;

use std::io::Write;
use std::path::Path;

use quadrille_base::error::{Error, Result};
use quadrille_base::image::Frame;
use quadrille_base::image::files::Photo;
use quadrille_base::image::orientation::{ExifOrientation, check_proportions};
use quadrille_base::image::resize::{ResizedValues, resized};
use quadrille_scene::formats::source_files;
use quadrille_suite::Fnv1a;

/// Description of the filter of resized photos, for the conditions of a comparison.
pub const RESIZED_BY: &str = "bicubic (a = -0.5, antialiased, 8 bits, as Pillow's BICUBIC)";

fn scene_hash(scene: &Path) -> Result<u64> {
    let mut hash = Fnv1a::default();
    for file in source_files(scene)? {
        hash.add_file(&file).map_err(|e| Error::read(&file, e))?;
    }
    Ok(hash.0)
}

fn with_files<'a>(hash: u64, files: impl IntoIterator<Item = &'a Path>) -> Result<u64> {
    let mut hash = Fnv1a(hash);
    for file in files {
        hash.add_file(file).map_err(|e| Error::read(file, e))?;
    }
    Ok(hash.0)
}

fn with_text(hash: u64, text: &str) -> u64 {
    let mut hash = Fnv1a(hash);
    // Writing to a hash cannot fail.
    let _ = write!(hash, "{text}");
    hash.0
}

/// Turns a photo for a camera with the proportions of `size`: upright, unless only the stored orientation fits.
fn turned(path: &Path, photo: Photo, size: [u32; 2]) -> (Frame, ResizedValues, Option<String>) {
    let values = if photo.is_eight_bit { ResizedValues::EightBit } else { ResizedValues::Float };
    if photo.orientation == ExifOrientation::UPRIGHT {
        return (photo.stored, values, None);
    }
    let path = path.display();
    if photo.is_seen_as_stored(size) {
        let warning = format!(
            "{path}: its EXIF orientation is ignored, since the camera has the proportions of the stored pixels"
        );
        return (photo.stored, values, Some(warning));
    }
    let warning = format!("{path}: the photo is turned by its EXIF orientation");
    (photo.upright(), values, Some(warning))
}

/// Resizes `frame` to `size`, which must have the same proportions.
fn fitted(path: &Path, frame: Frame, size: [u32; 2], values: ResizedValues) -> Result<Frame> {
    if [frame.width(), frame.height()] == size {
        return Ok(frame);
    }
    check_proportions(path, [frame.width(), frame.height()], size)?;
    Ok(resized(&frame, size, values))
}
