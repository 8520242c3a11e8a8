//! The scenes that are shown, their views, and the cameras of requests.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use nalgebra::Vector3;
use serde_json::{Value, json};

use super::camera_request::{CameraRequest, Placed};
use super::source::{Drawn, SceneFilters};
use quadrille_base::image::Frame;
use quadrille_base::lens::FisheyeLens;
use quadrille_base::shading::Profile;
use quadrille_base::{Error, Result, Task};
use quadrille_render::convert::Step;
use quadrille_scene::cameras::{CameraModel, PictureSize, ViewSpec};
use quadrille_scene::{Camera, Projection, Scene, Splats};
use quadrille_suite::report::cameras::camera_json;

/// Interface to the renderer of a mesh.
pub trait DrawMesh: Send + Sync {
    /// Draws the opaque picture of `camera`, which is a pinhole, over a background in sRGB. A picture of a moving camera may
    /// be coarser than the exact one.
    fn draw(
        &self,
        camera: &Camera,
        background: [f32; 3],
        is_moving: bool,
        task: &Task,
    ) -> Result<Frame>;

    /// Depth of the surface in a pixel of `camera`, which is a pinhole; `None` where no surface is.
    fn depth(&self, camera: &Camera, pixel: [u32; 2], task: &Task) -> Result<Option<f64>>;
}

/// Content of a scene.
#[derive(Clone)]
pub enum SceneContent {
    /// A scene of splats.
    Splats(Arc<Scene>),
    /// A mesh with its renderer.
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

/// Reads a scene again, when its file has changed or a page filters it: the steps follow the filters of the command line.
pub type Reader = dyn Fn(&[Step]) -> Result<SceneContent> + Send + Sync;

/// A scene that the server shows.
pub struct ShownScene {
    /// Path of the scene file.
    pub path: PathBuf,
    /// Content read from the file.
    pub content: SceneContent,
    /// Rendering profile, unless a page chooses another.
    pub profile: Profile,
    /// Function that reads the file again after a change.
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
    /// Camera of the view.
    pub camera: Camera,
    /// Name of the camera in the camera file.
    pub name_in_file: Option<String>,
    /// Value of `--view` that selects the camera alone from the camera file.
    pub selector: Option<String>,
    /// Photo taken from the view.
    pub photo: Option<PathBuf>,
}

/// Number of filtered copies that a scene keeps: pictures A and B may have filters of their own.
const KEPT_FILTERED: usize = 2;

pub(crate) struct LoadedScene {
    pub(crate) path: PathBuf,
    pub(crate) name: String,
    pub(crate) content: SceneContent,
    pub(crate) profile: Profile,
    reader: Arc<Reader>,
    /// The scene after filters of pages, the newest last.
    filtered: Mutex<VecDeque<(SceneFilters, Arc<Self>)>>,
}

impl std::fmt::Debug for LoadedScene {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LoadedScene").field("name", &self.name).finish_non_exhaustive()
    }
}

impl LoadedScene {
    pub(crate) fn new(shown: ShownScene) -> Self {
        let name = shown.path.file_name().unwrap_or(shown.path.as_os_str());
        Self {
            name: name.to_string_lossy().into_owned(),
            path: shown.path,
            content: shown.content,
            profile: shown.profile,
            reader: shown.reader,
            filtered: Mutex::default(),
        }
    }

    /// The scene as its file is now, after filters.
    pub(crate) fn read_again(&self, filters: &SceneFilters) -> Result<Self> {
        Ok(Self {
            path: self.path.clone(),
            name: self.name.clone(),
            content: (self.reader)(&filters.0)?,
            profile: self.profile,
            reader: Arc::clone(&self.reader),
            filtered: Mutex::default(),
        })
    }

    /// The scene after `filters`, read again unless it is kept. Its picture is that of the command with these filters.
    fn filtered(&self, filters: &SceneFilters) -> Result<Arc<Self>> {
        self.splats()?;
        let mut kept = self.filtered.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, scene)) = kept.iter().find(|(other, _)| other == filters) {
            return Ok(Arc::clone(scene));
        }
        // The oldest copy makes room before the next one is read.
        while kept.len() >= KEPT_FILTERED {
            kept.pop_front();
        }
        let scene = Arc::new(self.read_again(filters)?);
        kept.push_back((filters.clone(), Arc::clone(&scene)));
        Ok(scene)
    }

    /// Memory of the splats, and of filtered copies.
    pub(crate) fn splat_bytes(&self) -> Option<[usize; 2]> {
        let kept = self.filtered.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = |scene: &Self| scene.splats().map_or(0, Splats::size_bytes);
        Some([self.splats().ok()?.size_bytes(), kept.iter().map(|(_, scene)| bytes(scene)).sum()])
    }

    pub(crate) fn splats(&self) -> Result<&Splats> {
        match &self.content {
            SceneContent::Splats(scene) => Ok(&scene.splats),
            SceneContent::Mesh(_) => {
                let expected = "a scene of splats, which can be mapped and filtered";
                Err(Error::argument("scene", expected, "a mesh"))
            }
        }
    }
}

/// Scenes of one generation. A reload makes a new generation; pictures that are being drawn keep the old one.
#[derive(Debug, Clone)]
pub(crate) struct Stage {
    pub(crate) generation: u32,
    /// Place of the first scene in its sequence; 0 without one.
    pub(crate) number: usize,
    pub(crate) scenes: Vec<Arc<LoadedScene>>,
}

impl Stage {
    /// The scene of a source, after its filters.
    pub(crate) fn scene(&self, drawn: &Drawn) -> Result<Arc<LoadedScene>> {
        let scene = &self.scenes[drawn.scene];
        match drawn.filters.0.is_empty() {
            true => Ok(Arc::clone(scene)),
            false => scene.filtered(&drawn.filters),
        }
    }

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

/// Field of view of the pinhole whose pose a camera with the lens of a file takes.
const POSE_FOV_DEGREES: f64 = 50.0;

/// The camera of a request. A placed camera is the one that its [`description`] gives on the command line, if it has one.
pub(crate) fn camera_of(
    request: &CameraRequest,
    size: [u32; 2],
    views: &[ListedView],
) -> Result<Camera> {
    let [width, height] = size;
    let sized = PictureSize { width: Some(width), height: Some(height), scale: None };
    let listed = |view: usize| sized.apply(&views[view].camera);
    let placed = match request {
        CameraRequest::Listed(view) => return listed(*view),
        CameraRequest::Placed(placed) => placed,
    };
    let camera = match (description(placed, size, views), placed.lens) {
        (None, Some(lens)) => {
            let lens = listed(lens)?;
            let pose = ViewSpec::pinhole(placed.points(), POSE_FOV_DEGREES, size).camera()?;
            let mut camera = pose.with_projection(lens.projection);
            (camera.focal_px, camera.principal_px) = (lens.focal_px, lens.principal_px);
            camera
        }
        (description, _) => description.unwrap_or_default().camera()?,
    };
    // Cameras that move away from a view that was chosen for the scene keep its near plane.
    let near_limit = views.first().and_then(|view| view.camera.near_limit);
    Ok(Camera { near_limit, ..camera })
}

/// Flags that describe a placed camera to the last bit; `None` if only a camera file can hold its lens: with distortion,
/// with pixels that are not square, or with a principal point beside the centre.
pub(crate) fn description(
    placed: &Placed,
    size: [u32; 2],
    views: &[ListedView],
) -> Option<ViewSpec> {
    let pinhole = |fov_degrees| ViewSpec::pinhole(placed.points(), fov_degrees, size);
    let Some(lens) = placed.lens else { return Some(pinhole(placed.fov_degrees)) };
    let lens = &views[lens].camera;
    let [width, height] = [lens.width, lens.height].map(f64::from);
    let is_centred = lens.principal_px == [width / 2.0, height / 2.0];
    let is_plain = is_centred && lens.focal_px[0] == lens.focal_px[1];
    let (model, fov_degrees) = match lens.projection {
        Projection::Pinhole if is_plain => return Some(pinhole(lens.fov()[1].to_degrees())),
        Projection::Fisheye(FisheyeLens::EQUIDISTANT) if is_plain => {
            (CameraModel::Fisheye, Some((height / lens.focal_px[1]).to_degrees()))
        }
        Projection::Equirectangular => (CameraModel::Equirectangular, None),
        Projection::Orthographic => (CameraModel::Orthographic, Some(placed.fov_degrees)),
        _ => return None,
    };
    let spec = pinhole(placed.fov_degrees);
    Some(ViewSpec { camera_model: Some(model), fov_degrees, ..spec })
}

/// A camera for pages, with its target at a distance.
pub(crate) fn page_camera(camera: &Camera, distance: f64) -> Value {
    let mut page = match camera.projection {
        Projection::Orthographic => camera_json(&camera.clone().from_parallel_rays(distance)),
        _ => camera_json(camera),
    };
    let forward = camera.view_from_world.row(2).transpose();
    page["target"] = json!((camera.eye() + forward * distance).as_slice());
    if let Some(fields) = page.as_object_mut() {
        fields.retain(|name, _| ["eye", "target", "up", "fov_degrees"].contains(&name.as_str()));
    }
    page
}

/// World point at a depth along the line of sight behind a pixel; `None` for lenses without straight lines.
pub(crate) fn point_at(camera: &Camera, pixel: [u32; 2], depth: f64) -> Option<[f64; 3]> {
    let [factor, constant] = camera.projection.divisor()?;
    let [x, y] = [0, 1].map(|axis| {
        let off_centre = f64::from(pixel[axis]) + 0.5 - camera.principal_px[axis];
        off_centre / camera.focal_px[axis] * (factor * depth + constant)
    });
    let in_view = Vector3::new(x, y, depth) - camera.translation_in_view;
    Some((camera.view_from_world.transpose() * in_view).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Flags, suites and Python give the same cameras, by tests of their own over the same list.
    #[test]
    fn links_give_the_cameras_of_the_list() {
        let cases = include_str!("../../tests/support/views.json");
        let cases: Vec<Value> = serde_json::from_str(cases).unwrap();
        for case in cases {
            let size = serde_json::from_value(json!([case["width"], case["height"]])).unwrap();
            let link = json!({
                "eye": case["eye"], "target": case["target"], "up": case["up"], "fov_degrees": case["fov"], "lens": null
            });
            let request: CameraRequest = serde_json::from_value(link).unwrap();
            let camera = camera_of(&request, size, &[]).unwrap();
            let rows: [[f64; 4]; 3] =
                serde_json::from_value(case["world_to_camera"].clone()).unwrap();
            for (row, expected) in rows.iter().enumerate() {
                let found = camera.view_from_world.row(row);
                let found = found.iter().chain([&camera.translation_in_view[row]]);
                assert!(found.zip(expected).all(|(a, b)| (a - b).abs() < 1e-9), "{case}");
            }
            let focal = case["focal_px"].as_f64().unwrap();
            assert!(camera.focal_px.iter().all(|px| (px - focal).abs() < 1e-9), "{case}");
        }
    }
}
