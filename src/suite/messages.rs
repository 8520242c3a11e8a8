//! Warnings and remarks of long calls, for the user.

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
