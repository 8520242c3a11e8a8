//! Suites of meshes: studies of meshes, each with settings and the product of its axes.
//!
//! ```text
//! suite file --MeshSuite::parse--> MeshSuite --plan--> MeshPlan: jobs, study by study
//!                                                        |-- run(RESULTS)   a row per job, appended at once
//!                                                        '-- runs(FILES)    the rows that are current
//! RESULTS --read_kept--> rows
//! ```
//!
//! A job draws all views of a mesh with the settings of a study and one point of each of its axes; its
//! [workload](Workload) says by which pipelines. The files that it reads are known only once its mesh is loaded, since a
//! mesh names materials, textures and buffers. A row therefore lists them, and is used again only while all of them have
//! the same content. A file that is not listed cannot matter: to be read, it must be named by a file that is listed, which
//! then has changed.

mod file;
mod kept;
mod paths;
mod plan;
mod run;

pub use super::mesh_row::{MeshRows, MeshRunKey, MeshRunRow, Workload};
pub use file::MeshSuite;
pub use kept::{holds_meshes, read_kept};
pub use plan::{MeshPlan, PlannedRun};
pub use run::MeshRunFiles;
