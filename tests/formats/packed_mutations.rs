//! Changed files of packed formats: each is an error or a scene of valid splats.
//!
//! Archives and compressed streams are changed inside too, and packed again, so that changes pass their
//! checksums. `QUADRILLE_MUTATIONS` and `QUADRILLE_SEED` set the number of changed files per part and the
//! seed of the random numbers.

use std::collections::BTreeMap;

use crate::packed_hostile::{small_files, try_load};
use crate::packed_values::{small_ksplat, small_spz};
use crate::support::packing::{Packed, Part};
use crate::support::scenes::Random;

/// Changed files per part of a file.
const MUTATIONS: u32 = 1320;

/// A file as the parts it is packed of.
struct Seed {
    name: String,
    packed: Packed,
}

impl Seed {
    /// A file that is changed as it is.
    fn plain(name: &str, bytes: Vec<u8>) -> Self {
        let parts = vec![(String::new(), bytes)];
        let pack = |parts: &[Part]| parts[0].1.clone();
        let packed = Packed { parts, pack };
        let name = name.to_owned();
        Self { name, packed }
    }

    /// A file that is changed inside.
    fn inside(name: &str, bytes: &[u8]) -> Self {
        let packed = Packed::open(bytes).unwrap();
        let name = name.to_owned();
        Self { name, packed }
    }

    fn bytes(&self) -> Vec<u8> {
        (self.packed.pack)(&self.packed.parts)
    }
}

/// A streamed SOG in a zip: two levels, each the files of `sog`.
fn streamed(sog: &[Part]) -> Vec<Part> {
    let leaf = serde_json::json!({"0": {"file": 0, "offset": 0, "count": 40},
        "1": {"file": 1, "offset": 0, "count": 40}});
    let meta = serde_json::json!({"lodLevels": 2, "counts": [40, 40],
        "filenames": ["a/meta.json", "b/meta.json"],
        "tree": {"bound": {"min": [-9, -9, -9], "max": [9, 9, 9]}, "lods": leaf}});
    let mut parts = vec![("lod-meta.json".to_owned(), meta.to_string().into_bytes())];
    for folder in ["a", "b"] {
        let inside = |(name, bytes): &Part| (format!("{folder}/{name}"), bytes.clone());
        parts.extend(sog.iter().map(inside));
    }
    parts
}

/// Text of a PLY with colours in place of coefficients, in doubles.
const COLOURED_PLY: &str = "ply\nformat ascii 1.0\nelement vertex 2\nproperty double x\nproperty double y\n\
    property double z\nproperty uchar red\nproperty uchar green\nproperty uchar blue\nproperty float opacity\n\
    property float scale_0\nproperty float scale_1\nproperty float scale_2\nproperty float rot_0\n\
    property float rot_1\nproperty float rot_2\nproperty float rot_3\nelement extra 1\n\
    property list uchar int numbers\nend_header\n1e6 2 3 255 0 128 0.5 -3 -3 -inf 1 0 0 0\n\
    1000001.25 2 3 1 2 3 -1 -4 -5 -6 0.5 0.5 0.5 0.5\n3 1 2 3\n";

/// Names and bytes of small files of every format that is read.
pub(crate) fn seeds() -> BTreeMap<String, Vec<u8>> {
    let seeds = parted_seeds().into_iter();
    seeds.map(|seed| (seed.name.clone(), seed.bytes())).collect()
}

/// Files of every format that is read, as they are and as their parts.
fn parted_seeds() -> Vec<Seed> {
    let coloured = COLOURED_PLY.as_bytes().to_vec();
    let mut seeds = vec![Seed::plain("coloured.ply", coloured)];
    for (name, bytes) in small_files() {
        if name.ends_with(".sog") {
            let zip = Seed::inside(&name, &bytes);
            let (parts, pack) = (streamed(&zip.packed.parts), zip.packed.pack);
            let (name, packed) = ("streamed.ssog".to_owned(), Packed { parts, pack });
            seeds.extend([Seed { name, packed }, zip]);
        } else if Packed::open(&bytes).is_some() {
            seeds.push(Seed::inside(&name, &bytes));
        }
        seeds.push(Seed::plain(&name, bytes));
    }
    for version in [1, 2] {
        let name = format!("version-{version}.spz");
        let extension = (version == 2).then_some(6);
        seeds.push(Seed::inside(&name, &small_spz(version, extension)));
    }
    for level in 0..3 {
        let name = format!("level-{level}.ksplat");
        seeds.push(Seed::plain(&name, small_ksplat(level)));
    }
    seeds
}

/// Numbers at which readers go wrong: ends of ranges, small counts, sizes of the files themselves.
const WORDS: [u32; 16] = [
    0,
    1,
    2,
    3,
    39,
    41,
    64,
    255,
    256,
    0x7fff,
    0xffff,
    0x0001_0000,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_fffe,
    0xffff_ffff,
];

/// Numbers in texts.
const NUMBERS: [&str; 10] =
    ["0", "-1", "1", "41", "65536", "4294967296", "18446744073709551615", "1e308", "-0.0", "null"];

fn change(bytes: &mut Vec<u8>, random: &mut Random) {
    let mut below = |end: usize| random.between(0.0, end as f64) as usize;
    if bytes.is_empty() {
        return;
    }
    // Half of the changes are in the first bytes, where headers are.
    let near = bytes.len().min(128);
    let start = match below(2) {
        0 => below(near),
        _ => below(bytes.len()),
    };
    let length = below(24.min(bytes.len() - start)) + 1;
    match below(8) {
        0 | 1 => {
            let value = bytes[start];
            let values = [0, 1, 0x7f, 0x80, 0xff, value ^ 1, value.wrapping_add(3)];
            bytes[start] = values[below(values.len())];
        }
        2 => bytes[start] ^= 1 << below(8),
        3 => {
            let size = [1, 2, 4][below(3)];
            let word = WORDS[below(WORDS.len())].to_le_bytes();
            for (byte, value) in bytes[start..].iter_mut().take(size).zip(word) {
                *byte = value;
            }
        }
        4 => {
            let from = below(bytes.len() - length + 1);
            bytes.copy_within(from..from + length, start);
        }
        5 => drop(bytes.drain(start..start + length)),
        6 => {
            let again = bytes[start..start + length].to_vec();
            bytes.splice(start..start, again);
        }
        _ => {
            // The next number of a text, or nothing.
            let is_digit = |byte: &u8| byte.is_ascii_digit();
            if let Some(first) = bytes[start..].iter().position(is_digit) {
                let first = start + first;
                let digits = bytes[first..].iter().take_while(|byte| is_digit(byte)).count();
                let number = NUMBERS[below(NUMBERS.len())];
                bytes.splice(first..first + digits, number.bytes());
            }
        }
    }
}

fn from_environment(name: &str, default: u64) -> u64 {
    let value = std::env::var(name).ok();
    value.map_or(default, |value| value.parse().expect(name))
}

#[test]
fn changed_files_are_errors_or_scenes() {
    let count = from_environment("QUADRILLE_MUTATIONS", MUTATIONS.into());
    let mut random = Random::new(from_environment("QUADRILLE_SEED", 7));
    let (mut files, mut refused) = (0, 0);
    for seed in parted_seeds() {
        assert!(try_load(&seed.bytes(), &seed.name), "{}", seed.name);
        let mut errors = 0;
        for _ in 0..count {
            let mut parts = seed.packed.parts.clone();
            for _ in 0..=random.between(0.0, 3.0) as usize {
                let part = random.between(0.0, parts.len() as f64) as usize;
                change(&mut parts[part].1, &mut random);
            }
            let mut changed = (seed.packed.pack)(&parts);
            if random.one_in(16) {
                let end = random.between(0.0, changed.len() as f64) as usize;
                changed.truncate(end);
            }
            let loaded = std::panic::catch_unwind(|| try_load(&changed, &seed.name));
            let loaded = loaded.unwrap_or_else(|panic| {
                let path = std::env::temp_dir().join(format!("quadrille-{}", seed.name));
                std::fs::write(&path, &changed).unwrap();
                println!("the file is {}", path.display());
                std::panic::resume_unwind(panic)
            });
            errors += u64::from(!loaded);
        }
        let has_header = !seed.name.ends_with(".splat");
        assert!(!has_header || errors > count / 20, "{}: {errors}", seed.name);
        assert!(errors < count, "{}: no file is a scene", seed.name);
        files += count;
        refused += errors;
    }
    println!("{files} changed files, {refused} refused");
}
