//! Pixels held by bins of tile coalescing, for shaders that need each pixel at most once per bin.

use quadrille_base::math::index;
use quadrille_machine::Quad;

const FRAGMENTS: usize = 4;

/// Held pixels of each bin: a bit plane per fragment of a quad, with a bit per quad position in the screen tile.
#[derive(Debug)]
pub(super) struct HeldPixels(Vec<[u64; FRAGMENTS]>);

impl HeldPixels {
    pub(super) fn new(bins: u64) -> Self {
        Self(vec![[0; FRAGMENTS]; index(bins)])
    }

    /// Length of the prefix of `quads`, all of one primitive, that covers no pixel held by `bin`.
    pub(super) fn fitting(&self, bin: u32, quads: &[Quad]) -> usize {
        let planes = &self.0[bin as usize];
        let conflicts =
            |quad: &Quad| planes.iter().zip(covered(quad)).any(|(held, new)| held & new != 0);
        quads.iter().position(conflicts).unwrap_or(quads.len())
    }

    pub(super) fn add(&mut self, bin: u32, quads: &[Quad]) {
        let planes = &mut self.0[bin as usize];
        for quad in quads {
            for (held, new) in planes.iter_mut().zip(covered(quad)) {
                *held |= new;
            }
        }
    }

    pub(super) fn clear(&mut self, bin: u32) {
        self.0[bin as usize] = [0; FRAGMENTS];
    }
}

fn covered(quad: &Quad) -> [u64; FRAGMENTS] {
    let covers = |fragment: usize| u64::from(quad.mask >> fragment & 1);
    std::array::from_fn(|fragment| covers(fragment) << quad.position)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quad(position: u8, mask: u8) -> Quad {
        Quad { primitive: 0, position, mask }
    }

    /// The two quads on the diagonal of a box share a position and no pixel.
    #[test]
    fn a_pixel_conflicts_with_itself_alone() {
        let mut held = HeldPixels::new(2);
        let first = [quad(0, 0b0011), quad(63, 0b1111)];
        assert_eq!(held.fitting(1, &first), 2);
        held.add(1, &first);
        let rest = [quad(0, 0b1100), quad(5, 0b1111), quad(63, 0b1000)];
        assert_eq!(held.fitting(1, &rest), 2);
        assert_eq!(held.fitting(1, &rest[2..]), 0);
        assert_eq!(held.fitting(0, &rest), 3);
        held.clear(1);
        assert_eq!(held.fitting(1, &rest), 3);
    }
}
