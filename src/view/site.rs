use std::sync::Arc;

use serde_json::Value;

use super::admission::Admission;
use super::commands::Commands;
use super::hub::Hub;
use super::look::Look;
use super::message::Limits;
use super::openings::Openings;

pub(crate) struct Site {
    pub(crate) hub: Arc<Hub>,
    pub(crate) admission: Admission,
    pub(crate) limits: Limits,
    pub(crate) look: Arc<Look>,
    /// Commands of each scene.
    pub(crate) commands: Vec<Commands>,
    /// Way to open other scenes, if pages may.
    pub(crate) openings: Option<Openings>,
    pub(crate) welcome: Value,
    pub(crate) version: &'static str,
}
