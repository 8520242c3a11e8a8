//! Pairs of picture files.

use std::io;
use std::path::Path;

use super::{fitted, turned, with_files};
use crate::evaluator::PairSource;
use crate::pairing::{PairName, Pairs, STDIN};
use quadrille_base::error::{Error, Result};
use quadrille_base::image::Frame;
use quadrille_base::image::files;
use quadrille_base::task::Task;
use quadrille_suite::Fnv1a;

/// Pairs of picture files. One of a single pair may be standard input.
pub struct Pictures {
    pairs: Pairs,
    names: Vec<PairName>,
    is_resized: bool,
    warnings: Vec<String>,
}

impl Pictures {
    /// The pairs; if `is_resized`, second pictures are resized to the sizes of the first ones.
    pub fn new(pairs: Pairs, is_resized: bool) -> Self {
        Self {
            names: pairs.pairs.iter().map(|pair| pair.names()).collect(),
            pairs,
            is_resized,
            warnings: Vec::new(),
        }
    }
}

impl PairSource for Pictures {
    fn pairs(&self) -> &[PairName] {
        &self.names
    }

    fn load(&mut self, at: usize, _task: &Task) -> Result<[Frame; 2]> {
        let pair = &self.pairs.pairs[at];
        let a = read(&pair.a)?.upright();
        let size = [a.width(), a.height()];
        let (b, values, warning) = turned(&pair.b, read(&pair.b)?, size);
        self.warnings.extend(warning);
        let found = [b.width(), b.height()];
        if self.is_resized {
            return Ok([a, fitted(&pair.b, b, size, values)?]);
        }
        if size != found {
            let expected = format!(
                "{} x {} pixels as in {} (--resize scales a picture of the same proportions)",
                size[0],
                size[1],
                pair.a.display()
            );
            let found = format!("{} x {}", found[0], found[1]);
            return Err(Error::malformed(&pair.b, "picture size", expected, found));
        }
        Ok([a, b])
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

fn read(path: &Path) -> Result<files::Photo> {
    if path == Path::new(STDIN) {
        files::read_photo_from(io::stdin().lock(), Path::new("<stdin>"))
    } else {
        files::read_photo(path)
    }
}
