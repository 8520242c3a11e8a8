//! Early termination: the parameters of CROP, and its updates to ZROP (VR-Pipe, section V-B).

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::pipeline::timing::Cycle;

/// Timing of termination bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Feedback {
    /// A fragment is terminated only if its pixel's bit was written before its test.
    Timed,
    /// In addition, no fragment is blended into a pixel that has reached the threshold, as in a
    /// pipeline without latency.
    Ideal,
}

/// Termination updates in flight from CROP to ZROP, in time order.
#[derive(Debug, Default)]
pub struct Updates {
    due: VecDeque<(Cycle, u64)>,
}

impl Updates {
    /// Sends an update of `quad` that arrives at `due`, which never decreases.
    pub fn push(&mut self, due: Cycle, quad: usize) {
        self.due.push_back((due, quad as u64));
    }

    /// Removes the next update that arrives by `now`; returns its cycle and its quad.
    #[inline]
    pub fn next_due(&mut self, now: Cycle) -> Option<(Cycle, u64)> {
        let first = *self.due.front()?;
        (first.0 <= now).then(|| {
            self.due.pop_front();
            first
        })
    }
}

/// Parameters of early termination.
#[derive(Debug, Clone, Copy)]
pub struct Termination {
    /// Alpha at which a pixel is terminated.
    pub threshold: f32,
    /// Cycles from the end of a blend to the termination bit.
    pub feedback_cycles: u64,
    /// Timing of the bits.
    pub feedback: Feedback,
}
