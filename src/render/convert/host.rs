//! Interface between a conversion and its caller.

use std::path::Path;

use super::converted::{ConvertedFile, StepResult};
use super::report::ConversionLoss;
use quadrille_base::{Result, Task};
use quadrille_scene::{Camera, SplatTable, Splats};

/// Callbacks of a conversion: messages, progress, views, and the decision about a loss.
pub trait ConversionHost {
    /// Receives a warning: attributes that the output cannot hold, or an argument that is probably a mistake.
    fn warn(&mut self, text: &str);

    /// Receives a note: a step that changes nothing.
    fn note(&mut self, text: &str) {
        let _ = text;
    }

    /// Receives a table that was read from the file `path`, with the properties of the file.
    fn has_read(&mut self, path: &Path, table: &SplatTable, file: &ConvertedFile) -> Result<()> {
        let _ = (path, table, file);
        Ok(())
    }

    /// Receives the result of a step that was applied.
    fn has_applied(&mut self, step: &StepResult) -> Result<()> {
        let _ = step;
        Ok(())
    }

    /// Starts the next phase of the work and returns its task; `counted` is the unit of progress. The last phase has ended.
    fn begin(&mut self, counted: &str) -> Task;

    /// Returns the views for pruning and comparison of a scene of `splats`.
    fn views(&mut self, splats: &Splats) -> Result<Vec<Camera>>;

    /// Returns a description of the source of the views, and whether their positions are in the world of the inputs. If
    /// not, the views are chosen from the scene when they are first needed.
    fn source_of_views(&self) -> (String, bool);

    /// Whether the output is kept, given its loss. If not, an existing output file stays unchanged.
    fn accepts(&mut self, loss: &ConversionLoss) -> bool {
        let _ = loss;
        true
    }
}
