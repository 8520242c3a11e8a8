//! LPIPS against the authors' package, on files of weights.

use std::io::Write;
use std::path::Path;

use quadrille_base::Error;
use quadrille_base::image::Frame;
use quadrille_base::image::metrics::Protocol;
use quadrille_base::image::metrics::lpips::{
    InputScale, Lpips, LpipsNet, LpipsWeights, find_weights,
};
use quadrille_base::math::{SimdLevel, narrow};
use serde::Deserialize;
use serde_json::json;

/// Largest difference from the distances of the authors' package in double precision, and between SIMD levels.
const TOLERANCE: f64 = 1e-6;

/// First state of the random generator for pictures; the states for weights begin at 0.
const PICTURE: u64 = 1 << 60;

/// A distance that `python/tools/lpips_reference.py` has computed.
#[derive(Deserialize)]
struct Row {
    net: LpipsNet,
    weights: String,
    size: [u32; 2],
    scale: InputScale,
    distance: f64,
}

fn rows(net: LpipsNet, weights: &str) -> Vec<Row> {
    let mut rows: Vec<Row> = serde_json::from_str(include_str!("lpips.json")).unwrap();
    rows.retain(|row| row.net == net && row.weights == weights);
    rows
}

/// The output of the generator `SplitMix64` for a state.
fn random_bits(state: u64) -> u64 {
    let mut z = state.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The pictures of `python/tools/lpips_reference.py`.
fn pictures([width, height]: [u32; 2]) -> [Frame; 2] {
    let frame = |value: &dyn Fn(u32, u32, u32) -> i64| {
        let channel = |x, y, c| narrow(value(x, y, c) as f64 / 255.0);
        let pixel = |i| {
            let [x, y] = [i % width, i / width];
            [channel(x, y, 0), channel(x, y, 1), channel(x, y, 2), 1.0]
        };
        Frame::from_pixels(width, height, (0..width * height).map(pixel).collect())
    };
    let ramp = |x: u32, y: u32, c: u32| i64::from((x * (3 + c) + y * (7 - 2 * c)) / 2 % 256);
    let noisy = |x: u32, y: u32, c: u32| {
        let noise = random_bits(PICTURE + u64::from((y * width + x) * 3 + c)) % 61;
        (ramp(x, y, c) + i64::try_from(noise).unwrap() - 30).clamp(0, 255)
    };
    [frame(&ramp), frame(&noisy)]
}

/// Names and shapes of the arrays of a file.
fn shapes(net: LpipsNet) -> Vec<(String, Vec<usize>)> {
    let (convolutions, compared): (Vec<[usize; 3]>, _) = match net {
        LpipsNet::Vgg => {
            let outputs = [64, 64, 128, 128, 256, 256, 256, 512, 512, 512, 512, 512, 512];
            let inputs = std::iter::once(3).chain(outputs);
            let shapes = outputs.into_iter().zip(inputs).map(|(o, i)| [o, i, 3]);
            (shapes.collect(), [64, 128, 256, 512, 512])
        }
        LpipsNet::Alex => {
            let shapes = [[64, 3, 11], [192, 64, 5], [384, 192, 3], [256, 384, 3], [256, 256, 3]];
            (shapes.to_vec(), [64, 192, 384, 256, 256])
        }
    };
    let convolutions = convolutions.iter().zip(1..).flat_map(|(&[o, i, side], number)| {
        [
            (format!("conv{number}.weight"), vec![o, i, side, side]),
            (format!("conv{number}.bias"), vec![o]),
        ]
    });
    let linear = compared.into_iter().zip(1..);
    let linear = linear.map(|(channels, i)| (format!("linear{i}.weight"), vec![channels]));
    convolutions.chain(linear).collect()
}

/// The weights that `python/tools/lpips_reference.py` generates.
fn generated(name: &str, number: usize, shape: &[usize]) -> Vec<f32> {
    let fan_in: usize = shape[1..].iter().product();
    let value = |i: usize| {
        let bits = random_bits(((number as u64) << 32) + i as u64) >> 40;
        let unit = bits as f64 / f64::from(1 << 24);
        let limit = if shape.len() == 4 { (6.0 / fan_in as f64).sqrt() } else { 0.1 };
        if name.starts_with("linear") { unit } else { (2.0 * unit - 1.0) * limit }
    };
    let count = shape.iter().product();
    (0..count).map(|i| narrow(value(i))).collect()
}

/// Content of a safetensors file of generated weights. `change` may change the header and the data.
fn content(net: LpipsNet, change: impl FnOnce(&mut serde_json::Value, &mut Vec<u8>)) -> Vec<u8> {
    let mut header = json!({"__metadata__": {"source": "generated"}});
    let mut data: Vec<u8> = Vec::new();
    for (number, (name, shape)) in shapes(net).into_iter().enumerate() {
        let start = data.len();
        let values = generated(&name, number, &shape);
        data.extend(values.iter().flat_map(|value| value.to_le_bytes()));
        header[name] = json!({"dtype": "F32", "shape": shape, "data_offsets": [start, data.len()]});
    }
    change(&mut header, &mut data);
    let header = header.to_string();
    [&(header.len() as u64).to_le_bytes(), header.as_bytes(), &data].concat()
}

fn read(content: &[u8], net: LpipsNet) -> Result<LpipsWeights, Error> {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(content).unwrap();
    LpipsWeights::read(file.path(), net)
}

fn hold(lpips: &Lpips, rows: &[Row]) {
    assert!(!rows.is_empty());
    for row in rows {
        let [a, b] = pictures(row.size);
        let found = lpips.distance(&a, &b, Protocol::Inria, row.scale).unwrap();
        let difference = (found - row.distance).abs();
        let place = format!("{} {:?} {}", row.net, row.size, row.scale);
        assert!(difference < TOLERANCE, "{place}: {found} for {}", row.distance);
    }
}

#[test]
fn generated_weights_give_the_distances_of_the_authors_on_every_level() {
    for net in LpipsNet::ALL {
        let weights = read(&content(net, |_, _| {}), net).unwrap();
        for level in SimdLevel::all() {
            hold(&Lpips::on_level(&weights, level), &rows(net, "generated"));
        }
    }
}

#[test]
fn trained_weights_give_the_distances_of_the_authors() {
    for net in LpipsNet::ALL {
        match find_weights(None, net) {
            Ok(path) => {
                let weights = LpipsWeights::read(&path, net).unwrap();
                hold(&Lpips::new(&weights), &rows(net, "trained"));
            }
            // Not `eprintln!`, which the harness captures.
            Err(reason) => {
                writeln!(std::io::stderr(), "skipped for {net}: {reason}").unwrap();
            }
        }
    }
}

#[test]
fn a_distance_is_symmetric_zero_for_equals_and_the_same_on_any_number_of_threads() {
    let net = LpipsNet::Alex;
    let lpips = Lpips::new(&read(&content(net, |_, _| {}), net).unwrap());
    let [a, b] = pictures([70, 101]);
    let distance = |a, b| lpips.distance(a, b, Protocol::Float, InputScale::Signed).unwrap();
    let on = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        pool.build().unwrap().install(|| distance(&a, &b))
    };
    assert_eq!(on(1).to_bits(), on(2).to_bits());
    assert_eq!(on(1).to_bits(), on(5).to_bits());
    assert_eq!(distance(&a, &b).to_bits(), distance(&b, &a).to_bits());
    assert!(distance(&a, &b) > 0.0);
    assert_eq!(distance(&a, &a), 0.0);
}

#[test]
fn small_pictures_are_refused() {
    let net = LpipsNet::Alex;
    let lpips = Lpips::new(&read(&content(net, |_, _| {}), net).unwrap());
    let [a, b] = pictures([200, 30]);
    let refused = lpips.distance(&a, &b, Protocol::Inria, InputScale::Unit);
    let message = refused.unwrap_err().to_string();
    let expected = "size of pictures for LPIPS: expected at least 31 x 31 pixels, found 200 x 30";
    assert_eq!(message, expected);
    let [_, other] = pictures([201, 30]);
    assert!(lpips.distance(&a, &other, Protocol::Inria, InputScale::Unit).is_err());
}

/// The message of a refused file, without its path.
fn refusal(content: &[u8]) -> String {
    let error = read(content, LpipsNet::Alex).err().unwrap();
    assert!(matches!(error, Error::Malformed { .. }), "{error}");
    error.to_string().split_once(": ").unwrap().1.to_owned()
}

#[test]
fn hostile_files_are_refused() {
    let net = LpipsNet::Alex;
    let whole = content(net, |_, _| {});
    assert_eq!(refusal(b"short"), "file: expected at least 8 bytes, found 5 bytes");
    assert_eq!(
        refusal(&u64::MAX.to_le_bytes()),
        "length of the header: expected at most 0, found 18446744073709551615"
    );
    let huge = [&(1_u64 << 40).to_le_bytes(), &whole[8..]].concat();
    let expected = "length of the header: expected at most 65536, found 1099511627776";
    assert_eq!(refusal(&huge), expected);
    let no_json = [&4_u64.to_le_bytes()[..], b"{[}]"].concat();
    assert!(
        refusal(&no_json)
            .starts_with("header: expected a JSON object with an entry per array, found ")
    );

    let changed = |change: fn(&mut serde_json::Value)| {
        refusal(&content(LpipsNet::Alex, |header, _| change(header)))
    };
    let missing = changed(|header| {
        header.as_object_mut().unwrap().remove("conv2.bias");
    });
    assert!(missing.starts_with("header: expected conv2.bias, found conv1.bias, "), "{missing}");
    assert_eq!(
        changed(|header| header["conv1.weight"]["shape"] = json!([64, 3, 11, 12])),
        "array conv1.weight: expected F32 of shape [64, 3, 11, 11], found F32 of shape [64, 3, 11, 12]"
    );
    assert_eq!(
        changed(|header| header["conv1.bias"]["dtype"] = json!("F64")),
        "array conv1.bias: expected F32 of shape [64], found F64 of shape [64]"
    );
    let beyond = changed(|header| {
        header["conv1.bias"]["data_offsets"] = json!([u64::MAX - 255, u64::MAX]);
    });
    assert!(beyond.starts_with("array conv1.bias: expected 256 bytes within the "), "{beyond}");
    let backwards = changed(|header| header["conv1.bias"]["data_offsets"] = json!([256, 0]));
    assert!(backwards.ends_with("bytes of data, found bytes 256 to 0"), "{backwards}");
    let truncated = refusal(&whole[..whole.len() - 1]);
    assert!(
        truncated.starts_with("array linear5.weight: expected 1024 bytes within the "),
        "{truncated}"
    );
    let poisoned = content(net, |_, data| {
        data[8..12].copy_from_slice(&f32::NAN.to_le_bytes());
    });
    let expected = "array conv1.weight, element 2: expected a finite number, found NaN";
    assert_eq!(refusal(&poisoned), expected);
}

#[test]
fn a_file_that_is_not_there_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let error = find_weights(Some(folder.path()), LpipsNet::Vgg).unwrap_err();
    let expected = folder.path().join("lpips-vgg.safetensors");
    assert!(
        error.to_string().starts_with(&format!("{}: cannot read", expected.display())),
        "{error}"
    );
    let read = LpipsWeights::read(Path::new("nothing.safetensors"), LpipsNet::Vgg);
    assert!(matches!(read, Err(Error::Read { .. })));
}
