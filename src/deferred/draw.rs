//! Drawing of a frame with motion and defocus blur in one call, by one pipeline or several.
//!
//! The picture, the counts and the traffic of a pipeline come from the same run. Sort-based deferred shading without
//! traffic rasterizes bins in parallel. With traffic, it takes the hits in submission order, as the pipelines that
//! shade during the raster always do, and then sorts the visible samples.

use quadrille_base::units::milliseconds;
use std::time::Instant;

use super::backend::resolve::Background;
use super::backend::shade::FrameShading;
use super::backend::tiles::{TiledCounters, TiledPass};
use super::camera::shutter::ShutterView;
use super::config::DeferredConfig;
use super::forward::PipelineOutcome;
use super::forward::colour::SampleColour;
use super::forward::memo::MemoCounters;
use super::frame::StochasticFrame;
use super::geometry::Geometry;
use super::memory::depth_buffer::DepthFormat;
use super::memory::traffic::{CodecCounts, PipelineTraffic};
use super::outcome::{BlurAmounts, GridCounts};
use super::raster::cost::RasterCounters;
use super::samples::VisibleSamples;
use super::settings::DeferredSettings;
use super::shading::grid_view::GridRule;
use super::simulate::{PipelineRun, SharedSimulation, SimulationSettings, simulate};
use quadrille_base::image::{ColourSpace, Frame};
use quadrille_base::math::narrow;
use quadrille_base::{Error, Result, Task};
use quadrille_geometry::grid::GridSource;
use quadrille_mesh::shade::{ShadeSettings, Shader, Textures};

/// Tile side of the paper's sort-based deferred shading, in pixels.
const TILE_PX: u32 = 128;
const MEMO_QUADS: u32 = 1024;

/// Settings of [`draw_deferred`].
#[derive(Debug, Clone)]
pub struct DeferredDrawSettings {
    /// Sampling, shading grids and visible sides of triangles.
    pub frame: DeferredSettings,
    /// Pipelines to run over the same geometry.
    pub pipelines: Vec<PipelineRun>,
    /// Background of the pictures; `None` for no pictures.
    pub picture: Option<Background>,
    /// Whether the bytes between pipelines and memory are measured.
    pub traffic: bool,
    /// Whether shader executions are counted per pixel.
    pub heat: bool,
    /// Format of stored depths.
    pub depth: DepthFormat,
    /// Format of the stored colours of samples.
    pub colour: SampleColour,
    /// Capacity, in quads, of the memo for forward draws of sort-based deferred shading; `None` for no limit.
    pub forward_memo_quads: Option<u32>,
    /// Caches, memory bus and raster costs of the modelled hardware; no effect on pictures.
    pub hardware: DeferredConfig,
    /// Settings of the shader that [`draw_deferred`] creates.
    pub shade: ShadeSettings,
    /// Cancels the draw.
    pub task: Task,
}

impl Default for DeferredDrawSettings {
    fn default() -> Self {
        Self {
            frame: DeferredSettings { keeps_depths: false, ..DeferredSettings::default() },
            pipelines: vec![PipelineRun::Sds { tile_px: Some(TILE_PX) }],
            picture: Some(Background::new(Some([0.0; 3]))),
            traffic: false,
            heat: false,
            depth: DepthFormat::default(),
            colour: SampleColour::default(),
            forward_memo_quads: Some(MEMO_QUADS),
            hardware: DeferredConfig::default(),
            shade: ShadeSettings::default(),
            task: Task::NEVER,
        }
    }
}

/// A frame drawn by one or more pipelines.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct DeferredFrame {
    /// Width and height of the pictures in pixels.
    pub size: [u32; 2],
    /// Samples per pixel.
    pub samples: u32,
    /// Triangles of the scene, culled or not.
    pub triangles: u64,
    /// Blur of the primitives visible in the first sample of each pixel.
    pub blur: BlurAmounts,
    /// Shading grids of the primitives in these samples.
    pub grids: GridCounts,
    /// Results in the order of [`DeferredDrawSettings::pipelines`].
    pub pipelines: Vec<DeferredResult>,
}

/// Result of one pipeline.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct DeferredResult {
    /// Pipeline that produced the result.
    pub run: PipelineRun,
    /// Picture in linear light, if it was requested.
    pub picture: Option<Frame>,
    /// Shader executions per pixel, row by row, if they were requested.
    pub heat: Option<Vec<f64>>,
    /// Counters of the set-up and of all raster passes.
    pub raster: RasterCounters,
    /// Quads shaded, four executions each.
    pub quads: u64,
    /// Vertices whose attributes are shaded.
    pub vertex_attributes: u64,
    /// Pixels with at least one covered sample.
    pub pixels_covered: u64,
    /// Counters of the second pass and its sort; only for sort-based deferred shading.
    pub tiled: Option<TiledCounters>,
    /// Counters of the memo; `None` if the pipeline has no memo.
    pub memo: Option<MemoCounters>,
    /// Memory transfers of the pipeline, if requested and modelled.
    pub traffic: Option<PipelineTraffic>,
    /// Blocks of identifiers by codec; only for sort-based deferred shading with traffic.
    pub spid_blocks: Option<CodecCounts>,
    /// Host times in milliseconds: tessellation and set-up; raster, with depth test and traffic of sort-based shading; all
    /// other work. Pipelines that shade during the raster have no raster time; parallel pipelines share their time equally.
    pub host_ms: [f64; 3],
}

/// Draws a scene with motion and defocus blur on all cores, shaded by its materials without the lights of a scene file.
///
/// # Errors
/// [`Error::Argument`] for no pipelines, an invalid number of samples per pixel, or hardware out of its bounds;
/// [`Error::Limit`] for too many samples or primitives; [`Error::Cancelled`].
///
/// # Examples
///
/// ```
/// use quadrille_deferred::camera::{lens::Lens, motion::SceneMotion, shutter::ShutterView};
/// use quadrille_deferred::draw::{DeferredDrawSettings, draw_deferred};
/// use quadrille_geometry::surface::ProceduralScene;
/// use quadrille_geometry::tessellate::{TessellateSettings, Tessellated};
///
/// let scene = ProceduralScene::Arcade;
/// let hall = Tessellated::new(scene.surface(1), TessellateSettings::default())?;
/// let camera = scene.viewpoint().camera("hall", 64, 36)?;
/// let lens = Lens::from_blur_at_infinity(4.0, camera.focal_px[0], 10.0)?;
/// let view = ShutterView::new(&camera, 0.05, lens, SceneMotion::NONE)?;
/// let frame = draw_deferred(&hall, &view, &DeferredDrawSettings::default())?;
/// assert!(frame.blur.coc_px.median > 0.0 && frame.pipelines[0].picture.is_some());
/// # Ok::<(), quadrille_base::Error>(())
/// ```
pub fn draw_deferred(
    source: &dyn GridSource,
    view: &ShutterView,
    settings: &DeferredDrawSettings,
) -> Result<DeferredFrame> {
    let textures = Textures::new(source.textures(), source.materials());
    let shader = Shader::new(source.materials(), &textures, view.middle(), settings.shade);
    draw_with_shader(source, view, &shader, settings)
}

/// Draws a scene as [`draw_deferred`] with the given shader, which belongs to the view half-way through the exposure.
pub fn draw_with_shader(
    source: &dyn GridSource,
    view: &ShutterView,
    shader: &Shader<'_>,
    settings: &DeferredDrawSettings,
) -> Result<DeferredFrame> {
    let task = &settings.task;
    Error::refuse_if(settings.pipelines.is_empty(), "pipelines", "at least one pipeline", "none")?;
    settings.hardware.validate()?;
    StochasticFrame::check_samples(view, &settings.frame)?;
    let begun = Instant::now();
    let geometry = Geometry::new(source, view, settings.frame.faces, task)?;
    let geometry_ms = milliseconds(begun.elapsed());
    let frame = StochasticFrame::before_raster(geometry, view.clone(), &settings.frame, task)?;
    let draw = FrameDraw {
        set_up: frame.counters,
        frame,
        shader,
        settings,
        geometry_ms,
        primitives: None,
    };
    let drawn = draw.run();
    task.check()?;
    drawn
}

/// Mean picture over `seeds` further seeds, by sort-based deferred shading on the pixel grid: the limit of the pictures of
/// `settings` for many samples. The background is transparent if `settings` asks for no picture.
pub fn mean_picture(
    source: &dyn GridSource,
    view: &ShutterView,
    shader: &Shader<'_>,
    settings: &DeferredDrawSettings,
    seeds: u32,
) -> Result<Frame> {
    let (task, [width, height]) = (&settings.task, view.size());
    let background = settings.picture.unwrap_or(Background::new(None));
    let mut sums = vec![[0.0_f64; 4]; width as usize * height as usize];
    for seed in 1..=u64::from(seeds) {
        let frame = DeferredSettings {
            seed: settings.frame.seed.wrapping_add(seed),
            grid: GridRule::Pixel,
            ..settings.frame
        };
        let tiled = StochasticFrame::new(source, view.clone(), &frame, task)?.tiled(&TiledPass {
            tile_px: Some(TILE_PX),
            picture: Some((shader, background)),
            heat: false,
            measures_packed: false,
            memo_quads: settings.forward_memo_quads,
            vertex_cache: &settings.hardware.vertex_cache,
        });
        task.check()?;
        for (sum, pixel) in sums.iter_mut().zip(tiled.picture.iter().flat_map(Frame::pixels)) {
            (0..4).for_each(|k| sum[k] += f64::from(pixel[k]));
        }
    }
    let share = 1.0 / f64::from(seeds);
    let pixels = sums.into_iter().map(|sum| sum.map(|v| narrow(v * share)));
    Ok(Frame::from_pixels(width, height, pixels.collect()).taken_as(ColourSpace::Linear))
}

struct FrameDraw<'a> {
    frame: StochasticFrame,
    set_up: RasterCounters,
    shader: &'a Shader<'a>,
    settings: &'a DeferredDrawSettings,
    geometry_ms: f64,
    /// Primitives visible in the first sample of each pixel, once a pipeline has produced them.
    primitives: Option<Vec<u32>>,
}

impl FrameDraw<'_> {
    fn is_ordered(&self, run: PipelineRun) -> bool {
        self.settings.traffic || !matches!(run, PipelineRun::Sds { .. })
    }

    fn run(mut self) -> Result<DeferredFrame> {
        let runs = &self.settings.pipelines;
        let ordered: Vec<_> = runs.iter().copied().filter(|run| self.is_ordered(*run)).collect();
        let mut simulated = self.ordered(&ordered)?.into_iter();
        let mut raster_ms = None;
        let mut pipelines = Vec::new();
        for &run in runs {
            self.frame.task.check()?;
            if self.is_ordered(run) {
                pipelines.extend(simulated.next());
                continue;
            }
            let begun = Instant::now();
            let raster_ms = *raster_ms.get_or_insert_with(|| {
                self.frame.raster();
                milliseconds(begun.elapsed())
            });
            let opaque = self.frame.counters;
            pipelines.push(self.sorted(run, &opaque, raster_ms));
        }
        self.frame.task.check()?;
        let primitives = self.primitives.unwrap_or_default();
        Ok(DeferredFrame {
            size: self.frame.view.size(),
            samples: self.frame.settings.samples,
            triangles: self.frame.geometry.primitives(),
            blur: self.frame.blur(&primitives),
            grids: self.frame.grid_counts(&primitives),
            pipelines,
        })
    }

    fn ordered(&mut self, runs: &[PipelineRun]) -> Result<Vec<DeferredResult>> {
        if runs.is_empty() {
            return Ok(Vec::new());
        }
        let settings = self.settings;
        let begun = Instant::now();
        let shading = FrameShading { frame: &self.frame, shader: self.shader };
        let needs_colours = settings.traffic || settings.picture.is_some();
        let simulation = simulate(
            &self.frame,
            runs,
            &SimulationSettings {
                memory: &settings.hardware.memory,
                depth: settings.depth,
                colour: settings.colour,
                shading: needs_colours.then_some(&shading),
                measures_traffic: settings.traffic,
                picture: settings.picture,
                wants_heat: settings.heat,
                wants_spids: false,
            },
        )?;
        self.frame.task.check()?;
        let count = u32::try_from(runs.len()).unwrap_or(u32::MAX);
        let share_ms = milliseconds(begun.elapsed()) / f64::from(count);
        let SharedSimulation { outcomes, opaque, forward } = simulation;
        let mut raster = self.set_up;
        raster.add(&opaque);
        let results = runs.iter().zip(outcomes).map(|(&run, outcome)| match run {
            PipelineRun::Sds { .. } => self.sorted_after(run, outcome, &raster, share_ms),
            PipelineRun::CachedDecoupled { .. } | PipelineRun::Msaa => {
                self.shaded_during(run, outcome, &[raster, forward], share_ms)
            }
        });
        Ok(results.collect())
    }

    /// Runs the second pass over the samples of a first pass in submission order.
    fn sorted_after(
        &mut self,
        run: PipelineRun,
        outcome: PipelineOutcome,
        raster: &RasterCounters,
        first_pass_ms: f64,
    ) -> DeferredResult {
        self.frame.visible = VisibleSamples {
            size: self.frame.view.size(),
            samples: self.frame.settings.samples,
            spids: outcome.spids.unwrap_or_default(),
            depths: outcome.depths.unwrap_or_default(),
        };
        let result = self.sorted(run, raster, first_pass_ms);
        DeferredResult { traffic: outcome.traffic, spid_blocks: outcome.spid_blocks, ..result }
    }

    fn sorted(
        &mut self,
        run: PipelineRun,
        first_pass: &RasterCounters,
        first_pass_ms: f64,
    ) -> DeferredResult {
        let begun = Instant::now();
        let (frame, settings) = (&self.frame, self.settings);
        let tiled = frame.tiled(&TiledPass {
            tile_px: match run {
                PipelineRun::Sds { tile_px } => tile_px,
                PipelineRun::CachedDecoupled { .. } | PipelineRun::Msaa => None,
            },
            picture: settings.picture.map(|background| (self.shader, background)),
            heat: settings.heat,
            measures_packed: settings.traffic,
            memo_quads: settings.forward_memo_quads,
            vertex_cache: &settings.hardware.vertex_cache,
        });
        // Alpha-tested and blended triangles are set up once per tile instead of once per frame.
        let mut raster = *first_pass;
        raster.triangles -= frame.geometry.forward();
        raster.add(&tiled.counters.forward);
        let host_ms = [self.geometry_ms, first_pass_ms, milliseconds(begun.elapsed())];
        let first_samples = || frame.first_samples();
        self.primitives.get_or_insert_with(first_samples);
        DeferredResult {
            run,
            picture: tiled.picture,
            heat: tiled.heat,
            raster,
            quads: tiled.counters.quads,
            vertex_attributes: tiled.counters.vertices,
            pixels_covered: tiled.counters.pixels_covered,
            tiled: Some(tiled.counters),
            memo: None,
            traffic: None,
            spid_blocks: None,
            host_ms,
        }
    }

    /// Result of a pipeline that shades during the raster; `opaque` includes the set-up of all triangles.
    fn shaded_during(
        &mut self,
        run: PipelineRun,
        outcome: PipelineOutcome,
        [opaque, forward]: &[RasterCounters; 2],
        pipeline_ms: f64,
    ) -> DeferredResult {
        let mut raster = *opaque;
        if let PipelineRun::CachedDecoupled { has_prepass: true, .. } = run {
            raster.add(opaque);
            raster.triangles -= self.frame.geometry.forward();
        }
        raster.add(forward);
        let shown = outcome.shown.unwrap_or_default();
        self.primitives.get_or_insert(shown.primitives);
        DeferredResult {
            run,
            picture: shown.picture,
            heat: outcome.heat.map(|heat| heat.executions),
            raster,
            quads: outcome.quads,
            vertex_attributes: self.frame.geometry.counters.vertices,
            pixels_covered: shown.pixels_covered,
            tiled: None,
            memo: outcome.memo,
            traffic: outcome.traffic,
            spid_blocks: None,
            host_ms: [self.geometry_ms, 0.0, pipeline_ms],
        }
    }
}
