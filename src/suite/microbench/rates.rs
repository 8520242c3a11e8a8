//! Rates of draws of rectangles, as programs measure them on hardware: from a draw and one that is twice as long, so
//! that the start and the end of a draw cancel.

use super::bench::Rectangle;
use super::pixels_per_clock::pixels_per_cycle;
use super::quads_per_pixel;
use quadrille_base::raster::geometry::{SUBPIXEL_BITS, Vertex};
use quadrille_base::raster::tiles::TILE_PX;
use quadrille_base::shading::{ColourFormat, CompareOp, StencilTest};
use quadrille_gpu::config::Config;
use quadrille_gpu::draw::{Draw, FlatTriangle};
use quadrille_gpu::variant::Variant;
use quadrille_gpu::warp::shader_blend::ShaderOrder;
use quadrille_gpu::wiring::Simulator;
use quadrille_gpu::zrop::framebuffer::Tests;

const SIDE_PX: u32 = 16 * TILE_PX;
const LAYERS: u32 = 12;
const MOST_SMALL_PX: u32 = 32;
const MOST_LAYERS: u32 = 96;
const SMALL: u32 = 8192;

/// Work per cycle of the GPU.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum WorkRate {
    /// Pixels per cycle: blended ones or, in stencil tests that kill nearly all, killed ones.
    Pixels(f64),
    /// Rectangles per cycle.
    Rectangles(f64),
}

/// Stencil test that passes no pixel, or only the first of each screen tile.
fn kills(is_sparse: bool) -> Tests {
    let test = StencilTest { compare: CompareOp::Equal, reference: 1, ..StencilTest::default() };
    let pixels = (0..SIDE_PX).flat_map(|y| (0..SIDE_PX).map(move |x| [x, y]));
    let is_first = |at: [u32; 2]| at.iter().all(|px| px.is_multiple_of(TILE_PX));
    let values = pixels.map(|at| u8::from(is_sparse && is_first(at)));
    Tests { stencil: Some((test, values.collect())), depth: None }
}

fn small(side: u32, count: u32) -> Vec<Rectangle> {
    let across = SIDE_PX / side;
    let at = |n: u32| [n % across * side, n / across % across * side, side, side];
    (0..count).map(at).collect()
}

fn side_px(text: &str, most: u32) -> Option<u32> {
    text.parse().ok().filter(|side| (1..=most).contains(side))
}

/// Draws each rectangle as two triangles, as programs do on hardware.
fn draw(list: &[Rectangle]) -> Draw {
    let corner = |x: u32, y: u32| Vertex {
        x: (x << SUBPIXEL_BITS).cast_signed(),
        y: (y << SUBPIXEL_BITS).cast_signed(),
    };
    let triangles = list.iter().flat_map(|&[x, y, w, h]| {
        let [right, bottom] = [x + w, y + h];
        let shared = [corner(right, y), corner(x, bottom)];
        [corner(x, y), corner(right, bottom)].map(|own| FlatTriangle {
            corners: [own, shared[0], shared[1]],
            colour: [1.0, 0.5, 0.25],
            alpha: 0.25,
            depth: 0.0,
        })
    });
    let triangles: Vec<FlatTriangle> = triangles.collect();
    Draw::triangles(SIDE_PX, SIDE_PX, &triangles)
}

/// Rectangles per cycle, from the difference between draws of `count` rectangles and of twice as many.
fn per_cycle(
    simulator: &Simulator,
    tests: &Tests,
    count: u32,
    list: impl Fn(u32) -> Vec<Rectangle>,
) -> f64 {
    let [once, twice] = [1, 2].map(|times| {
        let draw = draw(&list(times * count));
        simulator.run(&draw, draw.shader(), tests).cycles
    });
    f64::from(count) / twice.saturating_sub(once) as f64
}

/// The rate of a named draw on a valid configuration; `None` for a name of no such draw. The names are `blend-FORMAT`,
/// `blend-rgba16f-N-quads` (N quads for four pixels, from 2 to 4), `stencil-kill`, `stencil-sparse`, `rectangles-SIDE`,
/// `stencil-kill-rectangles-SIDE`, `stencil-sparse-rectangles-SIDE` (squares of 1 to 32 pixels), `shader-blend` and
/// `interlock`; and `blend-FORMAT-stacked-SIDE`, `shader-blend-stacked-SIDE` and `interlock-stacked-SIDE`, squares of up
/// to 256 pixels on each other.
pub fn rate(config: &Config, name: &str) -> Option<WorkRate> {
    let (draw, side) = match name.split_once("-stacked-") {
        Some((draw, side)) => (draw, side_px(side, SIDE_PX)?),
        None => (name, SIDE_PX),
    };
    let none = Tests::default();
    for order in [ShaderOrder::Unordered, ShaderOrder::Interlocked] {
        if draw == order.name() {
            return Some(stack(&Simulator::blending_in_shader(config, order).ok()?, &none, side));
        }
    }
    for format in ColourFormat::ALL {
        if draw.strip_prefix("blend-") == Some(format.name()) {
            let mut config = config.clone();
            config.crop.format = format;
            return Some(stack(&Simulator::unchecked(&config, Variant::BASELINE), &none, side));
        }
    }
    if let Some(quads) = name.strip_prefix("blend-rgba16f-") {
        let times = quads_per_pixel::times(config).into_iter();
        let mut times = times.zip(["2-quads", "3-quads", "4-quads"]);
        let ((_, time), _) = times.find(|(_, name)| *name == quads)?;
        return Some(WorkRate::Pixels(pixels_per_cycle(config, ColourFormat::Rgba16F) / time));
    }
    let simulator = Simulator::unchecked(config, Variant::BASELINE);
    for (kind, tests) in [("stencil-kill", kills(false)), ("stencil-sparse", kills(true))] {
        if let Some(rest) = name.strip_prefix(kind) {
            let side = rest.strip_prefix("-rectangles-");
            let whole = || rest.is_empty().then(|| stack(&simulator, &tests, SIDE_PX));
            return side.map_or_else(whole, |side| row(&simulator, &tests, side));
        }
    }
    row(&simulator, &none, name.strip_prefix("rectangles-")?)
}

fn stack(simulator: &Simulator, tests: &Tests, side: u32) -> WorkRate {
    let list = |count: u32| vec![[0, 0, side, side]; count as usize];
    let per_cycle = per_cycle(simulator, tests, (LAYERS * SIDE_PX / side).min(MOST_LAYERS), list);
    WorkRate::Pixels(per_cycle * f64::from(side).powi(2))
}

fn row(simulator: &Simulator, tests: &Tests, side: &str) -> Option<WorkRate> {
    let side = side_px(side, MOST_SMALL_PX)?;
    let list = |count| small(side, count);
    Some(WorkRate::Rectangles(per_cycle(simulator, tests, SMALL, list)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pixels(name: &str) -> f64 {
        match rate(&Config::default(), name) {
            Some(WorkRate::Pixels(rate)) => rate,
            other => panic!("{name}: {other:?}"),
        }
    }

    fn rectangles(name: &str) -> f64 {
        match rate(&Config::default(), name) {
            Some(WorkRate::Rectangles(rate)) => rate,
            other => panic!("{name}: {other:?}"),
        }
    }

    /// The default machine blends eight pixels of 8 bytes per cycle. Half as many pixels pass per quad with masks of
    /// two, and two triangles per rectangle pass setup at one per cycle at most.
    #[test]
    fn rates_are_those_of_the_limiting_unit() {
        let close = |found: f64, expected: f64| {
            assert!((found / expected - 1.0).abs() < 0.02, "{found} instead of {expected}");
        };
        close(pixels("blend-rgba16f"), 8.0);
        close(pixels("blend-rgba16f-2-quads"), 4.0);
        close(pixels("blend-rgba8"), 16.0);
        for name in ["rectangles-2", "stencil-kill-rectangles-2"] {
            let rate = rectangles(name);
            assert!(rate > 0.4 && rate <= 0.5, "{name}: {rate}");
        }
        // A square of 32 pixels has 256 quads, of which the 16 on the diagonal are drawn twice, and CROP blends two
        // per cycle.
        close(rectangles("rectangles-32"), 2.0 / 272.0);
        // ZROP tests eight quads per cycle.
        close(pixels("stencil-kill"), 32.0);
        close(pixels("stencil-sparse"), 32.0);
    }

    /// Fragments of a pixel that follow each other at once wait for each other in critical sections.
    #[test]
    fn order_costs_time_where_fragments_meet() {
        let [ordered, unordered] = ["interlock-stacked-32", "shader-blend-stacked-32"].map(pixels);
        assert!(ordered < unordered / 2.0, "{ordered} {unordered}");
    }

    #[test]
    fn other_names_have_no_rate() {
        for name in [
            "",
            "blend-",
            "blend-rgba16f-5-quads",
            "rectangles-0",
            "stencil-killer",
            "rectangles-x",
            "write-rgba8",
        ] {
            assert_eq!(rate(&Config::default(), name), None, "{name}");
        }
    }
}
