//! Any bytes for the reader that `QUADRILLE_READER` names.
//!
//! Half of the changes are made inside packed files, which are packed again.

#![no_main]

#[allow(dead_code, reason = "shared with tests")]
#[path = "../../support/packing.rs"]
mod packing;
#[allow(dead_code, reason = "shared with tests")]
#[path = "../readers.rs"]
mod readers;

use std::sync::LazyLock;

use libfuzzer_sys::{Corpus, fuzz_mutator, fuzz_target, fuzzer_mutate};
use packing::Packed;

static READER: LazyLock<String> =
    LazyLock::new(|| std::env::var("QUADRILLE_READER").expect("QUADRILLE_READER, a reader"));

/// Bytes by which the part of a packed file may grow in one change.
const GROWTH: usize = 64;

fuzz_target!(|bytes: &[u8]| -> Corpus {
    if !readers::has_mark(&READER, bytes) {
        return Corpus::Reject;
    }
    let _ = readers::read(&READER, bytes);
    Corpus::Keep
});

/// Changes one part of the file and packs it again, or `None` if the result is too large.
fn changed(mut packed: Packed, most: usize, seed: usize) -> Option<Vec<u8>> {
    let part = seed % packed.parts.len();
    let bytes = &mut packed.parts[part].1;
    let length = bytes.len();
    bytes.resize(length + GROWTH, 0);
    let length = fuzzer_mutate(bytes, length, length + GROWTH);
    bytes.truncate(length);
    let file = (packed.pack)(&packed.parts);
    (file.len() <= most).then_some(file)
}

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    let packed = Packed::open(&data[..size]).filter(|_| seed % 2 == 0);
    let file = packed.and_then(|packed| changed(packed, max_size, seed as usize / 2));
    match file {
        Some(file) => {
            data[..file.len()].copy_from_slice(&file);
            file.len()
        }
        None => fuzzer_mutate(data, size, max_size),
    }
});
