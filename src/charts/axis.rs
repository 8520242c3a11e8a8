//! Axes: scales from values to positions, and their ticks.

const MOST_TICKS: f64 = 6.0;
/// Smallest positive number of a logarithmic axis, relative to the largest.
const LOG_RANGE: f64 = 1e-9;

/// Magnitudes that axes show; smaller numbers are drawn as 0.
const SIZES: std::ops::RangeInclusive<f64> = 1e-200..=1e200;

/// Description of an axis, without the range of its values.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Axis {
    /// Label: quantity and unit.
    pub label: String,
    /// Whether the axis is logarithmic: equal distances are equal ratios.
    pub is_log: bool,
    /// Whether values are shares, written in percent.
    pub is_share: bool,
    /// Value that the axis includes, if any.
    pub reaches: Option<f64>,
    /// Whether a linear axis begins near the least value instead of at 0.
    pub is_fitted: bool,
}

impl Axis {
    /// Creates a linear axis from 0.
    pub fn linear(label: &str) -> Self {
        Self { label: label.to_owned(), ..Self::default() }
    }

    /// Creates a logarithmic axis.
    pub fn log(label: &str) -> Self {
        Self { is_log: true, ..Self::linear(label) }
    }

    /// Creates a linear axis of shares from 0 to at least 100 %.
    pub fn share(label: &str) -> Self {
        Self { is_share: true, reaches: Some(1.0), ..Self::linear(label) }
    }

    /// Creates a linear axis of shares from 0 to the largest value.
    pub fn small_share(label: &str) -> Self {
        Self { reaches: None, ..Self::share(label) }
    }

    /// Scale of all `values` that the axis can show.
    pub(crate) fn scale(&self, values: impl Iterator<Item = f64>) -> Scale {
        let is_in_range = |v: f64| v == 0.0 || SIZES.contains(&v.abs());
        let shown = |v: &f64| is_in_range(*v) && (!self.is_log || *v > 0.0);
        let values: Vec<f64> = values.chain(self.reaches).filter(shown).collect();
        let top = values.iter().copied().fold(0.0, f64::max);
        let least = values.iter().copied().fold(f64::INFINITY, f64::min);
        if top <= 0.0 && (self.is_log || least >= 0.0) {
            return Scale {
                from: if self.is_log { 0.1 } else { 0.0 },
                to: 1.0,
                step: step(1.0),
                is_log: self.is_log,
                is_share: self.is_share,
            };
        }
        if !self.is_log && (least < 0.0 || self.is_fitted) {
            return self.around(least, values.iter().copied().fold(least, f64::max));
        }
        let (from, to) = if self.is_log {
            let from = round_below(least.max(top * LOG_RANGE) * 0.999);
            let to = round_above(top * 1.001);
            (from, if to > from { to } else { from * 10.0 })
        } else {
            let step = step(top);
            // Shares need no room above the largest value.
            let room = if self.is_share { 1.0 } else { 1.02 };
            (0.0, (top * room / step - 1e-9).ceil() * step)
        };
        Scale { from, to, step: step(top), is_log: self.is_log, is_share: self.is_share }
    }

    /// Linear scale from a tick at or below `least` to a tick at or above `most`, including 0 below it unless fitted.
    fn around(&self, least: f64, most: f64) -> Scale {
        let (least, most) =
            if self.is_fitted { (least, most) } else { (least.min(0.0), most.max(0.0)) };
        // A single value gets room around it.
        let extent = if most > least { most - least } else { least.abs().max(1.0) };
        let step = step(extent);
        let from = (least / step + 1e-9).floor() * step;
        let to = (most / step - 1e-9).ceil() * step;
        Scale {
            from,
            to: if to > from { to } else { from + step },
            step,
            is_log: false,
            is_share: self.is_share,
        }
    }
}

/// Largest of 1, 2 and 5 times a power of ten that is at most `value`.
fn round_below(value: f64) -> f64 {
    let decade = 10_f64.powf(value.log10().floor());
    let steps = [5.0, 2.0, 1.0].map(|n| n * decade);
    steps.into_iter().find(|s| *s <= value * (1.0 + 1e-9)).unwrap_or(decade)
}

/// Least of 1, 2 and 5 times a power of ten that is at least `value`.
fn round_above(value: f64) -> f64 {
    let decade = 10_f64.powf(value.log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|n| n * decade);
    steps.into_iter().find(|s| *s >= value * (1.0 - 1e-9)).unwrap_or(decade * 10.0)
}

fn step(top: f64) -> f64 {
    round_above(top / MOST_TICKS)
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Scale {
    pub(crate) from: f64,
    pub(crate) to: f64,
    step: f64,
    is_log: bool,
    is_share: bool,
}

impl Scale {
    pub(crate) fn between(from: f64, to: f64) -> Self {
        let to = if to > from { to } else { from + 1.0 };
        Self { from, to, step: step(to - from), is_log: false, is_share: false }
    }

    pub(crate) fn tight(from: f64, to: f64, is_log: bool) -> Self {
        Self { is_log: is_log && from > 0.0 && to > from, ..Self::between(from, to) }
    }

    /// Value at which bars begin: 0, or the start of the scale.
    pub(crate) fn base(&self) -> f64 {
        if self.is_log { self.from } else { 0.0_f64.clamp(self.from, self.to) }
    }

    /// Position of a value, 0 to 1, clamped.
    pub(crate) fn position(&self, value: f64) -> f64 {
        let share = if self.is_log {
            (value.max(self.from) / self.from).ln() / (self.to / self.from).ln()
        } else {
            (value - self.from) / (self.to - self.from)
        };
        if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 }
    }

    pub(crate) fn ticks(&self) -> Vec<f64> {
        if !self.is_log {
            let count = ((self.to - self.from) / self.step + 1e-9).floor();
            let mut ticks = vec![self.from];
            while (ticks.len() as f64) <= count.min(2.0 * MOST_TICKS) {
                ticks.push(self.from + self.step * ticks.len() as f64);
            }
            return ticks;
        }
        let decades = (self.to / self.from).log10();
        let digits: &[f64] = if decades <= 2.3 { &[1.0, 2.0, 5.0] } else { &[1.0] };
        let every = (decades / MOST_TICKS).ceil().max(1.0);
        let mut ticks = Vec::new();
        let mut exponent = self.from.log10().floor();
        while 10_f64.powf(exponent) <= self.to * 1.001 {
            let decade = 10_f64.powf(exponent);
            let inside = digits.iter().map(|d| d * decade);
            ticks.extend(inside.filter(|t| *t >= self.from * 0.999 && *t <= self.to * 1.001));
            exponent += every;
        }
        ticks
    }

    pub(crate) fn text(&self, value: f64) -> String {
        if self.is_share {
            return format!("{} %", number((value * 1000.0).round() / 10.0));
        }
        number(value)
    }
}

/// A number in at most three significant digits, for people: `0.25`, `1.8`, `37`, `1.2 M`.
pub fn number(value: f64) -> String {
    let text = measured(value);
    let (digits, unit) = text.split_once(' ').unwrap_or((&text, ""));
    if !digits.contains('.') {
        return text;
    }
    let digits = digits.trim_end_matches('0').trim_end_matches('.');
    match unit {
        "" => digits.to_owned(),
        unit => format!("{digits} {unit}"),
    }
}

/// A measured number in three significant digits, for people: `0.250`, `1.80`, `37.5`, `1.20 M`. Whole numbers
/// below 100 have no decimals.
pub fn measured(value: f64) -> String {
    if !value.is_finite() {
        return "-".to_owned();
    }
    let (value, unit) = match value.abs() {
        s if s >= 999_500_000.0 => (value / 1e9, " G"),
        s if s >= 999_500.0 => (value / 1e6, " M"),
        s if s >= 9_995.0 => (value / 1e3, " k"),
        _ => (value, ""),
    };
    let digits = match value.abs() {
        s if s >= 99.95 || (s < 100.0 && s.fract() == 0.0 && unit.is_empty()) => 0,
        s if s >= 9.995 => 1,
        s if s >= 0.9995 => 2,
        s if s >= 0.099_95 => 3,
        _ => 4,
    };
    format!("{value:.digits$}{unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linear_axes_end_at_round_numbers() {
        let scale = Axis::linear("speedup").scale([0.5, 2.2].into_iter());
        assert_eq!(scale.ticks(), [0.0, 0.5, 1.0, 1.5, 2.0, 2.5]);
        assert_eq!((scale.position(1.25), scale.position(9.0)), (0.5, 1.0));
        let shares = Axis::share("lanes").scale([0.4].into_iter());
        let texts: Vec<_> = shares.ticks().iter().map(|t| shares.text(*t)).collect();
        assert_eq!(texts[..3], ["0 %", "20 %", "40 %"]);
    }

    /// Tops from 0.001 to 1,000, of numbers and shares: ticks are equidistant, none is beyond the end, and the last
    /// one is the end.
    #[test]
    fn ticks_are_equidistant() {
        for n in 0..1_000 {
            let top = 10_f64.powf(f64::from(n) / 999.0 * 6.0 - 3.0);
            for axis in [Axis::linear("number"), Axis::small_share("share")] {
                let scale = axis.scale([top].into_iter());
                let ticks: Vec<_> = scale.ticks().iter().map(|t| scale.position(*t)).collect();
                let distance = ticks[1];
                for pair in ticks.windows(2) {
                    assert!((pair[1] - pair[0] - distance).abs() < 1e-9, "{top}: {ticks:?}");
                }
                assert!((3..=9).contains(&ticks.len()), "{top}: {ticks:?}");
                assert!((ticks[ticks.len() - 1] - 1.0).abs() < 1e-9, "{top}: {ticks:?}");
                assert!(scale.to >= top * (1.0 - 1e-9), "{top}");
            }
        }
    }

    #[test]
    fn logarithmic_axes_have_decades() {
        let scale = Axis::log("time").scale([0.7, 130.0].into_iter());
        assert_eq!((scale.from, scale.to), (0.5, 200.0));
        let middle = scale.position(10.0);
        assert!((middle - 0.5).abs() < 1e-12, "{middle}");
        assert_eq!(scale.ticks(), [1.0, 10.0, 100.0]);
        let short = Axis::log("time").scale([1.0, 12.0].into_iter());
        assert_eq!(short.ticks(), [0.5, 1.0, 2.0, 5.0, 10.0, 20.0]);
        let empty = Axis::log("nothing").scale([0.0, f64::NAN].into_iter());
        assert!(empty.position(5.0).is_finite());
    }

    #[test]
    fn numbers_have_three_digits() {
        for (value, text) in [
            (0.0, "0"),
            (0.12345, "0.123"),
            (1.8, "1.8"),
            (2.071, "2.07"),
            (37.46, "37.5"),
            (612.0, "612"),
            (1234.0, "1234"),
            (84_243.0, "84.2 k"),
            (1_234_567.0, "1.23 M"),
            (f64::NAN, "-"),
        ] {
            assert_eq!(number(value), text);
        }
        for (value, text) in [
            (0.0, "0"),
            (16.0, "16"),
            (1.8, "1.80"),
            (0.25, "0.250"),
            (37.46, "37.5"),
            (1_200_000.0, "1.20 M"),
        ] {
            assert_eq!(measured(value), text);
        }
    }
}
