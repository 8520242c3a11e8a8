//! Warnings and remarks of long calls, for the user.

use std::sync::{Mutex, PoisonError};

/// Receiver of the warnings and remarks of a call.
pub trait Messages: Sync {
    /// Takes a warning: something is ignored or may not be what was meant.
    fn warn(&self, text: &str);

    /// Takes a remark: something was chosen or found.
    fn remark(&self, text: &str);

    /// Takes a warning about a setting without effect and what the setting is for.
    fn idle(&self, setting: &str, needed: &str) {
        self.warn(&format!("{setting} has no effect: it is for {needed}"));
    }
}

/// Discards all messages.
#[derive(Debug, Clone, Copy)]
pub struct Silent;

impl Messages for Silent {
    fn warn(&self, _: &str) {}

    fn remark(&self, _: &str) {}
}

/// Keeps warnings, and discards remarks.
#[derive(Debug, Default)]
pub(crate) struct Warnings(Mutex<Vec<String>>);

impl Warnings {
    pub(crate) fn into_texts(self) -> Vec<String> {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Messages for Warnings {
    fn warn(&self, text: &str) {
        let mut warnings = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        warnings.push(text.to_owned());
    }

    fn remark(&self, _: &str) {}
}
