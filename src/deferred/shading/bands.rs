//! Bands of large triangles that reach from focus to far out of focus: parts with cells of their own sizes.
//!
//! The circle of confusion is an affine function of the position on the picture, since `1 / Z` is affine. Lines of equal
//! circles of confusion cut the triangle into strips. Each strip has cells for its own smallest blur, in its own
//! bounding rectangle. The rectangles stand side by side in the shading grid, so that identifiers remain unique.

use fearless_simd::{Simd, f32x16, prelude::*};
use nalgebra::Vector3;

use super::adaptive::{Blur, MOST_PX};
use super::cells::Cells;
use super::grid_view::GridView;
use super::region::Region;
use super::spid::MAX_GRID_SIDE;
use quadrille_base::math::{narrow, whole};
use quadrille_geometry::camera::HomogeneousPoint;
use quadrille_mesh::shade::TrianglePlanes;

/// Ratio of cell sides in neighbouring bands.
const STEP: f64 = std::f64::consts::SQRT_2;
/// Triangles with a smaller ratio of largest to smallest cell side are not cut.
const LEAST_RANGE: f64 = 2.0;
/// Triangles with fewer quads in their bounding rectangle are not cut (assumed).
const LEAST_QUADS: f64 = 16.0;

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Bands {
    /// Circle of confusion in pixels: coefficients of column and row, and constant. Negative in front of the focus.
    coc: [f32; 3],
    /// Band with the smallest (most negative) circles of confusion.
    first: Cells,
    /// Other bands with the smallest circle of confusion of each, in ascending order.
    others: Vec<(f32, Cells)>,
}

/// Position in shading space with its circle of confusion.
type Corner = ([f64; 2], f64);

impl Bands {
    /// Cuts a triangle in a region into bands; `all` are the cells without bands. `None` if the region is small, blur
    /// hardly varies, bands would save no quads, or they would have too many cells.
    pub(super) fn new(
        region: &Region,
        blur: &Blur<'_>,
        all: &Cells,
        view: &GridView,
    ) -> Option<Self> {
        let [columns, rows] = all.sides();
        // Hits nearer than the near plane half-way through the exposure have a known blur only if depths do not change.
        let is_unknown = region.near > 0.0 && blur.moves_in_depth();
        if columns * rows / 4.0 < LEAST_QUADS || all.is_coarsened || is_unknown {
            return None;
        }
        let coc = coc_on_picture(region, blur.coc_by_nearness())?;
        let at = |[x, y]: [f64; 2]| coc[0] * x + coc[1] * y + coc[2];
        let places = region.polygon(view);
        let polygon: Vec<Corner> = places.iter().map(|p| (*p, at(*p))).collect();
        let range = range(&polygon);
        let most = blur.with_coc(range[0].abs().max(range[1].abs()));
        let whole = blur.whole();
        if (0..2).all(|k| most.px[k] < LEAST_RANGE * whole.px[k]) {
            return None;
        }
        let ends = cuts(blur, range, coc[0].hypot(coc[1]));
        let (mut bands, quads) = strips(region, &polygon, &ends, blur, view)?;
        if quads >= area_px(&places) * all.quads_per_px() || !side_by_side(&mut bands) {
            return None;
        }
        let mut bands = bands.into_iter().map(|(least, cells)| (narrow(least), cells));
        let (_, first) = bands.next()?;
        Some(Self { coc: coc.map(narrow), first, others: bands.collect() })
    }

    pub(super) fn at(&self, place: [f32; 2]) -> &Cells {
        let coc = self.coc[0] * place[0] + self.coc[1] * place[1] + self.coc[2];
        let above = self.others.iter().rev().find(|(least, _)| coc >= *least);
        above.map_or(&self.first, |(_, cells)| cells)
    }

    #[inline(always)]
    pub(super) fn cell_lanes<S: Simd>(&self, simd: S, place: [f32x16<S>; 2]) -> [f32x16<S>; 2] {
        let coc = place[0] * self.coc[0] + place[1] * self.coc[1] + self.coc[2];
        let mut found = self.first.cell_lanes(simd, place);
        for (least, cells) in &self.others {
            let is_above = coc.simd_ge(f32x16::splat(simd, *least));
            let cells = cells.cell_lanes(simd, place);
            found = [is_above.select(cells[0], found[0]), is_above.select(cells[1], found[1])];
        }
        found
    }

    pub(super) fn of_point(&self, point: [i32; 2]) -> &Cells {
        let holds = |cells: &&Cells| (0..2).all(|k| point[k] >= i32::from(cells.offset[k]));
        self.others.iter().map(|(_, cells)| cells).rev().find(holds).unwrap_or(&self.first)
    }
}

fn homogeneous(corner: [f32; 3]) -> HomogeneousPoint {
    let [xz, yz, z] = corner.map(f64::from);
    HomogeneousPoint { xz, yz, z }
}

/// Coefficients of [`Bands::coc`] from the function of `1 / Z`; `None` for a triangle without an area.
fn coc_on_picture(region: &Region, [far, near]: [f64; 2]) -> Option<[f64; 3]> {
    let [a, b, c] = region.corners.map(|p| Vector3::from(p.map(f64::from)));
    // 1 / Z = n . (x, y, 1) at all corners.
    let normal = b.cross(&c) + c.cross(&a) + a.cross(&b);
    let nearness = normal / a.dot(&b.cross(&c));
    let coc = [near * nearness.x, near * nearness.y, near * nearness.z + far];
    coc.iter().all(|v| v.is_finite()).then_some(coc)
}

fn range(polygon: &[Corner]) -> [f64; 2] {
    polygon.iter().fold([f64::INFINITY, f64::NEG_INFINITY], |[least, most], (_, coc)| {
        [least.min(*coc), most.max(*coc)]
    })
}

/// Circles of confusion at which bands meet, in ascending order. `slope` is their change per pixel; each strip is at least
/// one quad wide.
fn cuts(blur: &Blur<'_>, [least, most]: [f64; 2], slope: f64) -> Vec<f64> {
    let mut before = outwards(blur, [(-most).max(0.0), -least], slope);
    before.reverse();
    let mut cuts: Vec<_> = before.into_iter().map(|coc| -coc).collect();
    cuts.extend(outwards(blur, [least.max(0.0), most], slope));
    cuts
}

/// [`cuts`] for one side of the plane in focus, with circles of confusion as positive numbers.
fn outwards(blur: &Blur<'_>, [least, most]: [f64; 2], slope: f64) -> Vec<f64> {
    let quad = |coc: f64| 2.0 * blur.with_coc(coc).px[1] * slope;
    let mut cuts = Vec::new();
    let mut from = least;
    let mut side = STEP;
    while side <= MOST_PX * 1.001 {
        let coc = blur.coc_for(side);
        side *= STEP;
        if coc - from >= quad(from) && most - coc >= quad(coc) {
            cuts.push(coc);
            from = coc;
        }
    }
    cuts
}

/// Cells of each strip with its smallest circle of confusion, and total number of quads; `None` if a strip is too thin.
fn strips(
    region: &Region,
    polygon: &[Corner],
    ends: &[f64],
    blur: &Blur<'_>,
    view: &GridView,
) -> Option<(Vec<(f64, Cells)>, f64)> {
    let planes = TrianglePlanes::from_seen(region.corners.map(homogeneous))?;
    let (mut least, mut quads) = (f64::NEG_INFINITY, 0.0);
    let mut bands = Vec::with_capacity(ends.len() + 1);
    for &end in ends.iter().chain([&f64::INFINITY]) {
        let places: Vec<_> = strip(polygon, [least, end]).into_iter().map(|c| c.0).collect();
        let weights: Vec<_> = places.iter().map(|[x, y]| planes.at(*x, *y).weights).collect();
        let spacing = blur.spacing(&weights);
        let part = region.within(&places, spacing.with_px([1.0; 2]).basis())?;
        let cells = Cells::new(&part, &spacing, view.centre);
        quads += area_px(&places) * cells.quads_per_px();
        bands.push((least, cells));
        least = end;
    }
    Some((bands, quads))
}

/// Clips a convex polygon to a range of circles of confusion.
fn strip(polygon: &[Corner], [least, most]: [f64; 2]) -> Vec<Corner> {
    cut(&cut(polygon, least, |coc| coc >= least), most, |coc| coc <= most)
}

fn cut(polygon: &[Corner], bound: f64, keeps: impl Fn(f64) -> bool) -> Vec<Corner> {
    let mut kept = Vec::with_capacity(polygon.len() + 1);
    for (k, to) in polygon.iter().enumerate() {
        let from = &polygon[(k + polygon.len() - 1) % polygon.len()];
        if keeps(from.1) != keeps(to.1) {
            let share = (bound - from.1) / (to.1 - from.1);
            let place = [0, 1].map(|k| from.0[k] + (to.0[k] - from.0[k]) * share);
            kept.push((place, bound));
        }
        if keeps(to.1) {
            kept.push(*to);
        }
    }
    kept
}

fn area_px(polygon: &[[f64; 2]]) -> f64 {
    let twice: f64 = (0..polygon.len())
        .map(|k| {
            let ([a, b], [c, d]) = (polygon[k], polygon[(k + 1) % polygon.len()]);
            a * d - b * c
        })
        .sum();
    twice.abs() / 2.0
}

/// Sets the offsets of the bands along the shorter side of the grid; false if they do not fit.
fn side_by_side(bands: &mut [(f64, Cells)]) -> bool {
    let sum = |k: usize| bands.iter().map(|(_, cells)| cells.sides()[k]).sum::<f64>();
    let k = usize::from(sum(1) < sum(0));
    if sum(k) > f64::from(MAX_GRID_SIDE) || bands.iter().any(|(_, cells)| cells.is_coarsened) {
        return false;
    }
    let mut next = 0.0;
    for (_, cells) in bands {
        cells.offset[k] = whole(next);
        next += cells.sides()[k];
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::camera::lens::Lens;
    use crate::raster::triangle::MovingTriangle;
    use crate::shading::adaptive::Spacing;
    use crate::shading::grid_view::GridRule;

    const QUALITY: f64 = 0.5;

    fn view() -> GridView {
        let lens = Lens::from_blur_at_infinity(40.0, 300.0, 4.0).unwrap();
        GridView {
            rule: GridRule::Adaptive { quality: QUALITY },
            shear: lens.shear([300.0; 2]),
            near: 0.25,
            centre: [160.0, 90.5],
            reach_px: 480.0,
        }
    }

    fn bands(places: [[f64; 2]; 3], distances: [f64; 3]) -> (Option<Bands>, Cells) {
        let corners = [0, 1, 2].map(|i: usize| {
            let ([x, y], z) = (places[i], distances[i]);
            [[x * z, y * z, z]; 2]
        });
        let (view, triangle) = (view(), MovingTriangle::unculled(corners, 1));
        let blur = Blur::new(&triangle, &view.shear, QUALITY);
        let spacing = blur.whole();
        let axes = spacing.with_px([1.0; 2]).basis();
        let region = Region::first(std::iter::once(triangle.start), &view, axes).unwrap();
        let all = Cells::new(&region, &spacing, view.centre);
        (Bands::new(&region, &blur, &all, &view), all)
    }

    const LARGE: [[f64; 2]; 3] = [[-100.0, -60.0], [120.0, -50.0], [10.0, 80.0]];

    #[test]
    fn bands_are_coarser_away_from_focus_and_stand_side_by_side() {
        let (found, all) = bands(LARGE, [2.0, 3.0, 20.0]);
        let found = found.unwrap();
        assert_eq!(all.quads_per_px(), 0.25);
        let each: Vec<_> = std::iter::once(&found.first)
            .chain(found.others.iter().map(|(_, cells)| cells))
            .collect();
        assert!(each.len() >= 6, "{found:?}");
        let density: Vec<_> = each.iter().map(|cells| cells.quads_per_px()).collect();
        let sharp = density.iter().position(|d| *d == 0.25).unwrap();
        assert!(density[..=sharp].is_sorted() && density[sharp..].is_sorted_by(|a, b| a >= b));
        assert!(density[0] < 0.25 / 8.0, "{density:?}");
        let k = usize::from(each[1].offset[0] == 0);
        for pair in each.windows(2) {
            assert_eq!(
                f64::from(pair[1].offset[k]),
                f64::from(pair[0].offset[k]) + pair[0].sides()[k]
            );
            assert!(pair[1].offset[k] % 2 == 0 && pair[1].offset[1 - k] == 0);
        }
        for (number, cells) in each.into_iter().enumerate() {
            let first = cells.offset.map(i32::from);
            let last = [0, 1].map(|k| first[k] + whole::<i32>(cells.last[k]));
            assert_eq!(found.of_point(first), cells, "{number}");
            assert_eq!(found.of_point(last), cells, "{number}");
        }
    }

    #[test]
    fn small_triangles_and_triangles_of_similar_blur_are_not_cut() {
        let small = LARGE.map(|place| place.map(|v| v / 25.0));
        assert!(bands(small, [2.0, 3.0, 20.0]).0.is_none());
        // Circles of confusion of 20 to 30 pixels.
        assert!(bands(LARGE, [8.0, 10.0, 16.0]).0.is_none());
        // Cells have the largest side everywhere.
        assert!(bands(LARGE, [0.5, 0.6, 0.8]).0.is_none());
        // All points are at the same distance.
        assert!(bands(LARGE, [4.5; 3]).0.is_none());
    }

    #[test]
    fn bands_that_do_not_fit_side_by_side_are_refused() {
        let cells = |sides: [f64; 2]| {
            let cells = Cells::at(&Spacing::PIXEL, [0.0; 2], sides.map(|side| side - 1.0));
            (0.0, cells)
        };
        let mut fits = [cells([40_000.0, 32_767.0]), cells([40_000.0, 32_768.0])];
        assert!(side_by_side(&mut fits));
        assert_eq!(fits.map(|(_, cells)| cells.offset), [[0, 0], [0, 32_768]]);
        let mut over = [cells([40_000.0, 32_767.0]), cells([40_000.0, 32_769.0])];
        assert!(!side_by_side(&mut over));
    }
}
