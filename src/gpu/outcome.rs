//! Result of any method, and the interface that all results share.

use super::compute::outcome::ComputeResult;
use super::gscore::accelerator::GscoreResult;
use super::method::Method;
use super::result::SimulationResult;
use quadrille_base::image::Frame;
use quadrille_machine::{Cycle, UnitCycles};

/// Result of a run of any method.
#[derive(Debug)]
pub enum Outcome {
    /// Result on the graphics pipeline. Multi-pass rendering of fewer splats than passes has one pass per splat.
    Pipeline(Method, Box<SimulationResult>),
    /// Result of the software renderer.
    Compute(Box<ComputeResult>),
    /// Result of the accelerator.
    Gscore(Box<GscoreResult>),
}

impl Outcome {
    /// Returns the method that gave this result.
    pub fn method(&self) -> Method {
        match self {
            Self::Pipeline(method, _) => *method,
            Self::Compute(result) => Method::Compute(result.method),
            Self::Gscore(_) => Method::Gscore,
        }
    }

    /// Cycles at the clock of the GPU of the draw, the raster kernel, or the accelerator's sort and rendering.
    pub fn cycles(&self) -> Cycle {
        match self {
            Self::Pipeline(_, result) => result.cycles,
            Self::Compute(result) => result.cycles,
            Self::Gscore(result) => result.gpu_cycles(),
        }
    }

    /// Number of blended fragments.
    pub fn fragments_blended(&self) -> u64 {
        match self {
            Self::Pipeline(_, result) => result.fragments.blended,
            Self::Compute(result) => result.counts.lanes.blended,
            Self::Gscore(result) => result.counts.fragments_blended,
        }
    }

    /// Result on the graphics pipeline; `None` for other methods.
    pub fn pipeline(&self) -> Option<&SimulationResult> {
        match self {
            Self::Pipeline(_, result) => Some(result),
            Self::Compute(_) | Self::Gscore(_) => None,
        }
    }

    /// Returns the result on the graphics pipeline by value; `None` for other methods.
    pub fn into_pipeline(self) -> Option<SimulationResult> {
        match self {
            Self::Pipeline(_, result) => Some(*result),
            Self::Compute(_) | Self::Gscore(_) => None,
        }
    }

    /// Result of the accelerator; `None` for other methods.
    pub fn gscore(&self) -> Option<&GscoreResult> {
        match self {
            Self::Gscore(result) => Some(result),
            Self::Pipeline(..) | Self::Compute(_) => None,
        }
    }

    /// Cycles of units, in pipeline order; empty for the accelerator.
    pub fn units(&self) -> Vec<UnitCycles> {
        match self {
            Self::Pipeline(_, result) => result.units.clone(),
            Self::Compute(result) => result.units(),
            Self::Gscore(_) => Vec::new(),
        }
    }

    /// Returns the rendered picture.
    pub fn frame(&self) -> Frame {
        match self {
            Self::Pipeline(_, result) => result.frame(),
            Self::Compute(result) => result.frame.clone(),
            Self::Gscore(result) => result.frame.clone(),
        }
    }

    /// Describes counters and cycles that do not add up. The list is empty unless the emulator has a bug.
    pub fn discrepancies(&self) -> Vec<String> {
        match self {
            Self::Pipeline(_, result) => result.discrepancies(),
            Self::Compute(result) => result.discrepancies(),
            Self::Gscore(result) => result.discrepancies(),
        }
    }
}

impl From<SimulationResult> for Outcome {
    fn from(result: SimulationResult) -> Self {
        Self::Pipeline(result.variant.into(), Box::new(result))
    }
}

impl From<ComputeResult> for Outcome {
    fn from(result: ComputeResult) -> Self {
        Self::Compute(Box::new(result))
    }
}

impl From<GscoreResult> for Outcome {
    fn from(result: GscoreResult) -> Self {
        Self::Gscore(Box::new(result))
    }
}
