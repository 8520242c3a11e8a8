//! Frames of the mesh path against slow definitions: the triangle that each sample shows, watertight
//! closed meshes, the effect of merging on pictures.
use nalgebra::Vector3;
use quadrille::Camera;
use quadrille::Intrinsics;
use quadrille::Protocol;
use quadrille::SimdLevel;
use quadrille::geometry::camera::MeshCamera;
use quadrille::geometry::files::Corner;
use quadrille::geometry::files::Material;
use quadrille::geometry::files::Mesh;
use quadrille::geometry::files::NONE;
use quadrille::geometry::grid::Grid;
use quadrille::geometry::grid::GridSource;
use quadrille::geometry::triangles::{Adjacency, Triangles};
use quadrille::mesh::frame::Cull;
use quadrille::mesh::frame::Faces;
use quadrille::mesh::frame::FrameSettings;
use quadrille::mesh::frame::ShaderQuad;
use quadrille::mesh::frame::VisibleFrame;
use quadrille::mesh::merge::MergeUnitKind;
use quadrille::mesh::merge::PmuSettings;
use quadrille::mesh::merge::QfmSettings;
use quadrille::mesh::project::project;
use quadrille::mesh::project::triangles;
use quadrille::mesh::result::MeshResult;
use quadrille::mesh::shade::Albedo;
use quadrille::mesh::shade::Sampling;
use quadrille::mesh::shade::ShadeSettings;
use quadrille::mesh::shade::Shader;
use quadrille::mesh::shade::Textures;
use quadrille::raster::outline::Outline;
use quadrille::raster::sample_depth::DepthPlane;
use quadrille::raster::sample_depth::NO_OWNER;
use quadrille::raster::sampled::SampledPolygon;
use quadrille::raster::samples::SamplePattern;

/// A mesh of triangles, one draw for each list.
fn mesh(positions: Vec<[f32; 3]>, draws: &[&[[u32; 3]]]) -> Mesh {
    let faces: Vec<_> = draws.concat();
    let corner = |position| Corner { position, uv: NONE, normal: NONE, colour: NONE };
    let count = u32::try_from(faces.len()).unwrap();
    let mut first = 0;
    let draws = draws.iter().map(|d| {
        let range = first..first + u32::try_from(d.len()).unwrap();
        first = range.end;
        range
    });
    Mesh {
        positions,
        corners: faces.iter().flatten().map(|&p| corner(p)).collect(),
        face_starts: (0..=count).map(|f| 3 * f).collect(),
        face_materials: vec![0; faces.len()],
        draws: draws.collect(),
        materials: vec![Material::default()],
        ..Mesh::default()
    }
}

/// A ball of `rings` by `2 rings` patches of two triangles, bumpy, closed.
fn ball(rings: u32) -> Mesh {
    let columns = 2 * rings;
    let mut positions = vec![[0.0, 1.0, 0.0], [0.0, -1.0, 0.0]];
    for ring in 1..rings {
        for column in 0..columns {
            let (theta, phi) = (
                std::f32::consts::PI * ring as f32 / rings as f32,
                std::f32::consts::TAU * column as f32 / columns as f32,
            );
            let r = 1.0 + 0.1 * (5.0 * theta).sin() * (3.0 * phi).cos();
            positions.push([
                r * theta.sin() * phi.cos(),
                r * theta.cos(),
                r * theta.sin() * phi.sin(),
            ]);
        }
    }
    let at = |ring: u32, column: u32| 2 + (ring - 1) * columns + column % columns;
    let mut faces = Vec::new();
    for column in 0..columns {
        faces.push([0, at(1, column + 1), at(1, column)]);
        faces.push([1, at(rings - 1, column), at(rings - 1, column + 1)]);
        for ring in 1..rings - 1 {
            let [a, b] = [0, 1].map(|k| at(ring, column + k));
            let [c, d] = [0, 1].map(|k| at(ring + 1, column + k));
            faces.push([a, b, c]);
            faces.push([c, b, d]);
        }
    }
    mesh(positions, &[&faces])
}

const SIZE: [u32; 2] = [93, 70];

fn view(eye: [f64; 3]) -> MeshCamera {
    let lens = Intrinsics::from_vertical_fov(SIZE[0], SIZE[1], 0.9);
    let up = Vector3::y();
    let camera = Camera::look_at("v", lens, Vector3::from(eye), Vector3::zeros(), up).unwrap();
    MeshCamera::new(camera, 0.05)
}

fn settings(pattern: &SamplePattern, faces: Faces) -> FrameSettings {
    FrameSettings {
        size: SIZE,
        pattern: pattern.shared(),
        faces,
        cull: Cull::Quads,
        memory_bytes: quadrille::mesh::frame::MEMORY_BYTES,
        level: SimdLevel::best(),
    }
}

/// Which triangle of which grid (counted through all batches) each sample shows: every sample
/// against every triangle, in order.
fn shown(
    source: &dyn GridSource,
    view: &MeshCamera,
    settings: &FrameSettings,
) -> Vec<Option<(usize, u16)>> {
    let pattern = settings.pattern;
    let picture = settings.shading_area();
    let count = pattern.count() as usize;
    let mut shown = vec![(0.0_f32, None); (picture.x1 * picture.y1) as usize * count];
    let mut grids: Vec<Grid> = Vec::new();
    (0..source.batches()).for_each(|batch| source.grids(batch, view, &mut grids));
    let unit = pattern.side_units();
    for (number, grid) in grids.iter().enumerate() {
        for (triangle, corners) in (0..).zip(&grid.topology.triangles) {
            let projected = corners.map(|c| project(view, grid.vertices[usize::from(c)].position));
            triangles(view, projected.each_ref(), |corners, plane: DepthPlane| {
                let outline = SampledPolygon::triangle(corners, settings.pattern, settings.level);
                let Some(outline) = outline else { return };
                if !outline.is_front() && settings.faces == Faces::Material {
                    return;
                }
                let area = outline.bounds().intersect(picture);
                for y in area.y0..area.y1 {
                    for x in area.x0..area.x1 {
                        for (k, &[dx, dy]) in pattern.offsets().iter().enumerate() {
                            if outline.covers(x * unit + dx, y * unit + dy) {
                                let depth = plane.at_sample([x * unit, y * unit], [dx, dy]);
                                let slot = (y * picture.x1 + x) as usize * count + k;
                                if depth > shown[slot].0 {
                                    shown[slot] = (depth, Some((number, triangle)));
                                }
                            }
                        }
                    }
                }
            });
        }
    }
    shown.into_iter().map(|s| s.1).collect()
}

/// The same from a frame.
fn of_frame(
    visible: &VisibleFrame,
    source: &dyn GridSource,
    view: &MeshCamera,
) -> Vec<Option<(usize, u16)>> {
    let settings = &visible.settings;
    let picture = settings.shading_area();
    let count = settings.pattern.count() as usize;
    let mut shown = vec![None; (picture.x1 * picture.y1) as usize * count];
    // Grids are told by where their first vertex lies: frames leave out those without quads.
    let mut grids: Vec<Grid> = Vec::new();
    (0..source.batches()).for_each(|batch| source.grids(batch, view, &mut grids));
    for bin in &visible.bins {
        for quad in &bin.quads {
            for pixel in 0..4 {
                let x = i32::from(quad.position[0]) * 2 + (pixel & 1);
                let y = i32::from(quad.position[1]) * 2 + (pixel >> 1);
                for k in 0..count {
                    let owner = bin.samples[quad.first as usize + pixel as usize * count + k];
                    if owner == NO_OWNER {
                        continue;
                    }
                    let (found, number) = visible.find(owner);
                    let chunk = &visible.chunks[found];
                    let grid = &chunk.grids[chunk.grid_of(number)].grid;
                    let index = grids.iter().position(|g| g.vertices == grid.vertices);
                    let triangle = chunk.quads[number as usize].triangle;
                    shown[(y * picture.x1 + x) as usize * count + k] =
                        Some((index.unwrap(), triangle));
                }
            }
        }
    }
    shown
}

fn patterns() -> Vec<SamplePattern> {
    let standard = [1, 2, 4, 8, 16].map(SamplePattern::standard);
    let coarse = [1, 4].map(SamplePattern::coarse);
    standard.into_iter().chain(coarse).map(Result::unwrap).collect()
}

#[test]
fn samples_show_what_the_definition_says() {
    let source = Triangles::new(ball(7), Adjacency::Vertex, &quadrille::Task::NEVER).unwrap();
    // From afar, from nearby with triangles across the near plane, and from inside.
    for eye in [[0.4, 0.5, 2.5], [0.1, 0.2, 1.12], [0.0, 0.1, 0.2]] {
        let view = view(eye);
        for pattern in patterns() {
            for faces in [Faces::Material, Faces::Both] {
                let settings = settings(&pattern, faces);
                let visible =
                    VisibleFrame::new(&source, [&view, &view], &settings, &quadrille::Task::NEVER)
                        .unwrap();
                let found = of_frame(&visible, &source, &view);
                assert!(found == shown(&source, &view, &settings), "{eye:?} {faces:?}");
                let covered = found.iter().filter(|s| s.is_some()).count();
                assert!(covered > 0 || faces == Faces::Material);
            }
        }
    }
}

#[test]
fn a_closed_mesh_covers_each_sample_once_from_the_front() {
    // A convex ball: fronts and backs cover the same samples, each once.
    let mut mesh = ball(12);
    for p in &mut mesh.positions {
        let length = p.iter().map(|v| v * v).sum::<f32>().sqrt();
        *p = p.map(|v| v / length);
    }
    let source = Triangles::new(mesh, Adjacency::Vertex, &quadrille::Task::NEVER).unwrap();
    let view = view([0.7, 0.9, 2.2]);
    for pattern in patterns() {
        let settings = settings(&pattern, Faces::Both);
        let visible =
            VisibleFrame::new(&source, [&view, &view], &settings, &quadrille::Task::NEVER).unwrap();
        let picture = settings.shading_area();
        let mut times = vec![[[0_u8; 2]; 64]; (picture.x1 as usize).div_ceil(2) * 64];
        for quad in visible.chunks.iter().flat_map(|c| &c.quads) {
            let at = usize::from(quad.position[1]) * (picture.x1 as usize).div_ceil(2)
                + usize::from(quad.position[0]);
            for (bit, sample) in times[at].iter_mut().enumerate() {
                sample[usize::from(quad.is_front)] += u8::from(quad.coverage >> bit & 1 == 1);
            }
        }
        let flat = || times.iter().flatten();
        assert!(flat().all(|&t| t == [0, 0] || t == [1, 1]), "a hole or a double");
        assert!(flat().any(|&t| t == [1, 1]));
    }
}

#[test]
fn counts_hold_together_and_merging_keeps_the_picture() {
    let source = Triangles::new(ball(24), Adjacency::Vertex, &quadrille::Task::NEVER).unwrap();
    let view = view([0.4, 0.5, 2.5]);
    let textures = Textures::new(source.textures(), source.materials());
    let shade = ShadeSettings { albedo: Albedo::Plain, ..ShadeSettings::default() };
    let shader = Shader::new(source.materials(), &textures, &view, shade);
    let units = [
        (MergeUnitKind::Qfm(QfmSettings::default()), 30.0),
        (MergeUnitKind::Qfm(QfmSettings { entries: None, ..QfmSettings::default() }), 30.0),
        (MergeUnitKind::Pmu(PmuSettings::default()), 35.0),
    ];
    for samples in [4, 16] {
        let pattern = SamplePattern::standard(samples).unwrap();
        for cull in [Cull::Grids, Cull::Quads] {
            let settings = FrameSettings { cull, ..settings(&pattern, Faces::Both) };
            let visible =
                VisibleFrame::new(&source, [&view, &view], &settings, &quadrille::Task::NEVER)
                    .unwrap();
            let plain = visible.merged(&source, MergeUnitKind::None);
            let background = Some([0.0; 3]);
            let unmerged = visible.picture(&shader, &plain, Sampling::Centre, background);
            let all = MeshResult::of(&visible, &plain);
            // Every quad that passes the depth test is shaded, and those with a shading pixel that has some
            // but not all samples count as partly covered.
            assert_eq!(all.quads_shaded, all.merging.tested());
            let is_partial = |quad: &&ShaderQuad| {
                let mut pixels = (0..4).map(|k| pattern.pixel(quad.coverage, k).count_ones());
                pixels.any(|covered| covered != 0 && covered != samples)
            };
            let partial = plain.quads.iter().filter(is_partial).count() as u64;
            assert!(partial > 0 && partial < all.quads_shaded);
            assert_eq!(all.merging.partial, partial);
            for (unit, least_db) in units {
                let shading = visible.merged(&source, unit);
                let outcome = MeshResult::of(&visible, &shading);
                assert_eq!(outcome.merging.tested(), all.quads_shaded);
                assert!(outcome.quads_merged() > 0, "{unit:?}");
                assert_eq!(outcome.merging.partial, partial);
                // Every sample is covered by as many shaded quads as by unmerged ones.
                let bits = |s: &quadrille::mesh::frame::Shading| -> u64 {
                    s.quads.iter().map(|q| u64::from(q.coverage.count_ones())).sum()
                };
                assert_eq!(bits(&shading), bits(&plain));
                let picture = visible.picture(&shader, &shading, Sampling::Centre, background);
                let compared = quadrille::compare(&picture, &unmerged, Protocol::Float).unwrap();
                let db = compared.psnr_db.unwrap_or(f64::INFINITY);
                assert!(db > least_db, "{unit:?} at {samples}x: {db} dB");
            }
        }
    }
}

#[test]
fn reyes_shows_both_sides_as_quads_do() {
    // From inside and outside at once: an open bowl whose material has two sides.
    let mut mesh = ball(24);
    let keep: Vec<_> = (0..mesh.faces())
        .filter(|&f| mesh.face(f).iter().all(|c| mesh.positions[c.position as usize][1] < 0.3))
        .collect();
    mesh.corners = keep.iter().flat_map(|&f| mesh.face(f).to_vec()).collect();
    let count = u32::try_from(keep.len()).unwrap();
    mesh.face_starts = (0..=count).map(|f| 3 * f).collect();
    mesh.face_materials.truncate(keep.len());
    mesh.draws[0] = 0..count;
    mesh.materials[0].two_sided = true;
    let source = Triangles::new(mesh, Adjacency::Vertex, &quadrille::Task::NEVER).unwrap();
    let view = view([0.4, 1.1, 2.3]);
    let textures = Textures::new(source.textures(), source.materials());
    let shade = ShadeSettings::default();
    let shader = Shader::new(source.materials(), &textures, &view, shade);
    let pattern = SamplePattern::standard(4).unwrap();
    let settings = settings(&pattern, Faces::Material);
    let visible =
        VisibleFrame::new(&source, [&view, &view], &settings, &quadrille::Task::NEVER).unwrap();
    let quads = visible.chunks.iter().flat_map(|c| &c.quads);
    assert!(quads.clone().any(|q| q.is_front) && quads.clone().any(|q| !q.is_front));
    let plain = visible.merged(&source, MergeUnitKind::None);
    let unmerged = visible.picture(&shader, &plain, Sampling::Centre, Some([0.0; 3]));
    let reyes = visible.reyes_picture(&shader, Some([0.0; 3]));
    let compared = quadrille::compare(&reyes, &unmerged, Protocol::Float).unwrap();
    assert!(compared.psnr_db.unwrap() > 38.0, "{:?}", compared.psnr_db);
}

#[test]
fn one_plane_of_one_colour_is_the_same_merged() {
    // Flat, facing the viewer, lit alike everywhere but for the highlight: merged or not, every
    // pixel inside has the same inputs.
    let positions = vec![
        [-1.0, -1.0, 0.0],
        [1.0, -1.0, 0.0],
        [1.0, 1.0, 0.0],
        [-1.0, 1.0, 0.0],
        [0.1, 0.2, 0.0],
    ];
    let faces: &[[u32; 3]] = &[[0, 1, 4], [1, 2, 4], [2, 3, 4], [3, 0, 4]];
    let source =
        Triangles::new(mesh(positions, &[faces]), Adjacency::Vertex, &quadrille::Task::NEVER)
            .unwrap();
    let view = view([0.0, 0.0, 3.0]);
    let textures = Textures::new(source.textures(), source.materials());
    let shader = Shader::new(source.materials(), &textures, &view, ShadeSettings::default());
    let pattern = SamplePattern::standard(8).unwrap();
    let settings = settings(&pattern, Faces::Material);
    let visible =
        VisibleFrame::new(&source, [&view, &view], &settings, &quadrille::Task::NEVER).unwrap();
    let frames = [
        MergeUnitKind::None,
        // As many entries as it takes: the triangles are large.
        MergeUnitKind::Qfm(QfmSettings { entries: None, ..QfmSettings::default() }),
        MergeUnitKind::Pmu(PmuSettings::default()),
    ]
    .map(|unit| {
        let shading = visible.merged(&source, unit);
        (shading.quads.len(), visible.picture(&shader, &shading, Sampling::Centre, None))
    });
    for (quads, frame) in &frames[1..] {
        assert!(*quads < frames[0].0);
        for (a, b) in frame.pixels().iter().zip(frames[0].1.pixels()) {
            for k in 0..4 {
                assert!((a[k] - b[k]).abs() < 2e-3, "{a:?} {b:?}");
            }
        }
    }
}

#[test]
fn threads_and_simd_levels_change_nothing() {
    let source = Triangles::new(ball(20), Adjacency::Vertex, &quadrille::Task::NEVER).unwrap();
    let view = view([0.4, 0.5, 2.5]);
    let pattern = SamplePattern::standard(16).unwrap();
    let draw = |level: SimdLevel, threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.unwrap().install(|| {
            let settings = FrameSettings { level, ..settings(&pattern, Faces::Both) };
            let textures = Textures::new(source.textures(), source.materials());
            let shade = ShadeSettings::default();
            let shader = Shader::new(source.materials(), &textures, &view, shade);
            let visible =
                VisibleFrame::new(&source, [&view, &view], &settings, &quadrille::Task::NEVER)
                    .unwrap();
            let units = [
                MergeUnitKind::Qfm(QfmSettings::default()),
                MergeUnitKind::Pmu(PmuSettings::default()),
            ];
            units.map(|unit| {
                let shading = visible.merged(&source, unit);
                let frame = visible.picture(&shader, &shading, Sampling::Centroid, None);
                (shading.quads, frame.pixels().to_vec())
            })
        })
    };
    let first = draw(SimdLevel::best(), 1);
    for level in SimdLevel::all() {
        for threads in [1, 3] {
            assert!(draw(level, threads) == first, "{} {threads}", level.name());
        }
    }
}
