//! Suites of views: the results file, and the table over all rows.

pub(crate) mod results;
pub(crate) mod results_file;
