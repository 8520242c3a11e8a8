//! Random scenes, written in every layout of PLY and read back.
use std::path::Path;

use crate::ply_files::{Body, Extra, Layout, Row, Type};
use proptest::prelude::*;
use quadrille::{Scene, SceneInput, load};

/// Relative error of an activated value: one ulp of f32 and the rounding of the raw value.
const TOLERANCE: f32 = 2.4e-7;

/// Absolute error of a normalised quaternion, whose components are at most 1.
const ROTATION_TOLERANCE: f32 = 1.2e-7;

fn read(file: &[u8]) -> Scene {
    load(SceneInput::bytes(file).named(Path::new("random.ply"))).unwrap_or_else(|e| panic!("{e}"))
}

fn close(found: f32, exact: f64, tolerance: f32) -> bool {
    (f64::from(found) - exact).abs() <= f64::from(tolerance) * exact.abs() + 1e-37
}

/// Compares a splat with its raw row.
fn check(scene: &Scene, index: usize, row: &Row, layout: &Layout) {
    let splat = scene.splats.splat(index);
    let number = |v: f32| f64::from(v);
    // Small splats far from zero are stored relative to an origin of whole numbers.
    let origin = scene.splats.origin();
    for (found, (written, origin)) in splat.mean.into_iter().zip(row.mean.into_iter().zip(origin)) {
        let relative = |position: f64| (position - origin) as f32;
        // As text, a position in double precision is the shortest decimal of the f32, which is another number.
        let decimal = written.to_string().parse().unwrap();
        let [exact, text] = [number(written), decimal].map(relative);
        let is_text = matches!(layout.body, Body::Ascii);
        assert!(found == exact || is_text && found == text, "{splat:?} {row:?}");
    }
    let filter = if layout.filtered { number(row.filter) } else { 0.0 };
    let mut factor = 1.0;
    let axes = if layout.flat { 2 } else { 3 };
    for axis in 0..axes {
        let linear = number(row.scale[axis]).exp();
        let wide = linear.hypot(filter);
        factor *= linear / wide;
        assert!(close(splat.scale[axis], wide, TOLERANCE), "{splat:?} {row:?}");
    }
    if layout.flat {
        assert_eq!(splat.scale[2], 0.0);
    }
    let opacity = factor / (1.0 + (-number(row.opacity)).exp());
    assert!(close(splat.opacity, opacity, TOLERANCE), "{splat:?} {row:?}");
    let norm = row.rotation.map(number).map(|q| q * q).iter().sum::<f64>().sqrt();
    for (found, raw) in splat.rotation.into_iter().zip(row.rotation) {
        let off = (f64::from(found) - number(raw) / norm).abs();
        assert!(off <= f64::from(ROTATION_TOLERANCE), "{splat:?} {row:?}");
    }
    assert_eq!(splat.sh[0], row.dc);
    let per_channel = layout.rest() / 3;
    for k in 0..24 {
        for channel in 0..3 {
            let written = if k < per_channel { row.rest[channel * per_channel + k] } else { 0.0 };
            assert_eq!(splat.sh[k + 1][channel], written, "coefficient {k} of {channel}");
        }
    }
}

fn rows(degree: u8) -> impl Strategy<Value = Vec<Row>> {
    let rest = 3 * ((usize::from(degree) + 1).pow(2) - 1);
    let row = (
        prop::array::uniform3(-1e3f32..1e3),
        prop::array::uniform3(-12f32..4.0),
        prop::array::uniform4(-2f32..2.0),
        -10f32..10.0,
        prop::array::uniform3(-3f32..3.0),
        prop::collection::vec(-2f32..2.0, rest),
        0f32..0.5,
    );
    let row = row.prop_map(|(mean, scale, mut rotation, opacity, dc, rest, filter)| {
        rotation[0] += 3.0;
        Row { mean, scale, rotation, opacity, dc, rest, filter }
    });
    prop::collection::vec(row, 0..70)
}

fn layouts() -> impl Strategy<Value = Layout> {
    (
        0u8..=4,
        prop_oneof![Just(Body::Ascii), Just(Body::Little), Just(Body::Big)],
        prop_oneof![Just("\n"), Just("\r\n"), Just("\r")],
        prop::array::uniform4(any::<bool>()),
        prop::collection::vec(prop_oneof![4 => Just(Type::Float), 1 => Just(Type::Double)], 100),
        prop::collection::vec(Extra::any(), 0..4),
        any::<u64>(),
    )
        .prop_map(|(degree, body, line_end, flags, types, extras, seed)| {
            let [normals, flat, filtered, all_float] = flags;
            let types = if all_float { vec![Type::Float] } else { types };
            Layout { degree, body, line_end, normals, flat, filtered, types, extras, seed }
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn every_layout_reads_back_equal(
        (layout, rows) in layouts().prop_flat_map(|l| { let r = rows(l.degree); (Just(l), r) })
    ) {
        let file = layout.write(&rows);
        let scene = read(&file);
        prop_assert_eq!(scene.splats.len(), rows.len());
        prop_assert_eq!(scene.splats.sh_degree(), layout.degree);
        prop_assert_eq!(scene.dropped.total(), 0);
        let of_discs = layout.flat.then_some("2dgs");
        let hint = layout.filtered.then_some("mip-splatting").or(of_discs);
        prop_assert_eq!(scene.profile_hint, hint);
        for (i, row) in rows.iter().enumerate() {
            check(&scene, i, row, &layout);
        }
    }

    #[test]
    fn a_truncated_file_is_an_error(
        (layout, rows) in layouts().prop_flat_map(|l| { let r = rows(l.degree); (Just(l), r) }),
        cut in any::<prop::sample::Index>(),
    ) {
        let layout = Layout { extras: Vec::new(), ..layout };
        let file = layout.write(&rows);
        // The last bytes of a text file may be a line end or digits of the last number.
        let keep = cut.index(file.len().saturating_sub(30).max(1));
        prop_assume!(!rows.is_empty());
        let result = load(SceneInput::bytes(&file[..keep]).named(Path::new("cut.ply")));
        let refused = matches!(result, Err(quadrille::Error::Malformed { .. }));
        prop_assert!(refused);
    }

    #[test]
    fn no_byte_flip_panics(
        (layout, rows) in layouts().prop_flat_map(|l| { let r = rows(l.degree); (Just(l), r) }),
        flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
    ) {
        let mut file = layout.write(&rows);
        for (at, value) in flips {
            let at = at.index(file.len());
            file[at] = value;
        }
        let _ = load(SceneInput::bytes(&file).named(Path::new("flipped.ply")));
    }
}
