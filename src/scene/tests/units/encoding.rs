//! Tests of axes.

use super::*;

#[test]
fn axes_are_three_letters() {
    for text in ["RDF", "RUB", "LUF", "RUF", "LDB", "RBU", "LFD", "RFU"] {
        assert_eq!(text.parse::<SplatAxes>().unwrap().to_string(), text);
    }
    assert_eq!("rub".parse::<SplatAxes>().unwrap(), SplatAxes::RUB);
    for text in ["", "RD", "RDFF", "DRF", "XYZ", "RUU", "RBB"] {
        assert!(text.parse::<SplatAxes>().is_err(), "{text}");
    }
}
