//! What a format cannot hold at all.

use std::path::Path;

use super::{OutputFormat, spz};
use crate::table::SplatTable;
use quadrille_base::error::{Error, Result};
use quadrille_base::task::Task;

impl OutputFormat {
    /// Checks that the format can hold all splats of `table`, which takes no longer than reading their positions.
    /// `path` is for errors.
    ///
    /// # Errors
    /// [`Error::Malformed`] for spherical harmonics above the format's degree (but for `.splat`, which leaves them
    /// out), and for positions beyond its range; [`Error::Cancelled`].
    pub fn check(self, table: &SplatTable, path: &Path, task: &Task) -> Result<()> {
        let most = self.max_sh_degree();
        if table.sh_degree() > most && self != Self::DotSplat {
            let expected =
                format!("spherical harmonics of degree {most} at most (cut with --sh {most})");
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
            "{outside} of {} splats beyond it, the farthest at {x},{y},{z} (--drop-outside drops them, \
             --keep-box crops)",
            table.rows()
        );
        let expected = "positions from -2048 to 2048, the range of SPZ";
        Err(Error::malformed(
            path,
            format!("row {row}"),
            expected,
            found,
        ))
    }

    /// The rows of `table` whose positions the format can hold, in order. Positions that are not finite count as
    /// held, since no format holds them and other remedies are for them.
    ///
    /// # Errors
    /// [`Error::Cancelled`].
    pub fn rows_inside(self, table: &SplatTable, task: &Task) -> Result<Vec<u32>> {
        let mut rows = Vec::new();
        self.visit(table, task, |row, _, is_inside| {
            rows.extend(is_inside.then_some(row));
        })?;
        Ok(rows)
    }

    /// Calls `visit` with each row, its centre, and whether the format can hold it.
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
            let is_inside = !(is_limited && is_finite) || spz::holds_position(centre);
            visit(row, centre, is_inside);
        }
        Ok(())
    }
}
