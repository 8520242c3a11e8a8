//! Early termination: what CROP knows of it, and the updates that it sends to ZROP (VR-Pipe, section
//! V-B).

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::pipeline::timing::Cycle;

/// Whether termination bits take time to land.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Feedback {
    /// A fragment is terminated only if its pixel's bit was written before its test.
    Timed,
    /// As well, no fragment is blended whose pixel has reached the threshold: what a pipeline
    /// without latency would do.
    Ideal,
}

/// Termination updates on their way from CROP to ZROP, in the order of their times.
#[derive(Debug, Default)]
pub struct Updates {
    due: VecDeque<(Cycle, u64)>,
}

impl Updates {
    /// Sends an update of `quad` that arrives at `due`, no earlier than those before it.
    pub fn push(&mut self, due: Cycle, quad: usize) {
        self.due.push_back((due, quad as u64));
    }

    /// Takes the next update that has arrived by `now`: when it did, and its quad.
    #[inline]
    pub fn next_due(&mut self, now: Cycle) -> Option<(Cycle, u64)> {
        let first = *self.due.front()?;
        (first.0 <= now).then(|| {
            self.due.pop_front();
            first
        })
    }
}

/// What CROP knows of early termination.
#[derive(Debug, Clone, Copy)]
pub struct Termination {
    /// Alpha at which a pixel is terminated.
    pub threshold: f32,
    /// Cycles from a blend to the bit.
    pub feedback_cycles: u64,
    /// Whether the bit lands in time or ideally.
    pub feedback: Feedback,
}
