//! Tests of numbers in text and in packed bytes.

use super::*;

#[test]
fn every_type_and_order() {
    let bytes = [0xfe, 1, 2, 3, 4, 5, 6, 0x40];
    let le = |scalar| read(&bytes, scalar, Encoding::LittleEndian);
    let be = |scalar| read(&bytes, scalar, Encoding::BigEndian);
    assert_eq!((le(Scalar::I8), le(Scalar::U8)), (-2.0, 254.0));
    assert_eq!((le(Scalar::I16), be(Scalar::I16)), (510.0, -511.0));
    assert_eq!((le(Scalar::U16), be(Scalar::U16)), (510.0, 65025.0));
    assert_eq!(le(Scalar::I32), f64::from(0x0302_01fe));
    assert_eq!(be(Scalar::U32), f64::from(0xfe01_0203u32));
    assert_eq!(be(Scalar::F32), f64::from(f32::from_bits(0xfe01_0203)));
    assert_eq!(le(Scalar::F64), f64::from_le_bytes(bytes));
}

#[test]
fn counts_are_whole() {
    assert_eq!(to_count(3.0), Some(3));
    for value in [-1.0, 0.5, f64::NAN, f64::INFINITY, 4_294_967_296.0] {
        assert_eq!(to_count(value), None);
    }
}

#[test]
fn text_is_parsed_or_refused() {
    let float = |word: &str| parse_float::<f32>(word.as_bytes());
    assert_eq!(parse_float(b"4654321.03125"), Ok(4_654_321.031_25));
    assert_eq!(float("-1.5e1"), Ok(-15.0));
    assert_eq!(float("+.5"), Ok(0.5));
    assert_eq!(float("1e400"), Ok(f32::INFINITY));
    assert_eq!(float("-1.#INF"), Ok(f32::INFINITY));
    assert!(float("-nan(ind)").is_ok_and(f32::is_nan));
    assert!(float("NaN").is_ok_and(f32::is_nan));
    assert!(float("0,5").is_err() && float("0x10").is_err() && float("zero").is_err());
    assert_eq!(Number::Text(b"255", Scalar::U8).rounded(), Ok(255.0));
    assert!(Number::Text(b"256", Scalar::U8).exact().is_err());
}
