//! Conversion of scenes: actions on tables of raw columns, in the given order, and reports of their loss.

mod action;
mod between;
mod concat;
mod condition;
mod conversion;
mod converted;
mod decimate;
mod floaters;
mod host;
mod judge;
mod prune;
mod report;
mod step;

pub use action::Action;
pub use between::views_between;
pub use concat::concatenate;
pub use condition::Condition;
pub use conversion::{Conversion, LOD_LEVELS, MAX_LOD_LEVELS, apply_step, filtered};
pub use converted::{Converted, ConvertedFile, ConvertedOutput, PruningViews, StepResult};
pub use decimate::{Amount, coarser_levels};
pub use host::ConversionHost;
pub use judge::JUDGING_ORBIT;
pub use prune::{largest_weights, prune};
pub use report::{
    AttributeError, AttributeErrors, ComparedViews, ConversionLoss, DrawnBy, LevelLoss,
    ViewComparison, ViewDifference, attribute_errors, worst_view,
};
pub use step::{Change, ChangeKind, Step};
