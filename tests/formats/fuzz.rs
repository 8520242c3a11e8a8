//! Changed files for every reader: each is a value or a typed error, in bounded time and memory.
//!
//! Each reader runs in a process of its own, under a limit of memory, on the files of `tests/fuzz/corpus` and `corpus.rs`.
//! Packed files are changed inside too, and packed again, so that changes pass their checksums. The last file is on disk when
//! the reader is called, so that it is there after a panic, a hang or an abort. A file with an error that no file had before is
//! changed further. `QUADRILLE_FUZZ_SECONDS` prolongs each run, `QUADRILLE_SEED` sets the seed of its random numbers, and with
//! `QUADRILLE_KEEP` the smallest files with errors of their own go to `tests/fuzz/corpus`.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use quadrille::Error;
use zip::write::SimpleFileOptions;

#[path = "../fuzz/readers.rs"]
pub(crate) mod readers;

use crate::corpus;
use crate::support::packing;
use crate::support::packing::Packed;
use crate::support::scenes::Random;

/// Changed files per reader.
const FILES: u64 = if cfg!(feature = "slow-tests") { 20_000 } else { 2000 };
/// Largest file.
const MOST_BYTES: usize = 1 << 16;
/// Most bytes of the files of a reader that are kept.
const KEPT_BYTES: usize = 16 << 10;
/// Longest time for one file: catches a reader that hangs. A file takes milliseconds.
const TIME_LIMIT: Duration = Duration::from_secs(60);
/// Most address space of a process that reads the files, in KiB: 512 MiB.
const MEMORY_LIMIT_KIB: u64 = 512 << 10;
/// Set in the process of a reader: the file that it writes each changed file to.
const CHANGED_FILE: &str = "QUADRILLE_FUZZED_FILE";

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

/// A changed file of the corpus, whose part it may be that is changed.
fn changed(files: &[Vec<u8>], at: usize, random: &mut Random) -> Vec<u8> {
    let mut file = files[at].clone();
    let changes = random.between(1.0, 5.0) as usize;
    match Packed::open(&file).filter(|_| !random.one_in(3)) {
        Some(mut packed) => {
            for _ in 0..changes {
                let part = random.between(0.0, packed.parts.len() as f64) as usize;
                change(&mut packed.parts[part].1, random);
            }
            file = (packed.pack)(&packed.parts);
        }
        None => (0..changes).for_each(|_| change(&mut file, random)),
    }
    if random.one_in(16) {
        // The end of another file, or nothing.
        let other = &files[random.between(0.0, files.len() as f64) as usize];
        let end = random.between(0.0, file.len() as f64) as usize;
        file.truncate(end);
        if random.one_in(2) {
            file.extend(&other[end.min(other.len())..]);
        }
    }
    file.truncate(MOST_BYTES);
    file
}

fn from_environment(name: &str, default: u64) -> u64 {
    let value = std::env::var(name).ok();
    value.map_or(default, |value| value.parse().expect(name))
}

/// An error without the numbers and contents of the file, as a word for the code that the file reaches.
fn kind_of(error: &Error) -> String {
    let text = error.to_string();
    let text = text.split(", found").next().unwrap_or_default();
    text.chars().filter(|c| c.is_ascii_alphabetic()).collect()
}

/// Keeps the smallest files as a zip, in their order, as far as [`KEPT_BYTES`] reach.
fn keep(reader: &str, files: impl Iterator<Item = Vec<u8>>) {
    let mut files: Vec<_> = files.collect();
    files.sort_by_key(Vec::len);
    let (mut zip, mut bytes) = (zip::ZipWriter::new(Cursor::new(Vec::new())), 0);
    for (number, file) in files.iter().enumerate() {
        // With the two headers of a file.
        bytes += file.len() + 100;
        if bytes > KEPT_BYTES {
            break;
        }
        zip.start_file(format!("{number}"), SimpleFileOptions::default()).unwrap();
        zip.write_all(file).unwrap();
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz/corpus");
    std::fs::create_dir_all(&folder).unwrap();
    let zip = zip.finish().unwrap().into_inner();
    std::fs::write(folder.join(reader).with_added_extension("zip"), zip).unwrap();
}

/// Calls a reader with changed files until their number and the time are reached.
fn fuzz(reader: &str, path: &Path) {
    let mut files: Vec<_> = corpus::seeds(reader).into_values().collect();
    let sound = files.len();
    files.extend(corpus::kept(reader).into_values());
    files.extend(corpus::field(reader, MOST_BYTES));
    // The smallest file of each kind of error.
    let mut found: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    for file in &files {
        if let Err(error) = readers::read(reader, file) {
            found.entry(kind_of(&error)).or_insert_with(|| file.clone());
        }
    }
    let mut random = Random::new(from_environment("QUADRILLE_SEED", 7));
    let seconds = Duration::from_secs(from_environment("QUADRILLE_FUZZ_SECONDS", 0));
    let (start, mut tried, mut refused) = (Instant::now(), 0, 0);
    while tried < FILES || start.elapsed() < seconds {
        // Half of the files are changed from sound ones.
        let at = tried as usize / 2;
        let at = if tried % 2 == 0 { at % sound } else { at % files.len() };
        let file = changed(&files, at, &mut random);
        std::fs::write(path, &file).unwrap();
        tried += 1;
        if let Err(error) = readers::read(reader, &file) {
            refused += 1;
            match found.entry(kind_of(&error)) {
                Entry::Vacant(entry) => files.push(entry.insert(file).clone()),
                Entry::Occupied(mut entry) if file.len() < entry.get().len() => {
                    entry.insert(file);
                }
                Entry::Occupied(_) => {}
            }
        }
    }
    readers::remove_files();
    let kinds = found.len();
    if std::env::var_os("QUADRILLE_KEEP").is_some() {
        keep(reader, found.into_values());
    }
    println!("{reader}: {tried} changed files, {refused} refused with {kinds} kinds of errors");
    assert!(refused < tried, "{reader}: no file is read");
    let has_header = reader != "splat";
    assert!(!has_header || refused > tried / 20, "{reader}: {refused} of {tried} files refused");
}

/// Runs a reader in a process of its own, which runs `test` alone, and watches it.
fn check(reader: &str, test: &str) {
    if let Some(path) = std::env::var_os(CHANGED_FILE) {
        return fuzz(reader, Path::new(&path));
    }
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("fuzzed-{reader}"));
    let log = path.with_extension("log");
    let out = std::fs::File::create(&log).unwrap();
    let err = out.try_clone().unwrap();
    let limited = format!("ulimit -v {MEMORY_LIMIT_KIB} && exec \"$0\" \"$@\"");
    let mut command = match cfg!(target_os = "linux") {
        true => {
            let mut shell = Command::new("sh");
            shell.args(["-c", &limited]).arg(std::env::current_exe().unwrap());
            shell
        }
        false => Command::new(std::env::current_exe().unwrap()),
    };
    command.args(["--exact", test, "--nocapture", "--test-threads=1"]);
    command.env(CHANGED_FILE, &path).env("RAYON_NUM_THREADS", "2");
    let mut child = command.stdout(out).stderr(err).stdin(Stdio::null()).spawn().unwrap();
    std::fs::write(&path, "").unwrap();
    let age = |path: &PathBuf| {
        let changed = std::fs::metadata(path).and_then(|file| file.modified());
        changed.ok().and_then(|at| at.elapsed().ok()).unwrap_or_default()
    };
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if age(&path) > TIME_LIMIT {
            child.kill().unwrap();
            child.wait().unwrap();
            panic!("{reader} takes more than {TIME_LIMIT:?} for {}", path.display());
        }
        sleep(Duration::from_millis(5));
    };
    let said = std::fs::read_to_string(&log).unwrap_or_default();
    assert!(status.success(), "{reader} fails for {}: {status}\n{said}", path.display());
    std::fs::remove_file(&path).unwrap();
    std::fs::remove_file(&log).unwrap();
}

/// A test per reader.
macro_rules! tests {
    ($($name:ident: $reader:literal),* $(,)?) => {
        $(#[test]
        fn $name() {
            check($reader, concat!("fuzz::", stringify!($name)));
        })*

        #[test]
        fn every_reader_has_a_test() {
            assert_eq!([$($reader),*], readers::READERS);
        }
    };
}

tests! {
    ply: "ply",
    compressed_ply: "compressed.ply",
    spz: "spz",
    sog: "sog",
    streamed_sog: "ssog",
    folder: "folder",
    glb: "glb",
    usda: "usda",
    usdc: "usdc",
    usdz: "usdz",
    lcc: "lcc",
    lcc2: "lcc2",
    ksplat: "ksplat",
    dot_splat: "splat",
    cameras_json: "cameras-json",
    cameras_txt: "cameras-txt",
    cameras_bin: "cameras-bin",
    mesh_obj: "mesh-obj",
    mesh_ply: "mesh-ply",
    mesh_gltf: "mesh-gltf",
    mesh_draco: "mesh-draco",
    mesh_bezier: "mesh-bezier",
}
