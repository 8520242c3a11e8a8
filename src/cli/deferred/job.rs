//! The work of `deferred`: a row, and files, for every view and combination of settings.

use std::path::Path;

use super::args::{Args, GridFlag};
use super::rows::PipelineChoice;
use crate::cli::console::Verbosity;
use crate::cli::interrupt;
use crate::cli::mesh::input::MeshInput;
use crate::cli::mesh::look::Look;
use crate::cli::outputs::{Background, Output, Outputs, Template, VARIANT, VIEW};
use quadrille_base::error::{Error, Result};
use quadrille_base::image::Frame;
use quadrille_base::image::files::{self, PictureFormat};
use quadrille_base::image::metrics::psnr_db;
use quadrille_deferred::backend::resolve;
use quadrille_deferred::camera::shutter::ShutterView;
use quadrille_deferred::config::DeferredConfig;
use quadrille_deferred::draw::{
    DeferredDrawSettings, DeferredFrame, DeferredResult, draw_with_shader, mean_picture,
};
use quadrille_mesh::shade::Textures;
use quadrille_scene::Camera;
use quadrille_suite::report::deferred::{DeferredRow, traffic_bars};
use quadrille_suite::report::heat::{self, HeatMap, SHADINGS};
use quadrille_suite::report::scale::{Curve, Scale};

/// Shader executions per pixel with the last colour of a heat map (figures 1, 9 and 13).
const HEAT_MAX: u32 = 64;

pub(super) struct Job<'a> {
    args: &'a Args,
    choices: Vec<PipelineChoice>,
    output: Option<Output>,
    heat: Option<Template>,
    bars: Option<Template>,
    config: DeferredConfig,
    /// Memo of the forward draws of sds.
    memo_quads: Option<u32>,
}

impl<'j> Job<'j> {
    /// Checks the flags.
    pub(super) fn new(args: &'j Args) -> Result<Self> {
        args.pipeline.check()?;
        let job = Self {
            args,
            choices: PipelineChoice::all(&args.pipeline)?,
            output: Output::parse(args.output.as_deref(), &[VIEW, VARIANT], args.json)?,
            heat: picture_template("--heat", args.heat.as_deref(), &[VIEW, VARIANT])?,
            bars: picture_template("--bars", args.bars.as_deref(), &[VIEW])?,
            config: args.pipeline.config()?,
            memo_quads: args.pipeline.memos()?.first().copied().flatten(),
        };
        let areas = args.input.areas.len().max(1);
        let variants = areas * args.pipeline.grids.len() * job.choices.len();
        job.templates()
            .try_for_each(|t| t.require(VARIANT, variants, "combinations of settings"))?;
        Ok(job)
    }

    pub(super) fn writes_to_stdout(&self) -> bool {
        self.output.as_ref().is_some_and(Output::is_stdout)
    }

    fn templates(&self) -> impl Iterator<Item = &Template> {
        let output = self.output.iter().map(|output| &output.template);
        output.chain(&self.heat)
    }

    /// Checks the names of all outputs, and makes their folders.
    pub(super) fn prepare_outputs(&self, cameras: &[Camera]) -> Result<()> {
        let mut outputs = Outputs::beside(self.args.inputs());
        let variants = [VARIANT.to_owned()];
        let mut templates = self.templates().chain(&self.bars);
        templates.try_for_each(|t| t.prepare(&mut outputs, cameras, &variants))
    }

    /// Writes the traffic of the rows of each view as bars.
    pub(super) fn write_bars(&self, rows: &[DeferredRow]) -> Result<()> {
        let Some(template) = &self.bars else {
            return Ok(());
        };
        let mut drawn: Vec<&str> = Vec::new();
        for first in rows {
            if drawn.contains(&first.view.as_str()) {
                continue;
            }
            drawn.push(&first.view);
            let title = format!("{}, {}: bytes to and from memory", first.mesh, first.view);
            let own: Vec<&DeferredRow> = rows.iter().filter(|r| r.view == first.view).collect();
            files::write(template.path(&first.view, ""), &traffic_bars(&title, &own))?;
        }
        Ok(())
    }

    pub(super) fn run_all(
        &self,
        (input, look): (&MeshInput, &Look<'_>),
        views: &[(Camera, ShutterView)],
        verbosity: Verbosity,
    ) -> Result<Vec<DeferredRow>> {
        let (mut rows, task) = (Vec::new(), interrupt::task());
        for source in input.sources()? {
            let (area, source) = source?;
            let source = source.as_ref();
            let textures = Textures::new(source.textures(), source.materials());
            for (camera, view) in views {
                let shader = look.shader(source, &textures, view.middle());
                let truth = match self.args.truth {
                    None => None,
                    Some(seeds) => {
                        let settings = self.settings(GridFlag::Pixel);
                        Some(mean_picture(source, view, &shader, &settings, seeds, task)?)
                    }
                };
                for &grid in &self.args.pipeline.grids {
                    let frame =
                        draw_with_shader(source, view, &shader, &self.settings(grid), task)?;
                    let rows_before = rows.len();
                    for (&choice, result) in self.choices.iter().zip(&frame.pipelines) {
                        let mut row = self.row(&frame, choice, result);
                        row.view.clone_from(&camera.name);
                        (row.area_px, row.grid) = (area, grid.name());
                        let variant = choice.name(grid.name(), area);
                        self.write(&mut row, result, &variant, truth.as_ref())?;
                        rows.push(row);
                    }
                    if rows
                        .get(rows_before)
                        .is_some_and(|row| row.pixels_covered == 0)
                    {
                        verbosity.warn(&format!(
                            "view \"{}\": nothing of the mesh is in view (look from elsewhere with --eye \
                             and --target, or move the near plane with --near)",
                            camera.name
                        ));
                    }
                }
            }
        }
        Ok(rows)
    }

    fn settings(&self, grid: GridFlag) -> DeferredDrawSettings {
        let flags = &self.args.pipeline;
        let wants_picture = self.output.is_some() || self.args.truth.is_some();
        DeferredDrawSettings {
            frame: flags.settings(grid, &self.args.host),
            pipelines: self.choices.iter().map(|choice| choice.run).collect(),
            picture: wants_picture.then(|| resolve::Background::new(self.background())),
            traffic: flags.traffic,
            heat: self.heat.is_some(),
            depth: flags.depth,
            colour: flags.colour,
            forward_memo_quads: self.memo_quads,
            hardware: self.config.clone(),
            ..DeferredDrawSettings::default()
        }
    }

    /// Writes the pictures of a pipeline, and compares its picture with the truth.
    fn write(
        &self,
        row: &mut DeferredRow,
        result: &DeferredResult,
        variant: &str,
        truth: Option<&Frame>,
    ) -> Result<()> {
        if let (Some(template), Some(heat)) = (&self.heat, &result.heat) {
            write_heat(&template.path(&row.view, variant), variant, row.size, heat)?;
        }
        let Some(picture) = &result.picture else {
            return Ok(());
        };
        if let Some(truth) = truth {
            row.psnr_db = Some(psnr_db(picture, truth)?);
        }
        if let Some(output) = &self.output {
            let background = Some(Background::Transparent);
            output.save(picture, [&row.view, variant], background)?;
        }
        Ok(())
    }

    fn row(
        &self,
        frame: &DeferredFrame,
        choice: PipelineChoice,
        result: &DeferredResult,
    ) -> DeferredRow {
        DeferredRow {
            mesh: self.args.mesh.display().to_string(),
            view: String::new(),
            area_px: None,
            size: frame.size,
            triangles: frame.triangles,
            samples: frame.samples,
            pipeline: choice.pipeline.name(),
            grid: "",
            tile: choice.tile(),
            memo_quads: choice.memo(),
            blur: frame.blur,
            grids: frame.grids,
            raster: result.raster,
            cost: self.config.raster.clone(),
            vertex_attributes: result.vertex_attributes,
            quads: result.quads,
            pixels_covered: result.pixels_covered,
            tiled: result.tiled,
            memo: result.memo,
            traffic: result.traffic,
            spid_blocks: result.spid_blocks,
            psnr_db: None,
            host_ms: result.host_ms,
        }
    }

    /// Background of pictures; `None` keeps their alpha.
    fn background(&self) -> Option<[f32; 3]> {
        let default = || self.output.as_ref().map(Output::default_background);
        match self.args.background.or_else(default) {
            Some(Background::Transparent) => None,
            Some(Background::Opaque(colour)) => Some(colour),
            None => Some([0.0; 3]),
        }
    }
}

/// Writes a heat map of shader executions.
fn write_heat(path: &Path, variant: &str, size: [u32; 2], heat: &[f64]) -> Result<()> {
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "executions per pixel, rounded for the picture"
    )]
    let counts: Vec<u32> = heat
        .iter()
        .map(|executions| executions.round() as u32)
        .collect();
    let picture = heat::picture(&HeatMap {
        title: format!("{variant}: shader executions per pixel"),
        nothing: "none",
        size,
        counts: &counts,
        scale: Scale {
            least: 1,
            top: HEAT_MAX,
            curve: Curve::Logarithmic,
        },
        scale_end: "as in the paper",
        palette: SHADINGS,
    });
    files::write(path, &picture)
}

/// Template of the names of PNG files.
fn picture_template(
    flag: &'static str,
    path: Option<&Path>,
    parts: &[&str],
) -> Result<Option<Template>> {
    let Some(path) = path else {
        return Ok(None);
    };
    if PictureFormat::of_name(path) != Some(PictureFormat::Png) {
        let found = path.display().to_string();
        return Err(Error::argument(flag, "a name that ends in .png", found));
    }
    Template::parse(flag, path, parts).map(Some)
}
