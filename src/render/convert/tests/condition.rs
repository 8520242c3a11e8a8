//! Tests of the module `condition`.

use super::*;

#[test]
fn conditions_are_parsed_or_quoted() {
    for text in ["opacity > .1 && scale_max<2", "!(x<-1e-3||y>=2)&&z!=0", "nx == 0", "1 < x"] {
        assert!(Condition::parse(text).is_ok(), "{text}");
    }
    for (text, found) in [
        ("", "the end"),
        ("opacity", "the end behind \"opacity\""),
        ("opacity > ", "the end behind \"opacity >\""),
        ("opacity > .1 & x > 0", "\"& x > 0\" behind \"opacity > .1\""),
        ("(x > 0", "the end behind \"(x > 0\""),
        ("x > 1..2", "\"1..2\" behind \"x >\""),
        ("opacity > 50%", "\"%\" behind \"opacity > 50\""),
        ("-x > 1", "\"-x > 1\""),
    ] {
        let error = Condition::parse(text).unwrap_err().to_string();
        assert!(error.ends_with(found), "{text}: {error}");
    }
    assert!(Condition::parse(&"(".repeat(100_000)).is_err());
    assert!(Condition::parse(&"!".repeat(100_000)).is_err());
}
