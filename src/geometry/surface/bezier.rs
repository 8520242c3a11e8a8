//! Bicubic Bezier patches of 16 control points each: positions and normals, and surfaces made of them.

use super::owners::{Owners, PatchKeys};
use super::patches::{Geometry, PatchMaterials, Surface, SurfacePoint, cross, unit};
use crate::files::{Material, bounds};
use quadrille_base::error::{Error, Result};

/// Parameter distance by which the point for a normal moves inwards if the derivatives give no normal, as at
/// collapsed sides or cusps (assumed). It is small for a patch, but large relative to rounding.
const NUDGE: f32 = 1.0 / 256.0;
/// Least squared sine between derivatives, times relative lengths, for a normal (assumed): some hundred roundings squared.
const LEAST_AREA_SQUARED: f32 = 1e-9;

/// Control points row by row, with rows along u. The unused fourth coordinate makes a point a SIMD vector.
#[derive(Debug, Clone, Copy)]
pub(super) struct BicubicPatch(pub(super) [[f32; 4]; 16]);

type Lanes = [f32; 4];

fn mixed(points: [&Lanes; 4], weights: [f32; 4]) -> Lanes {
    std::array::from_fn(|k| {
        points[0][k] * weights[0]
            + points[1][k] * weights[1]
            + points[2][k] * weights[2]
            + points[3][k] * weights[3]
    })
}

fn basis(t: f32) -> [f32; 4] {
    let s = 1.0 - t;
    [s * s * s, 3.0 * s * s * t, 3.0 * s * t * t, t * t * t]
}

fn basis_derivative(t: f32) -> [f32; 4] {
    let s = 1.0 - t;
    [-3.0 * s * s, 3.0 * s * (s - 2.0 * t), 3.0 * t * (2.0 * s - t), 3.0 * t * t]
}

fn xyz(v: Lanes) -> [f32; 3] {
    [v[0], v[1], v[2]]
}

impl BicubicPatch {
    pub(super) fn new(points: [[f32; 3]; 16]) -> Self {
        Self(points.map(|[x, y, z]| [x, y, z, 0.0]))
    }

    fn row(&self, row: usize) -> [&Lanes; 4] {
        std::array::from_fn(|i| &self.0[4 * row + i])
    }

    pub(super) fn position(&self, u: f32, v: f32) -> [f32; 3] {
        let b = basis(u);
        let rows: [Lanes; 4] = std::array::from_fn(|row| mixed(self.row(row), b));
        xyz(mixed(rows.each_ref(), basis(v)))
    }

    fn derivatives(&self, u: f32, v: f32) -> [[f32; 3]; 3] {
        let (b, d) = (basis(u), basis_derivative(u));
        let rows: [Lanes; 4] = std::array::from_fn(|row| mixed(self.row(row), b));
        let slopes: [Lanes; 4] = std::array::from_fn(|row| mixed(self.row(row), d));
        let bv = basis(v);
        [
            xyz(mixed(rows.each_ref(), bv)),
            xyz(mixed(slopes.each_ref(), bv)),
            xyz(mixed(rows.each_ref(), basis_derivative(v))),
        ]
    }

    /// Position and normal at (u, v). If the derivatives give no normal, a point slightly further inwards supplies it.
    #[inline]
    pub(super) fn point(&self, u: f32, v: f32) -> SurfacePoint {
        let [position, du, dv] = self.derivatives(u, v);
        let normal = Self::normal(du, dv).unwrap_or_else(|| {
            let inwards = |t: f32| t + (0.5 - t).clamp(-NUDGE, NUDGE);
            let [_, du, dv] = self.derivatives(inwards(u), inwards(v));
            unit(cross(du, dv))
        });
        SurfacePoint { position, normal }
    }

    /// Normal from the derivatives, unless they are nearly parallel or zero.
    fn normal(du: [f32; 3], dv: [f32; 3]) -> Option<[f32; 3]> {
        let across = cross(du, dv);
        let square = |v: [f32; 3]| v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
        let (area, longest) = (square(across), square(du).max(square(dv)));
        let is_reliable = area > LEAST_AREA_SQUARED * longest * longest && area > f32::MIN_POSITIVE;
        is_reliable.then(|| unit(across))
    }

    pub(crate) fn bounds(&self) -> [[f32; 3]; 2] {
        bounds(self.0.iter().map(|p| xyz(*p)))
    }
}

const SIDES: [[usize; 4]; 4] = [[0, 1, 2, 3], [3, 7, 11, 15], [15, 14, 13, 12], [12, 8, 4, 0]];

impl Surface {
    /// Creates a surface of bicubic Bezier patches. Each has 16 indices into `points`: rows along u, in the order of v,
    /// counter-clockwise as seen from the front. Texture coordinates are the parameters of the patch.
    ///
    /// Patches with equal control points along a side are adjacent. A side may be one point, as on the lid of the teapot.
    ///
    /// # Errors
    /// [`Error::Argument`] when an index is out of range or a point is not finite.
    pub fn bezier(points: &[[f32; 3]], patches: &[[u32; 16]], material: Material) -> Result<Self> {
        let mut cubics = Vec::with_capacity(patches.len());
        for (number, patch) in patches.iter().enumerate() {
            let mut control = [[0.0; 3]; 16];
            for (slot, &index) in control.iter_mut().zip(patch) {
                let point = points.get(index as usize);
                let finite = point.filter(|p| p.iter().all(|x| x.is_finite()));
                *slot = *finite.ok_or_else(|| {
                    let what = format!("Bezier patch {number}");
                    let found = format!("index {index}");
                    Error::argument(what, "indices of finite control points", found)
                })?;
            }
            cubics.push(BicubicPatch::new(control));
        }
        let owners = Owners::new(cubics.iter().map(keys));
        let patch_materials = PatchMaterials::single(material);
        Ok(Self::new(BezierSurface(cubics), patches.len(), owners, patch_materials))
    }
}

#[derive(Debug)]
struct BezierSurface(Vec<BicubicPatch>);

impl Geometry for BezierSurface {
    fn position(&self, patch: usize, u: f32, v: f32) -> [f32; 3] {
        self.0[patch].position(u, v)
    }
    fn point(&self, patch: usize, u: f32, v: f32) -> SurfacePoint {
        self.0[patch].point(u, v)
    }
    fn patch_bounds(&self, patch: usize) -> [[f32; 3]; 2] {
        self.0[patch].bounds()
    }
}

/// Bits of the coordinates of a point, with -0 replaced by 0.
fn bits(point: [f32; 4]) -> [u32; 3] {
    [point[0], point[1], point[2]].map(|x| (x + 0.0).to_bits())
}

/// Keys of a patch's sides and corners: positions of control points.
fn keys(patch: &BicubicPatch) -> PatchKeys<[[u32; 3]; 4], [u32; 3]> {
    let point = |i: usize| bits(patch.0[i]);
    let sides = SIDES.map(|side| side.map(point));
    PatchKeys {
        sides: sides.map(|there| {
            let mut back = there;
            back.reverse();
            (there.min(back), back < there)
        }),
        // Files do not tell which adjacent patches form an angle, so each patch keeps its own normals.
        smooth_sides: [false; 4],
        point_sides: sides.map(|side| side.iter().all(|p| *p == side[0])),
        corners: [0, 3, 15, 12].map(point),
        smooth_corners: [false; 4],
    }
}
