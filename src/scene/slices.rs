//! Conversion of splats from slices and to arrays.

use super::encoding::SceneEncoding;
use super::scene_file::SceneFormat;
use super::splats::{MAX_SH_DEGREE, MAX_SPLATS, Splat, Splats, rest_coefficients};
use super::table::{RawColumns, SplatTable, TableSource};
use crate::activation::{log_scale, logit};
use quadrille_base::error::{Error, Result};
use quadrille_base::math::narrow;

/// Attributes of splats in memory, one element per splat.
#[derive(Debug, Clone, Copy)]
pub struct SplatSlices<'a> {
    /// Centres x, y, z in world space (right, down, forward).
    pub means: &'a [[f32; 3]],
    /// Standard deviations along the axes: linear if activated, natural logarithms if raw.
    pub scales: &'a [[f32; 3]],
    /// Quaternions w, x, y, z of any length but zero.
    pub rotations: &'a [[f32; 4]],
    /// Opacities: 0 to 1 if activated, logits if raw.
    pub opacities: &'a [f32],
    /// SH coefficients `[red, green, blue]`, `(degree + 1)^2` per splat, splat after splat, the constant one first.
    pub sh: &'a [[f32; 3]],
}

/// Activated attributes of splats in memory, one element per splat: the owned form of [`SplatSlices`].
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct SplatArrays {
    /// Centres x, y, z in world space.
    pub means: Vec<[f32; 3]>,
    /// Standard deviations along the axes, in world units.
    pub scales: Vec<[f32; 3]>,
    /// Unit quaternions w, x, y, z.
    pub rotations: Vec<[f32; 4]>,
    /// Opacities, 0 to 1.
    pub opacities: Vec<f32>,
    /// SH coefficients `[red, green, blue]`, `(degree + 1)^2` per splat.
    pub sh: Vec<[f32; 3]>,
}

impl SplatArrays {
    /// Borrows the arrays as slices, as constructors take them.
    pub fn as_slices(&self) -> SplatSlices<'_> {
        SplatSlices {
            means: &self.means,
            scales: &self.scales,
            rotations: &self.rotations,
            opacities: &self.opacities,
            sh: &self.sh,
        }
    }
}

impl SplatSlices<'_> {
    /// Checks that all slices except `sh` have the length of `means`, and returns that length.
    pub fn check_lengths(&self) -> Result<usize> {
        let splats = self.means.len();
        Error::check_limit("splats in a scene", MAX_SPLATS as u64, splats as u64)?;
        for (what, length) in [
            ("scales", self.scales.len()),
            ("rotations", self.rotations.len()),
            ("opacities", self.opacities.len()),
        ] {
            let is_wrong = length != splats;
            Error::refuse_if(
                is_wrong,
                what,
                format_args!("{splats} elements, as many as means"),
                length,
            )?;
        }
        Ok(splats)
    }

    fn degree(&self) -> Result<u8> {
        let splats = self.check_lengths()?;
        let fits = |degree: &u8| (rest_coefficients(*degree) + 1) * splats == self.sh.len();
        (0..=MAX_SH_DEGREE).find(fits).ok_or_else(|| {
            let expected = format!("1, 4, 9, 16 or 25 coefficients for each of {splats} splats");
            Error::argument("sh", expected, self.sh.len())
        })
    }

    /// Checks that numbers are finite and quaternions are not zero. If `activated`, also checks that scales and
    /// opacities are in range; otherwise infinite logits are valid, as opacities of 0 and 1.
    fn check_values(&self, activated: bool) -> Result<()> {
        let wrong = |what: &str, at: Option<usize>, expected: &str| {
            let Some(at) = at else { return Ok(()) };
            let found = match what {
                "means" => format!("{:?}", self.means[at]),
                "scales" => format!("{:?}", self.scales[at]),
                "sh" => format!("{:?}", self.sh[at]),
                "rotations" => format!("{:?}", self.rotations[at]),
                _ => self.opacities[at].to_string(),
            };
            Err(Error::argument(format!("{what}[{at}]"), expected, found))
        };
        let bad3 =
            |values: &[[f32; 3]]| values.iter().position(|v| !v.iter().all(|x| x.is_finite()));
        wrong("means", bad3(self.means), "finite numbers")?;
        wrong("scales", bad3(self.scales), "finite numbers")?;
        wrong("sh", bad3(self.sh), "finite numbers")?;
        let is_rotation = |q: &[f32; 4]| q.iter().all(|x| x.is_finite()) && *q != [0.0; 4];
        let bad = self.rotations.iter().position(|q| !is_rotation(q));
        wrong("rotations", bad, "a finite quaternion other than zero")?;
        if !activated {
            return wrong("opacities", self.opacities.iter().position(|v| v.is_nan()), "a logit");
        }
        let bad = self.scales.iter().position(|v| v.iter().any(|x| *x < 0.0));
        wrong("scales", bad, "numbers of at least 0")?;
        let bad = self.opacities.iter().position(|v| !(0.0..=1.0).contains(v));
        wrong("opacities", bad, "a number from 0 to 1")
    }
}

impl Splats {
    /// Creates splats from activated attributes. Quaternions are normalized.
    ///
    /// # Errors
    /// [`Error::Argument`] naming the slice whose length or values do not fit; [`Error::Limit`] for too many splats.
    pub fn from_slices(slices: &SplatSlices<'_>) -> Result<Self> {
        let degree = slices.degree()?;
        slices.check_values(true)?;
        let per_splat = rest_coefficients(degree) + 1;
        let splats = (0..slices.means.len()).map(|i| {
            let mut sh = [[0.0; 3]; 25];
            sh[..per_splat].copy_from_slice(&slices.sh[i * per_splat..][..per_splat]);
            let q = slices.rotations[i].map(f64::from);
            let norm = q.iter().map(|v| v * v).sum::<f64>().sqrt();
            Splat {
                mean: slices.means[i],
                scale: slices.scales[i],
                rotation: q.map(|v| narrow(v / norm)),
                opacity: slices.opacities[i],
                sh,
            }
        });
        Ok(Self::from_splats(degree, splats))
    }

    /// Returns the activated attributes of all splats.
    pub fn to_arrays(&self) -> SplatArrays {
        let per_splat = rest_coefficients(self.sh_degree()) + 1;
        let mut arrays = SplatArrays::default();
        for splat in self.iter() {
            arrays.means.push(self.position(&splat).map(narrow));
            arrays.scales.push(splat.scale);
            arrays.rotations.push(splat.rotation);
            arrays.opacities.push(splat.opacity);
            arrays.sh.extend(&splat.sh[..per_splat]);
        }
        arrays
    }
}

impl SplatTable {
    /// Creates a table from activated attributes, for conversion or for [`write_table`](crate::write_table).
    pub fn from_slices(slices: &SplatSlices<'_>) -> Result<Self> {
        Self::of_slices(slices, true)
    }

    /// Creates a table from raw attributes: logarithms of scales and logits of opacities.
    pub fn from_raw_slices(slices: &SplatSlices<'_>) -> Result<Self> {
        Self::of_slices(slices, false)
    }

    fn of_slices(slices: &SplatSlices<'_>, activated: bool) -> Result<Self> {
        let degree = slices.degree()?;
        slices.check_values(activated)?;
        let (rows, rest) = (slices.means.len(), rest_coefficients(degree));
        let mut raw = RawColumns::zeroed(rows, degree);
        for row in 0..rows {
            for axis in 0..3 {
                raw.mean[axis][row] = f64::from(slices.means[row][axis]);
                let scale = slices.scales[row][axis];
                raw.scale[axis][row] = if activated { log_scale(scale) } else { scale };
                let coefficients = &slices.sh[row * (rest + 1)..][..rest + 1];
                raw.sh_constant[axis][row] = coefficients[0][axis];
                for (k, coefficient) in coefficients[1..].iter().enumerate() {
                    raw.sh_rest[axis * rest + k][row] = coefficient[axis];
                }
            }
            for (column, value) in raw.rotation.iter_mut().zip(slices.rotations[row]) {
                column[row] = value;
            }
            let opacity = slices.opacities[row];
            raw.opacity[row] = if activated { logit(f64::from(opacity)) } else { opacity };
        }
        let source = TableSource {
            format: SceneFormat("memory"),
            file_bytes: 0,
            encoding: SceneEncoding::new("none", "none"),
        };
        Ok(Self::of_raw(raw, source))
    }
}
