//! The figures and tables of papers on graphics hardware, drawn again from results of quadrille and set
//! beside the published numbers.
//!
//! ```text
//! published/*.toml --paper--> Figure --.
//! rows of a suite ---------> Results --+--draw--> Content --report--> page, CSV, JSON
//! ```
//!
//! | module | holds |
//! |---|---|
//! | [`paper`] | the papers as data: figures, captions, and published numbers |
//! | [`figures`], [`deferred_figures`], [`merging_figures`] | how the figures of each paper are drawn from results |
//! | [`studies`] | runs of studies of meshes, with their rows |
//! | [`correlation`] | measured numbers of a machine beside the emulator's |
//! | `sheet`, `table` | the recipes: columns, bars, lines, comparisons and statements |
//! | [`report`], `page`, [`files`] | the page of all papers, and the files of each figure |
//! | [`docs`] | tables of figures in Markdown files |
//! | [`suite_table`] | statistics over the rows of a suite, beside the published means |
//! | `typeset` | tables as Markdown and LaTeX |

mod content;
pub mod correlation;
pub mod deferred_figures;
pub mod docs;
pub mod figures;
pub mod files;
pub mod merging_figures;
mod page;
pub mod paper;
pub mod report;
mod sheet;
pub mod studies;
pub mod suite_table;
mod table;
mod typeset;
