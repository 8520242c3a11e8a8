//! Preparation of raw columns for encoders: clamping of infinities, 3D filter, checks.

use std::borrow::Cow;
use std::path::Path;

use super::activation::{LOGIT_RANGE, log_scale, logit, sigmoid};
use super::column_names::PLAIN;
use super::table::RawColumns;
use quadrille_base::math::narrow;
use quadrille_base::{Error, Result, Task};

/// Whether single precision holds a number as a finite one.
pub(crate) fn is_in_range(value: f64) -> bool {
    narrow(value).is_finite()
}

/// Error about a move after which `value` of a column in `row` is beyond single precision, as are `count` rows of `of`.
pub(crate) fn beyond_range(name: &str, value: f64, row: usize, [count, of]: [usize; 2]) -> Error {
    let expected =
        format!("a move after which single precision holds {name}, up to {:.2e}", f32::MAX);
    let found = format!("{name} = {value:e} in row {row} ({count} of {of} splats are beyond)");
    Error::argument("move", expected, found)
}

impl RawColumns {
    /// Replaces the infinite logits of opacities 0 and 1, and the infinite logarithms of scales of 0, by finite numbers.
    pub(crate) fn clamp_infinite(&mut self) {
        for value in &mut self.opacity {
            *value = value.clamp(narrow(LOGIT_RANGE.0), narrow(LOGIT_RANGE.1));
        }
        for log in self.scale.iter_mut().flatten() {
            if *log == f32::NEG_INFINITY {
                *log = log_scale(0.0);
            }
        }
    }

    /// Checks after a move that single precision holds all positions.
    ///
    /// # Errors
    /// [`Error::Argument`] about the move.
    pub fn check_range(&self) -> Result<()> {
        let names = PLAIN[..3].iter().zip(&self.mean);
        let is_held = |row: &usize| self.mean.iter().all(|v| is_in_range(v[*row]));
        let mut beyond = (0..self.rows()).filter(|row| !is_held(row));
        let Some(row) = beyond.next() else { return Ok(()) };
        let mut values = names.map(|(name, column)| (*name, column[row]));
        let (name, value) = values.find(|(_, v)| !is_in_range(*v)).unwrap_or_default();
        Err(beyond_range(name, value, row, [1 + beyond.count(), self.rows()]))
    }

    pub(crate) fn apply_filter(&mut self, filter: &[f32], task: &Task) -> Result<()> {
        for (row, f) in filter.iter().enumerate() {
            task.check()?;
            let mut factor = 1.0;
            for axis in &mut self.scale {
                let scale = f64::from(axis[row]).exp();
                let wide = scale.hypot(f64::from(*f));
                factor *= if wide > 0.0 { scale / wide } else { 1.0 };
                axis[row] = narrow(wide.max(f64::from(f32::MIN_POSITIVE)).ln());
            }
            let opacity = &mut self.opacity[row];
            *opacity = logit(sigmoid(f64::from(*opacity)) * factor);
        }
        Ok(())
    }

    /// Refuses rows with a zero quaternion or a number that is not finite, in these columns or in `rest`.
    pub(crate) fn check_finite(
        &self,
        rest: &[Cow<'_, [f32]>],
        path: &Path,
        task: &Task,
    ) -> Result<()> {
        fn bad<T: Copy + Into<f64>>(values: &[T], task: &Task) -> Option<usize> {
            match task.is_cancelled() {
                true => None,
                // Without an early exit, the loop that checks all values is vectorised.
                false if values.iter().fold(true, |all, v| all & is_in_range((*v).into())) => None,
                false => values.iter().position(|v| !is_in_range((*v).into())),
            }
        }
        let zero = |row: &usize| self.rotation.iter().all(|q| q[*row] == 0.0);
        let of_mean = self.mean.iter().find_map(|column| bad(column, task));
        let floats = self.all_floats().map(Vec::as_slice);
        let mut floats = floats.chain(rest.iter().map(|column| &**column));
        let found = match of_mean.or_else(|| floats.find_map(|column| bad(column, task))) {
            Some(row) => Some((row, "a number that is not finite")),
            None => (0..self.rows()).find(zero).map(|row| (row, "a rotation of zero")),
        };
        match found {
            None => task.check(),
            Some((row, found)) => Err(Error::malformed(
                path,
                format!("row {row}"),
                "finite numbers and a nonzero rotation (--drop-nan drops other rows)",
                found,
            )),
        }
    }
}
