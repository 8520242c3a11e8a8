//! Wiring of the units into a pipeline, and runs of draws through it.

use super::coalesce::flush_policy::{Evict, FlushPolicy, Timeout};
use super::coalesce::quad_reorder::QuadReorder;
use super::coalesce::tile_coalescing::TileCoalescing;
use super::coalesce::tile_grid_coalescing::TileGridCoalescing;
use super::coalesce::warp_packing::WarpPacking;
use super::config::Config;
use super::crop::unit::Crop;
use super::draw::Draw;
use super::draw_state::DrawState;
use super::extension::{Extension, OwnMethod};
use super::geometry::assembly::Assembly;
use super::geometry::crossbar::Crossbar;
use super::geometry::distributor::{Distributor, GeometryUnits};
use super::geometry::position_fetch::{FetchedVertices, PositionFetch};
use super::geometry::vertex::VertexShading;
use super::geometry::vertex_buffer::VertexBuffer;
use super::passes;
use super::raster::coarse::Coarse;
use super::raster::fine::Fine;
use super::raster::hi_z::HiZ;
use super::raster::setup::Setup;
use super::result::SimulationResult;
use super::tile_owner::TileOwner;
use super::variant::Variant;
use super::warp::cores::Cores;
use super::warp::fragment::FragmentShader;
use super::warp::imitated_merging::MergeShare;
use super::warp::issue::ShaderIssue;
use super::warp::launch::Launch;
use super::warp::raced_picture::RacedPicture;
use super::warp::shader_blend::{BlendingCores, ShaderBlend, ShaderOrder};
use super::warp::update::{UpdateCores, UpdateShader};
use super::zrop::framebuffer::{Framebuffer, FramebufferLines, Tests};
use super::zrop::late::{LateQueue, StencilUpdate};
use super::zrop::prop::Prop;
use super::zrop::termination::{Termination, Updates};
use super::zrop::unit::Zrop;
use quadrille_base::math::narrow;
use quadrille_base::raster::tiles::TileLayout;
use quadrille_base::{Error, Result, Task};
use quadrille_machine::{
    Beat, Cycle, HeldLines, L2Spec, LedgerSpec, Maps, Memory, Primitive, RasterTile, Retired, Sink,
    Specification, Timeline, Unit, chain, keep_ledgers, keep_timelines,
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

/// Builder of one GPC's units, in sections nested from the last to the first.
#[derive(Debug, Clone)]
pub struct Gpc<'c> {
    config: &'c Config,
    variant: Variant,
    owner: TileOwner,
    layout: TileLayout,
    lines: FramebufferLines,
    updating: bool,
    blending: Option<ShaderOrder>,
    imitated_merging: Option<MergeShare>,
    reordered: Cycle,
}

impl Gpc<'_> {
    /// Units from primitives to raster tiles: tile-grid coalescing, setup, coarse raster, Hi-Z, fine raster.
    pub fn raster<'m, N: Sink<RasterTile, DrawState<'m>> + Unit>(
        &self,
        next: N,
    ) -> impl Sink<Primitive, DrawState<'m>> + Unit + use<'m, N> {
        let c = self.config;
        self.coarse_raster(chain! {
            c.hi_z.queue => HiZ::new(&c.hi_z),
            c.fine.queue => Fine::new(&c.fine),
            next
        })
    }

    /// The first units of [`Self::raster`], for pipelines with another Hi-Z or fine raster: tile-grid coalescing, setup and
    /// coarse raster.
    pub fn coarse_raster<'m, N: Sink<RasterTile, DrawState<'m>> + Unit>(
        &self,
        next: N,
    ) -> impl Sink<Primitive, DrawState<'m>> + Unit + use<'m, N> {
        let c = self.config;
        let again = self.variant.tgc().then_some(c.tgc.fetch_queue);
        chain! {
            c.tgc.queue => TileGridCoalescing::new(&c.tgc, self.variant.tgc(), self.layout, self.owner),
            PositionFetch::new(again, chain! {
                c.setup.queue => Setup::new(&c.setup),
                c.coarse.queue => Coarse::new(&c.coarse, self.owner),
                next
            })
        }
    }

    /// Flush policy of tile coalescing with the configured eviction rule and timeout.
    pub fn flush_policy(&self) -> Timeout<Evict> {
        self.config.tc.policy()
    }

    /// Units from raster tiles to tested quads: tile coalescing with a flush policy, PROP, ZROP.
    pub fn tests<'m, P: FlushPolicy, N: Sink<Beat, DrawState<'m>> + Unit>(
        &self,
        policy: P,
        next: N,
    ) -> impl Sink<RasterTile, DrawState<'m>> + Unit + use<'m, P, N> {
        let (c, lines) = (self.config, self.lines.tests.clone());
        let gpc = self.owner.gpc as usize;
        let tc = TileCoalescing::new(&c.tc, policy, self.layout.tiles());
        let pixels_once = self.blending == Some(ShaderOrder::Interlocked);
        chain! {
            c.tc.queue => tc.holding_pixels_once(&c.tc, pixels_once),
            c.prop.queue => Prop::new(&c.prop),
            c.zrop.queue => Zrop::new(&c.zrop, self.variant.het() || self.updating, gpc, lines),
            next
        }
    }

    /// Units from tested quads to the framebuffer: quad reordering, warp packing, launch, shader cores, CROP.
    pub fn shading<'m>(&self) -> impl Sink<Beat, DrawState<'m>> + Unit + use<'m> {
        let (c, variant) = (self.config, self.variant);
        let threshold = narrow(c.zrop.threshold);
        let termination = variant.het().then_some(Termination {
            threshold,
            feedback_cycles: c.zrop.feedback_cycles,
            feedback: c.zrop.feedback,
        });
        let on = UpdateCores {
            cores: c.cores.cores,
            l2_bytes_per_cycle: c.cores.l1_bytes_per_cycle,
            format: c.crop.format,
            threshold,
        };
        let update = self.updating.then(|| UpdateShader::new(&c.passes, on));
        let lines = self.lines.colour.clone();
        let gpc = self.owner.gpc as usize;
        let blending = self.blending.map(|order| self.shader_blend(order));
        let merging = variant.qru() || self.imitated_merging.is_some();
        let cores_queue = if blending.is_some() { 1 } else { c.cores.slots() };
        chain! {
            c.qru.queue => QuadReorder::new(&c.qru, variant.qru()),
            c.pack.queue => WarpPacking::new(&c.pack, c.prop.quads_out_per_cycle),
            c.launch.queue => Launch::new(&c.launch),
            cores_queue => Cores::new(&c.cores, merging).in_gpc(gpc).reading(&c.cores, c.vertex.entry().attributes).updating(update).blending(blending).imitating(self.imitated_merging),
            c.crop.queue => Crop::new(&c.crop, termination, gpc, lines),
            Retired::default()
        }
    }

    fn shader_blend(&self, order: ShaderOrder) -> ShaderBlend {
        let c = self.config;
        let on = BlendingCores {
            cores: c.cores.cores,
            schedulers: c.cores.all_schedulers(),
            slots: c.cores.slots(),
            l2_bytes_per_cycle: c.cores.l1_bytes_per_cycle,
            format: c.crop.format,
            tiles: self.layout.tiles(),
            reordered: self.reordered,
        };
        ShaderBlend::new(&c.shader_blend, &c.interlock, order, on)
    }
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
        if let Some(before) = &self.sequence {
            state.memory.begin_frame(before.as_ref());
        }
        let layout = state.framebuffer.layout;
        let lines = FramebufferLines::of(&state.framebuffer);
        let l2_latency = state.memory.l2.latency();
        let reordered = self.blending.map_or(0, |order| {
            order.reordered(
                &config.shader_blend,
                &config.interlock,
                config.cores.slots(),
                l2_latency,
            )
        });
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
