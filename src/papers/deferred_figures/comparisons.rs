//! Published numbers and statements beside our results.

use super::published;
use crate::figures::{Claim, Compared, Content};
use crate::published::Statistic;

/// Sets a published number beside ours.
pub(super) fn compare(
    content: &mut Content,
    figure: &str,
    quantity: &str,
    at: Statistic,
    ours: Option<f64>,
) {
    let mut all = published::of_figure(figure);
    let found = all.find(|p| p.quantity == quantity && p.statistic == at);
    debug_assert!(found.is_some(), "{figure}: {quantity}");
    let compared = found.map(|published| Compared { published, ours });
    content.compared.extend(compared);
}

/// Adds a statement of the paper with the cases in which it holds.
pub(super) fn claim(
    content: &mut Content,
    statement: &str,
    cases: &'static str,
    outcomes: impl IntoIterator<Item = Option<bool>>,
) {
    content
        .claims
        .push(Claim::count(statement, cases, outcomes));
}
