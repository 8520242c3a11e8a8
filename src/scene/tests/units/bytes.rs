use quadrille_base::math::low;

use super::*;

/// File of `len` bytes that are a function of their offset.
fn file(len: usize) -> (tempfile::NamedTempFile, Vec<u8>) {
    let content: Vec<u8> =
        (0..len).map(|i| low::<u8>(i as u64 ^ (i as u64 >> 8) ^ (i as u64 >> 16))).collect();
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), &content).unwrap();
    (file, content)
}

#[test]
fn bytes_read_ahead_are_the_bytes_of_the_file() {
    let (file, content) = file(3 * PART_BYTES + 1234);
    let bytes = FileBytes::open(file.path()).unwrap();
    let len = content.len();
    for end in [1, PART_BYTES / 3, PART_BYTES, len] {
        let mut ahead = ReadAhead::default();
        // Forward in steps that do not divide a part, a range longer than a part, and backwards.
        let forward = (0..len - 700).step_by(677).map(|start| start..start + 700);
        let others =
            [5..PART_BYTES + 6, 0..1, len - 1..len, PART_BYTES - 1..PART_BYTES + 1, len..len];
        for wanted in forward.chain(others) {
            let found = ahead.bytes(&bytes, wanted.clone(), end).unwrap();
            assert!(found == &content[wanted.clone()], "{wanted:?}");
        }
    }
    // Bytes of the caller are returned without a copy.
    let mut ahead = ReadAhead::default();
    let bytes = FileBytes::Borrowed(&content[9..]);
    assert_eq!(ahead.bytes(&bytes, 0..3, 3).unwrap(), &content[9..12]);
}

#[test]
fn nothing_behind_the_end_is_read() {
    let (file, _) = file(2 * PART_BYTES);
    let bytes = FileBytes::open(file.path()).unwrap();
    let mut ahead = ReadAhead::default();
    ahead.bytes(&bytes, 10..20, 50).unwrap();
    assert_eq!(ahead.part, if cfg!(unix) { 10..50 } else { 0..0 });
}

#[cfg(unix)]
#[test]
fn a_file_that_becomes_shorter_is_an_error() {
    let (file, _) = file(2 * PART_BYTES);
    let bytes = FileBytes::open(file.path()).unwrap();
    let mut ahead = ReadAhead::default();
    let end = bytes.len();
    ahead.bytes(&bytes, 0..100, end).unwrap();
    file.as_file().set_len(PART_BYTES as u64 + 5000).unwrap();
    let wanted = PART_BYTES..PART_BYTES + 6000;
    let error = ahead.bytes(&bytes, wanted.clone(), end).unwrap_err();
    assert!(matches!(error, Error::Malformed { .. }), "{error}");
    assert!(error.to_string().contains("shorter"), "{error}");
    // Bytes before the new end can still be read.
    assert!(ahead.bytes(&bytes, wanted, end).is_err());
    assert_eq!(ahead.bytes(&bytes, 0..9, end).unwrap().len(), 9);
}
