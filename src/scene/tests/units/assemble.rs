//! Tests of the module `assemble`.

use super::*;

#[test]
fn rows_beyond_the_range_of_indices_are_refused() {
    assert!(check_rows(MAX_SPLATS).is_ok());
    assert!(matches!(check_rows(MAX_SPLATS + 1), Err(Error::Limit { .. })));
}
