//! Conversion of scenes: actions on tables of raw columns, in the order in which they are given.

mod action;
mod concat;
mod condition;

pub use action::Action;
pub use concat::concatenate;
pub use condition::Condition;
