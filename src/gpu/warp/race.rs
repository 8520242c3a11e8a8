//! Loads and stores of warps in emulated time, without a lock: a warp reads its pixels in the cycle of its load and
//! overwrites them in the cycle of its store, so updates in between are lost.
//!
//! Warps arrive in launch order, but their accesses are due in any order. An access runs once no earlier one can arrive.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use arrayvec::ArrayVec;

use super::raced_picture::{QuadVersion, RacedPicture};
use crate::zrop::framebuffer::Framebuffer;
use quadrille_base::math::SimdLevel;
use quadrille_base::raster::tiles::quad_index;
use quadrille_machine::{Cycle, ShadedWarp, WARP_QUADS};

/// Kind of access; in one cycle, loads precede stores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Access {
    Load,
    Store,
}

/// Cycle, kind, warp number, and index in [`Race::flying`].
type Event = (Cycle, Access, u64, usize);

#[derive(Debug)]
struct Flying {
    warp: ShadedWarp,
    loaded: ArrayVec<QuadVersion, WARP_QUADS>,
}

#[derive(Debug, Default)]
pub(super) struct Race {
    events: BinaryHeap<Reverse<Event>>,
    flying: Vec<Option<Flying>>,
    free: Vec<usize>,
    warps: u64,
}

impl Race {
    /// Adds a warp that loads its pixels in cycle `loads` and stores them in cycle `stores`, which is not earlier.
    pub(super) fn add(&mut self, warp: ShadedWarp, loads: Cycle, stores: Cycle) {
        self.warps += 1;
        let flying = Some(Flying { warp, loaded: ArrayVec::new() });
        let place = self.free.pop().unwrap_or(self.flying.len());
        if place == self.flying.len() {
            self.flying.push(flying);
        } else {
            self.flying[place] = flying;
        }
        let event = |at, access| Reverse((at, access, self.warps, place));
        // A heap, not a queue: warps arrive in launch order, but their events are due in any order.
        self.events.push(event(loads, Access::Load));
        self.events.push(event(stores, Access::Store));
    }

    /// Performs all loads and stores before cycle `until`, in order. Warps added afterwards must load at `until` or later.
    pub(super) fn advance(
        &mut self,
        until: Cycle,
        level: SimdLevel,
        framebuffer: &mut Framebuffer,
        picture: &mut RacedPicture,
    ) {
        while let Some(&Reverse((at, access, number, place))) = self.events.peek()
            && at < until
        {
            self.events.pop();
            match access {
                Access::Load => {
                    if let Some(flying) = &mut self.flying[place] {
                        flying.load(framebuffer, picture);
                    }
                }
                Access::Store => {
                    if let Some(flying) = self.flying[place].take() {
                        flying.store(number, level, framebuffer, picture);
                    }
                    self.free.push(place);
                }
            }
        }
    }
}

impl Flying {
    fn load(&mut self, framebuffer: &Framebuffer, picture: &RacedPicture) {
        for quad in self.warp.quads.iter() {
            let index = quad_index(self.warp.tile, quad.position);
            self.loaded.push(picture.load(index, framebuffer.colour[index]));
        }
    }

    fn store(
        self,
        number: u64,
        level: SimdLevel,
        framebuffer: &mut Framebuffer,
        picture: &mut RacedPicture,
    ) {
        for (quad, loaded) in self.warp.quads.iter().zip(self.loaded) {
            let index = quad_index(self.warp.tile, quad.position);
            picture.store(level, index, number, loaded, quad, &mut framebuffer.colour[index]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::zrop::framebuffer::Tests;
    use quadrille_base::shading::ColourFormat;
    use quadrille_machine::ColourQuad;

    const NEVER: Cycle = Cycle::MAX;

    /// State around the top left pixel of a picture of 2x2 pixels.
    struct Pixel {
        race: Race,
        framebuffer: Framebuffer,
        picture: RacedPicture,
    }

    impl Pixel {
        fn new() -> Self {
            let format = ColourFormat::Rgba32F;
            let framebuffer = Framebuffer::new(2, 2, format, &Tests::default(), false);
            Self {
                race: Race::default(),
                picture: RacedPicture::new(framebuffer.layout.quads(), format),
                framebuffer,
            }
        }

        /// A warp with one quad of red `red`, alpha 0.5 and coverage `mask`.
        fn warp(red: f32, mask: u8) -> ShadedWarp {
            let covered =
                |value: f32| [0, 1, 2, 3].map(|bit| if mask >> bit & 1 == 1 { value } else { 0.0 });
            let quad = ColourQuad { position: 0, mask, colour: [red, 0.0, 0.0, 0.5].map(covered) };
            ShadedWarp { tile: 0, quads: [quad].into_iter().collect() }
        }

        fn add(&mut self, warp: ShadedWarp, loads: Cycle, stores: Cycle) {
            self.picture.blend_in_order(SimdLevel::best(), &warp);
            self.race.add(warp, loads, stores);
        }

        fn advance(&mut self, until: Cycle) {
            let level = SimdLevel::best();
            let (framebuffer, picture) = (&mut self.framebuffer, &mut self.picture);
            self.race.advance(until, level, framebuffer, picture);
        }

        fn reds(&self) -> [f32; 4] {
            self.framebuffer.colours()[0][0]
        }
    }

    /// Reds of 1, 2 and 4 behind each other blend in order to 1, 1 + 2/2 and 2 + 4/4. A load does not see a store of the
    /// same cycle, but sees it in the next cycle.
    #[test]
    fn an_update_between_load_and_store_is_lost() {
        for (second_loads, red, in_picture) in [(10, 2.0 + 4.0 * 0.5, 2), (11, 3.0, 3)] {
            let mut pixel = Pixel::new();
            pixel.add(Pixel::warp(1.0, 1), 0, 10);
            pixel.add(Pixel::warp(2.0, 1), second_loads, 20);
            pixel.advance(11);
            pixel.add(Pixel::warp(4.0, 1), 30, 40);
            pixel.advance(NEVER);
            assert_eq!(pixel.reds()[0].to_bits(), f32::to_bits(red));
            assert_eq!(pixel.picture.fragments(), in_picture);
            assert_eq!(pixel.picture.out_of_order(), 0);
            assert_eq!(pixel.picture.in_order()[0][0][0].to_bits(), 3_f32.to_bits());
            assert!(pixel.race.events.is_empty());
        }
    }

    /// The older warp is slower: it reads the result of the younger warp, and nothing is lost. Only the younger warp covers
    /// the neighbouring pixel.
    #[test]
    fn a_slow_warp_comes_behind_a_younger_one() {
        let mut pixel = Pixel::new();
        pixel.add(Pixel::warp(1.0, 0b01), 50, 60);
        pixel.add(Pixel::warp(2.0, 0b11), 0, 10);
        pixel.advance(NEVER);
        assert_eq!(pixel.reds(), [2.5, 2.0, 0.0, 0.0]);
        assert_eq!(pixel.picture.out_of_order(), 1);
        assert_eq!(pixel.picture.fragments(), 3);
    }

    /// Of two lanes of a warp that write one pixel, the last one wins.
    #[test]
    fn lanes_of_a_warp_overwrite_each_other() {
        let mut pixel = Pixel::new();
        let mut warp = Pixel::warp(1.0, 0b1111);
        let other = Pixel::warp(2.0, 0b0011).quads[0];
        warp.quads = warp.quads.iter().copied().chain([other]).collect();
        pixel.add(warp, 5, 6);
        pixel.advance(6);
        assert_eq!(pixel.reds(), [0.0; 4]);
        pixel.advance(7);
        assert_eq!(pixel.reds(), [2.0, 2.0, 1.0, 1.0]);
        // Six fragments were blended, but the warp overwrote two of them.
        assert_eq!(pixel.picture.fragments(), 4);
    }
}
