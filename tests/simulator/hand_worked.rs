//! Units of the emulated wiring, worked by hand: each case's arithmetic stands beside it.
use nalgebra::Vector3;
use quadrille::ColourFormat;
use quadrille::Simulation;
use quadrille::StencilOperation;
use quadrille::StencilTest;
use quadrille::gpu::coalesce::bins::Flushes;
use quadrille::gpu::coalesce::flush_policy::Evict;
use quadrille::gpu::coalesce::quad_reorder::QuadReorder;
use quadrille::gpu::coalesce::tile_coalescing::TileCoalescing;
use quadrille::gpu::config::Config;
use quadrille::gpu::crop::unit::Crop;
use quadrille::gpu::draw::Draw;
use quadrille::gpu::draw_state::DrawState;
use quadrille::gpu::raster::setup::Setup;
use quadrille::gpu::result::SimulationResult;
use quadrille::gpu::variant::Variant;
use quadrille::gpu::wiring::Simulator;
use quadrille::gpu::wiring::Watch;
use quadrille::gpu::zrop::framebuffer::Tests;
use quadrille::gpu::zrop::termination::Feedback;
use quadrille::gpu::zrop::termination::Termination;
use quadrille::gpu::zrop::termination::Updates;
use quadrille::gpu::zrop::unit::Zrop;
use quadrille::machine::maps::MapKind;
use quadrille::machine::packets::Beat;
use quadrille::machine::packets::ColourQuad;
use quadrille::machine::packets::Quad;
use quadrille::machine::packets::RasterTile;
use quadrille::machine::packets::ShadedWarp;
use quadrille::machine::rate::Rate;
use quadrille::machine::stage::Link;
use quadrille::machine::stage::Retired;
use quadrille::machine::stage::Sink;
use quadrille::machine::stage::Stage;
use quadrille::machine::timing::Cycle;
use quadrille::machine::timing::StallReason;
use quadrille::raster::geometry::PixelRect;
use quadrille::raster::geometry::Vertex;
use quadrille::{Camera, Intrinsics, Splat, Splats, simulate};
use quadrille_base::shading::CompareOp;

use crate::support::gpu::{Collector, machine, numbered_draw};

/// Side of the picture, in pixels: 8 by 8 screen tiles.
const SIDE: u32 = 128;
/// A line of memory far from the lines of colours.
const FIRST_LINE: u32 = 1 << 30;

/// A machine for units on their own.
fn with_machine<R>(terminating: bool, run: impl FnOnce(&mut DrawState<'_>) -> R) -> R {
    let draw = numbered_draw(SIDE, 256);
    let mut machine = machine(&draw, &Config::default(), &Tests::default(), terminating);
    run(&mut machine)
}

fn quad(primitive: u32, position: u8) -> Quad {
    Quad { primitive, position, mask: 15 }
}

/// Splats and positions of a beat's quads, and its pairs.
type Packed = (Vec<(u32, u8)>, u8);

fn packed(beat: &Beat) -> Packed {
    let quads = beat.quads.iter().map(|q| (q.primitive, q.position));
    (quads.collect(), beat.pairs)
}

/// Offers one flush of quads at these positions, splats counted from 0, all of it at cycle 0.
fn reorder(window: u64, positions: &[u8]) -> (QuadReorder, Collector<Beat>) {
    let mut spec = Config::default().qru;
    spec.window = window;
    let quads: Vec<_> = (0..).zip(positions).map(|(n, p)| quad(n, *p)).collect();
    with_machine(false, |machine| {
        let mut unit = QuadReorder::new(&spec, true);
        let mut sink = Collector::new(0);
        let beats = quads.chunks(8).count();
        for (n, chunk) in quads.chunks(8).enumerate() {
            let beat = Beat {
                tile: 0,
                quads: chunk.iter().copied().collect(),
                pairs: 0,
                last: n + 1 == beats,
            };
            unit.accept(beat, 0, machine, &mut sink);
        }
        (unit, sink)
    })
}

/// Splats 0, 1 and 2 at place 5. Scan: 0 is stored; 1 finds 0, they are a pair and the register is
/// cleared; 2 is stored. At the end 2 has no partner. One beat: the pair at offsets 0 and 1, the
/// single one behind it.
#[test]
fn three_quads_at_one_place_are_a_pair_and_a_single_one() {
    let (unit, sink) = reorder(128, &[5, 5, 5]);
    let warps: Vec<_> = sink.values().map(packed).collect();
    assert_eq!(warps, [(vec![(0, 5), (1, 5), (2, 5)], 0b1)]);
    let counters = &unit.counters;
    assert_eq!((counters.pairs, counters.singles), (1, 1));
    // Four quads a cycle are scanned: all three in cycle 0, out a latency of 1 later.
    assert_eq!(sink.times(), [1]);
}

/// Places 5, 6, 5, 6, 5: pairs (0, 2) and (1, 3), in the order in which they are found, then 4. The
/// order at place 5 is 0, 2, 4 and at place 6 it is 1, 3.
#[test]
fn pairs_come_as_they_are_found_and_keep_each_places_order() {
    let (_, sink) = reorder(128, &[5, 6, 5, 6, 5]);
    let warps: Vec<_> = sink.values().map(packed).collect();
    let quads = vec![(0, 5), (2, 5), (1, 6), (3, 6), (4, 5)];
    assert_eq!(warps, [(quads, 0b11)]);
}

/// Places 5, 6, 5. A window of 1 or 2 sees no two at one place: three singles, and the window's end
/// sends a beat off (3 beats of 1, or one of 2 and one of 1). A window of 3 sees them.
#[test]
fn a_window_pairs_what_it_sees() {
    for (window, pairs, singles, sizes) in
        [(1, 0, 3, vec![1, 1, 1]), (2, 0, 3, vec![2, 1]), (3, 1, 1, vec![3]), (128, 1, 1, vec![3])]
    {
        let (unit, sink) = reorder(window, &[5, 6, 5]);
        assert_eq!((unit.counters.pairs, unit.counters.singles), (pairs, singles));
        let found: Vec<_> = sink.values().map(|w| w.quads.len()).collect();
        assert_eq!(found, sizes, "window {window}");
    }
}

/// 129 quads at one place: the window of 128 makes 64 pairs, 16 full warps; the last quad is alone.
///
/// Quad n is scanned in cycle n / 4. Warp k is full with quad 8 k + 7, in cycle 2 k + 1, and leaves
/// a latency of 1 later: at 2, 4, ... 32. Quad 128 is scanned in cycle 32 and leaves at 33.
#[test]
fn a_window_of_128_is_full() {
    let (unit, sink) = reorder(128, &[9; 129]);
    assert_eq!((unit.counters.pairs, unit.counters.singles), (64, 1));
    let expected: Vec<Cycle> = (1..=16).map(|k| 2 * k).chain([33]).collect();
    assert_eq!(sink.times(), expected);
    let splats: Vec<_> = sink.values().flat_map(|w| w.quads.iter()).map(|q| q.primitive).collect();
    assert!(splats.is_sorted() && splats.len() == 129);
}

/// A raster tile of the first `quads` quads of a screen tile's first quarter.
fn raster_tile(primitive: u32, tile: u32, quads: u32) -> RasterTile {
    let pixel = |q: u32| 1_u64 << (q / 4 * 16 + q % 4 * 2);
    RasterTile { primitive, tile, quarter: 0, mask: (0..quads).map(pixel).sum(), samples: () }
}

/// Splats of each flush, joined beat by beat, and when its first beat was offered.
fn flushes(sink: &Collector<Beat>) -> Vec<(Vec<u32>, Cycle)> {
    let mut flushes = vec![(Vec::new(), 0)];
    for (beat, at, _) in &sink.items {
        let (splats, first) = flushes.last_mut().unwrap();
        if splats.is_empty() {
            *first = *at;
        }
        splats.extend(beat.quads.iter().map(|q| q.primitive));
        if beat.last {
            flushes.push((Vec::new(), 0));
        }
    }
    flushes.pop();
    flushes
}

/// Offers raster tiles at the cycles given, then ends the draw at the last of these.
fn coalesce(
    change: impl FnOnce(&mut Config),
    items: &[(RasterTile, Cycle)],
) -> (Flushes, Collector<Beat>) {
    let mut config = Config::default();
    change(&mut config);
    with_machine(false, |machine| {
        let mut unit = TileCoalescing::new(&config.tc, config.tc.policy(), 64);
        let mut sink = Collector::new(0);
        for (item, at) in items {
            unit.accept(*item, *at, machine, &mut sink);
        }
        let end = items.last().map_or(0, |(_, at)| *at);
        unit.drain(end, machine, &mut sink);
        (unit.flushes().clone(), sink)
    })
}

/// Eight raster tiles of 16 quads fill a bin of 128: tile n is written in cycle 2 n, so the bin is full
/// in cycle 14, and 16 beats leave in cycles 14 to 29, each offered a latency of 1 later: 15 to 30. Quad
/// 129 begins another bin in cycle 16; at the end of the draw, in cycle 17, the output is taken until
/// 29: it leaves in 30 and is offered at 31.
#[test]
fn quad_129_finds_a_full_bin() {
    let mut items: Vec<_> = (0..8).map(|n| (raster_tile(n, 3, 16), 2 * u64::from(n))).collect();
    items.push((raster_tile(8, 3, 1), 16));
    let (counts, sink) = coalesce(|_| {}, &items);
    assert_eq!((counts.full, counts.end, counts.items), (1, 1, 129));
    assert_eq!(sink.times(), (15..=31).collect::<Vec<_>>());
    let flushes = flushes(&sink);
    assert_eq!((flushes[0].0.len(), flushes[1].0.as_slice()), (128, &[8][..]));
    assert!(flushes[0].0.is_sorted());
}

/// Tiles 0 to 31 take a bin each, in cycles 0 to 31. The 33rd comes in cycle 32: the bin begun first
/// makes room, its quad leaves in that cycle, and is offered at 33. The draw ends in cycle 33 (the
/// cycle after the last quad was written), and the others follow in the order they were begun.
#[test]
fn the_33rd_tile_evicts_the_first() {
    let items: Vec<_> = (0..33).map(|n| (raster_tile(n, n, 1), u64::from(n))).collect();
    let (counts, sink) = coalesce(|_| {}, &items);
    assert_eq!((counts.evicted, counts.end), (1, 32));
    let expected: Vec<_> = (0..33).map(|n| (vec![n], 33 + u64::from(n))).collect();
    assert_eq!(flushes(&sink), expected);
}

/// Tile 0 is visited once more, in cycle 32, before the 33rd tile comes in cycle 33. The bin begun
/// first is still tile 0's, with two quads; the one whose last quad is the oldest is tile 1's.
#[test]
fn first_in_and_least_recently_used_differ() {
    let mut items: Vec<_> = (0..32).map(|n| (raster_tile(n, n, 1), u64::from(n))).collect();
    items.push((raster_tile(32, 0, 1), 32));
    items.push((raster_tile(33, 40, 1), 33));
    for (evict, first) in [(Evict::FirstIn, vec![0, 32]), (Evict::LeastRecentlyUsed, vec![1])] {
        let (counts, sink) = coalesce(|c| c.tc.evict = evict, &items);
        assert_eq!(counts.evicted, 1);
        assert_eq!(flushes(&sink)[0], (first, 34));
    }
}

/// A raster tile of five quads is written from cycle 1 on, one quad per cycle. The bin of the tile
/// before it is due in cycle 3 and leaves in it; the bin of four quads is full in cycle 4 and leaves
/// behind it. The fifth quad is written in 5 and leaves at the end of the draw, in 6. All are offered a
/// latency of 1 later.
#[test]
fn a_bin_falls_due_while_another_tile_is_written() {
    let items = [(raster_tile(0, 0, 1), 0), (raster_tile(1, 1, 5), 1)];
    let change = |c: &mut Config| {
        c.tc.bin_size = 4;
        c.tc.quads_in_per_cycle = Rate::ONE;
        c.tc.timeout_cycles = 3;
    };
    let (counts, sink) = coalesce(change, &items);
    assert_eq!((counts.timeout, counts.full, counts.end), (1, 1, 1));
    let expected = [(vec![0], 4), (vec![1; 4], 5), (vec![1], 7)];
    assert_eq!(flushes(&sink), expected);
}

/// A quad in cycle 100, a timeout of 50: the bin is flushed in cycle 150, offered at 151, whenever
/// the next quad comes after that. One that comes in cycle 149 joins it, and starts the wait anew:
/// until 199; one in cycle 150 does not.
#[test]
fn a_bin_times_out_to_the_cycle() {
    let timeout = |second: Cycle, tile: u32| {
        let items = [
            (raster_tile(0, 7, 1), 100),
            (raster_tile(1, tile, 1), second),
            (raster_tile(2, 9, 1), 1000),
        ];
        let (counts, sink) = coalesce(|c| c.tc.timeout_cycles = 50, &items);
        (counts.timeout, flushes(&sink))
    };
    // The last quad leaves at the end of the draw: written in 1000, read in 1001, offered at 1002.
    let last = (vec![2], 1002);
    assert_eq!(timeout(149, 7), (1, vec![(vec![0, 1], 149 + 50 + 1), last.clone()]));
    let apart = |second: Cycle| vec![(vec![0], 151), (vec![1], second + 51), last.clone()];
    assert_eq!(timeout(150, 7), (2, apart(150)));
    assert_eq!(timeout(151, 7), (2, apart(151)));
    // Another tile's quad makes no difference to the first's wait.
    assert_eq!(timeout(120, 8), (2, apart(120)));
    assert_eq!(timeout(900, 8), (2, apart(900)));
}

/// Sends a quad to ZROP in cycle `arrival`, when updates of its fragments 0 and 1 arrive in cycle 100;
/// returns the fragments left and when they are offered.
fn tested(arrival: Cycle, update_cycles: u64) -> (u8, Cycle) {
    let mut spec = Config::default().zrop;
    spec.update_cycles = update_cycles;
    with_machine(true, |machine| {
        let mut unit = Zrop::new(&spec, true, 0, FIRST_LINE..FIRST_LINE + 128);
        let mut sink = Collector::new(0);
        machine.updates[0] = Updates::new(spec.update_queue, spec.update_cycles);
        machine.updates[0].send(64 * 2 + 5, 0b0011, 92, 8);
        let beat =
            Beat { tile: 2, quads: [quad(0, 5)].into_iter().collect(), pairs: 0, last: true };
        unit.accept(beat, arrival, machine, &mut sink);
        let (beat, at, _) = &sink.items[0];
        assert_eq!(unit.counters.fragments.tested, 4);
        let left = beat.quads.first().map_or(0, |q| q.mask);
        let killed = unit.counters.fragments.terminated;
        assert_eq!(u64::from(4 - left.count_ones()), killed);
        (left, *at)
    })
}

/// Two updates arrive in cycle 100. If they take no time, a test in cycle 100 comes behind them and
/// sees both bits. If each takes a cycle, they hold the port in cycles 100 and 101, and that test is put
/// off to cycle 102.
#[test]
fn a_termination_one_cycle_too_late() {
    // Offered a latency of 2 after the test.
    assert_eq!(tested(99, 0), (0b1111, 101));
    assert_eq!(tested(100, 0), (0b1100, 102));
    assert_eq!(tested(101, 0), (0b1100, 103));
    assert_eq!(tested(99, 1), (0b1111, 101));
    assert_eq!(tested(100, 1), (0b1100, 104));
    assert_eq!(tested(101, 1), (0b1100, 104));
    assert_eq!(tested(102, 1), (0b1100, 104));
    assert_eq!(tested(103, 1), (0b1100, 105));
}

/// A warp with one shaded quad, opaque up to the cap.
fn shaded(tile: u32, position: u8, alpha: f32) -> ShadedWarp {
    let quad = ColourQuad { position, mask: 15, colour: [[alpha; 4]; 4] };
    ShadedWarp { tile, quads: [quad].into_iter().collect() }
}

/// Blends quads of tile 0 at (position, arrival) with a colour cache of one line; returns the unit,
/// and the end of the last blend.
fn blend(
    format: ColourFormat,
    quads: &[(u8, Cycle)],
    machine: &mut DrawState<'_>,
) -> (Crop, Cycle) {
    let mut spec = Config::default().crop;
    (spec.format, spec.cache_bytes) = (format, 128);
    let mut unit = Crop::new(&spec, None, 0, 0..64 * 64 * 64 / 128);
    let mut retired = Retired::default();
    for &(position, arrival) in quads {
        unit.accept(shaded(0, position, 0.25), arrival, machine, &mut retired);
    }
    let end = unit.drain(0, machine, &mut retired);
    (unit, end)
}

/// One line of RGBA16F is 4x4 pixels, a quad one of its four sectors. Place 0 lies in line 0, place
/// 2 (the third quad of the first row) in line 1.
///
/// Place 0 in cycle 0: created clear, blended in 0, done in 2. Place 2 in cycle 10: line 0 goes, its
/// one dirty sector is written back; line 1 is created clear; done in 12. Place 0 in cycle 20: line 1
/// goes likewise; the sector of line 0 is read again, and the L2 still has it: 20 + 146 = 166, done
/// in 168.
#[test]
fn a_dirty_line_is_written_back_and_read_again() {
    let steps = [(0, 0), (2, 10), (0, 20)];
    for (steps, done) in [(&steps[..1], 2), (&steps[..2], 12), (&steps[..], 168)] {
        let end = |machine: &mut DrawState<'_>| blend(ColourFormat::Rgba16F, steps, machine).1;
        assert_eq!(with_machine(false, end), done);
    }
    with_machine(false, |machine| {
        let (unit, _) = blend(ColourFormat::Rgba16F, &steps, machine);
        let c = unit.cache.counters();
        assert_eq!((c.hits, c.misses, c.fetched), (0, 3, 1));
        assert_eq!((c.written_back, c.dirty_evictions, c.peak_bytes.0), (2, 2, 32));
        let counters = &machine.memory.l2.counters();
        assert_eq!((counters.written_bytes, counters.read_bytes), (64, 32));
        // Data on their way: cycles 20 to 165. What came before is the quads' coming late.
        assert_eq!(unit.activity.busy, 3);
        assert_eq!(unit.activity.idle[StallReason::Miss as usize], 146);
    });
}

/// A line is fetched as far as it was written back. Places 0 and 9 are the first and the last sector of
/// line 0; place 2 evicts both; then places 0 and 9 are read again, while place 1, a
/// sector of the same line that nothing was ever drawn to, is created clear.
#[test]
fn only_sectors_that_were_written_are_read_again() {
    with_machine(false, |machine| {
        let steps = [(0, 0), (9, 10), (2, 100), (0, 1000), (9, 2000), (1, 3000)];
        let (unit, _) = blend(ColourFormat::Rgba16F, &steps, machine);
        let c = unit.cache.counters();
        assert_eq!((c.hits, c.misses, c.fetched), (0, 6, 2));
        // Sectors 0 and 3 of line 0, then the one of line 1.
        assert_eq!((c.written_back, c.dirty_evictions), (3, 2));
    });
}

/// A line goes no earlier than its last blend is done: place 2 comes in cycle 1, and waits for the
/// end of place 0's blend in cycle 2; done in 4.
#[test]
fn a_line_stays_while_it_is_blended_into() {
    with_machine(false, |machine| {
        let (_, end) = blend(ColourFormat::Rgba16F, &[(0, 0), (2, 1)], machine);
        assert_eq!(end, 4);
    });
}

/// Places 0, 1, 8, 9 are the first four along the Z-order curve, 2, 3, 10, 11 the next, 4 the
/// seventeenth.
///
/// RGBA8: 16 bytes a quad; two share a sector, eight a line. RGBA16F: 32 bytes; a sector each, four
/// a line. RGBA32F: 64 bytes; two sectors each, two a line.
#[test]
fn quads_share_sectors_and_lines_by_format() {
    // Places, then hits, misses, sectors written back.
    type Sharing = (&'static [u8], u64, u64, u64);
    let cases: [(ColourFormat, &[Sharing]); 3] = [
        (
            ColourFormat::Rgba8,
            &[
                (&[0, 1], 1, 1, 0),
                (&[0, 1, 8, 9, 2, 3, 10, 11], 4, 4, 0),
                (&[0, 1, 8, 9, 2, 3, 10, 11, 4], 4, 5, 4),
                (&[0, 16], 0, 2, 1),
            ],
        ),
        (
            ColourFormat::Rgba16F,
            &[
                (&[0, 1, 8, 9], 0, 4, 0),
                (&[0, 1, 8, 9, 0, 9], 2, 4, 0),
                (&[0, 1, 8, 9, 2], 0, 5, 4),
                (&[0, 9, 10], 0, 3, 2),
            ],
        ),
        (
            ColourFormat::Rgba32F,
            &[(&[0, 1], 0, 4, 0), (&[0, 1, 1], 2, 4, 0), (&[0, 1, 8], 0, 6, 4), (&[8, 9], 0, 4, 0)],
        ),
    ];
    for (format, sharings) in cases {
        for (places, hits, misses, written) in sharings {
            // Far apart in time, so that nothing waits.
            let quads: Vec<_> = (0..).zip(*places).map(|(n, p)| (*p, 1000 * n)).collect();
            let counters = with_machine(false, |machine| {
                blend(format, &quads, machine).0.cache.counters().clone()
            });
            assert_eq!(
                (counters.hits, counters.misses, counters.written_back),
                (*hits, *misses, *written),
                "{format:?} {places:?}"
            );
        }
    }
}

/// Two opaque quads at one place, in cycles 0 and 1. The first brings all four pixels to the
/// threshold: blended from 0, done in 2, and the updates arrive 8 cycles later, in 10. The second was
/// tested before that, and is blended all the same: four late fragments.
#[test]
fn fragments_that_came_too_early_are_late() {
    with_machine(true, |machine| {
        let spec = Config::default().crop;
        let termination =
            Termination { threshold: 0.996, feedback_cycles: 8, feedback: Feedback::Timed };
        let mut unit = Crop::new(&spec, Some(termination), 0, 0..1024);
        for arrival in [0, 1] {
            unit.accept(shaded(0, 3, 0.998), arrival, machine, &mut Retired::default());
        }
        assert_eq!(unit.counters.terminations, 4);
        assert_eq!((unit.counters.fragments, unit.counters.late), (8, 4));
        // An update per pixel.
        let updates = &mut machine.updates[0];
        let sent: Vec<_> = std::iter::from_fn(|| updates.remove()).collect();
        let sent = sent.iter().map(|u| (u.due, u.quad, u.mask));
        assert!(sent.eq([(10, 3, 1), (10, 3, 2), (10, 3, 4), (10, 3, 8)]));
    });
}

/// Setup takes an item a cycle and is 10 cycles long; what follows takes one every 4 cycles. All
/// items are offered in cycle 0.
///
/// Item 0 starts in 0 and is taken in 10, item 1 in 14, and so on, one in 4 cycles. The pipeline holds
/// ten items: items 0 to 9 start in 0 to 9, item 10 when item 0 has left, in 10, item 11 when item 1
/// has left, in 14, item 12 in 18. A queue of one lets item n in when item n - 1 has started. A queue
/// of thirteen lets all in at once, and not one leaves any sooner.
#[test]
fn a_queue_moves_the_wait_and_nothing_else() {
    let primitive = quadrille::machine::packets::Primitive {
        primitive: 0,
        shape: quadrille::raster::geometry::PrimitiveShape::Rectangle([
            Vertex::default(),
            Vertex { x: 512, y: 512 },
        ]),
        bounds: PixelRect::default(),
    };
    let started = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 14, 18];
    let mut after_one_another = [0; 13];
    after_one_another[1..].copy_from_slice(&started[..12]);
    for (depth, expected) in [(1, after_one_another), (13, [0; 13])] {
        with_machine(false, |machine| {
            let setup = Setup::new(&Config::default().setup);
            let mut link = Link::new(depth, setup, Collector::new(4));
            let entered = [(); 13].map(|()| link.offer(primitive, 0, machine));
            assert_eq!(entered, expected, "queue of {depth}");
            let taken: Vec<_> = link.next.items.iter().map(|(.., taken)| *taken).collect();
            let expected: Vec<_> = (0..13).map(|n| 10 + 4 * n).collect();
            assert_eq!(taken, expected);
            let activity = &link.stage.pipe.activity;
            assert_eq!((activity.busy, activity.idle[StallReason::Blocked as usize]), (13, 6));
        });
    }
}

fn run(draw: &Draw, config: &Config, tests: &Tests, variant: Variant) -> SimulationResult {
    let watch = Watch { maps: true, ..Watch::default() };
    let simulator = Simulator::new(config, variant).unwrap();
    let outcome = simulator.watching(watch).run(draw, draw.shader(), tests);
    assert_eq!(outcome.discrepancies(), Vec::<String>::new());
    outcome
}

/// Every queue of one item against the default's: the picture is the same, and nothing is sooner.
#[test]
fn shallow_queues_cost_time_and_nothing_else() {
    let rectangles: Vec<_> =
        (0..200).map(|n| [n * 37 % 100, n * 53 % 90, 5 + n % 23, 3 + n % 29]).collect();
    let mut draw = Draw::rectangles(SIDE, SIDE, &rectangles, [1.0; 3], 0.5);
    for (splat, n) in draw.splats.iter_mut().zip(1_u8..) {
        splat.colour = [f32::from(n) / 255.0, 0.5, 1.0 - f32::from(n) / 255.0];
    }
    let mut shallow = Config::default();
    for unit in [
        "vpo", "tgc", "setup", "coarse", "hi_z", "fine", "tc", "prop", "zrop", "qru", "pack",
        "launch", "crop",
    ] {
        shallow = shallow.with(&format!("{unit}.queue=1")).unwrap();
    }
    for variant in [Variant::BASELINE, Variant::QM] {
        let [deep, shallow] = [&Config::default(), &shallow]
            .map(|config| run(&draw, config, &Tests::default(), variant));
        assert!(deep.framebuffer.frame() == shallow.framebuffer.frame(), "{variant}");
        assert_eq!(deep.fragments, shallow.fragments);
        assert!(deep.cycles <= shallow.cycles, "{variant}");
    }
}

/// Layers over one screen tile, whose left half has stencil 1 and passes, the right half 0 and does
/// not. A fragment that passes inverts the bits of the write mask, 0xf0.
///
/// With early termination the top bit is not the application's: bits 0x70 are inverted once for
/// each fragment that passes, and the top bit says that the pixel is closed, which three layers of
/// alpha 0.9 do: 0.9, 0.99, 0.999 >= 0.996. A fragment killed by it no longer reaches the stencil
/// test, so what was shaded is what inverted. Without it, all 41 layers pass: an odd number, so all
/// four bits are set, the top one too, and it kills nothing.
#[test]
fn stencil_and_write_mask_beside_the_termination_bit() {
    let draw = Draw::rectangles(16, 16, &[[0, 0, 16, 16]; 41], [1.0; 3], 0.9);
    let test = StencilTest {
        compare: CompareOp::Equal,
        reference: 1,
        read_mask: 0x01,
        write_mask: 0xf0,
        pass: StencilOperation::Invert,
        ..StencilTest::default()
    };
    let tests = Tests {
        stencil: Some((test, (0..256).map(|i| u8::from(i % 16 < 8)).collect())),
        depth: None,
    };
    // Without a fetch of attributes the first pixels are terminated before the last are tested.
    let config = Config::default().with("vertex.attribute_bytes=0").unwrap();
    let plain = run(&draw, &config, &tests, Variant::BASELINE);
    for (i, stencil) in plain.framebuffer.stencil().into_iter().enumerate() {
        assert_eq!(stencil, if i % 16 < 8 { 0xf1 } else { 0 });
    }
    assert_eq!((plain.fragments.hidden, plain.fragments.blended), (41 * 128, 41 * 128));
    for variant in [Variant::HET, Variant::HET_QM] {
        let closed = run(&draw, &config, &tests, variant);
        let shaded =
            closed.maps.as_ref().unwrap().pixels(MapKind::Shaded, closed.framebuffer.layout);
        let stencil = closed.framebuffer.stencil();
        for (i, (stencil, shaded)) in stencil.into_iter().zip(shaded).enumerate() {
            let inverted = if shaded % 2 == 1 { 0x70 } else { 0 };
            let left = i % 16 < 8;
            assert_eq!(stencil, if left { 0x81 | inverted } else { 0 }, "{variant}");
            assert_eq!(shaded >= 3, left, "{variant}");
        }
        assert_eq!(closed.fragments.hidden, 41 * 128, "{variant}");
        assert!(closed.fragments.terminated > 0, "{variant}");
        assert_eq!(closed.terminations, 128, "{variant}");
    }
}

/// A stencil test that passes nowhere: the last flush ends in ZROP, and the run still accounts for
/// every cycle of every unit.
#[test]
fn a_draw_of_which_nothing_is_left() {
    let draw = numbered_draw(SIDE, 40);
    let test = StencilTest { compare: CompareOp::Never, ..StencilTest::default() };
    let pixels = (SIDE * SIDE) as usize;
    let tests = Tests { stencil: Some((test, vec![0; pixels])), depth: None };
    for variant in Variant::ALL {
        let outcome = run(&draw, &Config::default(), &tests, variant);
        assert_eq!(outcome.fragments.hidden, 160);
        assert_eq!(outcome.quads.blended, 0);
    }
    // Primitives that assembly drops, slowly.
    let off = Draw::rectangles(16, 16, &[[20, 20, 2, 2]; 9], [1.0; 3], 0.5);
    let slow = Config::default().with("vpo.primitives_per_cycle=1/9").unwrap();
    let outcome = run(&off, &slow, &Tests::default(), Variant::QM);
    assert_eq!(outcome.raster.culled, 9);
}

/// One small splat in the middle of four quads of one raster tile, of which it covers a pixel each:
/// its box of about 2x2 pixels is two triangles, one with three of the quads and one with the
/// fourth.
///
/// Vertex shading is dispatched in cycle 0. The last of 8 times 48 bytes passes DRAM's port, 167
/// bytes per cycle, in cycle 2; with 367 cycles of DRAM, 146 of the L2 and 64 of shading the results
/// are in the L2 in 579. Their positions are read in another 146 cycles, so the triangles reach
/// primitive assembly in 725 and 726. The first is out of it (4) in 729, of setup (10) in 739, of the
/// coarse raster (1) in 740, of Hi-Z (1) in 741, of the fine raster (1) in 742, and the second a
/// cycle later. Their quads are written into a bin in 742 and 743. The draw ends in 744: the bin's
/// four quads leave as one beat and are there in 745, after PROP (4) in 749, after ZROP (2) in 751,
/// packed (1) in 752, launched (20) in 772, have their attributes from the L2 (146) in 918, and are
/// shaded (150) in 1068. CROP blends two quads per cycle, which begin in 1068 and 1069; the last is
/// done 2 cycles later, in 1071.
///
/// Tile-grid coalescing writes the triangles in 729 and 730, so that they leave at the end of the
/// draw in 731 and 732 and are there a cycle later: 732 in place of 729, 3 cycles more; then their
/// positions are read again (146): 1071 + 149 = 1220. Quad reordering (1) scans four quads per cycle, as
/// many as are packed in one; no two of these lie at one position, so no warp is any smaller, and
/// the shader that merges takes 32 cycles more: 1253. Without vertex results in the L2 nothing is
/// read from there: 779, 782 and 815. Early termination changes nothing: stencil values are created
/// clear in the cache, and no pixel comes near the threshold.
#[test]
fn one_splat_through_the_whole_pipeline() {
    let lens = Intrinsics::from_vertical_fov(72, 72, 1.0);
    let [eye, target, up] = [[0.0, 0.0, -4.0], [0.0; 3], [0.0, -1.0, 0.0]].map(Vector3::from);
    let camera = Camera::look_at("front", lens, eye, target, up).unwrap();
    let splat = Splat {
        mean: [0.0; 3],
        scale: [1e-4; 3],
        rotation: [1.0, 0.0, 0.0, 0.0],
        // Widened by the low-pass filter of 0.3 px^2, its alpha is above 1/255 within
        // sqrt(0.6 ln(255 * 0.02)) = 0.99 px.
        opacity: 0.02,
        sh: [[0.0; 3]; 25],
    };
    let splats = Splats::from_splats(0, [splat]);
    for (variant, cycles) in [
        (Variant::BASELINE, [1071, 779]),
        (Variant::TGC, [1220, 782]),
        (Variant::QM, [1253, 815]),
        (Variant::HET, [1071, 779]),
        (Variant::HET_QM, [1253, 815]),
    ] {
        let mut config = Config::default();
        for cycles in cycles {
            let simulation = Simulation::new(config.clone(), [variant]);
            let results = simulate(&splats, &camera, &simulation).unwrap();
            let result = results[0].pipeline().unwrap();
            assert_eq!(result.quads.blended, 4, "{variant}");
            assert_eq!(result.fragments.blended, 4, "{variant}");
            assert_eq!(result.cycles, cycles, "{variant}");
            (config.vertex.position_bytes, config.vertex.attribute_bytes) = (0, 0);
        }
    }
}
