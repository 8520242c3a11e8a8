//! Depth test of a pipeline, with or without a model of the memory.

use arrayvec::ArrayVec;

use super::sample_order::{SampleOrder, each_bit};
use crate::hits::{Hit, QuadHits};
use crate::memory::bits::BLOCK_WORDS;
use crate::memory::depth_buffer::{DepthBlocks, DepthFormat, DepthRule};
use crate::memory::spec::MemorySpec;
use quadrille_base::error::Result;

/// Depths of all samples.
#[derive(Debug)]
pub(crate) enum SampleDepths {
    /// Array without a model of memory traffic.
    Plain(Vec<f32>),
    /// Depth buffer with caches, headers and compression, whose traffic is measured.
    Modelled(Box<DepthBlocks>),
}

impl SampleDepths {
    /// Creates clear depths; measures traffic if `measured` gives the memory and the format.
    ///
    /// # Errors
    /// [`Error::Limit`](quadrille_base::error::Error::Limit) for more than 2^32 blocks of memory.
    pub(crate) fn new(
        order: SampleOrder,
        measured: Option<(&MemorySpec, DepthFormat)>,
    ) -> Result<Self> {
        let samples = order.count();
        Ok(match measured {
            None => Self::Plain(vec![0.0; samples]),
            Some((spec, format)) => {
                Self::Modelled(Box::new(DepthBlocks::new(spec, format, samples)?))
            }
        })
    }

    /// Tests hits as [`DepthBlocks::test`] does.
    #[inline]
    pub(crate) fn test(
        &mut self,
        first: usize,
        coverage: u64,
        hits: &[Hit],
        rule: DepthRule,
    ) -> u64 {
        let depths = match self {
            Self::Modelled(buffer) => return buffer.test(first, coverage, hits, rule),
            Self::Plain(depths) => depths,
        };
        let (mut passed, mut hits) = (0, hits.iter());
        each_bit(coverage, |bit| {
            let Some(hit) = hits.next() else { return };
            let stored = &mut depths[first + bit as usize];
            let passes = match rule {
                #[allow(clippy::float_cmp, reason = "the same bits, drawn before")]
                DepthRule::Equal => hit.depth == *stored,
                DepthRule::Nearer | DepthRule::NearerWithoutWrite => hit.depth > *stored,
            };
            if passes {
                passed |= 1 << bit;
                if rule == DepthRule::Nearer {
                    *stored = hit.depth;
                }
            }
        });
        passed
    }

    /// Copies the depths of the first `count` samples.
    pub(crate) fn values(&self, count: usize) -> Vec<f32> {
        match self {
            Self::Plain(depths) => depths[..count].to_vec(),
            Self::Modelled(buffer) => (0..count).map(|sample| buffer.depth(sample)).collect(),
        }
    }

    /// Tests the hits of a block, and writes the depths of passing hits in `kept`; returns the mask of passing hits.
    pub(crate) fn test_late(
        &mut self,
        first: usize,
        quad: &QuadHits,
        hits: &[Hit],
        kept: u64,
    ) -> u64 {
        let passed = self.test(first, quad.coverage, hits, DepthRule::NearerWithoutWrite);
        let written = passed & kept;
        if written != 0 {
            let mut left = quad.coverage;
            let hits = hits.iter().filter(|_| {
                let bit = left & left.wrapping_neg();
                left ^= bit;
                written & bit != 0
            });
            let hits: ArrayVec<Hit, BLOCK_WORDS> = hits.copied().collect();
            self.test(first, written, &hits, DepthRule::Nearer);
        }
        passed
    }
}
