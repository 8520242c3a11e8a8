//! Derivatives of a loss by the inputs of a picture and by the splats in the picture plane.

use super::scene::{ScalarScene, ScalarShapes, ScalarValues};

/// Derivatives of a loss by a drawn splat in the picture plane.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct PlaneGradient {
    /// Index of the splat in the scene.
    pub index: usize,
    /// By the centre: x, y, per pixel.
    pub mean2d: [f64; 2],
    /// Sum of the absolute values of the pixels' contributions to [`Self::mean2d`].
    pub absolute_mean2d: [f64; 2],
    /// By the inverse of the 2D covariance: xx, xy, yy. The entry xy stands for both entries off the diagonal.
    pub conic: [f64; 3],
    /// By the opacity after the profile's factor.
    pub opacity: f64,
}

/// Derivatives of a loss by the drawn splats in the picture plane, in drawing order, and by the background.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct RasterGradients {
    /// By the positions, conics and opacities of the drawn splats.
    pub splats: Vec<PlaneGradient>,
    /// By the channels of the drawn splats, including depth, row by row. The row of a mean depth holds the derivative by the
    /// splat's depth.
    pub channels: Vec<f64>,
    /// By the background of each channel except depth.
    pub background: Vec<f64>,
}

/// Derivatives of a loss by the attributes of all splats, summed over pictures; 0 for splats that are not drawn.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Gradients {
    /// By the centres in world space.
    pub means: Vec<[f64; 3]>,
    /// By the shapes. A covariance's entry off the diagonal stands for both entries of the symmetric matrix.
    pub shapes: ScalarShapes,
    /// By the opacities.
    pub opacities: Vec<f64>,
    /// By the SH coefficients or the rows of values.
    pub values: ScalarValues,
}

/// Derivatives of a loss by the pose of the camera of a picture.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[non_exhaustive]
pub struct CameraGradients {
    /// By the rows of the 4x4 matrix from world to view space, every entry taken as independent; the last row is 0. The
    /// centre of the camera is minus the transposed rotation times the translation.
    pub view_from_world: [[f64; 4]; 4],
}

impl Gradients {
    /// Zeros in the shape of `scene`.
    pub fn zeros(scene: &ScalarScene) -> Self {
        let splats = scene.len();
        let shapes = match scene.shapes {
            ScalarShapes::Axes { .. } => ScalarShapes::Axes {
                scales: vec![[0.0; 3]; splats],
                rotations: vec![[0.0; 4]; splats],
            },
            ScalarShapes::Covariances(_) => ScalarShapes::Covariances(vec![[0.0; 6]; splats]),
        };
        let values = match &scene.values {
            ScalarValues::None => ScalarValues::None,
            ScalarValues::Colours { sh_degree, stored, sh } => ScalarValues::Colours {
                sh_degree: *sh_degree,
                stored: *stored,
                sh: vec![[0.0; 3]; sh.len()],
            },
            ScalarValues::Rows { values, channels } => {
                ScalarValues::Rows { values: vec![0.0; values.len()], channels: *channels }
            }
        };
        Self { means: vec![[0.0; 3]; splats], shapes, opacities: vec![0.0; splats], values }
    }

    pub(super) fn fits(&self, scene: &ScalarScene) -> bool {
        let own = sizes(&self.means, &self.shapes, &self.opacities, &self.values);
        own == sizes(&scene.means, &scene.shapes, &scene.opacities, &scene.values)
    }
}

fn sizes(
    means: &[[f64; 3]],
    shapes: &ScalarShapes,
    opacities: &[f64],
    values: &ScalarValues,
) -> [usize; 8] {
    let [scales, rotations, covariances] = match shapes {
        ScalarShapes::Axes { scales, rotations } => [scales.len(), rotations.len(), 0],
        ScalarShapes::Covariances(covariances) => [0, 0, covariances.len()],
    };
    let [sh, rows, per_splat] = match values {
        ScalarValues::None => [0; 3],
        ScalarValues::Colours { stored, sh, .. } => [sh.len(), 0, *stored],
        ScalarValues::Rows { values, channels } => [0, values.len(), *channels],
    };
    [means.len(), opacities.len(), scales, rotations, covariances, sh, rows, per_splat]
}
