//! Chunks that are left out have no splat in view.

use nalgebra::Vector3;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg32;

use super::*;
use crate::preprocess::{InPlace, Projected};
use quadrille_base::math::SimdLevel;
use quadrille_scene::formats::ply::SplatsInPlace;
use quadrille_scene::{Intrinsics, Splat, cameras};

/// Generator of random cameras and splats.
struct Random(Pcg32);

impl Random {
    /// Random number, uniform in `low` to `high`.
    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.0.random::<f64>()
    }

    /// A power of ten whose exponent is uniform in `low` to `high`.
    fn power(&mut self, low: f64, high: f64) -> f64 {
        10_f64.powf(self.between(low, high))
    }

    fn point(&mut self, half_side: f64) -> Vector3<f64> {
        Vector3::from_fn(|_, _| self.between(-half_side, half_side))
    }

    fn camera(&mut self, centre: Vector3<f64>) -> Camera {
        let [width, height] = [200, 90];
        let mut lens = Intrinsics::from_vertical_fov(width, height, self.between(0.1, 2.6));
        lens.focal_px[0] *= self.between(0.6, 1.6);
        lens.principal_px[0] += self.between(-0.8, 0.8) * f64::from(width);
        lens.principal_px[1] += self.between(-0.8, 0.8) * f64::from(height);
        let eye = centre + self.point(4.0);
        let target = centre + self.point(3.0);
        let up = Vector3::new(self.between(-0.3, 0.3), -1.0, 0.2);
        Camera::look_at("random", lens, eye, target, up).unwrap()
    }

    /// Splats of any shape near a point.
    fn splats(&mut self, centre: Vector3<f64>, spread: f64, size: f64) -> Splats {
        let count = self.0.random_range(1..40);
        let splats = (0..count).map(|_| {
            let mean = centre + self.point(spread);
            let rotation: [f64; 4] = std::array::from_fn(|_| self.between(-1.0, 1.0));
            let norm = rotation.iter().map(|q| q * q).sum::<f64>().sqrt();
            let scale = std::array::from_fn(|_| narrow(size * self.power(-2.0, 0.0)));
            Splat {
                mean: std::array::from_fn(|axis| narrow(mean[axis])),
                scale,
                rotation: rotation.map(|q| narrow(q / norm)),
                opacity: narrow(self.between(0.0, 1.02).min(1.0)),
                sh: [[0.0; 3]; 25],
            }
        });
        Splats::from_splats(0, splats.collect::<Vec<_>>())
    }
}

#[test]
fn chunks_that_are_left_out_have_no_splat_in_view() {
    let mut random = Random(Pcg32::seed_from_u64(5));
    let mut projected = Projected::default();
    let (mut left_out, mut unseen) = (0, 0);
    for round in 0..60 {
        // Some scenes are far from zero, where f32 is coarse.
        let far = if round % 3 == 0 { random.power(2.0, 4.0) } else { 1.0 };
        let centre = random.point(far);
        let cameras: Vec<Camera> = (0..4).map(|_| random.camera(centre)).collect();
        for _ in 0..50 {
            let near = centre + random.point(6.0);
            let (spread, size) = (random.power(-2.0, 0.5), random.power(-2.5, 0.3));
            let splats = random.splats(near, spread, size);
            let chunk = Chunk::of(&splats, splats.len(), 0);
            for (camera, profile) in cameras.iter().zip(Profile::ALL.iter().cycle().skip(round)) {
                let view = ViewTransform::new(&splats, camera, profile);
                let is_left_out = !chunk.may_be_seen(&planes(&view));
                let in_view = SimdLevel::all().into_iter().map(Some).chain([None]).map(|level| {
                    projected.run(&splats, camera, profile, level, &Task::NEVER);
                    projected.splats_in_view()
                });
                let in_view: usize = in_view.sum();
                let place = format!("{round}, {}, {camera:?}", profile.name);
                assert!(in_view == 0 || !is_left_out, "{place}");
                left_out += u32::from(is_left_out);
                unseen += u32::from(in_view == 0);
            }
        }
    }
    // Many of these chunks are as large as the part of the scene that the cameras see.
    assert!(3 * left_out > unseen, "{left_out} of {unseen}");
}

#[test]
fn a_chunk_with_an_invalid_row_is_always_seen() {
    let mut random = Random(Pcg32::seed_from_u64(6));
    let camera = random.camera(Vector3::zeros());
    let forward = camera.view_from_world.row(2).transpose();
    let splats = random.splats(camera.eye() - 10.0 * forward, 1.0, 0.1);
    let view = planes(&ViewTransform::new(&splats, &camera, &Profile::default()));
    let of_count = |count| Chunk::of(&splats, count, 0).may_be_seen(&view);
    assert!(!of_count(splats.len()));
    assert!(of_count(splats.len() + 1));
}

#[test]
fn only_splats_of_the_rows_that_may_be_seen_are_projected() {
    let scenes = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes");
    let file = SplatsInPlace::open(&scenes.join("island.ply")).unwrap().unwrap();
    let camera = &cameras::load(scenes.join("island.cameras.json")).unwrap().cameras[0];
    let (mut projected, profile) = (Projected::default(), Profile::default());
    let mut in_view = |source: InPlace<'_>| {
        projected.run(&source, camera, &profile, Some(SimdLevel::best()), &Task::NEVER);
        let slots = (0..projected.chunks()).flat_map(|chunk| {
            let first = projected.chunk(chunk).first_slot as usize;
            first..first + projected.chunk(chunk).keys.len()
        });
        slots.map(|slot| projected.slots()[slot].index as usize).collect::<Vec<usize>>()
    };
    let all = in_view(InPlace::new(&file));
    let rows = [512..1024, 20_480..30_208, 99_840..file.len()];
    let found = in_view(InPlace::new(&file).only(&rows));
    let of_rows = |index: &&usize| rows.iter().any(|rows| rows.contains(index));
    let expected: Vec<usize> = all.iter().filter(of_rows).copied().collect();
    assert!((1000..all.len()).contains(&expected.len()));
    assert!(found == expected);
    assert!(in_view(InPlace::new(&file).only(&[])).is_empty());
}
