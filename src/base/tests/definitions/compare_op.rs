//! Truth table of the comparisons.

use quadrille_base::shading::*;

#[test]
fn truth_table() {
    // In the order of `ALL`: 1 against 2, 2 against 2, 3 against 2.
    let table = [
        [false, false, false],
        [true, false, false],
        [true, true, false],
        [false, false, true],
        [false, true, true],
        [false, true, false],
        [true, false, true],
        [true, true, true],
    ];
    for (comparison, row) in CompareOp::ALL.into_iter().zip(table) {
        assert_eq!([1, 2, 3].map(|x| comparison.passes(x, 2)), row);
    }
}

#[test]
fn nan_has_no_order() {
    let passing = CompareOp::ALL.map(|c| c.passes(f32::NAN, 0.5));
    let expected = CompareOp::ALL.map(|c| matches!(c, CompareOp::NotEqual | CompareOp::Always));
    assert_eq!(passing, expected);
}

#[test]
fn configuration_names() {
    let json = serde_json::to_string(&CompareOp::ALL).unwrap();
    assert_eq!(
        json,
        r#"["never","less","less-or-equal","greater","greater-or-equal","equal","not-equal","always"]"#
    );
}
