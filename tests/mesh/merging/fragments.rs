//! Fragments of surfaces, random fragments, and checks that hold for every merging unit.

use std::collections::HashMap;

use quadrille::SimdLevel;
use quadrille::geometry::grid::{Topology, neighbours};
use quadrille::mesh::merge::{MergeCounters, MergeStream, MergeUnit, MergedQuad, QuadFragment};
use quadrille::mesh::project::touched_quads;
use quadrille::raster::geometry::Vertex;
use quadrille::raster::outline::Outline;
use quadrille::raster::sampled::SampledPolygon;
use quadrille::raster::samples::SamplePattern;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

/// The topology of triangles that share vertices.
pub(super) fn topology(triangles: &[[u16; 3]]) -> Topology {
    Topology { triangles: triangles.to_vec(), neighbours: neighbours(triangles) }
}

/// Appends the fragments of a triangle with corners in 1/256 px.
fn rasterize(
    corners: [[i32; 2]; 3],
    triangle: u16,
    ids: [u32; 3],
    pattern: &SamplePattern,
    out: &mut Vec<QuadFragment>,
) {
    let corners = corners.map(|[x, y]| Vertex { x, y });
    let outline = SampledPolygon::triangle(corners, pattern.shared(), SimdLevel::best());
    let Some(outline) = outline else { return };
    touched_quads(&outline, outline.bounds(), |position, quad| {
        out.push(QuadFragment {
            position,
            coverage: quad.coverage,
            centres: quad.centres,
            is_front: outline.is_front(),
            triangle,
            ids,
        });
    });
}

/// A grid of `side` x `side` jittered squares of two triangles, `pitch` 1/256 px apart, as fragments.
/// With much jitter some triangles turn over and overlap others.
pub(super) fn jittered(
    side: u16,
    pitch: i32,
    jitter: i32,
    pattern: &SamplePattern,
    seed: u64,
) -> (Topology, Vec<QuadFragment>) {
    let mut random = Pcg64::seed_from_u64(seed);
    let row = side + 1;
    let points: Vec<[i32; 2]> = (0..row * row)
        .map(|k| [k % row, k / row].map(|v| i32::from(v) * pitch + random.random_range(0..=jitter)))
        .collect();
    let mut triangles = Vec::new();
    for k in (0..side * row).filter(|k| k % row < side) {
        triangles.push([k, k + 1, k + row]);
        triangles.push([k + row, k + 1, k + row + 1]);
    }
    let mut fragments = Vec::new();
    for (t, corners) in (0..).zip(&triangles) {
        let at = corners.map(|c| points[usize::from(c)]);
        rasterize(at, t, corners.map(u32::from), pattern, &mut fragments);
    }
    (topology(&triangles), fragments)
}

/// Fragments with any coverage of any triangle of a jittered grid, at few positions: no rasterizer
/// makes them, but a unit must survive them.
pub(super) fn noise(
    topology: &Topology,
    count: usize,
    pattern: &SamplePattern,
    seed: u64,
) -> Vec<QuadFragment> {
    let mut random = Pcg64::seed_from_u64(seed);
    let fragment = |_| {
        let triangle = random.random_range(0..topology.triangles.len());
        let mut coverage = random.random::<u64>() & random.random::<u64>();
        match random.random_range(0..8) {
            0 => coverage = 0,
            1 => coverage = u64::MAX,
            2..6 => coverage &= random.random::<u64>() & random.random::<u64>(),
            _ => {}
        }
        QuadFragment {
            position: [random.random_range(0..3), random.random_range(0..2)],
            coverage: coverage & pattern.full_quad(),
            centres: random.random::<u8>() & random.random::<u8>() & 15,
            is_front: random.random_range(0..5) > 0,
            triangle: triangle as u16,
            ids: topology.triangles[triangle].map(u32::from),
        }
    };
    (0..count).map(fragment).collect()
}

/// Sends fragments through a unit.
pub(super) fn run(
    unit: &mut dyn MergeUnit,
    fragments: &[QuadFragment],
    pattern: &SamplePattern,
) -> MergeStream {
    let mut stream = MergeStream::new(pattern.shared());
    for fragment in fragments {
        unit.push(fragment, &mut stream);
    }
    unit.flush(&mut stream);
    stream
}

/// Counters of a unit.
pub(super) fn counters(unit: &dyn MergeUnit) -> MergeCounters {
    let mut counters = MergeCounters::default();
    unit.report(&mut counters);
    counters
}

/// Rank of the sample of `samples` nearest to the centre of its shading pixel, among all samples by
/// distance and then by number; `None` if there is none.
pub(super) fn rank_of_nearest(pattern: &SamplePattern, samples: u16) -> Option<u8> {
    let centre = pattern.side_units() / 2;
    let distance = |[x, y]: [i32; 2]| (x - centre).pow(2) + (y - centre).pow(2);
    let offsets = pattern.offsets();
    let mut order: Vec<usize> = (0..offsets.len()).collect();
    order.sort_by_key(|&k| distance(offsets[k]));
    let first = order.iter().position(|k| samples >> k & 1 == 1);
    first.map(|rank| rank as u8)
}

/// A slow transcription of a unit's definition in its paper.
pub(super) trait Oracle {
    fn begin_grid(&mut self, _topology: &Topology) {}
    fn push(&mut self, fragment: &QuadFragment);
    fn flush(&mut self);
    /// Quads that have left.
    fn emitted(&self) -> &[MergedQuad];
}

/// Sends grids through a unit and its transcription, which must agree.
pub(super) fn compare(
    unit: &mut dyn MergeUnit,
    entries: Option<u32>,
    oracle: &mut impl Oracle,
    grids: &[(Topology, Vec<QuadFragment>)],
    pattern: &SamplePattern,
    flush_between: bool,
) -> MergeStream {
    let mut stream = MergeStream::new(pattern.shared());
    for (topology, fragments) in grids {
        unit.begin_grid(topology, false);
        oracle.begin_grid(topology);
        for fragment in fragments {
            unit.push(fragment, &mut stream);
            oracle.push(fragment);
            assert!(entries.is_none_or(|e| unit.occupancy() <= e));
        }
        if flush_between {
            unit.flush(&mut stream);
            oracle.flush();
            assert_eq!(unit.occupancy(), 0);
        }
    }
    unit.flush(&mut stream);
    oracle.flush();
    assert_eq!(stream.out, oracle.emitted());
    stream
}

/// Checks the invariants of every unit: every sample of every fragment is in the quad that its
/// shading pixel was merged into, each quad has the samples of its fragments, no two of which
/// overlap, quads are not empty, and inputs come from fragments of the same position and facing.
pub(super) fn check(fragments: &[QuadFragment], stream: &MergeStream) {
    let MergeStream { pattern, fragments: merged, out: quads, .. } = stream;
    assert_eq!(merged.len(), fragments.len());
    let mut expected: HashMap<u32, u64> = HashMap::new();
    for (number, fragment) in (0..).zip(fragments) {
        for pixel in 0..4 {
            let samples = u64::from(pattern.pixel(fragment.coverage, pixel));
            if samples != 0 {
                let root = merged.find(number, pixel);
                let to = &fragments[root as usize];
                assert_eq!((to.position, to.is_front), (fragment.position, fragment.is_front));
                let bits = samples << (pixel * pattern.count() as usize);
                let all = expected.entry(root).or_default();
                assert_eq!(*all & bits, 0, "merged fragments overlap");
                *all |= bits;
            }
        }
    }
    assert_eq!(quads.len(), expected.len());
    for quad in quads {
        assert_eq!(expected.remove(&quad.leader), Some(quad.coverage));
        let leader = &fragments[quad.leader as usize];
        for input in quad.inputs {
            let input = &fragments[input as usize];
            assert_eq!((input.position, input.is_front), (leader.position, leader.is_front));
        }
    }
}

/// Checks that, at every sample, quads leave in the order in which the fragments that cover it came.
pub(super) fn check_order(fragments: &[QuadFragment], stream: &MergeStream) {
    let left: HashMap<u32, usize> = (stream.out.iter().map(|quad| quad.leader)).zip(0..).collect();
    let mut last: HashMap<([u16; 2], usize), usize> = HashMap::new();
    let count = stream.pattern.count() as usize;
    for (number, fragment) in (0..).zip(fragments) {
        for sample in (0..4 * count).filter(|sample| fragment.coverage >> sample & 1 == 1) {
            let turn = left[&stream.fragments.find(number, sample / count)];
            let before = last.insert((fragment.position, sample), turn);
            assert!(before.is_none_or(|before| before < turn), "sample {sample}");
        }
    }
}
