//! Offset codec with one reference: each channel of a sample is stored as an offset from the smallest value of the channel
//! (Rasmusson, Hasselgren and Akenine-Möller 2007, simplified to one reference as in section 5.3).
//!
//! Layout per channel: the smallest value, the width of the offsets, and the offsets of all samples.

use super::bits::{BLOCK_WORDS, BitReader, BitWriter, Block, significant_bits};
use quadrille_base::math::fit;

/// Layout of samples and channels in a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ChannelLayout {
    /// One 32-bit integer per sample.
    U32,
    /// Four 8-bit integers per sample, red in the lowest bits.
    Rgba8,
    /// Four 16-bit floats per sample in two words, red in the lowest bits of the first word.
    Rgba16F,
}

impl ChannelLayout {
    /// Bits per channel.
    pub(crate) fn channel_bits(self) -> u32 {
        match self {
            Self::U32 => 32,
            Self::Rgba8 => 8,
            Self::Rgba16F => 16,
        }
    }

    fn channels(self) -> usize {
        match self {
            Self::U32 => 1,
            Self::Rgba8 | Self::Rgba16F => 4,
        }
    }

    /// Bits of the width field, which holds 0 to the bits per channel.
    fn width_bits(self) -> u32 {
        significant_bits(self.channel_bits())
    }

    #[inline]
    fn values(self, block: &Block, channel: usize) -> impl Iterator<Item = u32> + '_ {
        let words = self.channels() * self.channel_bits() as usize / 32;
        let bits = self.channel_bits();
        let [first, shift] = self.position(channel);
        let kept = u32::MAX >> (32 - bits);
        let is_float = self == Self::Rgba16F;
        block[first as usize..].iter().step_by(words).map(move |word| {
            let value = word >> shift & kept;
            if is_float { ordered(value) } else { value }
        })
    }

    /// Word of a channel in the first sample, and shift within the word.
    fn position(self, channel: usize) -> [u32; 2] {
        let bit = u32::try_from(channel).unwrap_or(0) * self.channel_bits();
        [bit / 32, bit % 32]
    }
}

/// Maps the bits of a 16-bit float to an integer; integers are in the order of the floats.
#[inline]
fn ordered(bits: u32) -> u32 {
    match bits >> 15 {
        0 => bits | 0x8000,
        _ => !bits & 0xffff,
    }
}

#[inline]
fn unordered(value: u32) -> u32 {
    match value >> 15 {
        0 => !value & 0xffff,
        _ => value & 0x7fff,
    }
}

/// Smallest value and width of the offsets per channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ColourOffset {
    layout: ChannelLayout,
    channels: [(u32, u32); 4],
}

impl ColourOffset {
    /// Finds the smallest value and the offset width of each channel of a block.
    #[inline]
    pub(crate) fn of(block: &Block, layout: ChannelLayout) -> Self {
        let mut channels = [(0, 0); 4];
        for (number, channel) in channels[..layout.channels()].iter_mut().enumerate() {
            let (mut least, mut greatest) = (u32::MAX, 0);
            for value in layout.values(block, number) {
                least = least.min(value);
                greatest = greatest.max(value);
            }
            *channel = (least, significant_bits(greatest - least));
        }
        Self { layout, channels }
    }

    /// Size of the encoding in bits.
    #[inline]
    pub(crate) fn bits(&self) -> u32 {
        let layout = self.layout;
        let channels = layout.channels();
        let samples = fit::<u32>(BLOCK_WORDS * 32 / (channels * layout.channel_bits() as usize));
        let header = layout.channel_bits() + layout.width_bits();
        let of_channel = |(_, width): &(u32, u32)| header + samples * width;
        self.channels[..channels].iter().map(of_channel).sum()
    }

    /// Appends the encoded block to `out`.
    pub(crate) fn write(&self, block: &Block, out: &mut BitWriter) {
        let layout = self.layout;
        let channels = &self.channels[..layout.channels()];
        for (number, &(least, width)) in channels.iter().enumerate() {
            out.put(least, layout.channel_bits());
            out.put(width, layout.width_bits());
            for value in layout.values(block, number) {
                out.put(value - least, width);
            }
        }
    }

    /// Decodes a block.
    pub(crate) fn read(layout: ChannelLayout, from: &mut BitReader<'_>) -> Block {
        let mut block = [0; BLOCK_WORDS];
        let words = layout.channels() * layout.channel_bits() as usize / 32;
        let kept = u32::MAX >> (32 - layout.channel_bits());
        for number in 0..layout.channels() {
            let least = from.take(layout.channel_bits());
            let width = from.take(layout.width_bits()).min(32);
            let [first, shift] = layout.position(number);
            for word in block[first as usize..].iter_mut().step_by(words) {
                let value = least.wrapping_add(from.take(width)) & kept;
                let is_float = layout == ChannelLayout::Rgba16F;
                let value = if is_float { unordered(value) } else { value };
                *word |= value << shift;
            }
        }
        block
    }
}

#[cfg(test)]
mod tests {
    use half::f16;

    use super::*;

    #[test]
    fn order_of_floats_is_kept() {
        let floats = [-65504.0, -1.0, -1e-7, -0.0, 0.0, 1e-7, 0.5, 1.0, 65504.0];
        let integers = floats.map(|x| ordered(f16::from_f32(x).to_bits().into()));
        assert!(integers.is_sorted_by(|a, b| a < b), "{integers:?}");
        assert!((0..=0xffff).all(|bits| unordered(ordered(bits)) == bits));
    }
}
