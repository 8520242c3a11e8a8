//! Tests of files that are recognised but not read.

use super::*;

/// A zip whose first file is called `name`.
fn zip(name: &str) -> Vec<u8> {
    let mut bytes = b"PK\x03\x04".to_vec();
    bytes.resize(26, 0);
    bytes.extend([u8::try_from(name.len()).unwrap(), 0, 0, 0]);
    bytes.extend(name.as_bytes());
    bytes
}

#[test]
fn checkpoints_and_arrays_are_called_so() {
    for (bytes, word) in [
        (zip("archive/data.pkl"), Some("PyTorch")),
        (zip("ckpt_29999/data.pkl"), Some("PyTorch")),
        (zip("means.npy"), Some("numpy")),
        (b"\x93NUMPY\x01\x00".to_vec(), Some("numpy")),
        (b"RAD0\x14\0\0\0".to_vec(), Some("Spark")),
        (b"LASF\0\0".to_vec(), Some("LAS")),
        (b"PAR1\0\0".to_vec(), Some("Parquet")),
        (br#"{"asset": {}, "geometricError": 10, "root": {}}"#.to_vec(), Some("3D Tiles")),
        (br#"{"camera": {}, "animTracks": []}"#.to_vec(), Some("--cameras")),
        (br#"{"asset": {"version": "2.0"}}"#.to_vec(), None),
        (b"<!DOCTYPE html><title>SuperSplat Viewer".to_vec(), Some("SuperSplat")),
        (zip("meta.json"), None),
        (zip("data.pkl")[..20].to_vec(), None),
        (b"PK\x03\x04".to_vec(), None),
    ] {
        let found = stand_in(&bytes);
        assert_eq!(found.is_some(), word.is_some(), "{found:?}");
        assert!(found.is_none_or(|found| found.contains(word.unwrap())), "{found:?}");
    }
}
