//! Results of a conversion.

use serde::Serialize;

use super::report::ConversionLoss;

/// A file that was read or written.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ConvertedFile {
    /// Path of the file, as given.
    pub path: String,
    /// Name of the file format.
    pub format: &'static str,
    /// Number of splats.
    pub splats: usize,
    /// Degree of the spherical harmonics.
    pub sh_degree: u8,
    /// Size in bytes; for a format of several files, their total size.
    pub file_bytes: Option<u64>,
}

/// The splats after a step.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct StepResult {
    /// Text of the step.
    pub action: String,
    /// Number of splats that are left.
    pub splats: usize,
    /// Degree of the spherical harmonics.
    #[serde(skip)]
    pub sh_degree: u8,
}

/// The output of a conversion.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ConvertedOutput {
    /// The file.
    #[serde(flatten)]
    pub file: ConvertedFile,
    /// Whether the caller accepted it.
    pub written: bool,
}

/// The results of a conversion. Their serialization is the document of `convert --json`.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct Converted {
    /// The files that were read.
    pub inputs: Vec<ConvertedFile>,
    /// The steps and, after them, the coarser levels of detail.
    pub actions: Vec<StepResult>,
    /// The file that was written.
    pub output: ConvertedOutput,
    /// The loss, if views were compared.
    #[serde(rename = "report", skip_serializing_if = "Option::is_none")]
    pub loss: Option<ConversionLoss>,
}
