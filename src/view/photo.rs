//! Photos resized to the size of a picture.

use rayon::prelude::*;

use quadrille_base::image::Frame;
use quadrille_base::math::{narrow, whole};

/// Per new pixel along one axis: the first old pixel, and the covered share of each.
fn weights(from: u32, to: u32) -> Vec<(usize, Vec<f32>)> {
    let factor = f64::from(from) / f64::from(to);
    let covered = (0..to).map(|new| {
        let [begin, end] = [new, new + 1].map(|edge| f64::from(edge) * factor);
        let first = whole::<usize>(begin.floor());
        let last = whole::<usize>(end.ceil()).min(from as usize).max(first + 1);
        let shares = (first..last).map(|old| {
            let old = old as f64;
            narrow(((end.min(old + 1.0) - begin.max(old)) / factor).max(0.0))
        });
        (first, shares.collect())
    });
    covered.collect()
}

/// Resizes a picture: each new pixel is the mean of the old area that it covers.
pub(crate) fn area_averaged(picture: &Frame, [width, height]: [u32; 2]) -> Frame {
    let from = [picture.width(), picture.height()];
    if from == [width, height] {
        return picture.clone();
    }
    let [columns, rows] = [weights(from[0], width), weights(from[1], height)];
    let line = from[0] as usize;
    let lines: Vec<Vec<[f32; 4]>> = rows
        .par_iter()
        .map(|(first, shares)| {
            let mut mean = vec![[0.0; 4]; line];
            let old = picture.pixels()[first * line..].chunks_exact(line);
            for (old, share) in old.zip(shares) {
                for (mean, old) in mean.iter_mut().zip(old) {
                    *mean = [0, 1, 2, 3].map(|c| mean[c] + share * old[c]);
                }
            }
            let new = columns.iter().map(|(first, shares)| {
                let old = mean[*first..].iter().zip(shares);
                old.fold([0.0; 4], |sum, (old, share)| {
                    [0, 1, 2, 3].map(|c| sum[c] + share * old[c])
                })
            });
            new.collect()
        })
        .collect();
    Frame::from_pixels(width, height, lines.concat()).taken_as(picture.colour_space())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(values: &[f32]) -> Frame {
        let pixels = values.iter().map(|v| [*v, 0.0, 0.0, 1.0]).collect();
        Frame::from_pixels(quadrille_base::math::fit(values.len()), 1, pixels)
    }

    fn reds(frame: &Frame) -> Vec<f32> {
        frame.pixels().iter().map(|p| p[0]).collect()
    }

    #[test]
    fn pixels_are_means_of_the_area_that_they_cover() {
        assert_eq!(reds(&area_averaged(&row(&[1.0, 3.0, 5.0, 7.0]), [2, 1])), [2.0, 6.0]);
        // Two thirds: the middle old pixel belongs to both new ones.
        let some = area_averaged(&row(&[3.0, 6.0, 9.0]), [2, 1]);
        let expected = [(3.0 + 6.0 / 2.0) / 1.5, (6.0 / 2.0 + 9.0) / 1.5];
        assert!(reds(&some).iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-5));
        let larger = area_averaged(&row(&[2.0, 4.0]), [4, 2]);
        assert_eq!(reds(&larger), [2.0, 2.0, 4.0, 4.0, 2.0, 2.0, 4.0, 4.0]);
        assert!(larger.pixels().iter().all(|p| (p[3] - 1.0).abs() < 1e-6));
    }
}
