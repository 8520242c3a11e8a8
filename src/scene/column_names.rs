//! Names of the columns of a splat table: the property names of a trainer's PLY.

use crate::assemble::PLAIN_SLOTS;
use crate::splats::{MAX_SH_DEGREE, rest_coefficients};
use quadrille_base::error::{Mismatch, Result};

/// Names in the order of the slots of `RawBlock`.
pub(crate) const PLAIN: [&str; PLAIN_SLOTS] = [
    "x", "y", "z", "scale_0", "scale_1", "scale_2", "rot_0", "rot_1", "rot_2", "rot_3", "opacity",
    "f_dc_0", "f_dc_1", "f_dc_2",
];

/// Index in [`PLAIN`] of the scale that 2DGS files lack.
pub(crate) const THIRD_SCALE: usize = 5;

/// Index in [`PLAIN`] of the first constant SH coefficient.
pub(crate) const FIRST_CONSTANT: usize = 11;

/// Prefix of the higher SH coefficients, numbered channel-major.
const REST: &str = "f_rest_";

/// Column of the 3D filter of Mip-Splatting, a standard deviation in world units.
pub(crate) const FILTER: &str = "filter_3D";

pub(crate) fn slot(name: &str, rest: usize) -> Option<usize> {
    if let Some(number) = rest_number(name) {
        return Some(PLAIN_SLOTS + number);
    }
    if name == FILTER {
        return Some(PLAIN_SLOTS + rest);
    }
    PLAIN.iter().position(|plain| *plain == name)
}

fn rest_number(name: &str) -> Option<usize> {
    name.strip_prefix(REST)?.parse().ok()
}

pub(crate) fn rest_name(number: usize) -> String {
    format!("{REST}{number}")
}

pub(crate) fn sh_degree_of<'a>(names: impl Iterator<Item = &'a str>) -> Result<u8, Mismatch> {
    let mut numbers: Vec<usize> = names.filter_map(rest_number).collect();
    numbers.sort_unstable();
    let count = numbers.len();
    let degree = (0..=MAX_SH_DEGREE).find(|degree| 3 * rest_coefficients(*degree) == count);
    let Some(degree) = degree else {
        let expected = "0, 9, 24, 45 or 72 properties f_rest_* (SH degree 0 to 4)";
        return Err((expected.to_owned(), format!("{count} of them")));
    };
    if let Some((number, found)) = numbers.iter().enumerate().find(|(i, n)| i != *n) {
        let expected = format!("f_rest_0 to f_rest_{}", count - 1);
        return Err((expected, format!("f_rest_{found} but no f_rest_{number}")));
    }
    Ok(degree)
}
