//! Splats and channels of a picture in f64.

use nalgebra::{Matrix3, Quaternion, UnitQuaternion, Vector3};

use quadrille_base::{Error, Result};
use quadrille_scene::{SplatSlices, rest_coefficients};

use crate::cpu::channels::{ChannelDepth, ChannelSettings, ChannelValues, check_length};
use crate::preprocess::{SplatRows, SplatSource};

/// Shapes of splats in world space, one element per splat.
#[derive(Debug, Clone, PartialEq)]
pub enum ScalarShapes {
    /// Axes of ellipsoids.
    Axes {
        /// Standard deviations along the axes.
        scales: Vec<[f64; 3]>,
        /// Quaternions w, x, y, z of any length but zero.
        rotations: Vec<[f64; 4]>,
    },
    /// Covariances: xx, xy, xz, yy, yz, zz.
    Covariances(Vec<[f64; 6]>),
}

impl ScalarShapes {
    /// The same shapes as covariances.
    pub(super) fn as_covariances(&self) -> Self {
        let Self::Axes { scales, rotations } = self else { return self.clone() };
        let covariances = scales.iter().zip(rotations).map(|(scale, &[w, x, y, z])| {
            let turn = UnitQuaternion::from_quaternion(Quaternion::new(w, x, y, z));
            let scale = Matrix3::from_diagonal(&Vector3::from(*scale));
            let axes = turn.to_rotation_matrix().matrix() * scale;
            let m = axes * axes.transpose();
            [m[(0, 0)], m[(0, 1)], m[(0, 2)], m[(1, 1)], m[(1, 2)], m[(2, 2)]]
        });
        Self::Covariances(covariances.collect())
    }
}

/// Values of splats in the channels of a picture, without depth.
#[derive(Debug, Clone, PartialEq)]
pub enum ScalarValues {
    /// No values, for a picture of the depth alone.
    None,
    /// Colours of the splats as seen from the camera: red, green, blue.
    Colours {
        /// Degree of the spherical harmonics, 0 to 4.
        sh_degree: u8,
        /// Coefficients per splat, including those above the degree; 0 for grey splats.
        stored: usize,
        /// Coefficients of all splats, the constant one first.
        sh: Vec<[f64; 3]>,
    },
    /// Arbitrary values, one row per splat.
    Rows {
        /// Values of all splats, row by row.
        values: Vec<f64>,
        /// Values per splat, at least 1.
        channels: usize,
    },
}

/// Splats and channels of a picture in f64.
#[derive(Debug, Clone, PartialEq)]
pub struct ScalarScene {
    /// Centres of the splats in world space.
    pub means: Vec<[f64; 3]>,
    /// Shapes of the splats.
    pub shapes: ScalarShapes,
    /// Opacities of the splats, 0 to 1. Splats of opacity 0 are not drawn.
    pub opacities: Vec<f64>,
    /// Values of the splats in the first channels.
    pub values: ScalarValues,
    /// Kind of depth in the last channel; `None` for no depth.
    pub depth: Option<ChannelDepth>,
    /// Background of each channel except depth, weighted by 1 minus alpha.
    pub background: Vec<f64>,
}

impl ScalarScene {
    /// Converts the inputs of [`render_channels`](crate::cpu::Renderer::render_channels). Rows that it leaves out get the
    /// opacity 0.
    ///
    /// # Errors
    /// [`Error::Argument`] that names the array of wrong length.
    pub fn new(
        slices: SplatSlices<'_>,
        sh_degree: u8,
        channels: &ChannelSettings<'_>,
    ) -> Result<Self> {
        let rows = SplatRows::new(slices, sh_degree)?;
        channels.check_inputs(rows.len())?;
        let is_valid = |index: usize| match channels.values {
            ChannelValues::Rows { values, channels } => {
                values[index * channels..][..channels].iter().all(|value| value.is_finite())
            }
            _ => true,
        };
        let opacity = |index: usize| match is_valid(index) {
            true => f64::from(rows.splat(index).opacity),
            false => 0.0,
        };
        let threes = |values: &[[f32; 3]]| values.iter().map(|v| v.map(f64::from)).collect();
        let numbers = |values: &[f32]| values.iter().copied().map(f64::from).collect();
        let values = match channels.values {
            ChannelValues::None => ScalarValues::None,
            ChannelValues::Colours => {
                let stored = slices.sh.len() / rows.len().max(1);
                ScalarValues::Colours { sh_degree, stored, sh: threes(slices.sh) }
            }
            ChannelValues::Rows { values, channels } => {
                ScalarValues::Rows { values: numbers(values), channels }
            }
        };
        let background = match channels.background {
            Some(background) => numbers(background),
            None => vec![0.0; channels.value_channels()],
        };
        Ok(Self {
            means: threes(slices.means),
            shapes: ScalarShapes::Axes {
                scales: threes(slices.scales),
                rotations: slices.rotations.iter().map(|q| q.map(f64::from)).collect(),
            },
            opacities: (0..rows.len()).map(opacity).collect(),
            values,
            depth: channels.depth,
            background,
        })
    }

    /// Number of splats.
    pub fn len(&self) -> usize {
        self.means.len()
    }

    /// Whether there is no splat.
    pub fn is_empty(&self) -> bool {
        self.means.is_empty()
    }

    /// Number of channels of the picture, including depth.
    pub fn channels(&self) -> usize {
        self.value_channels() + usize::from(self.depth.is_some())
    }

    pub(super) fn value_channels(&self) -> usize {
        match self.values {
            ScalarValues::None => 0,
            ScalarValues::Colours { .. } => 3,
            ScalarValues::Rows { channels, .. } => channels,
        }
    }

    /// Checks the lengths of the arrays.
    pub(super) fn check(&self) -> Result<()> {
        let splats = self.len();
        Error::refuse_if(self.channels() == 0, "channels", "at least 1", 0)?;
        check_length("opacities", splats, self.opacities.len())?;
        check_length("background", self.value_channels(), self.background.len())?;
        match &self.shapes {
            ScalarShapes::Axes { scales, rotations } => {
                check_length("scales", splats, scales.len())?;
                check_length("rotations", splats, rotations.len())?;
            }
            ScalarShapes::Covariances(covariances) => {
                check_length("covariances", splats, covariances.len())?;
            }
        }
        match &self.values {
            ScalarValues::None => Ok(()),
            ScalarValues::Rows { values, channels } => {
                check_length("values", splats.saturating_mul(*channels), values.len())
            }
            ScalarValues::Colours { sh_degree, stored, sh } => {
                Error::refuse_if(*sh_degree > 4, "sh_degree", "0 to 4", sh_degree)?;
                let least = rest_coefficients(*sh_degree) + 1;
                let is_short = *stored < least && !(*stored == 0 && *sh_degree == 0) && splats > 0;
                let expected = format_args!("at least {least} coefficients per splat");
                Error::refuse_if(is_short, "sh", expected, stored)?;
                check_length("sh", splats.saturating_mul(*stored), sh.len())
            }
        }
    }

    /// Coefficients of a splat that its colour depends on: none for grey splats.
    pub(super) fn coefficients(&self, index: usize) -> Option<(u8, &[[f64; 3]])> {
        let ScalarValues::Colours { sh_degree, stored, sh } = &self.values else { return None };
        let used = (*stored).min(rest_coefficients(*sh_degree) + 1);
        Some((*sh_degree, &sh[index * stored..][..used]))
    }

    pub(super) fn row(&self, index: usize) -> Option<&[f64]> {
        let ScalarValues::Rows { values, channels } = &self.values else { return None };
        Some(&values[index * channels..][..*channels])
    }
}
