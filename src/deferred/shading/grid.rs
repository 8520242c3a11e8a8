//! The shading grid of a triangle: from barycentrics to the nearest grid point, and back (section 3, figure 3).
//!
//! A hit moves to the position of its point of the triangle half-way through the exposure, seen through the centre of the
//! lens, and takes the colour of the grid cell there. The cells of the pixel grid are the pixels of the picture, so that a
//! triangle without blur is shaded as by multisampling. A grid of larger cells is fitted to the triangle.

use std::sync::Arc;

use fearless_simd::{Simd, f32x16, prelude::*, u32x16};
use nalgebra::Vector3;

use super::adaptive::{Blur, Spacing};
use super::bands::Bands;
use super::cells::{Cells, morton_lanes};
use super::grid_view::{GridRule, GridView, SUBPIXELS};
use super::region::Region;
use super::spid::Spid;
use crate::raster::triangle::MovingTriangle;
use quadrille_base::math::whole;
use quadrille_geometry::camera::HomogeneousPoint;
use quadrille_mesh::shade::TrianglePlanes;

const BARYCENTRIC_CELLS: f32 = 2048.0;

/// Shading grid of a triangle, which maps hits to shading points and shading points to positions.
#[derive(Debug, Clone, PartialEq)]
pub struct ShadingGrid {
    /// Corners in shading space: column and row in pixels from the picture's centre, times `Z`, and `Z`.
    corners: [[f32; 3]; 3],
    /// Distance of the near plane if a part of the triangle is nearer, whose hits are moved to the near plane; otherwise 0.
    near: f32,
    /// Cells of a triangle that is not cut into bands.
    cells: Cells,
    /// Bands with their own cells; most triangles have none.
    bands: Option<Arc<Bands>>,
    /// Whether the grid divides barycentric coordinates, because the triangle has no position on the picture.
    pub is_barycentric: bool,
    /// Whether the cells are enlarged, because cells of the regular size would exceed the largest grid.
    pub is_coarsened: bool,
}

impl ShadingGrid {
    /// Creates the grid of a triangle half-way through the exposure or, if the triangle is edge on then or has a corner
    /// nearer than the near plane, at one of the ends. If a corner is too near at all three times, the grid covers the part
    /// beyond the near plane. If no part has a position at any time, 2048x2048 cells divide the barycentrics.
    pub fn new(triangle: &MovingTriangle, view: &GridView) -> Self {
        let blur = match view.rule {
            GridRule::Pixel => None,
            GridRule::Adaptive { quality } => Some(Blur::new(triangle, &view.shear, quality)),
        };
        let spacing = blur.as_ref().map_or(Spacing::PIXEL, Blur::whole);
        let instants = [0.5, 0.0, 1.0].into_iter().map(|time| triangle.at(time));
        let Some(region) = Region::first(instants, view, spacing.with_px([1.0; 2]).basis()) else {
            return Self::barycentric();
        };
        let cells = Cells::new(&region, &spacing, view.centre);
        Self {
            corners: region.corners,
            near: region.near,
            cells,
            bands: blur.and_then(|blur| Bands::new(&region, &blur, &cells, view)).map(Arc::new),
            is_barycentric: false,
            is_coarsened: cells.is_coarsened,
        }
    }

    pub(crate) fn barycentric() -> Self {
        let side = BARYCENTRIC_CELLS;
        Self {
            corners: [[0.0, 0.0, 1.0], [side, 0.0, 1.0], [0.0, side, 1.0]],
            near: 0.0,
            cells: Cells::at(&Spacing::PIXEL, [0.0; 2], [f64::from(side) - 1.0; 2]),
            bands: None,
            is_barycentric: true,
            is_coarsened: false,
        }
    }

    /// Morton position ([`Spid::morton`]) of the grid point nearest to a hit, given the weights up to a common factor.
    pub fn map(&self, weights: [f32; 3]) -> u32 {
        let mix = |k: usize| {
            (weights[0] * self.corners[0][k] + weights[1] * self.corners[1][k])
                + weights[2] * self.corners[2][k]
        };
        let mut z = mix(2);
        if self.near > 0.0 {
            let sum = weights[0] + weights[1] + weights[2];
            let least = self.near * sum;
            z = if (z - least) * sum > 0.0 { z } else { least };
        }
        let place = [mix(0) / z, mix(1) / z].map(|v| (v * SUBPIXELS + 0.5).floor() / SUBPIXELS);
        let cells = self.bands.as_ref().map_or(&self.cells, |bands| bands.at(place));
        Spid::new(0, cells.cell(place).map(whole)).morton
    }

    /// [`ShadingGrid::map`] for sixteen hits at once.
    #[inline(always)]
    pub(crate) fn map_lanes<S: Simd>(&self, simd: S, weights: [f32x16<S>; 3]) -> u32x16<S> {
        let mut z = self.mix(weights, 2);
        if self.near > 0.0 {
            let sum = weights[0] + weights[1] + weights[2];
            let least = sum * self.near;
            let is_beyond = ((z - least) * sum).simd_gt(f32x16::splat(simd, 0.0));
            z = is_beyond.select(z, least);
        }
        let place = [rounded(self.mix(weights, 0) / z), rounded(self.mix(weights, 1) / z)];
        morton_lanes(match &self.bands {
            Some(bands) => bands.cell_lanes(simd, place),
            None => self.cells.cell_lanes(simd, place),
        })
    }

    #[inline(always)]
    fn mix<S: Simd>(&self, weights: [f32x16<S>; 3], k: usize) -> f32x16<S> {
        (weights[0] * self.corners[0][k] + weights[1] * self.corners[1][k])
            + weights[2] * self.corners[2][k]
    }

    /// Position of a grid point in shading space, in pixels from the picture's centre. The point may lie outside the grid.
    pub fn position(&self, point: [i32; 2]) -> [f64; 2] {
        let bands = self.bands.as_ref();
        bands.map_or(&self.cells, |bands| bands.of_point(point)).position(point)
    }

    pub(super) fn has_bands(&self) -> bool {
        self.bands.is_some()
    }

    /// Barycentrics as a function of the position in shading space; `None` for a triangle without an area.
    pub fn planes(&self) -> Option<TrianglePlanes> {
        TrianglePlanes::from_seen(self.corners.map(|p| {
            let [xz, yz, z] = p.map(f64::from);
            HomogeneousPoint { xz, yz, z }
        }))
    }

    /// Whether the front is visible in shading space; true for a barycentric grid, for which it is unknown.
    pub fn is_front(&self) -> bool {
        let [a, b, c] = self.corners.map(|p| Vector3::from(p.map(f64::from)));
        self.is_barycentric || a.dot(&b.cross(&c)) < 0.0
    }
}

/// Rounds positions to subpixels.
#[inline(always)]
fn rounded<S: Simd>(v: f32x16<S>) -> f32x16<S> {
    (v * SUBPIXELS + 0.5).floor() / SUBPIXELS
}

#[cfg(test)]
mod tests {
    use fearless_simd::dispatch;

    use super::*;
    use crate::camera::lens::LensShear;
    use quadrille_base::math::{SimdLevel, narrow};

    const VIEW: GridView = GridView {
        rule: GridRule::Pixel,
        shear: LensShear { a: [0.0; 2], b: [0.0; 2] },
        near: 0.5,
        centre: [32.0, 16.5],
        reach_px: 96.0,
    };

    fn triangle(corners: [[[f64; 3]; 2]; 3]) -> MovingTriangle {
        MovingTriangle::unculled(corners, 1)
    }

    fn still() -> MovingTriangle {
        triangle([[[-7.5, 3.0, 2.0]; 2], [[2.0, 40.0, 4.0]; 2], [[30.0, 2.0, 3.0]; 2]])
    }

    #[test]
    fn cells_are_pixels_and_points_come_back() {
        let grid = ShadingGrid::new(&still(), &VIEW);
        let planes = grid.planes().unwrap();
        let [columns, rows] = grid.cells.last.map(whole);
        assert!(columns > 10 && rows > 5);
        let mut inside = 0;
        for row in 0..rows {
            for column in 0..columns {
                let [x, y] = grid.position([column, row]);
                // Grid points are centres of pixels of the picture.
                assert_eq!([x, y].map(f64::fract).map(f64::abs), [0.5, 0.0]);
                let at = planes.at(x, y);
                if at.weights.iter().all(|w| *w > 0.01) {
                    inside += 1;
                    let point =
                        Spid { primitive: 1, morton: grid.map(at.weights.map(narrow)) }.point();
                    assert_eq!(point.map(i32::from), [column, row]);
                }
            }
        }
        assert!(inside > 20, "{inside}");
        let corner = grid.position([0, 0]);
        // Shading quads are quads of the picture.
        let picture = [corner[0] + 32.0 - 0.5, corner[1] + 16.5 - 0.5];
        assert!(picture.iter().all(|v| v % 2.0 == 0.0), "{picture:?}");
    }

    #[test]
    fn grids_of_moving_triangles_lie_half_way() {
        let [a, b, c] = still().start.map(|p| p.map(f64::from));
        let by = |[x, y, z]: [f64; 3]| [[x, y, z], [x + 8.0 * z, y, z]];
        let moving = ShadingGrid::new(&triangle([by(a), by(b), by(c)]), &VIEW);
        let grid = ShadingGrid::new(&still(), &VIEW);
        assert_eq!(moving.cells.first[0], grid.cells.first[0] + 4.0);
        assert_eq!(moving.cells.last, grid.cells.last);
        // Half-way through the exposure the triangle is nearer than the near plane.
        let near = [a, b, c].map(|[x, y, z]| [[x, y, z], [x, y, -1.5]]);
        assert_eq!(ShadingGrid::new(&triangle(near), &VIEW).corners, grid.corners);
        let never = [a, b, c].map(|[x, y, _]| [[x, y, 0.1], [x, y, 0.2]]);
        let never = ShadingGrid::new(&triangle(never), &VIEW);
        assert!(never.is_barycentric && never.is_front());
        let middle = Spid { primitive: 1, morton: never.map([1.0, 1.0, 2.0]) };
        assert_eq!(middle.point(), [512, 1024]);
        let edge_on = [a, b, b].map(|p| [p, p]);
        assert!(ShadingGrid::new(&triangle(edge_on), &VIEW).is_barycentric);
    }

    fn floor() -> ShadingGrid {
        let corners = [[-500.0, 10.0, -20.0], [500.0, 10.0, -20.0], [0.0, 10.0, 10.0]];
        ShadingGrid::new(&triangle(corners.map(|p| [p; 2])), &VIEW)
    }

    #[test]
    fn points_nearer_than_the_near_plane_are_moved_to_it() {
        let grid = floor();
        assert!(!grid.is_barycentric && !grid.is_coarsened && grid.is_front());
        // Rows 1 to 20 of the picture's lower half; the centre lies at row 16.5.
        assert_eq!(grid.cells.first[1], 1.5 - 2.0);
        let point = |weights: [f32; 3]| {
            let morton = grid.map(weights);
            Spid { primitive: 1, morton }.point()
        };
        let farthest = point([0.0, 0.0, 1.0]);
        let near = point([0.325, 0.325, 0.35]);
        assert!(farthest[1] <= 1 && f32::from(near[1]) == grid.cells.last[1]);
        // Half-way to the corners behind the eye, for weights with a common factor of either sign.
        for factor in [1.0, -4.0] {
            assert_eq!(point([0.25, 0.25, 0.5].map(|w: f32| factor * w)), near);
        }
    }

    fn fitted(by: [f64; 2], coc: f32) -> (ShadingGrid, [f64; 2]) {
        let quality = 0.5;
        let view = GridView {
            rule: GridRule::Adaptive { quality },
            shear: LensShear { a: [coc / 2.0; 2], b: [0.0; 2] },
            ..VIEW
        };
        let corners = still().start.map(|p| p.map(f64::from));
        let moved = |k: f64, [x, y, z]: [f64; 3]| [x + k * by[0] * z, y + k * by[1] * z, z];
        let moving = triangle(corners.map(|p| [moved(-0.5, p), moved(0.5, p)]));
        let asked = Blur::new(&moving, &view.shear, quality).whole().px;
        (ShadingGrid::new(&moving, &view), asked)
    }

    #[test]
    fn grids_of_blurred_triangles_are_fitted_to_them() {
        let planes = TrianglePlanes::from_seen(still().start.map(|p| {
            let [xz, yz, z] = p.map(f64::from);
            HomogeneousPoint { xz, yz, z }
        }));
        let planes = planes.unwrap();
        for (by, coc) in [
            ([9.0, 0.0], 0.0),
            ([3.0, -9.0], 0.0),
            ([0.0, 60.0], 1.0),
            ([0.0, 0.0], 3.0),
            ([-5.0, 2.0], 20.0),
        ] {
            let (grid, asked) = fitted(by, coc);
            assert!(!grid.is_coarsened && !grid.is_barycentric);
            let places = grid.corners.map(|[x, y, z]| {
                let [x, y] = [x, y].map(|v| f64::from(v / z));
                grid.cells.basis.map(|[a, b]| f64::from(a) * x + f64::from(b) * y)
            });
            for k in 0..2 {
                let [a, b, c] = places.map(|place| place[k]);
                let (least, greatest) = (a.min(b).min(c), a.max(b).max(c));
                let [columns, first] =
                    [grid.cells.last[k] + 1.0, grid.cells.first[k]].map(f64::from);
                let close = |a: f64, b: f64| (a - b).abs() < 0.02;
                // Whole quads, with the same margin on both sides of the triangle.
                assert_eq!(columns % 2.0, 0.0);
                assert!(close(least - first, first + columns - greatest), "{by:?} {coc}");
                let [a, b] = grid.cells.basis[k].map(f64::from);
                let side = 1.0 / a.hypot(b);
                assert!(side > 0.999 && side < asked[k] + 0.01, "{side} {asked:?}");
                // No margin unless a quad of pixels is larger than the triangle.
                assert!(side < 1.001 || close(greatest - least, columns), "{by:?} {coc}");
                // One quad fewer would need cells that are too large.
                let size = (greatest - least) * side;
                assert!(columns < 2.5 || size / (columns - 2.0) > asked[k] - 0.01);
            }
            #[allow(clippy::cast_possible_truncation, reason = "small grids")]
            let last = grid.cells.last.map(|v| v as i32);
            let mut inside = 0;
            for (row, column) in (0..=last[1]).flat_map(|r| (0..=last[0]).map(move |c| (r, c))) {
                let [x, y] = grid.position([column, row]);
                let weights = planes.at(x, y).weights;
                if weights.iter().all(|w| *w > 0.02) {
                    inside += 1;
                    let morton = grid.map(weights.map(narrow));
                    let point = Spid { primitive: 1, morton }.point();
                    assert_eq!(point.map(i32::from), [column, row], "{by:?} {coc}");
                }
            }
            assert!(inside > 0, "{by:?} {coc}");
        }
    }

    #[test]
    fn huge_grids_are_coarsened() {
        let huge = triangle([[[-1e6, 0.0, 1.0]; 2], [[0.0, 1e5, 1.0]; 2], [[1e6, 0.0, 1.0]; 2]]);
        for rule in [GridRule::Pixel, GridRule::Adaptive { quality: 0.5 }] {
            let reach_px = f64::INFINITY;
            let grid = ShadingGrid::new(&huge, &GridView { rule, reach_px, ..VIEW });
            assert!(grid.is_coarsened && !grid.is_barycentric);
            assert_eq!(grid.cells.last, [65_535.0; 2]);
            let corner = |weights| {
                let morton = grid.map(weights);
                Spid { primitive: 1, morton }.point()
            };
            assert_eq!(corner([0.0, 1.0, 0.0])[1], 65_535);
            assert_eq!(corner([1.0, 0.0, 0.0]), [0, 0]);
            assert_eq!(corner([0.0, 0.0, 1.0]), [65_535, 0]);
        }
    }

    fn through_focus() -> ShadingGrid {
        let view = GridView {
            rule: GridRule::Adaptive { quality: 0.5 },
            shear: LensShear { a: [20.0; 2], b: [-60.0; 2] },
            ..VIEW
        };
        let corners = [[-60.0, -80.0, 2.0], [120.0, 90.0, 4.0], [-90.0, 400.0, 20.0]];
        let grid = ShadingGrid::new(&triangle(corners.map(|p| [p; 2])), &view);
        assert!(grid.bands.is_some());
        grid
    }

    #[test]
    fn lanes_map_to_the_same_points() {
        let grids = [
            ShadingGrid::new(&still(), &VIEW),
            fitted([3.0, -9.0], 2.0).0,
            floor(),
            through_focus(),
        ];
        for level in SimdLevel::all() {
            for grid in &grids {
                for round in 0..64_u32 {
                    let weight = |k: u32, lane: usize| {
                        let v = (round * 977 + k * 313 + u32::try_from(lane).unwrap() * 71) % 1009;
                        if v == 5 { f32::NAN } else { -(v as f32) / 17.0 }
                    };
                    let lanes =
                        [0, 1, 2].map(|k| -> [f32; 16] { std::array::from_fn(|l| weight(k, l)) });
                    let mut found = [0_u32; 16];
                    dispatch!(level.level(), simd => {
                        let lanes = lanes.map(|l| f32x16::from_slice(simd, &l));
                        grid.map_lanes(simd, lanes).store_slice(&mut found);
                    });
                    let expected: [u32; 16] =
                        std::array::from_fn(|l| grid.map(lanes.map(|w| w[l])));
                    assert_eq!(found, expected, "{}", level.name());
                }
            }
        }
    }
}
