//! Places of connections. Those that have not shown the token are few, and the oldest of them gives way to a new one.
//!
//! Other users of the machine can open connections to the port, but have no token: they cannot keep new pages out, since
//! a page shows its token within a round trip, and cannot end a page that has shown it.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::task::AbortHandle;

/// Number of connections without the token. A page opens at most six at a time.
const MAX_STRANGERS: usize = 64;

#[derive(Debug, Default)]
struct Strangers {
    next: u64,
    /// Oldest first.
    waiting: VecDeque<(u64, AbortHandle)>,
}

/// The connections that have not shown the token.
#[derive(Debug, Clone, Default)]
pub(crate) struct Places(Arc<Mutex<Strangers>>);

/// Place of one connection, which it leaves when this is dropped.
#[derive(Debug)]
pub(crate) struct Place {
    number: u64,
    places: Places,
}

impl Places {
    fn lock(&self) -> MutexGuard<'_, Strangers> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reserves a place, for the connection that [`Self::seat`] names.
    pub(crate) fn place(&self) -> Place {
        let mut strangers = self.lock();
        strangers.next += 1;
        Place { number: strangers.next, places: self.clone() }
    }

    /// Gives the place of a number to a connection, and ends the oldest one if there are too many.
    pub(crate) fn seat(&self, number: u64, connection: AbortHandle) {
        let mut strangers = self.lock();
        // It may have ended already.
        if !connection.is_finished() {
            strangers.waiting.push_back((number, connection));
        }
        if strangers.waiting.len() > MAX_STRANGERS
            && let Some((_, oldest)) = strangers.waiting.pop_front()
        {
            oldest.abort();
        }
    }
}

impl Place {
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Keeps the connection until it ends by itself, since it has shown the token.
    pub(crate) fn keep(&self) {
        self.places.lock().waiting.retain(|(number, _)| *number != self.number);
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.keep();
    }
}
