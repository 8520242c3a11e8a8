//! The emulated rasterizer's geometry against definitions of its own: which pixels a polygon covers
//! by edge functions in i128, which pixels a splat's box must hold by the reference alpha.
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use quadrille::gpu::geometry::splat_box::{splat_box, splat_rectangle};
use quadrille::raster::geometry::GUARD_BAND;
use quadrille::raster::geometry::PixelRect;
use quadrille::raster::geometry::Vertex;
use quadrille::raster::polygon::Polygon;
use quadrille::raster::strip::STRIP_COLUMNS;
use quadrille::raster::strip::STRIP_ROWS;
use quadrille::raster::strip::TileQuad;
use quadrille::raster::strip::tile_quads;
use quadrille_base::shading::fragment_alpha;
use quadrille_render::preprocess::cut_radius_squared;
use quadrille_render::preprocess::exact::ExactSplat;

/// The same cases on every run; some properties pass over half of them.
fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        max_global_rejects: 10 * cases,
        rng_seed: RngSeed::Fixed(1),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// The part of the plane that is compared pixel by pixel, and the vertices that lie about in it.
const WINDOW: PixelRect = PixelRect { x0: -16, y0: -32, x1: 48, y1: 32 };

fn pixels(rect: PixelRect) -> impl Iterator<Item = (i32, i32)> {
    (rect.y0..rect.y1).flat_map(move |y| (rect.x0..rect.x1).map(move |x| (x, y)))
}

/// Twice the area of (a, b, p): positive when p is on the right hand of a to b, y pointing down.
fn side(a: Vertex, b: Vertex, p: Vertex) -> i128 {
    let [ax, ay, bx, by, px, py] = [a.x, a.y, b.x, b.y, p.x, p.y].map(i128::from);
    (bx - ax) * (py - ay) - (by - ay) * (px - ax)
}

fn centre(x: i32, y: i32) -> Vertex {
    Vertex { x: 256 * x + 128, y: 256 * y + 128 }
}

/// Coverage by definition: inside all edges, or on top and left ones.
fn is_inside(corners: [Vertex; 3], p: Vertex) -> bool {
    let [a, mut b, mut c] = corners;
    match side(a, b, c) {
        0 => return false,
        1.. => {}
        _ => (b, c) = (c, b),
    }
    [(a, b), (b, c), (c, a)].into_iter().all(|(from, to)| {
        let is_left = to.y < from.y;
        let is_top = to.y == from.y && to.x > from.x;
        let side = side(from, to, p);
        side > 0 || (side == 0 && (is_left || is_top))
    })
}

/// Vertices at all the places that matter: anywhere, on pixel centres and edges (so that edges
/// meet centres), in few places (so that many are level, upright or the same), far away.
fn vertex() -> impl Strategy<Value = Vertex> {
    let anywhere = (-24 * 256..56 * 256, -40 * 256..40 * 256);
    let centres = (-20..52, -36..36).prop_map(|(x, y)| (256 * x + 128, 256 * y + 128));
    let corners = (-5..13, -9..9).prop_map(|(x, y)| (1024 * x, 1024 * y));
    let halves = (-40..104, -72..72).prop_map(|(x, y)| (128 * x, 128 * y));
    let off_screen = (-100_000..100_000, -100_000..100_000);
    let huge = (-GUARD_BAND..=GUARD_BAND, -GUARD_BAND..=GUARD_BAND);
    let extreme = [-GUARD_BAND, 0, 128, GUARD_BAND];
    let extreme = (prop::sample::select(extreme.to_vec()), prop::sample::select(extreme.to_vec()));
    prop_oneof![
        4 => anywhere,
        2 => centres,
        1 => corners,
        2 => halves,
        1 => off_screen,
        1 => huge,
        1 => extreme,
    ]
    .prop_map(|(x, y)| Vertex { x, y })
}

fn vertices<const N: usize>() -> impl Strategy<Value = [Vertex; N]> {
    prop::collection::vec(vertex(), N).prop_map(|v| v.try_into().unwrap())
}

/// Triangles of every kind, also slivers: the third corner near the line through the others.
fn triangle() -> impl Strategy<Value = [Vertex; 3]> {
    let sliver = (vertices::<2>(), -8..=16_i64, -2..=2, -2..=2).prop_map(|([a, b], at, dx, dy)| {
        let between = |a: i32, b: i32| {
            let p = i64::from(a) + (i64::from(b) - i64::from(a)) * at / 8;
            let band = i64::from(GUARD_BAND) - 2;
            i32::try_from(p.clamp(-band, band)).unwrap()
        };
        let c = Vertex { x: between(a.x, b.x) + dx, y: between(a.y, b.y) + dy };
        [a, b, c]
    });
    prop_oneof![3 => vertices::<3>(), 1 => sliver]
}

/// Holds the masks of a strip to `covered`, which is asked inside `clip` alone.
fn assert_same_in_strip(
    polygon: &Polygon,
    [x0, y0]: [i32; 2],
    clip: PixelRect,
    covered: impl Fn(i32, i32) -> bool,
) -> Result<(), TestCaseError> {
    let strip = polygon.strip([x0, y0], clip);
    for row in (0..STRIP_ROWS).step_by(8) {
        for column in (0..STRIP_COLUMNS).step_by(8) {
            let is_covered = |i: &i32| {
                let (x, y) = (x0 + column + i % 8, y0 + row + i / 8);
                clip.contains(x, y) && covered(x, y)
            };
            let bits = (0..64).filter(is_covered);
            let expected = bits.fold(0_u64, |mask, i| mask | 1 << i);
            let mask = strip.tile_mask(column.unsigned_abs(), row.unsigned_abs());
            prop_assert_eq!(mask, expected, "tile ({}, {})", x0 + column, y0 + row);
        }
    }
    Ok(())
}

/// Holds the masks of overlapping strips to `covered` inside the window, under `clip`.
fn assert_same_in_strips(
    polygon: &Polygon,
    clip: PixelRect,
    covered: impl Fn(i32, i32) -> bool,
) -> Result<(), TestCaseError> {
    for y0 in (WINDOW.y0..WINDOW.y1).step_by(8) {
        for x0 in (WINDOW.x0..=WINDOW.x1 - STRIP_COLUMNS).step_by(4) {
            assert_same_in_strip(polygon, [x0, y0], clip, &covered)?;
        }
    }
    Ok(())
}

/// The 2x2 blocks of a mask, by definition.
fn expected_quads(mask: u64) -> Vec<TileQuad> {
    let places = (0..4).flat_map(|row| (0..4).map(move |column| (column, row)));
    let quad = |(column, row): (u8, u8)| {
        let bit = |x: u8, y: u8| u8::from(mask >> (8 * (2 * row + y) + 2 * column + x) & 1 == 1);
        TileQuad {
            place: 8 * row + column,
            mask: bit(0, 0) | bit(1, 0) << 1 | bit(0, 1) << 2 | bit(1, 1) << 3,
        }
    };
    places.map(quad).filter(|q| q.mask != 0).collect()
}

/// How many of `polygons` cover pixel (x, y).
fn times_drawn(polygons: &[Option<Polygon>], x: i32, y: i32) -> usize {
    let drawn = polygons.iter().flatten().filter(|p| p.covers(x, y));
    drawn.count()
}

proptest! {
    #![proptest_config(cases(3000))]

    #[test]
    fn triangles_cover_what_the_edge_functions_say(corners in triangle()) {
        let [a, b, c] = corners;
        let Some(polygon) = Polygon::triangle(corners) else {
            prop_assert_eq!(side(a, b, c), 0);
            return Ok(());
        };
        prop_assert_ne!(side(a, b, c), 0);
        let inside = |x, y| is_inside(corners, centre(x, y));
        for (x, y) in pixels(WINDOW) {
            prop_assert_eq!(polygon.covers(x, y), inside(x, y), "({}, {})", x, y);
            prop_assert!(!inside(x, y) || polygon.pixel_bounds().contains(x, y));
        }
        assert_same_in_strips(&polygon, WINDOW, inside)?;
    }

    #[test]
    fn strips_are_clipped(
        corners in triangle(),
        (x0, width) in (-20..50, -2..40),
        (y0, height) in (-40..40, -2..40),
    ) {
        let clip = PixelRect { x0, y0, x1: x0 + width, y1: y0 + height };
        if let Some(polygon) = Polygon::triangle(corners) {
            assert_same_in_strips(&polygon, clip, |x, y| polygon.covers(x, y))?;
        }
    }

    /// Far from the origin columns are large numbers, divided exactly all the same.
    #[test]
    fn strips_are_exact_far_away(corners in triangle(), column in 0..1_i32 << 20, row in -1000..1000) {
        let (dx, dy) = (256 * (column - 64).max(0), 256 * row);
        let band = i64::from(GUARD_BAND);
        let moved = |v: Vertex| {
            let [x, y] = [(v.x, dx), (v.y, dy)].map(|(v, d)| i64::from(v) + i64::from(d));
            [x, y].map(|v| i32::try_from(v.clamp(-band, band)).unwrap())
        };
        let corners = corners.map(moved).map(|[x, y]| Vertex { x, y });
        let clip = PixelRect { x0: dx / 256, y0: row, x1: dx / 256 + 48, y1: row + 16 };
        if let Some(polygon) = Polygon::triangle(corners) {
            let inside = |x, y| is_inside(corners, centre(x, y));
            assert_same_in_strip(&polygon, [clip.x0, clip.y0], clip, inside)?;
        }
    }

    #[test]
    fn rectangles_are_two_triangles([a, b] in vertices::<2>()) {
        let (min, max) = (
            Vertex { x: a.x.min(b.x), y: a.y.min(b.y) },
            Vertex { x: a.x.max(b.x), y: a.y.max(b.y) },
        );
        let (top_right, bottom_left) = (Vertex { x: max.x, ..min }, Vertex { x: min.x, ..max });
        let Some(polygon) = Polygon::rectangle(min, max) else {
            prop_assert!(a.x == b.x || a.y == b.y);
            return Ok(());
        };
        let halves = [[min, top_right, max], [min, max, bottom_left]];
        let inside = |x, y| halves.iter().any(|h| is_inside(*h, centre(x, y)));
        for (x, y) in pixels(WINDOW) {
            prop_assert_eq!(polygon.covers(x, y), inside(x, y), "({}, {})", x, y);
        }
        assert_same_in_strips(&polygon, WINDOW, inside)?;
        // Nothing in the bounds is outside.
        let covered = pixels(WINDOW).filter(|(x, y)| polygon.covers(*x, *y)).count();
        let bounds = polygon.pixel_bounds().intersect(WINDOW);
        prop_assert_eq!(covered, pixels(bounds).count());
    }

    #[test]
    fn the_coarse_test_misses_nothing(corners in triangle(), size in prop::sample::select(vec![1, 2, 4, 8, 16])) {
        let Some(polygon) = Polygon::triangle(corners) else { return Ok(()) };
        for (x, y) in pixels(WINDOW).filter(|(x, y)| polygon.covers(*x, *y)) {
            let (x0, y0) = (x & -size, y & -size);
            prop_assert!(polygon.touches(x0, y0, size), "block of {} at ({}, {})", size, x0, y0);
        }
        if size == 1 {
            // Blocks of one pixel leave nothing to be coarse about.
            for (x, y) in pixels(WINDOW) {
                prop_assert_eq!(polygon.touches(x, y, 1), polygon.covers(x, y));
            }
        }
    }

    /// A fan around a point is drawn once inside, where no edge but the outer ones bounds it.
    #[test]
    fn fans_are_drawn_exactly_once(
        middle in vertex(),
        radius in 1..60 * 256_i32,
        turns in prop::collection::vec(0.0..1.0_f64, 3..9),
    ) {
        let band = f64::from(GUARD_BAND);
        let mut turns = turns;
        turns.sort_by(f64::total_cmp);
        let at = |turn: &f64| {
            let (sin, cos) = (turn * std::f64::consts::TAU).sin_cos();
            let place = |middle: i32, along: f64| {
                let v = f64::from(middle) + f64::from(radius) * along;
                #[allow(clippy::cast_possible_truncation, reason = "clamped to the guard band")]
                let v = v.round().clamp(-band, band) as i32;
                v
            };
            Vertex { x: place(middle.x, cos), y: place(middle.y, sin) }
        };
        let rim: Vec<Vertex> = turns.iter().map(at).collect();
        let next = |i: usize| rim[(i + 1) % rim.len()];
        // The rim turns right as it goes, unless rounding or a gap of half a turn bent it.
        let is_star = (0..rim.len()).all(|i| side(middle, rim[i], next(i)) > 0);
        prop_assume!(is_star);
        let fan: Vec<_> =
            (0..rim.len()).map(|i| Polygon::triangle([middle, rim[i], next(i)])).collect();
        for (x, y) in pixels(WINDOW) {
            let p = centre(x, y);
            let drawn = times_drawn(&fan, x, y);
            prop_assert!(drawn <= 1, "({}, {}) {} times", x, y, drawn);
            let is_in_kernel = (0..rim.len()).all(|i| side(rim[i], next(i), p) > 0);
            prop_assert!(drawn == 1 || !is_in_kernel, "({}, {}) not at all", x, y);
        }
    }

    /// The two halves of a quadrilateral, convex or not: each centre strictly inside once, whichever
    /// diagonal cuts it.
    #[test]
    fn halves_of_a_quadrilateral_are_drawn_exactly_once(corners in vertices::<4>()) {
        let [a, b, c, d] = corners;
        // b and d on either side of a c: the halves share nothing but it.
        prop_assume!(side(a, c, b).signum() * side(a, c, d).signum() == -1);
        let halves = [Polygon::triangle([a, b, c]), Polygon::triangle([a, c, d])];
        let is_convex = side(b, d, a).signum() * side(b, d, c).signum() == -1;
        let other = [Polygon::triangle([a, b, d]), Polygon::triangle([b, c, d])];
        for (x, y) in pixels(WINDOW) {
            let drawn = times_drawn(&halves, x, y);
            prop_assert!(drawn <= 1, "({}, {}) {} times", x, y, drawn);
            if is_convex {
                prop_assert_eq!(drawn, times_drawn(&other, x, y), "({}, {})", x, y);
            }
        }
    }

    #[test]
    fn masks_split_into_their_quads(mask: u64, holes: u64) {
        for mask in [mask, mask & holes, 0, u64::MAX, 1 << (mask & 63)] {
            let quads = tile_quads(mask);
            prop_assert_eq!(quads.len(), quads.clone().count());
            prop_assert_eq!(quads.collect::<Vec<_>>(), expected_quads(mask));
        }
    }
}

/// The picture that splats are drawn in.
const SIZE: (u32, u32) = (320, 200);

/// A splat of a covariance with these standard deviations along its axes.
fn exact_splat(mean: [f64; 2], sigmas: [f64; 2], turn: f64, opacity: f64) -> ExactSplat {
    let (sin, cos) = (turn * std::f64::consts::TAU).sin_cos();
    let [p, q] = sigmas.map(|s| s * s);
    ExactSplat {
        depth: 1.0,
        order: 1.0,
        mean_from_centre_px: mean,
        covariance: [
            p * cos * cos + q * sin * sin,
            (p - q) * cos * sin,
            p * sin * sin + q * cos * cos,
        ],
        determinant: p * q,
        disc: None,
        opacity,
        colour: [1.0; 3],
    }
}

/// Standard deviations: from the low-pass filter's least to far more than a picture.
fn sigma() -> impl Strategy<Value = f64> {
    prop_oneof![
        2 => (0.3_f64.ln()..20_f64.ln()).prop_map(f64::exp),
        1 => (0.3_f64.ln()..30_000_f64.ln()).prop_map(f64::exp),
        1 => Just(0.55),
    ]
}

/// Multiples of an eighth of a turn among the angles, and opacities down to the cut itself.
fn splat() -> impl Strategy<Value = (ExactSplat, [f64; 2])> {
    let turn = prop_oneof![3 => 0.0..1.0, 1 => (0..8).prop_map(|i| f64::from(i) / 8.0)];
    let opacity = prop_oneof![
        3 => (0.004_f64.ln()..0.0).prop_map(f64::exp),
        1 => (0.0..1e-3).prop_map(|x| (1.0 + x) / 255.0),
    ];
    let mean = (-300.0..300.0_f64, -250.0..250.0_f64);
    let mean = prop_oneof![
        4 => mean,
        1 => (-4..4, -4..4).prop_map(|(x, y)| (f64::from(x) / 2.0, f64::from(y) / 2.0)),
    ];
    let sigmas = prop_oneof![4 => (sigma(), sigma()), 1 => sigma().prop_map(|s| (s, s))];
    (mean, sigmas, turn, opacity).prop_map(|((x, y), (p, q), turn, opacity)| {
        (exact_splat([x, y], [p, q], turn, opacity), [p, q])
    })
}

/// The pixels of the picture in which the reference's alpha reaches the cut.
fn footprint(splat: &ExactSplat) -> impl Iterator<Item = (i32, i32)> {
    let (width, height) = (SIZE.0.cast_signed(), SIZE.1.cast_signed());
    let [xx, xy, yy] = splat.covariance.map(|v| v / splat.determinant);
    let (conic, mean, opacity) = ([yy, -xy, xx], splat.mean_from_centre_px, splat.opacity);
    let picture = PixelRect { x0: 0, y0: 0, x1: width, y1: height };
    pixels(picture).filter(move |(x, y)| {
        let offset = |i: i32, size: i32, mean| f64::from(i) + 0.5 - f64::from(size) / 2.0 - mean;
        let d = [offset(*x, width, mean[0]), offset(*y, height, mean[1])];
        fragment_alpha(conic, d, opacity, 0.99).is_some()
    })
}

/// The area of a box in square pixels.
fn area([a, b, c, d]: [Vertex; 4]) -> f64 {
    #[allow(clippy::cast_precision_loss, reason = "an area to compare with a bound")]
    let twice = (side(a, b, c).abs() + side(a, c, d).abs()) as f64;
    twice / 2.0 / (256.0 * 256.0)
}

proptest! {
    #![proptest_config(cases(3000))]

    #[test]
    fn footprints_are_drawn_exactly_once((splat, sigmas) in splat()) {
        let corners = splat_box(&splat.to_projected(0), SIZE.0, SIZE.1);
        let [a, b, c, d] = corners;
        let halves = [Polygon::triangle([a, b, c]), Polygon::triangle([a, c, d])];
        for (x, y) in footprint(&splat) {
            prop_assert_eq!(times_drawn(&halves, x, y), 1, "({}, {}) of {:?}", x, y, corners);
        }
        // Twice 1.42 / 512 px for the corners, and what f32 took from the fields.
        let radius = cut_radius_squared(splat.opacity).max(0.0).sqrt();
        let [p, q] = sigmas.map(|s| 2.0 * (s * (radius + 0.002) + 0.006));
        prop_assert!(area(corners) <= p * q, "{} of {} x {}", area(corners), p, q);
        let reach = i64::from(256 * SIZE.0);
        for v in corners {
            prop_assert!(i64::from(v.x).abs().max(v.y.into()) <= 2 * reach);
        }
    }

    #[test]
    fn rectangles_hold_footprints_and_no_more((splat, _) in splat()) {
        let corners = splat_rectangle(&splat.to_projected(0), SIZE.0, SIZE.1);
        let rectangle = [Polygon::rectangle(corners[0], corners[1])];
        for (x, y) in footprint(&splat) {
            prop_assert_eq!(times_drawn(&rectangle, x, y), 1, "({}, {}) of {:?}", x, y, corners);
        }
        // A footprint extends along an axis by the radius times the root of the covariance there; the margin is as above.
        let radius = cut_radius_squared(splat.opacity).max(0.0).sqrt();
        let [low, high] = corners.map(|v| [v.x, v.y].map(|c| f64::from(c) / 256.0));
        for (axis, of) in [0, 2].into_iter().enumerate() {
            let limit = 2.0 * (splat.covariance[of].sqrt() * (radius + 0.002) + 0.006);
            prop_assert!(high[axis] - low[axis] <= limit, "{:?}, {}", corners, limit);
        }
    }

    #[test]
    fn boxes_of_poison_are_no_harm(
        (splat, _) in splat(),
        field in 0..6,
        poison in prop::sample::select(vec![
            f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, f32::MIN, f32::MIN_POSITIVE,
            1e-45, 0.0, -1.0,
        ]),
        size in prop::sample::select(vec![0, 1, 200, 65_536]),
    ) {
        let mut splat = splat.to_projected(0);
        let fields = [
            &mut splat.u_at_centre, &mut splat.v_at_centre, &mut splat.u_per_x,
            &mut splat.u_per_y, &mut splat.v_per_y, &mut splat.log2_opacity,
        ];
        for (i, value) in (0..).zip(fields) {
            if i == field {
                *value = poison;
            }
        }
        let corners = splat_box(&splat, size, size);
        for v in corners {
            prop_assert!(v.x.abs().max(v.y.abs()) < GUARD_BAND);
        }
        prop_assert!(poison.is_finite() || area(corners) == 0.0);
        let [least, greatest] = splat_rectangle(&splat, size, size);
        for v in [least, greatest] {
            prop_assert!(v.x.abs().max(v.y.abs()) < GUARD_BAND);
        }
        prop_assert!(poison.is_finite() || least == greatest);
    }
}
