//! Front-to-back blending, stop rules and falloff, worked by hand.

use quadrille_base::shading::*;

/// Two fragments of alpha 0.9: worked by hand, T = 1 -> 0.1 -> 0.01.
#[test]
fn blends_front_to_back() {
    let mut pixel = Accumulated::default();
    assert_eq!(pixel.offer(0.9, [1.0, 0.0, 0.0], StopRule::Never), Blended::Yes);
    assert_eq!(pixel.offer(0.9, [0.0, 1.0, 0.0], StopRule::Never), Blended::Yes);
    assert!((pixel.colour[0] - 0.9).abs() < 1e-15 && (pixel.colour[1] - 0.09).abs() < 1e-15);
    assert!((pixel.transmittance - 0.01).abs() < 1e-15);
}

/// Stop rules on powers of one half, which are exact: T = 1, 1/2, 1/4, 1/8, ...
#[test]
fn stop_rules_at_their_exact_thresholds() {
    let blended = |stop| {
        let mut pixel = Accumulated::default();
        (0..10).filter(|_| pixel.offer(0.5, [0.0; 3], stop) == Blended::Yes).count()
    };
    assert_eq!(blended(StopRule::Never), 10);
    // Leaving exactly 1/8 is allowed, 1/16 is not.
    assert_eq!(blended(StopRule::Before(0.125)), 3);
    assert_eq!(blended(StopRule::BeforeOrAt(0.125)), 2);
    // The fragment that reaches alpha 7/8 counts.
    assert_eq!(blended(StopRule::After(0.875)), 3);
    assert_eq!(blended(StopRule::After(0.874)), 3);
    assert_eq!(blended(StopRule::After(0.876)), 4);
}

#[test]
fn falloff_is_cut_and_capped() {
    let conic = [1.0, 0.0, 1.0];
    assert_eq!(fragment_alpha(conic, [0.0, 0.0], 1.0, 0.99), Some(0.99));
    // exp(-x^2/2) = 1/255 at x = sqrt(2 ln 255) = 3.3290.
    assert!(fragment_alpha(conic, [3.328, 0.0], 1.0, 0.99).is_some());
    assert!(fragment_alpha(conic, [3.330, 0.0], 1.0, 0.99).is_none());
    // An indefinite form would grow: skipped.
    assert!(fragment_alpha([1.0, -2.0, 1.0], [1.0, 1.0], 0.5, 0.99).is_none());
}
