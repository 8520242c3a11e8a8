//! Results of all pairs, with the pictures for a page.

use super::journal::Recorded;
use super::pair_pictures::{MOST_SHOWN, PairPictures};
use super::pairing::PairName;
use super::row::{PairRow, UnmeasuredRow};

/// Rows, pictures and failures of all pairs.
#[derive(Debug, Default)]
pub struct Evaluated {
    /// Rows, in the order of the pairs.
    pub rows: Vec<PairRow>,
    /// Pictures of each row for a page.
    pub pictures: Vec<PairPictures>,
    /// Pairs that could not be compared, with the reasons.
    pub unmeasured: Vec<UnmeasuredRow>,
    /// Pictures, frames and views without a partner.
    pub missing: Vec<String>,
}

/// Mark of a picture, frame or view without a partner.
const ALONE: &str = "no partner";

impl Evaluated {
    /// Names of everything that has no row, with the reasons.
    pub(super) fn without_row(&self) -> impl Iterator<Item = (PairName, &str)> {
        let failed = self.unmeasured.iter().map(|row| (row.pair.clone(), row.error.as_str()));
        let alone = |name: &String| PairName { name: name.clone(), ..PairName::default() };
        failed.chain(self.missing.iter().map(move |name| (alone(name), ALONE)))
    }

    /// Rows with pixels that are not finite, with their marks.
    pub(super) fn marks(&self) -> impl Iterator<Item = (&PairRow, String)> {
        self.rows.iter().filter_map(|row| Some((row, row.mark()?)))
    }

    /// Adds a row. Beyond the number that a page shows, only the worst rows keep their pictures.
    pub(super) fn push(&mut self, recorded: Recorded) {
        self.rows.push(recorded.row);
        self.pictures.push(recorded.pictures);
        let psnr = |at: &usize| self.rows[*at].comparison.psnr_db.unwrap_or(f64::INFINITY);
        let shown = (0..self.rows.len()).filter(|at| !self.pictures[*at].is_empty());
        let shown: Vec<usize> = shown.collect();
        if shown.len() > MOST_SHOWN {
            let best = shown.into_iter().max_by(|a, b| psnr(a).total_cmp(&psnr(b)));
            best.into_iter().for_each(|at| self.pictures[at] = PairPictures::default());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lpips::LpipsDistances;
    use crate::pairing::PairName;
    use quadrille_base::image::Frame;
    use quadrille_base::image::metrics::{Protocol, compare};

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
                row: PairRow {
                    pair: PairName::default(),
                    comparison,
                    lpips: LpipsDistances::default(),
                    ssimulacra2: None,
                    mask_share: None,
                    diff: None,
                },
                pictures: PairPictures::encoded(pictures, &[error; 64], 1 << 20).unwrap(),
            });
        }
        let rows = evaluated.rows.iter().zip(&evaluated.pictures);
        for (row, pictures) in rows {
            // The pairs with the twenty smallest errors have lost their pictures.
            let is_good = row.comparison.max_abs < 0.0205;
            assert_eq!(pictures.is_empty(), is_good, "{}", row.comparison.max_abs);
        }
    }
}
