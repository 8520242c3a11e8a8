//! Other scenes that pages open: by a name of a list, or as a file that they send.
//!
//! A scene is read while the old one is still shown. Then the server shows it in place of the old one, and all pages load
//! again. Only requests with the token reach this module.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::StreamExt;
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::Show;
use super::hub::Hub;
use quadrille_base::error::{Error, Result, plain};

/// Opens other scenes for the pages of a server.
pub trait OpenScene: Send + Sync + std::fmt::Debug {
    /// Names of the scenes that pages can choose.
    fn names(&self) -> Vec<String>;

    /// Opens a scene of the list.
    ///
    /// # Errors
    /// [`Error::Argument`] for a name that is not in the list, and the errors of reading.
    fn open(&self, name: &str) -> Result<Show>;

    /// Opens a file that a page has sent. The server keeps it as long as the scene is shown.
    ///
    /// # Errors
    /// The errors of reading.
    fn open_file(&self, path: &Path) -> Result<Show>;
}

/// Largest file that a page can send (assumed: a scene of 30 million splats with all their harmonics).
const MAX_FILE_BYTES: u64 = 8 << 30;
const MAX_NAME_BYTES: usize = 200;
/// Time without bytes after which a transfer ends.
const SILENCE: Duration = Duration::from_secs(60);
/// Interval of checks for the end of the server.
const POLL: Duration = Duration::from_millis(200);

#[derive(Debug)]
pub(crate) enum Wanted {
    Named(String),
    Sent(PathBuf),
}

struct Opening {
    wanted: Wanted,
    reply: oneshot::Sender<Result<()>>,
}

/// Way of requests to the thread that opens scenes.
#[derive(Clone)]
pub(crate) struct Openings {
    opener: Arc<dyn OpenScene>,
    requests: Sender<Opening>,
    folder: Arc<SentFiles>,
}

/// The opening thread's side of [`Openings`].
pub(crate) struct OpeningThread {
    opener: Arc<dyn OpenScene>,
    requests: Receiver<Opening>,
    folder: Arc<SentFiles>,
}

impl Openings {
    pub(crate) fn new(opener: Arc<dyn OpenScene>, folder: Arc<SentFiles>) -> (Self, OpeningThread) {
        let (sender, requests) = channel();
        let thread =
            OpeningThread { opener: Arc::clone(&opener), requests, folder: Arc::clone(&folder) };
        (Self { opener, requests: sender, folder }, thread)
    }

    pub(crate) fn names(&self) -> Vec<String> {
        self.opener.names()
    }

    /// Opens a scene, and waits until it is read.
    pub(crate) async fn open(&self, wanted: Wanted) -> Result<()> {
        let (reply, answer) = oneshot::channel();
        let ended = || Error::argument("scene", "a server that runs", "one that ends");
        self.requests.send(Opening { wanted, reply }).map_err(|_| ended())?;
        answer.await.map_err(|_| ended())?
    }

    /// Receives a file, and opens it.
    pub(crate) async fn receive(&self, name: &str, body: axum::body::Body) -> Result<()> {
        let path = self.folder.place(name)?;
        self.open(Wanted::Sent(received(path, body).await?)).await
    }
}

async fn received(path: PathBuf, body: axum::body::Body) -> Result<PathBuf> {
    let failed = |reason: std::io::Error| Error::write(&path, reason);
    let mut file = std::fs::File::create_new(&path).map_err(failed)?;
    let mut parts = body.into_data_stream();
    let mut length = 0;
    loop {
        let part = timeout(SILENCE, parts.next()).await;
        let silent = |_| Error::argument("file", "all of its bytes", "none for 60 seconds");
        let Some(part) = part.map_err(silent)? else { break };
        let part = part.map_err(|error| failed(std::io::Error::other(error)))?;
        length += part.len() as u64;
        let expected = format_args!("a file of at most {MAX_FILE_BYTES} bytes");
        Error::refuse_if(length > MAX_FILE_BYTES, "file", expected, "a longer one")?;
        std::io::Write::write_all(&mut file, &part).map_err(failed)?;
    }
    Ok(path)
}

impl OpeningThread {
    /// Opens scenes until one of them is to be shown, or the server ends.
    pub(crate) fn run(self, hub: &Hub, next: &Mutex<Option<Show>>) {
        while !hub.is_closing() {
            let opening = match self.requests.recv_timeout(POLL) {
                Ok(opening) => opening,
                Err(RecvTimeoutError::Timeout) => continue,
                Err(RecvTimeoutError::Disconnected) => return,
            };
            let opened = match &opening.wanted {
                Wanted::Named(name) => self.opener.open(name),
                Wanted::Sent(path) => self.opener.open_file(path),
            };
            match (&opening.wanted, &opened) {
                (Wanted::Sent(path), Err(_)) => self.folder.remove(path),
                (Wanted::Sent(path), Ok(_)) => self.folder.keep(Some(path)),
                (Wanted::Named(_), Ok(_)) => self.folder.keep(None),
                (Wanted::Named(_), Err(_)) => {}
            }
            let answer = opened.map(|show| {
                *next.lock().unwrap_or_else(PoisonError::into_inner) = Some(show);
            });
            let is_opened = answer.is_ok();
            // Sending fails if the page has left.
            let _ = opening.reply.send(answer);
            if is_opened {
                return;
            }
        }
    }
}

/// Files that pages have sent, each in a folder of its own below one that only this user can read.
#[derive(Debug)]
pub(crate) struct SentFiles {
    root: PathBuf,
    next: AtomicU64,
}

impl SentFiles {
    pub(crate) fn new() -> Self {
        let number: u64 = rand::random();
        let root = std::env::temp_dir().join(format!("quadrille-view-{number:016x}"));
        Self { root, next: AtomicU64::new(0) }
    }

    /// Path for a file of this name.
    fn place(&self, name: &str) -> Result<PathBuf> {
        let is_name = !name.is_empty()
            && name.len() <= MAX_NAME_BYTES
            && !matches!(name, "." | "..")
            && !name.contains(['/', '\\', ':'])
            && !name.chars().any(char::is_control);
        if !is_name {
            return Err(Error::argument("file", "a name without a folder", plain(name)));
        }
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let folder = self.root.join(number.to_string());
        let mut builder = std::fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&folder).map_err(|reason| Error::write(&folder, reason))?;
        Ok(folder.join(name))
    }

    /// Removes all files but one.
    fn keep(&self, kept: Option<&Path>) {
        let folders = std::fs::read_dir(&self.root).into_iter().flatten().flatten();
        let others = folders.map(|folder| folder.path());
        for folder in others.filter(|folder| kept.is_none_or(|path| !path.starts_with(folder))) {
            let _ = std::fs::remove_dir_all(folder);
        }
    }

    fn remove(&self, path: &Path) {
        let _ = path.parent().map(std::fs::remove_dir_all);
    }
}

impl Drop for SentFiles {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.root);
    }
}
