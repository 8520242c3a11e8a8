//! Conversion of scenes: actions on tables of raw columns, in the order in which they are given, and
//! reports of what a conversion loses.

mod action;
mod between;
mod concat;
mod condition;
mod decimate;
mod floaters;
mod neighbours;
mod prune;
mod report;

pub use action::Action;
pub use between::views_between;
pub use concat::concatenate;
pub use condition::Condition;
pub use decimate::{Amount, coarser_levels};
pub use prune::{largest_weights, prune};
pub use report::{
    AttributeError, AttributeErrors, ViewComparison, ViewDifference, attribute_errors, worst_view,
};
