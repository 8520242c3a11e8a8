//! The colour unit and its cache.

mod blend;
pub mod cache;
pub mod unit;
