//! The scenes that are shown, their views, and the cameras of requests.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use nalgebra::Vector3;
use serde_json::{Value, json};

use super::camera_request::{CameraRequest, Placed};
use quadrille_base::error::{Error, Result};
use quadrille_base::image::Frame;
use quadrille_base::shading::Profile;
use quadrille_base::task::Task;
use quadrille_scene::cameras::PictureSize;
use quadrille_scene::{Camera, Intrinsics, Scene, Splats};

/// Draws a mesh.
pub trait DrawMesh: Send + Sync {
    /// The opaque picture of a camera, which is a pinhole.
    fn draw(&self, camera: &Camera, task: &Task) -> Result<Frame>;
}

/// Content of a scene.
#[derive(Clone)]
pub enum SceneContent {
    /// Splats.
    Splats(Arc<Scene>),
    /// A mesh.
    Mesh(Arc<dyn DrawMesh>),
}

impl std::fmt::Debug for SceneContent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Splats(_) => "Splats",
            Self::Mesh(_) => "Mesh",
        })
    }
}

/// Reads a scene again, when its file has changed.
pub type Reader = dyn Fn() -> Result<SceneContent> + Send + Sync;

/// A scene to show.
pub struct ShownScene {
    /// Path of its file.
    pub path: PathBuf,
    /// The scene.
    pub content: SceneContent,
    /// Profile of its pictures, unless a page chooses another.
    pub profile: Profile,
    /// Reads the file again.
    pub reader: Arc<Reader>,
}

impl std::fmt::Debug for ShownScene {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ShownScene").field("path", &self.path).finish_non_exhaustive()
    }
}

/// A view that pages list.
#[derive(Debug, Clone)]
pub struct ListedView {
    /// Its camera.
    pub camera: Camera,
    /// Name of the camera as it stands in its file.
    pub name_in_file: Option<String>,
    /// Photo that the view shows.
    pub photo: Option<PathBuf>,
}

#[derive(Debug)]
pub(crate) struct LoadedScene {
    pub(crate) name: String,
    pub(crate) content: SceneContent,
    pub(crate) profile: Profile,
}

impl LoadedScene {
    pub(crate) fn new(path: &Path, content: SceneContent, profile: Profile) -> Self {
        let name = path.file_name().unwrap_or(path.as_os_str());
        Self { name: name.to_string_lossy().into_owned(), content, profile }
    }

    pub(crate) fn splats(&self) -> Result<&Splats> {
        match &self.content {
            SceneContent::Splats(scene) => Ok(&scene.splats),
            SceneContent::Mesh(_) => {
                let expected = "a scene of splats, whose pixels can be probed and mapped";
                Err(Error::argument("scene", expected, "a mesh"))
            }
        }
    }
}

/// Scenes of a generation: a reload makes a new one, and pictures being drawn keep theirs.
#[derive(Debug, Clone)]
pub(crate) struct Stage {
    pub(crate) generation: u32,
    pub(crate) scenes: Vec<Arc<LoadedScene>>,
}

impl Stage {
    pub(crate) fn json(&self) -> Value {
        let scenes = self.scenes.iter().map(|scene| {
            let splats = scene.splats().ok();
            json!({
                "name": scene.name,
                "kind": if splats.is_some() { "splats" } else { "mesh" },
                "splats": splats.map(Splats::len),
                "sh_degree": splats.map(Splats::sh_degree),
                "profile": scene.profile.name,
            })
        });
        scenes.collect()
    }
}

pub(crate) fn camera_of(
    request: &CameraRequest,
    [width, height]: [u32; 2],
    views: &[ListedView],
) -> Result<Camera> {
    let size = PictureSize { width: Some(width), height: Some(height), scale: None };
    let listed = |view: usize| size.apply(&views[view].camera);
    let placed = match request {
        CameraRequest::Listed(view) => return listed(*view),
        CameraRequest::Placed(placed) => placed,
    };
    let Placed { eye, target, up, fov_degrees, lens } = placed;
    let lens = lens.map(listed).transpose()?;
    let intrinsics = match &lens {
        Some(camera) => Intrinsics {
            width,
            height,
            focal_px: camera.focal_px,
            principal_px: camera.principal_px,
        },
        None => Intrinsics::from_vertical_fov(width, height, fov_degrees.to_radians()),
    };
    let [eye, target, up] = [eye, target, up].map(|point| Vector3::from(*point));
    let camera = Camera::look_at("eye", intrinsics, eye, target, up)?;
    Ok(match lens {
        Some(lens) => camera.with_projection(lens.projection),
        None => camera,
    })
}
