//! Server of the viewer: draws exact pictures of a scene without a GPU, for a browser on another machine.
//!
//! A page asks for pictures of cameras over a WebSocket. While the camera moves, frames may be smaller and lossy; as soon as
//! it rests, a still of full size follows, pixel for pixel the picture of `quadrille render`.
//!
//! ```text
//! page --WebSocket--> session --> hub: mailbox of each page --> artist: renderers, encoders (thread pool)
//!   ^                               |                               |
//!   |                               +--> emulation: maps, slow stills (one thread)
//!   +------- session <--- hub: outbox of each page <----------------+
//! ```
//!
//! One thread serves all sockets. Page and protocol are internal: both sides have the same version.

mod admission;
mod artist;
mod camera_request;
mod commands;
mod control;
mod eight_bit;
mod emulation;
mod encode;
mod film;
mod header;
mod hub;
mod look;
mod mailbox;
mod message;
mod openings;
mod outbox;
mod outlines;
mod pace;
mod painter;
mod photo;
mod places;
mod reload;
mod run_maps;
mod sequence;
mod server;
mod session;
mod site;
mod source;
mod stage;

use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpSocket};

pub use self::commands::Commands;
pub use self::control::Control;
pub use self::openings::OpenScene;
pub use self::sequence::{ReadScene, Sequence};
pub use self::stage::{DrawMesh, ListedView, Reader, SceneContent, ShownScene};

use self::admission::{Admission, TOKEN_DIGITS};
use self::artist::Artist;
use self::control::aimed;
use self::emulation::Emulation;
use self::hub::Hub;
use self::look::Look;
use self::message::{Limits, PROTOCOL, SIDES_PX};
use self::openings::{Openings, SentFiles};
use self::session::{ANOTHER_SCENE, MESSAGES_PER_SECOND};
use self::site::Site;
use self::source::LAYERS;
use self::stage::{LoadedScene, Stage, page_camera};
use quadrille_base::math::SimdLevel;
use quadrille_base::shading::{Profile, SplatOrder, StopRule};
use quadrille_base::{Error, Result, Task};
use quadrille_gpu::config::Config;
use quadrille_gpu::variant::Variant;
use quadrille_scene::cameras::Exposures;
use quadrille_suite::Program;
use quadrille_suite::mesh_input::PlacedMeshes;
use quadrille_suite::report::maps::PixelMap;

/// Number of ports to try, the chosen one included.
const PORT_TRIES: u16 = 10;
/// Send buffer of a connection; a new camera's frame waits behind its content.
const SEND_BUFFER_BYTES: u32 = 128 << 10;
const BACKLOG: u32 = 128;
const FAREWELL: Duration = Duration::from_millis(100);

/// Address and limits of the server, and the requests that it admits.
#[derive(Debug, Clone)]
pub struct Access {
    /// Address that the server binds to.
    pub bind: IpAddr,
    /// First port to try; 0 lets the system choose.
    pub port: u16,
    /// Host names that requests may have besides the loopback names.
    pub host_names: Vec<String>,
    /// Token of 32 hexadecimal digits that pages need.
    pub token: String,
    /// Maximum number of connected pages.
    pub viewers: usize,
    /// Maximum number of pixels of a picture.
    pub max_pixels: u64,
    /// Time without a page after which the server ends.
    pub idle_exit: Option<Duration>,
}

/// Scenes and views to show, and settings of their pictures.
#[derive(Debug)]
pub struct Show {
    /// One scene, or two to compare.
    pub scenes: Vec<ShownScene>,
    /// Scenes over time in place of the first scene, which is its first scene.
    pub sequence: Option<Sequence>,
    /// Views that pages list: at least one, the first of which is shown first.
    pub views: Vec<ListedView>,
    /// Initial centre of rotation of a page, in world units.
    pub target: [f64; 3],
    /// Direction that points up in the scene.
    pub up: [f64; 3],
    /// Radius of the main content, in world units.
    pub radius: f64,
    /// Size of pictures in pixels, if a flag sets it.
    pub size: Option<[u32; 2]>,
    /// Opaque background colour in sRGB.
    pub background: [f32; 3],
    /// Stop rule that replaces the rules of the profiles.
    pub stop: Option<StopRule>,
    /// Near plane, in world units, that replaces the near planes of the profiles.
    pub near: Option<f64>,
    /// Order of splats that replaces the order which the files of the scenes state.
    pub order: Option<SplatOrder>,
    /// Exposures of the listed views.
    pub exposures: Option<Exposures>,
    /// SIMD level of the renderer.
    pub level: SimdLevel,
    /// Configuration of the emulated pipeline.
    pub config: Config,
    /// Whether the scenes are read again when their files change.
    pub watch: bool,
    /// Parts of the commands that pages copy, of each scene.
    pub commands: Vec<Commands>,
    /// Meshes that stand among the splats of all scenes.
    pub meshes: Option<Arc<PlacedMeshes>>,
    /// Opens other scenes for pages; `None` if they see these scenes alone.
    pub opener: Option<Arc<dyn OpenScene>>,
}

/// Whether a text is a token: 32 hexadecimal digits, in lower case.
pub fn is_token(text: &str) -> bool {
    admission::is_well_formed(text)
}

/// Returns a token of 128 random bits as hexadecimal digits.
pub fn new_token() -> String {
    let bits: u128 = rand::random();
    format!("{bits:0width$x}", width = TOKEN_DIGITS)
}

/// Least size of freed blocks that glibc gives back (assumed: pictures and tables are larger, messages smaller).
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const RETURNED_BYTES: libc::c_int = 256 << 10;

/// Makes the allocator of this process give large blocks back, as a process that only serves should. glibc raises its threshold with the largest block freed, up to 32 MiB, so
/// that the heap of every thread keeps the most that it ever held: within half an hour of random input, a server of a small
/// scene grew to 1.7 times its memory after a minute.
pub fn return_large_blocks() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    #[allow(unsafe_code, reason = "the allocator has no safe interface")]
    // SAFETY: the call sets a number under the allocator's lock.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, RETURNED_BYTES);
    }
}

/// Serves scenes until the task is cancelled or no page comes for a while. `pool` draws; `ready` is called once the server
/// listens.
///
/// # Errors
/// [`Error::Cancelled`]; [`Error::Argument`] if no port is free; and errors of `ready`.
pub fn serve(
    show: Show,
    access: &Access,
    program: &Program,
    pool: rayon::ThreadPool,
    task: &Task,
    ready: impl FnOnce(Control) -> Result<()>,
) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(system)?;
    let emulating = rayon::ThreadPoolBuilder::new().num_threads(1).build();
    let emulating = emulating.map_err(|error| system(std::io::Error::other(error)))?;
    let listener = runtime.block_on(async { listen(access) })?;
    let host = Host {
        access,
        program,
        runtime,
        listener,
        pool: Arc::new(pool),
        emulating: Arc::new(emulating),
        sent_files: Arc::new(SentFiles::new()),
        task,
    };
    let address = host.listener.local_addr().map_err(system)?;
    let mut next = host.serve(show, |site, target| ready(Control::new(site, address, target)))?;
    while let Some(show) = next {
        next = host.serve(show, |_, _| Ok(()))?;
    }
    task.check()
}

fn system(reason: std::io::Error) -> Error {
    Error::argument("server", "a runtime for the server", reason)
}

/// Parts of the server that outlive the scenes.
struct Host<'a> {
    access: &'a Access,
    program: &'a Program,
    runtime: tokio::runtime::Runtime,
    listener: TcpListener,
    pool: Arc<rayon::ThreadPool>,
    emulating: Arc<rayon::ThreadPool>,
    sent_files: Arc<SentFiles>,
    task: &'a Task,
}

impl Host<'_> {
    /// Serves scenes until the server ends or a page opens others, which are returned. `ready` takes the parts that control
    /// needs, before the first request.
    fn serve(
        &self,
        show: Show,
        ready: impl FnOnce(Arc<Site>, [f64; 3]) -> Result<()>,
    ) -> Result<Option<Show>> {
        let access = self.access;
        let welcome = welcome(&show, access, self.program);
        let limits = Limits {
            scenes: show.scenes.len(),
            numbers: show.sequence.as_ref().map_or(0, |sequence| sequence.names.len()),
            views: show.views.len(),
            max_pixels: access.max_pixels,
        };
        let files: Vec<_> = show.scenes.iter().map(|scene| scene.path.clone()).collect();
        let loaded = show.scenes.into_iter().map(|scene| Arc::new(LoadedScene::new(scene)));
        let stage = Stage { generation: 0, number: 0, scenes: loaded.collect() };
        let hub = Arc::new(Hub::new(stage, access.viewers));
        let look = Arc::new(Look {
            views: show.views,
            background: show.background,
            stop: show.stop,
            near: show.near,
            order: show.order,
            exposures: show.exposures,
            level: show.level,
            config: show.config,
            meshes: show.meshes,
        });
        let openings =
            show.opener.map(|opener| Openings::new(opener, Arc::clone(&self.sent_files))).unzip();
        let sequence = show.sequence.map(Arc::new);
        let site = Arc::new(Site {
            hub: Arc::clone(&hub),
            admission: Admission::new(access.token.clone(), access.host_names.clone()),
            limits,
            look: Arc::clone(&look),
            commands: show.commands,
            sequence: sequence.clone(),
            openings: openings.0,
            welcome,
            version: self.program.version,
        });
        ready(Arc::clone(&site), show.target)?;
        let next = Mutex::new(None);
        std::thread::scope(|scope| {
            let pool = Arc::clone(&self.pool);
            let artist = Artist::new(Arc::clone(&hub), Arc::clone(&look), pool);
            scope.spawn(|| artist.run());
            let emulating = Arc::clone(&self.emulating);
            let emulation =
                Emulation::new(Arc::clone(&hub), Arc::clone(&look), emulating, sequence.clone());
            scope.spawn(|| emulation.run());
            if show.watch {
                let (hub, files) = (&hub, &files);
                scope.spawn(move || reload::run(hub, files));
            }
            if let Some(sequence) = &sequence {
                let hub = &hub;
                scope.spawn(move || sequence::run(hub, sequence));
            }
            if let Some(thread) = openings.1 {
                let (hub, next) = (&hub, &next);
                scope.spawn(move || thread.run(hub, next));
            }
            let mut idle_since = Instant::now();
            let is_next = || next.lock().unwrap_or_else(PoisonError::into_inner).is_some();
            let ends = || {
                if hub.free() < access.viewers {
                    idle_since = Instant::now();
                }
                let is_idle = access.idle_exit.is_some_and(|limit| idle_since.elapsed() > limit);
                self.task.is_cancelled() || is_idle || is_next()
            };
            self.runtime.block_on(server::listen(&self.listener, site, ends));
            hub.close(if is_next() { ANOTHER_SCENE } else { "the server shuts down" });
            // Leaves time to tell pages about the end.
            self.runtime.block_on(async { tokio::time::sleep(FAREWELL).await });
        });
        Ok(next.into_inner().unwrap_or_else(PoisonError::into_inner))
    }
}

fn listen(access: &Access) -> Result<TcpListener> {
    let last = match access.port {
        0 => 0,
        port => port.saturating_add(PORT_TRIES - 1),
    };
    let mut reason = None;
    for port in access.port..=last {
        match open(SocketAddr::new(access.bind, port)) {
            Ok(listener) => return Ok(listener),
            Err(error) => reason = Some(error),
        }
    }
    let expected = match access.port {
        0 => "an address of this machine".to_owned(),
        port => format!("a free port from {port} to {last} of this machine"),
    };
    let found = reason.map_or_else(String::new, |error| error.to_string());
    Err(Error::argument(format!("{}", access.bind), expected, found))
}

fn open(address: SocketAddr) -> std::io::Result<TcpListener> {
    let socket = match address {
        SocketAddr::V4(_) => TcpSocket::new_v4()?,
        SocketAddr::V6(_) => TcpSocket::new_v6()?,
    };
    // Connections inherit the size.
    socket.set_send_buffer_size(SEND_BUFFER_BYTES)?;
    socket.set_reuseaddr(cfg!(unix))?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

fn welcome(show: &Show, access: &Access, program: &Program) -> Value {
    let views: Vec<Value> = show.views.iter().map(listed_view).collect();
    let home = show.views.first().map(|view| {
        let mut home = aimed(&view.camera, show.target);
        // A view without a file is one that flags describe: a pinhole with its field of view.
        let has_file =
            |commands: &Commands| commands.camera_file.is_some() || commands.is_in_memory;
        let is_of_file = show.commands.iter().any(has_file);
        let is_plain = !is_of_file && view.camera.projection.is_pinhole();
        home["lens"] = if is_plain { Value::Null } else { 0.into() };
        home
    });
    let variants = [Variant::BASELINE, Variant::QM, Variant::HET, Variant::HET_QM];
    let maps = PixelMap::ALL.iter();
    json!({
        "t": "welcome",
        "protocol": PROTOCOL,
        "version": program.version,
        "commit": program.commit,
        "views": views,
        "home": home,
        "up": show.up,
        "radius": show.radius,
        "background": show.background,
        "width": show.size.map(|size| size[0]),
        "height": show.size.map(|size| size[1]),
        "profiles": Profile::ALL.iter().map(|profile| profile.name).collect::<Vec<_>>(),
        "variants": variants.map(|variant| variant.to_string()),
        "layers": LAYERS.map(|layer| layer.name()),
        "maps": maps.map(|map| json!({"name": map.name, "title": map.title})).collect::<Vec<_>>(),
        "can_open": show.opener.is_some(),
        "sequence": show.sequence.as_ref().map(|sequence| &sequence.names),
        "limits": {
            "max_pixels": access.max_pixels,
            "min_side": SIDES_PX[0],
            "max_side": SIDES_PX[1],
            "messages_per_second": MESSAGES_PER_SECOND,
        },
    })
}

fn listed_view(view: &ListedView) -> Value {
    json!({
        "name": view.camera.name,
        "name_in_file": view.name_in_file,
        "cam": page_camera(&view.camera, 1.0),
        "width": view.camera.width,
        "height": view.camera.height,
        "focal_px": view.camera.focal_px,
        "principal_px": view.camera.principal_px,
        "photo": view.photo.is_some(),
        "is_pinhole": view.camera.projection.is_pinhole(),
    })
}
