//! Conversions to narrower numbers, named after the part of the value that they keep.

use num_traits::{AsPrimitive, NumCast, ToPrimitive};

/// Converts an index or a length, saturating: no array of the host holds more than `usize::MAX` items.
#[inline(always)]
pub fn index(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// Rounds to f32; values beyond its range become infinite.
#[inline(always)]
pub fn narrow(value: f64) -> f32 {
    value.as_()
}

/// Integer part of a float; saturates at the bounds of the integer type, and is 0 for NaN.
#[inline(always)]
pub fn whole<T: Copy + 'static>(value: impl AsPrimitive<T>) -> T {
    value.as_()
}

/// Rounds to a byte, saturating; 0 for NaN.
pub fn byte(value: f64) -> u8 {
    whole(value.round())
}

/// The low bits of an integer that the narrower type `T` holds.
#[inline(always)]
pub fn low<T: Copy + 'static>(value: impl AsPrimitive<T>) -> T {
    value.as_()
}

/// Converts an integer that fits `T`: sizes are checked on input, and debug assertions check them again.
#[inline(always)]
pub fn fit<T: NumCast + Copy + 'static>(value: impl AsPrimitive<T> + ToPrimitive) -> T {
    debug_assert!(<T as NumCast>::from(value).is_some(), "an integer beyond its type");
    value.as_()
}
