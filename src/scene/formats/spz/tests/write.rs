//! Tests of writing SPZ.

use super::*;

#[test]
fn buckets_are_finer_by_the_width_of_splats() {
    // Packed scales are logarithms in steps of 1/16: 11 steps are a factor of 1.99. The least scale has no effect.
    let of_steps = |steps: [u8; 3]| steps.map(|s| 100 + s);
    let narrow = of_steps([0, 0, 0]);
    let mut scales = narrow.repeat(1000);
    let mut opacities = vec![128; 1000];
    for (steps, opacity) in [
        ([0, 22, 22], 128),
        ([11, 0, 11], 32),
        ([11, 0, 0], 128),
        ([33, 0, 33], 128),
        ([99, 99, 99], 128),
        ([99, 99, 99], 0),
    ] {
        scales.extend(of_steps(steps));
        opacities.push(opacity);
    }
    let found = are_wide(&scales, &opacities);
    assert!(found[..1000].iter().all(|is_wide| !is_wide));
    // The widths are 4.0, 1.0, 1.4, 7.9, 489 and 0 times that of narrow splats; the mean is 1.5 times that width.
    assert_eq!(found[1000..], [true, false, false, true, true, false]);
    assert_eq!(are_wide(&[0; 6], &[0; 2]), [false; 2]);
}

#[test]
fn coefficients_of_wide_splats_are_written_with_more_bits() {
    let mut raw = RawColumns::zeroed(101, 2);
    let mut rest = std::mem::take(&mut raw.sh_rest);
    rest[..8].iter_mut().flatten().for_each(|value| *value = 3.0 / 128.0);
    let rest: Vec<Cow<'_, [f32]>> = rest.into_iter().map(Cow::Owned).collect();
    for scale in &mut raw.scale {
        scale[100] = 3.0;
    }
    let header =
        SpzHeader { version: 4, splats: 101, sh_degree: 2, fraction_bits: FRACTION_BITS, flags: 0 };
    let [.., coefficients] = streams(&raw, &rest, &header, &Task::NEVER).unwrap();
    let red: Vec<u8> = coefficients.iter().copied().step_by(3).collect();
    assert_eq!(red[..8], [128; 8]);
    // Buckets are 4 for degree 1, in which y and z change signs, and 8 for degree 2.
    assert_eq!(red[800..], [124, 124, 132, 128, 128, 128, 128, 128]);
}
