//! A blurred frame against the mean of frames of the mesh path, each at one instant through one point of the lens.

use std::fmt::Write;

use super::scenes::{Random, camera, frame, mesh, moving, soup};
use quadrille_base::math::SimdLevel;
use quadrille_base::raster::sample_depth::NO_OWNER;
use quadrille_base::raster::samples::SamplePattern;
use quadrille_base::task::Task;
use quadrille_deferred::camera::lens::Lens;
use quadrille_deferred::camera::shutter::ShutterView;
use quadrille_deferred::settings::DeferredSettings;
use quadrille_geometry::camera::MeshCamera;
use quadrille_geometry::grid::GridSource;
use quadrille_geometry::triangles::Triangles;
use quadrille_mesh::frame::{Cull, Faces, FrameSettings, VisibleFrame};

#[test]
fn the_mean_of_instants_and_lens_points_is_the_blurred_picture() {
    let source = soup(8, 40, 0.8);
    let size = [32, 24];
    let (lens, motion) = (Lens::new(0.06, 2.5).unwrap(), moving());
    let mut mean = vec![[0.0_f64; 4]; 32 * 24];
    let seeds = 64;
    for seed in 0..seeds {
        let settings = DeferredSettings { seed, faces: Faces::Both, ..DeferredSettings::default() };
        let frame = frame(&source, size, (lens, motion.clone()), &settings);
        let [width, height] = size;
        for at in 0..width * height {
            let first = frame.visible.pixel(at % width, at / width);
            for spid in &frame.visible.spids[first..first + 16] {
                // Each primitive has its own colour.
                let colour = [spid.primitive, spid.primitive * 7, spid.primitive * 31];
                let colour = colour.map(|v| f64::from(v % 64) / 63.0);
                (0..3).for_each(|k| mean[at as usize][k] += colour[k] / 16.0 / seeds as f64);
            }
        }
    }
    // Frames of the mesh path at one instant through one point of the lens: instead of the lens, the camera
    // and its principal point are moved.
    let mut random = Random(77);
    let mut expected = vec![[0.0_f64; 4]; 32 * 24];
    let instants = 1024;
    let shear = lens.shear(camera(size).focal_px);
    for k in 0..instants {
        let time = (f64::from(k) + random.next(0.0, 1.0)) / f64::from(instants);
        let [radius, angle] =
            [random.next(0.0, 1.0).sqrt(), random.next(0.0, std::f64::consts::TAU)];
        let uv = [radius * angle.cos(), radius * angle.sin()];
        let view = ShutterView::new(&camera(size), 0.05, lens, motion.clone()).unwrap();
        let placements = view.placements(0);
        let mut text = String::new();
        let moved = source_positions(&source);
        for position in &moved {
            let [start, end] = view.project(&placements, *position);
            let p = [0, 1, 2].map(|k| start[k] + time * (end[k] - start[k]));
            let lens = shear.at(p[2]);
            let camera = camera(size);
            let x = (p[0] + uv[0] * lens[0]) / camera.focal_px[0];
            let y = (p[1] + uv[1] * lens[1]) / camera.focal_px[1];
            writeln!(text, "v {x} {y} {}", p[2]).unwrap();
        }
        for first in (1..=moved.len()).step_by(3) {
            writeln!(text, "f {first} {} {}", first + 1, first + 2).unwrap();
        }
        let view = MeshCamera::new(camera(size), 0.05);
        let instant = mesh(&text);
        let visible = VisibleFrame::new(
            &instant,
            [&view, &view],
            &FrameSettings {
                size,
                pattern: SamplePattern::standard(4).unwrap().shared(),
                faces: Faces::Both,
                cull: Cull::Quads,
                memory_bytes: quadrille_mesh::frame::MEMORY_BYTES,
                level: SimdLevel::best(),
            },
            &Task::NEVER,
        )
        .unwrap();
        add_owners(&visible, &mut expected, 1.0 / 4.0 / f64::from(instants));
    }
    let squares =
        mean.iter().zip(&expected).flat_map(|(a, b)| (0..3).map(|k| (a[k] - b[k]).powi(2)));
    let rms = (squares.sum::<f64>() / (3.0 * 32.0 * 24.0)).sqrt();
    assert!(rms < 0.01, "{rms}");
}

/// Positions of the corners of all triangles, in order.
fn source_positions(source: &Triangles) -> Vec<[f32; 3]> {
    let view = MeshCamera::new(camera([8, 8]), 0.05);
    let mut grids = Vec::new();
    (0..source.batches()).for_each(|batch| source.grids(batch, &view, &mut grids));
    let corners = grids.iter().flat_map(|grid| {
        grid.topology.triangles.iter().flatten().map(|c| grid.vertices[usize::from(*c)].position)
    });
    corners.collect()
}

fn add_owners(visible: &VisibleFrame, sums: &mut [[f64; 4]], share: f64) {
    let [width, height] = visible.settings.size;
    let count = visible.settings.pattern.count() as usize;
    for bin in &visible.bins {
        for quad in &bin.quads {
            for pixel in 0..4_u32 {
                let x = u32::from(quad.position[0]) * 2 + pixel % 2;
                let y = u32::from(quad.position[1]) * 2 + pixel / 2;
                if x >= width || y >= height {
                    continue;
                }
                let first = quad.first as usize + pixel as usize * count;
                for &owner in &bin.samples[first..first + count] {
                    if owner == NO_OWNER {
                        continue;
                    }
                    let (chunk, quad) = visible.find(owner);
                    let triangles = &visible.chunks[..chunk];
                    let before: usize = triangles
                        .iter()
                        .flat_map(|c| &c.grids)
                        .map(|g| g.grid.topology.triangles.len())
                        .sum();
                    let chunk = &visible.chunks[chunk];
                    let grid = chunk.grid_of(quad);
                    let inside: usize =
                        chunk.grids[..grid].iter().map(|g| g.grid.topology.triangles.len()).sum();
                    let triangle = usize::from(chunk.quads[quad as usize].triangle);
                    let primitive = u32::try_from(before + inside + triangle + 1).unwrap();
                    let colour = [primitive, primitive * 7, primitive * 31];
                    let colour = colour.map(|v| f64::from(v % 64) / 63.0);
                    let sum = &mut sums[(y * width + x) as usize];
                    (0..3).for_each(|k| sum[k] += colour[k] * share);
                }
            }
        }
    }
}
