//! Bicubic Bezier patches in the text format of the Utah teaset.

use std::path::Path;

use super::build::MAX_VERTICES;
use super::origin::Middle;
use super::text::{self, Lines};
use quadrille_base::error::{Error, Mismatch, Result};
use quadrille_base::math::narrow;
use quadrille_scene::bytes::FileBytes;

/// Bicubic Bezier patches that share control points.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct BezierPatches {
    /// Position in world space that the control points are relative to: zero, unless they are far from zero.
    pub origin: [f64; 3],
    /// Control points relative to the origin in world units, finite.
    pub points: Vec<[f32; 3]>,
    /// Indices into `points` of the 16 control points of each patch, row by row.
    pub patches: Vec<[u32; 16]>,
}

impl BezierPatches {
    /// Reads the patches in `path`. The file contains the number of patches, the indices (from 1) of each patch's 16
    /// points, the number of points, and the points, each on a line of its own with values separated by commas.
    ///
    /// # Errors
    /// [`Error::Read`] when the file cannot be read, [`Error::Malformed`] with the line that is wrong.
    pub fn load(path: &Path) -> Result<Self> {
        Self::parse(&FileBytes::open(path)?, path)
    }

    /// Reads patches from the bytes of a file; errors name the path `named`.
    ///
    /// # Errors
    /// [`Error::Malformed`] with the line that is wrong.
    pub fn parse(bytes: &[u8], named: &Path) -> Result<Self> {
        let mut rows = Rows { lines: Lines::new(bytes), number: 0 };
        rows.read().map_err(|(expected, found)| {
            Error::malformed(named, format!("line {}", rows.number), expected, found)
        })
    }
}

struct Rows<'a> {
    lines: Lines<'a>,
    number: usize,
}

impl Rows<'_> {
    fn read(&mut self) -> Result<BezierPatches, Mismatch> {
        let mut patches = Vec::new();
        for _ in 0..self.row::<1, _>(text::whole_number)?[0] {
            // The number of the line is known once it is read.
            let patch: [u32; 16] = self.row(text::whole_number)?;
            patches.push((self.number, patch));
        }
        let [count] = self.row(text::whole_number)?;
        if u64::from(count) > MAX_VERTICES {
            return Err((format!("at most {MAX_VERTICES} points"), count.to_string()));
        }
        let mut points = Vec::new();
        for _ in 0..count {
            points.push(self.row(text::number::<f64>)?);
        }
        let origin = Middle::origin_of(&points);
        let relative = |p: [f64; 3]| [0, 1, 2].map(|k| narrow(p[k] - origin[k]));
        let points = points.into_iter().map(relative).collect();
        for (number, patch) in &patches {
            if let Some(wrong) = patch.iter().find(|point| !(1..=count).contains(point)) {
                self.number = *number;
                return Err((format!("point numbers from 1 to {count}"), wrong.to_string()));
            }
        }
        let patches = patches.into_iter().map(|(_, patch)| patch.map(|point| point - 1)).collect();
        Ok(BezierPatches { origin, points, patches })
    }

    fn row<const N: usize, T: Copy + Default>(
        &mut self,
        value: impl Fn(&[u8]) -> Result<T, Mismatch>,
    ) -> Result<[T; N], Mismatch> {
        let line = self.lines.find(|(_, line)| !line.is_empty());
        let wrong = |found: String| (format!("{N} values"), found);
        let Some((number, line)) = line else {
            self.number += 1;
            return Err(wrong("the end of the file".into()));
        };
        self.number = number;
        let mut words = line
            .split(|byte| *byte == b',' || byte.is_ascii_whitespace())
            .filter(|word| !word.is_empty());
        let mut values = [T::default(); N];
        for (at, slot) in values.iter_mut().enumerate() {
            *slot = value(words.next().ok_or_else(|| wrong(at.to_string()))?)?;
        }
        match words.next() {
            None => Ok(values),
            Some(_) => Err(wrong("more".into())),
        }
    }
}
