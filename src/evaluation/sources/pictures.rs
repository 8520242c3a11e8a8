//! Pairs of picture files.

use std::io;
use std::path::Path;

use super::{fitted, turned, with_files};
use crate::evaluator::{LoadedPair, PairSource};
use crate::pairing::{PairName, Pairs, PicturePair, STDIN};
use quadrille_base::image::Frame;
use quadrille_base::image::files;
use quadrille_base::{Error, Result, Task};
use quadrille_suite::Fnv1a;

/// Minimum difference of alpha between a transparent and an opaque picture (assumed).
const OPAQUE_DIFFERENCE: f32 = 0.5;

/// Pairs of picture files. One file of a single pair may be standard input.
pub struct Pictures {
    pairs: Pairs,
    names: Vec<PairName>,
    is_resized: bool,
    warnings: Vec<String>,
    has_warned_of_alpha: bool,
    has_warned_of_light: bool,
}

impl Pictures {
    /// Creates the source. If `is_resized`, second pictures are resized to the sizes of the first ones. If
    /// `has_background`, the user chose the colour behind the pictures, and differences of alpha cause no warning.
    pub fn new(pairs: Pairs, is_resized: bool, has_background: bool) -> Self {
        Self {
            names: pairs.pairs.iter().map(|pair| pair.names()).collect(),
            pairs,
            is_resized,
            warnings: Vec::new(),
            has_warned_of_alpha: has_background,
            has_warned_of_light: false,
        }
    }
}

impl PairSource for Pictures {
    fn pairs(&self) -> &[PairName] {
        &self.names
    }

    fn load(&mut self, at: usize, _task: &Task) -> Result<LoadedPair> {
        let pair = &self.pairs.pairs[at];
        let (a, b) = (read(&pair.a)?, read(&pair.b)?);
        if !self.has_warned_of_light && a.is_linear != b.is_linear {
            self.has_warned_of_light = true;
            self.warnings.push(light_warning(pair, a.is_linear));
        }
        let a = a.upright();
        let size = [a.width(), a.height()];
        let (b, values, warning) = turned(&pair.b, b, size);
        self.warnings.extend(warning);
        let found = [b.width(), b.height()];
        if size != found && !self.is_resized {
            let expected = format!(
                "{} x {} pixels as in {} (--resize scales a picture of the same proportions)",
                size[0],
                size[1],
                pair.a.display()
            );
            let found = format!("{} x {}", found[0], found[1]);
            return Err(Error::malformed(&pair.b, "picture size", expected, found));
        }
        let b = fitted(&pair.b, b, size, values)?;
        if !self.has_warned_of_alpha {
            let warning = alpha_warning([(pair.a.as_path(), &a), (pair.b.as_path(), &b)]);
            self.has_warned_of_alpha = warning.is_some();
            self.warnings.extend(warning);
        }
        Ok(LoadedPair::Pictures([a, b]))
    }

    fn fingerprint(&self, at: usize) -> Result<Option<u64>> {
        let pair = &self.pairs.pairs[at];
        let files: [&Path; 2] = [&pair.a, &pair.b];
        if files.contains(&Path::new(STDIN)) {
            return Ok(None);
        }
        with_files(Fnv1a::default().0, files).map(Some)
    }

    fn has_independent_pairs(&self) -> bool {
        self.pairs.are_folders
    }

    fn take_warnings(&mut self) -> Vec<String> {
        std::mem::take(&mut self.warnings)
    }
}

/// Warns of a transparent picture beside an opaque one: unless the background has the colour of the opaque picture there,
/// all metrics are bad.
fn alpha_warning(pictures: [(&Path, &Frame); 2]) -> Option<String> {
    let [a, b] = pictures.map(|(_, frame)| frame.pixels().iter().map(|pixel| pixel[3]));
    let far = a.zip(b).find(|(a, b)| (a - b).abs() > OPAQUE_DIFFERENCE)?;
    let [transparent, opaque] =
        if far.0 < far.1 { [pictures[0].0, pictures[1].0] } else { [pictures[1].0, pictures[0].0] };
    Some(format!(
        "{} is transparent where {} is opaque; --background sets the colour behind both, for example 1,1,1",
        transparent.display(),
        opaque.display()
    ))
}

/// Warns of a pair of which one file alone states that it holds linear light: values are compared as they are stored.
fn light_warning(pair: &PicturePair, is_first: bool) -> String {
    let [linear, other] = if is_first { [&pair.a, &pair.b] } else { [&pair.b, &pair.a] };
    format!(
        "{} holds linear light and {} does not say so: values are compared as they are stored, and equal pictures differ (two \
         .exr files, or two .png files, do not)",
        linear.display(),
        other.display()
    )
}

fn read(path: &Path) -> Result<files::Photo> {
    if path == Path::new(STDIN) {
        files::read_photo_from(io::stdin().lock(), Path::new("<stdin>"))
    } else {
        files::read_photo(path)
    }
}
