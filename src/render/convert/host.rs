//! The caller of a conversion.

use std::path::Path;

use super::converted::{ConvertedFile, StepResult};
use super::report::ConversionLoss;
use quadrille_base::{Result, Task};
use quadrille_scene::{Camera, SplatTable, Splats};

/// Callbacks of a conversion: messages, progress, views, and the decision about a loss.
pub trait ConversionHost {
    /// Takes a warning: something that the output does not hold, or a value that is probably not meant.
    fn warn(&mut self, text: &str);

    /// Takes a note: a step that changes nothing.
    fn note(&mut self, text: &str) {
        let _ = text;
    }

    /// Takes a table that was read from the file `path`, and the file's facts.
    fn has_read(&mut self, path: &Path, table: &SplatTable, file: &ConvertedFile) -> Result<()> {
        let _ = (path, table, file);
        Ok(())
    }

    /// Takes the result of a step.
    fn has_applied(&mut self, step: &StepResult) -> Result<()> {
        let _ = step;
        Ok(())
    }

    /// Begins a part of the work, whose progress counts `counted`. The part before has ended.
    fn begin(&mut self, counted: &str) -> Task;

    /// The views by which the scene is pruned and compared, for a scene of `splats`.
    fn views(&mut self, splats: &Splats) -> Result<Vec<Camera>>;

    /// The source of the views in words, and whether they are positioned in the world of the inputs. Other views are
    /// chosen from the scene when they are first needed.
    fn source_of_views(&self) -> (String, bool);

    /// Whether the output is to be kept, given its loss. An output that is not kept leaves an old file as it is.
    fn accepts(&mut self, loss: &ConversionLoss) -> bool {
        let _ = loss;
        true
    }
}
