//! Suites of views: which scenes to run through which variants, a results file that a stopped run
//! continues, and the table over all rows beside the published figures.

pub(crate) mod results_file;
pub(crate) mod row;
pub(crate) mod runner;
pub(crate) mod suite_file;
pub(crate) mod table;
