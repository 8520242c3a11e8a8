//! Conversion of a mesh to splats: one flat Gaussian per triangle.
//!
//! A splat lies in its triangle's plane and has the triangle's second moments, stretched so that
//! neighbours overlap into a closed surface. Its colour is the shader's at the triangle's centroid, lit
//! as in one view and the same from all directions.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};

use nalgebra::{Matrix3, Rotation3, UnitQuaternion, Vector3};
use rayon::prelude::*;

use quadrille_base::error::{Error, Result};
use quadrille_base::image::srgb::encode_srgb;
use quadrille_base::math::{SH_C0, narrow};
use quadrille_base::task::Task;
use quadrille_geometry::camera::MeshCamera;
use quadrille_geometry::grid::{Grid, GridSource, GridVertex, VertexExtras};
use quadrille_mesh::shade::{Shader, VertexStep};
use quadrille_scene::Splat;

/// Ratio of a splat's standard deviations to its triangle's, taken as a plate of uniform density (assumed). A
/// smaller ratio leaves holes at vertices, a larger one blurs.
const STRETCH: f64 = 1.75;
/// Thickness of a splat relative to its shorter side (assumed); thin enough for a surface.
const THICKNESS: f64 = 0.02;
/// Least ratio of a splat's sides; needles without width would be invisible.
const LEAST_WIDTH: f64 = 1e-3;
/// Opacity of the splats (assumed): nearly opaque, but below the alpha cap of renderers.
const OPACITY: f32 = 0.95;
/// A splat takes 256 bytes during the conversion.
const MAX_SPLATS: u64 = 1 << 23;

/// A mesh converted to splats.
#[derive(Debug, Clone, Default)]
pub struct SplatVersion {
    /// The splats, in the order of the triangles.
    pub splats: Vec<Splat>,
    /// Number of triangles without area, which have no splat.
    pub dropped: u64,
}

/// Creates a splat for each triangle of `source`, tessellated and lit as in `view`.
///
/// # Errors
/// [`Error::Limit`] when there are more than 2^23 triangles, and [`Error::Cancelled`].
pub fn splats_of(
    source: &dyn GridSource,
    view: &MeshCamera,
    shader: &Shader<'_>,
    task: &Task,
) -> Result<SplatVersion> {
    let count = AtomicU64::new(0);
    let batches: Vec<(Vec<Splat>, u64)> = (0..source.batches())
        .into_par_iter()
        .map(|batch| {
            let (mut splats, mut dropped) = (Vec::new(), 0);
            let _ = source.visit_grids(batch, view, task, &mut |grid| {
                let two_sided = source.materials()[grid.material as usize].two_sided;
                let before = splats.len();
                for corners in &grid.topology.triangles {
                    match splat(&grid, *corners, two_sided, view, shader) {
                        Some(splat) => splats.push(splat),
                        None => dropped += 1,
                    }
                }
                let new = (splats.len() - before) as u64;
                let found = count.fetch_add(new, Ordering::Relaxed) + new;
                if found > MAX_SPLATS { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            });
            (splats, dropped)
        })
        .collect();
    task.check()?;
    let found = batches.iter().map(|(splats, _)| splats.len() as u64);
    // Beyond the limit tasks break off at any number.
    let found = found.sum::<u64>().min(MAX_SPLATS + 1);
    Error::check_limit("splats of the mesh (choose a larger triangle area)", MAX_SPLATS, found)?;
    Ok(SplatVersion {
        dropped: batches.iter().map(|(_, dropped)| dropped).sum(),
        splats: batches.into_iter().flat_map(|(splats, _)| splats).collect(),
    })
}

fn mean<const N: usize>(corners: [Option<[f32; N]>; 3]) -> Option<[f32; N]> {
    let [a, b, c] = corners;
    let (a, b, c) = (a?, b?, c?);
    Some(std::array::from_fn(|k| (a[k] + b[k] + c[k]) / 3.0))
}

fn splat(
    grid: &Grid,
    corners: [u16; 3],
    two_sided: bool,
    view: &MeshCamera,
    shader: &Shader<'_>,
) -> Option<Splat> {
    let extras = corners.map(|corner| grid.vertex_extras(usize::from(corner)));
    let corners = corners.map(|corner| &grid.vertices[usize::from(corner)]);
    let [a, b, c] = corners.map(|v| Vector3::from(v.position.map(f64::from)));
    let plate = Plate::of([a, b, c])?;
    let to_eye = Vector3::from(view.eye()) - plate.centre;
    // A one-sided surface is lit on its front side wherever the eye is.
    let is_front = !two_sided || plate.normal.dot(&to_eye) > 0.0;
    let middle = centroid(corners, plate.centre);
    let own = VertexExtras {
        colour: mean(extras.map(|corner| corner.colour)),
        second_uv: mean(extras.map(|corner| corner.second_uv)),
    };
    let steps = [0, 1]
        .map(|k| VertexStep::between(&middle, corners[k], view).with_extras(&own, &extras[k]));
    let [r, g, b, _] = shader.vertex(&middle, own, &steps, grid.material, is_front);
    let mut sh = [[0.0; 3]; 25];
    sh[0] = encode_srgb([r, g, b]).map(|c| narrow((f64::from(c) - 0.5) / SH_C0));
    let rotation = plate.rotation();
    let splat = Splat {
        mean: plate.centre.map(narrow).into(),
        scale: plate.deviations().map(narrow),
        rotation: [rotation.w, rotation.i, rotation.j, rotation.k].map(narrow),
        opacity: OPACITY,
        sh,
    };
    let mut numbers = splat.mean.iter().chain(&splat.scale).chain(&splat.rotation);
    numbers.all(|v| v.is_finite()).then_some(splat)
}

fn centroid(corners: [&GridVertex; 3], centre: Vector3<f64>) -> GridVertex {
    let mean = |values: [f32; 3]| values.iter().sum::<f32>() / 3.0;
    GridVertex {
        position: centre.map(narrow).into(),
        normal: std::array::from_fn(|k| mean(corners.map(|v| v.normal[k]))),
        uv: std::array::from_fn(|k| mean(corners.map(|v| v.uv[k]))),
    }
}

struct Plate {
    centre: Vector3<f64>,
    normal: Vector3<f64>,
    /// Principal axes in the plane, the longer first.
    axes: [Vector3<f64>; 2],
    /// Standard deviations along `axes`.
    spread: [f64; 2],
}

impl Plate {
    /// `None` for a triangle without area or with a corner that is not finite.
    fn of(corners: [Vector3<f64>; 3]) -> Option<Self> {
        let [a, b, c] = corners;
        let normal = (b - a).cross(&(c - a)).try_normalize(0.0)?;
        let across = (b - a).try_normalize(0.0)?;
        let along = normal.cross(&across);
        let centre = (a + b + c) / 3.0;
        // The covariance of a triangle is the sum over its corners divided by 12.
        let [mut xx, mut xy, mut yy] = [0.0; 3];
        for corner in corners {
            let arm = corner - centre;
            let (x, y) = (arm.dot(&across), arm.dot(&along));
            xx += x * x / 12.0;
            xy += x * y / 12.0;
            yy += y * y / 12.0;
        }
        let (mean, half) = (0.5 * (xx + yy), (0.5 * (xx - yy)).hypot(xy));
        let (sin, cos) = (0.5 * (2.0 * xy).atan2(xx - yy)).sin_cos();
        let first = across * cos + along * sin;
        let is_finite = mean.is_finite() && mean > 0.0;
        is_finite.then(|| Self {
            centre,
            normal,
            axes: [first, normal.cross(&first)],
            spread: [mean + half, (mean - half).max(0.0)].map(f64::sqrt),
        })
    }

    fn deviations(&self) -> [f64; 3] {
        let [long, short] = self.spread.map(|s| s * STRETCH);
        let short = short.max(long * LEAST_WIDTH);
        [long, short, short * THICKNESS]
    }

    fn rotation(&self) -> UnitQuaternion<f64> {
        let [first, second] = self.axes;
        let columns = Matrix3::from_columns(&[first, second, self.normal]);
        UnitQuaternion::from_rotation_matrix(&Rotation3::from_matrix_unchecked(columns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The right triangle with legs of 1: variances 1/18, covariance -1/36, so 1/12 and 1/36.
    #[test]
    fn moments_worked_by_hand() {
        let corners = [[0.0, 0.0, 5.0], [1.0, 0.0, 5.0], [0.0, 1.0, 5.0]];
        let plate = Plate::of(corners.map(Vector3::from)).unwrap();
        let [long, short] = plate.spread;
        assert!((long * long - 1.0 / 12.0).abs() < 1e-12);
        assert!((short * short - 1.0 / 36.0).abs() < 1e-12);
        assert!((plate.normal - Vector3::z()).norm() < 1e-12);
        // The longer axis is parallel to the hypotenuse.
        let slope = plate.axes[0].y / plate.axes[0].x;
        assert!((slope + 1.0).abs() < 1e-12, "{slope}");
        let turned = plate.rotation() * Vector3::x();
        assert!((turned - plate.axes[0]).norm() < 1e-12);
        assert!(Plate::of([[0.0; 3], [1.0; 3], [2.0; 3]].map(Vector3::from)).is_none());
        let poison = [[f64::NAN; 3], [1.0; 3], [2.0; 3]];
        assert!(Plate::of(poison.map(Vector3::from)).is_none());
    }
}
