//! The units of the mesh path, each on its own: the contract that all units keep, and times of the
//! merging units worked out by hand.
use arrayvec::ArrayVec;
use std::sync::Arc;

use quadrille::geometry::files::Material;
use quadrille::geometry::grid::Grid;
use quadrille::geometry::grid::GridVertex;
use quadrille::geometry::grid::NO_NEIGHBOUR;
use quadrille::geometry::grid::Topology;
use quadrille::gpu::config::Config;
use quadrille::machine::packets::Beat;
use quadrille::machine::packets::Primitive;
use quadrille::machine::packets::Quad;
use quadrille::machine::packets::RasterTile;
use quadrille::machine::packets::Warp;
use quadrille::machine::rate::Rate;
use quadrille::machine::stage::Link;
use quadrille::machine::stage::Sink;
use quadrille::machine::stage::Stage;
use quadrille::machine::timing::Activity;
use quadrille::machine::timing::Cycle;
use quadrille::machine::timing::StallReason;
use quadrille::machine::unit::Unit;
use quadrille::mesh::frame::Cull;
use quadrille::mesh_pipeline::GridVisibility;
use quadrille::mesh_pipeline::MeshConfig;
use quadrille::mesh_pipeline::colour::Colour;
use quadrille::mesh_pipeline::cores::MeshCores;
use quadrille::mesh_pipeline::draw_state::MeshDrawState;
use quadrille::mesh_pipeline::grids::Grids;
use quadrille::mesh_pipeline::merging::{Passthrough, TimedMergeUnit};
use quadrille::mesh_pipeline::pack::Pack;
use quadrille::mesh_pipeline::quads::Quads;
use quadrille::raster::sample_depth::DepthFragment;
use quadrille::raster::sample_depth::DepthPlane;
use quadrille::raster::sampled::SampledQuad;
use quadrille::raster::sampled::TileSamples;

use crate::support::contract::{Blocks, Contract, FIRST, Trail, activities};
use crate::support::gpu::Collector;
use crate::support::mesh::{pattern, settings, view};

/// Number of items that each unit receives.
const ITEMS: u32 = 48;
/// All samples of a quad, at four per pixel.
const FULL: u64 = 0xffff;

/// A triangle in front of the view, the `n`th from the left.
fn triangle(n: u32) -> [GridVertex; 3] {
    let x = n as f32 * 0.05 - 1.2;
    let at = |x: f32, y: f32| GridVertex { position: [x, y, 2.0], ..GridVertex::default() };
    [at(x, 0.0), at(x, 0.04), at(x + 0.04, 0.04)]
}

/// Triangles of which no two share an edge.
fn grid(triangles: std::ops::Range<u32>) -> Grid {
    let count = triangles.len() as u16;
    Grid {
        material: 0,
        ids: (3 * triangles.start..3 * triangles.end).collect(),
        vertices: triangles.flat_map(triangle).collect(),
        colours: Vec::new(),
        second_uvs: Vec::new(),
        topology: Arc::new(Topology {
            triangles: (0..count).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect(),
            neighbours: vec![[NO_NEIGHBOUR; 3]; usize::from(count)],
        }),
    }
}

/// A state whose current grid has [`ITEMS`] triangles.
fn new_state() -> MeshDrawState {
    let settings = settings(pattern(4), Cull::Quads);
    let materials = [Material { two_sided: true, ..Material::default() }];
    let mut state = MeshDrawState::new(&materials, &[], &view(), &settings, &Config::default());
    let visibility = state.take(0, &grid(0..ITEMS), &mut Vec::new());
    assert_eq!(visibility, GridVisibility::Visible);
    state
}

/// The screen tile of item `n`; there are ten tiles per row.
fn tile_of(n: u32) -> u32 {
    n % 16
}

fn quad_position(state: &MeshDrawState, n: u32, position: u8) -> [u16; 2] {
    state.depths.position(tile_of(n) * 64 + u32::from(position))
}

/// A state with one full and three partially covered quads of each triangle.
fn with_fragments() -> MeshDrawState {
    let mut state = new_state();
    for n in 0..ITEMS {
        for position in 0..4_u8 {
            let at = quad_position(&state, n, position);
            let coverage = if position == 0 { FULL } else { 1 << (n / 16) };
            state.fragment(n, at, coverage, 0);
        }
    }
    state
}

/// The quads of triangle `n`.
fn beat(n: u32) -> Beat {
    let quads = (0..4_u8).map(|position| Quad {
        primitive: 4 * n + u32::from(position),
        position,
        mask: if position == 0 { 15 } else { 1 },
    });
    Beat { tile: tile_of(n), quads: quads.collect(), pairs: 0, last: false }
}

fn of_beat(beat: &Beat) -> Trail {
    let of = |q: &Quad| (beat.tile * 64 + u32::from(q.position), q.primitive / 4);
    beat.quads.iter().map(of).collect()
}

fn of_quad(quad: &Quad, state: &MeshDrawState) -> Trail {
    let record = state.record_of(quad);
    let parts = record.parts.iter();
    parts.map(|&(owner, _)| (record.index, owner)).collect()
}

fn items<T>(item: impl FnMut(u32) -> T) -> Vec<T> {
    (0..ITEMS).map(item).collect()
}

/// A merging unit, or none.
trait MergingUnit: Unit + Stage<MeshDrawState, In = Beat, Out = Quad> {}
impl<U: Unit + Stage<MeshDrawState, In = Beat, Out = Quad>> MergingUnit for U {}

/// Checks the contract of a merging unit with a pipeline of `latency` cycles.
fn merging<U: MergingUnit + 'static>(unit: fn() -> U, latency: u64) {
    Contract::<MeshDrawState, U> {
        machine: Box::new(with_fragments),
        unit: Box::new(unit),
        items: items(beat),
        trail_in: of_beat,
        trail_out: Box::new(of_quad),
        gone: |_| 0,
        latency,
        blocks: Blocks::Through,
    }
    .check();
}

#[test]
fn no_merging() {
    merging(|| Passthrough::new(Rate::new(4, 1)), 0);
}

/// At most three entries wait at a position, but more than 32 in all, so the oldest leave.
#[test]
fn quad_fragment_merging() {
    merging(
        || {
            let spec = MeshConfig::default().qfm;
            TimedMergeUnit::qfm(&spec, spec.settings(), pattern(4))
        },
        4,
    );
}

#[test]
fn pixel_merging() {
    merging(
        || {
            let mut spec = MeshConfig::default().pmu;
            spec.entries = 16;
            TimedMergeUnit::pmu(&spec, spec.settings(), pattern(4))
        },
        4,
    );
}

/// Two triangles per raster tile, each with two quads that have samples and one that has none.
#[test]
fn raster_tiles_to_quads() {
    Contract::<MeshDrawState, Quads> {
        machine: Box::new(new_state),
        unit: Box::new(|| Quads::new(&MeshConfig::default().quads)),
        items: items(|n| {
            let mut samples = TileSamples { touched: 0b10_0110, ..TileSamples::default() };
            for at in [1, 5] {
                samples.quads[at] = SampledQuad { coverage: 3, centres: 0 };
            }
            RasterTile { primitive: n, tile: tile_of(n), quarter: 3, mask: 0, samples }
        }),
        // Quarter 3 begins in row 4 and column 4.
        trail_in: |t| [4 * 8 + 5, 5 * 8 + 5].map(|p| (t.tile * 64 + p, t.primitive)).to_vec(),
        trail_out: Box::new(|beat: &Beat, state| {
            let of = |q: &Quad| {
                let fragment = state.fragment_of(q);
                let index = state.depths.index(fragment.quad.position);
                assert_eq!(index, beat.tile * 64 + u32::from(q.position));
                (index, fragment.owner)
            };
            beat.quads.iter().map(of).collect()
        }),
        gone: |_| 0,
        latency: 1,
        blocks: Blocks::Through,
    }
    .check();
}

/// Quads behind the merging unit: number `k` is of owner `k`, in draws of 20.
fn with_quads(count: u32) -> MeshDrawState {
    let mut state = new_state();
    for k in 0..count {
        let index = state.depths.index(quad_position(&state, k / 8, (k % 8) as u8));
        state.shader_quad(index, k / 20, vec![(k, FULL)]);
    }
    state
}

fn quad(k: u32) -> Quad {
    Quad { primitive: k, position: (k % 8) as u8, mask: 15 }
}

fn warp(n: u32) -> Warp {
    let quads: Vec<_> = (0..8).map(|i| quad(8 * n + i)).collect();
    Warp { tile: tile_of(n), quads: quads.into_iter().collect(), merge: 0, begins_flush: false }
}

fn of_warp(warp: &Warp) -> Trail {
    warp.quads.iter().map(|q| (0, q.primitive)).collect()
}

/// A quad passes the port in the cycle in which the frame ends, and its warp arrives after a latency of 1.
#[test]
fn packing() {
    Contract::<MeshDrawState, Pack> {
        machine: Box::new(|| with_quads(ITEMS)),
        unit: Box::new(|| {
            let gpu = MeshConfig::default().gpu;
            Pack::new(&gpu.pack, gpu.prop.quads_out_per_cycle)
        }),
        items: items(quad),
        trail_in: |q| vec![(0, q.primitive)],
        trail_out: Box::new(|warp, state| {
            let draw = |q: &Quad| state.record_of(q).draw;
            let first = draw(&warp.quads[0]);
            assert!(warp.quads.iter().all(|q| draw(q) == first), "draws mixed");
            of_warp(warp)
        }),
        gone: |_| 0,
        latency: 1,
        blocks: Blocks::Through,
    }
    .check();
}

/// Two slots, as many as the queue before the unit has entries.
#[test]
fn shading() {
    Contract::<MeshDrawState, MeshCores> {
        machine: Box::new(|| with_quads(8 * ITEMS)),
        unit: Box::new(|| {
            let mut config = MeshConfig::default();
            config.gpu.cores.cores = 1;
            config.gpu.cores.warps_per_core = 2;
            config.pixel_shader.instructions = 3;
            config.pixel_shader.latency_cycles = 9;
            MeshCores::new(&config.gpu.cores, &config.pixel_shader)
        }),
        items: items(warp),
        trail_in: of_warp,
        trail_out: Box::new(|w, _| of_warp(w)),
        gone: |_| 0,
        latency: 9,
        blocks: Blocks::Through,
    }
    .check();
}

/// Eight quads of 64 bytes, one per cycle: the last begins in the eighth and takes two cycles. Every
/// second warp from the seventeenth on is too late, since a position shows its last owner.
#[test]
fn writing() {
    let shown = || {
        let mut state = with_quads(8 * ITEMS);
        for k in (0..8 * ITEMS).filter(|k| k / 8 < 16 || k / 8 % 2 == 1) {
            let fragment = DepthFragment {
                corner: [0, 0],
                coverage: FULL,
                plane: DepthPlane {
                    origin: [0, 0],
                    depth: if k / 8 < 16 { 0.5 } else { 0.75 },
                    slope: [0.0; 2],
                },
                owner: k,
            };
            let position = quad_position(&state, k / 8, (k % 8) as u8);
            state.depths.test(position, &fragment, u64::MAX);
        }
        state
    };
    Contract::<MeshDrawState, Colour> {
        machine: Box::new(shown),
        unit: Box::new(move || {
            Colour::new(&MeshConfig::default().gpu.crop, shown().colour_lines())
        }),
        items: items(warp),
        trail_in: of_warp,
        trail_out: Box::new(|(), _| Vec::new()),
        gone: |u| {
            let counters = &u.counters;
            assert_eq!(counters.samples, 16 * counters.quads);
            assert_eq!(counters.sectors, 2 * counters.quads);
            counters.quads + counters.quads_hidden
        },
        latency: 7 + 2,
        blocks: Blocks::Never,
    }
    .check();
}

/// Three vertices, the test of the grid, then 64 cycles of shading.
#[test]
fn tessellation() {
    let submitted = |n: u32| (0, grid(n..n + 1));
    Contract::<MeshDrawState, Grids> {
        machine: Box::new(new_state),
        unit: Box::new(|| Grids::new(&MeshConfig::default().grids)),
        items: items(submitted),
        trail_in: |(_, grid)| vec![(0, grid.ids[0])],
        trail_out: Box::new(|primitive: &Primitive, state| {
            let mut triangles = Vec::new();
            let of = |n: u32, triangles: &mut Vec<Primitive>| {
                triangles.clear();
                // Projects again: primitives differ only in the shapes of their triangles.
                let mut fresh = MeshDrawState::new(
                    &[Material::default()],
                    &[],
                    &view(),
                    &state.settings,
                    &Config::default(),
                );
                fresh.take(0, &grid(n..n + 1), triangles);
                format!("{:?}", triangles.first().map(|t| t.shape))
            };
            let shape = format!("{:?}", Some(primitive.shape));
            let n = (0..ITEMS).find(|&n| of(n, &mut triangles) == shape);
            vec![(0, 3 * n.unwrap())]
        }),
        gone: |_| 0,
        latency: 3 + 1 + 64,
        blocks: Blocks::Through,
    }
    .check();
}

/// Sends fragments, given by triangle, column and coverage, through a unit in one beat; returns the
/// cycles in which quads leave, and the port's activity.
fn times<U: MergingUnit>(unit: U, quads: &[(u32, u16, u64)]) -> (Vec<Cycle>, Activity) {
    let mut state = new_state();
    let mut beat = Beat { tile: 0, quads: ArrayVec::new(), pairs: 0, last: false };
    for &(triangle, column, coverage) in quads {
        beat.quads.push(Quad {
            primitive: state.fragment(triangle, [column, 0], coverage, 0),
            position: column as u8,
            mask: state.pattern().covered_pixels(coverage),
        });
    }
    let mut link = Link::new(1, unit, Collector::new(0));
    let entered = link.offer(beat, FIRST, &mut state);
    link.end(entered, &mut state);
    let times = <Collector<Quad>>::times(&link.next);
    let times = times.iter().map(|at| at - FIRST).collect();
    (times, activities(&mut link.stage).remove(0))
}

fn idle(activity: &Activity, reason: StallReason) -> u64 {
    activity.idle[reason as usize]
}

/// Two entries. Look-ups at 0 and 1; each later quad waits a cycle for the oldest entry to leave:
/// look-ups at 3, 5 and 7, whose entries arrive 4 cycles later. Then two entries are flushed, from 8
/// on.
#[test]
fn a_full_merge_buffer_stalls() {
    let mut spec = MeshConfig::default().qfm;
    spec.entries = 2;
    let quads: Vec<_> = (0..5_u16).map(|k| (u32::from(k), k, 1)).collect();
    let unit = TimedMergeUnit::qfm(&spec, spec.settings(), pattern(4));
    let (offered, activity) = times(unit, &quads);
    assert_eq!(offered, [7, 9, 11, 12, 13]);
    assert_eq!(idle(&activity, StallReason::Full), 3);
    assert_eq!(activity.busy, 5 + 2);
}

/// Eight quads without neighbours: with one look-up per cycle they leave from 8 on, with two from 4 on and
/// with four from 2 on, always one per cycle and four cycles later at the next stage.
#[test]
fn several_look_ups_share_a_cycle() {
    for ports in [1, 2, 4] {
        let quads: Vec<_> = (0..8_u16).map(|k| (u32::from(k), k, 1)).collect();
        let expected: Vec<_> = (0..8).map(|k| 8 / ports + k + 4).collect();
        let (mut qfm, mut pmu) = (MeshConfig::default().qfm, MeshConfig::default().pmu);
        (qfm.quads_per_cycle, pmu.quads_per_cycle) = (ports, ports);
        let unit = TimedMergeUnit::qfm(&qfm, qfm.settings(), pattern(4));
        assert_eq!(times(unit, &quads).0, expected, "{ports}");
        let unit = TimedMergeUnit::pmu(&pmu, pmu.settings(), pattern(4));
        assert_eq!(times(unit, &quads).0, expected, "{ports}");
    }
}

/// A look-up waits for the write of the previous one at its position, three cycles after that
/// look-up: look-ups at 0, 3 and, at another position, 4. Three entries are flushed from 5 on.
#[test]
fn a_fragment_waits_for_the_one_at_its_position() {
    let mut spec = MeshConfig::default().qfm;
    spec.compare_cycles = 3;
    let unit = TimedMergeUnit::qfm(&spec, spec.settings(), pattern(4));
    let (offered, activity) = times(unit, &[(0, 0, 1), (1, 0, 2), (2, 1, 1)]);
    assert_eq!(offered, [9, 10, 11]);
    assert_eq!(idle(&activity, StallReason::Contended), 2);
    assert_eq!(activity.busy, 3 + 3);
}

/// The same times as for the merge buffer.
#[test]
fn a_full_pixel_merge_unit_stalls() {
    let mut spec = MeshConfig::default().pmu;
    spec.entries = 2;
    let quads: Vec<_> = (0..5_u16).map(|k| (u32::from(k), k, 1)).collect();
    let unit = TimedMergeUnit::pmu(&spec, spec.settings(), pattern(4));
    let (offered, activity) = times(unit, &quads);
    assert_eq!(offered, [7, 9, 11, 12, 13]);
    assert_eq!(idle(&activity, StallReason::Full), 3);
}

/// Three quads at a position, two cycles per comparison: look-ups at 0, 1 and 3, the last of which
/// takes four cycles. At 7 a quad covers all of them: comparisons take six cycles, in the first three
/// of which they leave, followed by the quad. Nothing is left to flush.
#[test]
fn comparisons_and_overlaps_take_their_time() {
    let mut spec = MeshConfig::default().pmu;
    spec.compare_cycles = 2;
    let unit = TimedMergeUnit::pmu(&spec, spec.settings(), pattern(4));
    let (offered, activity) = times(unit, &[(0, 0, 1), (1, 0, 2), (2, 0, 4), (3, 0, FULL)]);
    assert_eq!(offered, [11, 12, 13, 14]);
    assert_eq!(activity.busy, 1 + 2 + 4 + 6);
}

/// Before the first quad of another grid the buffer is emptied, one entry per cycle: 8 entries.
#[test]
fn a_flush_takes_a_cycle_per_entry() {
    let spec = MeshConfig::default().qfm;
    let mut state = new_state();
    let mut link =
        Link::new(4, TimedMergeUnit::qfm(&spec, spec.settings(), pattern(4)), Collector::new(0));
    let send = |state: &mut MeshDrawState, columns: std::ops::Range<u16>, coverage: u64| {
        let mut quads = ArrayVec::new();
        for column in columns {
            quads.push(Quad {
                primitive: state.fragment(0, [column, 0], coverage, 0),
                position: column as u8,
                mask: state.pattern().covered_pixels(coverage),
            });
        }
        Beat { tile: 0, quads, pairs: 0, last: false }
    };
    let first = send(&mut state, 0..8, 1);
    link.offer(first, FIRST, &mut state);
    state.take(0, &grid(0..1), &mut Vec::new());
    let second = send(&mut state, 0..1, FULL);
    link.offer(second, FIRST + 1, &mut state);
    // Eight look-ups, eight entries that leave, then the quad.
    let times: Vec<_> = <Collector<Quad>>::times(&link.next);
    let expected: Vec<_> = (8..=16).map(|at| FIRST + at + 4).collect();
    assert_eq!(times, expected);
    let done = link.stage.drain(FIRST, &mut state, &mut link.next);
    assert_eq!(done, FIRST + 16 + 4);
}
