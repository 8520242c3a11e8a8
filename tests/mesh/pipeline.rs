//! The mesh path in cycles against the frame without time: the same counts and the same owner of
//! every sample, whatever the sizes of queues.
use quadrille::Task;
use quadrille::geometry::grid::GridSource;
use quadrille::gpu::config::Config;
use quadrille::machine::collect::UnitCycles;
use quadrille::machine::rate::Rate;
use quadrille::mesh::frame::Cull;
use quadrille::mesh::frame::FrameSettings;
use quadrille::mesh::frame::VisibleFrame;
use quadrille::mesh::merge::MergeUnitKind;
use quadrille::mesh::merge::PmuSettings;
use quadrille::mesh::merge::QfmSettings;
use quadrille::mesh::result::MeshResult;
use quadrille::mesh_pipeline;
use quadrille::mesh_pipeline::MeshConfig;
use quadrille::mesh_pipeline::TimedMeshResult;
use quadrille::raster::sample_depth::NO_OWNER;
use quadrille::raster::samples::SamplePattern;

use crate::support::mesh::{crossing, cubes, pattern, settings, view, waves};

fn qfm(entries: Option<u32>) -> MergeUnitKind {
    MergeUnitKind::Qfm(QfmSettings { entries, ..QfmSettings::default() })
}

fn pmu(entries: u32) -> MergeUnitKind {
    MergeUnitKind::Pmu(PmuSettings { entries, ..PmuSettings::default() })
}

/// Every unit, fewer entries first.
fn units() -> [MergeUnitKind; 6] {
    [MergeUnitKind::None, qfm(Some(4)), qfm(Some(32)), qfm(None), pmu(16), pmu(512)]
}

fn run(
    source: &dyn GridSource,
    settings: &FrameSettings,
    config: &MeshConfig,
    unit: MergeUnitKind,
) -> TimedMeshResult {
    let outcome =
        mesh_pipeline::run(source, &view(), settings, config, unit, &Task::NEVER).unwrap();
    assert_eq!(outcome.discrepancies(), <[String; 0]>::default());
    outcome
}

/// The triangle that each sample of each quad shows in a frame, counted as the pipeline counts them.
fn owners(visible: &VisibleFrame) -> Vec<([u16; 2], Vec<u32>)> {
    let mut firsts = vec![0];
    for chunk in &visible.chunks {
        firsts.push(firsts.last().unwrap() + chunk.planes.len());
    }
    let triangle = |owner: u32| {
        if owner == NO_OWNER {
            return NO_OWNER;
        }
        let (found, quad) = visible.find(owner);
        let chunk = &visible.chunks[found];
        let span = &chunk.grids[chunk.grid_of(quad)];
        let of_grid = usize::from(chunk.quads[quad as usize].triangle);
        (firsts[found] + span.first_plane as usize + of_grid) as u32
    };
    let per_quad = 4 * visible.settings.pattern.count() as usize;
    let mut quads = Vec::new();
    for bin in &visible.bins {
        for quad in &bin.quads {
            let samples = &bin.samples[quad.first as usize..][..per_quad];
            quads.push((quad.position, samples.iter().map(|&o| triangle(o)).collect()));
        }
    }
    quads.sort();
    quads
}

fn timed_owners(outcome: &TimedMeshResult, settings: &FrameSettings) -> Vec<([u16; 2], Vec<u32>)> {
    let count = settings.pattern.count() as usize;
    let picture = settings.shading_area();
    let [across, down] = [picture.x1, picture.y1].map(|c| (c.unsigned_abs() as u16).div_ceil(2));
    let mut quads = Vec::new();
    for position in (0..across).flat_map(|x| (0..down).map(move |y| [x, y])) {
        let quad = outcome.depths.quad(position);
        let samples: Vec<_> = quad.owners.iter().flat_map(|c| &c[..count]).collect();
        if samples.iter().any(|&&o| o != NO_OWNER) {
            quads.push((position, samples.into_iter().copied().collect()));
        }
    }
    quads.sort();
    quads
}

/// One scene with one pattern, through every unit, against the frame.
fn agrees(source: &dyn GridSource, settings: &FrameSettings, what: &str) {
    let visible =
        VisibleFrame::new(source, [&view(), &view()], settings, &quadrille::Task::NEVER).unwrap();
    let expected_owners = owners(&visible);
    assert!(!expected_owners.is_empty(), "{what}: nothing is seen");
    let mut shaded = Vec::new();
    for unit in units() {
        let shading = visible.merged(source, unit);
        let expected = MeshResult::of(&visible, &shading);
        let timed = run(source, settings, &MeshConfig::default(), unit);
        let what = format!("{what}, {unit:?}");
        let counters = |c| format!("{c:?}");
        assert_eq!(counters(&timed.counters), counters(&expected.merging), "{what}");
        assert_eq!(timed.quads_shaded, expected.quads_shaded, "{what}");
        let grids = (timed.grids.grids, timed.grids.visible, timed.grids.vertices);
        let frame = (expected.grids, expected.grids_visible, expected.vertices);
        assert_eq!(grids, frame, "{what}");
        assert!(timed_owners(&timed, settings) == expected_owners, "{what}");
        // What shows in the end has been written, whichever quads it was part of.
        let shows: u64 = expected_owners
            .iter()
            .map(|(_, samples)| samples.iter().filter(|&&o| o != NO_OWNER).count() as u64)
            .sum();
        assert!(timed.colour.samples >= shows, "{what}: samples are missing");
        shaded.push(timed.quads_shaded);
    }
    for pair in [[0, 1], [1, 2], [2, 3], [0, 4], [4, 5]] {
        let [fewer, more] = pair.map(|k| shaded[k]);
        assert!(more <= fewer, "{what}: more entries shade more: {shaded:?}");
    }
}

fn all_patterns(source: &dyn GridSource, name: &str) {
    for cull in [Cull::Quads, Cull::Grids] {
        for samples in [1, 4, 16] {
            let what = format!("{name}, {samples} samples, {cull:?}");
            agrees(source, &settings(pattern(samples), cull), &what);
        }
        let coarse: &SamplePattern = Box::leak(Box::new(SamplePattern::coarse(4).unwrap()));
        agrees(source, &settings(coarse, cull), &format!("{name}, coarse"));
    }
}

#[test]
fn micropolygons_come_out_as_in_the_frame() {
    all_patterns(&*cubes(), "cubes");
}

#[test]
fn large_triangles_come_out_as_in_the_frame() {
    all_patterns(&*crossing(), "crossing");
}

#[test]
fn draws_and_barred_materials_come_out_as_in_the_frame() {
    all_patterns(&*waves(), "waves");
}

/// Queues, rates and caches change the cycles and nothing else.
#[test]
fn sizes_change_cycles_alone() {
    let source = waves();
    let settings = settings(pattern(4), Cull::Quads);
    let with = |assignments: &[&str]| {
        let mut gpu = Config::default();
        for assignment in assignments {
            gpu = gpu.with(assignment).unwrap();
        }
        MeshConfig { gpu, ..MeshConfig::default() }
    };
    let mut narrow = with(&[
        "setup.queue=1",
        "zrop.queue=1",
        "zrop.wait_queue=1",
        "zrop.cache_bytes=256",
        "cores.cores=1",
        "cores.warps_per_core=2",
        "crop.queue=1",
        "crop.cache_bytes=256",
        "crop.bytes_per_cycle=4",
    ]);
    narrow.qfm.queue = 1;
    narrow.qfm.compare_cycles = 3;
    narrow.pmu.queue = 1;
    narrow.pmu.compare_cycles = 3;
    narrow.gpu.pack.queue = 1;
    narrow.grids.grids = 1;
    let mut wide = MeshConfig::default();
    wide.qfm.quads_per_cycle = 4;
    wide.pmu.quads_per_cycle = 4;
    wide.grids.vertices_per_cycle = 16;
    for unit in units() {
        let [usual, again, narrow, wide] =
            [&MeshConfig::default(), &MeshConfig::default(), &narrow, &wide]
                .map(|config| run(&*source, &settings, config, unit));
        assert_eq!(usual.cycles, again.cycles, "not the same twice");
        assert_eq!(format!("{:?}", usual.units), format!("{:?}", again.units));
        assert!(narrow.cycles > usual.cycles, "{unit:?}");
        assert!(wide.cycles <= usual.cycles, "{unit:?}");
        for other in [&narrow, &wide] {
            let count = |o: &TimedMeshResult| format!("{:?} {:?}", o.counters, o.colour);
            assert_eq!(count(other), count(&usual), "{unit:?}");
        }
    }
}

/// Every possible outcome of a quad occurs in the scenes.
#[test]
fn scenes_exercise_every_way_out() {
    let settings = settings(pattern(4), Cull::Quads);
    let config = MeshConfig::default();
    let cubes = run(&*cubes(), &settings, &config, qfm(Some(4)));
    assert!(cubes.grids.hidden > 0 && cubes.counters.culled > 0);
    let counters = cubes.counters.qfm.unwrap();
    assert!(counters.evicted > 0 && counters.flushed > 0 && counters.merged > 0);
    let waves = run(&*waves(), &settings, &config, pmu(16));
    assert!(waves.tiles_hidden > 0 && waves.counters.barred > 0);
    assert!(waves.colour.quads_hidden > 0 && waves.colour.samples_hidden > 0);
    let counters = waves.counters.pmu.unwrap();
    assert!(counters.by_overlap > 0 && counters.by_age > 0 && counters.saved > 0);
}

/// Several GPCs draw the same picture in fewer cycles. Each has a merging unit of its own, which sees
/// the quads of its screen tiles alone and so holds them longer: no more quads are shaded.
#[test]
fn several_gpcs_draw_the_same_picture_sooner() {
    let settings = settings(pattern(4), Cull::Quads);
    for (source, name) in [(waves(), "waves"), (cubes(), "cubes")] {
        for unit in [MergeUnitKind::None, qfm(Some(32)), pmu(512)] {
            let of = |gpcs: u64| {
                let mut config = MeshConfig::default();
                config.gpu.gpu.gpcs = gpcs;
                run(&*source, &settings, &config, unit)
            };
            let one = of(1);
            let owners = timed_owners(&one, &settings);
            for gpcs in [2, 3, 8] {
                let several = of(gpcs);
                let what = format!("{name}, {unit:?}, {gpcs} GPCs");
                println!("{what}: {} cycles of {}", several.cycles, one.cycles);
                assert!(timed_owners(&several, &settings) == owners, "{what}");
                assert!(several.cycles < one.cycles, "{what}");
                assert!(several.quads_shaded <= one.quads_shaded, "{what}");
                let quads = |o: &TimedMeshResult| (o.counters.rasterized, o.counters.culled);
                assert_eq!(quads(&several), quads(&one), "{what}");
                assert_eq!(several.grids, one.grids, "{what}");
                let cores = several.units.iter().find(|u| u.name == "crop");
                assert_eq!(cores.map(|u| u.instances), Some(gpcs), "{what}");
            }
        }
    }
}

/// The unit that is made slow limits the frame, and not one ahead of it whose storage fills up or whose output
/// is held. The port of the triangles, one per cycle, is busy for as many cycles as triangles pass.
#[test]
fn the_limiting_unit_is_the_one_that_was_made_slow() {
    let source = waves();
    let settings = settings(pattern(4), Cull::Quads);
    type Change = fn(&mut MeshConfig);
    let cases: [(&str, MergeUnitKind, Change); 5] = [
        ("pmu", pmu(512), |c| c.pmu.compare_cycles = 20),
        ("qfm", qfm(Some(32)), |c| c.qfm.compare_cycles = 20),
        ("grids", pmu(512), |c| c.grids.test_cycles = 5000),
        ("setup", pmu(512), |c| {
            c.gpu = c.gpu.with("setup.primitives_per_cycle=1/50").unwrap();
        }),
        ("cores", pmu(512), |c| {
            c.gpu.cores.cores = 1;
            c.gpu.cores.schedulers = 1;
            c.pixel_shader.instructions = 100_000;
        }),
    ];
    for (name, unit, change) in cases {
        let mut config = MeshConfig::default();
        change(&mut config);
        let result = run(&*source, &settings, &config, unit);
        let limiting = UnitCycles::names(&UnitCycles::limiting(&result.units));
        assert_eq!(limiting.as_deref(), Some(name));
        let triangles = result.units.iter().find(|u| u.name == "triangles").unwrap();
        assert_eq!(triangles.busy, triangles.moved, "{name}");
        assert_eq!(triangles.moved, result.grids.triangles_out, "{name}");
    }
}

/// Cycles without work of a unit for a reason, of waves merged by pixels.
fn idle(unit: &str, reason: &str, change: impl Fn(&mut MeshConfig)) -> u64 {
    let mut config = MeshConfig::default();
    change(&mut config);
    let settings = settings(pattern(4), Cull::Quads);
    let result = run(&*waves(), &settings, &config, pmu(512));
    let unit = result.units.iter().find(|u| u.name == unit).unwrap();
    let idle = unit.idle.iter().find(|(name, _)| name == reason);
    idle.map_or(0, |(_, cycles)| *cycles)
}

/// Grids wait for a place either because the output is held up, or because too few grids are kept to hide the
/// latency of vertex shading. Only the latter is a full storage.
#[test]
fn grids_are_held_up_or_too_few_are_kept() {
    let reasons = ["full", "blocked by triangles"];
    let slow_unit = |c: &mut MeshConfig| c.pmu.compare_cycles = 20;
    let [full, blocked] = reasons.map(|r| idle("grids", r, slow_unit));
    assert!(blocked > 10 * full, "{blocked} blocked, {full} full");
    let slow_vertices = |c: &mut MeshConfig| {
        c.grids.grids = 1;
        c.grids.latency_cycles = 10_000;
    };
    let [full, blocked] = reasons.map(|r| idle("grids", r, slow_vertices));
    assert!(full > 10 * blocked, "{full} full, {blocked} blocked");
}

/// One grid at a time: its triangles wait for vertex shading, unless the unit behind them has no room for that long.
#[test]
fn triangles_wait_for_room_before_they_wait_for_vertices() {
    let one_by_one = |c: &mut MeshConfig| {
        c.grids.grids = 1;
        c.grids.latency_cycles = 500;
    };
    let missed = idle("triangles", "miss", one_by_one);
    let held_up = idle("triangles", "miss", |c| {
        one_by_one(c);
        c.gpu.vpo.primitives_per_cycle = Rate::new(1, 1000);
    });
    // The first grid alone finds room.
    assert!(missed > 5 * 500 && held_up == 500, "{missed} {held_up}");
}
