//! Runs of mesh jobs in suites: rows, fingerprint inputs and heat maps.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

use super::file::{MeshJob, RunSettings};
use super::paths::SuitePaths;
use crate::checks::unique;
use crate::deferred_runs::{DeferredView, DeferredWants, heat_picture};
use crate::merging_runs::{MergedFrame, MergingWants};
use crate::mesh_input::camera_text;
use crate::messages::Warnings;
use crate::rows::{DeferredRow, MeshRow};
use crate::run_row::{MeshRows, MeshRunRow};
use quadrille_base::error::Result;
use quadrille_base::image::files;
use quadrille_base::math::SimdLevel;
use quadrille_base::task::Task;
use quadrille_deferred::draw::DeferredResult;

impl MeshJob {
    pub(crate) fn camera_text(&self) -> Result<String> {
        camera_text(match &self.settings {
            RunSettings::Deferred(settings) => &settings.views,
            RunSettings::Merging(settings) => &settings.views,
        })
    }

    /// Draws all views. Returns the row without its fingerprint and commit, and warnings. Heat maps are written into
    /// `folder`.
    pub(crate) fn run(
        &self,
        folder: Option<&Path>,
        paths: &SuitePaths,
        level: SimdLevel,
        task: &Task,
    ) -> Result<(MeshRunRow, Vec<String>)> {
        let start = Instant::now();
        let messages = Warnings::default();
        let mut outputs = Vec::new();
        let (mut rows, read): (_, Vec<PathBuf>) = match &self.settings {
            RunSettings::Deferred(settings) => {
                let prepared = settings.prepare(&messages)?;
                let heat = self.heat && folder.is_some();
                let wants = DeferredWants { heat, ..DeferredWants::default() };
                let mut keep = |row: &DeferredRow, result: &DeferredResult, _: &DeferredView| {
                    let (Some(heat), Some(folder)) = (&result.heat, folder) else { return Ok(()) };
                    let name = format!("{}.{}.png", self.key, row.variant_name());
                    files::write(folder.join(&name), &heat_picture(row, heat))?;
                    outputs.push(name);
                    Ok(())
                };
                let rows = prepared.run(&wants, level, task, &messages, &mut keep)?;
                (MeshRows::Deferred(rows), prepared.files().map(Path::to_owned).collect())
            }
            RunSettings::Merging(settings) => {
                let prepared = settings.prepare(&messages)?;
                let wants = MergingWants { background: Some([0.0; 3]), ..MergingWants::default() };
                let mut keep = |_: &MeshRow, _: MergedFrame<'_>| Ok(());
                let rows = prepared.run(wants, level, task, &messages, &mut keep)?;
                (MeshRows::Merging(rows), prepared.files().map(Path::to_owned).collect())
            }
        };
        match &mut rows {
            MeshRows::Deferred(rows) => rows.iter_mut().for_each(|r| r.mesh.clone_from(&self.mesh)),
            MeshRows::Merging(rows) => rows.iter_mut().for_each(|r| r.mesh.clone_from(&self.mesh)),
        }
        let row = MeshRunRow {
            key: self.key.clone(),
            commit: String::new(),
            fingerprint: String::new(),
            host_s: start.elapsed().as_secs_f64(),
            files: unique(read.iter().map(|file| paths.portable(file))),
            inputs: BTreeMap::new(),
            outputs,
            rows,
        };
        Ok((row, messages.into_texts()))
    }
}
