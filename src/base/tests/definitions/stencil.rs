//! The stencil test: masks, updates, and the bit of early termination.

use StencilOperation as Op;
use quadrille_base::shading::*;

fn after(pass: Op, top_bit_taken: bool, stored: u8) -> u8 {
    let test = StencilTest { pass, reference: 0x9c, top_bit_taken, ..StencilTest::default() };
    test.updated(stored, StencilOutcome::Pass)
}

#[test]
fn operations_on_eight_bits() {
    for (operation, stored, expected) in [
        (Op::Keep, 7, 7),
        (Op::Zero, 7, 0),
        (Op::Replace, 7, 0x9c),
        (Op::IncrementClamp, 7, 8),
        (Op::IncrementClamp, 255, 255),
        (Op::DecrementClamp, 7, 6),
        (Op::DecrementClamp, 0, 0),
        (Op::IncrementWrap, 255, 0),
        (Op::DecrementWrap, 0, 255),
        (Op::Invert, 0x0f, 0xf0),
    ] {
        assert_eq!(after(operation, false, stored), expected, "{operation:?}");
    }
}

#[test]
fn operations_on_seven_bits_leave_the_top_one() {
    for (operation, stored, expected) in [
        (Op::Zero, 7, 0),
        (Op::Replace, 7, 127),
        (Op::IncrementClamp, 127, 127),
        (Op::DecrementClamp, 0, 0),
        (Op::IncrementWrap, 127, 0),
        (Op::DecrementWrap, 0, 127),
        (Op::Invert, 0x0f, 0x70),
    ] {
        for top in [0, TERMINATED] {
            let found = after(operation, true, stored | top);
            assert_eq!(found, expected | top, "{operation:?}");
        }
    }
}

#[test]
fn each_outcome_has_its_operation_under_the_write_mask() {
    let test = StencilTest {
        write_mask: 0x0f,
        fail: Op::Zero,
        depth_fail: Op::Invert,
        pass: Op::IncrementClamp,
        ..StencilTest::default()
    };
    assert_eq!(test.updated(0xa5, StencilOutcome::Fail), 0xa0);
    assert_eq!(test.updated(0xa5, StencilOutcome::DepthFail), 0xaa);
    assert_eq!(test.updated(0xa5, StencilOutcome::Pass), 0xa6);
}

#[test]
fn compares_under_the_read_mask() {
    let mut test = StencilTest {
        compare: CompareOp::Equal,
        reference: 0x35,
        read_mask: 0x0f,
        ..StencilTest::default()
    };
    assert!(test.passes(0x05) && test.passes(0xf5) && !test.passes(0x36));
    test.read_mask = 0xff;
    assert!(test.passes(0x35) && !test.passes(0xb5));
    // The reference is on the left, as in OpenGL.
    test.compare = CompareOp::Less;
    assert!(test.passes(0x36) && !test.passes(0x35));
}

#[test]
fn a_closed_pixel_looks_the_same_to_the_application() {
    for compare in CompareOp::ALL {
        for reference in [0, 5, 127, 128, 255] {
            let test =
                StencilTest { compare, reference, top_bit_taken: true, ..StencilTest::default() };
            for stored in 0..128 {
                assert_eq!(test.passes(stored), test.passes(stored | TERMINATED));
            }
        }
    }
}

#[test]
fn reads_configuration() {
    let text = "compare = \"not-equal\"\nreference = 3\ndepth-fail = \"increment-wrap\"";
    let test: StencilTest = toml::from_str(text).unwrap();
    assert_eq!(test.compare, CompareOp::NotEqual);
    assert_eq!(test.depth_fail, Op::IncrementWrap);
    assert_eq!((test.reference, test.read_mask), (3, 0xff));
    assert!(toml::from_str::<StencilTest>("top-bit-taken = true").is_err());
}
