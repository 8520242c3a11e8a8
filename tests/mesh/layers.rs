//! Layers of a frame against rays in double precision: one through every sample, to the nearest triangle.

use nalgebra::Vector3;
use quadrille::Layer;
use quadrille::mesh::frame::{Cull, VisibleFrame};
use quadrille::mesh::grid::{Grid, GridSource, GridVertex};
use quadrille::raster::samples::SamplePattern;

use crate::support::mesh::{SIZE, crossing, cubes, pattern, settings, view, waves};

/// What a ray meets first: distance along the line of sight, normal, number of the triangle.
type Hit = (f64, Vector3<f64>, u32);

/// Layers of a pixel: depth, normal, coverage, number of the triangle.
type Layers = (f64, [f64; 3], f64, u32);

/// The nearest triangle that shows a side which is drawn, beyond the near plane.
fn cast(ray: Vector3<f64>, grids: &[(u32, Grid, bool)]) -> Option<Hit> {
    let camera = view();
    let seen = |v: &GridVertex| {
        let p = Vector3::from(v.position.map(f64::from));
        camera.camera.view_from_world * p + camera.camera.translation_in_view
    };
    let mut nearest: Option<Hit> = None;
    for (first, grid, two_sided) in grids {
        for (number, corners) in (0..).zip(&grid.topology.triangles) {
            let vertices = corners.map(|corner| &grid.vertices[usize::from(corner)]);
            let [a, b, c] = vertices.map(seen);
            // Signed volumes: the ray passes inside if all have the same sign.
            let volumes = [b.cross(&c), c.cross(&a), a.cross(&b)].map(|n| n.dot(&ray));
            let sum: f64 = volumes.iter().sum();
            let [u, v, w] = volumes.map(|volume| volume / sum);
            if !(u >= 0.0 && v >= 0.0 && w >= 0.0) {
                continue;
            }
            let z = (a * u + b * v + c * w).z;
            let normal = (b - a).cross(&(c - a));
            let is_front = normal.dot(&ray) < 0.0;
            let is_behind = nearest.as_ref().is_some_and(|(other, ..)| z >= *other);
            if z < camera.near || is_behind || !(is_front || *two_sided) {
                continue;
            }
            let given = [0, 1, 2].map(|k| Vector3::from(vertices[k].normal.map(f64::from)));
            let mixed = given[0] * u + given[1] * v + given[2] * w;
            let mixed = camera.camera.view_from_world * mixed;
            let side = if is_front { 1.0 } else { -1.0 };
            nearest = Some((z, mixed.normalize() * side, first + number));
        }
    }
    nearest
}

/// Depth, normal, identifier and coverage of a pixel by rays through its samples, and whether all samples
/// show the same triangle.
fn by_rays(
    [x, y]: [u32; 2],
    pattern: &SamplePattern,
    grids: &[(u32, Grid, bool)],
) -> (Option<Layers>, bool) {
    let camera = view().camera;
    let offsets = &pattern.offsets()[..pattern.count() as usize];
    let hits: Vec<Option<Hit>> = offsets
        .iter()
        .map(|offset| {
            let px = f64::from(x) + f64::from(offset[0]) / 256.0;
            let py = f64::from(y) + f64::from(offset[1]) / 256.0;
            let ray = Vector3::new(
                (px - camera.principal_px[0]) / camera.focal_px[0],
                (py - camera.principal_px[1]) / camera.focal_px[1],
                1.0,
            );
            cast(ray, grids)
        })
        .collect();
    let id = |hit: &Option<Hit>| hit.as_ref().map(|hit| hit.2);
    let is_alone = hits.iter().all(|hit| id(hit) == id(&hits[0]));
    let shown: Vec<Hit> = hits.iter().flatten().copied().collect();
    if shown.is_empty() {
        return (None, is_alone);
    }
    let count = shown.len() as f64;
    let depth = shown.iter().map(|hit| hit.0).sum::<f64>() / count;
    let normal = shown.iter().map(|hit| hit.1).sum::<Vector3<f64>>() / offsets.len() as f64;
    let coverage = count / offsets.len() as f64;
    (Some((depth, normal.into(), coverage, shown[0].2)), is_alone)
}

/// Compares all pixels; returns the share of those whose outlines differ, since the raster snaps corners
/// to 1/256 px.
fn differing(source: &dyn GridSource, samples: u32) -> f64 {
    let pattern = pattern(samples);
    let settings = settings(pattern, Cull::Quads);
    let visible = VisibleFrame::new(source, &view(), &view(), &settings).unwrap();
    let wanted = [Layer::Id, Layer::Depth, Layer::Normal, Layer::Alpha];
    let layers = visible.layers(&wanted);
    let [id, depth, normal, coverage] = &layers[..] else {
        panic!("{} layers", layers.len());
    };
    let (mut grids, mut first) = (Vec::new(), 0);
    for batch in 0..source.batches() {
        let mut new = Vec::new();
        source.grids(batch, &view(), &mut new);
        for grid in new {
            let triangles = grid.topology.triangles.len() as u32;
            let two_sided = source.materials()[grid.material as usize].two_sided;
            grids.push((first, grid, two_sided));
            first += triangles;
        }
    }
    let (mut covered, mut differing) = (0, 0);
    for at in 0..SIZE[0] * SIZE[1] {
        let (expected, is_alone) = by_rays([at % SIZE[0], at / SIZE[0]], pattern, &grids);
        let at = at as usize;
        let found = coverage.plane(0)[at];
        let Some((z, n, share, triangle)) = expected else {
            differing += u32::from(found != 0.0);
            if found == 0.0 {
                assert_eq!((id.whole()[at], depth.plane(0)[at]), (u32::MAX, 0.0));
            }
            continue;
        };
        covered += 1;
        if (f64::from(found) - share).abs() > 1e-6 || (is_alone && id.whole()[at] != triangle) {
            differing += 1;
            continue;
        }
        // Where several triangles meet, a sample may show another one.
        if !is_alone {
            continue;
        }
        let off = (f64::from(depth.plane(0)[at]) - z).abs();
        assert!(off < 1e-4 * z, "pixel {at}: {} for {z}", depth.plane(0)[at]);
        for (k, n) in n.into_iter().enumerate() {
            let off = (f64::from(normal.plane(k)[at]) - n).abs();
            assert!(off < 1e-4, "pixel {at}: {} for {n}", normal.plane(k)[at]);
        }
    }
    f64::from(differing) / f64::from(covered)
}

#[test]
fn layers_are_those_of_rays() {
    // Triangles of a few pixels have outlines in every pixel: one in ten differs in a sample or two.
    for (source, samples, most) in [
        (crossing(), 1, 0.02),
        (crossing(), 8, 0.05),
        (waves(), 4, 0.1),
        (cubes(), 1, 0.03),
    ] {
        let share = differing(source.as_ref(), samples);
        assert!(
            share < most,
            "{share} of the pixels differ at {samples} samples"
        );
    }
}
