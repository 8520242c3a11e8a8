//! `mesh --versus` and `--to-splats`: one subject as a mesh and as splats, each merging unit on each.

use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::Args;
use super::job::psnr;
use super::subject::Subject;
use crate::cli::console::Verbosity;
use crate::cli::inputs::load_scene;
use crate::error::{Error, Result};
use crate::gpu::config::Config;
use crate::gpu::variant::Variant;
use crate::gpu::view::{PreparedView, Run};
use crate::gpu::wiring::Watch;
use crate::image::Frame;
use crate::math::SimdLevel;
use crate::mesh::camera::MeshCamera;
use crate::mesh::frame::FrameSettings;
use crate::mesh::frame::Visible;
use crate::mesh::grid::Source;
use crate::mesh::merge::MergeUnitKind;
use crate::mesh::merge::PmuSettings;
use crate::mesh::merge::QfmSettings;
use crate::mesh::result::MeshResult;
use crate::mesh::shade::Shader;
use crate::mesh::shade::quad::Sampling;
use crate::mesh::shade::texture::Textures;
use crate::mesh::splats::from_mesh::splats_of;
use crate::mesh::splats::units::merged;
use crate::mesh::splats::{SPLAT_SHADER, SplatQuads};
use crate::output::write_whole;
use crate::report::versus::{RowUnit, Subject as RowSubject, Versus, VersusRow};
use crate::scene::formats::ply::PlyWriter;
use crate::scene::{Camera, Scene};
use crate::shading::{ColourFormat, Profile};

/// The mesh and splats of one subject.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Splats")]
pub(super) struct VersusFlags {
    /// Compare with splats of the same subject, from the same camera: each merging unit on each,
    /// quads saved and PSNR, at one sample a pixel and at those of --msaa
    #[arg(
        long,
        value_name = "SPLATS",
        conflicts_with_all = ["output", "heat", "diff", "psnr", "truth", "units", "buffers", "coarse"]
    )]
    versus: Option<PathBuf>,
    /// Write the mesh as splats: one flat Gaussian a triangle, coloured as lit in the view
    #[arg(long, value_name = "OUT.ply")]
    to_splats: Option<PathBuf>,
}

/// The units of the rows on meshes, with their buffers. On splats all but the last.
const UNITS: [(RowUnit, Option<u32>); 4] = [
    (RowUnit::None, None),
    (RowUnit::Qfm, Some(32)),
    (RowUnit::Qfm, None),
    (RowUnit::Pmu, Some(512)),
];

/// Writes the splats and compares, as the flags have it; the page if there is one.
///
/// # Errors
/// [`Error::Caller`] when there are several views or areas; those of reading and writing.
pub(super) fn run(
    args: &Args,
    level: SimdLevel,
    subject: &Subject,
    cameras: &[Camera],
    verbosity: Verbosity,
) -> Result<Option<String>> {
    let flags = &args.versus;
    if flags.versus.is_none() && flags.to_splats.is_none() {
        return Ok(None);
    }
    let [camera] = cameras else {
        return Err(one("views (choose one with --view)", cameras.len()));
    };
    let areas = args.subject.areas().len();
    let mut sources = subject.sources()?;
    let (Some(source), true) = (sources.next(), areas <= 1) else {
        return Err(one("areas of --tessellate", areas));
    };
    let (_, source) = source?;
    let source = source.as_ref();
    let near = subject.near(camera, args.subject.near)?;
    let view = MeshCamera::new(camera.clone(), near);
    let textures = Textures::new(source.textures(), source.materials());
    let shade = args.pipeline.shade()?;
    let shader = Shader::new(source.materials(), &textures, &view, shade);
    if let Some(path) = &flags.to_splats {
        write_splats(path, source, (&view, &shader), verbosity)?;
    }
    let Some(path) = &flags.versus else {
        return Ok(None);
    };
    let scene = load_scene(path, verbosity)?;
    let comparison = Comparison {
        args,
        level,
        source,
        view: &view,
        shader: &shader,
    };
    let versus = comparison.run(&scene)?;
    Ok(Some(if args.json {
        format!("{:#}\n", versus.json())
    } else {
        versus.page()
    }))
}

fn one(what: &str, found: usize) -> Error {
    let flags = format!("--versus, --to-splats: {what}");
    Error::caller(flags, "one", found.to_string())
}

fn write_splats(
    path: &Path,
    source: &dyn Source,
    (view, shader): (&MeshCamera, &Shader<'_>),
    verbosity: Verbosity,
) -> Result<()> {
    let version = splats_of(source, view, shader)?;
    write_whole(path, |out| {
        let count = version.splats.len() as u64;
        let comment = "quadrille mesh --to-splats: one flat splat a triangle";
        let mut writer = PlyWriter::new(out, count, 0, &[comment])?;
        for splat in &version.splats {
            writer.push(splat)?;
        }
        writer.finish().map(drop)
    })?;
    verbosity.remark(&format!(
        "{}: {} splats; {} triangles without area",
        path.display(),
        version.splats.len(),
        version.dropped
    ));
    Ok(())
}

/// A mesh and what it is compared with.
struct Comparison<'a> {
    args: &'a Args,
    level: SimdLevel,
    source: &'a dyn Source,
    view: &'a MeshCamera,
    shader: &'a Shader<'a>,
}

/// Rows of a subject, and its unmerged picture at the most samples.
type Rows = (Vec<VersusRow>, Frame);

impl Comparison<'_> {
    fn run(&self, scene: &Scene) -> Result<Versus> {
        let mut samples = self.args.pipeline.msaa.clone();
        samples.push(1);
        samples.sort_unstable();
        samples.dedup();
        let (mut rows, mesh) = self.mesh(&samples)?;
        let hint = scene
            .profile_hint
            .and_then(|name| Profile::named(name).ok());
        let mut profile = hint.unwrap_or_default();
        // Meshes may be small: what of one is seen has to be of the other.
        profile.near = profile.near.min(self.view.near);
        let camera = &self.view.camera;
        let prepared = PreparedView::new(&scene.splats, camera, &profile, self.level);
        let (of_splats, splats) = self.splats(&samples, &prepared)?;
        let halves = of_splats
            .iter()
            .filter(|r| (r.unit, r.samples) == (RowUnit::Qfm, 1));
        let halves = halves.map(|r| r.saved).max().unwrap_or(0);
        rows.extend(of_splats);
        rows.push(quad_merging(&prepared, halves)?);
        Ok(Versus {
            rows,
            alike_db: psnr(&splats, &mesh)?,
        })
    }

    fn mesh(&self, samples: &[u32]) -> Result<Rows> {
        let pipeline = &self.args.pipeline;
        let camera = &self.view.camera;
        let (mut rows, mut last) = (Vec::new(), Frame::new(camera.width, camera.height));
        for &count in samples {
            let settings = FrameSettings {
                size: [camera.width, camera.height],
                pattern: pipeline.pattern(count)?,
                faces: pipeline.faces(),
                cull: pipeline.cull(),
                level: self.level,
            };
            let visible = Visible::new(self.source, self.view, self.view, &settings)?;
            let mut unmerged: Option<Frame> = None;
            for (unit, entries) in UNITS {
                let shading = visible.merged(self.source, unit_of(unit, entries));
                let outcome = MeshResult::of(&visible, &shading);
                let black = Some([0.0; 3]);
                let sampling: Sampling = pipeline.sampling();
                let picture = visible.picture(self.shader, &shading, sampling, black);
                let without = unmerged.get_or_insert_with(|| picture.clone());
                let note = match (unit, outcome.merging.barred) {
                    (RowUnit::Pmu, _) if count == 1 => "off: no multi-sampling".to_owned(),
                    (RowUnit::Pmu, barred @ 1..) => format!("{barred} quads barred by shaders"),
                    _ => String::new(),
                };
                rows.push(VersusRow {
                    subject: RowSubject::Mesh,
                    unit,
                    buffer: buffer(unit, entries),
                    samples: count,
                    quads: outcome.merging.tested(),
                    saved: outcome.quads_merged(),
                    saved_between_splats: None,
                    psnr_db: psnr(&picture, without)?,
                    note,
                });
            }
            last = unmerged.unwrap_or(last);
        }
        Ok((rows, last))
    }

    fn splats(&self, samples: &[u32], prepared: &PreparedView<'_>) -> Result<Rows> {
        let camera = &self.view.camera;
        let (mut rows, mut last) = (Vec::new(), Frame::new(camera.width, camera.height));
        for &count in samples {
            let pattern = self.args.pipeline.pattern(count)?;
            let quads = SplatQuads::new(prepared.draw(), pattern, self.level)?;
            let run = |&(unit, entries): &(RowUnit, Option<u32>)| {
                let unit = unit_of(unit, entries);
                merged(&quads, prepared.draw(), prepared.shader(), unit)
            };
            let outcomes: Vec<_> = UNITS.par_iter().map(run).collect();
            let without = outcomes[0].picture.clone();
            for ((unit, entries), outcome) in UNITS.into_iter().zip(outcomes) {
                let row = VersusRow {
                    subject: RowSubject::Splats,
                    unit,
                    buffer: buffer(unit, entries),
                    samples: count,
                    quads: outcome.quads,
                    saved: outcome.saved(),
                    saved_between_splats: Some(outcome.between_splats),
                    psnr_db: psnr(&outcome.picture, &without)?,
                    note: outcome.qfm.map_or_else(String::new, |qfm| {
                        let (apart, over) = (qfm.apart, qfm.overlapping);
                        format!("not merged: {over} overlap, {apart} share no edge")
                    }),
                };
                if unit == RowUnit::Pmu {
                    rows.extend(pixel_merging(row));
                } else {
                    rows.push(row);
                }
            }
            last = without;
        }
        Ok((rows, last))
    }
}

/// The pixel merge unit on splats as its rules have it, and as if it had none.
fn pixel_merging(forced: VersusRow) -> Vec<VersusRow> {
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
        unit: RowUnit::PmuForced,
        note: "as if its rules let it".to_owned(),
        ..forced
    };
    vec![barred, forced]
}

/// VR-Pipe's quad merging on splats, in a colour format that keeps all bits of a sum. `halves` are
/// the quads in which two triangles of one splat lie: so many pairs at most are of one splat.
fn quad_merging(prepared: &PreparedView<'_>, halves: u64) -> Result<VersusRow> {
    let mut config = Config::default();
    config.crop.format = ColourFormat::Rgba32F;
    let variants = [Variant::BASELINE, Variant::QM];
    let runs = prepared.run_all(&config, &variants, Watch::default());
    let outcomes: Vec<_> = runs.iter().map(|Run { outcome, .. }| outcome).collect();
    let (without, with) = (outcomes[0], outcomes[1]);
    let saved = without.quads.blended.saturating_sub(with.quads.blended);
    Ok(VersusRow {
        subject: RowSubject::Splats,
        unit: RowUnit::Qm,
        buffer: None,
        samples: 1,
        quads: without.quads.blended,
        saved,
        saved_between_splats: Some(saved.saturating_sub(halves)),
        psnr_db: psnr(&with.framebuffer.frame(), &without.framebuffer.frame())?,
        note: "blends, not shadings; between splats: at least".to_owned(),
    })
}

fn unit_of(unit: RowUnit, entries: Option<u32>) -> MergeUnitKind {
    match unit {
        RowUnit::None | RowUnit::Qm => MergeUnitKind::None,
        RowUnit::Qfm => MergeUnitKind::Qfm(QfmSettings {
            entries,
            ..QfmSettings::default()
        }),
        RowUnit::Pmu | RowUnit::PmuForced => MergeUnitKind::Pmu(PmuSettings {
            entries: entries.unwrap_or(PmuSettings::default().entries),
            ..PmuSettings::default()
        }),
    }
}

fn buffer(unit: RowUnit, entries: Option<u32>) -> Option<String> {
    match (unit, entries) {
        (RowUnit::None | RowUnit::Qm, _) => None,
        (_, Some(entries)) => Some(entries.to_string()),
        (_, None) => Some("unbounded".to_owned()),
    }
}
