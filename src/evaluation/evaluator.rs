//! The loop over pairs: pictures are loaded, compared, and handed to an observer.

use quadrille_base::error::{Error, Result};
use quadrille_base::image::Frame;
use quadrille_base::image::metrics::{Measure, Protocol};
use quadrille_base::task::Task;

use super::journal::{Journal, Recorded};
use super::lpips::{LpipsDistances, LpipsMetrics};
use super::masks::Masks;
use super::page::{MOST_SHOWN, PairPictures};
use super::pairing::PairName;
use super::row::{Row, UnmeasuredRow};

/// Pairs of pictures from files, films or scenes.
pub trait PairSource {
    /// The names of all pairs, at least one, in the order in which they are compared.
    fn pairs(&self) -> &[PairName];

    /// Returns the pictures of pair `at`, which have the same size.
    ///
    /// # Errors
    /// Errors of reading and of drawing, and [`Error::Malformed`] for pictures that cannot be compared.
    fn load(&mut self, at: usize, task: &Task) -> Result<[Frame; 2]>;

    /// Hash of everything that decides the pictures of pair `at`; `None` where pairs can only be read one after the
    /// other.
    ///
    /// # Errors
    /// Errors of reading.
    fn fingerprint(&self, at: usize) -> Result<Option<u64>>;

    /// Whether the other pairs are still compared if one cannot be.
    fn has_independent_pairs(&self) -> bool;

    /// Returns what has to be said about the pictures loaded last, one sentence each, once.
    fn take_warnings(&mut self) -> Vec<String> {
        Vec::new()
    }
}

/// A pair that was compared.
pub struct Measured<'a> {
    /// The result.
    pub row: &'a mut Row,
    /// Both pictures, and the FLIP error of every pixel; `None` for a row of an earlier run.
    pub pictures: Option<([&'a Frame; 2], &'a [f32])>,
}

/// Receiver of the results of pairs.
pub trait Observer {
    /// Takes the result of a pair.
    ///
    /// # Errors
    /// Errors that end the comparison.
    fn compared(&mut self, measured: Measured<'_>) -> Result<()>;

    /// Takes the reason why a pair was not compared. The other pairs follow.
    fn failed(&mut self, pair: &PairName, error: Error);

    /// Takes a warning about a pair.
    fn warn(&mut self, text: &str);
}

/// How pairs are compared.
pub struct Evaluator<'a> {
    /// Conversion of values.
    pub protocol: Protocol,
    /// Colour behind both pictures, in sRGB.
    pub background: [f32; 3],
    /// Pixels that count.
    pub masks: Option<&'a Masks>,
    /// Perceptual distances to measure.
    pub lpips: &'a LpipsMetrics,
    /// Results of an earlier run, and where results are noted for a later one.
    pub journal: Option<Journal>,
    /// Size limit in bytes of the pictures of a pair on a page, if there is a page.
    pub page_bytes: Option<usize>,
}

/// Results of all pairs.
#[derive(Debug, Default)]
pub struct Evaluated {
    /// Rows, in the order of the pairs.
    pub rows: Vec<Row>,
    /// Pictures of each row for a page.
    pub pictures: Vec<PairPictures>,
    /// Pairs that were not compared.
    pub unmeasured: Vec<UnmeasuredRow>,
}

impl Evaluated {
    /// Adds a row. Of more rows than a page shows, only the worst ones keep their pictures.
    fn push(&mut self, recorded: Recorded) {
        self.rows.push(recorded.row);
        self.pictures.push(recorded.pictures);
        let psnr = |at: &usize| self.rows[*at].comparison.psnr_db.unwrap_or(f64::INFINITY);
        let shown = (0..self.rows.len()).filter(|at| !self.pictures[*at].is_empty());
        let shown: Vec<usize> = shown.collect();
        if shown.len() > MOST_SHOWN {
            let best = shown.into_iter().max_by(|a, b| psnr(a).total_cmp(&psnr(b)));
            best.into_iter()
                .for_each(|at| self.pictures[at] = PairPictures::default());
        }
    }
}

impl Evaluator<'_> {
    /// Compares all pairs. The task's progress is in pairs.
    ///
    /// # Errors
    /// The errors of a pair, unless others follow; and errors of the observer. [`Error::Cancelled`].
    pub fn run(
        &mut self,
        source: &mut dyn PairSource,
        observer: &mut dyn Observer,
        task: &Task,
    ) -> Result<Evaluated> {
        let pairs = source.pairs().to_vec();
        let steps = task.steps(pairs.len() as u64);
        let mut evaluated = Evaluated::default();
        for (at, pair) in pairs.iter().enumerate() {
            match self.one(source, (at, pair), observer, task) {
                Ok(recorded) => evaluated.push(recorded),
                Err(Error::Cancelled) => return Err(Error::Cancelled),
                Err(error) if source.has_independent_pairs() => {
                    evaluated.unmeasured.push(UnmeasuredRow::new(pair, &error));
                    observer.failed(pair, error);
                }
                Err(error) => return Err(error),
            }
            steps.advance(1)?;
        }
        if let Some(journal) = self
            .journal
            .take()
            .filter(|_| evaluated.unmeasured.is_empty())
        {
            journal.remove();
        }
        Ok(evaluated)
    }

    fn one(
        &mut self,
        source: &mut dyn PairSource,
        (at, pair): (usize, &PairName),
        observer: &mut dyn Observer,
        task: &Task,
    ) -> Result<Recorded> {
        let key = match &self.journal {
            Some(journal) => journal.key(source.fingerprint(at)?, self.masks, pair)?,
            None => None,
        };
        let known = key.and_then(|key| self.journal.as_mut()?.take(key));
        if let Some(mut known) = known {
            let row = &mut known.row;
            observer.compared(Measured {
                row,
                pictures: None,
            })?;
            return Ok(known);
        }
        let [a, b] = source.load(at, task)?;
        source
            .take_warnings()
            .iter()
            .for_each(|text| observer.warn(text));
        let (mut row, errors) = self.measured(pair, [&a, &b])?;
        if row.comparison.non_finite_pixels > 0 {
            let pixels = row.comparison.non_finite_pixels;
            observer.warn(&format!(
                "{} and {}: {pixels} pixels are NaN or infinite",
                pair.a, pair.b
            ));
        }
        observer.compared(Measured {
            row: &mut row,
            pictures: Some(([&a, &b], &errors)),
        })?;
        let background = self.background;
        let pictures = match self.page_bytes {
            Some(most) => {
                PairPictures::encoded([&a.over(background), &b.over(background)], &errors, most)?
            }
            None => PairPictures::default(),
        };
        let recorded = Recorded { row, pictures };
        if let (Some(journal), Some(key)) = (&mut self.journal, key) {
            journal.append(key, &recorded)?;
        }
        Ok(recorded)
    }

    fn measured(&self, pair: &PairName, [a, b]: [&Frame; 2]) -> Result<(Row, Vec<f32>)> {
        let mask = self
            .masks
            .map(|masks| masks.of(&pair.name, b))
            .transpose()?;
        let measure = Measure {
            protocol: self.protocol,
            background: self.background,
            mask: mask.as_deref(),
        };
        let (comparison, errors) = measure.compare(a, b)?;
        let mut lpips = LpipsDistances::default();
        if !self.lpips.kinds().is_empty() {
            let [a, b] = [a, b].map(|picture| self.masked(picture, mask.as_deref()));
            lpips = self.lpips.measure([&a, &b], self.protocol)?;
        }
        let share = |mask: &Vec<bool>| {
            mask.iter().filter(|counts| **counts).count() as f64 / mask.len() as f64
        };
        let row = Row {
            pair: pair.clone(),
            comparison,
            lpips,
            mask_share: mask.as_ref().map(share),
            diff: None,
        };
        Ok((row, errors))
    }

    /// The picture over the background, and black where pixels do not count.
    fn masked(&self, picture: &Frame, mask: Option<&[bool]>) -> Frame {
        let mut picture = picture.to_srgb().over(self.background);
        let pixels = picture.pixels_mut().iter_mut();
        for (pixel, counts) in pixels.zip(mask.unwrap_or_default()) {
            if !counts {
                *pixel = [0.0, 0.0, 0.0, 1.0];
            }
        }
        picture
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use quadrille_base::image::metrics::compare;

    #[test]
    fn the_worst_pairs_keep_their_pictures() {
        let grey = |value: f32| Frame::from_pixels(8, 8, vec![[value, value, value, 1.0]; 64]);
        let mut evaluated = Evaluated::default();
        for at in 0..MOST_SHOWN + 20 {
            // 7 is prime to the number of pairs, so that bad and good ones alternate.
            let error = (at * 7 % (MOST_SHOWN + 20) + 1) as f32 / 1000.0;
            let pictures = [&grey(0.5), &grey(0.5 + error)];
            let comparison = compare(pictures[0], pictures[1], Protocol::Float).unwrap();
            evaluated.push(Recorded {
                row: Row {
                    pair: PairName::default(),
                    comparison,
                    lpips: LpipsDistances::default(),
                    mask_share: None,
                    diff: None,
                },
                pictures: PairPictures::encoded(pictures, &[error; 64], 1 << 20).unwrap(),
            });
        }
        let rows = evaluated.rows.iter().zip(&evaluated.pictures);
        for (row, pictures) in rows {
            // The twenty smallest errors.
            let is_good = row.comparison.max_abs < 0.0205;
            assert_eq!(pictures.is_empty(), is_good, "{}", row.comparison.max_abs);
        }
    }
}
