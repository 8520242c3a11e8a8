//! The wiring: every unit of the mesh path joined in order, statically, and run over a scene.

use super::colour::Colour;
use super::config::MeshConfig;
use super::cores::MeshCores;
use super::grids::{Grids, Submitted};
use super::machine::MeshMachine;
use super::merging::TimedMerge;
use super::outcome::{MergeStage, TimedOutcome};
use super::pack::Pack;
use super::passthrough::Passthrough;
use super::quads::Quads;
use crate::error::Result;
use crate::gpu::geometry::assembly::Assembly;
use crate::gpu::raster::coarse::Coarse;
use crate::gpu::raster::fine::Fine;
use crate::gpu::raster::hi_z::HiZ;
use crate::gpu::raster::setup::Setup;
use crate::gpu::tile_owner::TileOwner;
use crate::gpu::warp::launch::Launch;
use crate::gpu::zrop::prop::Prop;
use crate::gpu::zrop::unit::Zrop;
use crate::mesh::frame::FrameSettings;
use crate::mesh::grid::Source;
use crate::mesh::merge::{MergeCounters, MergeUnitKind};
use crate::mesh::view::View;
use crate::pipeline::collect::Collected;
use crate::pipeline::stage::Retired;
use crate::pipeline::stage::{Link, Sink};

type FromPack = Link<Pack, Link<Launch, Link<MeshCores, Link<Colour, Retired>>>>;
type FromQuads<U> = Link<Quads, Link<Prop, Link<Zrop, Link<U, FromPack>>>>;
type FromSetup<U> = Link<Setup, Link<Coarse, Link<HiZ, Link<Fine, FromQuads<U>>>>>;
type Pipeline<U> = Link<Grids, Link<Assembly, FromSetup<U>>>;

/// Joins the units from packing on.
fn from_pack(config: &MeshConfig, machine: &MeshMachine) -> FromPack {
    let gpu = &config.gpu;
    let slots = gpu.cores.cores * gpu.cores.warps_per_core;
    let colour = Colour::new(&gpu.crop, machine.colour_lines());
    let colour = Link::new(gpu.crop.queue, colour, Retired::default());
    let cores = MeshCores::new(&gpu.cores, &config.pixel_shader);
    let launch = Link::new(
        gpu.launch.queue,
        Launch::new(&gpu.launch),
        Link::new(slots, cores, colour),
    );
    Link::new(config.pack.queue, Pack::new(&config.pack), launch)
}

/// Joins all units around a merging unit behind a queue of `depth` beats.
fn pipeline<U: MergeStage>(
    config: &MeshConfig,
    machine: &MeshMachine,
    (depth, unit): (u64, U),
) -> Pipeline<U> {
    let gpu = &config.gpu;
    let zrop = Zrop::new(&gpu.zrop, false, 0, machine.depth_lines());
    let unit = Link::new(depth, unit, from_pack(config, machine));
    let prop = Link::new(
        gpu.prop.queue,
        Prop::new(&gpu.prop),
        Link::new(gpu.zrop.queue, zrop, unit),
    );
    let quads = Link::new(config.quads.queue, Quads::new(&config.quads), prop);
    let fine = Link::new(gpu.fine.queue, Fine::new(&gpu.fine), quads);
    let hi_z = Link::new(gpu.hi_z.queue, HiZ::new(&gpu.hi_z), fine);
    let owner = TileOwner { gpc: 0, count: 1 };
    let coarse = Link::new(gpu.coarse.queue, Coarse::new(&gpu.coarse, owner), hi_z);
    let setup = Link::new(gpu.setup.queue, Setup::new(&gpu.setup), coarse);
    let assembly = Link::new(gpu.vpo.queue, Assembly::new(&gpu.vpo), setup);
    Link::new(config.grids.queue, Grids::new(&config.grids), assembly)
}

/// Runs a scene through the pipeline, in cycles, with a unit between the depth test and the shader.
///
/// Sizes of the unit are those of `unit`, its times those of the configuration.
///
/// # Errors
/// A caller's error naming a field of the configuration that does not fit.
pub fn run(
    source: &dyn Source,
    view: &View,
    settings: &FrameSettings,
    config: &MeshConfig,
    unit: MergeUnitKind,
) -> Result<TimedOutcome> {
    config.validate()?;
    let machine = MeshMachine::new(source.materials(), view, settings, config);
    Ok(match unit {
        MergeUnitKind::None => {
            let pass = Passthrough::new(config.gpu.prop.quads_out_per_cycle);
            let joined = pipeline(config, &machine, (config.gpu.prop.queue, pass));
            submit(source, view, machine, joined)
        }
        MergeUnitKind::Qfm(sizes) => {
            let merge = TimedMerge::qfm(&config.qfm, sizes, settings.pattern);
            let joined = pipeline(config, &machine, (config.qfm.queue, merge));
            let mut machine = machine;
            machine.passes_empties = true;
            submit(source, view, machine, joined)
        }
        MergeUnitKind::Pmu(sizes) => {
            let merge = TimedMerge::pmu(&config.pmu, sizes, settings.pattern);
            let joined = pipeline(config, &machine, (config.pmu.queue, merge));
            submit(source, view, machine, joined)
        }
    })
}

/// Submits all grids, as fast as they are taken.
fn submit<U: MergeStage>(
    source: &dyn Source,
    view: &View,
    mut machine: MeshMachine,
    mut pipeline: Pipeline<U>,
) -> TimedOutcome {
    let mut grids = Vec::new();
    let mut at = 0;
    for batch in 0..source.batches() {
        source.grids(batch, view, &mut grids);
        let draw = source.draw(batch);
        for grid in grids.drain(..) {
            at = pipeline.offer(Submitted { draw, grid }, at, &mut machine);
        }
    }
    pipeline.end(at, &mut machine);
    collect(pipeline, machine)
}

/// Names the stages of a chain of links, and what stands at its end.
macro_rules! stages {
    ($chain:expr => $($stage:ident),+; $end:ident) => {
        let next = $chain;
        $(let Link { stage: $stage, next, .. } = next;)+
        let $end = next;
    };
}

/// Takes the pipeline apart for its counters and cycles.
fn collect<U: MergeStage>(mut pipeline: Pipeline<U>, machine: MeshMachine) -> TimedOutcome {
    let run = Collected::of(&mut pipeline);
    stages!(pipeline => grids, _assembly, _setup, _coarse, hi_z, _fine, quads, _prop, zrop; behind);
    stages!(behind => unit, pack, _launch, cores, colour; _retired);
    let merged = unit.counters();
    let hi_z = hi_z.counters;
    let z_cache = zrop.cache().counters.clone();
    TimedOutcome {
        cycles: run.cycles,
        units: run.units,
        grids: grids.counters,
        counters: MergeCounters {
            rasterized: quads.counters.covered + hi_z.hidden_quads,
            culled: zrop.counters.quads.depth_failed + hi_z.hidden_quads,
            ..merged
        },
        quads_shaded: cores.counters.quads,
        warps: pack.counters,
        colour: colour.counters,
        tiles_hidden: hi_z.hidden,
        colour_cache: colour.cache.counters,
        z_cache,
        l2: machine.memory.l2.counters.clone(),
        dram_bytes: machine.memory.dram.bytes(),
        left_over: machine.under_way() as u64,
        depths: machine.depths,
    }
}
