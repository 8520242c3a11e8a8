//! First points of the Sobol sequence in five dimensions (Joe and Kuo, "Constructing Sobol Sequences with Better
//! Two-Dimensional Projections", 2008), scrambled per pixel.

use quadrille_base::math::low;

/// Number of dimensions: x, y, u, v, t.
pub(crate) const DIMENSIONS: usize = 5;
/// Number of points, the largest number of samples per pixel.
pub(crate) const POINTS: usize = 16;

/// Degree, coefficients and initial numbers of the primitive polynomials of dimensions 2 to 5; dimension 1 is the van der
/// Corput sequence.
const POLYNOMIALS: [(u32, u32, &[u32]); DIMENSIONS - 1] =
    [(1, 0, &[1]), (2, 1, &[1, 3]), (3, 1, &[1, 3, 1]), (3, 2, &[1, 1, 1])];

/// Bits of an index below [`POINTS`].
const INDEX_BITS: usize = POINTS.ilog2() as usize;

fn directions(dimension: usize) -> [u32; INDEX_BITS] {
    let Some(&(degree, coefficients, initial)) =
        dimension.checked_sub(1).and_then(|k| POLYNOMIALS.get(k))
    else {
        return std::array::from_fn(|k| 1 << (31 - k));
    };
    let s = degree as usize;
    let mut m = [0_u32; INDEX_BITS];
    for k in 0..INDEX_BITS {
        m[k] = match initial.get(k) {
            Some(&given) => given,
            None => {
                let mut next = m[k - s] ^ m[k - s] << s;
                for j in 1..s {
                    if coefficients >> (s - 1 - j) & 1 == 1 {
                        next ^= m[k - j] << j;
                    }
                }
                next
            }
        };
    }
    std::array::from_fn(|k| m[k] << (31 - k))
}

/// First points, in fractions of 2^32. In each dimension, every interval of length 2^-k holds one of the first 2^k points.
pub fn points() -> [[u32; DIMENSIONS]; POINTS] {
    let directions: [_; DIMENSIONS] = std::array::from_fn(directions);
    std::array::from_fn(|point| {
        directions.map(|directions| {
            let bits = (0..INDEX_BITS).filter(|bit| point >> bit & 1 == 1);
            bits.fold(0, |sum, bit| sum ^ directions[bit])
        })
    })
}

/// Random word to combine with a pixel's points by exclusive or, which permutes intervals and keeps one point in each.
pub fn scramble(seed: u64, pixel: [u32; 2], dimension: u32) -> u32 {
    // SplitMix64 (Steele, Lea and Flood, 2014), which absorbs one word per step.
    let mut state = seed;
    for word in [pixel[0], pixel[1], dimension] {
        state = mix(state.wrapping_add(u64::from(word)).wrapping_add(0x9e37_79b9_7f4a_7c15));
    }
    low(state >> 32)
}

fn mix(v: u64) -> u64 {
    let v = (v ^ v >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let v = (v ^ v >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    v ^ v >> 31
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_point_in_each_sixteenth_of_each_dimension_also_scrambled() {
        let points = points();
        for dimension in 0..DIMENSIONS {
            for seed in 0..50 {
                let scramble = scramble(seed, [3, 9], u32::try_from(dimension).unwrap_or(0));
                for count in [1_usize, 2, 4, 8, 16] {
                    let mut cells: Vec<u32> = points[..count]
                        .iter()
                        .map(|p| ((u64::from(p[dimension] ^ scramble) * count as u64) >> 32) as u32)
                        .collect();
                    cells.sort_unstable();
                    let all: Vec<u32> = (0..).take(count).collect();
                    assert_eq!(cells, all, "dimension {dimension}");
                }
            }
        }
    }

    #[test]
    fn points_are_those_of_joe_and_kuo() {
        // In Gray-code order the published generator gives the same set; the fourth direction numbers
        // of dimensions 2 to 5 are 15, 9, 5 and 11.
        let fourth = [1, 2, 3, 4].map(|d| directions(d)[3] >> 28);
        assert_eq!(fourth, [15, 9, 5, 11]);
        let third = [1, 2, 3, 4].map(|d| directions(d)[2] >> 29);
        assert_eq!(third, [5, 3, 1, 1]);
    }
}
