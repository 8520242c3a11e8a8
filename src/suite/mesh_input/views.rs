use super::input::MeshInput;
use crate::messages::{Messages, Silent};
use quadrille_base::error::{Error, Result};
use quadrille_base::image::{FRAME_BYTES, check_memory};
use quadrille_scene::cameras::{DEFAULT_SIDE_PX, Framing, ViewSpec, Views, select};
use quadrille_scene::{Camera, Splats};

/// Formats all cameras of the camera file for a fingerprint; empty without a file.
pub(crate) fn camera_text(spec: &ViewSpec) -> Result<String> {
    if spec.cameras.is_none() {
        return Ok(String::new());
    }
    let views = spec.with_all().views(None, || Ok(Framing::of(&Splats::from_splats(0, []))))?;
    Ok(format!("{:?}", views.cameras))
}

/// Returns the up direction of `spec`; without one, +y if the line of sight is along z, which rules out z as up.
pub fn up_of(spec: &ViewSpec) -> Option<[f64; 3]> {
    let is_along_z = spec.eye.zip(spec.target).is_some_and(|(eye, target)| eye[..2] == target[..2]);
    spec.up.or(is_along_z.then_some([0.0, 1.0, 0.0]))
}

/// Views of a mesh: the selected cameras of its own file, unless the description names views.
pub(super) fn views_of_mesh(
    spec: &ViewSpec,
    input: &MeshInput,
    messages: &dyn Messages,
) -> Result<Views> {
    let file = input.cameras();
    let points = [spec.eye, spec.target, spec.up];
    let is_described = points.iter().any(Option::is_some) || spec.orbit.is_some();
    if file.is_empty() || is_described || spec.cameras.is_some() {
        return described(spec, input, messages);
    }
    let Some(selected) = &spec.view else {
        messages.remark(&format!(
            "the file holds cameras: {} (view 0 draws the first of them, view all draws all)",
            file.iter().map(|camera| camera.name.as_str()).collect::<Vec<_>>().join(", ")
        ));
        return described(spec, input, messages);
    };
    if spec.fov_degrees.is_some() {
        return Err(Error::needs("fov", "eye; the cameras of a file have their own"));
    }
    let [_, height] = DEFAULT_SIDE_PX;
    let sized = file.iter().map(|camera| {
        let width = f64::from(height) * camera.aspect.unwrap_or(1.0);
        // Float casts saturate, and `of` checks the size.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let [width, height] = spec.size().of([width.round().max(1.0) as u32, height])?;
        camera.with_size(width, height)
    });
    fitting(Views { cameras: select(sized.collect::<Result<_>>()?, selected)?, ..Views::default() })
}

fn described(spec: &ViewSpec, input: &MeshInput, messages: &dyn Messages) -> Result<Views> {
    let framing = || Ok(input.framing(up_of(spec), messages));
    let mut views = spec.views(None, framing)?;
    let others = views.cameras.iter_mut().filter(|camera| !camera.projection.is_pinhole());
    let mut count = 0;
    for camera in others {
        *camera = camera.as_pinhole();
        count += 1;
    }
    if count > 0 {
        views.warnings.push(format!(
            "meshes are drawn by pinholes only, which replace cameras of other projections; cameras affected: {count}"
        ));
    }
    fitting(views)
}

fn fitting(views: Views) -> Result<Views> {
    for camera in &views.cameras {
        check_memory([camera.width, camera.height], FRAME_BYTES)?;
    }
    Ok(views)
}

pub(crate) fn all_views(spec: &ViewSpec, input: &MeshInput) -> Result<Vec<Camera>> {
    // The choice of the up axis is reported once, when the cameras are chosen.
    Ok(described(&spec.with_all(), input, &Silent)?.cameras)
}

/// Finds the successor of each of `cameras` in `all`. The last view has none: it gets its predecessor, and `true`
/// for a motion that must be reversed.
pub(crate) fn following(cameras: &[Camera], all: &[Camera]) -> Result<Vec<(Camera, bool)>> {
    let after = |camera: &Camera| {
        let at = all.iter().position(|other| other.name == camera.name)?;
        let next = all.get(at + 1).map(|next| (next.clone(), false));
        next.or_else(|| Some((all.get(at.checked_sub(1)?)?.clone(), true)))
    };
    cameras.iter().map(after).collect::<Option<Vec<_>>>().ok_or_else(|| {
        let expected = "several views (a camera file with several, or an orbit)";
        Error::argument("shutter", expected, "one view")
    })
}

pub(crate) fn nothing_in_view(camera: &Camera) -> String {
    format!(
        "view \"{}\": nothing of the mesh is in view (look from elsewhere with another eye and target, or move the \
         near plane)",
        camera.name
    )
}
