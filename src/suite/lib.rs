//! Suites: scenes, views, configurations and methods to run, the results file that a stopped run
//! continues, shards for many machines, and tables and CSV of the rows.
//!
//! ```text
//! suite file --Suite::read--> Suite --plan--> Plan: runs, scene by scene
//!                                               |-- shard(I/N)          every Nth run; sequences whole
//!                                               |-- run(RESULTS)        a row per run, appended at once
//!                                               |-- rows(FILES)         the rows that are current
//!                                               '-- merge(RESULTS)      the shards' files in one
//! RESULTS --read_rows--> rows --csv--> one line per row and method
//! ```
//!
//! A run is a view of a scene in one configuration, or a mesh of a study at one point of its axes. All methods of a
//! view share the preprocessed splats and report into one [`Row`], unless [each is a run of its own](Plan::by_method).
//! Only procedural scenes use random numbers, so a seed belongs to a scene with a recipe.
//!
//! Rows of equal [`RunKey`]s and fingerprints must have equal numbers, whichever machine wrote them; keys that begin
//! with `host_` hold times of a machine and are exempt. Reading a results file and merging check that.
//!
//! ```
//! use quadrille_base::Task;
//! use quadrille_suite::{Configuration, Program, RunOptions, RunRow, Suite, csv};
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
//! let rows = plan.run(&RunOptions::default(), &mut |_| {})?;
//! let (rows, _) = RunRow::split(rows);
//! assert_eq!(rows.len(), 2);
//! assert!(rows[0].ratios["het"].speedup.is_some());
//! assert_eq!(csv::text(&rows, &[]).lines().count(), 1 + 4);
//! # Ok::<(), quadrille_base::Error>(())
//! ```

pub mod blur;
mod checks;
mod configuration;
pub mod csv;
pub mod deferred_runs;
pub mod details;
mod key;
mod known;
mod matrix;
pub mod measured;
mod merge;
pub mod merging_runs;
pub mod mesh_input;
pub mod mesh_suite;
mod messages;
pub mod moving_fields;
mod plan;
mod program;
mod records;
pub mod report;
mod results_file;
mod row;
pub mod rows;
mod run_row;
mod runner;
mod scene_entry;
mod shard;
pub mod stencil;
mod suite_file;
mod suite_table;
pub mod supersampled;
pub mod sweep_table;
mod value_range;
pub mod versus;
mod warm_frames;

pub use checks::{each_once, unique};
pub use configuration::{Configuration, check_distinct, runnable, swept, unused_warning};
pub use key::{Fnv1a, JobKey, MeshRunKey, RunKey, ViewKey};
pub use merge::Merged;
pub use messages::{Messages, Silent};
pub use plan::{MethodChoice, Plan, Run, ViewWork};
pub use program::Program;
pub use quadrille_gpu::method::Method;
pub use quadrille_microbench as microbench;
pub use records::{newest, read_rows, read_rows_from};
pub use row::{Row, RowRatios};
pub use rows::MethodRow;
pub use run_row::{MeshRows, MeshRunRow, RunRow, Workload};
pub use runner::{Event, RunOptions};
pub use shard::Shard;
pub use suite_file::Suite;
pub use value_range::MAX_CONFIGURATIONS;
