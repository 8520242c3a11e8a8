//! The work of `deferred`: a row, and files, for every view and combination of settings.

use std::path::Path;
use std::time::Instant;

use super::args::{Args, GridFlag};
use super::rows::PipelineChoice;
use crate::cli::console::Verbosity;
use crate::cli::mesh::input::MeshInput;
use crate::cli::mesh::look::Look;
use crate::cli::outputs::{Background, Output, Outputs, Template, VARIANT, VIEW};
use quadrille_base::error::{Error, Result};
use quadrille_base::image::files::{self, PictureFormat};
use quadrille_base::image::metrics::psnr_db;
use quadrille_base::image::{ColourSpace, Frame};
use quadrille_deferred::backend::resolve;
use quadrille_deferred::backend::shade::FrameShading;
use quadrille_deferred::backend::tiles::{TiledOutcome, TiledPass};
use quadrille_deferred::camera::shutter::ShutterView;
use quadrille_deferred::config::DeferredConfig;
use quadrille_deferred::forward::PipelineOutcome;
use quadrille_deferred::frame::StochasticFrame;
use quadrille_deferred::geometry::Geometry;
use quadrille_deferred::outcome::{BlurAmounts, GridCounts};
use quadrille_deferred::raster::cost::RasterCounters;
use quadrille_deferred::settings::DeferredSettings;
use quadrille_deferred::shading::grid_view::GridRule;
use quadrille_deferred::simulate::{PipelineRun, SimulationSettings, simulate};
use quadrille_mesh::grid::GridSource;
use quadrille_mesh::shade::{Shader, Textures};
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

/// A frame and what all its rows share.
struct Prepared<'a> {
    frame: StochasticFrame,
    shader: Shader<'a>,
    area: Option<f64>,
    grid: GridFlag,
    blur: BlurAmounts,
    grids: GridCounts,
    /// Times of the geometry and of the raster.
    first_pass_ms: [f64; 2],
    truth: Option<&'a Frame>,
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
        let mut rows = Vec::new();
        for source in input.sources()? {
            let (area, source) = source?;
            let source = source.as_ref();
            let textures = Textures::new(source.textures(), source.materials());
            for (camera, view) in views {
                let shader = || look.shader(source, &textures, view.middle());
                let truth = match self.args.truth {
                    None => None,
                    Some(seeds) => Some(self.truth(source, view, &shader(), seeds)?),
                };
                for &grid in &self.args.pipeline.grids {
                    let settings = self.args.pipeline.settings(grid, &self.args.host);
                    StochasticFrame::check_samples(view, &settings)?;
                    let begun = Instant::now();
                    let geometry = Geometry::new(source, view, settings.faces)?;
                    let geometry_ms = milliseconds(begun);
                    let begun = Instant::now();
                    let frame = StochasticFrame::of_geometry(geometry, view.clone(), &settings)?;
                    let raster_ms = milliseconds(begun);
                    let prepared = Prepared {
                        blur: frame.blur(),
                        grids: frame.grid_counts(),
                        frame,
                        shader: shader(),
                        area,
                        grid,
                        first_pass_ms: [geometry_ms, raster_ms],
                        truth: truth.as_ref(),
                    };
                    rows.extend(self.rows(&prepared, camera, verbosity)?);
                }
            }
        }
        Ok(rows)
    }

    /// The rows of a frame, one per pipeline with its tile or memo.
    fn rows(
        &self,
        prepared: &Prepared<'_>,
        camera: &Camera,
        verbosity: Verbosity,
    ) -> Result<Vec<DeferredRow>> {
        let traffic = self.args.pipeline.traffic;
        let is_simulated =
            |choice: &PipelineChoice| traffic || !matches!(choice.run, PipelineRun::Sds { .. });
        let runs: Vec<_> = self
            .choices
            .iter()
            .filter(|c| is_simulated(c))
            .map(|c| c.run)
            .collect();
        let begun = Instant::now();
        let mut simulated = self.simulated(prepared, &runs)?.into_iter();
        // Pipelines run side by side, so that each has taken a share of the time.
        let share = milliseconds(begun) / f64::from(u32::try_from(runs.len().max(1)).unwrap_or(1));
        let mut picture: Option<Frame> = None;
        let mut rows = Vec::new();
        for &choice in &self.choices {
            let outcome = if is_simulated(&choice) {
                simulated.next()
            } else {
                None
            };
            let begun = Instant::now();
            let tiled = self.tiled(prepared, choice, picture.is_none());
            let own_ms = milliseconds(begun);
            let mut row = self.row(prepared, choice, &tiled, outcome.as_ref());
            row.view.clone_from(&camera.name);
            row.host_ms[2] = match choice.run {
                PipelineRun::Sds { .. } => own_ms,
                _ => share,
            };
            picture = picture.or(tiled.picture);
            let variant = choice.name(prepared.grid.name(), prepared.area);
            if let Some(template) = &self.heat {
                let heat = match &outcome {
                    Some(PipelineOutcome {
                        heat: Some(heat), ..
                    }) => Some(&heat.executions),
                    _ => tiled.heat.as_ref(),
                };
                let path = template.path(&camera.name, &variant);
                write_heat(&path, &variant, row.size, heat.map_or(&[][..], |heat| heat))?;
            }
            if let Some(picture) = &picture {
                if let Some(truth) = prepared.truth {
                    row.psnr_db = Some(psnr_db(picture, truth)?);
                }
                if let Some(output) = &self.output {
                    let background = Some(Background::Transparent);
                    output.save(picture, [&camera.name, &variant], background)?;
                }
            }
            rows.push(row);
        }
        if rows.first().is_some_and(|row| row.pixels_covered == 0) {
            verbosity.warn(&format!(
                "view \"{}\": nothing of the mesh is in view (look from elsewhere with --eye and \
                 --target, or move the near plane with --near)",
                camera.name
            ));
        }
        Ok(rows)
    }

    /// Runs the pipelines that take the ordered hits.
    fn simulated(
        &self,
        prepared: &Prepared<'_>,
        runs: &[PipelineRun],
    ) -> Result<Vec<PipelineOutcome>> {
        if runs.is_empty() {
            return Ok(Vec::new());
        }
        let flags = &self.args.pipeline;
        let shading = FrameShading {
            frame: &prepared.frame,
            shader: &prepared.shader,
        };
        let settings = SimulationSettings {
            memory: &self.config.memory,
            depth: flags.depth,
            colour: flags.colour,
            shading: flags.traffic.then_some(&shading),
            wants_heat: self.heat.is_some(),
            wants_spids: false,
        };
        simulate(&prepared.frame, runs, &settings)
    }

    /// The second pass: of sds with its tiles, of other pipelines for the picture, which is the same.
    fn tiled(
        &self,
        prepared: &Prepared<'_>,
        choice: PipelineChoice,
        is_first: bool,
    ) -> TiledOutcome {
        let wants_picture = is_first && (self.output.is_some() || prepared.truth.is_some());
        let background = resolve::Background::new(self.background());
        let (tile_px, is_sds) = match choice.run {
            PipelineRun::Sds { tile_px } => (tile_px, true),
            _ => (Some(128), false),
        };
        prepared.frame.tiled(&TiledPass {
            tile_px,
            picture: wants_picture.then_some((&prepared.shader, background)),
            heat: is_sds && self.heat.is_some(),
            measures_packed: is_sds && self.args.pipeline.traffic,
            memo_quads: self.memo_quads,
            vertex_cache: &self.config.vertex_cache,
        })
    }

    fn row(
        &self,
        prepared: &Prepared<'_>,
        choice: PipelineChoice,
        tiled: &TiledOutcome,
        outcome: Option<&PipelineOutcome>,
    ) -> DeferredRow {
        let frame = &prepared.frame;
        let is_sds = matches!(choice.run, PipelineRun::Sds { .. });
        let raster = self.raster(prepared, choice, tiled);
        let quads = match outcome {
            Some(outcome) if !is_sds => outcome.quads,
            _ => tiled.counters.quads,
        };
        DeferredRow {
            mesh: self.args.mesh.display().to_string(),
            view: String::new(),
            area_px: prepared.area,
            size: frame.view.size(),
            triangles: frame.geometry.primitives(),
            samples: frame.settings.samples,
            pipeline: choice.pipeline.name(),
            grid: prepared.grid.name(),
            tile: choice.tile(),
            memo_quads: choice.memo(),
            blur: prepared.blur,
            grids: prepared.grids,
            raster,
            cost: self.config.raster.clone(),
            vertex_attributes: match choice.run {
                PipelineRun::Sds { .. } => tiled.counters.vertices,
                PipelineRun::Jrk { .. } | PipelineRun::Msaa => frame.geometry.counters.vertices,
            },
            quads,
            pixels_covered: tiled.counters.pixels_covered,
            tiled: is_sds.then_some(tiled.counters),
            memo: outcome.and_then(|o| o.memo),
            traffic: outcome.and_then(|o| o.traffic),
            spid_blocks: outcome.and_then(|o| o.spid_blocks),
            psnr_db: None,
            host_ms: [prepared.first_pass_ms[0], prepared.first_pass_ms[1], 0.0],
        }
    }

    /// Counters of all rasters of a pipeline.
    fn raster(
        &self,
        prepared: &Prepared<'_>,
        choice: PipelineChoice,
        tiled: &TiledOutcome,
    ) -> RasterCounters {
        let frame = &prepared.frame;
        let mut raster = frame.counters;
        match choice.run {
            PipelineRun::Sds { .. } => {
                // Triangles that are drawn forward are set up by tile instead of once.
                raster.triangles -= frame.geometry.forward();
                raster.add(&tiled.counters.forward);
            }
            PipelineRun::Jrk { has_prepass, .. } => {
                if has_prepass {
                    raster.add(&frame.counters);
                    raster.triangles -= frame.geometry.forward();
                }
                raster.add(&frame.forward_counters);
            }
            PipelineRun::Msaa => raster.add(&frame.forward_counters),
        }
        raster
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

    /// The mean of the pictures of other seeds.
    fn truth(
        &self,
        source: &dyn GridSource,
        view: &ShutterView,
        shader: &Shader<'_>,
        seeds: u32,
    ) -> Result<Frame> {
        let flags = &self.args.pipeline;
        let [width, height] = view.size();
        let mut sums = vec![[0.0_f64; 4]; width as usize * height as usize];
        for seed in 1..=u64::from(seeds) {
            let settings = DeferredSettings {
                seed: flags.sample_seed.wrapping_add(seed),
                grid: GridRule::Pixel,
                ..flags.settings(GridFlag::Pixel, &self.args.host)
            };
            let frame = StochasticFrame::new(source, view.clone(), &settings)?;
            let tiled = frame.tiled(&TiledPass {
                tile_px: Some(128),
                picture: Some((shader, resolve::Background::new(self.background()))),
                heat: false,
                measures_packed: false,
                memo_quads: self.memo_quads,
                vertex_cache: &self.config.vertex_cache,
            });
            for (sum, pixel) in sums
                .iter_mut()
                .zip(tiled.picture.iter().flat_map(Frame::pixels))
            {
                (0..4).for_each(|k| sum[k] += f64::from(pixel[k]));
            }
        }
        let share = 1.0 / f64::from(seeds);
        let pixels = sums
            .into_iter()
            .map(|sum| sum.map(|v| quadrille_base::math::narrow(v * share)));
        let mean = Frame::from_pixels(width, height, pixels.collect());
        Ok(mean.taken_as(ColourSpace::Linear))
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

fn milliseconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1000.0
}
