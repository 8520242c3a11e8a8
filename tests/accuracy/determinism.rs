//! Pictures have the same bytes on any number of threads, and after any earlier frames.
use quadrille::Camera;
use quadrille::Counts;
use quadrille::Frame;
use quadrille::RenderSettings;
use quadrille::Renderer;
use quadrille::Splats;
use quadrille::Task;
use rayon::ThreadPoolBuilder;

use crate::support::scenes::{self, Random};
use crate::support::shared;

/// Thread counts: one, two, and an odd number.
const THREADS: [usize; 3] = [1, 2, 7];

/// The bytes of a frame, since equal floats may differ in the sign of zero.
fn bytes(frame: &Frame) -> Vec<u8> {
    let values = frame.pixels().as_flattened().iter();
    values.flat_map(|v| v.to_le_bytes()).collect()
}

fn on_threads(threads: usize, splats: &Splats, camera: &Camera) -> (Vec<u8>, Counts) {
    let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let render = || Renderer::default().render(splats, camera, &RenderSettings::default());
    let (frame, counts) = pool.install(render);
    (bytes(&frame), counts)
}

fn assert_same_on_all_threads(splats: &Splats, camera: &Camera) {
    let first = on_threads(THREADS[0], splats, camera);
    assert!(first.1.fragments_blended > 0, "an empty picture proves nothing");
    for threads in THREADS {
        // Twice, since threads may interleave differently.
        for _ in 0..2 {
            let again = on_threads(threads, splats, camera);
            assert_eq!(first.1, again.1, "counts on {threads} threads");
            assert!(first.0 == again.0, "bytes on {threads} threads");
        }
    }
}

#[test]
fn a_random_scene_on_any_number_of_threads() {
    let mut random = Random::new(11);
    let camera = scenes::camera(&mut random, 231, 135);
    // More than one chunk of 4096 splats per thread.
    let splats = scenes::splats(&mut random, &camera, 60_000, 3);
    assert_same_on_all_threads(&splats, &camera);
}

#[test]
fn a_trained_scene_on_any_number_of_threads() {
    let Some(splats) = shared::scene("truck") else {
        return;
    };
    let Some(cameras) = shared::cameras("scenes/reference/truck.small.cameras.json") else {
        return;
    };
    for camera in &cameras {
        assert_same_on_all_threads(&splats, &camera.resized(500, 278).unwrap());
    }
}

/// Bands, from the top, are the rows of the whole picture, and their fragments add up.
#[test]
fn bands_are_the_rows_of_the_picture() {
    let mut random = Random::new(13);
    let camera = scenes::camera(&mut random, 231, 135);
    let splats = scenes::splats(&mut random, &camera, 9000, 2);
    let settings = RenderSettings::default();
    let (whole, counts) = Renderer::default().render(&splats, &camera, &settings);
    let mut renderer = Renderer::default();
    for (pixels, bands) in [(0, 5), (231 * 70, 3), (231 * 135, 2), (231 * 160, 1)] {
        let (mut drawn, mut count) = (Vec::new(), 0);
        let each = |band: &Frame| {
            assert_eq!(band.width(), 231);
            count += 1;
            drawn.extend(bytes(band));
            Ok(())
        };
        let (sum, _) =
            renderer.render_bands(pixels, &splats, &camera, &settings, &Task::NEVER, each).unwrap();
        assert_eq!((sum, count), (counts, bands));
        assert!(drawn == bytes(&whole), "bands of {pixels} pixels");
    }
}

/// Earlier frames of other scenes, views and sizes have no effect.
#[test]
fn a_reused_renderer_draws_what_a_fresh_one_does() {
    let mut random = Random::new(12);
    let sizes = [(64, 48), (200, 150), (1, 1), (33, 31), (100, 7), (200, 150)];
    let frames: Vec<(Splats, Camera)> = sizes
        .into_iter()
        .zip([300, 9000, 40, 5000, 0, 20_000])
        .map(|((width, height), len)| {
            let camera = scenes::camera(&mut random, width, height);
            (scenes::splats(&mut random, &camera, len, 2), camera)
        })
        .collect();
    let settings = RenderSettings::default();
    let (mut reused, mut frame) = (Renderer::default(), Frame::new(0, 0));
    for round in 0..2 {
        for (index, (splats, camera)) in frames.iter().enumerate() {
            let (fresh, fresh_counts) = Renderer::default().render(splats, camera, &settings);
            let (counts, _) = reused
                .render_into(&mut frame, splats, camera, &settings, &quadrille::Task::NEVER)
                .unwrap();
            assert_eq!(counts, fresh_counts, "round {round}, frame {index}");
            assert!(bytes(&frame) == bytes(&fresh), "round {round}, frame {index}");
        }
    }
}
