//! Cameras and lights of glTF, placed by their nodes.
use quadrille::geometry::files::LightKind;
use serde_json::{Value, json};

use super::mesh_gltf::{parse, set, with};

/// A document with a node that holds a camera and a light, turned by a quarter around y.
pub(super) fn lit() -> Value {
    let mut document = with("/scenes/0/nodes", json!([0, 1]));
    let half = std::f64::consts::FRAC_1_SQRT_2;
    set(
        &mut document,
        "/nodes",
        json!([{"mesh": 0}, {
            "name": "seat", "camera": 0, "translation": [1, 2, 3], "scale": [2, 2, 2],
            "rotation": [0, half, 0, half], "extensions": {"KHR_lights_punctual": {"light": 0}}
        }]),
    );
    let lens = json!({"yfov": 0.8, "znear": 0.25, "aspectRatio": 1.5});
    set(&mut document, "/cameras", json!([{"type": "perspective", "perspective": lens}]));
    let lamp = json!({
        "type": "spot", "color": [1, 0.5, 0], "intensity": 8, "range": 7,
        "spot": {"innerConeAngle": 0.1, "outerConeAngle": 0.2}
    });
    let extension = json!({"KHR_lights_punctual": {"lights": [lamp]}});
    set(&mut document, "/extensions", extension);
    document
}

#[test]
fn cameras_and_lights_stand_where_their_nodes_put_them() {
    let loaded = parse(&lit()).unwrap();
    assert!(loaded.warnings.is_empty(), "{:?}", loaded.warnings);
    let camera = &loaded.cameras[0];
    assert_eq!((camera.name.as_str(), camera.eye), ("seat", [1.0, 2.0, 3.0]));
    assert_eq!((camera.vertical_fov, camera.aspect, camera.near), (0.8, Some(1.5), 0.25));
    // A quarter turn takes -z to -x: forward is -x, down -y, right -z.
    let forward = camera.view_from_world.row(2);
    assert!((forward[0] + 1.0).abs() < 1e-12, "{forward}");
    assert!((camera.view_from_world.row(1)[1] + 1.0).abs() < 1e-12);
    assert!((camera.view_from_world.row(0)[2] + 1.0).abs() < 1e-12);
    assert!((camera.view_from_world.determinant() - 1.0).abs() < 1e-12);
    let light = &loaded.mesh.lights[0];
    assert_eq!(light.intensity, [8.0, 4.0, 0.0]);
    let LightKind::Point { position, range: Some(range), spot: Some(cone) } = light.kind else {
        panic!("{light:?}");
    };
    assert_eq!((position, range, cone.angles), ([1.0, 2.0, 3.0], 7.0, [0.1, 0.2]));
    assert!((cone.axis[0] + 1.0).abs() < 1e-12, "{cone:?}");
}

#[test]
fn bad_cameras_and_lights_are_refused_or_named() {
    let light = "/extensions/KHR_lights_punctual/lights/0";
    let lens = "/cameras/0/perspective";
    for (pointer, value, expected) in [
        ("/nodes/1/camera", json!(3), "cameras[3]"),
        ("/nodes/1/extensions/KHR_lights_punctual/light", json!(5), "lights[5]"),
        (&format!("{lens}/yfov"), json!(0), "an angle between 0 and pi"),
        (&format!("{lens}/yfov"), json!(3.2), "an angle between 0 and pi"),
        (&format!("{lens}/znear"), json!(-1), "znear"),
        (&format!("{lens}/aspectRatio"), json!(0), "aspectRatio"),
        (&format!("{light}/type"), json!("area"), "directional, point or spot"),
        (&format!("{light}/intensity"), json!(-2), "at least 0"),
        (&format!("{light}/intensity"), json!(1e39), "out of range"),
        (&format!("{light}/range"), json!(0), "range"),
        (&format!("{light}/spot/innerConeAngle"), json!(0.3), "innerConeAngle"),
        (&format!("{light}/spot/outerConeAngle"), json!(2), "pi/2"),
        ("/nodes/1/scale", json!([1, 1, 0]), "maps -z to a direction"),
    ] {
        let mut document = lit();
        set(&mut document, pointer, value);
        let error = parse(&document).unwrap_err().to_string();
        assert!(error.contains(expected), "{pointer}: {error}");
    }
    // A cone of 0 degrees is a light, if a useless one; an orthographic camera is left out.
    let mut document = lit();
    for angle in ["innerConeAngle", "outerConeAngle"] {
        set(&mut document, &format!("{light}/spot/{angle}"), json!(0));
    }
    assert_eq!(parse(&document).unwrap().mesh.lights.len(), 1);
    set(&mut document, "/cameras", json!([{"type": "orthographic"}]));
    let loaded = parse(&document).unwrap();
    assert!(loaded.cameras.is_empty());
    assert!(loaded.warnings[0].contains("not perspective"), "{:?}", loaded.warnings);
}
