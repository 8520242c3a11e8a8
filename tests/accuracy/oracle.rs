//! The fast renderer against the scalar oracle: every SIMD level, profile and stop rule.
use quadrille::Camera;
use quadrille::Counts;
use quadrille::Frame;
use quadrille::Profile;
use quadrille::RenderSettings;
use quadrille::Renderer;
use quadrille::SimdLevel;
use quadrille::Splats;
use quadrille::StopRule;
use quadrille::render_reference;

use crate::support::pictures::Differences;
use crate::support::scenes::{self, Random};
use crate::support::tolerances::{bound, hold};

/// Picture sizes: smaller than a block or a tile, no multiple of either, more than one tile.
const SIZES: [(u32, u32); 8] =
    [(1, 1), (33, 31), (100, 7), (3, 70), (64, 64), (129, 97), (160, 120), (31, 33)];

/// Stop rules besides the rules of the profiles.
const STOP_RULES: [StopRule; 6] = [
    StopRule::Never,
    StopRule::Before(1e-4),
    StopRule::BeforeOrAt(1e-4),
    StopRule::After(0.996),
    StopRule::After(0.5),
    StopRule::Before(0.3),
];

/// A frame that both renderers draw.
struct Case {
    splats: Splats,
    camera: Camera,
    profile: Profile,
}

impl Case {
    fn random(seed: u64, profile: Profile) -> Self {
        let mut random = Random::new(seed);
        let (width, height) = random.one_of(&SIZES);
        let camera = scenes::camera(&mut random, width, height);
        let len = random.one_of(&[1, 17, 200, 1500, 5000]);
        let sh_degree = random.one_of(&[0, 1, 2, 3, 4]);
        let splats = scenes::splats(&mut random, &camera, len, sh_degree);
        Self { splats, camera, profile }
    }

    /// Whether a fragment at the threshold of the stop rule is visible.
    fn stops_coarsely(&self) -> bool {
        match self.profile.stop {
            StopRule::Never => false,
            StopRule::Before(t) | StopRule::BeforeOrAt(t) => t > 0.01,
            StopRule::After(alpha) => alpha < 0.99,
        }
    }

    fn oracle(&self) -> (Frame, Counts) {
        let settings = RenderSettings { profile: self.profile, ..RenderSettings::default() };
        render_reference(&self.splats, &self.camera, &settings)
    }

    fn fast(&self, renderer: &mut Renderer, level: SimdLevel) -> (Frame, Counts) {
        let settings = RenderSettings { profile: self.profile, level };
        renderer.render(&self.splats, &self.camera, &settings)
    }
}

/// Differences of a level over many frames.
#[derive(Default)]
struct Tally {
    differences: Differences,
    fragments: [u64; 2],
}

/// Draws `cases` with the oracle and on every level, and checks the bounds for each level.
fn hold_all_levels(what: &str, cases: impl Iterator<Item = (String, Case)>) {
    let levels = SimdLevel::all();
    let mut tallies: Vec<Tally> = levels.iter().map(|_| Tally::default()).collect();
    let mut renderer = Renderer::default();
    for (name, case) in cases {
        let (expected, expected_counts) = case.oracle();
        for (level, tally) in levels.iter().zip(&mut tallies) {
            let (found, counts) = case.fast(&mut renderer, *level);
            let differences = Differences::between(&found, &expected);
            let place = format!("{what}, {name}, {}", level.name());
            if !case.stops_coarsely() {
                hold("max", differences.max(), &place);
            }
            tally.differences.append(differences);
            tally.fragments[0] += counts.fragments_blended;
            tally.fragments[1] += expected_counts.fragments_blended;
        }
    }
    for (level, tally) in levels.iter().zip(&tallies) {
        let place = format!("{what}, {}", level.name());
        let (differences, [found, expected]) = (&tally.differences, tally.fragments);
        let strays = differences.strays(bound("stray")) as f64 / differences.len() as f64;
        let fragments = found.abs_diff(expected) as f64 / expected as f64;
        println!(
            "{place:30} {:7} pixels: p99.9 {:.1e}, strays {:.1e}, max {:.1e}, fragments {:.1e} of {expected}",
            differences.len(),
            differences.p99_9(),
            strays,
            differences.max(),
            fragments,
        );
        hold("p99.9", differences.p99_9(), &place);
        hold("strays", strays, &place);
        hold("fragments", fragments, &place);
    }
}

#[test]
fn random_scenes_under_every_profile() {
    for profile in Profile::ALL {
        let cases = (0..24).map(|seed| (format!("seed {seed}"), Case::random(seed, profile)));
        hold_all_levels(profile.name, cases);
    }
}

#[test]
fn random_scenes_under_every_stop_rule() {
    for stop in STOP_RULES {
        let profile = Profile { stop, ..Profile::default() };
        let cases = (100..124).map(|seed| (format!("seed {seed}"), Case::random(seed, profile)));
        hold_all_levels(&format!("{stop:?}"), cases);
    }
}
