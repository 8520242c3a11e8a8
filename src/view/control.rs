//! Control of a running server by its own process: the scene, the camera of the pages, and a line of status.

use std::net::SocketAddr;
use std::sync::Arc;

use serde_json::{Value, json};

use super::camera_request::CameraRequest;
use super::site::Site;
use super::stage::{ListedView, LoadedScene, ShownScene, camera_of, page_camera};
use quadrille_base::{Error, Result};
use quadrille_scene::Camera;
use quadrille_scene::cameras::PictureSize;

/// Largest difference of equal lenses, in shares of the sides of the picture.
const LENS_TOLERANCE: f64 = 1e-9;

/// Control of a running server. It keeps the shown scene in memory, also after the server has ended.
#[derive(Clone)]
pub struct Control {
    site: Arc<Site>,
    address: SocketAddr,
    /// Centre of the main content, at whose depth set cameras turn.
    centre: [f64; 3],
}

impl Control {
    pub(crate) fn new(site: Arc<Site>, address: SocketAddr, centre: [f64; 3]) -> Self {
        Self { site, address, centre }
    }

    /// Address that the server listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Shows another scene in place of the first one. The camera of each page stays.
    pub fn update(&self, scene: ShownScene) {
        self.site.hub.replace(0, LoadedScene::new(scene), None);
    }

    /// Shows a line of text on all pages, in place of the one before.
    pub fn set_status(&self, text: &str) {
        self.site.hub.set_status(text);
    }

    /// Camera of the page whose camera moved last, with the size of its picture; `None` before a page has asked for a picture.
    ///
    /// # Errors
    /// [`Error::Argument`] if no camera has the points that the page sent.
    pub fn camera(&self) -> Result<Option<Camera>> {
        let newest = self.site.hub.newest_camera();
        newest.map(|(cam, size)| camera_of(&cam, size, &self.site.look.views)).transpose()
    }

    /// Moves all pages to a camera, at which new pages begin. Pictures keep the sizes that the pages chose.
    ///
    /// # Errors
    /// [`Error::Argument`] for a lens that pages do not have, and for numbers that they do not take.
    pub fn set_camera(&self, camera: &Camera) -> Result<()> {
        let cam = request_of(camera, &self.site.look.views, self.centre)?;
        self.site.hub.set_camera(cam);
        Ok(())
    }

    /// Lets pages of this machine, such as notebooks, show the viewer in a frame.
    pub fn admit_frames(&self) {
        self.site.admission.admit_frames();
    }
}

/// A camera as in requests. Pages have the lenses of the listed views, and plain pinholes.
fn request_of(camera: &Camera, views: &[ListedView], centre: [f64; 3]) -> Result<Value> {
    let sides = PictureSize { width: Some(camera.width), height: Some(camera.height), scale: None };
    let has_lens = |view: &ListedView| {
        sides.apply(&view.camera).is_ok_and(|own| are_lenses_equal(&own, camera))
    };
    let has_pose = |Camera { view_from_world, translation_in_view, .. }: &Camera| {
        (view_from_world, translation_in_view)
            == (&camera.view_from_world, &camera.translation_in_view)
    };
    let listed = views.iter().position(|view| has_pose(&view.camera) && has_lens(view));
    if let Some(view) = listed {
        return Ok(json!({"view": view}));
    }
    let lens = views.iter().position(has_lens);
    let plain = Camera {
        focal_px: [camera.focal_px[1]; 2],
        principal_px: [camera.width, camera.height].map(|side| f64::from(side) / 2.0),
        ..camera.clone()
    };
    let is_plain = camera.projection.is_pinhole() && are_lenses_equal(&plain, camera);
    let expected =
        "the lens of a listed view, or a pinhole with square pixels and a centred principal point";
    let is_other = lens.is_none() && !is_plain;
    Error::refuse_if(
        is_other,
        "camera",
        expected,
        format_args!("another lens of \"{}\"", camera.name),
    )?;
    let mut cam = aimed(camera, centre);
    cam["lens"] = json!(lens);
    let checked: serde_json::Result<CameraRequest> = serde_json::from_value(cam.clone());
    checked.map_err(|error| Error::argument("camera", "numbers that pages take", error))?;
    Ok(cam)
}

fn are_lenses_equal(a: &Camera, b: &Camera) -> bool {
    let sides = [f64::from(b.width), f64::from(b.height)];
    let are_equal = |a: [f64; 2], b: [f64; 2]| {
        (0..2).all(|axis| (a[axis] - b[axis]).abs() <= LENS_TOLERANCE * sides[axis])
    };
    a.projection == b.projection
        && are_equal(a.focal_px, b.focal_px)
        && are_equal(a.principal_px, b.principal_px)
}

/// A camera for pages, with its target at the distance of `centre`.
pub(crate) fn aimed(camera: &Camera, centre: [f64; 3]) -> Value {
    let eye = camera.eye();
    let forward = camera.view_from_world.row(2).transpose();
    let along = forward.dot(&(nalgebra::Vector3::from(centre) - eye));
    let distance = if along > 0.0 { along } else { 1.0 };
    page_camera(camera, distance)
}
