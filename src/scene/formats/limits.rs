//! Values that a format cannot hold: positions, which are refused, and other values, which are clamped.

use std::ops::{Range, RangeInclusive};
use std::path::Path;

use super::{OutputFormat, spz};
use crate::assemble::PLAIN_SLOTS;
use crate::column_names::{FIRST_CONSTANT, slot};
use crate::splats::rest_coefficients;
use crate::table::SplatTable;
use quadrille_base::{Error, Result, Task};

/// Clamped columns of a format: description with the range, slots, and the range without a warning, which is wider
/// by half a quantisation step, since values there lose no more than others.
type ClampedColumns = (&'static str, Range<usize>, RangeInclusive<f32>);

const SCALES: Range<usize> = 3..6;
const COLOURS: Range<usize> = FIRST_CONSTANT..PLAIN_SLOTS;
const HARMONICS: Range<usize> = PLAIN_SLOTS..usize::MAX;

const CLAMPED_BY_SPZ: [ClampedColumns; 4] = [
    (
        "scales below e^-10, of which a scene that is enlarged with --scale has fewer,",
        SCALES,
        -10.031..=f32::INFINITY,
    ),
    ("scales above e^5.94", SCALES, f32::NEG_INFINITY..=5.968),
    ("colours beyond -0.44 to 1.44", COLOURS, -3.346..=3.346),
    ("spherical harmonics beyond -1 to 0.99", HARMONICS, -1.03..=1.03),
];
const CLAMPED_BY_COMPRESSED_PLY: [ClampedColumns; 2] = [
    ("scales beyond e^-20 to e^20", SCALES, -20.0..=20.0),
    ("spherical harmonics beyond -4 to 4", HARMONICS, -4.016..=4.016),
];
const CLAMPED_BY_DOT_SPLAT: [ClampedColumns; 1] =
    [("colours beyond 0 to 1", COLOURS, -1.78..=1.78)];

impl OutputFormat {
    /// Warnings with the number of clamped values, one per kind of column.
    pub(super) fn clamped(self, table: &SplatTable) -> impl Iterator<Item = String> {
        let columns: &[ClampedColumns] = match self {
            Self::Spz3 | Self::Spz4 => &CLAMPED_BY_SPZ,
            Self::CompressedPly => &CLAMPED_BY_COMPRESSED_PLY,
            Self::DotSplat => &CLAMPED_BY_DOT_SPLAT,
            _ => &[],
        };
        let rest = 3 * rest_coefficients(table.sh_degree());
        columns.iter().filter_map(move |(values, slots, range)| {
            let is_held = |at: usize| slots.contains(&at) && at < PLAIN_SLOTS + rest;
            let is_held = |name: &&str| slot(name, rest).is_some_and(is_held);
            let beyond = |v: &f32| v.is_finite() && !range.contains(v);
            let of_column = |name| Some(table.column(name)?.iter().filter(|v| beyond(v)).count());
            let count: usize = table.names().filter(is_held).filter_map(of_column).sum();
            (count > 0).then(|| {
                format!("{values} are clamped to the range of the format; values clamped: {count}")
            })
        })
    }

    /// Checks in one pass over the positions that the format can hold all splats of `table`. Errors name `path`.
    ///
    /// # Errors
    /// [`Error::Malformed`] for spherical harmonics above the format's degree (except `.splat`, which omits all of
    /// them) and for positions beyond its range, or [`Error::Cancelled`].
    pub fn check(self, table: &SplatTable, path: &Path, task: &Task) -> Result<()> {
        let most = self.max_sh_degree();
        if table.sh_degree() > most && self != Self::DotSplat {
            let expected = format!(
                "spherical harmonics of degree {most} at most (--sh {most} drops higher degrees)"
            );
            let found = format!("degree {}", table.sh_degree());
            return Err(Error::malformed(path, "format", expected, found));
        }
        let mut outside = 0_usize;
        let mut farthest = (0.0, 0, [0.0; 3]);
        self.visit(table, task, |row, centre, is_inside| {
            if !is_inside {
                outside += 1;
                let reach = centre.map(f64::abs).into_iter().fold(0.0, f64::max);
                if reach > farthest.0 {
                    farthest = (reach, row, centre);
                }
            }
        })?;
        if outside == 0 {
            return Ok(());
        }
        let (_, row, [x, y, z]) = farthest;
        let found = format!(
            "{outside} of {} splats outside, the farthest at {x},{y},{z} (--drop-outside drops them, \
             --keep-box crops the scene)",
            table.rows()
        );
        let expected = "positions from -2048 to 2048, the range of SPZ";
        Err(Error::malformed(path, format!("row {row}"), expected, found))
    }

    /// Rows of `table` whose positions the format can hold, in order. Rows with non-finite positions are included.
    pub fn rows_inside(self, table: &SplatTable, task: &Task) -> Result<Vec<u32>> {
        let mut rows = Vec::new();
        self.visit(table, task, |row, _, is_inside| {
            rows.extend(is_inside.then_some(row));
        })?;
        Ok(rows)
    }

    fn visit(
        self,
        table: &SplatTable,
        task: &Task,
        mut visit: impl FnMut(u32, [f64; 3], bool),
    ) -> Result<()> {
        let is_limited = matches!(self, Self::Spz3 | Self::Spz4);
        let [Some(x), Some(y), Some(z)] = ["x", "y", "z"].map(|name| table.values(name)) else {
            return Ok(());
        };
        for (row, at) in (0..).zip(0..table.rows()) {
            task.check()?;
            let centre = [x, y, z].map(|column| column.get(at));
            let is_finite = centre.iter().all(|v| v.is_finite());
            visit(row, centre, !(is_limited && is_finite) || spz::holds_position(centre));
        }
        Ok(())
    }
}
