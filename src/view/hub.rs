//! State that the threads of the server share: the pages and their requests, and the scenes.
//!
//! One lock guards the state, for short times: threads take requests out, and draw, encode and send without it.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::sync::Notify;

use super::camera_request::CameraRequest;
use super::mailbox::{DrawJob, Mailbox};
use super::message::{FlyRequest, MapRequest, PictureRequest, Reference};
use super::outbox::{Outbox, Outgoing};
use super::pace::{Link, Pace};
use super::painter::StillPictures;
use super::run_maps::ShownMap;
use super::stage::{LoadedScene, Stage};
use quadrille_base::{Error, Result, Task};

/// Time without a new camera before the emulator starts; while a camera moves, it would take cores from frames.
const EMULATION_DELAY: Duration = Duration::from_millis(400);

/// Number of a page, in the order of connections.
pub(crate) type ClientId = u64;

/// Work for the emulating thread.
#[derive(Debug, Clone)]
pub(crate) enum SlowJob {
    Map(Box<MapRequest>),
    /// A still with a picture of the scalar renderer or of the emulated pipeline.
    Still(Box<PictureRequest>),
    Film(Box<FlyRequest>),
}

impl SlowJob {
    fn number(&self) -> u32 {
        match self {
            Self::Map(request) => request.id,
            Self::Still(request) => request.seq,
            Self::Film(request) => request.id,
        }
    }

    fn survives_moves(&self) -> bool {
        match self {
            Self::Map(request) => request.pinned,
            Self::Still(_) => false,
            Self::Film(_) => true,
        }
    }
}

#[derive(Debug)]
pub(crate) struct Client {
    pub(crate) mailbox: Mailbox,
    pub(crate) pace: Pace,
    pub(crate) link: Link,
    pub(crate) outbox: Outbox,
    pub(crate) still: Option<Arc<StillPictures>>,
    /// Waiting and current work of the emulating thread.
    slow: VecDeque<SlowJob>,
    running_slow: Option<(SlowJob, Task)>,
    pub(crate) map: Option<Arc<ShownMap>>,
    last_move: Duration,
    seen: Option<Seen>,
    wake: Arc<Notify>,
}

/// Camera of a page's newest request, and the time since which it has been the same.
#[derive(Debug, Clone)]
struct Seen {
    cam: CameraRequest,
    size: [u32; 2],
    since: Duration,
}

impl Client {
    /// Notes the camera of a request for a picture.
    pub(crate) fn sees(&mut self, request: &PictureRequest, now: Duration) {
        let same = self.seen.take().filter(|seen| seen.cam == request.cam);
        let since = same.map_or(now, |seen| seen.since);
        self.seen = Some(Seen { cam: request.cam.clone(), size: [request.w, request.h], since });
    }

    /// Receives a new camera, which ends maps and slow stills of older cameras.
    pub(crate) fn moved(&mut self, now: Duration) {
        self.last_move = now;
        self.outbox.drop_stills();
        self.stop_slow(|job| !job.survives_moves());
    }

    /// Queues work for the emulating thread, replacing waiting or current work. Only another film ends a film; other work
    /// waits for it.
    pub(crate) fn queue_slow(&mut self, job: SlowJob) {
        let is_film = matches!(job, SlowJob::Film(_));
        self.stop_slow(|old| is_film || !matches!(old, SlowJob::Film(_)));
        self.slow.push_back(job);
    }

    pub(crate) fn cancel(&mut self, number: u32) {
        self.stop_slow(|job| job.number() == number);
    }

    fn stop_slow(&mut self, ends: impl Fn(&SlowJob) -> bool) {
        self.slow.retain(|job| !ends(job));
        if let Some((_, task)) = self.running_slow.as_ref().filter(|(job, _)| ends(job)) {
            task.cancel();
        }
    }

    pub(crate) fn send(&mut self, text: &Value) {
        self.outbox.text(text.to_string());
    }

    /// Sends an error, unless it is a cancellation, which the page requested.
    pub(crate) fn send_error(&mut self, reference: Reference, error: &Error) {
        if !matches!(error, Error::Cancelled) {
            self.send(&error_message(reference, error));
        }
    }
}

fn error_message(reference: Reference, error: &Error) -> Value {
    let mut message = match error {
        Error::Argument { what, expected, found } => {
            json!({"t": "error", "what": what, "expected": expected, "found": found})
        }
        other => json!({"t": "error", "what": other.to_string(), "expected": null, "found": null}),
    };
    match reference {
        Reference::None => {}
        Reference::Seq(seq) => message["seq"] = seq.into(),
        Reference::Id(id) => message["id"] = id.into(),
    }
    message
}

struct State {
    clients: BTreeMap<ClientId, Client>,
    next_id: ClientId,
    /// Page served last; the others come first.
    last_served: ClientId,
    stage: Arc<Stage>,
    /// Camera at which new pages begin, as in requests, if this process has chosen one.
    camera: Value,
    /// Line of text that this process shows on all pages.
    status: String,
    /// Scene of the sequence that pages have chosen, until it is read.
    wanted_number: Option<usize>,
    /// Reason of the end of the server, from then on.
    closing: Option<&'static str>,
}

impl State {
    fn tell_all(&mut self, kind: &'static str, message: &str) {
        for client in self.clients.values_mut() {
            client.outbox.state(kind, message.to_owned());
            client.wake.notify_one();
        }
    }
}

pub(crate) struct Hub {
    started: Instant,
    state: Mutex<State>,
    /// Signals that wake the render thread, the emulating thread and the thread that reads scenes of a sequence.
    render: Condvar,
    emulate: Condvar,
    number: Condvar,
    max_clients: usize,
}

impl Hub {
    pub(crate) fn new(stage: Stage, max_clients: usize) -> Self {
        Self {
            started: Instant::now(),
            state: Mutex::new(State {
                clients: BTreeMap::new(),
                next_id: 1,
                last_served: 0,
                stage: Arc::new(stage),
                camera: Value::Null,
                status: String::new(),
                wanted_number: None,
                closing: None,
            }),
            render: Condvar::new(),
            emulate: Condvar::new(),
            number: Condvar::new(),
            max_clients,
        }
    }

    pub(crate) fn now(&self) -> Duration {
        self.started.elapsed()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn free(&self) -> usize {
        self.max_clients.saturating_sub(self.lock().clients.len())
    }

    /// Adds a page; `None` if there are too many. The second value wakes the thread that sends to it.
    pub(crate) fn join(&self) -> Option<(ClientId, Arc<Notify>)> {
        let mut state = self.lock();
        if state.clients.len() >= self.max_clients || state.closing.is_some() {
            return None;
        }
        let id = state.next_id;
        state.next_id += 1;
        let wake = Arc::new(Notify::new());
        let client = Client {
            mailbox: Mailbox::default(),
            pace: Pace::default(),
            link: Link::default(),
            outbox: Outbox::default(),
            still: None,
            slow: VecDeque::new(),
            running_slow: None,
            map: None,
            last_move: self.now(),
            seen: None,
            wake: Arc::clone(&wake),
        };
        state.clients.insert(id, client);
        Some((id, wake))
    }

    pub(crate) fn leave(&self, id: ClientId) {
        if let Some(mut client) = self.lock().clients.remove(&id) {
            client.mailbox.stop_still();
            client.stop_slow(|_| true);
        }
    }

    /// Changes a page's state, and wakes all threads that may have work then; `None` if the page has left.
    pub(crate) fn with<T>(&self, id: ClientId, change: impl FnOnce(&mut Client) -> T) -> Option<T> {
        let mut state = self.lock();
        let client = state.clients.get_mut(&id)?;
        let value = change(client);
        client.wake.notify_one();
        drop(state);
        self.render.notify_one();
        self.emulate.notify_one();
        Some(value)
    }

    pub(crate) fn next_message(&self, id: ClientId) -> Result<Option<Outgoing>> {
        let now = self.now();
        let mut state = self.lock();
        let is_closing = state.closing.is_some();
        let client = state.clients.get_mut(&id).ok_or(Error::Cancelled)?;
        if is_closing || client.outbox.is_overfull() {
            return Err(Error::Cancelled);
        }
        Ok(client.outbox.next(now, &client.link))
    }

    pub(crate) fn next_job(&self) -> Option<(ClientId, DrawJob, Arc<Stage>)> {
        let mut state = self.lock();
        loop {
            if state.closing.is_some() {
                return None;
            }
            let now = self.now();
            let last = state.last_served;
            let after = state.clients.range(last + 1..).map(|(id, _)| *id);
            let turns: Vec<ClientId> =
                after.chain(state.clients.range(..=last).map(|(id, _)| *id)).collect();
            for id in turns {
                let job = state.clients.get_mut(&id).and_then(|c| c.mailbox.take(now));
                if let Some(job) = job {
                    state.last_served = id;
                    return Some((id, job, Arc::clone(&state.stage)));
                }
            }
            let wakes = state.clients.values().filter_map(|c| c.mailbox.wakes_at());
            let wait = wakes.min().map(|at| at.saturating_sub(now));
            state = wait_on(&self.render, state, wait);
        }
    }

    pub(crate) fn next_slow_job(&self) -> Option<(ClientId, SlowJob, Task, Arc<Stage>)> {
        let mut state = self.lock();
        loop {
            if state.closing.is_some() {
                return None;
            }
            let now = self.now();
            let due = |client: &Client| client.last_move + EMULATION_DELAY;
            let waiting = state.clients.iter().filter(|(_, c)| !c.slow.is_empty());
            let first = waiting.min_by_key(|(_, client)| due(client));
            let first = first.map(|(id, client)| (*id, due(client)));
            if let Some((id, due)) = first
                && due <= now
                && let Some(client) = state.clients.get_mut(&id)
                && let Some(job) = client.slow.pop_front()
            {
                let task = Task::new();
                client.running_slow = Some((job.clone(), task.clone()));
                return Some((id, job, task, Arc::clone(&state.stage)));
            }
            let wait = first.map(|(_, due)| due.saturating_sub(now));
            state = wait_on(&self.emulate, state, wait);
        }
    }

    pub(crate) fn slow_job_ended(&self, id: ClientId) {
        self.with(id, |client| client.running_slow = None);
    }

    /// Shows `scene` in place of the one with its index. Pages keep their cameras, and show the note, if there is one.
    pub(crate) fn replace(&self, index: usize, scene: LoadedScene, note: Option<&str>) {
        self.exchange(note, |stage| stage.scenes[index] = Arc::new(scene));
    }

    fn exchange(&self, note: Option<&str>, change: impl FnOnce(&mut Stage)) {
        let mut state = self.lock();
        let mut stage = Stage::clone(&state.stage);
        stage.generation += 1;
        change(&mut stage);
        let mut message = scene_message(&stage, None);
        message["note"] = note.into();
        let old = std::mem::replace(&mut state.stage, Arc::new(stage));
        state.tell_all("scene", &message.to_string());
        // Frees a large scene without the lock.
        drop(state);
        drop(old);
    }

    /// Chooses a scene of the sequence. Of choices that arrive faster than scenes are read, the newest is read.
    pub(crate) fn choose_number(&self, number: usize) {
        self.lock().wanted_number = Some(number);
        self.number.notify_one();
    }

    /// Waits for the choice of a scene of the sequence that is not shown; `None` when the server ends.
    pub(crate) fn next_number(&self) -> Option<usize> {
        let mut state = self.lock();
        loop {
            if state.closing.is_some() {
                return None;
            }
            let shown = state.stage.number;
            if let Some(number) = state.wanted_number.take().filter(|number| *number != shown) {
                return Some(number);
            }
            state = wait_on(&self.number, state, None);
        }
    }

    /// Shows a scene of the sequence in place of the one before.
    pub(crate) fn show_number(&self, number: usize, scene: Arc<LoadedScene>) {
        self.exchange(None, |stage| {
            stage.number = number;
            stage.scenes[0] = scene;
        });
    }

    /// Shows a line of text on all pages.
    pub(crate) fn set_status(&self, text: &str) {
        let message = json!({"t": "status", "text": text}).to_string();
        let mut state = self.lock();
        state.tell_all("status", &message);
        text.clone_into(&mut state.status);
    }

    /// Moves all pages to a camera, at which new pages begin.
    pub(crate) fn set_camera(&self, cam: Value) {
        let message = json!({"t": "camera", "cam": cam}).to_string();
        let mut state = self.lock();
        state.tell_all("camera", &message);
        state.camera = cam;
    }

    /// Camera at which new pages begin, as in requests, or null for the first view; and the status.
    pub(crate) fn greeting(&self) -> (Value, String) {
        let state = self.lock();
        (state.camera.clone(), state.status.clone())
    }

    /// Camera and size of the picture of the page whose camera moved last.
    pub(crate) fn newest_camera(&self) -> Option<(CameraRequest, [u32; 2])> {
        let state = self.lock();
        let seen = state.clients.values().filter_map(|client| client.seen.as_ref());
        let newest = seen.max_by_key(|seen| seen.since)?;
        Some((newest.cam.clone(), newest.size))
    }

    pub(crate) fn warn(&self, warning: &str) {
        let mut state = self.lock();
        let message = scene_message(&state.stage, Some(warning));
        for client in state.clients.values_mut() {
            client.send(&message);
            client.wake.notify_one();
        }
    }

    pub(crate) fn stage(&self) -> Arc<Stage> {
        Arc::clone(&self.lock().stage)
    }

    /// Ends all pages and threads, for a reason that pages tell.
    pub(crate) fn close(&self, reason: &'static str) {
        let mut state = self.lock();
        state.closing = Some(reason);
        for client in state.clients.values_mut() {
            client.mailbox.stop_still();
            client.stop_slow(|_| true);
            client.wake.notify_one();
        }
        drop(state);
        self.render.notify_all();
        self.emulate.notify_all();
        self.number.notify_all();
    }

    pub(crate) fn is_closing(&self) -> bool {
        self.closing().is_some()
    }

    /// Reason of the end of the server, once it ends.
    pub(crate) fn closing(&self) -> Option<&'static str> {
        self.lock().closing
    }
}

fn scene_message(stage: &Stage, warning: Option<&str>) -> Value {
    json!({
        "t": "scene",
        "generation": stage.generation,
        "number": stage.number,
        "scenes": stage.json(),
        "warning": warning,
    })
}

fn wait_on<'a>(
    signal: &Condvar,
    state: MutexGuard<'a, State>,
    wait: Option<Duration>,
) -> MutexGuard<'a, State> {
    match wait {
        Some(wait) => signal.wait_timeout(state, wait).unwrap_or_else(PoisonError::into_inner).0,
        None => signal.wait(state).unwrap_or_else(PoisonError::into_inner),
    }
}
