//! The build of the program that runs suites.

/// A build of a program. Rows of results hold its commit, and a job is run again by a build of other
/// sources, which may compute other results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Program {
    /// Version of the package.
    pub version: &'static str,
    /// Commit of the sources; `unknown` outside their repository.
    pub commit: &'static str,
    /// Hash of all sources and of the versions of all dependencies.
    pub sources: &'static str,
}
