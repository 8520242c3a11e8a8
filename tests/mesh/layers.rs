//! Layers of a frame against rays in double precision: one through every sample, to the nearest triangle.

use nalgebra::Vector3;
use quadrille::Layer;
use quadrille::geometry::grid::{GridSource, GridVertex};
use quadrille::mesh::frame::{Cull, VisibleFrame};
use quadrille::raster::samples::SamplePattern;

use crate::support::mesh::{SIZE, crossing, cubes, pattern, settings, view, waves};

/// First hit of a ray: distance along the line of sight, normal, number of the triangle.
type Hit = (f64, Vector3<f64>, u32);

/// Layers of a pixel: depth, normal, coverage, number of the triangle.
type Layers = (f64, [f64; 3], f64, u32);

/// A triangle in view space.
struct Seen {
    corners: [Vector3<f64>; 3],
    normals: [Vector3<f64>; 3],
    /// Least and greatest x and y of a ray (x, y, 1) that may meet it.
    bounds: [[f64; 2]; 2],
    two_sided: bool,
    number: u32,
}

/// All triangles of a scene, in the order of submission.
fn triangles(source: &dyn GridSource) -> Vec<Seen> {
    let camera = view().camera;
    let mut grids = Vec::new();
    for batch in 0..source.batches() {
        source.grids(batch, &view(), &mut grids);
    }
    let mut seen = Vec::new();
    for grid in &grids {
        for corners in &grid.topology.triangles {
            let vertices = corners.map(|corner| grid.vertices[usize::from(corner)]);
            let of = |v: [f32; 3]| camera.view_from_world * Vector3::from(v.map(f64::from));
            let corners = vertices.map(|v: GridVertex| of(v.position) + camera.translation_in_view);
            // A triangle behind the near plane may show anywhere.
            let is_before = corners.iter().all(|c| c.z > view().near);
            let over = |start: f64, choose: fn(f64, f64) -> f64| {
                let all = corners.iter().fold([start; 2], |bound, c| {
                    [choose(bound[0], c.x / c.z), choose(bound[1], c.y / c.z)]
                });
                if is_before { all } else { [-start; 2] }
            };
            seen.push(Seen {
                corners,
                normals: vertices.map(|v| of(v.normal)),
                bounds: [over(f64::INFINITY, f64::min), over(f64::NEG_INFINITY, f64::max)],
                two_sided: source.materials()[grid.material as usize].two_sided,
                number: seen.len() as u32,
            });
        }
    }
    seen
}

/// The nearest triangle that shows a side which is drawn, beyond the near plane.
fn cast(ray: Vector3<f64>, triangles: &[Seen]) -> Option<Hit> {
    let near = view().near;
    let mut nearest: Option<Hit> = None;
    for seen in triangles {
        let [least, most] = seen.bounds;
        if ray.x < least[0] || ray.y < least[1] || ray.x > most[0] || ray.y > most[1] {
            continue;
        }
        let [a, b, c] = seen.corners;
        // Signed volumes: the ray passes inside if all have the same sign.
        let volumes = [b.cross(&c), c.cross(&a), a.cross(&b)].map(|n| n.dot(&ray));
        let sum: f64 = volumes.iter().sum();
        let weights = volumes.map(|volume| volume / sum);
        if !weights.iter().all(|weight| *weight >= 0.0) {
            continue;
        }
        let mix =
            |of: [Vector3<f64>; 3]| of[0] * weights[0] + of[1] * weights[1] + of[2] * weights[2];
        let z = mix(seen.corners).z;
        let normal = (b - a).cross(&(c - a));
        let is_front = normal.dot(&ray) < 0.0;
        let is_behind = nearest.as_ref().is_some_and(|(other, ..)| z >= *other);
        if z < near || is_behind || !(is_front || seen.two_sided) {
            continue;
        }
        let side = if is_front { 1.0 } else { -1.0 };
        nearest = Some((z, mix(seen.normals).normalize() * side, seen.number));
    }
    nearest
}

/// Depth, normal, identifier and coverage of a pixel by rays through its samples, and whether all samples
/// show the same triangle.
fn by_rays(
    [x, y]: [u32; 2],
    pattern: &SamplePattern,
    triangles: &[Seen],
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
            cast(ray, triangles)
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
    let visible =
        VisibleFrame::new(source, [&view(), &view()], &settings, &quadrille::Task::NEVER).unwrap();
    let wanted = [Layer::Id, Layer::Depth, Layer::Normal, Layer::Alpha];
    let layers = visible.layers(&wanted);
    let [id, depth, normal, coverage] = &layers[..] else {
        panic!("{} layers", layers.len());
    };
    let triangles = triangles(source);
    let (mut covered, mut differing) = (0, 0);
    for at in 0..SIZE[0] * SIZE[1] {
        let (expected, is_alone) = by_rays([at % SIZE[0], at / SIZE[0]], pattern, &triangles);
        let at = at as usize;
        let found = coverage.plane(0)[at];
        let Some((z, n, share, triangle)) = expected else {
            differing += u32::from(found != 0.0);
            if found == 0.0 {
                assert_eq!((id.integers()[at], depth.plane(0)[at]), (u32::MAX, 0.0));
            }
            continue;
        };
        covered += 1;
        if (f64::from(found) - share).abs() > 1e-6 || (is_alone && id.integers()[at] != triangle) {
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
    for (source, samples, most) in
        [(crossing(), 1, 0.02), (crossing(), 8, 0.05), (waves(), 4, 0.1), (cubes(), 1, 0.03)]
    {
        let share = differing(source.as_ref(), samples);
        assert!(share < most, "{share} of the pixels differ at {samples} samples");
    }
}
