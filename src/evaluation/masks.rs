//! Masks, which choose the pixels that count.

use std::path::{Path, PathBuf};

use quadrille_base::error::{Error, Result};
use quadrille_base::image::Frame;
use quadrille_base::image::files;
use quadrille_base::image::orientation::have_equal_proportions;
use quadrille_base::image::resize::{ResizedValues, resized};

use super::pairing::PairName;
use super::picture_folder::PictureFolder;
use quadrille_scene::cameras::view_of_picture;

/// Minimum mask value of pixels that count.
const COUNTS_FROM: f32 = 0.5;

/// Source of masks.
#[derive(Debug, Clone)]
pub enum Masks {
    /// A folder of pictures with the names of the pairs: bright pixels count.
    Folder(PictureFolder),
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
        let pictures = PictureFolder::open(path)?;
        let expected = "masks: pictures with the names of the pairs";
        Error::malformed_if(pictures.view_count() == 0, path, "folder", expected, "no picture")?;
        Ok(Self::Folder(pictures))
    }

    /// Path of the mask of a pair; `None` if there is no file. Of several masks with the name of the pair, the one with the
    /// name of the second picture is taken.
    ///
    /// # Errors
    /// Errors of [`PictureFolder::find`].
    pub fn file(&self, pair: &PairName) -> Result<Option<PathBuf>> {
        let Self::Folder(pictures) = self else { return Ok(None) };
        // A pair may be called by its file.
        pictures.find(&[&pair.name, &view_of_picture(&pair.name)], Some(&pair.b))
    }

    /// Whether each pixel of `pair`, whose second picture is `b`, counts. A mask of another size is resized like a
    /// photo.
    ///
    /// # Errors
    /// Errors of reading, and [`Error::Malformed`] for a pair without a mask, for a mask without a pixel that counts,
    /// and for other proportions than the pictures have.
    pub fn of(&self, pair: &PairName, b: &Frame) -> Result<Vec<bool>> {
        let size = [b.width(), b.height()];
        let (mask, file): (Vec<bool>, PathBuf) = match self {
            Self::Alpha => (
                b.pixels().iter().map(|p| p[3] >= COUNTS_FROM).collect(),
                pair.name.as_str().into(),
            ),
            Self::Folder(pictures) => {
                let expected = "a mask with this name";
                let missing = || Error::malformed(pictures.path(), &pair.name, expected, "none");
                let file = self.file(pair)?.ok_or_else(missing)?;
                let stored = files::read_photo(&file)?.stored;
                let own = [stored.width(), stored.height()];
                if !have_equal_proportions(own, size) {
                    let expected = format!("the proportions of {} x {} pixels", size[0], size[1]);
                    let found = format!("{} x {}", own[0], own[1]);
                    return Err(Error::malformed(&file, "mask size", expected, found));
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
                Err(Error::malformed(&file, "mask", expected, "none"))
            }
        }
    }
}
