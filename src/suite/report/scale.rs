//! Colour scales: their ends, and the tick labels beside them.

use quadrille_base::math::{narrow, whole};

/// Share of the pixels with a count that a scale covers.
const COVERED: f64 = 0.999;

/// Relation of colours to counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Curve {
    /// Colours are linear in the count.
    Linear,
    /// Keeps the structure of counts that range over decades.
    SquareRoot,
    /// Equal distances for equal ratios; `least` is above 0.
    Logarithmic,
}

/// A scale of colours from `least` to `top`; counts above have the colour of `top`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scale {
    /// Count with the first colour.
    pub least: u32,
    /// Count with the last colour, above `least`.
    pub top: u32,
    /// Relation of colours to values.
    pub curve: Curve,
}

impl Scale {
    /// A scale from 0 to the 99.9th percentile (nearest rank) of the counts above 0.
    pub fn covering(counts: &[u32], curve: Curve) -> Self {
        let mut counts: Vec<u32> = counts.iter().copied().filter(|&c| c > 0).collect();
        let rank = whole::<usize>((counts.len() as f64 * COVERED).ceil()).saturating_sub(1);
        let top = if counts.is_empty() { 1 } else { *counts.select_nth_unstable(rank).1 };
        Self { least: 0, top, curve }
    }

    /// Position of `count` on the scale, 0 to 1.
    pub fn position(self, count: u32) -> f32 {
        if self.curve == Curve::Logarithmic {
            let ratio = |n: u32| f64::from(n.max(self.least)) / f64::from(self.least.max(1));
            let share = ratio(count).ln() / ratio(self.top).ln();
            return narrow(share.min(1.0));
        }
        let [count, range] = [count, self.top].map(|n| f64::from(n.saturating_sub(self.least)));
        let share = (count / range).min(1.0);
        match self.curve {
            Curve::Linear => narrow(share),
            Curve::SquareRoot | Curve::Logarithmic => narrow(share.sqrt()),
        }
    }

    /// Numbers to write beside the scale, at most `most` (at least 2): `least`, round numbers at
    /// sufficient distances, and `top`.
    pub fn ticks(self, most: u32) -> Vec<u32> {
        let gap = 1.0 / (most.max(2) - 1) as f32;
        let mut ticks = vec![self.top];
        let mut right = 1.0;
        for round in self.round_numbers(most) {
            let position = self.position(round);
            if position >= gap && right - position >= gap * 0.99 {
                ticks.push(round);
                right = position;
            }
        }
        ticks.push(self.least);
        ticks.reverse();
        ticks
    }

    /// Round numbers below `top`, in descending order. On a linear scale these are multiples of the
    /// least step of 1, 2 or 5 times a power of ten that needs at most `most` of them; on a logarithmic
    /// one all powers of two; otherwise 1, 2, 3 and 5 times all powers of ten.
    fn round_numbers(self, most: u32) -> Vec<u32> {
        let top = u64::from(self.top);
        let decades = (0..10).map(|exponent| 10_u64.pow(exponent));
        let mut numbers: Vec<u64> = match self.curve {
            Curve::SquareRoot => decades.flat_map(|d| [d, 2 * d, 3 * d, 5 * d]).collect(),
            Curve::Logarithmic => (0..32).map(|exponent| 1 << exponent).collect(),
            Curve::Linear => {
                let mut steps = decades.flat_map(|d| [d, 2 * d, 5 * d]);
                let step = steps.find(|step| top < step * u64::from(most.max(2) - 1));
                step.map_or(Vec::new(), |step| {
                    (1..u64::from(most.max(2))).map(|i| i * step).collect()
                })
            }
        };
        numbers.retain(|&number| number < top);
        numbers.reverse();
        numbers.into_iter().map(u32::try_from).filter_map(Result::ok).collect()
    }
}

/// Formats a count in at most five characters, rounded down to three digits: `950`, `1.5K`, `3.25M`.
pub fn short(count: u32) -> String {
    let (unit, suffix) = match count {
        0..1000 => return count.to_string(),
        1000..1_000_000 => (1000, "K"),
        1_000_000..1_000_000_000 => (1_000_000, "M"),
        _ => (1_000_000_000, "G"),
    };
    let whole = count / unit;
    let digits = 3 - whole.to_string().len();
    let fraction = format!("{:09}", u64::from(count % unit) * 1_000_000_000 / u64::from(unit));
    let fraction = fraction[..digits].trim_end_matches('0');
    let dot = if fraction.is_empty() { "" } else { "." };
    format!("{whole}{dot}{fraction}{suffix}")
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn linear(top: u32) -> Scale {
        let (least, curve) = (0, Curve::Linear);
        Scale { least, top, curve }
    }

    const fn root(top: u32) -> Scale {
        let (least, curve) = (0, Curve::SquareRoot);
        Scale { least, top, curve }
    }

    #[test]
    fn ticks_are_round_and_few() {
        assert_eq!(linear(1).ticks(6), [0, 1]);
        assert_eq!(linear(4).ticks(6), [0, 1, 2, 3, 4]);
        assert_eq!(linear(254).ticks(6), [0, 100, 200, 254]);
        assert_eq!(linear(1_721_444).ticks(8), [0, 500_000, 1_000_000, 1_721_444]);
        assert_eq!(root(469).ticks(8), [0, 30, 100, 200, 300, 469]);
        assert_eq!(root(1).ticks(8), [0, 1]);
        let (least, top, curve) = (1, 64, Curve::Logarithmic);
        let powers = Scale { least, top, curve };
        assert_eq!(powers.ticks(8), [1, 2, 4, 8, 16, 32, 64]);
        assert_eq!([1, 8, 64, 99].map(|n| powers.position(n)), [0.0, 0.5, 1.0, 1.0]);
        for top in (1..100_000).step_by(7).chain([u32::MAX]) {
            for scale in [linear(top), root(top)] {
                let ticks = scale.ticks(6);
                assert!((2..=6).contains(&ticks.len()), "{scale:?}: {ticks:?}");
                assert!(ticks.windows(2).all(|t| t[0] < t[1]), "{ticks:?}");
                assert_eq!((ticks[0], ticks.last()), (0, Some(&top)));
            }
        }
    }

    #[test]
    fn short_numbers_have_three_digits() {
        for (count, text) in [
            (0, "0"),
            (999, "999"),
            (1000, "1K"),
            (1500, "1.5K"),
            (1050, "1.05K"),
            (20_000, "20K"),
            (999_999, "999K"),
            (2_500_000, "2.5M"),
            (u32::MAX, "4.29G"),
        ] {
            assert_eq!(short(count), text);
        }
    }

    #[test]
    fn a_thousandth_of_the_counts_lies_above() {
        let counts: Vec<u32> = (0..=1000).collect();
        let top = |counts: &[u32]| Scale::covering(counts, Curve::Linear).top;
        assert_eq!((top(&counts), top(&[0, 0, 7]), top(&[])), (999, 7, 1));
        assert_eq!((linear(4).position(1), linear(4).position(9)), (0.25, 1.0));
        assert_eq!((root(4).position(1), root(4).position(9)), (0.5, 1.0));
    }
}
