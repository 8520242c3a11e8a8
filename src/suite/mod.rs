//! Suites of views to run through variants, the results file that a stopped run continues, and the table
//! of all rows beside the published figures.

pub(crate) mod results_file;
pub(crate) mod row;
pub(crate) mod runner;
pub(crate) mod suite_file;
pub(crate) mod table;
