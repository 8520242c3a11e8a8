//! Real spherical harmonics, degree 0 to 4, in the order and sign of 3DGS files.

use std::ops::{Add, Mul, Sub};

use super::narrow;

/// Number type of the basis: f64 for definitions, lanes of f32 for speed.
pub trait ShScalar: Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> {
    /// `self * k`.
    fn times(self, k: f64) -> Self;
    /// `self + k`.
    fn plus(self, k: f64) -> Self;
    /// `self * b + c`.
    fn mul_add(self, b: Self, c: Self) -> Self;
}

impl ShScalar for f64 {
    fn times(self, k: f64) -> Self {
        self * k
    }
    fn plus(self, k: f64) -> Self {
        self + k
    }
    fn mul_add(self, b: Self, c: Self) -> Self {
        self * b + c
    }
}

/// Lanes of f32; constants are rounded to f32.
impl<S: fearless_simd::Simd> ShScalar for fearless_simd::f32x16<S> {
    #[inline(always)]
    fn times(self, k: f64) -> Self {
        self * narrow(k)
    }
    #[inline(always)]
    fn plus(self, k: f64) -> Self {
        self + narrow(k)
    }
    #[inline(always)]
    fn mul_add(self, b: Self, c: Self) -> Self {
        fearless_simd::SimdFloat::mul_add(self, b, c)
    }
}

/// Value of the constant basis function: 1 / (2 sqrt(pi)).
pub const SH_C0: f64 = 0.282_094_791_773_878_14;
const C1: f64 = 0.488_602_511_902_919_9;
const C2: [f64; 3] = [1.092_548_430_592_079_2, 0.315_391_565_252_520_05, 0.546_274_215_296_039_6];
const C3: [f64; 5] = [
    0.590_043_589_926_643_5,
    2.890_611_442_640_554,
    0.457_045_799_464_465_8,
    0.373_176_332_590_115_4,
    1.445_305_721_320_277,
];
const C4: [f64; 6] = [
    2.503_342_941_796_704_6,
    1.770_130_769_779_930_4,
    0.946_174_695_757_560_1,
    0.669_046_543_557_289_2,
    0.105_785_546_915_204_31,
    0.473_087_347_878_780_04,
];
/// Factor of the degree-4 sectoral function in the form (x^4 - 6 x^2 y^2 + y^4): a quarter of the usual one.
const C4_SECTORAL: f64 = 0.625_835_735_449_176_1;

/// Whether each function of degree 1 to 4 is odd in x, y, z: flipping an axis negates the functions that are odd in it.
pub const SH_SIGN_AXES: [[bool; 3]; 24] = [
    [false, true, false],  // y
    [false, false, true],  // z
    [true, false, false],  // x
    [true, true, false],   // xy
    [false, true, true],   // yz
    [false, false, false], // 1
    [true, false, true],   // xz
    [false, false, false], // 1
    [false, true, false],  // y
    [true, true, true],    // xyz
    [false, true, false],  // y
    [false, false, true],  // z
    [true, false, false],  // x
    [false, false, true],  // z
    [true, false, false],  // x
    [true, true, false],   // xy
    [false, true, true],   // yz
    [true, true, false],   // xy
    [false, true, true],   // yz
    [false, false, false], // 1
    [true, false, true],   // xz
    [false, false, false], // 1
    [true, false, true],   // xz
    [false, false, false], // 1
];

/// Adds to `colour`, which holds its constant term, the terms of degree 1 to `degree` in the unit direction `dir`.
///
/// `rest(k)` yields coefficient `k` (0 is the first of degree 1) of red, green and blue. The basis is that of [`sh_terms`].
#[inline(always)]
pub fn sh_colour<T: ShScalar>(
    degree: u8,
    dir: [T; 3],
    mut colour: [T; 3],
    rest: impl Fn(usize) -> [T; 3],
) -> [T; 3] {
    sh_terms(
        degree,
        dir,
        #[inline(always)]
        |k, basis| {
            let coefficients = rest(k);
            // A plain loop: a closure would lack the vector instructions of its caller.
            for (sum, coefficient) in colour.iter_mut().zip(coefficients) {
                *sum = coefficient.mul_add(basis, *sum);
            }
        },
    );
    colour
}

/// Calls `each` with the number (0 is the first of degree 1) and the value of each function of degree 1 to `degree` in the
/// unit direction `dir`.
///
/// The basis is the one of the 3DGS reference: degree 1 is (-y, z, -x) times C1, and so on.
#[inline(always)]
pub fn sh_terms<T: ShScalar>(degree: u8, [x, y, z]: [T; 3], mut each: impl FnMut(usize, T)) {
    if degree >= 1 {
        each(0, y.times(-C1));
        each(1, z.times(C1));
        each(2, x.times(-C1));
    }
    if degree < 2 {
        return;
    }
    let (xx, yy, zz) = (x * x, y * y, z * z);
    let (xy, yz, xz) = (x * y, y * z, x * z);
    each(3, xy.times(C2[0]));
    each(4, yz.times(-C2[0]));
    each(5, (zz + zz - xx - yy).times(C2[1]));
    each(6, xz.times(-C2[0]));
    each(7, (xx - yy).times(C2[2]));
    if degree < 3 {
        return;
    }
    let three = |v: T| v.times(3.0);
    each(8, (y * (three(xx) - yy)).times(-C3[0]));
    each(9, (xy * z).times(C3[1]));
    each(10, (y * (zz.times(4.0) - xx - yy)).times(-C3[2]));
    each(11, (z * (zz + zz - three(xx) - three(yy))).times(C3[3]));
    each(12, (x * (zz.times(4.0) - xx - yy)).times(-C3[2]));
    each(13, (z * (xx - yy)).times(C3[4]));
    each(14, (x * (xx - three(yy))).times(-C3[0]));
    if degree < 4 {
        return;
    }
    let seven = |v: T| v.times(7.0);
    each(15, (xy * (xx - yy)).times(C4[0]));
    each(16, (yz * (three(xx) - yy)).times(-C4[1]));
    each(17, (xy * seven(zz).plus(-1.0)).times(C4[2]));
    each(18, (yz * seven(zz).plus(-3.0)).times(-C4[3]));
    each(19, (zz * zz.times(35.0).plus(-30.0)).plus(3.0).times(C4[4]));
    each(20, (xz * seven(zz).plus(-3.0)).times(-C4[3]));
    each(21, ((xx - yy) * seven(zz).plus(-1.0)).times(C4[5]));
    each(22, (xz * (xx - three(yy))).times(-C4[1]));
    each(23, (xx * (xx - three(yy)) - yy * (three(xx) - yy)).times(C4_SECTORAL));
}

/// The first `N` basis functions, of degree 0 to `degree`, in the unit direction `dir`.
pub fn sh_basis<const N: usize>(degree: u8, dir: [f64; 3]) -> [f64; N] {
    let mut values = [0.0; N];
    values[0] = SH_C0;
    sh_terms(degree, dir, |k, basis| {
        if let Some(value) = values.get_mut(k + 1) {
            *value = basis;
        }
    });
    values
}
