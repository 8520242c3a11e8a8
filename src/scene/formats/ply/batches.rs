//! Reads a scene batch by batch, for scenes that are larger than memory.

use std::path::{Path, PathBuf};

use super::header::Header;
use super::in_place::SplatsInPlace;
use super::layout::{Layout, profile_hint};
use super::rows::{read_fixed, start_and_stride};
use crate::assemble::{PLAIN_SLOTS, RowLayout};
use crate::bytes::Bytes;
use crate::scene_file::Dropped;
use crate::splats::{Lanes, SplatBlock, Splats, rest_coefficients};
use quadrille_base::error::Result;
use quadrille_base::task::Task;

/// A PLY of binary rows of one size, whose splats are read batch by batch: the same splats, in the same order, as
/// [`load`](crate::load) reads at once.
pub struct SplatBatches {
    bytes: Bytes<'static>,
    path: PathBuf,
    sh_degree: u8,
    rows: usize,
    /// Name of the profile that the scene was trained for, if the file says so.
    pub profile_hint: Option<&'static str>,
}

impl SplatBatches {
    /// Opens the PLY `path`.
    ///
    /// # Errors
    /// [`Error::Read`](quadrille_base::Error::Read), and [`Error::Malformed`](quadrille_base::Error::Malformed) for
    /// another format, for text, for lists, for plain colours and for positions in double precision.
    pub fn open(path: &Path) -> Result<Self> {
        let bytes = Bytes::open(path)?;
        let header = Header::parse(&bytes, path)?;
        let layout = Layout::of(&header, path)?;
        start_and_stride(&header, &layout, &bytes, path)?;
        let names = layout.element.properties.iter().map(|p| p.name.as_str());
        let profile_hint = profile_hint(names, &header.comments);
        let RowLayout {
            rows, sh_degree, ..
        } = layout.row_layout;
        Ok(Self {
            bytes,
            path: path.to_path_buf(),
            sh_degree,
            rows,
            profile_hint,
        })
    }

    /// Number of rows of the file, valid or not.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Size of a splat in memory in bytes.
    pub fn splat_bytes(&self) -> usize {
        let rest = 3 * rest_coefficients(self.sh_degree);
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
    /// [`Error::Cancelled`](quadrille_base::Error::Cancelled), the first error of `each`, and
    /// [`Error::Malformed`](quadrille_base::Error::Malformed) for a file that has changed.
    pub fn for_each(
        &self,
        rows: usize,
        task: &Task,
        mut each: impl FnMut(&Splats) -> Result<()>,
    ) -> Result<Dropped> {
        let header = Header::parse(&self.bytes, &self.path)?;
        let layout = Layout::of(&header, &self.path)?;
        let (start, stride) = start_and_stride(&header, &layout, &self.bytes, &self.path)?;
        let mut dropped = Dropped::default();
        for first in (0..layout.row_layout.rows).step_by(rows.max(1)) {
            let rows = RowLayout {
                rows: rows.max(1).min(layout.row_layout.rows - first),
                ..layout.row_layout
            };
            let rows = (start + first * stride, stride, rows);
            let task = task.without_progress();
            let (splats, of_batch) =
                read_fixed(&self.bytes, rows, header.encoding, &layout, &task)?;
            dropped = dropped.plus(of_batch);
            each(&splats)?;
        }
        Ok(dropped)
    }
}
