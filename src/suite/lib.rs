//! Suites: scenes, views, configurations and methods to run, the results file that a stopped run
//! continues, shards for many machines, and tables and CSV of the rows.
//!
//! ```text
//! suite file --Suite::read--> Suite --plan--> Plan: jobs, scene by scene
//!                                               |-- shard(I/N)          every Nth job
//!                                               |-- run(RESULTS)        a row per job, appended at once
//!                                               '-- merge(RESULTS)      the shards' files in one
//! RESULTS --read_rows--> rows --csv--> one line per row and method
//! ```
//!
//! A job is a view of a scene in one configuration. All methods of a job (today the variants of the emulated
//! pipeline) share the preprocessed splats and report into one [`Row`]. Only procedural scenes use random
//! numbers, so a seed belongs to a scene with a recipe.
//!
//! Rows of equal [`JobKey`]s must have equal numbers, whichever machine wrote them; keys that begin
//! with `host_` hold times of a machine and are exempt. Reading a results file and merging check that.
//!
//! ```
//! use quadrille_base::Task;
//! use quadrille_suite::{Configuration, Program, Suite, csv};
//!
//! let text = "method = ['baseline', 'het']
//!     [matrix]
//!     tc.bins = [8, 32]
//!     [[scene]]
//!     name = 'vase'
//!     recipe = 'object'
//!     splats = 500
//!     view = '0'
//!     width = 48";
//! let suite = Suite::parse(text, "suite.toml".as_ref())?;
//! let program = Program { version: "1.0", commit: "unknown", sources: "0" };
//! let plan = suite.plan(&[Configuration::default()], program, &Task::NEVER, &mut |_| {})?;
//! let rows = plan.run(None, quadrille_base::math::SimdLevel::best(), &mut |_| {})?;
//! assert_eq!(rows.len(), 2);
//! assert!(rows[0].ratios["het"].speedup.is_some());
//! assert_eq!(csv::text(&rows).lines().count(), 1 + 4);
//! # Ok::<(), quadrille_base::Error>(())
//! ```

mod checks;
mod configuration;
pub mod csv;
pub mod deferred_runs;
pub mod details;
mod key;
mod matrix;
pub mod measured;
mod merge;
pub mod merging_runs;
pub mod mesh_input;
mod mesh_row;
pub mod mesh_suite;
mod messages;
mod method;
pub mod method_plan;
pub mod microbench;
mod plan;
mod program;
mod records;
pub mod report;
mod results_file;
mod row;
pub mod rows;
mod runner;
mod scene_entry;
mod shard;
mod suite_file;
mod suite_table;
pub mod supersampled;
pub mod sweep_table;
mod value_range;
pub mod versus;

pub use checks::each_once;
pub use configuration::{Configuration, check_distinct, swept, unused_warning};
pub use key::{Fnv1a, JobKey, ViewKey};
pub use merge::Merged;
pub use messages::{Messages, Silent};
pub use plan::Plan;
pub use program::Program;
pub use quadrille_gpu::method::Method;
pub use records::read_rows;
pub use row::{Row, RowRatios, RunFacts};
pub use rows::MethodRow;
pub use runner::Event;
pub use shard::Shard;
pub use suite_file::Suite;
pub use value_range::MAX_CONFIGURATIONS;
