//! Arithmetic on four numbers at once, in plain arrays that the compiler turns into vectors.

/// One number per shading pixel.
pub(super) type Lanes = [f32; 4];
/// One vector per shading pixel, component by component.
pub(super) type Vectors = [Lanes; 3];

/// Square of a length that counts as zero.
pub(super) const NO_LENGTH: f32 = 1e-30;

#[inline(always)]
pub(super) fn dot(a: &Vectors, b: &Vectors) -> Lanes {
    std::array::from_fn(|k| a[0][k] * b[0][k] + a[1][k] * b[1][k] + a[2][k] * b[2][k])
}

#[inline(always)]
pub(super) fn cross(a: &Vectors, b: &Vectors) -> Vectors {
    [[1, 2], [2, 0], [0, 1]]
        .map(|[i, j]| std::array::from_fn(|k| a[i][k] * b[j][k] - a[j][k] * b[i][k]))
}

#[inline(always)]
pub(super) fn normalized(v: &Vectors) -> Vectors {
    let scale =
        dot(v, v).map(|squared| if squared > NO_LENGTH { 1.0 / squared.sqrt() } else { 0.0 });
    v.map(|c| std::array::from_fn(|k| c[k] * scale[k]))
}

/// Binary logarithm of a positive normal number, without a function call: exponent plus a series for the mantissa. The
/// error is at most 2e-7, absolute or relative. About -127 for zero, 128 or more for infinity and NaN.
#[inline(always)]
pub(super) fn log2(x: f32) -> f32 {
    use std::f32::consts::{LN_2, SQRT_2};
    const MANTISSA: u32 = (1 << 23) - 1;
    const ONE: u32 = 127 << 23;
    let bits = x.to_bits();
    let exponent = (bits >> 23) as f32 - 126.5;
    let m = f32::from_bits(bits & MANTISSA | ONE);
    // ln(m / sqrt 2) = 2 artanh(s); |s| < 0.172, so that the next term is below 1e-8.
    let s = (m - SQRT_2) / (m + SQRT_2);
    let t = s * s;
    let artanh = s * (1.0 + t * (1.0 / 3.0 + t * (0.2 + t * (1.0 / 7.0 + t * (1.0 / 9.0)))));
    exponent + artanh * (2.0 / LN_2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn log2_keeps_its_bound() {
        for k in 0..1_u32 << 16 {
            let x = f32::from_bits((k << 15).clamp(1 << 23, 0x7f7f_ffff));
            let exact = f64::from(x).log2();
            let off = (f64::from(log2(x)) - exact).abs();
            assert!(off < 2e-7 * exact.abs().max(1.0), "{x:e}: off by {off:e}");
        }
        assert!(log2(0.0) < -126.0);
        assert!(log2(f32::INFINITY) > 127.9 && log2(f32::NAN) > 127.9);
    }

    #[test]
    fn products() {
        let a = [[1.0, 0.0, 3.0, 0.0], [2.0; 4], [0.0, 0.0, 4.0, 0.0]];
        let b = [[0.0; 4], [1.0; 4], [5.0; 4]];
        assert_eq!(dot(&a, &b), [2.0, 2.0, 22.0, 2.0]);
        assert_eq!(cross(&a, &b).map(|c| c[2]), [6.0, -15.0, 3.0]);
        assert_eq!(normalized(&a).map(|c| c[1]), [0.0, 1.0, 0.0]);
        assert_eq!(normalized(&[[0.0; 4]; 3]), [[0.0; 4]; 3]);
    }
}
