use super::*;

#[test]
fn numbers_have_few_digits_of_the_size_of_the_scene() {
    assert_eq!(rounded(1.234_567, 3.0), 1.2346);
    assert_eq!(rounded(123.456_789, 250.0), 123.46);
    assert_eq!(rounded(0.001_234_567, 0.002), 0.001_234_6);
    assert_eq!(rounded(1_234_567.0, 1e7), 1_234_567.0);
    assert!(rounded(-1e-9, 1.0).is_sign_positive());
}
