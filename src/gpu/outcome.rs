//! The result of any method, and the interface that all results share.

use super::compute::outcome::ComputeResult;
use super::gscore::accelerator::GscoreResult;
use super::method::Method;
use super::result::SimulationResult;
use super::warp::shader_blend::ShaderOrder;
use quadrille_base::image::Frame;
use quadrille_machine::collect::UnitCycles;
use quadrille_machine::timing::Cycle;

/// The result of a method.
#[derive(Debug)]
pub enum Outcome {
    /// Result of the graphics pipeline.
    Pipeline(Box<SimulationResult>),
    /// Result of the conventional pipeline in this number of passes, or one pass per splat if there are fewer
    /// splats.
    MultiPass(u32, Box<SimulationResult>),
    /// Result of the pipeline whose fragment shader blends in this order.
    InShader(ShaderOrder, Box<SimulationResult>),
    /// Result of the software renderer.
    Compute(Box<ComputeResult>),
    /// Result of the accelerator.
    Gscore(Box<GscoreResult>),
}

impl Outcome {
    /// Returns the method that gave this result.
    pub fn method(&self) -> Method {
        match self {
            Self::Pipeline(result) => Method::Pipeline(result.variant),
            Self::MultiPass(passes, _) => Method::MultiPass(*passes),
            Self::InShader(order, _) => Method::InShader(*order),
            Self::Compute(result) => Method::Compute(result.method),
            Self::Gscore(_) => Method::Gscore,
        }
    }

    /// Cycles from sorted splats to the picture: of the draw, of the raster kernel, or of sort and
    /// rendering of the accelerator, in cycles of the emulated GPU.
    pub fn cycles(&self) -> Cycle {
        match self {
            Self::Pipeline(result) | Self::MultiPass(_, result) | Self::InShader(_, result) => {
                result.cycles
            }
            Self::Compute(result) => result.cycles,
            Self::Gscore(result) => result.gpu_cycles(),
        }
    }

    /// Fragments blended.
    pub fn fragments_blended(&self) -> u64 {
        match self {
            Self::Pipeline(result) | Self::MultiPass(_, result) | Self::InShader(_, result) => {
                result.fragments.blended
            }
            Self::Compute(result) => result.lanes.blended,
            Self::Gscore(result) => result.fragments_blended,
        }
    }

    /// The result of the graphics pipeline, if it is one.
    pub fn pipeline(&self) -> Option<&SimulationResult> {
        match self {
            Self::Pipeline(result) | Self::MultiPass(_, result) | Self::InShader(_, result) => {
                Some(result)
            }
            Self::Compute(_) | Self::Gscore(_) => None,
        }
    }

    /// The result of the graphics pipeline by value, if it is one.
    pub fn into_pipeline(self) -> Option<SimulationResult> {
        match self {
            Self::Pipeline(result) | Self::MultiPass(_, result) | Self::InShader(_, result) => {
                Some(*result)
            }
            Self::Compute(_) | Self::Gscore(_) => None,
        }
    }

    /// Cycles of units, in pipeline order.
    pub fn units(&self) -> Vec<UnitCycles> {
        match self {
            Self::Pipeline(result) | Self::MultiPass(_, result) | Self::InShader(_, result) => {
                result.units.clone()
            }
            Self::Compute(result) => result.units(),
            Self::Gscore(_) => Vec::new(),
        }
    }

    /// Returns the rendered picture.
    pub fn frame(&self) -> Frame {
        match self {
            Self::Pipeline(result) | Self::MultiPass(_, result) | Self::InShader(_, result) => {
                result.frame()
            }
            Self::Compute(result) => result.frame.clone(),
            Self::Gscore(result) => result.frame.clone(),
        }
    }

    /// Describes counters and cycles that do not add up. The list is empty unless the emulator has a bug.
    pub fn discrepancies(&self) -> Vec<String> {
        match self {
            Self::Pipeline(result) | Self::MultiPass(_, result) | Self::InShader(_, result) => {
                result.discrepancies()
            }
            Self::Compute(result) => result.discrepancies(),
            Self::Gscore(result) => result.discrepancies(),
        }
    }
}

impl From<SimulationResult> for Outcome {
    fn from(result: SimulationResult) -> Self {
        Self::Pipeline(Box::new(result))
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
