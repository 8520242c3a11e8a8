//! Packed formats: every value against a decoder of its own, in `decode_splats.py`, and files made by
//! hand for what the samples lack.

use std::collections::BTreeMap;
use std::path::Path;

use quadrille::{LoadOptions, Scene, SceneInput, Splat, SplatAxes, load, load_table};

use crate::support::shared;

/// Largest difference of a value from the value of the decoder, relative above 1, and of a mean over a file
/// relative to the mean magnitude.
const TOLERANCE: f64 = 1e-6;

/// Columns of the digests: mean, scale, rotation, opacity, SH constants, then the higher coefficients.
const ROTATION: std::ops::Range<usize> = 6..10;

#[derive(serde::Deserialize)]
struct Digest {
    rows: usize,
    sums: Vec<f64>,
    absolute_sums: Vec<f64>,
    sampled: BTreeMap<String, Vec<f64>>,
}

fn digests() -> BTreeMap<String, Digest> {
    serde_json::from_str(include_str!("decoded_splats.json")).unwrap()
}

/// The values of a splat in the order of the digests.
fn values(splat: &Splat, sh_degree: u8) -> Vec<f64> {
    let rest = quadrille_scene::rest_coefficients(sh_degree);
    let plain = [&splat.mean[..], &splat.scale, &splat.rotation, &[splat.opacity], &splat.sh[0]];
    let higher = (0..3).flat_map(|channel| splat.sh[1..=rest].iter().map(move |rgb| rgb[channel]));
    let all = plain.into_iter().flatten().copied().chain(higher);
    all.map(f64::from).collect()
}

fn close(found: f64, expected: f64) -> bool {
    (found - expected).abs() <= TOLERANCE * expected.abs().max(1.0)
}

/// Compares a scene with a digest.
fn compare(name: &str, scene: &Scene, digest: &Digest) {
    assert_eq!(scene.splats.len(), digest.rows, "{name}");
    assert_eq!(scene.dropped.total(), 0, "{name}");
    let degree = scene.splats.sh_degree();
    let count = digest.sums.len();
    let (mut sums, mut absolute) = (vec![0.0; count], vec![0.0; count]);
    for splat in scene.splats.iter() {
        let values = values(&splat, degree);
        assert_eq!(values.len(), count, "{name}");
        for (at, value) in values.into_iter().enumerate() {
            sums[at] += value;
            absolute[at] += value.abs();
        }
    }
    for at in 0..count {
        let bound = TOLERANCE * digest.absolute_sums[at].max(0.1);
        let error = (absolute[at] - digest.absolute_sums[at]).abs();
        assert!(error <= bound, "{name}, column {at}: magnitudes off by {error:e}");
        // A quaternion and its negative are the same rotation.
        let error = (sums[at] - digest.sums[at]).abs();
        assert!(ROTATION.contains(&at) || error <= bound, "{name}, column {at}: {error:e}");
    }
    for (row, expected) in &digest.sampled {
        let row: usize = row.parse().unwrap();
        let found = values(&scene.splats.splat(row), degree);
        let dot: f64 = ROTATION.map(|at| found[at] * expected[at]).sum();
        let sign = if dot < 0.0 { -1.0 } else { 1.0 };
        for at in 0..count {
            let value = if ROTATION.contains(&at) { found[at] * sign } else { found[at] };
            let place = format!("{name}, row {row}, column {at}");
            assert!(close(value, expected[at]), "{place}: {value} {}", expected[at]);
        }
    }
}

#[test]
fn samples_have_the_values_of_an_independent_decoder() {
    let Some(folder) = shared::path("scenes/formats") else {
        return;
    };
    for (name, digest) in digests() {
        let scene = load(folder.join(&name)).unwrap();
        compare(&name, &scene, &digest);
    }
}

#[test]
fn streamed_sog_has_levels_of_detail() {
    let Some(folder) = shared::path("scenes/formats/statue_lod") else {
        return;
    };
    let digests = digests();
    for (level, part) in [(0, "statue_lod/0_0"), (1, "statue_lod/1_0")] {
        let scene = load(SceneInput::file(&folder).options(LoadOptions::new(None, level))).unwrap();
        compare(part, &scene, &digests[part]);
        assert!(scene.encoding.compression.ends_with(&format!("level of detail {level} of 2")));
    }
    let error = load(SceneInput::file(&folder).options(LoadOptions::new(None, 2))).unwrap_err();
    assert!(error.to_string().contains("expected a level below 2, found 2"), "{error}");
}

/// The same scene in all formats has the same bounds: their axes are the axes of the PLY.
#[test]
fn formats_of_one_scene_agree_on_axes() {
    let Some(folder) = shared::path("scenes") else {
        return;
    };
    let load = |name: &str| quadrille::load(folder.join(name)).unwrap();
    let bounds = |scene: &Scene| quadrille::SceneStatistics::of(&scene.splats).bounds.unwrap();
    let expected = bounds(&load("flowers.ply"));
    for name in ["compressed.ply", "glb", "sog", "v3.spz", "v4.spz"] {
        let found = bounds(&load(&format!("formats/flowers.{name}")));
        for (found, expected) in found.as_flattened().iter().zip(expected.as_flattened()) {
            assert!((found - expected).abs() < 0.02 * expected.abs(), "{name}: {found} {expected}");
        }
    }
}

/// Some programs pad files with zeros behind the gzip stream.
#[test]
fn bytes_behind_a_gzip_stream_are_ignored() {
    let packed = small_spz(2, None);
    let expected = load(SceneInput::bytes(&packed)).unwrap();
    for padding in [&[0; 4][..], &[0; 500], b"end"] {
        let padded = [&packed, padding].concat();
        assert_eq!(load(SceneInput::bytes(&padded)).unwrap().splats, expected.splats);
    }
    let cut = &packed[..packed.len() - 3];
    assert!(load(SceneInput::bytes(cut)).is_err());
}

/// An SPZ of version 1 to 3 with two splats of degree 1, packed by hand.
pub(crate) fn small_spz(version: u32, extension: Option<u32>) -> Vec<u8> {
    let mut body = Vec::new();
    for word in [0x5053_474e, version, 2] {
        body.extend(u32::to_le_bytes(word));
    }
    body.extend([1, 12, if extension.is_some() { 3 } else { 1 }, 0]);
    match version {
        1 => body.extend(
            [1.5f32, -2.0, 0.25, 0.0, 1.0, -1.0]
                .iter()
                .flat_map(|v| half::f16::from_f32(*v).to_le_bytes()),
        ),
        _ => body.extend(
            [6144i32, -8192, 1024, 0, 4096, -4096]
                .iter()
                .flat_map(|v| v.to_le_bytes()[..3].to_vec()),
        ),
    }
    body.extend([255, 51]);
    body.extend([0, 127, 255, 128, 128, 128]);
    body.extend([160, 176, 144, 0, 255, 160]);
    match version {
        1 | 2 => body.extend([0, 128, 127, 128, 255, 127]),
        // The largest is w, and the components x, y, z follow from the top: 0, -1/2, 0.
        _ => body
            .extend([3u32 << 30 | (512 | 361) << 10, 3 << 30].iter().flat_map(|v| v.to_le_bytes())),
    }
    body.extend((0..18u8).map(|v| v * 14));
    for (word, value) in extension.iter().flat_map(|axes| [(0u32, 1u32), (0xADBE_0003, *axes)]) {
        body.extend(word.to_le_bytes());
        body.extend(4u32.to_le_bytes());
        body.extend(value.to_le_bytes());
    }
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut packer, &body).unwrap();
    packer.finish().unwrap()
}

#[test]
fn every_version_of_spz_is_decoded() {
    for version in 1..=3 {
        let scene =
            load(SceneInput::bytes(&small_spz(version, None)).named(Path::new("small"))).unwrap();
        assert_eq!(scene.format.name(), "SPZ");
        assert_eq!(scene.profile_hint, Some("inria-aa"));
        assert!(!scene.encoding.axes_stated);
        let splat = scene.splats.splat(0);
        assert_eq!(splat.mean, [1.5, 2.0, -0.25], "version {version}");
        assert_eq!(splat.opacity, 1.0);
        assert_eq!(splat.scale.map(f64::from)[0], 1.0);
        assert!(close(f64::from(splat.scale[1]), 1f64.exp()));
        assert!(close(f64::from(splat.sh[0][0]), -0.5 / 0.15));
        // Red of (-y, z, -x), whose first two change their sign.
        let raw = |at: i32| (at * 14 - 128) as f32 / 128.0;
        assert_eq!([1, 2, 3].map(|k| splat.sh[k][0]), [-raw(0), -raw(3), raw(6)]);
        let expected = match version {
            3 => [0.866_153, 0.0, 0.499_773, 0.0],
            _ => [0.0, -1.0, 0.0, 0.0],
        };
        for (found, expected) in splat.rotation.iter().zip(expected) {
            assert!((found - expected).abs() < 0.005, "version {version}: {:?}", splat.rotation);
        }
    }
}

#[test]
fn axes_of_spz_follow_the_extension_then_the_option() {
    let mean = |bytes: &[u8], axes: Option<SplatAxes>| {
        let options = LoadOptions::new(axes, 0);
        let scene =
            load(SceneInput::bytes(bytes).named(Path::new("small.spz")).options(options)).unwrap();
        (scene.splats.splat(0).mean, scene.encoding.axes_stated)
    };
    let plain = small_spz(3, None);
    assert_eq!(mean(&plain, None), ([1.5, 2.0, -0.25], false));
    assert_eq!(mean(&plain, Some(SplatAxes::RDF)), ([1.5, -2.0, 0.25], false));
    for (code, expected) in [
        (4, [1.5, 2.0, -0.25]),
        (6, [1.5, -2.0, 0.25]),
        (7, [-1.5, 2.0, 0.25]),
        (8, [1.5, 2.0, 0.25]),
    ] {
        let stated = small_spz(3, Some(code));
        assert_eq!(mean(&stated, Some(SplatAxes::RDF)), (expected, true), "{code}");
    }
    assert_eq!(mean(&small_spz(3, Some(99)), None), ([1.5, 2.0, -0.25], false));
}

/// A `.ksplat` of one section at `level` with a full and a partial bucket of one splat each, degree 1.
pub(crate) fn small_ksplat(level: u16) -> Vec<u8> {
    let mut file = vec![0; 4096 + 1024];
    let mut put = |at: usize, bytes: &[u8]| file[at..at + bytes.len()].copy_from_slice(bytes);
    put(1, &[1]);
    for (at, word) in [(4, 1u32), (8, 1), (16, 2)] {
        put(at, &word.to_le_bytes());
    }
    put(20, &level.to_le_bytes());
    put(36, &(-2f32).to_le_bytes());
    put(40, &2f32.to_le_bytes());
    // Splats, capacity, bucket size, buckets; range at 24; full and partial buckets.
    for (at, word) in [(0, 2u32), (4, 2), (8, 1), (12, 2), (24, 100), (32, 1), (36, 1)] {
        put(4096 + at, &word.to_le_bytes());
    }
    put(4096 + 16, &8f32.to_le_bytes());
    put(4096 + 40, &1u16.to_le_bytes());
    file.extend(1u32.to_le_bytes());
    for centre in [10f32, 20.0, 30.0, -10.0, -20.0, -30.0] {
        file.extend(centre.to_le_bytes());
    }
    for splat in 0..2u16 {
        let half = |v: f32| half::f16::from_f32(v).to_le_bytes().to_vec();
        let number = |v: f32| match level {
            0 => v.to_le_bytes().to_vec(),
            _ => half(v),
        };
        for axis in 0..3u16 {
            match level {
                0 => file.extend(f32::from(splat + axis).to_le_bytes()),
                _ => file.extend((100 + 50 * splat + 25 * axis).to_le_bytes()),
            }
        }
        file.extend([0.5f32, 1.0, 2.0].into_iter().flat_map(number));
        file.extend([0.0f32, 2.0, 0.0, 0.0].into_iter().flat_map(number));
        file.extend([0, 51, 255, 102]);
        for coefficient in 0..9u8 {
            match level {
                0 | 1 => file.extend(number(f32::from(coefficient) / 4.0)),
                _ => file.push(coefficient * 15),
            }
        }
    }
    file
}

#[test]
fn every_level_of_ksplat_is_decoded() {
    for level in 0..3 {
        let scene =
            load(SceneInput::bytes(&small_ksplat(level)).named(Path::new("small.ksplat"))).unwrap();
        // A pipe has no extension.
        let piped = load(SceneInput::bytes(&small_ksplat(level)).named(Path::new("-"))).unwrap();
        assert_eq!(piped.format.name(), ".ksplat");
        assert_eq!((scene.splats.len(), scene.splats.sh_degree()), (2, 1));
        let [first, second] = [0, 1].map(|i| scene.splats.splat(i));
        let means = match level {
            0 => [[0.0, 1.0, 2.0], [1.0, 2.0, 3.0]],
            // (q - 100) 8 / 2 / 100, from the centre of the bucket.
            _ => [[10.0, 21.0, 32.0], [-8.0, -17.0, -26.0]],
        };
        assert_eq!([first.mean, second.mean], means, "level {level}");
        for (found, expected) in first.scale.iter().zip([0.5, 1.0, 2.0]) {
            assert!(close(f64::from(*found), expected), "{:?}", first.scale);
        }
        assert_eq!(first.rotation, [0.0, 1.0, 0.0, 0.0]);
        assert!(close(f64::from(first.opacity), 0.4));
        for channel in 0..3u8 {
            for k in 0..3u8 {
                let at = 3 * channel + k;
                let expected = match level {
                    2 => f64::from(at) * 15.0 / 255.0 * 4.0 - 2.0,
                    _ => f64::from(at) / 4.0,
                };
                let found = first.sh[usize::from(k) + 1][usize::from(channel)];
                assert!(close(f64::from(found), expected), "level {level}: {found} {expected}");
            }
        }
    }
}

/// A lossless WebP of RGBA pixels in one row of blocks of `width`.
fn webp(width: u32, pixels: &[[u8; 4]]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let height = pixels.len() as u32 / width;
    image_webp::WebPEncoder::new(&mut bytes)
        .encode(pixels.as_flattened(), width, height, image_webp::ColorType::Rgba8)
        .unwrap();
    bytes
}

/// A SOG of version 1 in a folder: ranges in place of codebooks.
#[test]
fn version_1_of_sog_is_decoded() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| std::fs::write(folder.path().join(name), bytes).unwrap();
    let meta = serde_json::json!({
        "means": {"shape": [2, 3], "mins": [0.0, -1.0, 0.0], "maxs": [1.0, 1.0, 2.0],
            "files": ["means_l.webp", "means_u.webp"]},
        "scales": {"shape": [2, 3], "mins": [-2.0, -2.0, 0.0], "maxs": [0.0, 0.0, 1.0], "files": ["scales.webp"]},
        "quats": {"shape": [2, 4], "encoding": "quaternion_packed", "files": ["quats.webp"]},
        "sh0": {"shape": [2, 1, 4], "mins": [0.0, 0.0, 0.0, -5.0], "maxs": [1.0, 1.0, 1.0, 5.0], "files": ["sh0.webp"]},
        "shN": {"shape": [2, 9], "mins": -1.0, "maxs": 1.0, "files": ["shN_centroids.webp", "shN_labels.webp"]},
    });
    write("meta.json", meta.to_string().as_bytes());
    write("means_l.webp", &webp(2, &[[255, 255, 0, 255], [0, 0, 0, 255]]));
    write("means_u.webp", &webp(2, &[[255, 255, 0, 255], [0, 0, 0, 255]]));
    write("scales.webp", &webp(2, &[[0, 255, 0, 255], [255, 255, 255, 255]]));
    write("quats.webp", &webp(2, &[[255, 128, 128, 252], [1, 2, 3, 7]]));
    write("sh0.webp", &webp(2, &[[0, 255, 51, 255], [0, 0, 0, 0]]));
    let mut centroids = vec![[0, 0, 0, 255]; 64 * 3];
    centroids[3..6].copy_from_slice(&[[255, 0, 51, 255], [0, 255, 0, 255], [0, 0, 255, 255]]);
    write("shN_centroids.webp", &webp(192, &centroids));
    write("shN_labels.webp", &webp(2, &[[1, 0, 0, 255], [0, 0, 0, 255]]));
    for path in [folder.path().to_owned(), folder.path().join("meta.json")] {
        let scene = quadrille::load(&path).unwrap();
        let [first, second] = [0, 1].map(|i| scene.splats.splat(i));
        let expected = [1f64.exp() - 1.0, 1f64.exp() - 1.0, 0.0];
        assert!(first.mean.iter().zip(expected).all(|(m, e)| close(f64::from(*m), e)));
        assert!(close(f64::from(second.mean[1]), -(1f64.exp() - 1.0)));
        assert!(close(f64::from(first.scale[0]), (-2f64).exp()));
        assert_eq!(first.scale[1..], [1.0, 1.0]);
        let expected = [0.5f64.sqrt(), 0.5f64.sqrt(), 0.0, 0.0];
        assert!(
            first.rotation.iter().zip(expected).all(|(q, e)| (f64::from(*q) - e).abs() < 0.005)
        );
        assert_eq!(second.rotation, [1.0, 0.0, 0.0, 0.0], "an unknown mark is no rotation");
        assert!(close(f64::from(first.opacity), 1.0 / (1.0 + (-5f64).exp())));
        assert!(close(f64::from(first.sh[0][2]), 0.2));
        assert_eq!(
            first.sh[1..4].as_flattened(),
            [1.0, -1.0, -0.6, -1.0, 1.0, -1.0, -1.0, -1.0, 1.0]
        );
        assert!(scene.encoding.compression.contains("version 1"));
    }
}

/// Positions in a bucket on a map are exact, although its centre is in single precision.
#[test]
fn buckets_of_ksplat_on_a_map_are_read_in_double_precision() {
    let mut file = small_ksplat(1);
    // The size of blocks, and the centre of the first bucket.
    file[4096 + 16..][..4].copy_from_slice(&0.8_f32.to_le_bytes());
    file[4096 + 1024 + 4..][..4].copy_from_slice(&4_600_000_f32.to_le_bytes());
    file[4096 + 1024 + 16..][..4].copy_from_slice(&4_600_001_f32.to_le_bytes());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("far.ksplat");
    std::fs::write(&path, file).unwrap();
    let table = load_table(&path).unwrap();
    // Two hundredths of the block's half size per step, and steps of 0 and 50 from the centre.
    let step = f64::from(0.8_f32) / 2.0 / 100.0;
    let x = table.values("x").unwrap();
    assert!((x.get(0) - 4_600_000.0).abs() < 1e-9);
    assert!((x.get(1) - (4_600_001.0 + 50.0 * step)).abs() < 1e-9, "{}", x.get(1));
}
