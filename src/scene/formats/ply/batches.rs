//! Reads a scene batch by batch, for scenes that are larger than memory.

use std::path::{Path, PathBuf};

use super::in_place::SplatsInPlace;
use super::rows::{FixedRows, read_fixed};
use crate::assemble::{PLAIN_SLOTS, RowLayout};
use crate::scene_file::Dropped;
use crate::splats::{Lanes, SplatBlock, Splats, rest_coefficients};
use quadrille_base::error::Result;
use quadrille_base::task::Task;

/// A PLY of binary rows of one size, whose splats are read batch by batch: the same splats, in the same order, as
/// [`load`](crate::load) reads at once.
pub struct SplatBatches {
    rows: FixedRows,
    path: PathBuf,
}

impl SplatBatches {
    /// Opens the PLY `path`.
    ///
    /// # Errors
    /// [`Error::Read`](quadrille_base::Error::Read), and [`Error::Malformed`](quadrille_base::Error::Malformed) for
    /// another format, for text, for lists, for plain colours and for positions in double precision.
    pub fn open(path: &Path) -> Result<Self> {
        let (rows, path) = (FixedRows::open(path)?, path.to_path_buf());
        Ok(Self { rows, path })
    }

    /// Name of the profile that the scene was trained for, if the file says so.
    pub fn profile_hint(&self) -> Option<&'static str> {
        self.rows.profile_hint
    }

    /// Number of rows of the file, valid or not.
    pub fn rows(&self) -> usize {
        self.rows.layout.rows
    }

    /// Size of a splat in memory in bytes.
    pub fn splat_bytes(&self) -> usize {
        let rest = 3 * rest_coefficients(self.rows.layout.sh_degree);
        const { assert!(size_of::<SplatBlock>() == PLAIN_SLOTS * size_of::<Lanes>()) };
        size_of::<f32>() * (PLAIN_SLOTS + rest)
    }

    /// As [`SplatsInPlace::rounding_warning`].
    ///
    /// # Errors
    /// [`Error::Read`](quadrille_base::Error::Read) and [`Error::Malformed`](quadrille_base::Error::Malformed) for a
    /// file that has changed.
    pub fn rounding_warning(&self) -> Result<Option<String>> {
        let rows = SplatsInPlace::open(&self.path)?;
        Ok(rows.and_then(|rows| rows.rounding_warning()))
    }

    /// Reads the scene in batches of at most `rows` rows, at least one, and calls `each` with every batch. Pages of the
    /// file that have been read are released.
    ///
    /// # Errors
    /// [`Error::Cancelled`](quadrille_base::Error::Cancelled), and the first error of `each`.
    pub fn for_each(
        &self,
        rows: usize,
        task: &Task,
        mut each: impl FnMut(&Splats) -> Result<()>,
    ) -> Result<Dropped> {
        let FixedRows {
            bytes,
            start,
            stride,
            layout,
            fields,
            encoding,
            ..
        } = &self.rows;
        let mut dropped = Dropped::default();
        for first in (0..layout.rows).step_by(rows.max(1)) {
            let of_batch = RowLayout {
                rows: rows.max(1).min(layout.rows - first),
                ..*layout
            };
            let of_batch = (start + first * stride, *stride, of_batch);
            let task = task.without_progress();
            let (splats, of_batch) = read_fixed(bytes, of_batch, *encoding, fields, &task)?;
            dropped = dropped.plus(of_batch);
            each(&splats)?;
        }
        Ok(dropped)
    }
}
