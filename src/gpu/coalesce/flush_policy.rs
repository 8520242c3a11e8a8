//! When a coalescing unit flushes a bin that is not full.

use serde::{Deserialize, Serialize};

use crate::pipeline::timing::Cycle;

/// What a policy knows of an occupied bin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BinStatus {
    /// What the bin gathers: the number of a screen tile or of a tile grid.
    pub key: u32,
    /// Items in the bin.
    pub items: usize,
    /// Order in which the occupied bins were begun.
    pub begun: u64,
    /// Cycle at which its last item came.
    pub last_arrival: Cycle,
}

/// Decides which bins are flushed before they are full.
pub trait FlushPolicy {
    /// Rank of a bin when all bins are occupied and an item with another key comes: the bin of the
    /// least rank makes room, of equal ones that which was begun first.
    fn rank(&self, bin: &BinStatus) -> u64;

    /// Cycle at which the bin is flushed if it gets no item before.
    fn deadline(&self, _bin: &BinStatus) -> Cycle {
        Cycle::MAX
    }
}

/// Which bin makes room when all are occupied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Evict {
    /// The one that was begun first.
    FirstIn,
    /// The one whose last item is the oldest.
    LeastRecentlyUsed,
}

impl FlushPolicy for Evict {
    #[inline]
    fn rank(&self, bin: &BinStatus) -> u64 {
        match self {
            Self::FirstIn => bin.begun,
            Self::LeastRecentlyUsed => bin.last_arrival,
        }
    }
}

/// Evicts by `evict`, and flushes bins to which nothing comes for `timeout_cycles`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeout<E> {
    /// Which bin makes room when all are occupied.
    pub evict: E,
    /// Cycles from a bin's last item to its flush.
    pub timeout_cycles: u64,
}

impl<E: FlushPolicy> FlushPolicy for Timeout<E> {
    #[inline]
    fn rank(&self, bin: &BinStatus) -> u64 {
        self.evict.rank(bin)
    }

    #[inline]
    fn deadline(&self, bin: &BinStatus) -> Cycle {
        bin.last_arrival + self.timeout_cycles
    }
}
