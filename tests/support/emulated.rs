//! Views through the emulated pipeline, blended again by hand, and how far rounding and early
//! termination may move a pixel.

use half::f16;
use quadrille::Camera;
use quadrille::ColourFormat;
use quadrille::Frame;
use quadrille::Profile;
use quadrille::SimdLevel;
use quadrille::Splats;
use quadrille::StopRule;
use quadrille::gpu::config::Config;
use quadrille::gpu::result::SimulationResult;
use quadrille::gpu::variant::Variant;
use quadrille::gpu::view::PreparedView;
use quadrille::gpu::warp::exact_alpha::ExactAlpha;
use quadrille::gpu::warp::exact_alpha::NearCut;
use quadrille::gpu::warp::fragment::FragmentShader;
use quadrille::gpu::wiring::Simulator;
use quadrille::gpu::zrop::framebuffer::Tests;
use quadrille_render::preprocess::ViewTransform;

/// The default profile without early stop.
pub(crate) fn profile() -> Profile {
    Profile { stop: StopRule::Never, ..Profile::default() }
}

/// A scene from a camera.
pub(crate) fn prepared<'a>(splats: &'a Splats, camera: &Camera) -> PreparedView<'a> {
    PreparedView::new(splats, camera, &profile(), SimdLevel::best(), &quadrille::Task::NEVER)
        .unwrap()
}

/// The default configuration with assignments.
pub(crate) fn config(assignments: &[&str]) -> Config {
    let with = |config: Config, assignment: &&str| config.with(assignment).unwrap();
    assignments.iter().fold(Config::default(), with)
}

/// Runs a variant and checks that its counters add up.
pub(crate) fn run(view: &PreparedView<'_>, config: &Config, variant: Variant) -> SimulationResult {
    let run = view.run(&Simulator::new(config, variant).unwrap(), &Tests::default());
    check(&run.outcome);
    run.outcome
}

/// What holds for every run.
fn check(outcome: &SimulationResult) {
    let name = outcome.variant;
    let nothing: [String; 0] = [];
    assert_eq!(outcome.discrepancies(), nothing, "{name}");
    let (f, het) = (outcome.fragments, outcome.variant.het());
    assert!(f.late <= f.blended, "{name}");
    // One update for all pixels of a quad that a blend brings to the threshold.
    assert!(outcome.updates <= outcome.terminations, "{name}");
    let marked = outcome.framebuffer.stencil().iter().filter(|s| **s & 0x80 != 0).count();
    assert_eq!(outcome.terminations, marked as u64, "{name}: one termination a pixel");
    if !het {
        assert_eq!(f.terminated + f.late + f.dropped + outcome.terminations, 0, "{name}");
    }
    if !outcome.variant.qru() {
        assert_eq!(f.merged + outcome.quads.merged_pairs, 0, "{name}");
    }
}

/// A pixel of the picture blended by hand, and what its bounds follow from.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ByHand {
    /// Content of the colour buffer at the end.
    pub(crate) stored: [f32; 4],
    /// Fragments over the cut.
    pub(crate) fragments: u32,
    /// Of those, blended once alpha had reached the threshold.
    pub(crate) after: u32,
    /// Whether alpha reached the threshold.
    pub(crate) reached: bool,
    /// The brightest channel of a fragment's colour, at least 1: alpha's.
    pub(crate) brightest: f32,
}

/// Blends every splat in drawing order into every pixel it covers, in f32, rounded to `format`
/// after every blend.
pub(crate) fn by_hand(
    splats: &Splats,
    camera: &Camera,
    format: ColourFormat,
    threshold: f32,
) -> Vec<ByHand> {
    let view = prepared(splats, camera);
    let draw = view.draw();
    let exact = ExactAlpha {
        splats,
        view: ViewTransform::new(splats, camera, &profile()),
        cap: profile().alpha_cap,
    };
    let near_cut: &dyn NearCut = &exact;
    let size = [draw.width, draw.height];
    let level = SimdLevel::best();
    let shader = FragmentShader::new(&draw.splats, size, exact.cap, level, Some(near_cut));
    let mut pixels = vec![ByHand::default(); draw.width as usize * draw.height as usize];
    for splat in &draw.splats {
        for (pixel, index) in pixels.iter_mut().zip(0..) {
            let (x, y) = (index % draw.width, index / draw.width);
            let Some(alpha) = shader.fragment(splat, x, y) else {
                continue;
            };
            let [r, g, b] = splat.colour;
            let source = [alpha * r, alpha * g, alpha * b, alpha];
            let left = 1.0 - pixel.stored[3];
            pixel.after += u32::from(pixel.reached);
            for (stored, source) in pixel.stored.iter_mut().zip(source) {
                let shows = left * source;
                *stored = rounded(format, *stored + shows);
            }
            pixel.fragments += 1;
            pixel.reached |= pixel.stored[3] >= threshold;
            pixel.brightest = pixel.brightest.max(1.0).max(r).max(g).max(b);
        }
    }
    pixels
}

fn rounded(format: ColourFormat, value: f32) -> f32 {
    match format {
        ColourFormat::Rgba8 => (value.clamp(0.0, 1.0) * 255.0).round_ties_even() / 255.0,
        ColourFormat::Rgba16F => f16::from_f32(value).to_f32(),
        ColourFormat::Rgba32F => value,
    }
}

/// Half a unit in the last place of `format` for values up to `value`.
fn half_ulp(format: ColourFormat, value: f64) -> f64 {
    let of_binary = |digits: i32| 2_f64.powi(value.log2().floor() as i32 - digits);
    match format {
        ColourFormat::Rgba8 => 1.0 / 510.0,
        ColourFormat::Rgba16F => of_binary(11),
        ColourFormat::Rgba32F => 0.0,
    }
}

/// How far `blends` blends may leave a channel from what real arithmetic makes of the same
/// fragments, none brighter than `brightest` (c).
///
/// One blend adds at most d to the error of a channel, half a unit in the last place of the format
/// and some of f32 (a product, a difference, a sum, and the same once more where fragments merge in
/// the shader). An error e of alpha moves later colours by e times alpha_k c_k each, while it shrinks
/// by 1 - alpha_k each: by e c in all, as the weights sum to 1 at most. So n blends make
/// n (d(colour) + c d(alpha)) at most, and fewer blends no more than that. Eight bits clamp as
/// well, which no error grows by: increments are not negative.
fn rounding(format: ColourFormat, blends: u32, brightest: f64) -> f64 {
    let f32_part = 8.0 * brightest * 2_f64.powi(-24);
    (0..blends).fold(0.0, |sum, _| {
        let colour = half_ulp(format, brightest + sum) + f32_part;
        // Alpha is at most 1, and alphas that round to 1 lie below it.
        sum + colour + brightest * (half_ulp(format, 0.999) + f32_part)
    })
}

impl ByHand {
    /// Bound on the difference between a picture whose fragments are merged before they are blended
    /// and this one: both are near what real arithmetic makes.
    pub(crate) fn merging_bound(&self, format: ColourFormat) -> f64 {
        2.0 * rounding(format, self.fragments, f64::from(self.brightest))
    }

    /// Bound on the difference that early termination makes, without merging. Up to the threshold t
    /// both are the same, bit for bit; from there on either adds at most 1 - t of the brightest
    /// colour, and rounds.
    pub(crate) fn termination_bound(&self, format: ColourFormat, threshold: f64) -> f64 {
        if !self.reached {
            return 0.0;
        }
        let brightest = f64::from(self.brightest);
        (1.0 - threshold) * brightest + 2.0 * rounding(format, self.after, brightest)
    }

    /// The same with merging: up to the threshold, rounding may differ, and alpha may reach it for
    /// one and not for the other; fragments are dropped only where stored alpha did, so that what
    /// real arithmetic makes of alpha is at least t less rounding.
    pub(crate) fn both_bound(&self, format: ColourFormat, threshold: f64) -> f64 {
        let brightest = f64::from(self.brightest);
        let off = rounding(format, self.fragments, 1.0);
        let rounding = 2.0 * rounding(format, self.fragments, brightest);
        if f64::from(self.stored[3]) + 2.0 * off < threshold {
            return rounding;
        }
        (1.0 - threshold + off) * brightest + rounding
    }
}

/// The largest difference of a channel, and the largest share of its bound that a pixel uses.
/// Fails where a pixel is beyond its bound.
pub(crate) fn within(
    frame: &Frame,
    expected: &[ByHand],
    bound: impl Fn(&ByHand) -> f64,
    what: &str,
) -> (f64, f64) {
    let (mut largest, mut share) = (0.0_f64, 0.0_f64);
    for (index, (found, by_hand)) in frame.pixels().iter().zip(expected).enumerate() {
        let channels = found.iter().zip(&by_hand.stored);
        let differences = channels.map(|(f, e)| (f64::from(*f) - f64::from(*e)).abs());
        let difference = differences.fold(0.0, f64::max);
        let bound = bound(by_hand);
        assert!(
            difference <= bound,
            "{what}: pixel {index} is off by {difference:e}, beyond {bound:e}: {found:?}, {by_hand:?}"
        );
        largest = largest.max(difference);
        if bound > 0.0 {
            share = share.max(difference / bound);
        }
    }
    (largest, share)
}

/// Fails unless the picture is the one blended by hand, bit for bit.
pub(crate) fn same_bits(frame: &Frame, expected: &[ByHand], what: &str) {
    for (index, (found, by_hand)) in frame.pixels().iter().zip(expected).enumerate() {
        let bits = |p: [f32; 4]| p.map(f32::to_bits);
        let [f, e] = [*found, by_hand.stored];
        assert_eq!(bits(f), bits(e), "{what}: pixel {index}: {f:?}, by hand {e:?}");
    }
}
