//! Early termination: CROP's parameters, and its updates to ZROP (VR-Pipe, section V-B).

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use quadrille_machine::{Cycle, Queue};

/// Moment at which a termination bit takes effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Feedback {
    /// A fragment is terminated only if its pixel's bit was set before its test.
    Timed,
    /// Additionally, no fragment is blended into a pixel at the threshold, as in a pipeline without latency.
    Ideal,
}

/// Termination update: sets termination bits of a quad.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Update {
    /// Cycle at which the update can be performed, because it and its stencil values have arrived.
    pub due: Cycle,
    /// Index of the quad in the framebuffer.
    pub quad: usize,
    /// Mask of the pixels to terminate.
    pub mask: u8,
}

/// Bounded queue of termination updates from CROP to ZROP, one per pixel, in time order.
///
/// ZROP performs updates before tests, so the queue drains at the rate of the updates alone.
#[derive(Debug)]
pub struct Updates {
    queue: VecDeque<Update>,
    /// Updates at the front whose stencil values have been requested.
    requested: usize,
    places: Queue,
    update_cycles: u64,
    performed: Cycle,
}

impl Updates {
    /// Creates an empty queue of `depth` updates, each of which holds the port of ZROP for `update_cycles`.
    pub fn new(depth: u64, update_cycles: u64) -> Self {
        Self {
            queue: VecDeque::new(),
            requested: 0,
            places: Queue::new(depth),
            update_cycles,
            performed: 0,
        }
    }

    /// Sends an update per pixel in `mask` of `quad` at `sent`, which never decreases; they arrive `delay`
    /// cycles later. Returns the cycle at which the last one is in the queue.
    pub fn send(&mut self, quad: usize, mask: u8, sent: Cycle, delay: u64) -> Cycle {
        let mut entered = sent;
        let mut left = mask;
        while left != 0 {
            entered = self.places.entry(entered);
            let due = entered + delay;
            self.performed = self.performed.max(due) + self.update_cycles;
            self.places.leave(self.performed);
            self.queue.push_back(Update { due, quad, mask: left & left.wrapping_neg() });
            left &= left - 1;
        }
        entered
    }

    /// Whether [`Updates::request`] finds an update that arrives by `now`.
    #[inline(always)]
    pub(crate) fn has_requests(&self, now: Cycle) -> bool {
        self.queue.get(self.requested).is_some_and(|update| update.due <= now)
    }

    /// Requests the stencil values of the updates that arrive by `now`; `request` returns an update's arrival cycle.
    #[inline]
    pub fn request(&mut self, now: Cycle, mut request: impl FnMut(&Update) -> Cycle) {
        while let Some(update) = self.queue.get_mut(self.requested)
            && update.due <= now
        {
            update.due = request(update);
            self.requested += 1;
        }
    }

    /// Removes the next update if it can be performed by `now`.
    #[inline]
    pub(crate) fn take_due(&mut self, now: Cycle) -> Option<Update> {
        let first = self.queue.front()?;
        if self.requested == 0 || first.due > now {
            return None;
        }
        self.requested -= 1;
        self.queue.pop_front()
    }

    /// Removes the next update, whether it is due or not.
    pub fn remove(&mut self) -> Option<Update> {
        self.requested = self.requested.saturating_sub(1);
        self.queue.pop_front()
    }
}

/// Parameters of early termination.
#[derive(Debug, Clone, Copy)]
pub struct Termination {
    /// Alpha at which a pixel is terminated.
    pub threshold: f32,
    /// Cycles from the end of a blend to the termination bit.
    pub feedback_cycles: u64,
    /// Moment at which the bit takes effect.
    pub feedback: Feedback,
}
