//! The work of `mesh`: a row, and files, for every view and combination of settings.

use std::path::{Path, PathBuf};
use std::time::Instant;

use super::args::Args;
use super::input::MeshInput;
use super::look::Look;
use super::options::{AreaMeaning, UnitChoice};
use crate::cli::console::Verbosity;
use crate::cli::interrupt;
use crate::cli::outputs::{Background, Output, Outputs, Template, VARIANT, VIEW};
use quadrille_base::error::{Error, Result};
use quadrille_base::image::Frame;
use quadrille_base::image::difference::{DIFFERENCE_SCALE, scaled_difference};
use quadrille_base::image::files::{self, PictureFormat};
use quadrille_base::image::metrics::psnr_db;
use quadrille_gpu::mesh_pipeline::{self, MeshConfig};
use quadrille_mesh::camera::MeshCamera;
use quadrille_mesh::frame::{Shading, VisibleFrame};
use quadrille_mesh::grid::GridSource;
use quadrille_mesh::merge::MergeUnitKind;
use quadrille_mesh::result::MeshResult;
use quadrille_mesh::shade::{Shader, Textures};
use quadrille_scene::Camera;
use quadrille_suite::report::heat::{self, HeatMap, SHADINGS};
use quadrille_suite::report::mesh::{MeshRow, TimedFrame};
use quadrille_suite::report::scale::{Curve, Scale};
use quadrille_suite::supersampled;

/// Shadings per pixel with the last colour of a heat map, as in the figure whose colours it has.
const HEAT_MAX: u32 = 8;

pub(super) struct Job<'a> {
    args: &'a Args,
    config: MeshConfig,
    choices: Vec<UnitChoice>,
    output: Option<Output>,
    /// Picture and counts.
    heat: Option<[Template; 2]>,
    diff: Option<Template>,
}

/// A frame with resolved visibility, and the pictures to compare it with.
struct Prepared<'a> {
    camera: &'a Camera,
    area: Option<f64>,
    msaa: u32,
    visible: VisibleFrame,
    visibility_ms: f64,
    shader: Shader<'a>,
    unmerged: Option<Frame>,
    truth: Option<Frame>,
}

impl<'j> Job<'j> {
    /// Checks the flags.
    pub(super) fn new(args: &'j Args) -> Result<Self> {
        let job = Self {
            args,
            config: args.gpu.mesh_config()?,
            choices: args.pipeline.choices()?,
            output: Output::parse(args.output.as_deref(), args.aov.placeholders(), args.json)?,
            heat: args.heat.as_deref().map(heat_templates).transpose()?,
            diff: args
                .diff_unmerged
                .as_deref()
                .map(diff_template)
                .transpose()?,
        };
        job.check()?;
        Ok(job)
    }

    pub(super) fn writes_to_stdout(&self) -> bool {
        self.output.as_ref().is_some_and(Output::is_stdout)
    }

    fn check(&self) -> Result<()> {
        let pipeline = &self.args.pipeline;
        pipeline
            .msaa
            .iter()
            .try_for_each(|&n| pipeline.pattern(n).map(drop))?;
        self.args.aov.check(self.output.as_ref())?;
        if self.args.cycles && self.choices.iter().all(|choice| choice.is_reyes) {
            let expected = "a unit other than reyes, which has no pipeline in cycles";
            return Err(Error::argument("--cycles", expected, "reyes alone"));
        }
        let areas = self.args.input.areas.len().max(1);
        let variants = areas * pipeline.msaa.len() * self.choices.len();
        self.templates()
            .try_for_each(|t| t.require(VARIANT, variants, "combinations of settings"))
    }

    /// The names of all files but splats.
    fn templates(&self) -> impl Iterator<Item = &Template> {
        let output = self.output.iter().map(|output| &output.template);
        output.chain(self.heat.iter().flatten()).chain(&self.diff)
    }

    /// Checks the names of all outputs, and makes their folders.
    pub(super) fn prepare_outputs(&self, cameras: &[Camera]) -> Result<()> {
        let mut outputs = Outputs::beside(self.args.inputs());
        // The name of a combination follows from its row, which does not exist yet.
        let variants = [VARIANT.to_owned()];
        if let Some(output) = &self.output {
            self.args.aov.prepare(output, &mut outputs, cameras)?;
        }
        for template in self.heat.iter().flatten().chain(&self.diff) {
            template.prepare(&mut outputs, cameras, &variants)?;
        }
        if let Some(path) = &self.args.versus.to_splats {
            outputs.add("--to-splats", path)?;
        }
        Ok(())
    }

    pub(super) fn run_all(
        &self,
        (input, look): (&MeshInput, &Look<'_>),
        cameras: &[Camera],
        verbosity: Verbosity,
    ) -> Result<Vec<MeshRow>> {
        let mut rows = Vec::new();
        for source in input.sources()? {
            let (area, source) = source?;
            let textures = Textures::new(source.textures(), source.materials());
            for camera in cameras {
                let view = MeshCamera::new(camera.clone(), input.near(camera));
                let to_mean = self.tessellated_to_mean(input, area, camera, &view)?;
                let source = to_mean.as_deref().unwrap_or(source.as_ref());
                for &msaa in &self.args.pipeline.msaa {
                    let prepared =
                        self.prepare(source, (area, msaa), (camera, &view), (&textures, look))?;
                    for &choice in &self.choices {
                        rows.push(self.row(source, &prepared, choice)?);
                    }
                }
                if rows.last().is_some_and(|r| r.outcome.pixels_covered == 0) {
                    verbosity.warn(&format!(
                        "view \"{}\": nothing of the mesh is in view (look from elsewhere with \
                         --eye and --target, or move the near plane with --near)",
                        camera.name
                    ));
                }
            }
        }
        Ok(rows)
    }

    /// The source of a view if the area of `--tessellate` is a mean there.
    fn tessellated_to_mean(
        &self,
        input: &MeshInput,
        area: Option<f64>,
        camera: &Camera,
        view: &MeshCamera,
    ) -> Result<Option<Box<dyn GridSource>>> {
        match (self.args.pipeline.area_is, area) {
            (AreaMeaning::Mean, Some(area)) => {
                // The number of samples must not change the mesh.
                let settings = self.args.settings(camera, 1)?;
                input.tessellated_to_mean(area, view, &settings).map(Some)
            }
            _ => Ok(None),
        }
    }

    fn prepare<'a>(
        &self,
        source: &'a dyn GridSource,
        (area, msaa): (Option<f64>, u32),
        (camera, view): (&'a Camera, &MeshCamera),
        (textures, look): (&'a Textures, &Look<'_>),
    ) -> Result<Prepared<'a>> {
        let settings = self.args.settings(camera, msaa)?;
        let begun = Instant::now();
        let visible = VisibleFrame::new_task(source, [view; 2], &settings, interrupt::task())?;
        let visibility_ms = milliseconds(begun);
        let shader = look.shader(source, textures, view);
        let mut prepared = Prepared {
            camera,
            area,
            msaa,
            visible,
            visibility_ms,
            shader,
            unmerged: None,
            truth: None,
        };
        if self.args.psnr || self.diff.is_some() {
            let shading = prepared.visible.merged(source, MergeUnitKind::None);
            prepared.unmerged = Some(self.picture(&prepared, Some(&shading)));
        }
        if self.args.psnr_supersampled {
            let shade = |view: &MeshCamera| look.shader(source, textures, view);
            let (background, task) = (self.background(), interrupt::task());
            let frame =
                supersampled::supersampled(source, view, &settings, shade, background, task)?;
            prepared.truth = Some(frame);
        }
        Ok(prepared)
    }

    /// Background of the picture; `None` keeps its alpha.
    fn background(&self) -> Option<[f32; 3]> {
        let default = || self.output.as_ref().map(Output::default_background);
        match self.args.background.or_else(default) {
            Some(Background::Transparent) => None,
            Some(Background::Opaque(colour)) => Some(colour),
            None => Some([0.0; 3]),
        }
    }

    /// The picture of a frame, or the Reyes picture if no quads are shaded.
    fn picture(&self, prepared: &Prepared<'_>, shading: Option<&Shading>) -> Frame {
        let (visible, shader, background) =
            (&prepared.visible, &prepared.shader, self.background());
        match shading {
            None => visible.reyes_picture(shader, background),
            Some(shading) => {
                visible.picture(shader, shading, self.args.pipeline.sampling, background)
            }
        }
    }

    fn row(
        &self,
        source: &dyn GridSource,
        prepared: &Prepared<'_>,
        choice: UnitChoice,
    ) -> Result<MeshRow> {
        let visible = &prepared.visible;
        let begun = Instant::now();
        let shading = visible.merged(source, choice.unit);
        interrupt::task().check()?;
        let merging_ms = milliseconds(begun);
        let view = prepared.camera.name.as_str();
        let mut row = MeshRow {
            mesh: self.args.mesh().display().to_string(),
            view: view.to_owned(),
            area_px: prepared.area,
            msaa: prepared.msaa,
            unit: choice.name(),
            buffer: choice.unit.buffer(),
            shades_vertices: choice.is_reyes,
            size: [prepared.camera.width, prepared.camera.height],
            outcome: MeshResult::of(visible, &shading),
            psnr_db: None,
            psnr_vs_truth_db: None,
            timed: self.timed(source, visible, choice)?,
            host_ms: [prepared.visibility_ms, merging_ms],
        };
        let variant = variant_name(&row);
        let shading = (!choice.is_reyes).then_some(&shading);
        if let Some([picture, counts]) = &self.heat {
            let paths = [picture.path(view, &variant), counts.path(view, &variant)];
            self.write_heat(paths, &variant, visible, shading)?;
        }
        let compared = prepared.unmerged.is_some() || prepared.truth.is_some();
        if self.output.is_none() && !compared {
            return Ok(row);
        }
        let picture = self.picture(prepared, shading);
        interrupt::task().check()?;
        if let Some(unmerged) = &prepared.unmerged {
            row.psnr_db = Some(psnr_db(&picture, unmerged)?);
            if let Some(template) = &self.diff {
                let difference = scaled_difference(&picture, unmerged, DIFFERENCE_SCALE)?;
                files::write(template.path(view, &variant), &difference)?;
            }
        }
        if let Some(truth) = &prepared.truth {
            row.psnr_vs_truth_db = Some(psnr_db(&picture, truth)?);
        }
        if let Some(output) = &self.output {
            let picture = match &self.args.crop {
                Some(crop) => crop.of(&picture)?,
                None => picture,
            };
            let names = [view, variant.as_str()];
            if self.args.aov.is_empty() {
                output.save(&picture, names, Some(Background::Transparent))?;
            } else {
                self.args
                    .aov
                    .save(output, &picture, names, (visible, shading))?;
            }
        }
        Ok(row)
    }

    /// Writes a heat map of the shadings or, of Reyes, of the vertices.
    fn write_heat(
        &self,
        [picture_path, counts_path]: [PathBuf; 2],
        variant: &str,
        visible: &VisibleFrame,
        shading: Option<&Shading>,
    ) -> Result<()> {
        let (size, counts, counted) = match shading {
            None => {
                let counts = visible.vertices_per_pixel();
                (visible.settings.size, counts, "vertices shaded")
            }
            Some(shading) => {
                let area = visible.settings.shading_area();
                let size = [area.x1, area.y1].map(i32::cast_unsigned);
                let counts = visible.fragments_per_shading_pixel(shading);
                (size, counts, "shadings")
            }
        };
        files::write_counts(&counts_path, size, &counts)?;
        let picture = heat::picture(&HeatMap {
            title: format!("{variant}: {counted} per pixel"),
            nothing: "none",
            size,
            counts: &counts,
            scale: Scale {
                least: 1,
                top: self.args.heat_max.unwrap_or(HEAT_MAX),
                curve: Curve::Linear,
            },
            scale_end: "--heat-max",
            palette: SHADINGS,
        });
        files::write(picture_path, &picture)
    }

    /// Runs the frame in cycles, if requested; Reyes has no pipeline of quads.
    fn timed(
        &self,
        source: &dyn GridSource,
        visible: &VisibleFrame,
        choice: UnitChoice,
    ) -> Result<Option<TimedFrame>> {
        if !self.args.cycles || choice.is_reyes {
            return Ok(None);
        }
        let begun = Instant::now();
        let settings = &visible.settings;
        let (config, task) = (&self.config, interrupt::task());
        let outcome =
            mesh_pipeline::run(source, &visible.view, settings, config, choice.unit, task)?;
        Ok(Some(TimedFrame {
            outcome,
            clock_mhz: self.config.gpu.gpu.clock_mhz,
            host_ms: milliseconds(begun),
        }))
    }
}

fn diff_template(path: &Path) -> Result<Template> {
    Template::parse("--diff-unmerged", path, &[VIEW, VARIANT])
}

/// The names of a heat map's picture and of its counts.
fn heat_templates(path: &Path) -> Result<[Template; 2]> {
    if PictureFormat::of_name(path) != Some(PictureFormat::Png) {
        let found = path.display().to_string();
        return Err(Error::argument("--heat", "a name that ends in .png", found));
    }
    let parse = |path: &Path| Template::parse("--heat", path, &[VIEW, VARIANT]);
    Ok([parse(path)?, parse(&path.with_extension("npy"))?])
}

/// Name of a combination of settings in file names.
fn variant_name(row: &MeshRow) -> String {
    let mut name = row.unit.to_owned();
    if let Some(buffer) = &row.buffer {
        name += &format!("-{buffer}");
    }
    name += &format!("-{}x", row.msaa);
    if let Some(area) = row.area_px {
        name += &format!("-{area}px");
    }
    name
}

fn milliseconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1000.0
}
