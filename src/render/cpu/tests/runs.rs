//! Tests of the module `runs`.

use super::*;
use fearless_simd::dispatch;
use quadrille_base::math::SimdLevel;

#[test]
fn each_block_has_a_run_of_the_splats_that_reach_it() {
    let mut word = 1_u64;
    let masks: [u64; 64] = std::array::from_fn(|_| {
        word = word.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        word.rotate_left(17) & 0xf0ff_ffff_ffff_fffe
    });
    for level in SimdLevel::all() {
        let runs = dispatch!(level.frame_level(), simd => Runs::of_masks(simd, &masks));
        let reached = masks.iter().fold(0, |all, mask| all | mask);
        let blocks: Vec<usize> = runs.iter().map(|(block, _)| block).collect();
        assert_eq!(blocks, Run(reached).collect::<Vec<_>>(), "{}", level.name());
        for (block, mut run) in runs.iter() {
            let splats = (0..BATCH).filter(|&splat| masks[splat] >> block & 1 == 1);
            let mut expected: Vec<usize> = splats.collect();
            assert_eq!(run.collect::<Vec<_>>(), expected, "{}: {block}", level.name());
            expected.resize(expected.len().next_multiple_of(GROUP), PADDING);
            let groups: Vec<usize> =
                std::iter::from_fn(|| (!run.is_empty()).then(|| run.group())).flatten().collect();
            assert_eq!(groups, expected, "{}: {block}", level.name());
        }
    }
}
