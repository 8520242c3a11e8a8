//! Frame rates as fractions, as film formats store them.

use std::fmt;
use std::str::FromStr;

/// Denominator of NTSC rates, which are whole rates divided by 1.001.
const NTSC_DENOMINATOR: u32 = 1001;

const MAX_RATE: f64 = 1000.0;

/// Frames per second: a fraction above 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrameRate {
    /// Frames in `denominator` seconds.
    pub numerator: u32,
    /// Seconds in which `numerator` frames are shown.
    pub denominator: u32,
}

impl FrameRate {
    /// The rate closest to `rate` frames per second: a whole number, a whole number divided by 1.001, or
    /// thousandths. `None` unless it is above 0 and at most 1000.
    pub fn of(rate: f64) -> Option<Self> {
        if !(rate > 0.0 && rate <= MAX_RATE) {
            return None;
        }
        let whole = |value: f64, denominator: u32| {
            let digits = format!("{:.0}", value * f64::from(denominator));
            Some(Self { numerator: digits.parse().ok().filter(|n| *n > 0)?, denominator })
        };
        let ntsc = whole((rate * 1.001).round() / 1.001, NTSC_DENOMINATOR);
        let all = [whole(rate, 1), ntsc, whole(rate, 1000)];
        let close = |found: &Self| (found.per_second() / rate - 1.0).abs() < 1e-4;
        all.into_iter().flatten().find(close).or(all[2])
    }

    /// Returns the rate in frames per second.
    pub fn per_second(self) -> f64 {
        f64::from(self.numerator) / f64::from(self.denominator)
    }
}

impl FromStr for FrameRate {
    type Err = String;

    /// Parses a number such as `29.97` or a fraction such as `30000/1001`.
    fn from_str(text: &str) -> Result<Self, String> {
        let parsed = match text.split_once('/') {
            None => text.parse().ok().and_then(Self::of),
            Some((numerator, denominator)) => numerator
                .parse()
                .ok()
                .zip(denominator.parse().ok())
                .map(|(numerator, denominator)| Self { numerator, denominator })
                .filter(|rate| rate.numerator > 0 && rate.denominator > 0)
                .filter(|rate| rate.per_second() <= MAX_RATE),
        };
        parsed.ok_or_else(|| {
            format!("expected frames per second up to {MAX_RATE}, such as 30 or 30000/1001")
        })
    }
}

impl fmt::Display for FrameRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.denominator {
            1 => write!(f, "{}", self.numerator),
            _ => write!(f, "{}/{}", self.numerator, self.denominator),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_fractions() {
        for (text, expected) in [
            ("30", "30"),
            ("29.97", "30000/1001"),
            ("23.976", "24000/1001"),
            ("12.5", "12500/1000"),
            ("60000/1001", "60000/1001"),
            ("0.5", "500/1000"),
        ] {
            assert_eq!(text.parse::<FrameRate>().unwrap().to_string(), expected);
        }
        for bad in ["0", "-1", "nan", "inf", "1001", "1/0", "0/1", "x", "", "1e-9"] {
            assert!(bad.parse::<FrameRate>().is_err(), "{bad}");
        }
    }
}
