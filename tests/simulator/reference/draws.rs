//! Random small draws, for both simulators, and random small sizes of all units.

use quadrille::gpu::config::Config;
use quadrille::gpu::draw::{Draw, FlatTriangle};
use quadrille::raster::geometry::Vertex;
use quadrille::raster::polygon::Polygon;
use rand::{Rng, RngExt};

use super::packets::{FlatSplat, Outline, Rect, Scene};

/// Largest side of a picture in pixels.
const SIDE: u32 = 48;
/// Units of vertex coordinates per pixel.
const PER_PX: i32 = 256;

/// Values of the configuration that are the same in all draws: memory plays no part. Vertices take no
/// bytes and no issue slots, and the caches hold the whole picture.
pub(super) const FIXED: [(&str, &str); 11] = [
    ("gpu.clock_mhz", "1000"),
    ("l2.clock_mhz", "1000"),
    ("l2.bytes", "4096"),
    ("dram.latency_ns", "0"),
    ("vertex.bytes_per_splat", "0"),
    ("vertex.instructions", "0"),
    ("vertex.position_bytes", "0"),
    ("vertex.attribute_bytes", "0"),
    ("crop.cache_bytes", "65536"),
    ("zrop.cache_bytes", "32768"),
    ("zrop.update_queue", "65536"),
];

const WHOLE: &[&str] = &["1", "2", "8"];
const TILES: &[&str] = &["1", "2", "2", "1/3", "3/2"];
const PRIMITIVES: &[&str] = &["1", "1", "2", "1/7", "3/2"];
const QUADS: &[&str] = &["1", "3", "8", "16", "5/2", "1/2"];
const LATENCY: &[&str] = &["0", "1", "2", "10"];
const SHORT: &[&str] = &["1", "2", "5"];
const BINS: &[&str] = &["1", "2", "5", "32"];
const ENTRIES: &[&str] = &["1", "3", "8", "128"];
const EVICT: &[&str] = &["first-in", "least-recently-used"];

/// Values to choose from: small ones, where units get in each other's way.
pub(super) const CHOICES: &[(&str, &[&str])] = &[
    ("l2.latency_ns", &["0", "30"]),
    ("vertex.warps", &["1", "2", "64"]),
    ("vertex.splats_per_warp", &["1", "3", "8"]),
    ("vertex.latency_cycles", &["1", "7", "64"]),
    ("vertex.fetch_queue", SHORT),
    ("vpo.queue", SHORT),
    ("vpo.primitives_per_cycle", PRIMITIVES),
    ("vpo.latency_cycles", LATENCY),
    ("tgc.queue", SHORT),
    ("tgc.bins", BINS),
    ("tgc.bin_size", ENTRIES),
    ("tgc.grid_tiles", &["1", "2", "4"]),
    ("tgc.primitives_in_per_cycle", PRIMITIVES),
    ("tgc.primitives_out_per_cycle", PRIMITIVES),
    ("tgc.latency_cycles", LATENCY),
    ("tgc.evict", EVICT),
    ("tgc.fetch_queue", SHORT),
    ("setup.queue", SHORT),
    ("setup.primitives_per_cycle", PRIMITIVES),
    ("setup.latency_cycles", LATENCY),
    ("coarse.queue", SHORT),
    ("coarse.tiles_per_cycle", TILES),
    ("coarse.screen_tiles_tested_per_cycle", TILES),
    ("coarse.latency_cycles", LATENCY),
    ("hi_z.queue", SHORT),
    ("hi_z.tiles_per_cycle", TILES),
    ("hi_z.latency_cycles", LATENCY),
    ("fine.queue", SHORT),
    ("fine.tiles_per_cycle", TILES),
    ("fine.latency_cycles", LATENCY),
    ("tc.queue", SHORT),
    ("tc.bins", BINS),
    ("tc.bin_size", ENTRIES),
    ("tc.tiles_in_per_cycle", TILES),
    ("tc.quads_in_per_cycle", QUADS),
    ("tc.quads_out_per_cycle", QUADS),
    ("tc.latency_cycles", LATENCY),
    ("tc.timeout_cycles", &["1", "20", "1024"]),
    ("tc.evict", EVICT),
    ("prop.queue", SHORT),
    ("prop.quads_in_per_cycle", QUADS),
    ("prop.quads_out_per_cycle", QUADS),
    ("prop.latency_cycles", LATENCY),
    ("zrop.queue", SHORT),
    ("zrop.quads_per_cycle", QUADS),
    ("zrop.wait_queue", &["1", "2", "256"]),
    ("zrop.latency_cycles", LATENCY),
    ("zrop.threshold", &["0.5", "0.9", "0.996"]),
    ("zrop.feedback_cycles", &["0", "8", "100"]),
    ("zrop.update_cycles", &["0", "1", "5"]),
    ("qru.queue", SHORT),
    ("qru.window", &["1", "2", "9", "128"]),
    ("qru.quads_per_cycle", QUADS),
    ("qru.buffers", &["1", "2"]),
    ("qru.latency_cycles", LATENCY),
    ("launch.queue", SHORT),
    ("launch.warps_per_cycle", PRIMITIVES),
    ("launch.latency_cycles", LATENCY),
    ("cores.cores", &["1", "2"]),
    ("cores.schedulers", &["1", "2", "4"]),
    ("cores.issue_cycles", &["1", "2"]),
    ("cores.warps_per_core", &["1", "2", "48"]),
    ("cores.fragment_instructions", &["1", "5", "20"]),
    ("cores.fragment_latency_cycles", &["1", "10", "40"]),
    ("cores.merge_instructions", &["0", "6"]),
    ("cores.merge_latency_cycles", &["0", "32"]),
    ("crop.queue", WHOLE),
    ("crop.format", &["rgba16f", "rgba16f", "rgba8", "rgba32f"]),
    ("crop.bytes_per_cycle", &["16", "64", "100"]),
    ("crop.quads_per_cycle", &["1", "3", "4"]),
    ("crop.wait_queue", &["1", "2", "640"]),
    ("crop.blend_cycles", &["1", "2", "9"]),
];

/// A random configuration, and the text that makes it. One in eight fields keeps its default.
pub(super) fn config(random: &mut impl Rng) -> (Config, String) {
    let mut text = String::new();
    let mut set = |field: &str, value: &str| {
        let is_number = value.parse::<f64>().is_ok();
        let quote = if is_number { "" } else { "\"" };
        text.push_str(&format!("{field} = {quote}{value}{quote}\n"));
    };
    for (field, value) in FIXED {
        set(field, value);
    }
    for (field, values) in CHOICES {
        if random.random_range(0..8) > 0 {
            set(field, values[random.random_range(0..values.len())]);
        }
    }
    let config = Config::default().overlaid(&text, "choices").unwrap();
    (config, text.replace('\n', ", "))
}

/// A random draw of rectangles or of triangles, in both forms.
pub(super) fn draw(random: &mut impl Rng) -> (Draw, Scene) {
    let [width, height] = [0; 2].map(|_| random.random_range(1..=SIDE));
    let count = random.random_range(1..=24);
    let largest = [4, 16, 50][random.random_range(0..3)];
    let mut outlines = Vec::new();
    let mut draw = if random.random_range(0..3) > 0 {
        let rectangles: Vec<_> = (0..count)
            .map(|_| {
                let [x, y] = [width, height].map(|side| random.random_range(0..side + 3));
                let [w, h] = [0; 2].map(|_| random.random_range(0..largest));
                [x, y, w, h]
            })
            .collect();
        outlines.extend(rectangles.iter().map(|r| {
            let [x, y, w, h] = r.map(u32::cast_signed);
            Outline::Rectangle(Rect { x0: x, y0: y, x1: x + w, y1: y + h })
        }));
        Draw::rectangles(width, height, &rectangles, [1.0; 3], 0.5)
    } else {
        let triangles: Vec<_> = (0..count)
            .map(|_| {
                let corners = [0; 3].map(|_| Vertex {
                    x: random.random_range(-5 * PER_PX..(width + 5).cast_signed() * PER_PX),
                    y: random.random_range(-5 * PER_PX..(height + 5).cast_signed() * PER_PX),
                });
                outlines.push(Outline::Triangle(Polygon::triangle(corners)));
                FlatTriangle { corners, colour: [1.0; 3], alpha: 0.5, depth: 0.0 }
            })
            .collect();
        Draw::triangles(width, height, &triangles)
    };
    for splat in &mut draw.splats {
        splat.colour = random.random();
        // Some below the cut, which the shader prunes; many nearly opaque.
        let alphas = [0.002, 0.1, 0.4, 0.7, 0.97, 1.0];
        let alpha: f32 = alphas[random.random_range(0..alphas.len())];
        splat.log2_opacity = alpha.log2();
    }
    let shader = draw.shader();
    let splats = draw.splats.iter().zip(outlines).map(|(splat, outline)| FlatSplat {
        outline,
        alpha: shader.fragment(splat, 0, 0),
        colour: splat.colour,
    });
    let scene = Scene { width, height, splats: splats.collect() };
    (draw, scene)
}
