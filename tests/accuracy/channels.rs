//! Channels beside the pictures of the same splats: rows of the caller, any number of values, depths and backgrounds.
use quadrille::channels::{ChannelDepth, ChannelPicture, ChannelSettings, ChannelValues};
use quadrille::{
    Camera, LayerSettings, Profile, RenderSettings, Renderer, SimdLevel, SplatRows, Splats, Task,
};

use crate::support::scenes::{self, Random};

/// Splats of every difficult kind, and their camera; pictures end inside tiles and blocks.
fn storm(sh_degree: u8) -> (Splats, Camera) {
    let mut random = Random::new(7);
    let camera = scenes::camera(&mut random, 70, 41);
    let splats = scenes::splats(&mut random, &camera, 700, sh_degree);
    // Quaternions are divided by their lengths, which rounds them once more.
    let splats = Splats::from_slices(&splats.to_arrays().as_slices()).unwrap();
    (splats, camera)
}

fn settings(level: SimdLevel) -> RenderSettings {
    let profile = Profile::named("gsplat-1.5").unwrap();
    RenderSettings { profile, level }
}

/// Renders channels of rows: values, alphas, and the number of rows that were left out.
fn channels(
    rows: &SplatRows<'_>,
    camera: &Camera,
    channels: &ChannelSettings<'_>,
    level: SimdLevel,
) -> (Vec<f32>, Vec<f32>, u64) {
    let pixels = camera.width as usize * camera.height as usize;
    let mut values = vec![f32::NAN; pixels * channels.channels()];
    let mut alphas = vec![f32::NAN; pixels];
    let mut picture = ChannelPicture { values: &mut values, alphas: &mut alphas };
    let drawn = Renderer::default()
        .render_channels(rows, camera, &settings(level), channels, &mut picture, &Task::NEVER)
        .unwrap();
    (values, alphas, drawn.invalid_rows + rows.invalid())
}

const PLAIN: ChannelSettings<'_> = ChannelSettings {
    values: ChannelValues::Colours,
    depth: None,
    background: None,
    has_spread: false,
};

fn bits(values: impl IntoIterator<Item = f32>) -> Vec<u32> {
    values.into_iter().map(f32::to_bits).collect()
}

#[test]
fn colours_of_rows_are_the_picture_of_the_scene() {
    for degree in [0, 3, 4] {
        let (splats, camera) = storm(degree);
        let arrays = splats.to_arrays();
        let rows = SplatRows::new(arrays.as_slices(), degree).unwrap();
        for level in SimdLevel::all() {
            let (frame, _) = Renderer::default().render(&splats, &camera, &settings(level));
            let (values, alphas, invalid) = channels(&rows, &camera, &PLAIN, level);
            assert_eq!(invalid, 0);
            let colours = frame.pixels().iter().flat_map(|p| p[..3].to_vec());
            assert!(bits(values) == bits(colours), "{}", level.name());
            assert!(bits(alphas) == bits(frame.pixels().iter().map(|p| p[3])));
        }
    }
}

/// A lower degree than the rows hold draws as a scene without the higher coefficients.
#[test]
fn coefficients_beyond_the_degree_are_not_used() {
    let (splats, camera) = storm(3);
    let lower = Splats::from_splats(1, splats.iter());
    let arrays = splats.to_arrays();
    let rows = SplatRows::new(arrays.as_slices(), 1).unwrap();
    let level = SimdLevel::best();
    let (frame, _) = Renderer::default().render(&lower, &camera, &settings(level));
    let (values, ..) = channels(&rows, &camera, &PLAIN, level);
    assert!(bits(values) == bits(frame.pixels().iter().flat_map(|p| p[..3].to_vec())));
}

/// Every channel is linear in the values: rows that are the depth times a factor, of either sign, are the depth sum
/// times it. The depth equals the depth of the layers.
#[test]
fn any_number_of_values_is_blended_by_the_same_weights() {
    let (splats, camera) = storm(0);
    let arrays = splats.to_arrays();
    let rows = SplatRows::new(arrays.as_slices(), 0).unwrap();
    let level = SimdLevel::best();
    let layers = LayerSettings {
        layers: vec![quadrille::Layer::DepthSum, quadrille::Layer::Depth],
        is_distance: false,
    };
    let mut frame = quadrille::Frame::new(1, 1);
    let task = &Task::NEVER;
    let drawn = Renderer::default().render_layers(
        &mut frame,
        &splats,
        &camera,
        &settings(level),
        &layers,
        task,
    );
    let (layers, ..) = drawn.unwrap();
    let plane = |at: usize| layers[at].plane(0).to_vec();
    let (sum, mean) = (plane(0), plane(1));
    for count in [1, 2, 3, 4, 5, 7, 8, 9, 65] {
        let factor = |channel: usize| 1.5 - channel as f32;
        let depth = |mean: &[f32; 3]| {
            let view = camera.view_from_world.row(2);
            let z = (0..3).map(|i| view[i] * f64::from(mean[i])).sum::<f64>();
            (z + camera.translation_in_view.z) as f32
        };
        let values = arrays.means.iter().flat_map(|mean| {
            let depth = depth(mean);
            (0..count).map(move |channel| depth * factor(channel))
        });
        let values: Vec<f32> = values.collect();
        let background: Vec<f32> = (0..count).map(|channel| channel as f32).collect();
        for (kind, expected_depth) in
            [(None, &sum), (Some(ChannelDepth::Sum), &sum), (Some(ChannelDepth::Mean), &mean)]
        {
            let settings = ChannelSettings {
                values: ChannelValues::Rows { values: &values, channels: count },
                depth: kind,
                background: Some(&background),
                has_spread: false,
            };
            let (found, alphas, invalid) = channels(&rows, &camera, &settings, level);
            assert_eq!(invalid, 0);
            let pixels = found.chunks_exact(settings.channels());
            for (at, (pixel, alpha)) in pixels.zip(&alphas).enumerate() {
                assert_eq!(*alpha, frame.pixels()[at][3]);
                for (channel, value) in pixel[..count].iter().enumerate() {
                    let expected = sum[at] * factor(channel) + (1.0 - alpha) * background[channel];
                    let bound = 1e-5 * (1.0 + expected.abs() + (sum[at] * factor(channel)).abs());
                    assert!((value - expected).abs() < bound, "{count}: {value} {expected}");
                }
                if kind.is_some() {
                    assert_eq!(pixel[count], expected_depth[at]);
                }
            }
        }
    }
}

/// Rows that are not finite leave the picture of the other ones.
#[test]
fn invalid_rows_are_left_out_and_counted() {
    let (splats, camera) = storm(1);
    let arrays = splats.to_arrays();
    let level = SimdLevel::best();
    let visible = {
        let mut renderer = Renderer::default();
        renderer.render(&splats, &camera, &settings(level));
        let drawn: Vec<usize> = renderer.drawn().map(|(s, _)| s.index as usize).collect();
        assert!(drawn.is_sorted() && drawn.len() > 100, "{}", drawn.len());
        drawn
    };
    let is_bad = |index: usize| visible[..40].contains(&index);
    let kept = (0..splats.len()).filter(|i| !is_bad(*i)).map(|i| splats.splat(i));
    let kept = Splats::from_splats(1, kept);
    let expected = Renderer::default().render(&kept, &camera, &settings(level)).0;
    let expected = bits(expected.pixels().iter().flat_map(|p| p[..3].to_vec()));
    for field in 0..7 {
        let mut arrays = arrays.clone();
        for (count, &index) in visible[..40].iter().enumerate() {
            let value = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY][count % 3];
            match field {
                0 => arrays.means[index][count % 3] = value,
                1 => arrays.scales[index][count % 3] = value,
                2 => arrays.rotations[index][count % 4] = value,
                3 => arrays.rotations[index] = [0.0; 4],
                4 => arrays.opacities[index] = value,
                5 => arrays.sh[index * 4 + count % 4][count % 3] = value,
                _ => arrays.sh[index * 4 + 3] = [f32::INFINITY, f32::NEG_INFINITY, value],
            }
        }
        let rows = SplatRows::new(arrays.as_slices(), 1).unwrap();
        let (found, _, invalid) = channels(&rows, &camera, &PLAIN, level);
        assert!(bits(found) == expected, "field {field}");
        assert_eq!(invalid, 40, "field {field}");
    }
    let mut values = vec![0.5; splats.len() * 5];
    for &index in &visible[..40] {
        values[index * 5 + index % 5] = f32::NAN;
    }
    let of_values =
        ChannelSettings { values: ChannelValues::Rows { values: &values, channels: 5 }, ..PLAIN };
    let rows = SplatRows::new(arrays.as_slices(), 0).unwrap();
    let (found, alphas, invalid) = channels(&rows, &camera, &of_values, level);
    assert_eq!(invalid, 40);
    for (pixel, alpha) in found.chunks_exact(5).zip(alphas) {
        assert!(pixel.iter().all(|value| (value - alpha / 2.0).abs() < 1e-5));
    }
}

/// Quaternions of any length turn splats alike.
#[test]
fn quaternions_need_no_length() {
    let (splats, camera) = storm(0);
    let level = SimdLevel::best();
    let (frame, _) = Renderer::default().render(&splats, &camera, &settings(level));
    for length in [1e-30_f32, 0.25, 4.0, 1e30] {
        let mut arrays = splats.to_arrays();
        let rotations = arrays.rotations.iter_mut().flatten();
        rotations.for_each(|component| *component *= length);
        let rows = SplatRows::new(arrays.as_slices(), 0).unwrap();
        let (found, ..) = channels(&rows, &camera, &PLAIN, level);
        let strays = found.iter().zip(frame.pixels().iter().flat_map(|p| &p[..3]));
        let strays = strays.filter(|(a, b)| (*a - *b).abs() > 1e-4).count();
        assert!(strays <= 3, "{length}: {strays}");
    }
}

#[test]
fn lengths_that_do_not_fit_are_errors() {
    let (splats, camera) = storm(1);
    let mut arrays = splats.to_arrays();
    assert!(SplatRows::new(arrays.as_slices(), 2).is_err());
    arrays.sh.pop();
    assert!(SplatRows::new(arrays.as_slices(), 1).is_err());
    arrays.sh.clear();
    assert!(SplatRows::new(arrays.as_slices(), 1).is_err());
    let rows = SplatRows::new(arrays.as_slices(), 0).unwrap();
    let values = vec![0.0; splats.len() * 2];
    let two = ChannelValues::Rows { values: &values, channels: 2 };
    let three = ChannelValues::Rows { values: &values, channels: 3 };
    let wrong = [
        (two, None, Some(&[0.0; 3][..]), 2),
        (three, None, None, 3),
        (two, Some(ChannelDepth::Sum), None, 2),
        (ChannelValues::None, None, None, 0),
    ];
    let pixels = camera.width as usize * camera.height as usize;
    for (values, depth, background, count) in wrong {
        let settings = ChannelSettings { values, depth, background, has_spread: false };
        let mut picture = ChannelPicture {
            values: &mut vec![0.0; pixels * count],
            alphas: &mut vec![0.0; pixels],
        };
        let drawn = Renderer::default().render_channels(
            &rows,
            &camera,
            &self::settings(SimdLevel::best()),
            &settings,
            &mut picture,
            &Task::NEVER,
        );
        assert!(drawn.is_err(), "{settings:?}");
    }
}

/// Conics and radii from the record of a splat agree with the definition of its projection.
#[test]
fn conics_and_radii_follow_from_the_record() {
    let (splats, camera) = storm(0);
    let profile = settings(SimdLevel::best()).profile;
    let view = quadrille_render::preprocess::ViewTransform::new(&splats, &camera, &profile);
    let mut renderer = Renderer::default();
    renderer.render(&splats, &camera, &settings(SimdLevel::best()));
    let mut at_edges = 0;
    for (drawn, _) in renderer.drawn() {
        let splat = splats.splat(drawn.index as usize);
        let exact =
            quadrille_render::preprocess::exact::ExactSplat::project(&view, 0, &splat).unwrap();
        let [xx, xy, yy] = exact.covariance;
        let expected = [yy, -xy, xx].map(|entry| entry / exact.determinant);
        let largest = expected[0].max(expected[2]);
        for (found, expected) in drawn.conic().iter().zip(expected) {
            assert!((f64::from(*found) - expected).abs() < 1e-4 * largest, "{found} {expected}");
        }
        assert!((f64::from(drawn.opacity()) - exact.opacity).abs() < 1e-5);
        let reach = (2.0 * (255.0 * exact.opacity).ln()).sqrt().min(3.33);
        for (found, variance) in drawn.radii().iter().zip([xx, yy]) {
            let radius = reach * variance.sqrt();
            if (radius - radius.round()).abs() < 1e-3 * radius {
                at_edges += 1;
            } else {
                assert_eq!(f64::from(*found), radius.ceil(), "{radius}");
            }
        }
    }
    assert!(at_edges < 100, "{at_edges}");
}

/// By the fragments that the definition blends.
#[test]
fn the_spread_is_that_of_the_fragments_of_each_pixel() {
    let (splats, camera) = storm(0);
    let arrays = splats.to_arrays();
    let rows = SplatRows::new(arrays.as_slices(), 0).unwrap();
    let of_row = |index: u32| 1.0 + (index % 17) as f32 / 8.0;
    let values: Vec<f32> = (0..).take(splats.len()).map(of_row).collect();
    let values = ChannelValues::Rows { values: &values, channels: 1 };
    let spread = ChannelSettings { values, has_spread: true, ..PLAIN };
    for level in SimdLevel::all() {
        let (found, ..) = channels(&rows, &camera, &spread, level);
        let (mut largest, mut strays) = (0.0_f64, 0);
        for (at, pixel) in (0..).zip(found.chunks_exact(3)).step_by(7) {
            let place = [at % camera.width, at / camera.width];
            let probe = Renderer::default().probe(&splats, &camera, &settings(level), place);
            let (mut before, mut sum, mut median, mut distortion) = (1.0, 0.0, 0.0, 0.0);
            for fragment in probe.unwrap().fragments {
                let value = f64::from(of_row(fragment.index));
                median = if before > 0.5 { value } else { median };
                distortion += 2.0 * fragment.weight * (value * (1.0 - before) - sum);
                sum += fragment.weight * value;
                before -= fragment.weight;
            }
            // The transmittance in front of a fragment may be half within rounding.
            strays += u32::from((f64::from(pixel[1]) - median).abs() > 1e-6);
            assert!((f64::from(pixel[2]) - distortion).abs() < 1e-4, "{pixel:?} {distortion}");
            largest = largest.max(distortion.abs());
        }
        assert!(strays <= 1 && largest > 0.1, "{}: {strays}, {largest}", level.name());
    }
}
