//! Changed files of packed formats: each is an error or a scene of valid splats.
//!
//! Archives and compressed streams are changed inside too, and packed again, so that changes pass their
//! checksums. `QUADRILLE_MUTATIONS` and `QUADRILLE_SEED` set the number of changed files per part and the
//! seed of the random numbers.

use std::io::{Read, Write};

use crate::packed_hostile::{small_files, try_load};
use crate::packed_values::{small_ksplat, small_spz};
use crate::support::scenes::Random;

/// Changed files per part of a file.
const MUTATIONS: u32 = 1320;

/// A name with bytes.
type Part = (String, Vec<u8>);

/// A file as the parts it is packed of.
struct Seed {
    name: String,
    parts: Vec<Part>,
    pack: fn(&[Part]) -> Vec<u8>,
}

impl Seed {
    /// A file that is changed as it is.
    fn plain(name: &str, bytes: Vec<u8>) -> Self {
        Self {
            name: name.to_owned(),
            parts: vec![(String::new(), bytes)],
            pack: |parts| parts[0].1.clone(),
        }
    }

    /// A gzip file that is changed before it is packed.
    fn gzip(name: &str, bytes: &[u8]) -> Self {
        let mut raw = Vec::new();
        flate2::read::GzDecoder::new(bytes)
            .read_to_end(&mut raw)
            .unwrap();
        Self {
            name: name.to_owned(),
            parts: vec![(String::new(), raw)],
            pack: |parts| {
                let level = flate2::Compression::fast();
                let mut packer = flate2::write::GzEncoder::new(Vec::new(), level);
                packer.write_all(&parts[0].1).unwrap();
                packer.finish().unwrap()
            },
        }
    }

    /// A zip whose files are changed before they are packed.
    fn zip(name: &str, bytes: &[u8]) -> Self {
        let mut zip = zip::ZipArchive::new(std::io::Cursor::new(bytes)).unwrap();
        let part = |at| {
            let mut file = zip.by_index(at).unwrap();
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes).unwrap();
            (file.name().unwrap().into_owned(), bytes)
        };
        let count = zip::ZipArchive::new(std::io::Cursor::new(bytes))
            .unwrap()
            .len();
        let parts = (0..count).map(part).collect();
        Self {
            name: name.to_owned(),
            parts,
            pack: packed_zip,
        }
    }

    /// SPZ of version 4, whose streams are changed before they are packed: the header and its extensions
    /// first.
    fn zstd_streams(name: &str, bytes: &[u8]) -> Self {
        let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
        let (streams, toc) = (usize::from(bytes[15]), word(16));
        let mut parts = vec![("header".to_owned(), bytes[..toc].to_vec())];
        let mut at = toc + 16 * streams;
        for stream in 0..streams {
            let packed = word(toc + 16 * stream);
            let raw = zstd::decode_all(&bytes[at..at + packed]).unwrap();
            parts.push((format!("stream {stream}"), raw));
            at += packed;
        }
        Self {
            name: name.to_owned(),
            parts,
            pack: |parts| {
                let (mut file, mut sizes, mut packed) =
                    (parts[0].1.clone(), Vec::new(), Vec::new());
                for (_, raw) in &parts[1..] {
                    let frame = zstd::encode_all(&raw[..], 1).unwrap();
                    sizes.extend((frame.len() as u64).to_le_bytes());
                    sizes.extend((raw.len() as u64).to_le_bytes());
                    packed.extend(frame);
                }
                file.extend(sizes);
                file.extend(packed);
                file
            },
        }
    }
}

fn packed_zip(parts: &[Part]) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let stored =
        zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    for (name, bytes) in parts {
        zip.start_file(name.as_str(), stored).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
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

/// Files of every format that is read, as they are and as their parts.
fn seeds() -> Vec<Seed> {
    let mut seeds = Vec::new();
    for (name, bytes) in small_files() {
        if name.ends_with(".sog") {
            let zip = Seed::zip(&name, &bytes);
            let parts = streamed(&zip.parts);
            seeds.push(Seed {
                name: "streamed.ssog".to_owned(),
                parts,
                pack: packed_zip,
            });
            seeds.push(zip);
        }
        if name.starts_with("spz3") {
            seeds.push(Seed::gzip(&name, &bytes));
        }
        if name.starts_with("spz4") {
            seeds.push(Seed::zstd_streams(&name, &bytes));
        }
        seeds.push(Seed::plain(&name, bytes));
    }
    for version in [1, 2] {
        let name = format!("version-{version}.spz");
        let extension = (version == 2).then_some(6);
        seeds.push(Seed::gzip(&name, &small_spz(version, extension)));
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
const NUMBERS: [&str; 10] = [
    "0",
    "-1",
    "1",
    "41",
    "65536",
    "4294967296",
    "18446744073709551615",
    "1e308",
    "-0.0",
    "null",
];

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
                let digits = bytes[first..]
                    .iter()
                    .take_while(|byte| is_digit(byte))
                    .count();
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
    for seed in seeds() {
        assert!(
            try_load(&(seed.pack)(&seed.parts), &seed.name),
            "{}",
            seed.name
        );
        let mut errors = 0;
        for _ in 0..count {
            let mut parts = seed.parts.clone();
            for _ in 0..=random.between(0.0, 3.0) as usize {
                let part = random.between(0.0, parts.len() as f64) as usize;
                change(&mut parts[part].1, &mut random);
            }
            let mut changed = (seed.pack)(&parts);
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
        assert!(
            !has_header || errors > count / 20,
            "{}: {errors}",
            seed.name
        );
        assert!(errors < count, "{}: no file is a scene", seed.name);
        files += count;
        refused += errors;
    }
    println!("{files} changed files, {refused} refused");
}
