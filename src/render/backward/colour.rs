//! Colours from spherical harmonics, and their derivatives by the direction.

use std::ops::{Add, Mul, Sub};

use nalgebra::Vector3;

use quadrille_base::math::{SH_C0, ShScalar, sh_colour};

/// A number and its derivatives by the components of a direction.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Dual {
    value: f64,
    gradient: Vector3<f64>,
}

impl Dual {
    fn constant(value: f64) -> Self {
        Self { value, gradient: Vector3::zeros() }
    }
}

impl Add for Dual {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self { value: self.value + other.value, gradient: self.gradient + other.gradient }
    }
}

impl Sub for Dual {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self { value: self.value - other.value, gradient: self.gradient - other.gradient }
    }
}

impl Mul for Dual {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        let gradient = self.gradient * other.value + other.gradient * self.value;
        Self { value: self.value * other.value, gradient }
    }
}

impl ShScalar for Dual {
    fn times(self, k: f64) -> Self {
        Self { value: self.value * k, gradient: self.gradient * k }
    }
    fn plus(self, k: f64) -> Self {
        Self { value: self.value + k, ..self }
    }
    fn mul_add(self, b: Self, c: Self) -> Self {
        self * b + c
    }
}

/// Red, green and blue before the lower bound 0, and the derivatives of each by the unit direction. `sh` holds the
/// coefficients from the constant one on.
pub(super) fn unbounded_colour(
    sh_degree: u8,
    direction: Vector3<f64>,
    sh: &[[f64; 3]],
) -> ([f64; 3], [Vector3<f64>; 3]) {
    let direction: [f64; 3] = direction.into();
    let direction =
        [0, 1, 2].map(|axis| Dual { value: direction[axis], gradient: Vector3::ith(axis, 1.0) });
    let coefficient = |k: usize| sh.get(k).copied().unwrap_or_default();
    let constant = coefficient(0).map(|c| Dual::constant(c * SH_C0 + 0.5));
    let colour =
        sh_colour(sh_degree, direction, constant, |k| coefficient(k + 1).map(Dual::constant));
    (colour.map(|c| c.value), colour.map(|c| c.gradient))
}
