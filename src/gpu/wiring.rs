//! Wiring of the units into a pipeline, and runs of draws through it.

use super::config::Config;
use super::draw::Draw;
use super::draw_state::DrawState;
use super::extension::{Extension, OwnMethod};
use super::geometry::assembly::Assembly;
use super::geometry::crossbar::Crossbar;
use super::geometry::distributor::{Distributor, GeometryUnits};
use super::geometry::position_fetch::FetchedVertices;
use super::geometry::vertex::VertexShading;
use super::geometry::vertex_buffer::VertexBuffer;
use super::gpc::Gpc;
use super::passes;
use super::result::SimulationResult;
use super::tile_gpu::{self, TileMethod};
use super::variant::Variant;
use super::warp::fragment::FragmentShader;
use super::warp::imitated_merging::MergeShare;
use super::warp::issue::ShaderIssue;
use super::warp::raced_picture::RacedPicture;
use super::warp::shader_blend::ShaderOrder;
use super::zrop::framebuffer::{Framebuffer, FramebufferLines, Tests};
use super::zrop::late::{LateQueue, StencilUpdate};
use super::zrop::termination::Updates;
use quadrille_base::{Error, Result, Task};
use quadrille_machine::{
    Cycle, HeldLines, L2Spec, LedgerSpec, Maps, Memory, Primitive, Sink, Specification, Timeline,
    Unit, keep_ledgers, keep_timelines,
};

/// Optional results that a run keeps.
#[derive(Debug, Clone, Copy, Default)]
#[allow(clippy::struct_excessive_bools, reason = "independent switches")]
pub struct Watch {
    /// Whether per-pixel counts are kept.
    pub maps: bool,
    /// Whether timelines of the units are kept.
    pub timelines: bool,
    /// Whether counters by screen tile are kept.
    pub tiles: bool,
    /// Length in cycles of the intervals by which timelines and counters are kept; 0 for none.
    pub interval: Cycle,
    /// Whether the requests to DRAM are kept.
    pub dram: bool,
}

/// Function that simulates a draw on a pipeline with units of other crates, through [`Simulator::run_with`].
pub type Wiring = for<'a> fn(&Simulator, &'a Draw, FragmentShader<'a>, &Tests) -> SimulationResult;

/// Creates an extension: a unit with the defaults of its specification `S`, in a pipeline defined by `wiring`.
pub fn extension<S: Specification>(wiring: Wiring) -> Extension {
    Extension::new::<S>().wired(wiring)
}

/// Creates the shared state of a draw; `terminating` enables early termination.
#[must_use]
pub fn draw_state<'a>(
    draw: &'a Draw,
    shader: FragmentShader<'a>,
    tests: &Tests,
    config: &Config,
    terminating: bool,
) -> DrawState<'a> {
    let format = config.crop.format;
    let mut framebuffer = Framebuffer::new(draw.width, draw.height, format, tests, terminating);
    if config.zrop.tile_stencil {
        framebuffer.test_tiles(tests, config.zrop.feedback_cycles);
    }
    let lines = FramebufferLines::of(&framebuffer);
    // The lines of the buffer of vertex results are not available to other data.
    let reserved = config.vertex_buffer_bytes();
    let l2 = L2Spec { bytes: config.l2.bytes - reserved, ..config.l2.clone() };
    let memory = Memory::new(&l2, &config.dram, config.gpu.clock_mhz, lines.tests.end);
    let gpcs = config.gpu.gpcs;
    let issue = ShaderIssue::new(gpcs, config.cores.all_schedulers(), config.cores.issue_cycles);
    let updates = (0..gpcs)
        .map(|_| Updates::new(config.zrop.update_queue, config.zrop.update_cycles))
        .collect();
    let writes = (0..gpcs).map(|_| LateQueue::new(config.zrop.queue));
    DrawState {
        update: StencilUpdate { writes: writes.collect(), ..StencilUpdate::default() },
        vertex_buffer: VertexBuffer::new(
            config.vertex.entry(),
            config.vertex.buffer_entries(reserved),
            draw.len(),
        ),
        ..DrawState::new(draw, shader, framebuffer, memory, issue, updates)
    }
}

/// Simulator of a pipeline variant with a checked configuration; by default the conventional pipeline.
#[derive(Debug, Clone)]
pub struct Simulator {
    config: Config,
    variant: Variant,
    passes: u32,
    blending: Option<ShaderOrder>,
    imitated_merging: Option<MergeShare>,
    tiles: Option<TileMethod>,
    method: Option<OwnMethod>,
    /// L2 content at the end of the previous frame, for a frame of a sequence; the first frame has none.
    sequence: Option<Option<HeldLines>>,
    watch: Watch,
    task: Task,
}

impl Default for Simulator {
    fn default() -> Self {
        Self::unchecked(&Config::default(), Variant::default())
    }
}

impl Simulator {
    /// Creates a simulator that keeps no optional results. An error names the field of `config` that does not fit.
    pub fn new(config: &Config, variant: Variant) -> Result<Self> {
        config.validate()?;
        config.gpu.check_graphics()?;
        Ok(Self::unchecked(config, variant))
    }

    /// Creates a simulator without checking `config`, which must derive from a checked configuration.
    pub fn unchecked(config: &Config, variant: Variant) -> Self {
        Self {
            config: config.clone(),
            variant,
            passes: 1,
            blending: None,
            imitated_merging: None,
            tiles: None,
            method: None,
            sequence: None,
            watch: Watch::default(),
            task: Task::NEVER,
        }
    }

    /// Creates a simulator for each of `variants`.
    pub fn all(config: &Config, variants: &[Variant], watch: Watch) -> Result<Vec<Self>> {
        variants.iter().map(|v| Self::new(config, *v)).map(|s| Ok(s?.watching(watch))).collect()
    }

    /// Sets which optional results runs keep.
    pub fn watching(self, watch: Watch) -> Self {
        Self { watch, ..self }
    }

    /// Sets the task that cancels runs and receives their progress in splats. The result of a cancelled run has no meaning.
    pub fn under(self, task: &Task) -> Self {
        Self { task: task.clone(), ..self }
    }

    /// Renders in `passes` batches of splats (at least 1) with stencil updates between them (VR-Pipe, section IV-B).
    pub fn in_passes(self, passes: u32) -> Self {
        Self { passes, ..self }
    }

    /// Makes the next draw a frame of a sequence: the first, or the one after `before`. The L2 then also caches vertex data
    /// and starts with the lines that it held after `before`, except stencil and depth values. All other caches start
    /// empty.
    pub fn in_sequence(self, before: Option<&SimulationResult>) -> Self {
        Self { sequence: Some(before.and_then(|result| result.held_lines.clone())), ..self }
    }

    /// Conventional pipeline with blending in `order` in the shader instead of CROP (VR-Pipe, section IV-A).
    pub fn blending_in_shader(config: &Config, order: ShaderOrder) -> Result<Self> {
        Ok(Self { blending: Some(order), ..Self::new(config, Variant::BASELINE)? })
    }

    /// Tile-based GPU, with the units and additions of `method`.
    ///
    /// # Errors
    /// [`Error::Argument`] if a field does not fit, for several GPCs, and for units of other crates, whose wiring has none of
    /// the units of tiles.
    pub fn tile_based(config: &Config, method: TileMethod) -> Result<Self> {
        let mut simulator = Self::new(config, method.variant())?;
        let expected = "1 for a tile-based GPU, which draws one tile after the other";
        Error::refuse_if(config.gpu.gpcs != 1, "gpu.gpcs", expected, config.gpu.gpcs)?;
        let is_wired = config.extensions.wiring::<Wiring>(None).is_some();
        let expected = "no unit of another crate for a tile-based GPU";
        Error::refuse_if(is_wired, "extension", expected, "a wiring of the pipeline")?;
        // Vertex results lie in memory, and stencil values on the chip.
        simulator.config.vertex.buffer_bytes = 0;
        simulator.config.zrop.fast_clear = true;
        Ok(Self { tiles: Some(method), ..simulator })
    }

    /// Creates a simulator of a variant on the same machine and under the same task that keeps no optional results.
    pub(crate) fn beside(&self, variant: Variant) -> Self {
        Self::unchecked(&self.config, variant).under(&self.task.without_progress())
    }

    /// Makes the first test of each stencil and depth value fetch it, since an earlier draw has written all of them.
    pub(crate) fn with_filled_tests(mut self) -> Self {
        self.config.zrop.fast_clear = false;
        self
    }

    /// Merges neighbouring quads of warps in the fragment shader, in a given share.
    pub(crate) fn merging_in_shader(self, share: MergeShare) -> Self {
        Self { imitated_merging: Some(share), ..self }
    }

    /// Pipeline of a method that an extension of `config` adds.
    pub fn of_method(config: &Config, method: OwnMethod) -> Result<Self> {
        if config.extensions.wiring::<Wiring>(Some(method)).is_none() {
            let expected = "a method that an extension of the configuration adds";
            return Err(Error::argument("method", expected, method));
        }
        Ok(Self { method: Some(method), ..Self::new(config, method.variant())? })
    }

    /// Configuration of the simulated GPU.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Simulates a draw. If the configuration has extensions, the wiring of the last one defines the pipeline, or the
    /// wiring of the method.
    pub fn run(&self, draw: &Draw, shader: FragmentShader<'_>, tests: &Tests) -> SimulationResult {
        if let Some(wiring) = self.config.extensions.wiring::<Wiring>(self.method) {
            return wiring(self, draw, shader, tests);
        }
        if self.tiles.is_some() {
            return self.run_with(draw, shader, tests, |gpc| {
                gpc.binned_raster(gpc.tests(gpc.flush_policy(), gpc.shading_in_tiles()))
            });
        }
        self.run_with(draw, shader, tests, |gpc| {
            gpc.raster(gpc.tests(gpc.flush_policy(), gpc.shading()))
        })
    }

    fn watch_units(
        &self,
        units: &mut impl Unit,
        state: &mut DrawState<'_>,
        lines: &FramebufferLines,
    ) {
        let Watch { timelines, tiles, interval, dram, .. } = self.watch;
        if timelines || interval > 0 {
            let window = match interval {
                0 => Timeline::FIRST_WINDOW,
                _ => interval,
            };
            keep_timelines(units, window);
            state.memory.keep_timelines(window);
        }
        if tiles || interval > 0 {
            let of_picture = state.framebuffer.layout.tiles();
            let tiles = if tiles { of_picture } else { 0 };
            let spec = LedgerSpec { tiles, interval };
            keep_ledgers(units, spec);
            state.memory.keep_ledger(spec, lines.by_tile(of_picture));
        }
        if dram {
            state.memory.keep_requests();
        }
    }

    /// Simulates a draw on GPCs wired by `gpc`, from sections of [`Gpc`] and any other stages.
    pub fn run_with<'a, C>(
        &self,
        draw: &'a Draw,
        shader: FragmentShader<'a>,
        tests: &Tests,
        gpc: impl Fn(&Gpc<'_>) -> C,
    ) -> SimulationResult
    where
        C: Sink<Primitive, DrawState<'a>> + Unit,
    {
        let config = &self.config;
        let shader = shader.with_near_cut(config.cores.near_cut);
        let updating = passes::batches(draw.len(), self.passes).len() > 1;
        let mut state = draw_state(draw, shader, tests, config, self.variant.het() || updating);
        state.task = self.task.clone();
        let lists =
            self.tiles.map(|_| tile_gpu::place_in_memory(&mut state, config, self.variant.het()));
        if let Some(before) = &self.sequence {
            state.memory.begin_frame(before.as_ref());
        }
        let layout = state.framebuffer.layout;
        let lines = FramebufferLines::of(&state.framebuffer);
        let l2_latency = state.memory.l2.latency();
        let reordered = match self.blending {
            Some(order) => order.reordered(
                &config.shader_blend,
                &config.interlock,
                config.cores.slots(),
                l2_latency,
            ),
            None if self.tiles == Some(TileMethod::FramebufferFetch) => config
                .tile_fetch
                .reordered(config.cores.slots(), config.shader_blend.latency_cycles),
            None => 0,
        };
        if reordered > 0 {
            state.memory.reorder_within(reordered);
        }
        if self.blending == Some(ShaderOrder::Unordered) {
            state.race = Some(Box::new(RacedPicture::new(layout.quads(), config.crop.format)));
        }
        state.maps = self.watch.maps.then(|| Box::new(Maps::new(layout.quads())));
        let map = config.gpu.tile_map();
        let geometry = map.owners().map(|owner| {
            let vertex = VertexShading::new(&config.vertex).in_gpc(owner.gpc as usize);
            let vertex = FetchedVertices::new(vertex, config.vertex.fetch_queue);
            GeometryUnits::new(1, vertex, config.vpo.queue, Assembly::new(&config.vpo))
        });
        let gpcs = map.owners().map(|owner| {
            let parts = Gpc {
                config,
                variant: self.variant,
                owner,
                layout,
                lines: lines.clone(),
                updating,
                blending: self.blending,
                imitated_merging: self.imitated_merging,
                reordered,
                tiles: self.tiles.zip(lists),
            };
            gpc(&parts)
        });
        let crossbar = Crossbar::new(&config.crossbar, map, gpcs);
        let batch = config.distributor.warps_per_batch * config.vertex.splats_in_warp();
        let mut chain = Distributor::new(&config.distributor, batch, geometry, crossbar);
        self.watch_units(&mut chain, &mut state, &lines);
        let gap = config.passes.draw_gap_cycles;
        let passes = passes::run(&mut chain, &mut state, self.passes, gap);
        SimulationResult::collect(self.variant, self.blending, passes, &mut chain, state)
    }
}
