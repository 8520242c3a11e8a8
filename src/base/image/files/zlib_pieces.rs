//! A zlib stream whose pieces are compressed apart from each other.
//!
//! `fdeflate` writes one block, with the same Huffman codes for every picture and without references to earlier bytes. The
//! concatenated codes of several pieces are therefore the codes of the whole.

use std::io;
use std::sync::LazyLock;

use fdeflate::Compressor;

/// Bits of the zlib header, and of the block header with the Huffman codes.
const HEADER_BITS: usize = 429;
/// Bits of the code that ends the block; its last bit is set, so that the end of a piece can be found.
const END_BITS: usize = 12;
const CHECKSUM_BYTES: usize = 4;
/// Bits copied at once: with up to seven waiting bits they fit in 64.
const COPIED_BITS: usize = 56;
/// Modulus of the checksum (RFC 1950, section 9).
const ADLER_MODULUS: u64 = 65_521;

/// Whether `fdeflate` writes streams of the form above, which its documentation does not promise.
static CAN_JOIN: LazyLock<bool> = LazyLock::new(|| {
    let parts: [&[u8]; 3] = [b"a row of bytes", &[0; 600], b"\x00\xff\x80 and others"];
    let whole = Piece::new(|push| parts.iter().try_for_each(|part| push(part)));
    let pieces = parts.map(|part| Piece::new(|push| push(part)));
    let pieces: io::Result<Vec<_>> = pieces.into_iter().collect();
    let joined = pieces.ok().and_then(|pieces| join_codes(&pieces));
    whole.is_ok_and(|whole| joined.as_ref() == Some(&whole.stream))
});

pub(super) fn can_join() -> bool {
    *CAN_JOIN
}

pub(super) struct Piece {
    stream: Vec<u8>,
    len: u64,
}

impl Piece {
    /// Compresses the content that `fill` passes in parts. A run of zeros does not continue from one part to the next.
    pub(super) fn new(
        fill: impl FnOnce(&mut dyn FnMut(&[u8]) -> io::Result<()>) -> io::Result<()>,
    ) -> io::Result<Self> {
        let mut compressor = Compressor::new(Vec::new())?;
        let mut len = 0;
        fill(&mut |part| {
            len += part.len() as u64;
            compressor.write_data(part)
        })?;
        Ok(Self { stream: compressor.finish()?, len })
    }

    /// Bits of the content's codes, if the stream has the expected form.
    fn codes(&self) -> Option<(&[u8], std::ops::Range<usize>)> {
        let (codes, _) = self.stream.split_last_chunk::<CHECKSUM_BYTES>()?;
        let padding = codes.last()?.leading_zeros() as usize;
        let end = (codes.len() * 8).checked_sub(padding + END_BITS)?;
        (padding < 8 && end >= HEADER_BITS).then_some((codes, HEADER_BITS..end))
    }

    /// The two sums of Adler-32: of the bytes, and of the running sums.
    fn sums(&self) -> Option<[u64; 2]> {
        let (_, checksum) = self.stream.split_last_chunk::<CHECKSUM_BYTES>()?;
        let checksum = u32::from_be_bytes(*checksum);
        Some([checksum & 0xffff, checksum >> 16].map(u64::from))
    }
}

/// Joins the pieces of a stream; `None` for no piece, and for several where [`can_join`] is false.
pub(super) fn join(mut pieces: Vec<Piece>) -> Option<Vec<u8>> {
    match pieces.len() {
        1 => pieces.pop().map(|piece| piece.stream),
        _ if can_join() => join_codes(&pieces),
        _ => None,
    }
}

fn join_codes(pieces: &[Piece]) -> Option<Vec<u8>> {
    let (first, last) = (pieces.first()?, pieces.last()?);
    let bytes = pieces.iter().map(|piece| piece.stream.len()).sum();
    let mut joined = Bits::with_capacity(bytes);
    joined.append(&first.stream, 0..HEADER_BITS);
    // Adler-32 of an empty stream: the sum of bytes starts at 1, the sum of sums at 0.
    let [mut bytes, mut sums] = [1, 0];
    for piece in pieces {
        let (stream, range) = piece.codes()?;
        joined.append(stream, range);
        let [own_bytes, own_sums] = piece.sums()?;
        let before = bytes + ADLER_MODULUS - 1;
        sums = (sums + own_sums + piece.len % ADLER_MODULUS * (before % ADLER_MODULUS))
            % ADLER_MODULUS;
        bytes = (before + own_bytes) % ADLER_MODULUS;
    }
    let (stream, range) = last.codes()?;
    joined.append(stream, range.end..range.end + END_BITS);
    let mut joined = joined.padded();
    let checksum = u32::try_from(sums << 16 | bytes).ok()?;
    joined.extend_from_slice(&checksum.to_be_bytes());
    Some(joined)
}

/// Bit writer, least significant bit first (RFC 1951, section 3.1.1).
struct Bits {
    bytes: Vec<u8>,
    waiting: u64,
    waiting_bits: usize,
}

impl Bits {
    fn with_capacity(bytes: usize) -> Self {
        Self { bytes: Vec::with_capacity(bytes), waiting: 0, waiting_bits: 0 }
    }

    fn append(&mut self, source: &[u8], range: std::ops::Range<usize>) {
        let mut at = range.start;
        while at < range.end {
            let bits = COPIED_BITS.min(range.end - at);
            let word = word_at(source, at / 8) >> (at % 8) & ((1 << bits) - 1);
            self.waiting |= word << self.waiting_bits;
            self.waiting_bits += bits;
            let whole = self.waiting_bits / 8;
            self.bytes.extend_from_slice(&self.waiting.to_le_bytes()[..whole]);
            self.waiting >>= 8 * whole;
            self.waiting_bits %= 8;
            at += bits;
        }
    }

    fn padded(mut self) -> Vec<u8> {
        if self.waiting_bits > 0 {
            self.bytes.push(self.waiting.to_le_bytes()[0]);
        }
        self.bytes
    }
}

fn word_at(source: &[u8], at: usize) -> u64 {
    if let Some(word) = source[at..].first_chunk() {
        return u64::from_le_bytes(*word);
    }
    let mut word = [0; 8];
    let rest = &source[at..];
    word[..rest.len()].copy_from_slice(rest);
    u64::from_le_bytes(word)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn this_version_of_the_compressor_can_be_joined() {
        assert!(can_join());
    }

    proptest! {
        #[test]
        fn pieces_are_the_stream_of_the_whole(
            parts in prop::collection::vec(prop::collection::vec(any::<u8>().prop_map(|b| b & b << 3), 0..400), 1..20),
            cut in 1_usize..8,
        ) {
            let piece = |parts: &[Vec<u8>]| {
                Piece::new(|push| parts.iter().try_for_each(|part| push(part))).unwrap()
            };
            let joined = join(parts.chunks(cut).map(piece).collect()).unwrap();
            prop_assert_eq!(joined, piece(&parts).stream);
        }
    }
}
