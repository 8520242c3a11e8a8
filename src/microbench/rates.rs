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

pub(super) const SIDE_PX: u32 = 16 * TILE_PX;
const LAYERS: u32 = 12;
pub(super) const MOST_SMALL_PX: u32 = 32;
const MOST_LAYERS: u32 = 96;
const SMALL: u32 = 8192;

/// Stencil test that passes no pixel, or only the first of each screen tile.
fn kills(is_sparse: bool) -> Tests {
    let test = StencilTest { compare: CompareOp::Equal, reference: 1, ..StencilTest::default() };
    let pixels = (0..SIDE_PX).flat_map(|y| (0..SIDE_PX).map(move |x| [x, y]));
    let is_first = |at: [u32; 2]| at.iter().all(|px| px.is_multiple_of(TILE_PX));
    let values = pixels.map(|at| u8::from(is_sparse && is_first(at)));
    Tests { stencil: Some((test, values.collect())), depth: None }
}

pub(super) fn small(side: u32, count: u32) -> Vec<Rectangle> {
    let across = SIDE_PX / side;
    let at = |n: u32| [n % across * side, n / across % across * side, side, side];
    (0..count).map(at).collect()
}

pub(super) fn side_px(text: &str, most: u32) -> Option<u32> {
    text.parse().ok().filter(|side| (1..=most).contains(side))
}

/// Draws each rectangle as two triangles, as programs do on hardware.
pub(super) fn draw(list: &[Rectangle]) -> Draw {
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

#[derive(Debug, Clone, Copy, PartialEq)]
enum Drawn {
    Blended(ColourFormat),
    /// One of the numbers of quads of [`QUADS`] for four pixels.
    Quads(usize),
    InShader(ShaderOrder),
    /// Stencil test, which may pass the first pixel of each screen tile.
    Killed {
        is_sparse: bool,
    },
}

const QUADS: [&str; 3] = ["2-quads", "3-quads", "4-quads"];
/// Sides of squares in the list of names, which has no other sides.
const SIDES_PX: [u32; 8] = [1, 2, 4, 8, 16, 32, 64, 96];

/// A draw whose rate programs measure on hardware.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RateDraw {
    drawn: Drawn,
    side_px: u32,
    /// Whether squares follow each other along rows instead of lying on each other.
    is_row: bool,
}

impl RateDraw {
    /// Returns the draw called `name`: `blend-FORMAT`, `blend-rgba16f-N-quads` (N quads for four pixels, from 2 to 4),
    /// `stencil-kill`, `stencil-sparse`, `rectangles-SIDE`, `stencil-kill-rectangles-SIDE`,
    /// `stencil-sparse-rectangles-SIDE` (squares of 1 to 32 pixels), `shader-blend` or `interlock`; or
    /// `blend-FORMAT-stacked-SIDE`, `shader-blend-stacked-SIDE` or `interlock-stacked-SIDE`, squares of up to 256 pixels
    /// on each other.
    pub fn named(name: &str) -> Option<Self> {
        let (draw, is_row, side_px) = if let Some((draw, side)) = name.split_once("-stacked-") {
            (draw, false, side_px(side, SIDE_PX)?)
        } else if let Some(side) = name.strip_prefix("rectangles-") {
            ("blend-rgba16f", true, side_px(side, MOST_SMALL_PX)?)
        } else if let Some((draw, side)) = name.split_once("-rectangles-") {
            (draw, true, side_px(side, MOST_SMALL_PX)?)
        } else {
            (name, false, SIDE_PX)
        };
        let is_whole = !is_row && side_px == SIDE_PX;
        let drawn = match draw {
            "stencil-kill" | "stencil-sparse" if is_row || is_whole => {
                Drawn::Killed { is_sparse: draw == "stencil-sparse" }
            }
            _ if is_row && !name.starts_with("rectangles-") => return None,
            _ => match draw.strip_prefix("blend-") {
                None => {
                    let orders = [ShaderOrder::Unordered, ShaderOrder::Interlocked];
                    Drawn::InShader(orders.into_iter().find(|order| order.name() == draw)?)
                }
                Some(kind) => match kind.strip_prefix("rgba16f-") {
                    Some(quads) if is_whole => {
                        Drawn::Quads(QUADS.iter().position(|name| *name == quads)?)
                    }
                    _ => Drawn::Blended(
                        ColourFormat::ALL.iter().copied().find(|f| f.name() == kind)?,
                    ),
                },
            },
        };
        Some(Self { drawn, side_px, is_row })
    }

    /// Names of draws, of squares with common sides only.
    pub fn names() -> Vec<String> {
        let formats = ColourFormat::ALL.iter().map(|format| format!("blend-{}", format.name()));
        let quads = QUADS.iter().map(|quads| format!("blend-rgba16f-{quads}"));
        let others = ["shader-blend", "interlock", "stencil-kill", "stencil-sparse"];
        let whole = formats.chain(quads).chain(others.map(str::to_owned)).collect::<Vec<_>>();
        let with_side = |side: u32| {
            let squares = whole.iter().flat_map(move |name| {
                [format!("{name}-stacked-{side}"), format!("{name}-rectangles-{side}")]
            });
            squares.chain([format!("rectangles-{side}")]).collect::<Vec<_>>()
        };
        let squares = SIDES_PX.into_iter().flat_map(with_side);
        let names = whole.iter().cloned().chain(squares);
        names.filter(|name| Self::named(name).is_some()).collect()
    }

    /// Whether the rate counts pixels instead of rectangles.
    pub fn is_of_pixels(self) -> bool {
        !self.is_row
    }

    /// Pixels or rectangles per cycle; `None` for an invalid configuration. Pixels are blended or, in stencil tests that
    /// kill nearly all, killed.
    pub fn rate(self, config: &Config) -> Option<f64> {
        let simulator = Simulator::new(config, Variant::BASELINE).ok()?;
        Some(match self.drawn {
            Drawn::Quads(at) => {
                let (_, time) = quads_per_pixel::times(config)[at];
                pixels_per_cycle(config, ColourFormat::Rgba16F) / time
            }
            Drawn::Blended(format) if !self.is_row => {
                let mut config = config.clone();
                config.crop.format = format;
                self.of(&Simulator::unchecked(&config, Variant::BASELINE), &Tests::default())
            }
            Drawn::Blended(_) => self.of(&simulator, &Tests::default()),
            Drawn::InShader(order) => {
                self.of(&Simulator::blending_in_shader(config, order).ok()?, &Tests::default())
            }
            Drawn::Killed { is_sparse } => self.of(&simulator, &kills(is_sparse)),
        })
    }

    fn of(self, simulator: &Simulator, tests: &Tests) -> f64 {
        let side = self.side_px;
        if self.is_row {
            return per_cycle(simulator, tests, SMALL, |count| small(side, count));
        }
        let list = |count: u32| vec![[0, 0, side, side]; count as usize];
        let layers = (LAYERS * SIDE_PX / side).min(MOST_LAYERS);
        per_cycle(simulator, tests, layers, list) * f64::from(side).powi(2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(name: &str) -> f64 {
        RateDraw::named(name).unwrap().rate(&Config::default()).unwrap()
    }

    /// The default machine blends eight pixels of 8 bytes per cycle. Half as many pixels pass per quad with masks of
    /// two, and two triangles per rectangle pass setup at one per cycle at most.
    #[test]
    fn rates_are_those_of_the_limiting_unit() {
        let close = |found: f64, expected: f64| {
            assert!((found / expected - 1.0).abs() < 0.02, "{found} instead of {expected}");
        };
        close(rate("blend-rgba16f"), 8.0);
        close(rate("blend-rgba16f-2-quads"), 4.0);
        close(rate("blend-rgba8"), 16.0);
        for name in ["rectangles-2", "stencil-kill-rectangles-2"] {
            let rate = rate(name);
            assert!(rate > 0.4 && rate <= 0.5, "{name}: {rate}");
        }
        // A square of 32 pixels has 256 quads, of which the 16 on the diagonal are drawn twice, and CROP blends two
        // per cycle.
        close(rate("rectangles-32"), 2.0 / 272.0);
        // ZROP tests eight quads per cycle.
        close(rate("stencil-kill"), 32.0);
        close(rate("stencil-sparse"), 32.0);
    }

    /// Fragments of a pixel that follow each other at once wait for each other in critical sections.
    #[test]
    fn order_costs_time_where_fragments_meet() {
        let [ordered, unordered] = ["interlock-stacked-32", "shader-blend-stacked-32"].map(rate);
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
            "blend-rgba16",
            "blend-rgba16f-2-quads-stacked-8",
            "interlock-rectangles-8",
            "stencil-kill-stacked-8",
        ] {
            assert_eq!(RateDraw::named(name), None, "{name}");
        }
    }

    /// Three formats, quads and ways to blend, two stencil tests; three series of six squares, and five of eight.
    #[test]
    fn all_names_are_listed() {
        let names = RateDraw::names();
        assert_eq!(names.len(), 3 + 3 + 4 + 3 * 6 + 5 * 8);
        for name in ["blend-rgba16f-4-quads", "stencil-sparse-rectangles-32", "interlock-stacked-2"]
        {
            assert!(names.iter().any(|other| other == name), "{name}");
        }
    }
}
