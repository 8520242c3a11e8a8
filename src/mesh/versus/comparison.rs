//! The merging units of meshes on a mesh and on splats, and VR-Pipe's quad merging on the splats.

use rayon::prelude::*;

use super::rows::{Versus, VersusRow};
use super::splat_quads::{SPLAT_SHADER, SplatQuads};
use crate::error::Result;
use crate::gpu::config::Config;
use crate::gpu::variant::Variant;
use crate::gpu::view::PreparedView;
use crate::gpu::wiring::{Simulator, Watch};
use crate::image::Frame;
use crate::image::metrics::psnr_db;
use crate::mesh::camera::MeshCamera;
use crate::mesh::frame::{FrameSettings, Visible};
use crate::mesh::grid::GridSource;
use crate::mesh::merge::{MergeUnitKind, PmuSettings, QfmSettings};
use crate::mesh::result::MeshResult;
use crate::mesh::shade::{Sampling, Shader};
use crate::raster::samples::SamplePattern;
use crate::scene::Scene;
use crate::shading::{ColourFormat, Profile};

/// The units of the rows on meshes. On splats the last one is barred by their shader.
fn units() -> [MergeUnitKind; 4] {
    let qfm = MergeUnitKind::Qfm(QfmSettings::default());
    let pmu = MergeUnitKind::Pmu(PmuSettings::default());
    [MergeUnitKind::None, qfm, qfm.with_entries(None), pmu]
}

/// A mesh that is compared with splats.
pub(crate) struct Comparison<'a> {
    pub(crate) source: &'a dyn GridSource,
    pub(crate) view: &'a MeshCamera,
    pub(crate) shader: &'a Shader<'a>,
    pub(crate) sampling: Sampling,
    /// Settings of the frame but for the pattern.
    pub(crate) settings: FrameSettings,
    /// Sample patterns of the rows.
    pub(crate) patterns: Vec<&'static SamplePattern>,
}

/// Rows of a subject, and its unmerged picture at the last pattern.
type Rows = (Vec<VersusRow>, Frame);

impl Comparison<'_> {
    pub(crate) fn with(&self, scene: &Scene) -> Result<Versus> {
        let (mut rows, mesh) = self.mesh()?;
        let hint = scene
            .profile_hint
            .and_then(|name| Profile::named(name).ok());
        let mut profile = hint.unwrap_or_default();
        // Meshes may be small: what is seen of one has to be seen of the other.
        profile.near = profile.near.min(self.view.near);
        let camera = &self.view.camera;
        let prepared = PreparedView::new(&scene.splats, camera, &profile, self.settings.level);
        let (of_splats, splats) = self.splats(&prepared)?;
        let is_qfm = |row: &&VersusRow| row.unit == "qfm" && row.samples == 1;
        let halves = of_splats.iter().filter(is_qfm).map(|row| row.saved);
        let halves = halves.max().unwrap_or(0);
        rows.extend(of_splats);
        rows.push(quad_merging(&prepared, halves)?);
        Ok(Versus {
            rows,
            alike_db: psnr_db(&splats, &mesh)?,
        })
    }

    fn mesh(&self) -> Result<Rows> {
        let (mut rows, mut last) = (Vec::new(), Frame::new(0, 0));
        for &pattern in &self.patterns {
            let settings = FrameSettings {
                pattern,
                ..self.settings
            };
            let visible = Visible::new(self.source, self.view, self.view, &settings)?;
            let mut unmerged: Option<Frame> = None;
            for unit in units() {
                let shading = visible.merged(self.source, unit);
                let outcome = MeshResult::of(&visible, &shading);
                let black = Some([0.0; 3]);
                let picture = visible.picture(self.shader, &shading, self.sampling, black);
                let without = unmerged.get_or_insert_with(|| picture.clone());
                let note = match (unit, outcome.merging.barred) {
                    (MergeUnitKind::Pmu(_), _) if pattern.per_pixel() == 1 => {
                        "off: no multi-sampling".to_owned()
                    }
                    (MergeUnitKind::Pmu(_), barred @ 1..) => {
                        format!("{barred} quads barred by shaders")
                    }
                    _ => String::new(),
                };
                rows.push(VersusRow {
                    subject: "mesh",
                    unit: unit.name(),
                    buffer: unit.buffer(),
                    samples: pattern.per_pixel(),
                    quads: outcome.merging.tested(),
                    saved: outcome.quads_merged(),
                    saved_between_splats: None,
                    psnr_db: psnr_db(&picture, without)?,
                    note,
                });
            }
            last = unmerged.unwrap_or(last);
        }
        Ok((rows, last))
    }

    fn splats(&self, prepared: &PreparedView<'_>) -> Result<Rows> {
        let (mut rows, mut last) = (Vec::new(), Frame::new(0, 0));
        for &pattern in &self.patterns {
            let quads = SplatQuads::new(prepared.draw(), pattern, self.settings.level)?;
            let run =
                |&unit: &MergeUnitKind| quads.merged(prepared.draw(), prepared.shader(), unit);
            let outcomes: Vec<_> = units().par_iter().map(run).collect();
            let without = outcomes[0].picture.clone();
            for (unit, outcome) in units().into_iter().zip(outcomes) {
                let row = VersusRow {
                    subject: "splats",
                    unit: unit.name(),
                    buffer: unit.buffer(),
                    samples: pattern.per_pixel(),
                    quads: outcome.quads,
                    saved: outcome.saved(),
                    saved_between_splats: Some(outcome.between_splats),
                    psnr_db: psnr_db(&outcome.picture, &without)?,
                    note: outcome.qfm.map_or_else(String::new, |qfm| {
                        let (apart, over) = (qfm.apart, qfm.overlapping);
                        format!("not merged: {over} overlap, {apart} share no edge")
                    }),
                };
                match unit {
                    MergeUnitKind::Pmu(_) => rows.extend(pixel_merging(row)),
                    _ => rows.push(row),
                }
            }
            last = without;
        }
        Ok((rows, last))
    }
}

/// Pixel merging on splats by the unit's rules, and as if it had none.
fn pixel_merging(forced: VersusRow) -> [VersusRow; 2] {
    let mut reasons = Vec::new();
    if forced.samples == 1 {
        reasons.push("no multi-sampling");
    }
    if SPLAT_SHADER.discards {
        reasons.push("shader discards");
    }
    let barred = VersusRow {
        saved: 0,
        saved_between_splats: Some(0),
        psnr_db: f64::INFINITY,
        note: format!("barred: {}", reasons.join(", ")),
        ..forced.clone()
    };
    let forced = VersusRow {
        unit: "pmu-forced",
        note: "as if its rules let it".to_owned(),
        ..forced
    };
    [barred, forced]
}

/// VR-Pipe's quad merging on splats, in a colour format that keeps all bits of a sum. `halves` are
/// the quads in which two triangles of one splat lie: at most that many pairs are of one splat.
fn quad_merging(prepared: &PreparedView<'_>, halves: u64) -> Result<VersusRow> {
    let mut config = Config::default();
    config.crop.format = ColourFormat::Rgba32F;
    let variants = [Variant::BASELINE, Variant::QM];
    let simulators = Simulator::all(&config, &variants, Watch::default())?;
    let runs = prepared.run_all(&simulators);
    let [without, with] = [&runs[0].outcome, &runs[1].outcome];
    let saved = without.quads.blended.saturating_sub(with.quads.blended);
    Ok(VersusRow {
        subject: "splats",
        unit: "qm",
        buffer: None,
        samples: 1,
        quads: without.quads.blended,
        saved,
        saved_between_splats: Some(saved.saturating_sub(halves)),
        psnr_db: psnr_db(&with.framebuffer.frame(), &without.framebuffer.frame())?,
        note: "blends, not shadings; between splats: at least".to_owned(),
    })
}
