//! Cameras and lights of glTF, placed in the world by nodes.
//!
//! Both point along -z of their nodes. As the specification says, scales of nodes do not affect them.

use nalgebra::{Matrix3, Vector3};

use super::super::build::MeshBuilder;
use super::super::camera::FileCamera;
use super::super::light::{LightKind, PunctualLight, SpotCone};
use super::json::{Camera, Light, Scenery};
use quadrille_base::error::Result;
use quadrille_scene::formats::gltf::{BufferStore, GltfDocument, NodePlacement, PlacedNodes};

/// Intensity of a light that states none.
const INTENSITY: f32 = 1.0;
/// Outer angle, in radians, of a spot light that states none.
const OUTER_ANGLE: f64 = std::f64::consts::FRAC_PI_4;

pub(super) fn read(
    document: &GltfDocument,
    scenery: &Scenery,
    placed: &PlacedNodes,
    store: &BufferStore<'_>,
    builder: &mut MeshBuilder,
) -> Result<Vec<FileCamera>> {
    let mut cameras: Vec<FileCamera> = Vec::new();
    for placed in &placed.nodes {
        let (at, placement) = (placed.index, &placed.placement);
        let node = &document.nodes[at];
        if let Some(index) = node.camera {
            let camera = store.get(&scenery.cameras, index, "cameras")?;
            let name = [&node.name, &camera.name].into_iter().find(|name| !name.is_empty());
            let name = name.cloned().unwrap_or_else(|| format!("camera{index}"));
            let name = match cameras.iter().any(|other| other.name == name) {
                true => format!("{name}.{at}"),
                false => name,
            };
            cameras.extend(read_camera(camera, index, name, placement, store, builder)?);
        }
        let light = node.extensions.light.as_ref();
        if let Some(extension) = light.filter(|_| placed.is_visible) {
            let index = extension.light;
            let lights = &scenery.extensions.lights.lights;
            let light = store.get(lights, index, "KHR_lights_punctual.lights")?;
            builder.mesh.lights.push(read_light(light, index, placement, store)?);
        }
    }
    Ok(cameras)
}

/// Returns a perspective camera; for other cameras `None`, with a warning.
fn read_camera(
    camera: &Camera,
    index: usize,
    name: String,
    placement: &NodePlacement,
    store: &BufferStore<'_>,
    builder: &mut MeshBuilder,
) -> Result<Option<FileCamera>> {
    let Some(lens) = &camera.perspective else {
        builder.warn(format!("camera {name:?} is left out: it is not perspective"));
        return Ok(None);
    };
    let place = |field: &str| format!("cameras[{index}].perspective.{field}");
    let is_angle = |angle: f64| angle > 0.0 && angle < std::f64::consts::PI;
    if !is_angle(lens.yfov) {
        let found = lens.yfov.to_string();
        return Err(store.malformed(place("yfov"), "an angle between 0 and pi", found));
    }
    for (field, value) in [("znear", Some(lens.znear)), ("aspectRatio", lens.aspect_ratio)] {
        if let Some(value) = value.filter(|v| !(v.is_finite() && *v > 0.0)) {
            return Err(store.malformed(
                place(field),
                "a finite number above 0",
                value.to_string(),
            ));
        }
    }
    let Some((view_from_world, eye)) = view(placement) else {
        builder.warn(format!(
            "camera {name:?} is left out: the transform of its node has no rotation part"
        ));
        return Ok(None);
    };
    Ok(Some(FileCamera {
        name,
        view_from_world,
        eye: eye.into(),
        vertical_fov: lens.yfov,
        aspect: lens.aspect_ratio,
        near: lens.znear,
    }))
}

/// World-to-view rotation (x right, y down, z forward) and position of a camera; `None` for singular maps.
fn view(placement: &NodePlacement) -> Option<(Matrix3<f64>, Vector3<f64>)> {
    let (linear, eye) = placement.parts();
    let axis =
        |k: usize| linear.column(k).try_normalize(0.0).filter(|v| v.iter().all(|c| c.is_finite()));
    let forward = -axis(2)?;
    let right = forward.cross(&axis(1)?).try_normalize(1e-9)?;
    let down = forward.cross(&right);
    let is_finite = eye.iter().all(|c| c.is_finite());
    let rows = [right, down, forward].map(|axis| axis.transpose());
    is_finite.then(|| (Matrix3::from_rows(&rows), eye))
}

fn read_light(
    light: &Light,
    index: usize,
    placement: &NodePlacement,
    store: &BufferStore<'_>,
) -> Result<PunctualLight> {
    let wrong = |field: &str, expected: &str, found: String| {
        let place = format!("KHR_lights_punctual.lights[{index}].{field}");
        Err(store.malformed(place, expected, found))
    };
    let strength = light.intensity.unwrap_or(INTENSITY);
    let intensity = light.color.unwrap_or([1.0; 3]).map(|c| c * strength);
    if let Some(value) = intensity.iter().find(|v| !(v.is_finite() && **v >= 0.0)) {
        let expected = "a finite product of colour and intensity of at least 0";
        return wrong("intensity", expected, value.to_string());
    }
    if let Some(range) = light.range.filter(|range| !(range.is_finite() && *range > 0.0)) {
        return wrong("range", "a finite number above 0", range.to_string());
    }
    let (linear, position) = placement.parts();
    let direction = (-linear.column(2)).try_normalize(0.0);
    let direction = direction.filter(|v| v.iter().all(|c| c.is_finite()));
    if !position.iter().all(|c| c.is_finite()) {
        return wrong("node", "a finite position", "NaN or infinity".to_owned());
    }
    let Some(direction) = direction else {
        return wrong(
            "node",
            "a transform that maps -z to a direction",
            "a singular one".to_owned(),
        );
    };
    let spot = match light.kind.as_str() {
        "directional" | "point" => None,
        "spot" => {
            let inner = light.spot.inner_cone_angle.unwrap_or(0.0);
            let outer = light.spot.outer_cone_angle.unwrap_or(OUTER_ANGLE);
            // A cone of 0 is accepted: it lights almost nothing.
            if !(0.0 <= inner && inner <= outer && outer <= std::f64::consts::FRAC_PI_2) {
                let expected = "0 <= innerConeAngle <= outerConeAngle <= pi/2";
                return wrong("spot", expected, format!("{inner} and {outer}"));
            }
            Some(SpotCone { axis: direction.into(), angles: [inner, outer] })
        }
        other => return wrong("type", "directional, point or spot", format!("{other:?}")),
    };
    let kind = match light.kind.as_str() {
        "directional" => LightKind::Directional { direction: direction.into() },
        _ => LightKind::Point { position: position.into(), range: light.range, spot },
    };
    Ok(PunctualLight { name: light.name.clone(), kind, intensity })
}
