//! Early termination and quad merging imitated by the stencil test and the fragment shader: tiny draws by hand, the picture
//! of ideal early termination, and the share of merged quads.

use quadrille::gpu::config::Config;
use quadrille::gpu::draw::Draw;
use quadrille::gpu::imitated_draw;
use quadrille::gpu::imitation::{Imitation, ImitationOutcome};
use quadrille::gpu::machine::Machine;
use quadrille::gpu::method::Method;
use quadrille::gpu::result::SimulationResult;
use quadrille::gpu::variant::Variant;
use quadrille::gpu::view::PreparedView;
use quadrille::gpu::warp::cores::CoresCounters;
use quadrille::gpu::wiring::{Simulator, Watch};
use quadrille::gpu::zrop::framebuffer::Tests;

use crate::support::emulated::{config, prepared, run};
use crate::support::scenes::{self, Random};

const HET: Imitation = Imitation::ALL[0];
const QM: Imitation = Imitation::ALL[1];
const HET_QM: Imitation = Imitation::ALL[2];

fn drawn(draw: &Draw, imitation: Imitation) -> SimulationResult {
    let simulator = Simulator::new(&Config::default(), Variant::BASELINE).unwrap();
    let result = imitated_draw::run(&simulator, imitation, draw, draw.shader());
    assert_eq!(result.discrepancies(), Vec::<String>::new(), "{imitation}");
    result
}

fn of_view(view: &PreparedView<'_>, config: &Config, imitation: Imitation) -> SimulationResult {
    let method = Method::Imitated(imitation);
    let machine = Machine::new(config, method, Watch::default()).unwrap();
    let outcome = machine.run(view, &quadrille::Task::NEVER).unwrap().outcome;
    assert_eq!((outcome.method(), outcome.discrepancies()), (method, Vec::new()));
    outcome.into_pipeline().unwrap()
}

/// Squares of 2x2 pixels, each a quad, in one screen tile.
fn squares(places: &[[u32; 2]], alpha: f32) -> Draw {
    let rectangles: Vec<_> = places.iter().map(|[x, y]| [*x, *y, 2, 2]).collect();
    Draw::rectangles(16, 16, &rectangles, [1.0, 0.5, 0.25], alpha)
}

/// A pixel of fragments of alpha 1/2 ends with the eighth, at 255/256. The stencil value of 8 falls to 0, and the other 292
/// fragments of each pixel fail the test. The ninth layer covers another quad alone.
#[test]
fn stencil_values_count_fragments_down() {
    let mut places = vec![[4, 4]; 300];
    places[8] = [8, 4];
    let result = drawn(&squares(&places, 0.5), HET);
    let fragments = result.fragments;
    assert_eq!((fragments.blended, fragments.hidden), (4 * 9, 4 * 291));
    assert_eq!((result.quads.blended, result.quads.hidden), (9, 291));
    assert_eq!((fragments.terminated, fragments.late, result.updates), (0, 0, 0));
    assert_eq!(result.framebuffer.stencil(), [0; 256]);
    assert_eq!(result.imitation, Some(ImitationOutcome::default()));
    // One sector of 32 bytes of stencil values holds both quads. It is fetched, since an earlier draw has written it.
    assert_eq!((result.z_cache.fetched, result.z_cache.misses), (1, 1));
}

/// Eight bits count 255 fragments. The pixels of 300 faint fragments do not end, but the last 45 fail the stencil test.
#[test]
fn stencil_values_count_no_more_than_255_fragments() {
    let result = drawn(&squares(&[[4, 4]; 300], 0.01), HET);
    assert_eq!((result.fragments.blended, result.fragments.hidden), (4 * 255, 4 * 45));
    assert_eq!(result.imitation.unwrap().fragments_uncounted, 4 * 45);
}

/// Three squares, of which quad reordering merges the first and the last, which are at one position. The shader merges the
/// first two of the warp instead: the second square is missing in the picture, and its colour is blended under the first.
#[test]
fn neighbouring_quads_of_a_warp_are_merged() {
    let draw = squares(&[[4, 4], [8, 8], [4, 4]], 0.5);
    let result = drawn(&draw, QM);
    assert!((result.imitation.unwrap().merge_share - 1.0 / 3.0).abs() < 1e-12);
    assert_eq!((result.warps, result.quads.merged_pairs, result.quads.blended), (1, 1, 2));
    assert_eq!((result.fragments.merged, result.fragments.blended), (4, 8));
    let frame = result.frame();
    let alpha = |x: u32, y: u32| frame.pixels()[(y * 16 + x) as usize][3];
    // Three fragments of alpha 1/2 over each other.
    assert_eq!([alpha(4, 4), alpha(5, 5), alpha(8, 8)], [0.875, 0.875, 0.0]);
    // 26 instructions in place of 20, and 4 vertices of 3 squares in a vertex warp.
    let plain = Simulator::new(&Config::default(), Variant::BASELINE).unwrap();
    let plain = plain.run(&draw, draw.shader(), &Tests::default());
    let instructions =
        |result: &SimulationResult| result.statistics.of::<CoresCounters>().instructions;
    assert_eq!([instructions(&plain), instructions(&result)], [20, 26]);
}

/// Squares at one position are merged in the right order: the picture of quad merging.
#[test]
fn quads_at_one_position_are_merged_as_by_quad_reordering() {
    let draw = squares(&[[4, 4]; 8], 0.25);
    let merged = Simulator::new(&Config::default(), Variant::QM).unwrap();
    let merged = merged.run(&draw, draw.shader(), &Tests::default());
    let result = drawn(&draw, QM);
    assert_eq!((result.quads, result.fragments), (merged.quads, merged.fragments));
    assert_eq!(result.quads.merged_pairs, 4);
    assert_eq!(result.frame().pixels(), merged.frame().pixels());
}

/// The picture and the counts of early termination without latency, bit for bit, on several GPCs, too. With merging, the
/// same quads reach the shader, and their share is merged.
#[test]
fn imitated_pictures_are_those_of_ideal_termination() {
    let random = &mut Random::new(14);
    let camera = scenes::camera(random, 90, 70);
    let splats = scenes::splats(random, &camera, 700, 1);
    let view = prepared(&splats, &camera);
    for set in [&[][..], &["gpu.gpcs=3", "crop.format=rgba8"]] {
        let config = config(set);
        let ideal = config.with("zrop.feedback=ideal").unwrap();
        let ideal = run(&view, &ideal, Variant::HET);
        let imitated = of_view(&view, &config, HET);
        assert!(ideal.fragments.blended < run(&view, &config, Variant::BASELINE).fragments.blended);
        assert_eq!(imitated.imitation.unwrap().fragments_uncounted, 0);
        assert!(imitated.framebuffer.colours() == ideal.framebuffer.colours(), "{set:?}");
        assert_eq!(imitated.fragments.blended, ideal.fragments.blended, "{set:?}");
        assert!(imitated.framebuffer.stencil().iter().all(|value| *value == 0), "{set:?}");
        let both = of_view(&view, &config, HET_QM);
        assert_eq!(both.fragments.shaded, imitated.fragments.shaded, "{set:?}");
        let above_cut = both.quads.shaded - both.quads.pruned;
        let share = both.quads.merged_pairs as f64 / above_cut as f64;
        let expected = both.imitation.unwrap().merge_share;
        assert!(expected > 0.05 && (share - expected).abs() < 0.005, "{share} {expected}");
        let merging = run(&view, &config, Variant::HET_QM);
        let of = merging.quads.merged_pairs + merging.quads.blended;
        assert!((expected - merging.quads.merged_pairs as f64 / of as f64).abs() < 1e-12);
    }
}
