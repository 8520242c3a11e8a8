//! The wiring: every unit of a variant joined in order, statically, and run over a draw.

use super::coalesce::qru::QuadReorder;
use super::coalesce::tc::TileCoalescing;
use super::coalesce::tgc::TileGridCoalescing;
use super::config::Config;
use super::crop::cache::CropCache;
use super::crop::unit::{Crop, Termination};
use super::draw::Draw;
use super::geometry::assembly::{Assembly, Distribute, TileOwner};
use super::geometry::vertex::VertexShading;
use super::machine::{Machine, SurfaceLines};
use super::outcome::Outcome;
use super::raster::coarse::Coarse;
use super::raster::fine::Fine;
use super::raster::hi_z::HiZ;
use super::raster::setup::Setup;
use super::variant::Variant;
use super::warp::cores::Cores;
use super::warp::fragment::FragmentShader;
use super::warp::launch::Launch;
use super::zrop::prop::Prop;
use super::zrop::surface::{Surface, Tests};
use super::zrop::unit::Zrop;
use super::zrop::zcache::ZCache;
use crate::pipeline::maps::Maps;
use crate::pipeline::packets::QUADS_PER_TILE;
use crate::pipeline::stage::{Link, Sink, Stage};
use crate::pipeline::timing::{Activity, Cycle};

/// The end of the pipeline: notes when the last of its input was done.
#[derive(Debug, Default)]
pub struct Retired {
    /// Cycle after the last raster operation.
    pub at: Cycle,
}

impl<M> Sink<(), M> for Retired {
    fn offer(&mut self, (): (), at: Cycle, _machine: &mut M) -> Cycle {
        at
    }

    fn end(&mut self, at: Cycle, _machine: &mut M) {
        self.at = self.at.max(at);
    }
}

type FromWarps = Link<Launch, Link<Cores, Link<Crop, Retired>>>;
type FromFlush = Link<Prop, Link<Zrop, Link<QuadReorder, FromWarps>>>;
type FromSetup = Link<Setup, Link<Coarse, Link<HiZ, Link<Fine, Link<TileCoalescing, FromFlush>>>>>;

/// A GPC: all units behind primitive assembly.
pub type Gpc = Link<TileGridCoalescing, FromSetup>;

/// The units of a GPC, by name.
pub(super) struct Units<'a> {
    pub(super) tgc: &'a mut TileGridCoalescing,
    pub(super) setup: &'a mut Setup,
    pub(super) coarse: &'a mut Coarse,
    pub(super) hi_z: &'a mut HiZ,
    pub(super) fine: &'a mut Fine,
    pub(super) tc: &'a mut TileCoalescing,
    pub(super) prop: &'a mut Prop,
    pub(super) zrop: &'a mut Zrop,
    pub(super) qru: &'a mut QuadReorder,
    pub(super) launch: &'a mut Launch,
    pub(super) cores: &'a mut Cores,
    pub(super) crop: &'a mut Crop,
    pub(super) retired: &'a mut Retired,
}

impl<'a> Units<'a> {
    pub(super) fn of(gpc: &'a mut Gpc) -> Self {
        let Link {
            stage: tgc, next, ..
        } = gpc;
        let Link {
            stage: setup, next, ..
        } = next;
        let Link {
            stage: coarse,
            next,
            ..
        } = next;
        let Link {
            stage: hi_z, next, ..
        } = next;
        let Link {
            stage: fine, next, ..
        } = next;
        let Link {
            stage: tc, next, ..
        } = next;
        let Link {
            stage: prop, next, ..
        } = next;
        let Link {
            stage: zrop, next, ..
        } = next;
        let Link {
            stage: qru, next, ..
        } = next;
        let Link {
            stage: launch,
            next,
            ..
        } = next;
        let Link {
            stage: cores, next, ..
        } = next;
        let Link {
            stage: crop,
            next: retired,
            ..
        } = next;
        Self {
            tgc,
            setup,
            coarse,
            hi_z,
            fine,
            tc,
            prop,
            zrop,
            qru,
            launch,
            cores,
            crop,
            retired,
        }
    }
}

/// What to watch beside the counters.
#[derive(Debug, Clone, Copy, Default)]
pub struct Watch {
    /// Keep counts a pixel.
    pub maps: bool,
    /// Keep timelines of the units.
    pub timelines: bool,
}

/// Wires a GPC.
fn gpc(config: &Config, variant: Variant, owner: TileOwner, machine: &Machine<'_>) -> Gpc {
    let [width, height] = machine.surface.size();
    let (tiles, index) = (machine.surface.tiles(), owner.gpc as usize);
    let lines = SurfaceLines::of(&machine.surface);
    let z_cache = ZCache::new(config.zrop.cache_bytes, lines.tests, lines.colour as u64);
    #[allow(
        clippy::cast_possible_truncation,
        reason = "colours and alphas are f32"
    )]
    let termination = variant.het.then_some(Termination {
        threshold: config.zrop.threshold as f32,
        feedback_cycles: config.zrop.feedback_cycles,
        feedback: config.zrop.feedback,
    });
    let crop = Crop::new(
        &config.crop,
        termination,
        index,
        CropCache::new(&config.crop, lines.colour, 0),
    );
    let cores = Cores::new(&config.cores, variant.qru);
    let slots = config.cores.cores * config.cores.warps_per_core;
    let from_warps = Link::new(
        config.launch.queue,
        Launch::new(&config.launch),
        Link::new(
            slots,
            cores,
            Link::new(config.crop.queue, crop, Retired::default()),
        ),
    );
    let qru = QuadReorder::new(&config.qru, variant.qru, config.prop.quads_out_per_cycle);
    let zrop = Zrop::new(&config.zrop, variant.het, index, z_cache);
    let from_flush = Link::new(
        config.prop.queue,
        Prop::new(&config.prop),
        Link::new(
            config.zrop.queue,
            zrop,
            Link::new(config.qru.queue, qru, from_warps),
        ),
    );
    let tc = Link::new(
        config.tc.queue,
        TileCoalescing::new(&config.tc, tiles),
        from_flush,
    );
    let fine = Link::new(config.fine.queue, Fine::new(&config.fine), tc);
    let hi_z = Link::new(config.hi_z.queue, HiZ::new(&config.hi_z), fine);
    let coarse = Link::new(
        config.coarse.queue,
        Coarse::new(&config.coarse, owner),
        hi_z,
    );
    let setup = Link::new(config.setup.queue, Setup::new(&config.setup), coarse);
    let tgc = TileGridCoalescing::new(&config.tgc, variant.tgc, width, height);
    Link::new(config.tgc.queue, tgc, setup)
}

/// Runs a draw through a variant of the pipeline.
#[must_use]
#[allow(
    clippy::cast_possible_truncation,
    reason = "the number of GPCs is validated to be small"
)]
pub fn run(
    draw: &Draw,
    shader: FragmentShader<'_>,
    tests: &Tests,
    config: &Config,
    variant: Variant,
    watch: Watch,
) -> Outcome {
    let surface = Surface::new(
        draw.width,
        draw.height,
        config.crop.format,
        tests,
        variant.het,
    );
    let quads = surface.tiles() * QUADS_PER_TILE as usize;
    let count = config.gpu.gpcs as u32;
    let mut machine = Machine::new(draw, shader, surface, config);
    machine.maps = watch.maps.then(|| Box::new(Maps::new(quads)));
    let owners = (0..count).map(|gpc| TileOwner { gpc, count });
    let gpcs = owners.map(|owner| (owner, gpc(config, variant, owner, &machine)));
    let mut vertex = VertexShading::new(&config.vertex);
    let mut assembly = Link::new(
        config.vpo.queue,
        Assembly::new(&config.vpo),
        Distribute {
            gpcs: gpcs.collect(),
        },
    );
    if watch.timelines {
        vertex.pipe.activity.keep_timeline();
        assembly.stage.pipe.activity.keep_timeline();
        for (_, gpc) in &mut assembly.next.gpcs {
            for (_, activity) in Outcome::activities(&mut Units::of(gpc)) {
                activity.keep_timeline();
            }
        }
    }
    let mut ready = 0;
    for splat in 0..draw.len() {
        if let Some((_, cycles)) = draw.bubble.filter(|(before, _)| *before == splat) {
            ready = vertex.pipe.free() + cycles;
        }
        vertex.accept(splat, ready, &mut machine, &mut assembly);
    }
    assembly.end(vertex.pipe.free(), &mut machine);
    Outcome::collect(variant, vertex, assembly, machine)
}

/// A unit's activity with its name.
pub(super) type Named<'a> = (&'static str, &'a mut Activity);
