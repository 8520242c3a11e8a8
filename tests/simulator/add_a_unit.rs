//! The example that adds a unit and a flush policy from outside the crate.

#[allow(dead_code, reason = "its `main` is for `cargo run`")]
#[path = "../../examples/add_a_unit.rs"]
mod example;

#[test]
fn a_stage_and_a_policy_from_outside_run_and_are_on_the_page() {
    let page = example::run().unwrap();
    let line = |label: &str| page.lines().find(|l| l.starts_with(label)).unwrap();
    // The shipped pipeline has no such unit; the changed one works in it.
    assert!(line("probe   ").contains('-') && line("probe   ").contains('%'), "{page}");
    assert!(!line("probe:").contains(" 0 quads full"), "{page}");
    assert!(line("cycles").split_whitespace().count() >= 3, "{page}");
}
