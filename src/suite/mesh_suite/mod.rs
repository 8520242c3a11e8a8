//! Suites of meshes: studies of meshes, each with settings and the product of its axes.
//!
//! A job draws all views of a mesh with the settings of a study and one point of each of its axes; its
//! [workload](crate::Workload) says by which pipelines. The files that it reads are known only once its mesh is loaded, since a
//! mesh names materials, textures and buffers. A row therefore lists them, and is used again only while all of them have
//! the same content. A file that is not listed cannot matter: to be read, it must be named by a file that is listed, which
//! then has changed.

mod file;
mod paths;
mod run;

pub(crate) use file::MeshJob;
pub use file::MeshSuite;
pub(crate) use paths::SuitePaths;
