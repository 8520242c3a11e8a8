//! Lossless compression of blocks: all codecs for the content of a buffer are tried, and the smallest result is stored
//! (section 5.3). Two control bits outside the block tell whether it is clear, packed or raw. A packed block of colours or
//! identifiers begins with 4 bits: codec and size on the bus. Depths have one codec, and their size is in the header.

use super::bits::{BLOCK_BYTES, BLOCK_WORDS, BitReader, BitWriter, Block};
use super::colour_offset::{ChannelLayout, ColourOffset};
use super::depth_offset::DepthOffset;
use super::min_max::MinMax;
use super::palette::BlockPalette;
use super::spec::MemorySpec;

/// Bits of the codec field; the size field follows it.
const CODEC_BITS: u32 = 2;
const SIZE_BITS: u32 = 2;
const PREFIX_BITS: u32 = CODEC_BITS + SIZE_BITS;
const OFFSET: u32 = 0;
const MIN_MAX: u32 = 1;
const PALETTE: u32 = 2;
/// Bits per raw block.
#[allow(clippy::cast_possible_truncation, reason = "2048")]
pub const RAW_BITS: u32 = 8 * BLOCK_BYTES as u32;
#[allow(clippy::cast_possible_truncation, reason = "64")]
const VALUES: u32 = BLOCK_WORDS as u32;

/// Content of the blocks of a buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockFormat {
    /// One half of the shading point identifiers: primitive ids, or positions in shading space.
    Identifiers,
    /// RGBA colours with 8 bits per channel.
    Rgba8,
    /// RGBA colours with 16-bit floats.
    Rgba16F,
    /// Depths as 24-bit integers.
    Depth24,
    /// Depths as the bits of 32-bit floats.
    Depth32F,
}

impl BlockFormat {
    fn layout(self) -> ChannelLayout {
        match self {
            Self::Rgba8 => ChannelLayout::Rgba8,
            Self::Rgba16F => ChannelLayout::Rgba16F,
            Self::Identifiers | Self::Depth24 | Self::Depth32F => ChannelLayout::U32,
        }
    }

    /// Bits per depth; `None` for other contents.
    fn depth_bits(self) -> Option<u32> {
        match self {
            Self::Depth24 => Some(24),
            Self::Depth32F => Some(32),
            Self::Identifiers | Self::Rgba8 | Self::Rgba16F => None,
        }
    }
}

/// Storage format of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Codec {
    /// Offsets from one reference per channel.
    Offset,
    /// Offsets from the nearer of two references.
    MinMax,
    /// Indices into a palette.
    Palette,
    /// Offsets of depths from the nearer of two references, without clear samples.
    Depth,
    /// Not compressed.
    Raw,
}

/// Size of a stored block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PackedSize {
    /// Storage format of the block.
    pub codec: Codec,
    /// Size of the encoded content in bits.
    pub bits: u32,
    /// Bytes moved over the bus.
    pub bytes: u64,
}

/// Content of a block as stored in memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackedBlock {
    /// Codec and size of the block.
    pub size: PackedSize,
    words: Block,
}

/// First codec with the fewest bits, and its size in bits with the prefix.
#[inline]
fn smallest(block: &Block, layout: ChannelLayout) -> (Codec, u32) {
    let mut best = (Codec::Offset, PREFIX_BITS + ColourOffset::of(block, layout).bits());
    if layout != ChannelLayout::U32 {
        return best;
    }
    let range = PREFIX_BITS + MinMax::of(block).bits(VALUES, u32::BITS);
    if range < best.1 {
        best = (Codec::MinMax, range);
    }
    if let Some(palette) = BlockPalette::of(block, best.1.min(RAW_BITS) - PREFIX_BITS - 1) {
        best = (Codec::Palette, PREFIX_BITS + palette.bits());
    }
    best
}

/// Bits of the smallest encoding of 64 integers, at most the size of a raw block.
#[inline]
pub(crate) fn integer_bits(block: &Block) -> u32 {
    smallest(block, ChannelLayout::U32).1.min(RAW_BITS)
}

impl PackedSize {
    fn new(spec: &MemorySpec, codec: Codec, bits: u32) -> Self {
        let bytes = spec.bus_bytes_of(bits);
        if bytes < BLOCK_BYTES as u64 {
            return Self { codec, bits, bytes };
        }
        Self { codec: Codec::Raw, bits: RAW_BITS, bytes: BLOCK_BYTES as u64 }
    }

    /// Determines the size of a block. `clear` has a bit for each clear sample of a depth block; 0 for other contents.
    #[inline]
    pub fn of(spec: &MemorySpec, block: &Block, format: BlockFormat, clear: u64) -> Self {
        match format.depth_bits() {
            Some(bits) => Self::new(spec, Codec::Depth, DepthOffset::of(block, clear).bits(bits)),
            None => {
                let (codec, bits) = smallest(block, format.layout());
                Self::new(spec, codec, bits)
            }
        }
    }
}

impl PackedBlock {
    /// Encodes a block with the codec and size of [`PackedSize::of`].
    pub fn encode(spec: &MemorySpec, block: &Block, format: BlockFormat, clear: u64) -> Self {
        let mut out = BitWriter::default();
        let size = match format.depth_bits() {
            Some(bits) => {
                DepthOffset::of(block, clear).write(bits, &mut out);
                PackedSize::new(spec, Codec::Depth, out.bits())
            }
            None => {
                let (codec, bits) = smallest(block, format.layout());
                let transfers = spec.bus_bytes_of(bits).min(BLOCK_BYTES as u64) / spec.bus_bytes;
                let size = u32::try_from(transfers).map_or(0, |t| t.saturating_sub(1));
                let number = match codec {
                    Codec::MinMax => MIN_MAX,
                    Codec::Palette => PALETTE,
                    Codec::Offset | Codec::Depth | Codec::Raw => OFFSET,
                };
                out.put(number | size << CODEC_BITS, PREFIX_BITS);
                match (codec, BlockPalette::of(block, RAW_BITS)) {
                    (Codec::MinMax, _) => MinMax::of(block).write(block, u32::BITS, &mut out),
                    (Codec::Palette, Some(palette)) => palette.write(block, &mut out),
                    _ => ColourOffset::of(block, format.layout()).write(block, &mut out),
                }
                PackedSize::new(spec, codec, out.bits())
            }
        };
        let words = match size.codec {
            Codec::Raw => *block,
            _ => out.into_words(),
        };
        Self { size, words }
    }

    /// Decodes the block; clear samples of a depth block become `clear_value`.
    pub fn decode(&self, format: BlockFormat, clear: u64, clear_value: u32) -> Block {
        if self.size.codec == Codec::Raw {
            return self.words;
        }
        let mut from = BitReader::new(&self.words);
        if let Some(bits) = format.depth_bits() {
            return DepthOffset::read(clear, clear_value, bits, &mut from);
        }
        let codec = from.take(CODEC_BITS);
        from.take(SIZE_BITS);
        match codec {
            MIN_MAX => {
                let mut block = [0; BLOCK_WORDS];
                MinMax::read(&mut block, u32::BITS, &mut from);
                block
            }
            PALETTE => BlockPalette::read(&mut from),
            _ => ColourOffset::read(format.layout(), &mut from),
        }
    }
}
