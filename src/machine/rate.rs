//! Rates of ports as ratios of whole numbers.

use std::cmp::Ordering;
use std::fmt;

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A rate in items per cycle, a ratio of whole numbers.
///
/// Configurations write it as a whole number, `2`, or as a string: `"1/3"` is one item in three cycles.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    items: u32,
    cycles: u32,
}

impl Rate {
    /// One item per cycle.
    pub const ONE: Self = Self::new(1, 1);
    /// Smallest rate of a port: one item in 1024 cycles.
    pub const LEAST: Self = Self::new(1, 1024);
    /// Largest rate of a port: 32 items per cycle.
    pub const MOST: Self = Self::new(32, 1);

    /// Creates the rate of `items` in `cycles` cycles. Neither may be 0.
    pub const fn new(items: u32, cycles: u32) -> Self {
        assert!(items > 0 && cycles > 0, "a rate is above 0");
        Self { items, cycles }
    }

    /// Creates a rate from validated fields; both numbers are clamped to `1..=u32::MAX`.
    pub fn of(items: u64, cycles: u64) -> Self {
        let number = |n: u64| u32::try_from(n).unwrap_or(u32::MAX).max(1);
        Self::new(number(items), number(cycles))
    }

    /// Approximates `rate` by a ratio of at most 4,194,304 items and 1,048,576 cycles, to a relative error of 10^-12
    /// where these bounds allow it. Rates beyond the bounds are clamped.
    pub(crate) fn nearest(rate: f64) -> Self {
        const MOST_ITEMS: u64 = 1 << 22;
        const MOST_CYCLES: u64 = 1 << 20;
        let rate = rate.clamp(1.0 / MOST_CYCLES as f64, MOST_ITEMS as f64);
        // Convergents of the continued fraction.
        let (mut before, mut last) = ([0, 1], [1, 0]);
        let mut rest = rate;
        loop {
            let whole = quadrille_base::math::whole::<u64>(rest.floor());
            let [items, cycles] = [0, 1].map(|i| whole.saturating_mul(last[i]) + before[i]);
            if items > MOST_ITEMS || cycles > MOST_CYCLES {
                break;
            }
            (before, last) = (last, [items, cycles]);
            let off = items as f64 / cycles as f64 - rate;
            if off.abs() <= rate * 1e-12 {
                break;
            }
            rest = 1.0 / (rest - rest.floor());
        }
        Self::of(last[0], last[1])
    }

    /// Numerator: items per [`Rate::cycles`] cycles.
    pub const fn items(self) -> u32 {
        self.items
    }

    /// Denominator: cycles per [`Rate::items`] items.
    pub const fn cycles(self) -> u32 {
        self.cycles
    }

    pub(super) const fn reduced(self) -> (u32, u32) {
        let (mut divisor, mut rest) = (self.items, self.cycles);
        while rest > 0 {
            (divisor, rest) = (rest, divisor % rest);
        }
        (self.items / divisor, self.cycles / divisor)
    }

    /// Whole items per cycle, rounded up: the width of a port.
    #[must_use]
    pub const fn width(self) -> u32 {
        self.items.div_ceil(self.cycles)
    }

    /// Rate in groups of `size` items.
    #[must_use]
    pub const fn per(self, size: u32) -> Self {
        Self::new(self.items, self.cycles * size)
    }

    /// Cycles that `items` take, rounded up.
    pub fn cycles_for(self, items: u64) -> u64 {
        (items * u64::from(self.cycles)).div_ceil(self.items.into())
    }

    /// Items that pass in `cycles` cycles, as a real number.
    pub fn in_cycles(self, cycles: u64) -> f64 {
        cycles as f64 * f64::from(self.items) / f64::from(self.cycles)
    }

    fn parse(text: &str) -> Option<Self> {
        let (items, cycles) = text.split_once('/').unwrap_or((text, "1"));
        let number = |text: &str| text.trim().parse::<u16>().ok().filter(|n| *n > 0);
        Some(Self::new(number(items)?.into(), number(cycles)?.into()))
    }
}

impl PartialOrd for Rate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        let product = |a: u32, b: u32| u64::from(a) * u64::from(b);
        Some(product(self.items, other.cycles).cmp(&product(other.items, self.cycles)))
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.cycles {
            1 => write!(f, "{}", self.items),
            cycles => write!(f, "{}/{cycles}", self.items),
        }
    }
}

/// Formats as configurations do, so that errors show rates as users write them.
impl fmt::Debug for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for Rate {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.cycles {
            1 => serializer.serialize_u32(self.items),
            _ => serializer.collect_str(self),
        }
    }
}

impl<'de> Deserialize<'de> for Rate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Read;
        impl Visitor<'_> for Read {
            type Value = Rate;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a rate above 0: a whole number, or a ratio of two such as \"1/3\"")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Rate, E> {
                Rate::parse(text)
                    .ok_or_else(|| E::invalid_value(serde::de::Unexpected::Str(text), &self))
            }

            fn visit_i64<E: Error>(self, items: i64) -> Result<Rate, E> {
                self.visit_str(&items.to_string())
            }

            fn visit_u64<E: Error>(self, items: u64) -> Result<Rate, E> {
                self.visit_str(&items.to_string())
            }
        }
        deserializer.deserialize_any(Read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_whole_numbers_or_ratios() {
        for (text, rate) in
            [("2", Some((2, 1))), ("1/3", Some((1, 3))), ("0", None), ("1/0", None), ("x", None)]
        {
            assert_eq!(Rate::parse(text), rate.map(|(i, c)| Rate::new(i, c)), "{text}");
        }
        assert_eq!(Rate::new(25_600, 153).cycles_for(25_601), 154);
        assert!(Rate::new(1, 3) < Rate::new(1, 2) && Rate::new(7, 2) > Rate::new(3, 1));
    }

    /// 102.4 GB/s at 612 MHz are 25,600 bytes in 153 cycles. The bounds hold at both ends.
    #[test]
    fn real_rates_are_ratios_of_small_numbers() {
        for (rate, items, cycles) in [
            (102_400.0 / 612.0, 25_600, 153),
            (1.0, 1, 1),
            (0.375, 3, 8),
            (1200.0 / 612.0, 100, 51),
            (1e-9, 1, 1 << 20),
            (1e12, 1 << 22, 1),
        ] {
            assert_eq!(Rate::nearest(rate), Rate::new(items, cycles), "{rate}");
        }
        let found = Rate::nearest(std::f64::consts::PI);
        let found = f64::from(found.items()) / f64::from(found.cycles());
        assert!((found - std::f64::consts::PI).abs() < 1e-11);
    }
}
