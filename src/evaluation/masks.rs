//! Masks, which choose the pixels that count.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use quadrille_base::error::{Error, Result};
use quadrille_base::image::Frame;
use quadrille_base::image::files;
use quadrille_base::image::orientation::have_equal_proportions;
use quadrille_base::image::resize::{ResizedValues, resized};

use super::pairing::photos_in;

/// Minimum mask value of pixels that count.
const COUNTS_FROM: f32 = 0.5;

/// Source of masks.
#[derive(Debug, Clone)]
pub enum Masks {
    /// A folder of pictures with the names of the pairs: bright pixels count.
    Folder {
        /// Path of the folder.
        path: PathBuf,
        /// Paths of its pictures by the names of their views.
        pictures: HashMap<String, PathBuf>,
    },
    /// The alpha of the second picture of each pair.
    Alpha,
}

impl Masks {
    /// Finds the masks in the folder `path`; the path `alpha` stands for [`Masks::Alpha`].
    ///
    /// # Errors
    /// [`Error::Read`] for a folder that cannot be read, [`Error::Malformed`] for one without pictures.
    pub fn parse(path: &Path) -> Result<Self> {
        if path == Path::new("alpha") && !path.is_dir() {
            return Ok(Self::Alpha);
        }
        let pictures = photos_in(path)?;
        let expected = "masks: pictures with the names of the pairs";
        Error::malformed_if(pictures.is_empty(), path, "folder", expected, "no picture")?;
        Ok(Self::Folder { path: path.to_owned(), pictures })
    }

    /// Path of the mask of the pair `name`; `None` if there is no file.
    pub fn file(&self, name: &str) -> Option<&Path> {
        match self {
            Self::Folder { pictures, .. } => pictures.get(name).map(PathBuf::as_path),
            Self::Alpha => None,
        }
    }

    /// Whether each pixel of the pair `name`, whose second picture is `b`, counts. A mask of another size is resized like a
    /// photo.
    ///
    /// # Errors
    /// Errors of reading, and [`Error::Malformed`] for a pair without a mask, for a mask without a pixel that counts,
    /// and for other proportions than the pictures have.
    pub fn of(&self, name: &str, b: &Frame) -> Result<Vec<bool>> {
        let size = [b.width(), b.height()];
        let (mask, file): (Vec<bool>, &Path) = match self {
            Self::Alpha => {
                (b.pixels().iter().map(|p| p[3] >= COUNTS_FROM).collect(), Path::new(name))
            }
            Self::Folder { path, .. } => {
                let missing = || Error::malformed(path, name, "a mask with this name", "none");
                let file = self.file(name).ok_or_else(missing)?;
                let stored = files::read_photo(file)?.stored;
                let own = [stored.width(), stored.height()];
                if !have_equal_proportions(own, size) {
                    let expected = format!("the proportions of {} x {} pixels", size[0], size[1]);
                    let found = format!("{} x {}", own[0], own[1]);
                    return Err(Error::malformed(file, "mask size", expected, found));
                }
                let mask =
                    if own == size { stored } else { resized(&stored, size, ResizedValues::Float) };
                let grey = |p: &[f32; 4]| (p[0] + p[1] + p[2]) / 3.0;
                (mask.pixels().iter().map(|p| grey(p) >= COUNTS_FROM).collect(), file)
            }
        };
        match mask.contains(&true) {
            true => Ok(mask),
            false => {
                let expected =
                    "at least one pixel that counts (with a brightness or alpha of 0.5 or more)";
                Err(Error::malformed(file, "mask", expected, "none"))
            }
        }
    }
}
