use std::sync::Arc;

use serde_json::Value;

use super::admission::Admission;
use super::commands::Commands;
use super::hub::Hub;
use super::look::Look;
use super::message::Limits;
use super::openings::Openings;
use super::sequence::Sequence;
use super::stage::Stage;

pub(crate) struct Site {
    pub(crate) hub: Arc<Hub>,
    pub(crate) admission: Admission,
    pub(crate) limits: Limits,
    pub(crate) look: Arc<Look>,
    /// Commands of each scene, at the beginning.
    pub(crate) commands: Vec<Commands>,
    /// Scenes over time in place of the first scene.
    pub(crate) sequence: Option<Arc<Sequence>>,
    /// Way to open other scenes, if pages may.
    pub(crate) openings: Option<Openings>,
    pub(crate) welcome: Value,
    pub(crate) version: &'static str,
}

impl Site {
    /// Commands of a scene; of a sequence, of the scene that is shown.
    pub(crate) fn commands(&self, scene: usize, stage: &Stage) -> Commands {
        let commands = self.commands[scene].clone();
        match &self.sequence {
            Some(sequence) if scene == 0 => Commands {
                scene: stage.scenes[0].path.display().to_string(),
                profile: stage.scenes[0].profile,
                filmed: Some(sequence.path.display().to_string()),
                ..commands
            },
            _ => commands,
        }
    }
}
