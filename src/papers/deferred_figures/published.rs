//! Numbers that the paper states in its text and in its table, each once and with its place.

use crate::published::{Published, Statistic, published};
use Statistic::{Above, Below, Value};

/// All published numbers, by figure.
const PUBLISHED: [Published; 11] = [
    published(
        "sorting",
        "size of the identifiers",
        Above,
        0.35,
        "share",
        "4.1",
    ),
    published(
        "sorting",
        "size of the identifiers",
        Below,
        0.40,
        "share",
        "4.1",
    ),
    published(
        "sorting",
        "passes of the sort per tile",
        Above,
        4.0,
        "",
        "4.2",
    ),
    published(
        "sorting",
        "passes of the sort per tile",
        Below,
        5.0,
        "",
        "4.2",
    ),
    published(
        "sorting",
        "bytes of the sort on chip",
        Value,
        500.0,
        "MB",
        "4.2",
    ),
    published("table1", "JRK+Z over JRK", Above, 1.83, "times", "Table 1"),
    published("table1", "JRK+Z over JRK", Below, 2.02, "times", "Table 1"),
    published("table1", "SDS over JRK", Below, 1.02, "times", "Table 1"),
    published(
        "table1",
        "samples hit over samples tested",
        Value,
        0.56,
        "share",
        "5.1",
    ),
    published(
        "memo",
        "quads of the pixel grid over the adaptive grid",
        Value,
        2.0,
        "times",
        "Vaidyanathan 2012",
    ),
    published(
        "memo",
        "memo of the pixel grid over the adaptive grid",
        Value,
        16.0,
        "times",
        "Vaidyanathan 2012",
    ),
];

/// The published numbers of a figure.
pub(super) fn of_figure(figure: &str) -> impl Iterator<Item = &'static Published> {
    PUBLISHED.iter().filter(move |p| p.figure == figure)
}
