//! A colour scale's numbers: where it ends, which of them are written, and how.

/// Share of the pixels with a count that the scale covers.
const COVERED: f64 = 0.999;

/// How colours follow counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Curve {
    /// In proportion.
    Linear,
    /// In proportion to the square root: counts that range over decades keep their structure.
    Root,
}

/// A scale of colours from 0 to `top`; what lies above has the colour of `top`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Scale {
    /// The count that has the last colour, at least 1.
    pub top: u32,
    /// How colours follow counts below it.
    pub curve: Curve,
}

impl Scale {
    /// A scale that all but a thousandth of the counts above 0 lie on: up to their 99.9th
    /// percentile (nearest rank).
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a rank among pixels"
    )]
    pub(crate) fn covering(counts: &[u32], curve: Curve) -> Self {
        let mut counts: Vec<u32> = counts.iter().copied().filter(|&c| c > 0).collect();
        let rank = ((counts.len() as f64 * COVERED).ceil() as usize).saturating_sub(1);
        let top = if counts.is_empty() {
            1
        } else {
            *counts.select_nth_unstable(rank).1
        };
        Self { top, curve }
    }

    /// The scale that covers what either covers.
    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            top: self.top.max(other.top),
            curve: self.curve,
        }
    }

    /// Where `count` lies, from 0 to 1.
    #[allow(
        clippy::cast_possible_truncation,
        reason = "a position on a scale of colours"
    )]
    pub(crate) fn position(self, count: u32) -> f32 {
        let share = (f64::from(count) / f64::from(self.top)).min(1.0);
        match self.curve {
            Curve::Linear => share as f32,
            Curve::Root => share.sqrt() as f32,
        }
    }

    /// The numbers written beside it, at most `most` (at least 2) of them: 0; round numbers, no two
    /// closer than their share of the bar; and `top`.
    pub(crate) fn ticks(self, most: u32) -> Vec<u32> {
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
        ticks.push(0);
        ticks.reverse();
        ticks
    }

    /// Round numbers below `top`, from the largest: where colours are in proportion, multiples of
    /// the least step of 1, 2 or 5 times a power of ten of which `most` suffice; else all such
    /// steps, and 3.
    fn round_numbers(self, most: u32) -> Vec<u32> {
        let top = u64::from(self.top);
        let decades = (0..10).map(|exponent| 10_u64.pow(exponent));
        let mut numbers: Vec<u64> = match self.curve {
            Curve::Root => decades.flat_map(|d| [d, 2 * d, 3 * d, 5 * d]).collect(),
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
        let numbers = numbers.into_iter().map(u32::try_from);
        numbers.filter_map(Result::ok).collect()
    }
}

/// A count in at most five characters: `950`, `1.5K`, `20K`, `3.25M`; exact for round ones, else
/// rounded down to three digits.
pub(crate) fn short(count: u32) -> String {
    let (unit, suffix) = match count {
        0..1000 => return count.to_string(),
        1000..1_000_000 => (1000, "K"),
        1_000_000..1_000_000_000 => (1_000_000, "M"),
        _ => (1_000_000_000, "G"),
    };
    let whole = count / unit;
    let digits = 3 - whole.to_string().len();
    let fraction = format!(
        "{:09}",
        u64::from(count % unit) * 1_000_000_000 / u64::from(unit)
    );
    let fraction = fraction[..digits].trim_end_matches('0');
    let dot = if fraction.is_empty() { "" } else { "." };
    format!("{whole}{dot}{fraction}{suffix}")
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn linear(top: u32) -> Scale {
        let curve = Curve::Linear;
        Scale { top, curve }
    }

    const fn root(top: u32) -> Scale {
        let curve = Curve::Root;
        Scale { top, curve }
    }

    #[test]
    fn ticks_are_round_and_few() {
        assert_eq!(linear(1).ticks(6), [0, 1]);
        assert_eq!(linear(4).ticks(6), [0, 1, 2, 3, 4]);
        assert_eq!(linear(254).ticks(6), [0, 100, 200, 254]);
        assert_eq!(
            linear(1_721_444).ticks(8),
            [0, 500_000, 1_000_000, 1_721_444]
        );
        assert_eq!(root(469).ticks(8), [0, 30, 100, 200, 300, 469]);
        assert_eq!(root(1).ticks(8), [0, 1]);
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
    fn numbers_are_short_and_true() {
        for (count, said) in [
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
            assert_eq!(short(count), said);
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
