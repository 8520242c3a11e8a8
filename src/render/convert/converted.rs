//! Results of a conversion, as reported to the caller and in JSON.

use serde::Serialize;

use super::report::ConversionLoss;
use quadrille_scene::Camera;

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
    /// Degree of the spherical harmonics, 0 to 4.
    pub sh_degree: u8,
    /// Size in bytes; for a format of several files, their total size.
    pub file_bytes: Option<u64>,
}

/// State of the table after a step.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct StepResult {
    /// Text of the step, as the user gave it.
    pub action: String,
    /// Number of splats left.
    pub splats: usize,
    /// Degree of the spherical harmonics, 0 to 4.
    #[serde(skip)]
    pub sh_degree: u8,
}

/// Output of a conversion, and whether it was kept.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ConvertedOutput {
    /// Properties of the output file.
    #[serde(flatten)]
    pub file: ConvertedFile,
    /// Whether the file was kept: the caller accepted the loss.
    pub written: bool,
}

/// Views that splats were pruned with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct PruningViews {
    /// Camera file or option that the views come from.
    pub views_from: String,
    /// Names of the views.
    pub views: Vec<String>,
}

/// Results of a conversion, serialized as the output of `convert --json`.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct Converted {
    /// Input files, in order.
    pub inputs: Vec<ConvertedFile>,
    /// Results of the steps, followed by the coarser levels of detail.
    pub actions: Vec<StepResult>,
    /// Views that decided which splats are left; `None` without pruning.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pruned_by: Option<PruningViews>,
    /// Output file.
    pub output: ConvertedOutput,
    /// Loss of the conversion, if views were compared.
    #[serde(rename = "report", skip_serializing_if = "Option::is_none")]
    pub loss: Option<ConversionLoss>,
    /// Views, moved with the first input, if they were requested.
    #[serde(skip)]
    pub cameras: Vec<Camera>,
}
