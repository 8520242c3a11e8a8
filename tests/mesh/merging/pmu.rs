//! The pixel merge unit: the examples of its paper, and random streams against its transcription.

use proptest::prelude::*;
use quadrille::geometry::grid::Topology;
use quadrille::mesh::merge::pmu::PmuSpec;
use quadrille::mesh::merge::{
    MergeStream, MergeUnit, MergeUnitKind, PmuCounters, PmuSettings, QuadFragment,
};
use quadrille::raster::samples::SamplePattern;

use super::fragments::{self, check, check_order, jittered, noise, run};
use super::pmu_oracle::SlowPixelMerging;

fn counters(unit: &dyn MergeUnit) -> PmuCounters {
    fragments::counters(unit).pmu.unwrap()
}

/// A fragment of triangle `k` of a strip, at one position, from the samples of its shading pixels.
fn strip(k: u32, pixels: [u16; 4], centres: u8) -> QuadFragment {
    let ids = if k.is_multiple_of(2) { [k, k + 1, k + 2] } else { [k + 1, k, k + 2] };
    let coverage = pixels.iter().rev().fold(0, |all, &p| all << 4 | u64::from(p));
    QuadFragment { position: [3, 4], coverage, centres, is_front: true, triangle: 0, ids }
}

fn merge_all(settings: PmuSettings, fragments: &[QuadFragment]) -> (Vec<u32>, PmuCounters) {
    let pattern = SamplePattern::standard(4).unwrap();
    let mut unit = MergeUnitKind::Pmu(settings).build();
    let stream = run(&mut *unit, fragments, &pattern);
    let counters = counters(&*unit);
    check_all(fragments, &stream, &counters);
    (stream.out.iter().map(|q| q.leader).collect(), counters)
}

/// Checks the invariants of every unit, and the invariants of pixel merging: one triangle per quad, order at
/// every sample, counters that add up.
fn check_all(fragments: &[QuadFragment], stream: &MergeStream, counters: &PmuCounters) {
    check(fragments, stream);
    check_order(fragments, stream);
    let quads = &stream.out;
    assert!(quads.iter().all(|q| q.inputs == [q.leader; 4]));
    let c = counters;
    assert_eq!(c.quads_out(), quads.len() as u64);
    assert_eq!(c.quads, c.empties + c.straight + c.partial);
    let gone = c.saved + c.by_overlap + c.by_age + c.early + c.flushed;
    assert_eq!(c.partial, gone);
}

/// Figure 3: of six connected triangles four are shaded. The second's sample in the top right waits
/// for the third, the fifth's two in the bottom left for the sixth.
#[test]
fn six_triangles_shade_four_quads() {
    let fragments = [
        strip(0, [0x7, 0, 0, 0], 0b0001),
        strip(1, [0x8, 0x1, 0, 0], 0),
        strip(2, [0, 0xe, 0, 0], 0b0010),
        strip(3, [0, 0, 0, 0x3], 0b1000),
        strip(4, [0, 0, 0x3, 0x4], 0),
        strip(5, [0, 0, 0xc, 0x8], 0b0100),
    ];
    let (leaders, counters) = merge_all(PmuSettings::default(), &fragments);
    assert_eq!(leaders, [0, 2, 3, 5]);
    assert_eq!((counters.quads, counters.partial, counters.saved), (6, 6, 2));
    assert_eq!((counters.cell_merges, counters.early), (5, 4));
}

/// Only quads with a partially covered shading pixel wait.
#[test]
fn quads_of_full_and_empty_pixels_pass() {
    let fragments = [strip(0, [0xf, 0, 0xf, 0], 5), strip(1, [0, 0x3, 0, 0xf], 8)];
    let (_, counters) = merge_all(PmuSettings::default(), &fragments);
    assert_eq!((counters.straight, counters.partial, counters.flushed), (1, 1, 1));
}

/// Entries that a new quad covers leave before it, oldest first, whichever way they face; the others
/// stay.
#[test]
fn overlapped_quads_leave_in_order() {
    let back = QuadFragment { is_front: false, ..strip(10, [0x2, 0, 0, 0], 0) };
    let fragments = [
        strip(0, [0x1, 0, 0, 0], 0),
        back,
        strip(20, [0, 0x1, 0, 0], 0),
        strip(30, [0x3, 0, 0xf, 0], 0b0100),
    ];
    let (leaders, counters) = merge_all(PmuSettings::default(), &fragments);
    assert_eq!(leaders, [0, 1, 2, 3]);
    assert_eq!((counters.by_overlap, counters.flushed), (2, 2));
    // One that passes straight on evicts as well.
    let straight = [fragments[0], strip(30, [0xf, 0, 0, 0], 1)];
    let (leaders, counters) = merge_all(PmuSettings::default(), &straight);
    assert_eq!((leaders, counters.by_overlap), (vec![0, 1], 1));
}

/// Quads do not merge when they share no edge, face different ways, or meet in no shading pixel.
#[test]
fn conditions_of_merging() {
    let apart = [strip(0, [1, 0, 0, 0], 0), strip(5, [2, 0, 0, 0], 0)];
    let facing = QuadFragment { is_front: false, ..strip(1, [2, 0, 0, 0], 0) };
    let elsewhere = [apart[0], strip(1, [0, 2, 0, 0], 0)];
    for fragments in [apart, [apart[0], facing], elsewhere] {
        assert_eq!(merge_all(PmuSettings::default(), &fragments).1.saved, 0);
    }
}

/// A triangle between two that wait joins all three. The triangle that covers the centre keeps the
/// shading pixel, else the one with the first sample by distance.
#[test]
fn a_triangle_joins_its_neighbours() {
    let fragments =
        [strip(0, [0x2, 0, 0, 0], 0), strip(2, [0x4, 0, 0, 0], 1), strip(1, [0x1, 0, 0, 0], 0)];
    let (leaders, counters) = merge_all(PmuSettings::default(), &fragments);
    assert_eq!((leaders, counters.saved), (vec![1], 2));
    // At 4x all samples are equally far, so the one with sample 0 keeps.
    let no_centre = fragments.map(|f| QuadFragment { centres: 0, ..f });
    assert_eq!(merge_all(PmuSettings::default(), &no_centre).0, [2]);
    // Covered by both, the first submitted.
    let both = fragments.map(|f| QuadFragment { centres: 1, ..f });
    assert_eq!(merge_all(PmuSettings::default(), &both).0, [0]);
}

/// A fan gains an outer edge with every triangle: with room for three, the last edge of the second
/// triangle is lost, and the third merges with nothing.
#[test]
fn lost_edges_merge_nothing() {
    let fan = [0, 1, 2]
        .map(|k| QuadFragment { ids: [0, k + 1, k + 2], ..strip(0, [1 << k, 0, 0, 0], 0) });
    let (_, counters) = merge_all(PmuSettings::default(), &fan);
    assert_eq!((counters.saved, counters.edges_lost), (2, 0));
    let three = PmuSettings { max_edges: 3, ..PmuSettings::default() };
    let (_, counters) = merge_all(three, &fan);
    assert_eq!((counters.saved, counters.edges_lost), (1, 1));
}

/// With one entry, a waiting quad leaves when a quad at another position needs the entry.
#[test]
fn the_oldest_makes_room() {
    let elsewhere = QuadFragment { position: [0, 0], ..strip(9, [1, 0, 0, 0], 0) };
    let fragments = [strip(0, [1, 0, 0, 0], 0), elsewhere, strip(1, [2, 0, 0, 0], 0)];
    let one = PmuSettings { entries: 1, ..PmuSettings::default() };
    let (leaders, counters) = merge_all(one, &fragments);
    assert_eq!((leaders, counters.by_age), (vec![0, 1, 2], 2));
    assert_eq!(counters.peak_entries.0, 1);
    assert_eq!(merge_all(PmuSettings::default(), &fragments).1.saved, 1);
}

fn compare(
    grids: &[(Topology, Vec<QuadFragment>)],
    pattern: &SamplePattern,
    settings: PmuSettings,
) -> PmuCounters {
    let mut unit = MergeUnitKind::Pmu(settings).build();
    let mut oracle = SlowPixelMerging::new(settings, pattern);
    let entries = Some(settings.entries);
    let stream = fragments::compare(&mut *unit, entries, &mut oracle, grids, pattern, true);
    let all: Vec<_> = grids.iter().flat_map(|g| g.1.iter().copied()).collect();
    let counters = counters(&*unit);
    check_all(&all, &stream, &counters);
    counters
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    #[test]
    fn agrees_with_the_transcription(
        entries in prop_oneof![Just(1_u32), 1..60_u32, Just(512)],
        max_edges in 1..12_u32,
        samples in prop_oneof![Just(1), Just(2), Just(4), Just(8), Just(16)],
        coarse in any::<bool>(),
        seed in any::<u64>(),
        pitch in 150..1200_i32,
        jitter in 0..900_i32,
    ) {
        let pattern = match SamplePattern::coarse(samples) {
            Ok(coarse_pattern) if coarse => coarse_pattern,
            _ => SamplePattern::standard(samples).unwrap(),
        };
        let (grid, surface) = jittered(5, pitch, jitter, &pattern, seed);
        let noise = noise(&grid, 300, &pattern, seed);
        let settings = PmuSettings { entries, max_edges };
        compare(&[(grid.clone(), surface), (grid, noise)], &pattern, settings);
    }
}

/// On a surface of triangles of some quads each, many quads on edges between them are saved, and
/// more so with more entries.
#[test]
fn edges_between_triangles_are_saved() {
    let pattern = SamplePattern::standard(4).unwrap();
    let draws = [jittered(10, 2048, 900, &pattern, 5)];
    let saved = [1, 16, 512].map(|entries| {
        let settings = PmuSettings { entries, ..PmuSettings::default() };
        let counters = compare(&draws, &pattern, settings);
        (counters.saved, counters.partial)
    });
    assert!(saved.is_sorted(), "{saved:?}");
    assert!(saved[2].0 * 5 > saved[2].1, "{saved:?}");
}

#[test]
fn default_specification_is_the_published_unit() {
    let spec = PmuSpec::default();
    spec.validate().unwrap();
    let settings = spec.settings();
    assert_eq!((settings.entries, settings.max_edges), (512, 8));
}
