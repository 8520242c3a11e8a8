//! Quad-fragment merging: the examples of its paper, and random streams against its transcription.

use proptest::prelude::*;
use quadrille::geometry::grid::Topology;
use quadrille::mesh::merge::qfm::QfmSpec;
use quadrille::mesh::merge::{
    MergeUnit, MergeUnitKind, MergedQuad, QfmCounters, QfmSettings, QuadFragment,
};
use quadrille::raster::samples::SamplePattern;

use super::fragments::{self, check, check_order, jittered, noise, run, topology};
use super::qfm_oracle::SlowQuadFragmentMerging;

fn counters(unit: &dyn MergeUnit) -> QfmCounters {
    fragments::counters(unit).qfm.unwrap()
}

/// Samples of a shading pixel as coverage of the quad, at 4 samples per pixel.
fn at(pixel: u32, samples: u64) -> u64 {
    samples << (4 * pixel)
}

/// A fragment of `triangle` at one position.
fn fragment(triangle: u16, coverage: u64, centres: u8) -> QuadFragment {
    QuadFragment { position: [5, 7], coverage, centres, is_front: true, triangle, ids: [0; 3] }
}

fn merge_all(
    triangles: &[[u16; 3]],
    settings: QfmSettings,
    fragments: &[QuadFragment],
) -> (Vec<MergedQuad>, QfmCounters) {
    let pattern = SamplePattern::standard(4).unwrap();
    let mut unit = MergeUnitKind::Qfm(settings).build();
    unit.begin_grid(&topology(triangles), false);
    let stream = run(&mut *unit, fragments, &pattern);
    check(fragments, &stream);
    (stream.out, counters(&*unit))
}

/// A strip of triangles, each adjacent to the next.
fn strip(count: u16) -> Vec<[u16; 3]> {
    (0..count).map(|k| if k % 2 == 0 { [k, k + 1, k + 2] } else { [k + 1, k, k + 2] }).collect()
}

/// Figure 5: three triangles in a row become one quad.
#[test]
fn three_adjacent_triangles_are_shaded_once() {
    let fragments = [
        fragment(0, at(0, 0xf) | at(2, 0x1), 0b0001),
        fragment(1, at(1, 0x3) | at(2, 0x6), 0b0100),
        fragment(2, at(1, 0x4) | at(3, 0x7), 0b1000),
    ];
    let (quads, counters) = merge_all(&strip(3), QfmSettings::default(), &fragments);
    assert_eq!(quads.len(), 1);
    assert_eq!(quads[0].leader, 0);
    assert_eq!((counters.merged, counters.alone, counters.flushed), (2, 1, 1));
}

/// Figure 6: triangles across a silhouette share no edge, those between face away.
#[test]
fn nothing_merges_across_a_silhouette() {
    // A strip that folds: 2 and 3 face away.
    let back = |f: QuadFragment| QuadFragment { is_front: false, ..f };
    let fragments = [
        fragment(0, at(0, 0x1), 0),
        fragment(1, at(0, 0x2), 0),
        back(fragment(2, at(1, 0x1), 0)),
        back(fragment(3, at(1, 0x2), 0)),
        fragment(4, at(0, 0x4), 0),
        fragment(5, at(0, 0x8), 1),
    ];
    let (quads, counters) = merge_all(&strip(6), QfmSettings::default(), &fragments);
    let leaders: Vec<_> = quads.iter().map(|q| q.leader).collect();
    assert_eq!(leaders, [0, 2, 4]);
    assert_eq!((counters.alone, counters.apart, counters.merged), (2, 1, 3));
}

/// A quad that covers a sample of an entry does not merge with it, adjacent or not.
#[test]
fn overlapping_quads_do_not_merge() {
    let fragments = [fragment(0, 0x3, 0), fragment(1, 0x6, 0)];
    let (quads, counters) = merge_all(&strip(2), QfmSettings::default(), &fragments);
    assert_eq!((quads.len(), counters.overlapping), (2, 1));
}

/// Figure 7: top left and bottom right by their centres, bottom left by the nearest sample, top
/// right as its neighbour in the row.
#[test]
fn three_cases_of_shading_inputs() {
    // At 4x all samples are equally far from the centre: the first in order counts.
    let one = fragment(0, at(0, 0xf) | at(2, 0x1), 0b0001);
    let two = fragment(1, at(2, 0x4) | at(3, 0xf), 0b1000);
    let (quads, _) = merge_all(&strip(2), QfmSettings::default(), &[one, two]);
    assert_eq!(quads[0].inputs, [0, 0, 0, 1]);
    let (quads, _) = merge_all(&strip(2), QfmSettings::default(), &[two, one]);
    assert_eq!(quads[0].inputs, [1, 1, 1, 0]);
}

/// Case 3 takes the final choice of the horizontal, then the vertical, then the diagonal neighbour.
#[test]
fn uncovered_pixels_follow_their_neighbours() {
    let settings = QfmSettings::default();
    let of = |fragments: &[QuadFragment]| merge_all(&strip(3), settings, fragments).0[0].inputs;
    // Only the bottom right is covered, in the end by the centre of the last one.
    let late = [fragment(0, at(3, 1), 0), fragment(1, at(3, 2), 0), fragment(2, at(3, 4), 0b1000)];
    assert_eq!(of(&late), [2; 4]);
    // Top right follows top left; bottom right follows bottom left.
    let rows = [fragment(0, at(2, 1), 0), fragment(1, at(0, 1), 0)];
    assert_eq!(of(&rows), [1, 1, 0, 0]);
    // Top left is uncovered across, so it follows bottom left; top right follows bottom right.
    let columns = [fragment(0, at(2, 1), 0), fragment(1, at(3, 1), 0)];
    assert_eq!(of(&columns), [0, 1, 0, 1]);
}

/// Without a sample at the centre two triangles can both cover it: the first submitted counts.
#[test]
fn first_submitted_takes_a_centre_covered_twice() {
    let fragments = [fragment(0, 0x1, 1), fragment(1, 0x2, 1)];
    let (quads, _) = merge_all(&strip(2), QfmSettings::default(), &fragments);
    assert_eq!(quads[0].inputs[0], 0);
}

/// Figure 8, left: the triangle between covers no sample and yet joins its neighbours.
#[test]
fn empty_quads_connect() {
    let fragments = [fragment(0, at(0, 0x3), 1), fragment(1, 0, 0), fragment(2, at(1, 0x3), 2)];
    let (quads, counters) = merge_all(&strip(3), QfmSettings::default(), &fragments);
    assert_eq!((quads.len(), counters.empties, counters.merged), (1, 1, 2));
    let without = QfmSettings { empties: false, ..QfmSettings::default() };
    let (quads, counters) = merge_all(&strip(3), without, &fragments);
    assert_eq!((quads.len(), counters.ignored, counters.apart), (2, 1, 1));
    // Alone it is never shaded.
    let (quads, counters) = merge_all(&strip(3), QfmSettings::default(), &fragments[1..2]);
    assert_eq!((quads.len(), counters.dropped_empty), (0, 1));
}

/// Figure 8, right: 5 to 8 are joined to 1 to 4 only by the last one, so the first entry merges
/// when it is to leave.
#[test]
fn entries_merge_when_they_are_to_leave() {
    // Submitted: 0, 1, 2, 3, then 7, 6, 5, 4 of a strip.
    let order = [0, 1, 2, 3, 7, 6, 5, 4];
    let fragments = order.map(|t| fragment(t, 1 << t, 0));
    let (quads, counters) = merge_all(&strip(8), QfmSettings::default(), &fragments);
    // Triangle 4 goes to the most recent entry it can join, the entry of 5 to 7.
    assert_eq!((quads.len(), quads[0].leader), (1, 4));
    assert_eq!((counters.apart, counters.merged_at_eviction), (1, 1));
    let without = QfmSettings { merge_at_eviction: false, ..QfmSettings::default() };
    let (quads, _) = merge_all(&strip(8), without, &fragments);
    assert_eq!(quads.len(), 2);
}

/// A quad that is fully covered leaves before those that came earlier, and makes room.
#[test]
fn full_quads_leave_at_once() {
    let elsewhere = QuadFragment { position: [0, 0], ..fragment(0, 1, 0) };
    let fragments =
        [elsewhere, fragment(0, 0x00ff, 3), fragment(1, 0xff00, 12), fragment(3, 0xffff, 15)];
    let (quads, counters) = merge_all(&strip(4), QfmSettings::default(), &fragments);
    let leaders: Vec<_> = quads.iter().map(|q| q.leader).collect();
    assert_eq!(leaders, [1, 3, 0]);
    assert_eq!(quads[0].inputs, [1, 1, 2, 2]);
    assert_eq!((counters.released_full, counters.passed_full), (1, 1));
    assert_eq!((counters.peak_entries.0, counters.quads_out()), (2, 3));
}

/// The counters account for every fragment and every entry.
fn check_counters(c: &QfmCounters) {
    let made = c.alone + c.overlapping + c.apart;
    assert_eq!(c.fragments, c.ignored + c.merged + c.passed_full + made);
    let gone = c.merged_at_eviction + c.released_full + c.evicted + c.flushed + c.dropped_empty;
    assert_eq!(made, gone);
}

fn compare(
    grids: &[(Topology, Vec<QuadFragment>)],
    pattern: &SamplePattern,
    settings: QfmSettings,
    flush_between: bool,
) -> (Vec<MergedQuad>, QfmCounters) {
    let mut unit = MergeUnitKind::Qfm(settings).build();
    let mut oracle = SlowQuadFragmentMerging::new(settings, pattern);
    let entries = settings.entries;
    let stream =
        fragments::compare(&mut *unit, entries, &mut oracle, grids, pattern, flush_between);
    let counters = counters(&*unit);
    assert_eq!(counters.quads_out(), stream.out.len() as u64);
    let all: Vec<_> = grids.iter().flat_map(|g| g.1.iter().copied()).collect();
    check(&all, &stream);
    check_counters(&counters);
    (stream.out, counters)
}

fn settings() -> impl Strategy<Value = QfmSettings> {
    let entries = prop_oneof![Just(None), (1..40_u32).prop_map(Some), Just(Some(1))];
    let flags = (any::<bool>(), any::<bool>());
    (entries, 1..5_u32, flags).prop_map(|(entries, candidates, flags)| QfmSettings {
        entries,
        candidates,
        merge_at_eviction: flags.0,
        empties: flags.1,
        blended: true,
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    #[test]
    fn agrees_with_the_transcription(
        settings in settings(),
        samples in prop_oneof![Just(1), Just(2), Just(4), Just(8), Just(16)],
        seed in any::<u64>(),
        jitter in 0..900_i32,
        flush in any::<bool>(),
    ) {
        let pattern = SamplePattern::standard(samples).unwrap();
        let (grid, surface) = jittered(6, 300, jitter, &pattern, seed);
        let (second, more) = jittered(4, 200, jitter, &pattern, seed ^ 1);
        let noise = noise(&grid, 300, &pattern, seed);
        let grids = [(grid.clone(), surface), (second, more), (grid, noise)];
        compare(&grids, &pattern, settings, flush);
    }

    #[test]
    fn blended_quads_leave_in_order(
        settings in settings(),
        samples in prop_oneof![Just(1), Just(4), Just(16)],
        seed in any::<u64>(),
        jitter in 0..900_i32,
    ) {
        let pattern = SamplePattern::standard(samples).unwrap();
        let (grid, surface) = jittered(6, 300, jitter, &pattern, seed);
        let noise = noise(&grid, 300, &pattern, seed);
        for fragments in [surface, noise] {
            let mut unit = MergeUnitKind::Qfm(settings).build();
            unit.begin_grid(&grid, true);
            let stream = run(&mut *unit, &fragments, &pattern);
            check(&fragments, &stream);
            check_order(&fragments, &stream);
            check_counters(&counters(&*unit));
        }
    }

    /// Whether the buffer is emptied between grids changes when quads leave, not which.
    #[test]
    fn flushing_between_grids_changes_no_quad(
        settings in settings(),
        seed in any::<u64>(),
        jitter in 0..900_i32,
    ) {
        let pattern = SamplePattern::standard(8).unwrap();
        let grids = [0, 1, 2].map(|k| jittered(5, 300, jitter, &pattern, seed ^ k));
        let sorted = |flush| {
            let mut quads = compare(&grids, &pattern, settings, flush).0;
            quads.sort_by_key(|q| q.leader);
            quads
        };
        prop_assert_eq!(sorted(false), sorted(true));
    }
}

/// On a flat surface of small triangles nearly every quad is shaded once, and more entries do not
/// shade more.
#[test]
fn small_triangles_shade_each_quad_about_once() {
    let pattern = SamplePattern::standard(16).unwrap();
    let (grid, fragments) = jittered(16, 256, 100, &pattern, 3);
    let covered = fragments.iter().filter(|f| f.coverage != 0).count() as u64;
    let shaded = [1, 4, 32, 64].map(|entries| {
        let settings = QfmSettings { entries: Some(entries), ..QfmSettings::default() };
        let grids = [(grid.clone(), fragments.clone())];
        compare(&grids, &pattern, settings, true).1.quads_out()
    });
    assert!(shaded.is_sorted_by(|a, b| a >= b), "{shaded:?}");
    assert!(shaded[2] * 6 < covered, "{shaded:?} of {covered}");
}

#[test]
fn default_specification_is_the_published_unit() {
    let spec = QfmSpec::default();
    spec.validate().unwrap();
    assert_eq!(spec.settings().entries, Some(32));
    let unbounded = QfmSpec { entries: 0, ..spec };
    assert_eq!(unbounded.settings().entries, None);
}
