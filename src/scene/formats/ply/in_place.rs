//! Splats of a PLY that are read block by block while they are drawn, without a copy of the scene in memory.

use std::ops::Range;
use std::path::Path;

use bytemuck::Zeroable;
use fearless_simd::Level;
use rayon::prelude::*;

use super::rows::{BinaryRows, WORD_BYTES, decode_words, word_slots};
use super::unused_columns;
use crate::activate::{Parameters, activate};
use crate::assemble::{PLAIN_SLOTS, RawBlock};
use crate::bytes::{FileBytes, ReadAhead};
use crate::encoding::LoadOptions;
use crate::origin::SAMPLES;
use crate::scene_file::rounding_warning;
use crate::splats::{BLOCK, Lanes, Splat, SplatBlock, Splats, rest_coefficients};
use quadrille_base::error::Result;

/// A PLY of binary rows of little-endian floats, as trainers write them.
pub struct SplatsInPlace {
    bytes: FileBytes<'static>,
    rows: BinaryRows,
    stride: usize,
    /// Slot, and word in a row, of each property except the higher coefficients.
    plain: Vec<(usize, usize)>,
    /// Words in a row of the constant coefficients of red, green and blue.
    constant: [usize; 3],
    /// Words in a row of the higher coefficients, in the order of slots.
    rest: Vec<usize>,
    level: Level,
}

/// Read-ahead buffer, and the row before which its reads end.
pub type Ahead<'a> = (&'a mut ReadAhead, usize);

impl SplatsInPlace {
    /// Opens the PLY at `path`. Returns `None` for a layout that must be read as a whole, and for content with warnings.
    ///
    /// # Errors
    /// [`Error::Read`](quadrille_base::Error::Read), and [`Error::Malformed`](quadrille_base::Error::Malformed) for
    /// another format, for text, for lists, for plain colours and for positions in double precision.
    pub fn open(path: &Path) -> Result<Option<Self>> {
        // Warnings are those of the reader of whole files.
        Ok(Self::of_layout(path)?.filter(|file| {
            let mut described = file.rows.described.clone();
            described.warn(LoadOptions::default());
            described.warnings.is_empty() && !file.may_be_linear()
        }))
    }

    /// [`Self::open`] for a file that may also need warnings.
    pub(super) fn of_layout(path: &Path) -> Result<Option<Self>> {
        let bytes = FileBytes::open(path)?;
        let rows = BinaryRows::of(&bytes, path)?;
        let words = word_slots(&rows.fields, rows.stride, rows.encoding);
        let Some(words) = words.filter(|_| !rows.layout.filtered) else { return Ok(None) };
        let (plain, mut rest): (Vec<_>, Vec<_>) =
            words.into_iter().partition(|(slot, _)| *slot < PLAIN_SLOTS);
        rest.sort_unstable();
        let word_of = |slot| plain.iter().find(|(of, _)| *of == slot);
        let [Some(red), Some(green), Some(blue)] = [3, 2, 1].map(|k| word_of(PLAIN_SLOTS - k))
        else {
            return Ok(None);
        };
        let constant = [red.1, green.1, blue.1];
        Ok(Some(Self {
            stride: rows.stride / WORD_BYTES,
            bytes,
            rows,
            constant,
            plain,
            rest: rest.into_iter().map(|(_, word)| word).collect(),
            level: Level::new(),
        }))
    }

    /// Whether the opacities of the first rows are all those of logits from 0 to 1.
    fn may_be_linear(&self) -> bool {
        let first = unused_columns::LEAST_ROWS;
        let splats = (0..first.min(self.len())).map(|row| {
            let mut block = SplatBlock::zeroed();
            self.decode(row..row + 1, None, &mut block);
            Splat::load(&block, &[], 0)
        });
        unused_columns::were_linear(&Splats::from_splats(0, splats))
    }

    /// Names of the columns that no picture uses.
    pub fn unused_columns(&self) -> &[String] {
        &self.rows.described.unused_columns
    }

    /// Name of the profile that the scene was trained for, if the file says so.
    pub fn profile_hint(&self) -> Option<&'static str> {
        self.rows.profile_hint
    }

    /// Number of rows, valid or not.
    pub fn len(&self) -> usize {
        self.rows.layout.rows
    }

    /// True if the file has no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Degree of the spherical harmonics, 0 to 4.
    pub fn sh_degree(&self) -> u8 {
        self.rows.layout.sh_degree
    }

    /// Warning if single precision is too coarse for the positions of the scene. Samples rows on rayon's pool.
    pub fn rounding_warning(&self) -> Option<String> {
        let step = self.len().div_ceil(SAMPLES).max(1);
        let samples = (0..self.len().div_ceil(step)).into_par_iter();
        let splat = |ahead: &mut ReadAhead, sample: usize| {
            let (row, mut block) = (sample * step, SplatBlock::zeroed());
            self.decode(row..row + 1, Some((ahead, row + 1)), &mut block);
            Splat::load(&block, &[], 0)
        };
        let splats: Vec<Splat> = samples.map_init(ReadAhead::default, splat).collect();
        rounding_warning(splats.into_iter())
    }

    #[inline]
    fn rows_of(&self, block: usize) -> Range<usize> {
        block * BLOCK..self.len().min((block + 1) * BLOCK)
    }

    /// Words of rows; `None` if the file has become shorter or cannot be read.
    #[inline]
    fn words<'a>(
        &'a self,
        rows: Range<usize>,
        ahead: Option<Ahead<'a>>,
    ) -> Option<&'a [[u8; WORD_BYTES]]> {
        let offset = |row: usize| self.rows.start + row * self.stride * WORD_BYTES;
        let bytes = offset(rows.start)..offset(rows.end);
        let bytes = match ahead {
            Some((ahead, end)) => {
                ahead.bytes(&self.bytes, bytes, offset(end.min(self.len()))).ok()?
            }
            None => &self.bytes[bytes],
        };
        Some(bytes.as_chunks().0)
    }

    /// Decodes and activates the splats from `16 * block` on, without higher coefficients. Returns the number of invalid
    /// splats, which get an opacity of 0, as do lanes beyond the end and blocks that cannot be read.
    #[inline]
    pub fn block(&self, block: usize, ahead: Option<Ahead<'_>>, into: &mut SplatBlock) -> u64 {
        self.decode(self.rows_of(block), ahead, into)
    }

    /// [`Self::block`] for any range of up to 16 rows.
    #[inline]
    fn decode(&self, rows: Range<usize>, ahead: Option<Ahead<'_>>, into: &mut SplatBlock) -> u64 {
        let count = rows.len();
        let Some(words) = self.words(rows, ahead) else {
            *into = SplatBlock::zeroed();
            return count as u64;
        };
        let raw =
            RawBlock { plain: bytemuck::cast_mut(into), rest: &mut [], filter: &mut [0.0; BLOCK] };
        decode_words(words, self.stride, &self.plain, raw);
        let parameters = Parameters {
            level: self.level,
            encoding: self.rows.layout.encoding,
            scales: self.rows.layout.scales,
            filter: None,
        };
        // Activation marks invalid rows with a NaN, which renderers do not expect, so these lanes become transparent.
        let invalid = activate(into, &mut [], count, parameters).total();
        if invalid > 0 {
            for lane in 0..BLOCK {
                if into.mean[0][lane].is_nan() {
                    (into.mean[0][lane], into.opacity[lane]) = (0.0, 0.0);
                }
            }
        }
        invalid
    }

    /// Decodes the SH coefficients of `lanes` of a block: the constant ones of red, green and blue, and the higher
    /// ones of red, green, blue. Returns a mask of the lanes with a higher coefficient that is not finite.
    #[inline]
    pub fn coefficients(
        &self,
        block: usize,
        lanes: u64,
        ahead: Option<Ahead<'_>>,
        constant: &mut [Lanes; 3],
        rest: &mut [Lanes],
    ) -> u64 {
        let rows = self.rows_of(block);
        let (mut left, mut invalid) = (lanes & ((1 << rows.len()) - 1), 0);
        // A read that fails here makes the lanes invalid instead of ending the frame: the file may have
        // been cut while it was drawn.
        let Some(words) = self.words(rows, ahead) else { return left };
        while left != 0 {
            let lane = left.trailing_zeros() as usize % BLOCK;
            left &= left - 1;
            let row = &words[lane * self.stride..][..self.stride];
            for (values, word) in constant.iter_mut().zip(self.constant) {
                values[lane] = f32::from_le_bytes(row[word]);
            }
            let mut check = 0.0;
            for (values, &word) in rest.iter_mut().zip(&self.rest) {
                let value = f32::from_le_bytes(row[word]);
                check += value * 0.0;
                values[lane] = value;
            }
            if check != 0.0 {
                invalid |= 1 << lane;
            }
        }
        invalid
    }

    /// Number of higher coefficients per splat, over all channels.
    pub fn rest(&self) -> usize {
        3 * rest_coefficients(self.sh_degree())
    }
}
