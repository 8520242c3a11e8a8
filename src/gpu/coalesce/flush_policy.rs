//! Policies that decide when a coalescing unit flushes a bin before it is full.

use serde::{Deserialize, Serialize};

use quadrille_machine::Cycle;

/// State of an occupied bin, by which policies decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BinStatus {
    /// Key of the bin: the number of a screen tile or a tile grid.
    pub key: u32,
    /// Number of items in the bin.
    pub items: usize,
    /// Sequence number of the bin's allocation; an older bin has a lower number.
    pub begun: u64,
    /// Arrival cycle of the last item.
    pub last_arrival: Cycle,
}

/// Policy for flushes of bins that are not full.
pub trait FlushPolicy {
    /// Eviction rank. When a new key finds all bins occupied, the bin of lowest rank is flushed; ties go to the oldest.
    fn rank(&self, bin: &BinStatus) -> u64;

    /// Whether the rank is the age of a bin. The unit then evicts the oldest bin without comparing ranks.
    fn is_first_in(&self) -> bool {
        false
    }

    /// Cycle at which the bin is flushed unless another item arrives before it.
    fn deadline(&self, _bin: &BinStatus) -> Cycle {
        Cycle::MAX
    }
}

/// Rule that selects the bin to evict when all bins are occupied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Evict {
    /// Evict the oldest bin.
    FirstIn,
    /// Evict the bin whose last item is the oldest.
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

    #[inline]
    fn is_first_in(&self) -> bool {
        *self == Self::FirstIn
    }
}

/// Evicts by `evict`, and flushes bins that get no item for `timeout_cycles`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeout<E> {
    /// Policy that ranks bins for eviction.
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
    fn is_first_in(&self) -> bool {
        self.evict.is_first_in()
    }

    #[inline]
    fn deadline(&self, bin: &BinStatus) -> Cycle {
        bin.last_arrival + self.timeout_cycles
    }
}
