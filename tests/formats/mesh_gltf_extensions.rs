//! Extensions of glTF: instancing, WebP textures, materials of specular colours and glossiness.
use std::io::Cursor;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use image::{ImageFormat, RgbaImage};
use quadrille::Error;
use quadrille::geometry::files::{Material, Microfacets};
use serde_json::{Value, json};

use super::mesh_gltf::{document, parse, set, with};

/// The square as four instances: moved to its own corners, turned by half a turn around z, and scaled.
pub(super) fn instanced() -> Value {
    let mut document = document();
    let mut bytes: Vec<u8> =
        [0i8, 0, 127, 0].repeat(4).iter().map(|v| v.to_le_bytes()[0]).collect();
    bytes.extend([2.0f32, 3.0, 1.0].repeat(4).iter().flat_map(|v| v.to_le_bytes()));
    let uri = format!("data:application/octet-stream;base64,{}", STANDARD.encode(&bytes));
    let mut push = |pointer: &str, value: Value| {
        let array = document.pointer_mut(pointer).unwrap().as_array_mut().unwrap();
        array.push(value);
    };
    push("/buffers", json!({"byteLength": bytes.len(), "uri": uri}));
    push("/bufferViews", json!({"buffer": 1, "byteLength": 16}));
    push("/bufferViews", json!({"buffer": 1, "byteOffset": 16, "byteLength": 48}));
    let turns = json!({
        "bufferView": 4, "componentType": 5120, "normalized": true, "count": 4, "type": "VEC4"
    });
    push("/accessors", turns);
    push("/accessors", json!({"bufferView": 5, "componentType": 5126, "count": 4, "type": "VEC3"}));
    let attributes = json!({"TRANSLATION": 0, "ROTATION": 3, "SCALE": 4});
    let extension = json!({"EXT_mesh_gpu_instancing": {"attributes": attributes}});
    let node = json!({"mesh": 0, "translation": [10, 0, 0], "extensions": extension});
    set(&mut document, "/nodes", json!([node]));
    set(&mut document, "/extensionsRequired", json!(["EXT_mesh_gpu_instancing"]));
    document
}

#[test]
fn a_node_lists_the_instances_of_its_mesh() {
    let loaded = parse(&instanced()).unwrap();
    assert!(loaded.warnings.is_empty(), "{:?}", loaded.warnings);
    let mesh = loaded.mesh;
    assert_eq!(mesh.draws, [0..2, 2..4, 4..6, 6..8]);
    // Corner (1, 1) of the square: scaled to (2, 3), turned to (-2, -3), moved by the instance and the node.
    let corners: Vec<_> = mesh.positions.iter().skip(2).step_by(4).collect();
    let expected = [[8.0, -3.0, 0.0], [9.0, -3.0, 0.0], [9.0, -2.0, 0.0], [8.0, -2.0, 0.0]];
    assert_eq!(corners, expected.iter().collect::<Vec<_>>());
}

#[test]
fn lists_of_instances_are_checked() {
    let attributes = "/nodes/0/extensions/EXT_mesh_gpu_instancing/attributes";
    let mut uneven = instanced();
    set(&mut uneven, "/accessors/4/count", json!(3));
    let said = parse(&uneven).unwrap_err().to_string();
    assert!(said.contains("nodes[0].extensions") && said.contains("found 3"), "{said}");
    let mut missing = instanced();
    set(&mut missing, attributes, json!({"TRANSLATION": 9}));
    assert!(parse(&missing).unwrap_err().to_string().contains("accessors[9]"));
    let mut empty = instanced();
    set(&mut empty, attributes, json!({}));
    assert_eq!(parse(&empty).unwrap().mesh.faces(), 0);
    // 60,000 zeros need no bytes, and 20 nodes share them.
    let mut many = instanced();
    set(&mut many, attributes, json!({"TRANSLATION": 3}));
    set(&mut many, "/accessors/3", json!({"componentType": 5126, "count": 60_000, "type": "VEC3"}));
    let node = many["nodes"][0].clone();
    set(&mut many, "/nodes", json!(vec![node; 20]));
    set(&mut many, "/scenes/0/nodes", json!((0..20).collect::<Vec<_>>()));
    let error = parse(&many).unwrap_err();
    assert!(matches!(error, Error::Limit { .. }), "{error}");
}

/// Reads a document with this material and one texture, whose image has the bytes of `picture`.
fn material(material: &Value, texture: &Value, picture: &[u8]) -> (Material, Vec<String>) {
    let mut document = with("/materials", json!([material]));
    set(&mut document, "/meshes/0/primitives/0/material", json!(0));
    set(&mut document, "/textures", json!([texture]));
    let uri = format!("data:image/webp;base64,{}", STANDARD.encode(picture));
    set(&mut document, "/images", json!([{"uri": uri}]));
    set(&mut document, "/extensionsRequired", json!(["EXT_texture_webp"]));
    let loaded = parse(&document).unwrap();
    (loaded.mesh.materials[0].clone(), loaded.warnings)
}

fn webp(side: u32) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    let picture = RgbaImage::from_pixel(side, side, image::Rgba([1, 2, 3, 4]));
    picture.write_to(&mut bytes, ImageFormat::WebP).unwrap();
    bytes.into_inner()
}

#[test]
fn textures_are_webp_too() {
    let textured = json!({"pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}});
    let texture = json!({"source": 7, "extensions": {"EXT_texture_webp": {"source": 0}}});
    for side in [3, 2048] {
        let (material, warnings) = material(&textured, &texture, &webp(side));
        assert_eq!((material.base_texture, warnings), (Some(0), Vec::new()), "{side}");
    }
    let mut broken = webp(64);
    broken.truncate(broken.len() - 8);
    let (material, warnings) = material(&textured, &texture, &broken);
    assert_eq!(material.base_texture, None);
    assert!(warnings[0].contains("images[0]"), "{warnings:?}");
}

#[test]
fn specular_colours_replace_metalness() {
    let glossy = json!({
        "diffuseFactor": [0.1, 0.2, 0.3, 0.5], "diffuseTexture": {"index": 0},
        "specularFactor": [0.25, 0.5, 2.0], "glossinessFactor": 0.75,
        "specularGlossinessTexture": {"index": 0}
    });
    let json = json!({
        "pbrMetallicRoughness": {"baseColorFactor": [1, 0, 0, 1], "metallicFactor": 0},
        "alphaMode": "BLEND",
        "extensions": {"KHR_materials_pbrSpecularGlossiness": glossy}
    });
    let (found, warnings) = material(&json, &json!({"source": 0}), &webp(1));
    assert!(warnings.is_empty(), "{warnings:?}");
    assert_eq!((found.base_colour, found.opacity), ([0.1, 0.2, 0.3], Some(0.5)));
    let facets =
        Microfacets::Specular { colour: [0.25, 0.5, 1.0], glossiness: 0.75, texture: Some(0) };
    assert_eq!((found.base_texture, found.microfacets), (Some(0), Some(facets)));
    // Without numbers: a white mirror on white.
    let json = json!({"extensions": {"KHR_materials_pbrSpecularGlossiness": {}}});
    let (found, _) = material(&json, &json!({"source": 0}), &webp(1));
    let facets = Microfacets::Specular { colour: [1.0; 3], glossiness: 1.0, texture: None };
    assert_eq!((found.base_colour, found.microfacets), ([1.0; 3], Some(facets)));
    let json = json!({"extensions": {"KHR_materials_pbrSpecularGlossiness": {"specularFactor": [0, -1, 0]}}});
    let mut document = with("/materials", json!([json]));
    set(&mut document, "/meshes/0/primitives/0/material", json!(0));
    let said = parse(&document).unwrap_err().to_string();
    assert!(said.contains("materials[0]") && said.contains("-1"), "{said}");
}
