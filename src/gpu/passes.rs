//! Draws in sequence on one machine: batches of splats, and between them stencil updates that terminate the
//! pixels which have reached the threshold (VR-Pipe, section IV-B, Algorithm 1).
//!
//! A batch is drawn with a stencil test that terminated pixels fail in ZROP. At its end the pipeline drains
//! and CROP writes its dirty colours to the L2. The update then draws a rectangle over the whole screen
//! through the same units, with the [shader](super::warp::update) that reads the alphas back. A fixed gap
//! separates every draw from the one before. Framebuffer, stencil values, caches and L2 keep their state.
//! Rendering in one pass has no stencil test, no update and no gap: it is the draw itself.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::draw_state::DrawState;
use quadrille_base::math::fit;
use quadrille_machine::{Activity, Cycle, Sink, Unit, Visitor, documented};

documented! {
    /// Cost of a pass: a batch of splats, and the stencil update after the batch.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
    pub struct Pass {
        /// Cycles of the batch until the pipeline is empty and, before an update, CROP's colours are in the L2.
        pub draw_cycles: Cycle,
        /// Cycles of the stencil update; 0 after the last batch.
        pub update_cycles: Cycle,
        /// Pixels newly terminated by the update.
        pub terminated_pixels: u64,
    }
}

/// Splits `splats` into `passes` batches of almost equal size: at least one, and at most one per splat.
pub fn batches(splats: u32, passes: u32) -> impl ExactSizeIterator<Item = Range<u32>> {
    let passes = passes.min(splats).max(1);
    let first =
        move |batch: u32| fit::<u32>(u64::from(splats) * u64::from(batch) / u64::from(passes));
    (0..passes).map(move |batch| first(batch)..first(batch + 1))
}

const SPLATS_PER_REPORT: u32 = 1024;

/// Renders the splats of the draw in `passes` passes, `gap` cycles apart. Splats after a cancellation are skipped.
pub(super) fn run<'m>(
    chain: &mut (impl Sink<u32, DrawState<'m>> + Unit),
    state: &mut DrawState<'m>,
    passes: u32,
    gap: Cycle,
) -> Vec<Pass> {
    let splats = state.draw.len();
    let batches = batches(splats, passes);
    let last = batches.len() - 1;
    let mut start = 0;
    let pass = |(number, batch): (usize, Range<u32>)| {
        let is_last = number == last;
        state.update.write_back_colours = !is_last;
        let drawn = draw(chain, state, batch, start);
        let mut pass = Pass { draw_cycles: drawn - start, ..Pass::default() };
        if !is_last {
            let before = state.update.terminated_pixels;
            state.update.active = true;
            let begin = drawn + gap;
            let updated = draw(chain, state, splats..splats + 1, begin);
            state.update.active = false;
            pass.update_cycles = updated - begin;
            pass.terminated_pixels = state.update.terminated_pixels - before;
            start = updated + gap;
        }
        pass
    };
    batches.enumerate().map(pass).collect()
}

fn draw<'m>(
    chain: &mut (impl Sink<u32, DrawState<'m>> + Unit),
    state: &mut DrawState<'m>,
    splats: Range<u32>,
    start: Cycle,
) -> Cycle {
    let all = u64::from(state.draw.len());
    for splat in splats {
        if state.task.is_cancelled() {
            break;
        }
        if splat % SPLATS_PER_REPORT == 0 {
            state.task.report(u64::from(splat), all);
        }
        chain.offer(splat, start, state);
    }
    chain.end(start, state);
    let mut end = End(start.max(state.memory.writes_done()));
    chain.visit(&mut end);
    end.0
}

struct End(Cycle);

impl Visitor for End {
    fn activity(&mut self, _name: &'static str, activity: &mut Activity) {
        self.0 = self.0.max(activity.accounted());
    }

    fn end(&mut self, at: Cycle) {
        self.0 = self.0.max(at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_hold_each_splat_once_and_differ_by_one_at_most() {
        let of = |splats, passes| batches(splats, passes).collect::<Vec<_>>();
        assert_eq!(of(10, 3), [0..3, 3..6, 6..10]);
        assert_eq!(of(3, 8), [0..1, 1..2, 2..3]);
        let all = u32::MAX - 1;
        assert_eq!((of(0, 8).len(), of(0, 8)[0].clone()), (1, 0..0));
        assert_eq!((of(all, 1).len(), of(all, 1)[0].clone()), (1, 0..all));
    }
}
