//! The loop over pairs: pictures are loaded, compared, and handed to an observer.

use quadrille_base::error::{Error, Result};
use quadrille_base::image::Frame;
use quadrille_base::image::metrics::{Measure, Protocol};
use quadrille_base::task::Task;

use super::evaluated::Evaluated;
use super::journal::{Journal, Recorded};
use super::lpips::{LpipsDistances, LpipsMetrics};
use super::masks::Masks;
use super::pair_pictures::PairPictures;
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
