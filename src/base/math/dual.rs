//! Numbers with their derivatives.

use std::ops::{Add, Mul, Sub};

use super::harmonics::ShScalar;

/// A number and its derivatives by the components of a direction.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Dual<T> {
    /// The number itself.
    pub value: T,
    /// Derivatives by x, y and z.
    pub by: [T; 3],
}

impl<T: ShScalar> Dual<T> {
    /// The components of `direction`, each with its derivatives by all of them.
    #[inline(always)]
    pub fn components([x, y, z]: [T; 3]) -> [Self; 3] {
        let zero = x.times(0.0);
        let one = zero.plus(1.0);
        [
            Self { value: x, by: [one, zero, zero] },
            Self { value: y, by: [zero, one, zero] },
            Self { value: z, by: [zero, zero, one] },
        ]
    }
}

impl<T: ShScalar> Add for Dual<T> {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        let ([x, y, z], [a, b, c]) = (self.by, other.by);
        Self { value: self.value + other.value, by: [x + a, y + b, z + c] }
    }
}

impl<T: ShScalar> Sub for Dual<T> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        let ([x, y, z], [a, b, c]) = (self.by, other.by);
        Self { value: self.value - other.value, by: [x - a, y - b, z - c] }
    }
}

impl<T: ShScalar> Mul for Dual<T> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        let ([x, y, z], [a, b, c]) = (self.by, other.by);
        let (value, factor) = (self.value, other.value);
        let by = [
            x.mul_add(factor, a * value),
            y.mul_add(factor, b * value),
            z.mul_add(factor, c * value),
        ];
        Self { value: value * factor, by }
    }
}

impl<T: ShScalar> ShScalar for Dual<T> {
    #[inline(always)]
    fn times(self, k: f64) -> Self {
        let [x, y, z] = self.by;
        Self { value: self.value.times(k), by: [x.times(k), y.times(k), z.times(k)] }
    }
    #[inline(always)]
    fn plus(self, k: f64) -> Self {
        Self { value: self.value.plus(k), ..self }
    }
    #[inline(always)]
    fn mul_add(self, b: Self, c: Self) -> Self {
        self * b + c
    }
}
