//! Rules that combine several values into one.

use quadrille_base::choice;

choice! {
    /// Rule by which the values of one point are combined.
    #[derive(Default)]
    pub enum Combine {
        /// Arithmetic mean
        #[default]
        Mean = "mean",
        /// Geometric mean, of values above 0
        Geomean = "geomean",
        /// Middle value, or the mean of the two middle values
        Median = "median",
        /// Smallest value
        Min = "min",
        /// Largest value
        Max = "max",
    }
}

choice! {
    /// Range that is drawn around a point of several values.
    pub enum Spread {
        /// Smallest to largest value
        Range = "range",
        /// Standard deviation of the values, on both sides of their mean
        Sd = "sd",
    }
}

/// Standard deviation of a sample; `None` for fewer than two values.
pub(crate) fn standard_deviation(values: &[f64]) -> Option<f64> {
    let mean = Combine::Mean.of(values)?;
    let squares = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
    (values.len() > 1).then(|| (squares / (values.len() - 1) as f64).sqrt())
}

impl Combine {
    /// Combines values; `None` without values, and for a geometric mean unless all values are above 0.
    pub fn of(self, values: &[f64]) -> Option<f64> {
        let count = values.len() as f64;
        if values.is_empty() {
            return None;
        }
        match self {
            Self::Mean => Some(values.iter().sum::<f64>() / count),
            Self::Geomean => {
                let is_defined = values.iter().all(|value| *value > 0.0);
                let logarithms = values.iter().map(|value| value.ln());
                is_defined.then(|| (logarithms.sum::<f64>() / count).exp())
            }
            Self::Median => {
                let mut sorted = values.to_vec();
                sorted.sort_by(f64::total_cmp);
                let middle = sorted.len() / 2;
                match sorted.len() % 2 {
                    0 => Some(f64::midpoint(sorted[middle - 1], sorted[middle])),
                    _ => Some(sorted[middle]),
                }
            }
            Self::Min => values.iter().copied().reduce(f64::min),
            Self::Max => values.iter().copied().reduce(f64::max),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn combinations_worked_by_hand() {
        let of = |values: &[f64]| Combine::ALL.map(|combine| combine.of(values));
        let [mean, geomean, median, min, max] = of(&[8.0, 1.0, 1.0, 2.0]).map(Option::unwrap);
        assert_eq!([mean, median, min, max], [3.0, 1.5, 1.0, 8.0]);
        assert!((geomean - 2.0).abs() < 1e-12, "{geomean}");
        assert_eq!(of(&[5.0, 4.0, 9.0])[2], Some(5.0));
        assert_eq!(standard_deviation(&[1.0, 2.0, 3.0]), Some(1.0));
        assert_eq!([standard_deviation(&[1.0]), standard_deviation(&[])], [None; 2]);
        assert_eq!(of(&[]), [None; 5]);
        assert_eq!(of(&[0.0, 4.0])[..2], [Some(2.0), None]);
    }
}
