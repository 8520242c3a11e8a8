//! Comparison of the mesh path's merging units on a mesh and on splats, with VR-Pipe's quad merging on
//! the splats: rows of a table, JSON, and conclusions in sentences.

use quadrille_base::units::percent;
use rayon::prelude::*;
use serde_json::{Value, json};

use super::splat_quads::{SPLAT_SHADER, SplatQuads};
use crate::report::table::or_dash;
use crate::rows::BufferEntries;
use quadrille_base::error::Result;
use quadrille_base::image::Frame;
use quadrille_base::image::metrics::psnr_db;
use quadrille_base::raster::samples::SamplePattern;
use quadrille_base::shading::{ColourFormat, Profile};
use quadrille_base::task::Task;
use quadrille_geometry::camera::MeshCamera;
use quadrille_geometry::grid::GridSource;
use quadrille_gpu::config::Config;
use quadrille_gpu::variant::Variant;
use quadrille_gpu::view::PreparedView;
use quadrille_gpu::wiring::{Simulator, Watch};
use quadrille_mesh::frame::{FrameSettings, VisibleFrame};
use quadrille_mesh::merge::{MergeUnitKind, PmuSettings, QfmSettings};
use quadrille_mesh::result::{MeshResult, ratio};
use quadrille_mesh::shade::{Sampling, Shader};
use quadrille_scene::Scene;

/// Units to compare. Pixel merging, the last one, is barred on splats because their shader discards fragments.
fn units() -> [MergeUnitKind; 4] {
    let qfm = MergeUnitKind::Qfm(QfmSettings::default());
    [MergeUnitKind::None, qfm, qfm.with_entries(None), MergeUnitKind::Pmu(PmuSettings::default())]
}

/// Settings of a comparison with splats: the mesh, its shader, the view and the sample patterns.
pub struct MeshComparison<'a> {
    /// Mesh to compare with splats, as a source of grids.
    pub source: &'a dyn GridSource,
    /// The view of both.
    pub view: &'a MeshCamera,
    /// Shader of the mesh.
    pub shader: &'a Shader<'a>,
    /// Point at which the mesh is shaded.
    pub sampling: Sampling,
    /// Settings of the frame, whose pattern is replaced by each of `patterns`.
    pub settings: FrameSettings,
    /// Sample patterns, one comparison each.
    pub patterns: Vec<&'static SamplePattern>,
    /// Cancellation.
    pub task: &'a Task,
}

type Rows = (Vec<VersusRow>, Frame);

impl MeshComparison<'_> {
    /// Compares with the splats of `scene`.
    pub fn with(&self, scene: &Scene) -> Result<Versus> {
        let (mut rows, mesh) = self.mesh()?;
        let (mut profile, _) = Profile::for_ellipsoids(None, scene.profile_hint)?;
        // Meshes may be small, and both subjects have to be visible from the same distance.
        profile.near = profile.near.min(self.view.near);
        let camera = &self.view.in_world();
        let (splats, level) = (&scene.splats, self.settings.level);
        let prepared = PreparedView::new(splats, camera, &profile, level, self.task)?;
        let (of_splats, splats) = self.splats(&prepared)?;
        let is_qfm = |row: &&VersusRow| row.unit == "qfm" && row.samples == 1;
        let halves = of_splats.iter().filter(is_qfm).map(|row| row.saved).max().unwrap_or(0);
        rows.extend(of_splats);
        rows.push(quad_merging(&prepared, halves, self.task)?);
        Ok(Versus { rows, alike_db: psnr_db(&splats, &mesh)? })
    }

    fn mesh(&self) -> Result<Rows> {
        let (mut rows, mut last) = (Vec::new(), Frame::new(0, 0));
        for &pattern in &self.patterns {
            let settings = FrameSettings { pattern, ..self.settings };
            let visible = VisibleFrame::new(self.source, [self.view; 2], &settings, self.task)?;
            let mut unmerged: Option<Frame> = None;
            for unit in units() {
                let shading = visible.merged(self.source, unit);
                let outcome = MeshResult::of(&visible, &shading);
                let picture = visible.picture(self.shader, &shading, self.sampling, Some([0.0; 3]));
                self.task.check()?;
                let without = unmerged.get_or_insert_with(|| picture.clone());
                let is_pmu = matches!(unit, MergeUnitKind::Pmu(_));
                let note = match outcome.merging.barred {
                    _ if is_pmu && pattern.per_pixel() == 1 => "off: no multi-sampling".to_owned(),
                    barred @ 1.. if is_pmu => format!("{barred} quads barred by shaders"),
                    _ => String::new(),
                };
                rows.push(VersusRow {
                    subject: "mesh",
                    unit: unit.name(),
                    buffer: unit.entries().map(BufferEntries),
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
            let quads = SplatQuads::new(prepared.draw(), pattern, self.settings.level, self.task)?;
            let run = |&unit: &MergeUnitKind| {
                quads.merged(prepared.draw(), prepared.shader(), unit, self.task)
            };
            let outcomes: Vec<_> = units().par_iter().map(run).collect::<Result<_>>()?;
            let without = outcomes[0].picture.clone();
            for (unit, outcome) in units().into_iter().zip(outcomes) {
                let row = VersusRow {
                    subject: "splats",
                    unit: unit.name(),
                    buffer: unit.entries().map(BufferEntries),
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
                    MergeUnitKind::Pmu(_) => rows.extend(pixel_merging(&row)),
                    _ => rows.push(row),
                }
            }
            last = without;
        }
        Ok((rows, last))
    }
}

/// Pixel merging on splats by the unit's rules, and with its rules ignored.
fn pixel_merging(forced: &VersusRow) -> [VersusRow; 2] {
    let mut reasons = Vec::new();
    if forced.samples == 1 {
        reasons.push("no multi-sampling");
    }
    if SPLAT_SHADER.discards {
        reasons.push("shader discards");
    }
    [
        VersusRow {
            saved: 0,
            saved_between_splats: Some(0),
            psnr_db: f64::INFINITY,
            note: format!("barred: {}", reasons.join(", ")),
            ..*forced
        },
        VersusRow { unit: "pmu-forced", note: "its rules ignored".to_owned(), ..*forced },
    ]
}

/// VR-Pipe's quad merging on splats, in a colour format that keeps all bits of a sum. `halves` is the
/// number of quads in which both triangles of a splat lie, an upper bound on merges within a splat.
fn quad_merging(prepared: &PreparedView<'_>, halves: u64, task: &Task) -> Result<VersusRow> {
    let mut config = Config::default();
    config.crop.format = ColourFormat::Rgba32F;
    let simulators = Simulator::all(&config, &[Variant::BASELINE, Variant::QM], Watch::default())?;
    let simulators: Vec<_> =
        simulators.into_iter().map(|s| s.under(&task.without_progress())).collect();
    let runs = prepared.run_all(&simulators);
    task.check()?;
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
        note: "counts blended quads; between splats: lower bound".to_owned(),
    })
}

#[derive(Debug, Clone)]
struct VersusRow {
    /// "mesh" (opaque triangles that share edges, with a depth test) or "splats" (transparent boxes
    /// that share no edges, blended in order).
    subject: &'static str,
    /// "none", "qfm", "pmu", "pmu-forced" (its rules ignored) or "qm" (VR-Pipe's quad merging).
    unit: &'static str,
    buffer: Option<BufferEntries>,
    samples: u32,
    quads: u64,
    /// Quads saved: shaded ones with QFM and PMU, blended ones with QM.
    saved: u64,
    /// For splats: quads merged into another splat's quad; for QM a lower bound.
    saved_between_splats: Option<u64>,
    /// In dB against the picture without the unit; infinite for equal pictures.
    psnr_db: f64,
    note: String,
}

impl VersusRow {
    fn savings(&self) -> f64 {
        ratio(self.saved, self.quads)
    }

    fn json(&self) -> Value {
        json!({
            "subject": self.subject,
            "unit": self.unit,
            "buffer": self.buffer,
            "samples": self.samples,
            "quads": self.quads,
            "saved": self.saved,
            "savings": self.savings(),
            "saved_between_splats": self.saved_between_splats,
            "psnr_vs_none_db": Some(self.psnr_db).filter(|db| db.is_finite()),
            "same_as_none": (self.quads > 0).then_some(self.psnr_db == f64::INFINITY),
            "note": self.note,
        })
    }
}

/// Rows of a view.
#[derive(Debug, Clone)]
pub struct Versus {
    rows: Vec<VersusRow>,
    /// In dB between the two subjects without a unit at the last pattern.
    alike_db: f64,
}

impl Versus {
    /// Returns the comparison as a JSON object.
    pub fn json(&self) -> Value {
        let rows: Vec<Value> = self.rows.iter().map(VersusRow::json).collect();
        json!({
            "rows": rows,
            "splats_vs_mesh_psnr_db": Some(self.alike_db).filter(|db| db.is_finite()),
            "explanation": self.explanation(),
        })
    }

    /// Headings of the columns of [`Versus::cells`]; a `<` marks a column of words.
    pub const HEADINGS: [&'static str; 10] = [
        "subject", "unit", "buffer", "msaa", "quads", "saved", "share", "between", "PSNR dB",
        "<note",
    ];

    /// Returns the cells of the table, row by row.
    pub fn cells(&self) -> impl Iterator<Item = [String; 10]> {
        let dash = || "-".to_owned();
        self.rows.iter().map(move |row| {
            let between = row.saved_between_splats.map(|n| n.to_string());
            let psnr = match row.psnr_db {
                _ if row.quads == 0 => dash(),
                f64::INFINITY => "same".to_owned(),
                db => format!("{db:.2}"),
            };
            [
                row.subject.to_owned(),
                row.unit.to_owned(),
                or_dash(row.buffer, |buffer| buffer.to_string()),
                row.samples.to_string(),
                row.quads.to_string(),
                row.saved.to_string(),
                percent(row.savings()),
                between.unwrap_or_else(dash),
                psnr,
                row.note.clone(),
            ]
        })
    }

    fn row(&self, subject: &str, unit: &str) -> Option<&VersusRow> {
        let of = |r: &&VersusRow| r.subject == subject && r.unit == unit;
        let most = self.rows.iter().filter(of).map(|r| r.samples).max()?;
        self.rows.iter().filter(of).find(|r| r.samples == most)
    }

    /// Conclusions from the numbers, in sentences.
    pub fn explanation(&self) -> Vec<String> {
        for subject in ["mesh", "splats"] {
            if self.rows.iter().all(|row| row.subject != subject || row.quads == 0) {
                return vec![format!(
                    "Nothing of the {subject} is in view: there is nothing to compare."
                )];
            }
        }
        let alike = match self.alike_db {
            f64::INFINITY => "Without a unit, mesh and splats give the same picture.".to_owned(),
            db => format!("Without a unit, the splats' picture is {db:.2} dB from the mesh's."),
        };
        let units = [self.about_qfm(), self.about_pmu(), self.about_qm()];
        [Some(alike)].into_iter().chain(units).flatten().collect()
    }

    fn about_qfm(&self) -> Option<String> {
        let mesh = self.row("mesh", "qfm")?;
        let splats = self.row("splats", "qfm")?;
        let of_splats = |r: &&VersusRow| r.subject == "splats" && r.unit == "qfm";
        let between = splats.saved_between_splats.unwrap_or(0);
        let all = self.rows.iter().filter(of_splats).map(|r| r.psnr_db);
        let worst = all.fold(f64::INFINITY, f64::min);
        let order = if worst == f64::INFINITY {
            "Blended in the order in which they leave the unit, the quads give the same picture."
                .to_owned()
        } else {
            format!(
                "Blended in the order in which they leave the unit, the quads give another picture \
                 ({worst:.1} dB at worst), since full quads overtake partial quads of nearer splats."
            )
        };
        let samples = mesh.samples;
        Some(format!(
            "Quad-fragment merging (QFM) merges quads of triangles that share an edge and do not overlap. \
             On the mesh it saves {} of the shaded quads at {samples} samples, and {}. On splats it \
             saves {}: {} quads between the two halves of a box, which share the diagonal, and {between} \
             between two splats, which share no edge. {order}",
            percent(mesh.savings()),
            compared(mesh.psnr_db),
            percent(splats.savings()),
            splats.saved.saturating_sub(between),
        ))
    }

    fn about_pmu(&self) -> Option<String> {
        let mesh = self.row("mesh", "pmu")?;
        let forced = self.row("splats", "pmu-forced")?;
        Some(format!(
            "The pixel merge unit (PMU) saves {} of the shaded quads of the mesh, and {}. It is off \
             without multi-sampling and for splats, whose shader discards fragments of low alpha. Forced \
             on at {} samples, it would save {}, of which {} quads between two splats.",
            percent(mesh.savings()),
            compared(mesh.psnr_db),
            forced.samples,
            percent(forced.savings()),
            forced.saved_between_splats.unwrap_or(0),
        ))
    }

    fn about_qm(&self) -> Option<String> {
        let qm = self.row("splats", "qm")?;
        let exact = match qm.psnr_db {
            f64::INFINITY => "the picture is the same".to_owned(),
            db => format!("the picture is the same up to the rounding of sums ({db:.1} dB)"),
        };
        Some(format!(
            "VR-Pipe's quad merging (QM) blends two quads at the same position in the shader, whichever \
             splats they belong to. It saves {} of the blended quads, at least {} of them between two \
             splats, and {exact}. The mesh has no row for it: opaque fragments that write depth are not \
             blended, and the depth test keeps only one of two at a position.",
            percent(qm.savings()),
            qm.saved_between_splats.unwrap_or(0),
        ))
    }
}

fn compared(db: f64) -> String {
    match db {
        f64::INFINITY => "the picture is the same".to_owned(),
        db => format!("the picture differs ({db:.2} dB)"),
    }
}
