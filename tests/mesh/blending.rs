//! Blended surfaces: every sample against a slow definition, and what merging units and cycles do to them.

use quadrille::geometry::files::{Material, Mesh};
use quadrille::geometry::grid::GridSource;
use quadrille::geometry::triangles::{Adjacency, Triangles};
use quadrille::mesh::frame::{Cull, FrameSettings, VisibleFrame};
use quadrille::mesh::merge::{MergeUnitKind, PmuSettings, QfmSettings};
use quadrille::mesh::result::MeshResult;
use quadrille::mesh::shade::{Sampling, ShadeSettings, Shader, Textures};
use quadrille::mesh_pipeline::{self, MeshConfig, TimedMeshResult};
use quadrille::{Layer, Task};

use crate::support::mesh::{SIZE, mesh, pattern, settings, veils, view};

const UNITS: [MergeUnitKind; 3] = [
    MergeUnitKind::None,
    MergeUnitKind::Qfm(QfmSettings {
        entries: Some(8),
        candidates: 2,
        merge_at_eviction: true,
        empties: true,
        blended: true,
    }),
    MergeUnitKind::Pmu(PmuSettings { entries: 64, max_edges: 8 }),
];

fn timed(
    source: &dyn GridSource,
    settings: &FrameSettings,
    unit: MergeUnitKind,
) -> TimedMeshResult {
    let config = MeshConfig::default();
    let result = mesh_pipeline::run(source, &view(), settings, &config, unit, &Task::NEVER);
    let result = result.unwrap();
    assert_eq!(result.discrepancies(), <[String; 0]>::default());
    result
}

/// A fragment at a sample.
#[derive(Clone, Copy)]
struct SlowFragment {
    /// Near plane over distance.
    depth: f64,
    material: u32,
}

/// Samples nearer to an edge than this, in pixels, may belong to either side: vertices are rounded to 1/256 px.
const EDGE_PX: f64 = 0.012;
/// Relative difference of depths that rounding of vertices explains.
const DEPTH_SHARE: f64 = 4e-3;

/// The fragments of each sample in order of submission; `None` where rounding may decide.
fn fragments(source: &dyn GridSource, samples: u32) -> Vec<Option<Vec<SlowFragment>>> {
    let view = view();
    let offsets = pattern(samples).offsets();
    let per_pixel = offsets.len();
    let mut all = vec![Some(Vec::new()); (SIZE[0] * SIZE[1]) as usize * per_pixel];
    let mut grids = Vec::new();
    (0..source.batches()).for_each(|batch| source.grids(batch, &view, &mut grids));
    for grid in &grids {
        for corners in &grid.topology.triangles {
            let [a, b, c] = corners.map(|corner| {
                let point = view.project(grid.vertices[usize::from(corner)].position);
                [point.xz / point.z, point.yz / point.z, view.near / point.z]
            });
            let bounds = |axis: usize, most: u32| {
                let values = [a, b, c].map(|p| p[axis]);
                let least = values.into_iter().fold(f64::INFINITY, f64::min).floor() - 1.0;
                let greatest = values.into_iter().fold(0.0, f64::max).ceil() + 1.0;
                least.max(0.0) as u32..(greatest as u32).min(most)
            };
            let cross = |p: [f64; 3], q: [f64; 3], at: [f64; 2]| {
                (q[0] - p[0]) * (at[1] - p[1]) - (q[1] - p[1]) * (at[0] - p[0])
            };
            let area = cross(a, b, [c[0], c[1]]);
            for y in bounds(1, SIZE[1]) {
                for x in bounds(0, SIZE[0]) {
                    for (k, offset) in offsets.iter().enumerate() {
                        let [u, v] = offset.map(|units| f64::from(units) / 256.0);
                        let at = [f64::from(x) + u, f64::from(y) + v];
                        let sides = [[b, c], [c, a], [a, b]].map(|[p, q]| {
                            let length = (q[0] - p[0]).hypot(q[1] - p[1]);
                            [cross(p, q, at) / area, cross(p, q, at) * area.signum() / length]
                        });
                        let nearest = sides.iter().map(|s| s[1]).fold(f64::INFINITY, f64::min);
                        let here = &mut all[(y * SIZE[0] + x) as usize * per_pixel + k];
                        if nearest.abs() <= EDGE_PX {
                            *here = None;
                        } else if nearest > 0.0
                            && let Some(here) = here
                        {
                            let depth =
                                [a, b, c].iter().zip(&sides).map(|(p, s)| p[2] * s[0]).sum();
                            here.push(SlowFragment { depth, material: grid.material });
                        }
                    }
                }
            }
        }
    }
    all
}

/// The premultiplied colour of a sample; `None` where rounding may decide.
fn sample_colour(fragments: &[SlowFragment], materials: &[Material]) -> Option<[f64; 4]> {
    let is_opaque = |f: &&SlowFragment| materials[f.material as usize].opacity.is_none();
    let mut depths: Vec<f64> = fragments.iter().map(|f| f.depth).collect();
    let nearest = fragments.iter().filter(is_opaque);
    let nearest = nearest.max_by(|a, b| a.depth.total_cmp(&b.depth));
    let depth = nearest.map_or(0.0, |f| f.depth);
    depths.retain(|other| (other - depth).abs() <= DEPTH_SHARE * depth);
    if nearest.is_some() && depths.len() > 1 {
        return None;
    }
    let mut colour = nearest.map_or([0.0; 4], |f| {
        let [r, g, b] = materials[f.material as usize].base_colour.map(f64::from);
        [r, g, b, 1.0]
    });
    for fragment in fragments.iter().filter(|f| f.depth > depth) {
        let material = &materials[fragment.material as usize];
        let opacity = f64::from(material.opacity?);
        let [r, g, b] = material.base_colour.map(f64::from);
        for (colour, own) in colour.iter_mut().zip([r, g, b, 1.0]) {
            *colour = own * opacity + *colour * (1.0 - opacity);
        }
    }
    Some(colour)
}

#[test]
fn every_sample_is_blended_in_order_behind_any_unit() {
    let source = veils();
    let materials = source.materials();
    for samples in [1, 4] {
        let slow: Vec<Option<[f64; 4]>> = fragments(&source, samples)
            .iter()
            .map(|here| sample_colour(here.as_ref()?, materials))
            .collect();
        let textures = Textures::new(&[], materials);
        let shader = Shader::new(materials, &textures, &view(), ShadeSettings::default());
        for cull in [Cull::Quads, Cull::Grids] {
            let settings = settings(pattern(samples), cull);
            let visible =
                VisibleFrame::new(&source, [&view(), &view()], &settings, &quadrille::Task::NEVER)
                    .unwrap();
            let pictures = UNITS.map(|unit| {
                let shading = visible.merged(&source, unit);
                visible.picture(&shader, &shading, Sampling::Centre, None)
            });
            let reyes = visible.reyes_picture(&shader, None);
            for picture in pictures.iter().chain([&reyes]) {
                let (mut compared, mut blended) = (0, 0);
                let pixels = slow.chunks_exact(samples as usize).zip(picture.pixels());
                for (at, (slow, found)) in pixels.enumerate() {
                    let Some(slow) = slow.iter().copied().collect::<Option<Vec<_>>>() else {
                        continue;
                    };
                    let mean = [0, 1, 2, 3]
                        .map(|k| slow.iter().map(|s| s[k]).sum::<f64>() / f64::from(samples));
                    let off = [0, 1, 2, 3].map(|k| (mean[k] - f64::from(found[k])).abs());
                    assert!(off.iter().all(|off| *off < 1e-5), "{at}: {found:?} for {mean:?}");
                    compared += 1;
                    let is_between = |alpha: f64| alpha > 0.0 && alpha < 1.0;
                    blended += usize::from(slow.iter().any(|s| is_between(s[3])));
                }
                assert!(2 * compared > picture.pixels().len(), "{compared} compared");
                assert!(blended > 100, "{blended} with blended samples over the background");
            }
        }
    }
}

#[test]
fn blended_scenes_come_out_in_cycles_as_in_the_frame() {
    let source = veils();
    let off = MergeUnitKind::Qfm(QfmSettings { blended: false, ..QfmSettings::default() });
    for samples in [1, 4, 16] {
        let mut blended = None;
        for cull in [Cull::Quads, Cull::Grids] {
            let settings = settings(pattern(samples), cull);
            let visible =
                VisibleFrame::new(&source, [&view(), &view()], &settings, &quadrille::Task::NEVER)
                    .unwrap();
            for unit in UNITS.into_iter().chain([off]) {
                let shading = visible.merged(&source, unit);
                let expected = MeshResult::of(&visible, &shading);
                let timed = timed(&source, &settings, unit);
                let what = format!("{samples} samples, {cull:?}, {unit:?}");
                assert_eq!(timed.counters, expected.merging, "{what}");
                assert_eq!(timed.quads_shaded, expected.quads_shaded, "{what}");
                assert_eq!(timed.grids.visible, expected.grids_visible, "{what}");
                if cull == Cull::Quads {
                    let quads = shading.quads.iter();
                    let is_blended = |chunk: u32| {
                        let material = visible.chunks[chunk as usize].grids[0].grid.material;
                        source.materials()[material as usize].is_blended()
                    };
                    let quads = quads.filter(|q| is_blended(q.chunk));
                    let samples = quads.map(|q| u64::from(q.coverage.count_ones())).sum::<u64>();
                    assert_eq!(*blended.get_or_insert(samples), samples, "{what}");
                }
                assert_eq!(Some(timed.colour.samples_blended), blended, "{what}");
                assert!(blended > Some(1000), "{what}");
            }
            let of = |unit| visible.merged(&source, unit);
            let [none, merged, off] = [UNITS[0], UNITS[1], off].map(|unit| of(unit).counters);
            assert_eq!(none.barred + merged.barred, 0);
            assert!(off.barred > 1000 && merged.qfm.unwrap().merged > off.qfm.unwrap().merged);
        }
    }
}

/// Squares on each other, farther ones first, in front of the whole picture.
fn stack(layers: u32, opacity: Option<f32>) -> Triangles {
    let (mut positions, mut faces) = (Vec::new(), Vec::new());
    for layer in 0..layers {
        let [side, z] = [0.2, 8.0 - 0.5 * layer as f32];
        let first = positions.len() as u32;
        positions.extend([[-side, -side, z], [-side, side, z], [side, side, z], [side, -side, z]]);
        faces.push((first..first + 4).collect());
    }
    let mut mesh: Mesh = mesh(positions, &faces);
    mesh.materials[0].opacity = opacity;
    mesh.materials[0].two_sided = true;
    Triangles::new(mesh, Adjacency::Vertex, &quadrille::Task::NEVER).unwrap()
}

/// A blended quad reads the colours that the last one at its place wrote, and waits for them; opaque ones do
/// not. Blended ones read depths and write none.
#[test]
fn blends_wait_for_each_other_and_write_no_depth() {
    let settings = settings(pattern(4), Cull::Quads);
    let run = |opacity, blend_cycles: u64| {
        let mut config = MeshConfig::default();
        config.gpu.crop.blend_cycles = blend_cycles;
        let source = stack(10, opacity);
        let unit = MergeUnitKind::None;
        mesh_pipeline::run(&source, &view(), &settings, &config, unit, &Task::NEVER).unwrap()
    };
    let slower = |opacity| run(opacity, 1024).cycles - run(opacity, 24).cycles;
    assert_eq!(slower(None), 1000);
    // Quads on the diagonal are in two triangles of each of the ten squares.
    assert!(slower(Some(0.5)) >= 19_000, "{}", slower(Some(0.5)));
    let written = |opacity| {
        let cache = run(opacity, 24).z_cache;
        cache.written_back + cache.dirty_at_end_bytes
    };
    assert!(written(None) > 0);
    assert_eq!(written(Some(0.5)), 0);
}

#[test]
fn layers_are_those_of_the_surface_behind() {
    let settings = settings(pattern(4), Cull::Quads);
    let layers = |source: &Triangles| {
        let visible =
            VisibleFrame::new(source, [&view(), &view()], &settings, &quadrille::Task::NEVER)
                .unwrap();
        let shading = visible.merged(source, MergeUnitKind::None);
        let covered = MeshResult::of(&visible, &shading).pixels_covered;
        let known = [Layer::Depth, Layer::Normal, Layer::Id, Layer::Alpha];
        (visible.layers(&known), covered)
    };
    let (veiled, covered) = layers(&stack(3, Some(0.5)));
    let (bare, none) = layers(&stack(0, None));
    assert_eq!(veiled, bare);
    assert!(covered > 0 && none == 0);
}
