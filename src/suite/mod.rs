//! Suites of views: the results file, and the table over all rows.

pub mod results;
pub mod results_file;
