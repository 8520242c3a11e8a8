//! Python class of a viewer: a server of pages on threads of this process.

use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use pyo3::prelude::*;
use quadrille::{Camera, Config, Error, PROGRAM, Profile, SimdLevel, Task};
use quadrille_render::convert::filtered;
use quadrille_scene::cameras::{Framing, common_up};
use quadrille_view::{
    Access, Commands, Control, ListedView, SceneContent, Show, ShownScene, new_token, serve,
};

use crate::camera::RawCamera;
use crate::errors::to_python;
use crate::render::{checked_near, order, profile};
use crate::run::{new_pool, run};
use crate::scene::RawScene;

/// Settings of a viewer, as passed by the Python package.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct ViewerSettings {
    cameras: Vec<Py<RawCamera>>,
    name: String,
    port: u16,
    profile: Option<String>,
    near: Option<f64>,
    order: Option<String>,
    background: [f32; 3],
    viewers: usize,
    max_pixels: u64,
    threads: Option<usize>,
}

/// Python class of a viewer.
#[pyclass(frozen, module = "quadrille._quadrille", name = "Viewer")]
pub(crate) struct RawViewer {
    name: String,
    url: String,
    /// Profile of all scenes, in place of the profiles that their files name.
    profile: Option<String>,
    server: Mutex<Option<Server>>,
}

/// A running server. It ends soon after it is dropped.
struct Server {
    control: Control,
    task: Task,
    thread: JoinHandle<()>,
    process: u32,
}

impl Drop for RawViewer {
    fn drop(&mut self) {
        if let Some(server) = &*self.server() {
            server.task.cancel();
        }
    }
}

#[pymethods]
impl RawViewer {
    /// Starts a server that shows `scene`.
    #[new]
    fn new(py: Python<'_>, scene: &RawScene, settings: ViewerSettings) -> PyResult<Self> {
        let pool = new_pool(settings.threads)?;
        let access = Access {
            bind: IpAddr::V4(Ipv4Addr::LOCALHOST),
            port: settings.port,
            host_names: Vec::new(),
            token: new_token(),
            viewers: settings.viewers,
            max_pixels: settings.max_pixels,
            idle_exit: None,
        };
        let show = settings.show(py, scene)?;
        let token = access.token.clone();
        let task = Task::new();
        let running = task.clone();
        let (sender, started) = channel();
        let thread = std::thread::spawn(move || {
            let failed = sender.clone();
            let ready = move |control| {
                // Sending cannot fail: the caller waits for it.
                let _ = sender.send(Ok(control));
                Ok(())
            };
            if let Err(error) = serve(show, &access, &PROGRAM, pool, &running, ready) {
                // Nobody waits any more if the server has run before.
                let _ = failed.send(Err(error));
            }
        });
        let control = py.detach(move || started.recv()).unwrap_or_else(|_| {
            Err(Error::argument("view", "a server that starts", "an internal error"))
        });
        let control = control.map_err(to_python)?;
        let url = format!("http://localhost:{}/#t={token}", control.address().port());
        let process = std::process::id();
        Ok(Self {
            name: settings.name,
            url,
            profile: settings.profile,
            server: Mutex::new(Some(Server { control, task, thread, process })),
        })
    }

    #[getter]
    fn url(&self) -> &str {
        &self.url
    }

    #[getter]
    fn is_closed(&self) -> bool {
        self.server().is_none()
    }

    /// Shows `scene` in place of the scene before.
    fn update(&self, scene: &RawScene) -> PyResult<()> {
        let profile = profile(scene, self.profile.as_deref(), None)?;
        self.control()?.update(shown(&self.name, scene, profile));
        Ok(())
    }

    fn set_status(&self, text: &str) -> PyResult<()> {
        self.control()?.set_status(text);
        Ok(())
    }

    /// Returns the camera of the page that moved last; `None` if no page is open.
    fn camera(&self) -> PyResult<Option<RawCamera>> {
        Ok(self.control()?.camera().map_err(to_python)?.map(RawCamera))
    }

    fn set_camera(&self, camera: &RawCamera) -> PyResult<()> {
        self.control()?.set_camera(&camera.0).map_err(to_python)
    }

    fn admit_frames(&self) -> PyResult<()> {
        self.control()?.admit_frames();
        Ok(())
    }

    /// Ends the server, and waits until its threads have ended.
    fn close(&self, py: Python<'_>) {
        let server = self.server().take();
        let Some(Server { control, task, thread, process }) = server else { return };
        task.cancel();
        // A forked child lacks the threads of its parent.
        if process == std::process::id() {
            py.detach(move || {
                // A panic of the server has ended it as well.
                let _ = thread.join();
                drop(control);
            });
        }
    }
}

impl RawViewer {
    fn server(&self) -> MutexGuard<'_, Option<Server>> {
        self.server.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn control(&self) -> PyResult<Control> {
        let control = self.server().as_ref().map(|server| server.control.clone());
        control.ok_or_else(|| {
            to_python(Error::argument("viewer", "a viewer that runs", "one that was closed"))
        })
    }
}

fn shown(name: &str, scene: &RawScene, profile: Profile) -> ShownScene {
    let (path, kept) = (PathBuf::from(name), Arc::clone(&scene.scene));
    let of_page = path.clone();
    ShownScene {
        content: SceneContent::Splats(Arc::clone(&kept)),
        profile,
        path,
        reader: Arc::new(move |steps| {
            if steps.is_empty() {
                return Ok(SceneContent::Splats(Arc::clone(&kept)));
            }
            let table = RawScene::from(Arc::clone(&kept)).table()?;
            let scene = filtered(table, steps, &of_page, &Task::NEVER)?;
            Ok(SceneContent::Splats(Arc::new(scene)))
        }),
    }
}

impl ViewerSettings {
    fn show(&self, py: Python<'_>, scene: &RawScene) -> PyResult<Show> {
        let profile = profile(scene, self.profile.as_deref(), None)?;
        let cameras: Vec<Camera> =
            self.cameras.iter().map(|camera| camera.get().0.clone()).collect();
        let framing = run(py, |_| Ok(Framing::of(scene.splats())))?;
        let listed = |camera: &Camera| ListedView {
            camera: camera.clone(),
            name_in_file: None,
            selector: None,
            photo: None,
        };
        Ok(Show {
            views: cameras.iter().map(listed).collect(),
            scenes: vec![shown(&self.name, scene, profile)],
            target: framing.subject.centre.into(),
            up: common_up(&cameras).unwrap_or(framing.up),
            radius: framing.subject.radius,
            size: None,
            background: self.background,
            stop: None,
            near: checked_near(self.near)?,
            order: order(self.order.as_deref())?,
            exposures: None,
            level: SimdLevel::best(),
            config: Config::default(),
            watch: false,
            commands: vec![Commands {
                scene: self.name.clone(),
                is_in_memory: true,
                profile,
                ..Commands::default()
            }],
            meshes: None,
            sequence: None,
            opener: None,
        })
    }
}
