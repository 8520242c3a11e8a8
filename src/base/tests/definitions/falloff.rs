//! Falloff in f32 against its definition in f64.

use quadrille_base::math::narrow;
use quadrille_base::shading::fragment_alpha;
use quadrille_base::shading::*;

/// A round splat: u = dx k / sigma with k^2 = log2(e) / 2.
#[test]
fn agrees_with_the_definition() {
    let (k, conic, opacity) = ((std::f64::consts::LOG2_E / 2.0).sqrt(), [0.25, 0.0, 1.0], 0.8_f64);
    for i in 0..200 {
        let d = [f64::from(i) * 0.02, f64::from(i % 7) * 0.1];
        let Some(exact) = fragment_alpha(conic, d, opacity, 0.75) else { continue };
        let (u, v) = (narrow(0.5 * k * d[0]), narrow(k * d[1]));
        let exponent = falloff_exponent(u, v, narrow(opacity.log2()));
        let alpha = f64::from(falloff_alpha(exponent, cap_rounded_down(0.75)));
        assert!((alpha / exact - 1.0).abs() < 1e-6, "{alpha} {exact}");
    }
}

#[test]
fn caps() {
    assert_eq!(falloff_alpha(0.0, 0.99), 0.99);
    assert_eq!(falloff_alpha(f32::INFINITY, 0.99), 0.99);
    assert!(falloff_alpha(f32::NAN, 0.99) < 1e-37);
    assert!((falloff_alpha(-1.0, 0.99) - 0.5).abs() < 2e-7);
    assert!(f64::from(cap_rounded_down(0.99)) <= 0.99);
    assert_eq!(cap_rounded_down(0.5), 0.5);
}
