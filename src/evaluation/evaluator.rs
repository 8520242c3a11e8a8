//! The loop over pairs: pictures are loaded, compared, and handed to an observer.

use quadrille_base::image::metrics::{Measure, Protocol, ssimulacra2};
use quadrille_base::image::{ColourCorrection, Frame};
use quadrille_base::{Error, Result, Task};

use super::evaluated::Evaluated;
use super::journal::{Journal, Recorded};
use super::lpips::{LpipsDistances, LpipsMetrics};
use super::masks::Masks;
use super::pair_pictures::PairPictures;
use super::pairing::PairName;
use super::row::{PairRow, UnmeasuredRow};

/// Source of pairs of pictures: files, films or scenes.
pub trait PairSource {
    /// The names of all pairs, at least one, in the order in which they are compared.
    fn pairs(&self) -> &[PairName];

    /// Returns the pictures of pair `at`, which have the same size, or why they are not compared.
    fn load(&mut self, at: usize, task: &Task) -> Result<LoadedPair>;

    /// Hash of all inputs that determine the pictures of pair `at`; `None` if pairs can only be read in order.
    fn fingerprint(&self, at: usize) -> Result<Option<u64>>;

    /// Whether the comparison continues after a pair that cannot be compared.
    fn has_independent_pairs(&self) -> bool;

    /// Side of the original, whose order with the other picture matters to SSIMULACRA2: 0 or 1.
    fn original(&self) -> usize {
        1
    }

    /// Returns the warnings about the pictures loaded last, one sentence each, and clears them.
    fn take_warnings(&mut self) -> Vec<String> {
        Vec::new()
    }
}

/// A pair as its source gives it.
pub enum LoadedPair {
    /// Both pictures.
    Pictures([Frame; 2]),
    /// A view that shows nothing on the first side, with the warning of [`Sight`](quadrille_render::Sight). Its pictures may
    /// be identical, whatever the scenes.
    Blank(String),
}

/// A pair that was compared.
pub struct Measured<'a> {
    /// Result of the pair, to which the observer may add.
    pub row: &'a mut PairRow,
    /// Both pictures, and the FLIP error of every pixel; `None` for a row of an earlier run.
    pub pictures: Option<([&'a Frame; 2], &'a [f32])>,
}

/// Receiver of the results of pairs.
pub trait Observer {
    /// Takes the result of a pair.
    fn compared(&mut self, measured: Measured<'_>) -> Result<()>;

    /// Takes the reason why a pair was not compared. The other pairs follow.
    fn failed(&mut self, pair: &PairName, error: Error);

    /// Takes the warning about a view that shows nothing, which is not compared.
    fn blank(&mut self, pair: &PairName, warning: &str);

    /// Takes a warning about a pair.
    fn warn(&mut self, text: &str);
}

/// Settings of the comparison of pairs.
pub struct Evaluator<'a> {
    /// Conversion of values before they are compared.
    pub protocol: Protocol,
    /// Colour behind both pictures, in sRGB.
    pub background: [f32; 3],
    /// Correction of the first picture's colours to the second's before they are compared.
    pub colour_correction: Option<ColourCorrection>,
    /// Masks of the pixels that count; `None` counts all pixels.
    pub masks: Option<&'a Masks>,
    /// Perceptual distances to measure.
    pub lpips: &'a LpipsMetrics,
    /// Whether to measure SSIMULACRA2.
    pub ssimulacra2: bool,
    /// File of finished results: of an earlier run, and for a later one.
    pub journal: Option<Journal>,
    /// Size limit in bytes of the pictures of a pair on a page, if there is a page.
    pub page_bytes: Option<usize>,
}

enum One {
    /// Result of an earlier run.
    Known(Recorded),
    /// A view that shows nothing, with the warning.
    Blank(String),
    /// Result of this run, with the journal key, both pictures and the error of every pixel.
    New { key: Option<u64>, row: PairRow, frames: [Frame; 2], errors: Vec<f32> },
}

impl Evaluator<'_> {
    /// Compares all pairs. The task's progress is in pairs.
    ///
    /// # Errors
    /// Errors of a pair, unless pairs are independent; errors of the observer; [`Error::Cancelled`].
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
            match self.one(source, at, pair, observer, task) {
                Ok(One::Blank(warning)) => {
                    observer.blank(pair, &warning);
                    evaluated.unmeasured.push(UnmeasuredRow::blank(pair, warning));
                }
                Ok(One::Known(mut known)) => {
                    observer.compared(Measured { row: &mut known.row, pictures: None })?;
                    evaluated.push(known);
                }
                Ok(One::New { key, row, frames, errors }) => {
                    evaluated.push(self.reported(key, row, (&frames, &errors), observer)?);
                }
                Err(Error::Cancelled) => return Err(Error::Cancelled),
                Err(error) if source.has_independent_pairs() => {
                    evaluated.unmeasured.push(UnmeasuredRow::new(pair, &error));
                    observer.failed(pair, error);
                }
                Err(error) => return Err(error),
            }
            steps.advance(1)?;
        }
        let is_done = evaluated.unmeasured.iter().all(|row| row.is_blank);
        if let Some(journal) = self.journal.take().filter(|_| is_done) {
            journal.remove();
        }
        Ok(evaluated)
    }

    /// Returns the result of a pair, from the journal or measured. Errors concern only this pair.
    fn one(
        &mut self,
        source: &mut dyn PairSource,
        at: usize,
        pair: &PairName,
        observer: &mut dyn Observer,
        task: &Task,
    ) -> Result<One> {
        let key = match &self.journal {
            Some(journal) => journal.key(source.fingerprint(at)?, self.masks, pair)?,
            None => None,
        };
        if let Some(known) = key.and_then(|key| self.journal.as_mut()?.take(key)) {
            return Ok(One::Known(known));
        }
        let loaded = source.load(at, task);
        for text in source.take_warnings() {
            observer.warn(&text);
        }
        let [a, b] = match loaded? {
            LoadedPair::Pictures(pictures) => pictures,
            LoadedPair::Blank(warning) => return Ok(One::Blank(warning)),
        };
        let (row, errors) = self.measured(pair, [&a, &b], source.original())?;
        Ok(One::New { key, row, frames: [a, b], errors })
    }

    /// Reports a new result to the observer, and writes it to the journal.
    fn reported(
        &mut self,
        key: Option<u64>,
        mut row: PairRow,
        ([a, b], errors): (&[Frame; 2], &[f32]),
        observer: &mut dyn Observer,
    ) -> Result<Recorded> {
        if row.comparison.non_finite_pixels > 0 {
            let (pair, pixels) = (&row.pair, row.comparison.non_finite_pixels);
            observer.warn(&format!(
                "{} and {}: pixels that are NaN or infinite: {pixels}; unless both pictures have the same infinity, they count as \
                 0 or 1, whichever is farther from the other picture",
                pair.a, pair.b
            ));
        }
        observer.compared(Measured { row: &mut row, pictures: Some(([a, b], errors)) })?;
        let background = self.background;
        let pictures = match self.page_bytes {
            Some(most) => {
                PairPictures::encoded([&a.over(background), &b.over(background)], errors, most)?
            }
            None => PairPictures::default(),
        };
        let recorded = Recorded { row, pictures };
        if let (Some(journal), Some(key)) = (&mut self.journal, key) {
            journal.append(key, &recorded)?;
        }
        Ok(recorded)
    }

    /// Compares the pictures of a pair, whose side `original` is the original.
    fn measured(
        &self,
        pair: &PairName,
        [a, b]: [&Frame; 2],
        original: usize,
    ) -> Result<(PairRow, Vec<f32>)> {
        let mask = self.masks.map(|masks| masks.of(pair, b)).transpose()?;
        let (protocol, mask_of) = (self.protocol, mask.as_deref());
        let corrected = self
            .colour_correction
            .map(|correction| correction.corrected([a, b], self.background, mask_of))
            .transpose()?;
        let ([a, b], background) = match &corrected {
            Some([a, b]) => ([a, b], [0.0; 3]),
            None => ([a, b], self.background),
        };
        let (comparison, errors) = Measure { protocol, background, mask: mask_of }.compare(a, b)?;
        let (mut lpips, mut score) = (LpipsDistances::default(), None);
        if self.ssimulacra2 || !self.lpips.kinds().is_empty() {
            let pictures = [a, b].map(|picture| masked(picture, background, mask_of));
            lpips = self.lpips.measure(pictures.each_ref(), protocol)?;
            if self.ssimulacra2 {
                let distorted = &pictures[1 - original];
                let found = ssimulacra2(&pictures[original], distorted, protocol);
                let named = format!("{}, for SSIMULACRA2", [&pair.a, &pair.b][original]);
                score = Some(found.map_err(|error| error.about(&named))?);
            }
        }
        let share = |mask: &Vec<bool>| {
            mask.iter().filter(|counts| **counts).count() as f64 / mask.len() as f64
        };
        let row = PairRow {
            pair: pair.clone(),
            comparison,
            lpips,
            ssimulacra2: score,
            mask_share: mask.as_ref().map(share),
            diff: None,
        };
        Ok((row, errors))
    }
}

/// Picture over the background, black where pixels do not count.
fn masked(picture: &Frame, background: [f32; 3], mask: Option<&[bool]>) -> Frame {
    let mut picture = picture.to_srgb().over(background);
    for (pixel, counts) in picture.pixels_mut().iter_mut().zip(mask.unwrap_or_default()) {
        if !counts {
            *pixel = [0.0, 0.0, 0.0, 1.0];
        }
    }
    picture
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two pairs of grey pictures, which do not depend on each other.
    struct Greys([PairName; 2]);

    impl PairSource for Greys {
        fn pairs(&self) -> &[PairName] {
            &self.0
        }

        fn load(&mut self, at: usize, _: &Task) -> Result<LoadedPair> {
            match at {
                0 => Ok(LoadedPair::Pictures([8, 8].map(|side| Frame::new(side, side)))),
                _ => Err(Error::argument("pair", "one that is there", "none")),
            }
        }

        fn fingerprint(&self, _: usize) -> Result<Option<u64>> {
            Ok(None)
        }

        fn has_independent_pairs(&self) -> bool {
            true
        }
    }

    /// An observer whose output may be closed.
    struct Output {
        is_closed: bool,
        failed: usize,
    }

    impl Observer for Output {
        fn compared(&mut self, _: Measured<'_>) -> Result<()> {
            match self.is_closed {
                true => Err(Error::argument("output", "an open one", "a closed one")),
                false => Ok(()),
            }
        }

        fn failed(&mut self, _: &PairName, _: Error) {
            self.failed += 1;
        }

        fn blank(&mut self, _: &PairName, _: &str) {}

        fn warn(&mut self, _: &str) {}
    }

    #[test]
    fn errors_of_pairs_leave_the_others_and_errors_of_the_observer_end_all() {
        let run = |is_closed| {
            let mut evaluator = Evaluator {
                colour_correction: None,
                protocol: Protocol::Inria,
                background: [0.0; 3],
                masks: None,
                lpips: &LpipsMetrics::default(),
                ssimulacra2: false,
                journal: None,
                page_bytes: None,
            };
            let mut source = Greys([(); 2].map(|()| PairName::default()));
            let mut output = Output { is_closed, failed: 0 };
            let found = evaluator.run(&mut source, &mut output, &Task::NEVER);
            (found.map(|found| found.rows.len()).ok(), output.failed)
        };
        assert_eq!(run(false), (Some(1), 1));
        assert_eq!(run(true), (None, 0));
    }
}
