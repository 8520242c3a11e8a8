//! The colour unit and its cache.

pub mod cache;
pub mod unit;
