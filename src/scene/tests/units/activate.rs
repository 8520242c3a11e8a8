//! Tests of activation on every level of vector instructions.

use super::*;

#[test]
fn every_level_of_instructions_gives_the_same_bits() {
    for seed in 0..500u32 {
        let mut block: SplatBlock = bytemuck::Zeroable::zeroed();
        let own: &mut [Lanes; 14] = bytemuck::cast_mut(&mut block);
        for (i, value) in (0u32..).zip(own.as_flattened_mut()) {
            // A cheap hash spread over -16 to 16, which keeps exponentials in range.
            let hash = (seed * 224 + i).wrapping_mul(0x9e37_79b9) >> 8;
            *value = hash as f32 / 524_288.0 - 16.0;
        }
        let (mut best, mut rest) = (block, [[0.5; BLOCK]; 9]);
        let filter = block.opacity.map(f32::abs);
        let at = |level| Parameters {
            level,
            encoding: ValueEncoding::Raw,
            scales: 3,
            filter: (seed % 2 == 0).then_some(&filter),
        };
        let one = activate(&mut block, &mut rest, 13, at(Level::baseline()));
        let two = activate(&mut best, &mut rest, 13, at(Level::new()));
        assert_eq!((one, block), (two, best));
    }
}
