//! Arrays of a caller that take the derivatives of a loss by the attributes of splats.

use crate::cpu::channels::{ChannelSettings, ChannelValues, check_length};
use crate::preprocess::{CHUNK, SplatRows, SplatSource};
use quadrille_base::Result;

/// Derivatives of a loss by the attributes of all splats, in arrays of the caller. An empty array asks for none.
#[derive(Debug, Default)]
pub struct GradientRows<'a> {
    /// By the centres in world space.
    pub means: &'a mut [[f32; 3]],
    /// By the standard deviations along the axes.
    pub scales: &'a mut [[f32; 3]],
    /// By the quaternions w, x, y, z of any length.
    pub rotations: &'a mut [[f32; 4]],
    /// By the covariances xx, xy, xz, yy, yz, zz. An entry off the diagonal stands for both entries of the symmetric matrix.
    pub covariances: &'a mut [[f32; 6]],
    /// By the opacities.
    pub opacities: &'a mut [f32],
    /// By the coefficients of the spherical harmonics.
    pub sh: &'a mut [[f32; 3]],
    /// By the rows of values.
    pub values: &'a mut [f32],
    /// Whether the arrays, of any content, are cleared first. That is faster than clearing them before, since each part of
    /// an array is then still in the cache of its processor.
    pub clears: bool,
}

impl GradientRows<'_> {
    pub(super) fn check(
        &self,
        splats: &SplatRows<'_>,
        channels: &ChannelSettings<'_>,
    ) -> Result<()> {
        let count = splats.len();
        let values = match channels.values {
            ChannelValues::Rows { values, .. } => values.len(),
            _ => 0,
        };
        let lengths = [
            ("means", self.means.len(), count),
            ("scales", self.scales.len(), count),
            ("rotations", self.rotations.len(), count),
            ("covariances", self.covariances.len(), count),
            ("opacities", self.opacities.len(), count),
            ("sh", self.sh.len(), splats.slices().sh.len()),
            ("values", self.values.len(), values),
        ];
        for (name, found, expected) in lengths {
            if found > 0 {
                check_length(name, expected, found)?;
            }
        }
        Ok(())
    }

    pub(super) fn clear(&mut self) {
        self.means.fill([0.0; 3]);
        self.scales.fill([0.0; 3]);
        self.rotations.fill([0.0; 4]);
        self.covariances.fill([0.0; 6]);
        self.opacities.fill(0.0);
        self.sh.fill([0.0; 3]);
        self.values.fill(0.0);
    }

    /// Divides the arrays into the parts of each chunk of splats.
    pub(super) fn chunks(
        &mut self,
        stored: usize,
        values: usize,
        count: usize,
    ) -> Vec<GradientRows<'_>> {
        let mut means = self.means.chunks_mut(CHUNK);
        let mut scales = self.scales.chunks_mut(CHUNK);
        let mut rotations = self.rotations.chunks_mut(CHUNK);
        let mut covariances = self.covariances.chunks_mut(CHUNK);
        let mut opacities = self.opacities.chunks_mut(CHUNK);
        let mut sh = self.sh.chunks_mut((CHUNK * stored).max(1));
        let mut rows = self.values.chunks_mut((CHUNK * values).max(1));
        let chunk = |_| GradientRows {
            means: means.next().unwrap_or_default(),
            scales: scales.next().unwrap_or_default(),
            rotations: rotations.next().unwrap_or_default(),
            covariances: covariances.next().unwrap_or_default(),
            opacities: opacities.next().unwrap_or_default(),
            sh: sh.next().unwrap_or_default(),
            values: rows.next().unwrap_or_default(),
            clears: self.clears,
        };
        (0..count.div_ceil(CHUNK)).map(chunk).collect()
    }
}
