//! Static wiring of all units of the mesh path, and runs over a scene.

use super::colour::Colour;
use super::config::MeshConfig;
use super::cores::MeshCores;
use super::depth::DepthBuffer;
use super::draw_state::MeshDrawState;
use super::grids::Grids;
use super::merging::{Passthrough, TimedMergeUnit};
use super::pack::Pack;
use super::quads::Quads;
use super::result::TimedMeshResult;
use quadrille_base::{Result, Task};
use quadrille_geometry::camera::MeshCamera;
use quadrille_geometry::grid::{GridSource, draw_runs};
use quadrille_gpu::geometry::assembly::Assembly;
use quadrille_gpu::geometry::crossbar::Crossbar;
use quadrille_gpu::geometry::distributor::{Distributor, GeometryUnits};
use quadrille_gpu::raster::coarse::Coarse;
use quadrille_gpu::raster::fine::Fine;
use quadrille_gpu::raster::hi_z::HiZ;
use quadrille_gpu::raster::setup::Setup;
use quadrille_gpu::warp::launch::Launch;
use quadrille_gpu::zrop::prop::Prop;
use quadrille_gpu::zrop::unit::Zrop;
use quadrille_machine::{Beat, Quad, Retired, Sink, Stage, Unit, chain};
use quadrille_mesh::frame::FrameSettings;
use quadrille_mesh::merge::MergeUnitKind;

/// Simulates a frame of a scene in cycles, with a merging unit of the kind and sizes of `unit`. An error means a field of
/// `config` that does not fit, or a cancelled `task`.
pub fn run(
    source: &dyn GridSource,
    view: &MeshCamera,
    settings: &FrameSettings,
    config: &MeshConfig,
    unit: MergeUnitKind,
    task: &Task,
) -> Result<TimedMeshResult> {
    run_after(None, source, view, settings, config, unit, task)
}

/// As [`run`], after a draw that has left `depths`, which the first test of each sample fetches. All caches are empty.
pub fn run_after(
    depths: Option<DepthBuffer>,
    source: &dyn GridSource,
    view: &MeshCamera,
    settings: &FrameSettings,
    config: &MeshConfig,
    unit: MergeUnitKind,
    task: &Task,
) -> Result<TimedMeshResult> {
    let mut config = config.clone();
    config.validate()?;
    config.gpu.gpu.check_graphics()?;
    let (materials, textures) = (source.materials(), source.textures());
    let mut state = MeshDrawState::new(materials, textures, view, settings, &config.gpu);
    state.task = task.clone();
    if let Some(depths) = depths {
        (state.depths, config.gpu.zrop.fast_clear) = (depths, false);
    }
    state.passes_empties = unit.build().rules().takes_empties;
    let pattern = settings.pattern;
    let result = match unit {
        MergeUnitKind::None => {
            let unit = || Passthrough::new(config.gpu.prop.quads_out_per_cycle);
            run_with(source, state, &config, config.gpu.prop.queue, unit)
        }
        MergeUnitKind::Qfm(sizes) => {
            let unit = || TimedMergeUnit::qfm(&config.qfm, sizes, pattern);
            run_with(source, state, &config, config.qfm.queue, unit)
        }
        MergeUnitKind::Pmu(sizes) => {
            let unit = || TimedMergeUnit::pmu(&config.pmu, sizes, pattern);
            run_with(source, state, &config, config.pmu.queue, unit)
        }
    };
    task.check()?;
    Ok(result)
}

/// Connects the units of every GPC, each with a merging unit behind a queue of `depth` beats, and submits all grids as fast
/// as the pipeline accepts them. Grids after a cancellation are skipped.
fn run_with<U>(
    source: &dyn GridSource,
    mut state: MeshDrawState,
    config: &MeshConfig,
    depth: u64,
    unit: impl Fn() -> U,
) -> TimedMeshResult
where
    U: Stage<MeshDrawState, In = Beat, Out = Quad> + Unit,
{
    let gpu = &config.gpu;
    let map = gpu.gpu.tile_map();
    let geometry = map.owners().map(|owner| {
        let grids = Grids::new(&config.grids).in_gpc(owner.gpc as usize);
        GeometryUnits::new(config.grids.queue, grids, gpu.vpo.queue, Assembly::new(&gpu.vpo))
    });
    let (depth_lines, colour_lines) = (state.depth_lines(), state.colour_lines());
    let gpcs = map.owners().map(|owner| {
        let gpc = owner.gpc as usize;
        let cores = MeshCores::new(&gpu.cores, &config.pixel_shader).in_gpc(gpc);
        chain! {
            gpu.setup.queue => Setup::new(&gpu.setup),
            gpu.coarse.queue => Coarse::new(&gpu.coarse, owner),
            gpu.hi_z.queue => HiZ::new(&gpu.hi_z),
            gpu.fine.queue => Fine::new(&gpu.fine),
            config.quads.queue => Quads::new(&config.quads),
            gpu.prop.queue => Prop::new(&gpu.prop),
            gpu.zrop.queue => Zrop::new(&gpu.zrop, false, gpc, depth_lines.clone()),
            depth => unit(),
            gpu.pack.queue => Pack::new(&gpu.pack, gpu.prop.quads_out_per_cycle),
            gpu.launch.queue => Launch::new(&gpu.launch),
            gpu.cores.slots() => cores,
            gpu.crop.queue => Colour::new(&gpu.crop, colour_lines.clone()),
            Retired::default()
        }
    });
    let crossbar = Crossbar::new(&gpu.crossbar, map, gpcs);
    // The distributor deals single grids as batches.
    let mut pipeline = Distributor::new(&gpu.distributor, 1, geometry, crossbar);
    let (view, task) = (state.view.clone(), state.task.clone());
    let mut at = 0;
    let steps = task.steps(source.batches() as u64);
    for batch in draw_runs(source).into_iter().flat_map(|run| run.batches) {
        let draw = source.draw(batch);
        let visited = source.visit_grids(batch, &view, &task, &mut |grid| {
            at = pipeline.offer((draw, grid), at, &mut state);
            task.flow()
        });
        if visited.is_break() || steps.advance(1).is_err() {
            break;
        }
    }
    pipeline.end(at, &mut state);
    TimedMeshResult::collect(&mut pipeline, state)
}
