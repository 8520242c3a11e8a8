//! Pairs of frames of two films.

use std::fs::File;
use std::io::{self, Seek};
use std::path::Path;

use crate::evaluator::{LoadedPair, PairSource};
use crate::pairing::{PairName, STDIN};
use quadrille_base::image::film::FilmReader;
use quadrille_base::{Error, Result, Task};

/// Frames of two films, paired from the first frame on.
pub struct Films<'a> {
    paths: [&'a Path; 2],
    readers: [FilmReader; 2],
    names: Vec<PairName>,
}

impl<'a> Films<'a> {
    /// Opens two films, and counts their frames. Also returns the names of the frames of the longer film without a partner, and
    /// a warning about them; the shorter film ends the comparison.
    ///
    /// # Errors
    /// The errors of [`FilmReader::of`], [`Error::Read`] for a file that cannot be opened, and [`Error::Malformed`] for a
    /// film without frames.
    pub fn open(paths: [&'a Path; 2]) -> Result<(Self, Vec<String>, Option<String>)> {
        let [first, second] = paths;
        let files = [opened(first)?, opened(second)?];
        let counts = [FilmReader::count(&files[0], first)?, FilmReader::count(&files[1], second)?];
        let count = counts[0].min(counts[1]);
        if count == 0 {
            let empty = if counts[0] == 0 { first } else { second };
            return Err(Error::malformed(empty, "film", "at least one frame", "none"));
        }
        let warning = (counts[0] != counts[1]).then(|| {
            format!(
                "{} has {} frames and {} has {}: the first {count} are compared",
                first.display(),
                counts[0],
                second.display(),
                counts[1]
            )
        });
        let longer = if counts[0] > counts[1] { first } else { second };
        let most = counts[0].max(counts[1]);
        let missing = (count..most).map(|at| format!("{}: frame {at}", longer.display())).collect();
        let digits = (count - 1).to_string().len().max(4);
        let name = |frame: u64| PairName {
            name: format!("frame {frame:0digits$}"),
            a: first.display().to_string(),
            b: second.display().to_string(),
        };
        let [a, b] = files;
        let films = Self {
            paths,
            readers: [FilmReader::of(a, first)?, FilmReader::of(b, second)?],
            names: (0..count).map(name).collect(),
        };
        Ok((films, missing, warning))
    }
}

/// Opens a film; standard input is copied to a temporary file, since frames are counted before they are compared.
fn opened(path: &Path) -> Result<File> {
    let failed = |e| Error::read(path, e);
    if path != Path::new(STDIN) {
        return File::open(path).map_err(failed);
    }
    let mut file = tempfile::tempfile().map_err(failed)?;
    io::copy(&mut io::stdin().lock(), &mut file).map_err(failed)?;
    file.rewind().map_err(failed)?;
    Ok(file)
}

impl PairSource for Films<'_> {
    fn pairs(&self) -> &[PairName] {
        &self.names
    }

    fn load(&mut self, at: usize, _task: &Task) -> Result<LoadedPair> {
        let mut next = |side: usize| {
            let path = self.paths[side];
            let ended = || Error::malformed(path, format!("frame {at}"), "a frame", "the end");
            self.readers[side].next_frame()?.ok_or_else(ended)
        };
        let [a, b] = [next(0)?, next(1)?];
        let [size, other] = [&a, &b].map(|frame| [frame.width(), frame.height()]);
        if size != other {
            let expected =
                format!("{} x {} pixels as in {}", size[0], size[1], self.paths[0].display());
            let found = format!("{} x {}", other[0], other[1]);
            return Err(Error::malformed(self.paths[1], "picture size", expected, found));
        }
        Ok(LoadedPair::Pictures([a, b]))
    }

    fn fingerprint(&self, _at: usize) -> Result<Option<u64>> {
        Ok(None)
    }

    fn has_independent_pairs(&self) -> bool {
        false
    }
}
