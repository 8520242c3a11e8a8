//! glTF documents: their content, and checks of every range in them.
use std::f64::consts::FRAC_PI_2;
use std::io::Cursor;
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use image::{ImageFormat, RgbImage};
use quadrille::Error;
use quadrille::geometry::files::Loaded;
use quadrille::geometry::files::Mesh;
use quadrille::geometry::files::Microfacets;
use quadrille::geometry::files::parse as read;
use serde_json::{Value, json};

/// A square of two triangles: 4 positions, 4 texture coordinates, 6 indices of 16 bits, a sparse
/// index with its position.
pub(super) fn document() -> Value {
    let mut bytes = Vec::new();
    let positions = [[0.0f32, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0]];
    let uvs = [0.0f32, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0];
    for value in positions.as_flattened().iter().chain(&uvs) {
        bytes.extend_from_slice(&value.to_le_bytes());
    }
    for index in [0u16, 1, 2, 0, 2, 3, 3, 0] {
        bytes.extend_from_slice(&index.to_le_bytes());
    }
    for value in [5.0f32, 6.0, 7.0] {
        bytes.extend_from_slice(&value.to_le_bytes());
    }
    let uri = format!("data:application/octet-stream;base64,{}", STANDARD.encode(&bytes));
    json!({
        "asset": {"version": "2.0"},
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [{
            "attributes": {"POSITION": 0, "TEXCOORD_0": 1}, "indices": 2
        }]}],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": 4, "type": "VEC3"},
            {"bufferView": 1, "componentType": 5126, "count": 4, "type": "VEC2"},
            {"bufferView": 2, "componentType": 5123, "count": 6, "type": "SCALAR"}
        ],
        "bufferViews": [
            {"buffer": 0, "byteLength": 48},
            {"buffer": 0, "byteOffset": 48, "byteLength": 32},
            {"buffer": 0, "byteOffset": 80, "byteLength": 16},
            {"buffer": 0, "byteOffset": 96, "byteLength": 12}
        ],
        "buffers": [{"byteLength": 108, "uri": uri}]
    })
}

pub(super) fn parse(document: &Value) -> Result<Loaded, Error> {
    let path = Path::new("a.gltf");
    read(document.to_string().as_bytes(), path, &mut |name| {
        Err(Error::malformed(path, name, "a file", "none"))
    })
}

/// The document with the value at `pointer` replaced.
pub(super) fn with(pointer: &str, value: Value) -> Value {
    let mut document = document();
    set(&mut document, pointer, value);
    document
}

pub(super) fn set(document: &mut Value, pointer: &str, value: Value) {
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    match document.pointer_mut(parent).unwrap() {
        Value::Array(items) => items[key.parse::<usize>().unwrap()] = value,
        parent => parent[key] = value,
    }
}

fn refused(pointer: &str, value: Value) -> String {
    parse(&with(pointer, value)).unwrap_err().to_string()
}

fn positions(mesh: &Mesh) -> Vec<u32> {
    mesh.corners.iter().map(|corner| corner.position).collect()
}

#[test]
fn a_square() {
    let mesh = parse(&document()).unwrap().mesh;
    assert_eq!(positions(&mesh), [0, 1, 2, 0, 2, 3]);
    assert_eq!((mesh.faces(), mesh.draws.len()), (2, 1));
    assert_eq!(mesh.uvs[1], [1.0, 1.0]);
    assert_eq!(mesh.materials[0].base_colour, [1.0; 3]);
}

/// The first example of the extension's specification: the lower left quarter of the picture, turned
/// clockwise by 90 degrees.
#[test]
fn texture_coordinates_are_transformed() {
    let transform = json!({"offset": [0, 1], "rotation": FRAC_PI_2, "scale": [0.5, 0.5]});
    let info = json!({"index": 0, "extensions": {"KHR_texture_transform": transform}});
    let material = json!({"pbrMetallicRoughness": {"baseColorTexture": info.clone()}});
    let mut document = with("/materials", json!([material]));
    set(&mut document, "/meshes/0/primitives/0/material", json!(0));
    set(&mut document, "/textures", json!([{}]));
    let expected = [[0.5, 1.0], [0.5, 0.5], [0.0, 0.5], [0.0, 1.0]];
    let close = |uvs: &[[f32; 2]]| {
        let pairs = uvs.as_flattened().iter().zip(expected.as_flattened());
        assert!(pairs.clone().count() == 8, "{uvs:?}");
        assert!(pairs.into_iter().all(|(a, b)| (a - b).abs() < 1e-6), "{uvs:?}");
    };
    close(&parse(&document).unwrap().mesh.uvs);
    // The same from the second set of coordinates, which the transform or the texture names.
    let pointer = "/meshes/0/primitives/0/attributes";
    set(&mut document, pointer, json!({"POSITION": 0, "TEXCOORD_1": 1}));
    assert_eq!(parse(&document).unwrap().mesh.uvs, Vec::<[f32; 2]>::new());
    let slot = "/materials/0/pbrMetallicRoughness/baseColorTexture";
    set(&mut document, &format!("{slot}/texCoord"), json!(1));
    close(&parse(&document).unwrap().mesh.uvs);
    set(&mut document, &format!("{slot}/texCoord"), json!(7));
    let inner = format!("{slot}/extensions/KHR_texture_transform");
    set(&mut document, &format!("{inner}/texCoord"), json!(1));
    close(&parse(&document).unwrap().mesh.uvs);
    // Coordinates beyond the range of f32 are left out; a transform of wrong shape is an error.
    set(&mut document, &format!("{inner}/scale"), json!([1e300, 1.0]));
    let warnings = parse(&document).unwrap().warnings;
    assert!(warnings.iter().any(|w| w.contains("texture coordinates without")), "{warnings:?}");
    set(&mut document, &format!("{inner}/scale"), json!([1.0]));
    assert!(parse(&document).is_err());
}

#[test]
fn textures_have_two_sets_of_coordinates() {
    let mut document = with(
        "/materials",
        json!([{
            "name": "wall",
            "pbrMetallicRoughness": {"baseColorTexture": {"index": 0}},
            "emissiveTexture": {"index": 0},
            "occlusionTexture": {"index": 0, "texCoord": 1}
        }]),
    );
    set(&mut document, "/meshes/0/primitives/0/material", json!(0));
    set(&mut document, "/textures", json!([{"source": 0}]));
    let mut png = Cursor::new(Vec::new());
    RgbImage::new(1, 1).write_to(&mut png, ImageFormat::Png).unwrap();
    let uri = format!("data:image/png;base64,{}", STANDARD.encode(png.get_ref()));
    set(&mut document, "/images", json!([{"uri": uri}]));
    let numbers = |document: &Value| {
        let loaded = parse(document).unwrap();
        let material = &loaded.mesh.materials[0];
        let textures =
            [material.base_texture, material.emission_texture, material.occlusion_texture];
        let sets = textures.map(|at| Some(loaded.mesh.textures[at? as usize].has_second_uvs));
        (sets, loaded.mesh.uvs, loaded.mesh.second_uvs, loaded.warnings)
    };
    // The mesh lacks the second set.
    let (sets, uvs, second, warnings) = numbers(&document);
    assert_eq!(sets, [Some(false), Some(false), Some(true)]);
    assert_eq!(second, Vec::<[f32; 2]>::new());
    let [warning] = &warnings[..] else { panic!("{warnings:?}") };
    assert!(warning.contains("lacks TEXCOORD_1"), "{warning}");
    // The second set has the same numbers, which the texture turns.
    let attributes = "/meshes/0/primitives/0/attributes";
    set(&mut document, attributes, json!({"POSITION": 0, "TEXCOORD_0": 1, "TEXCOORD_1": 1}));
    let moved = json!({"KHR_texture_transform": {"offset": [0.5, 0.25], "scale": [2, 4]}});
    set(&mut document, "/materials/0/occlusionTexture/extensions", moved);
    let (_, both, second, warnings) = numbers(&document);
    assert_eq!((&both, warnings.len()), (&uvs, 0));
    let moved: Vec<_> = uvs.iter().map(|[u, v]| [2.0 * u + 0.5, 4.0 * v + 0.25]).collect();
    assert_eq!(second, moved);
    // A third set is left out.
    set(&mut document, "/materials/0/emissiveTexture/texCoord", json!(2));
    let (sets, .., warnings) = numbers(&document);
    assert_eq!(sets, [Some(false), Some(true), None]);
    let [missing, warning] = &warnings[..] else { panic!("{warnings:?}") };
    assert!(warning.starts_with("occlusionTexture of material \"wall\" is left out"));
    assert!(missing.contains("lacks TEXCOORD_2"), "{missing}");
}

#[test]
fn materials_without_a_name_have_their_place() {
    let mut document = with("/materials", json!([{"name": "leaf"}, {}]));
    for (material, name) in [(0, "leaf"), (1, "materials[1]")] {
        set(&mut document, "/meshes/0/primitives/0/material", json!(material));
        assert_eq!(parse(&document).unwrap().mesh.materials[0].name, name);
    }
}

#[test]
fn primitives_without_normals_are_flat() {
    // The sparse accessor moves position 3 out of the plane, to (5, 6, 7).
    let folded = |scale: [f64; 3]| {
        let mut document = with("/nodes/0/scale", json!(scale));
        set(
            &mut document,
            "/accessors/0/sparse",
            json!({
                "count": 1,
                "indices": {"bufferView": 2, "byteOffset": 12, "componentType": 5123},
                "values": {"bufferView": 3}
            }),
        );
        parse(&document).unwrap()
    };
    let normals = |loaded: &Loaded| -> Vec<[f32; 3]> {
        let corners = loaded.mesh.corners.iter();
        corners.map(|corner| loaded.mesh.normals[corner.normal as usize]).collect()
    };
    // (1, 1, 0) x (5, 6, 7) = (7, -7, 1).
    let unit = [7.0, -7.0, 1.0].map(|c: f32| c / 99_f32.sqrt());
    let loaded = folded([1.0; 3]);
    let found = normals(&loaded);
    assert_eq!(found[..3], [[0.0, 0.0, 1.0]; 3]);
    for normal in &found[3..] {
        let error = normal.iter().zip(&unit).map(|(a, b)| (a - b).abs());
        assert!(error.fold(0.0, f32::max) < 1e-6, "{normal:?}");
    }
    // Mirroring turns the order of corners, so fronts stay fronts.
    let mirrored = normals(&folded([-1.0, 1.0, 1.0]));
    assert_eq!(mirrored[..3], [[0.0, 0.0, 1.0]; 3]);
    // Every triangle without area goes without a normal and without a warning.
    let flat = parse(&with("/nodes/0/scale", json!([0.0, 1.0, 1.0]))).unwrap();
    assert!(flat.mesh.corners.iter().all(|c| c.normal == u32::MAX));
    assert_eq!(flat.warnings, Vec::<String>::new());
}

#[test]
fn every_range_is_checked() {
    for (pointer, value, expected) in [
        ("/accessors/0/count", json!(5), "as many as positions"),
        ("/accessors/0/count", json!(u64::MAX / 4), "as many as positions"),
        ("/accessors/2/count", json!(u64::MAX / 2), "triangles"),
        ("/accessors/2/count", json!(9), "9 elements of 2 bytes from byte 0"),
        ("/accessors/2/byteOffset", json!(u64::MAX), "from byte 18446744073709551615"),
        ("/accessors/2/componentType", json!(5120), "unsigned"),
        ("/accessors/2/componentType", json!(5124), "a component type"),
        ("/accessors/0/type", json!("VEC2"), "expected VEC3"),
        ("/accessors/0/bufferView", json!(9), "bufferViews[9]"),
        ("/accessors/0/componentType", json!(5123), "KHR_mesh_quantization"),
        ("/bufferViews/0/byteStride", json!(8), "a stride of at least 12"),
        ("/bufferViews/0/byteOffset", json!(u64::MAX), "inside the 108"),
        ("/bufferViews/0/buffer", json!(1), "buffers[1]"),
        ("/buffers/0/byteLength", json!(109), "109 bytes"),
        ("/buffers/0/uri", json!("a.bin"), "buffers[0]"),
        ("/meshes/0/primitives/0/mode", json!(7), "a mode of 0 to 6"),
        ("/meshes/0/primitives/0/material", json!(0), "materials[0]"),
        ("/nodes/0/mesh", json!(1), "meshes[1]"),
        ("/nodes/0/children", json!([0]), "a cycle of children"),
        ("/nodes/0/children", json!([1]), "nodes[1]"),
        ("/nodes/0/matrix", json!([1, 0, 0, 1, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]), "affine"),
        ("/nodes/0/scale", json!([1e200, 1e200, 1e200]), "finite"),
        ("/scene", json!(1), "scenes[1]"),
        ("/scenes/0/nodes", json!([1]), "nodes[1]"),
        ("/asset/version", json!("1.0"), "glTF 2.0"),
        ("/nodes", json!({}), "JSON, line 1"),
        ("/extensionsRequired", json!(["EXT_meshopt_compression"]), "meshopt"),
        ("/extensionsRequired", json!(["EXT_new"]), "\"EXT_new\""),
    ] {
        let text = refused(pointer, value);
        assert!(text.contains(expected), "{pointer}: {text}");
    }
}

#[test]
fn indices_beyond_the_vertices_are_refused() {
    let mut short = document();
    set(&mut short, "/accessors/0/count", json!(3));
    set(&mut short, "/accessors/1/count", json!(3));
    let text = parse(&short).unwrap_err().to_string();
    assert!(text.contains("accessors[2]: expected indices below 3, found 3"), "{text}");
}

#[test]
fn strips_and_fans_and_points() {
    let mode = |mode: u32, indexed: bool| {
        let mut document = with("/meshes/0/primitives/0/mode", json!(mode));
        if !indexed {
            set(&mut document, "/meshes/0/primitives/0/indices", Value::Null);
        }
        parse(&document).unwrap()
    };
    assert_eq!(positions(&mode(5, false).mesh), [0, 1, 2, 1, 3, 2]);
    assert_eq!(positions(&mode(6, false).mesh), [1, 2, 0, 2, 3, 0]);
    assert_eq!(mode(5, true).mesh.faces(), 4);
    let list = mode(4, false);
    assert_eq!((list.mesh.faces(), list.warnings.len()), (1, 1));
    let points = mode(0, false);
    assert_eq!((points.mesh.faces(), points.mesh.draws.len()), (0, 0));
    assert!(points.warnings.iter().any(|w| w.contains("points")));
}

#[test]
fn instances_stand_where_their_nodes_put_them() {
    let mut two = with("/scenes/0/nodes", json!([0, 1]));
    let half_turn = [0.0, 0.0, 1.0, 0.0];
    set(
        &mut two,
        "/nodes",
        json!([
            {"mesh": 0, "scale": [-2, 2, 2]},
            {"translation": [10, 0, 0], "children": [2]},
            {"mesh": 0, "rotation": half_turn}
        ]),
    );
    let mesh = parse(&two).unwrap().mesh;
    assert_eq!(mesh.draws, [0..2, 2..4]);
    assert_eq!(mesh.positions[1], [-2.0, 0.0, 0.0]);
    assert_eq!(mesh.positions[4..6], [[10.0, 0.0, 0.0], [9.0, 0.0, 0.0]]);
    assert_eq!(positions(&mesh)[..3], [0, 2, 1]);
    assert_eq!(positions(&mesh)[6..9], [4, 5, 6]);
}

#[test]
fn sparse_accessors() {
    let sparse = |index_offset: u32| {
        with(
            "/accessors/0/sparse",
            json!({
                "count": 1,
                "indices": {
                    "bufferView": 2, "byteOffset": index_offset, "componentType": 5123
                },
                "values": {"bufferView": 3}
            }),
        )
    };
    let mesh = parse(&sparse(12)).unwrap().mesh;
    assert_eq!(mesh.positions[3], [5.0, 6.0, 7.0]);
    assert!(parse(&sparse(16)).is_err());
    let mut zeros = sparse(12);
    set(&mut zeros, "/accessors/0/bufferView", Value::Null);
    assert_eq!(parse(&zeros).unwrap().mesh.positions.len(), 2);
    // The indices 0, 1, 2, 0, 2, 3, of which the first becomes 1, and the same among six zeros.
    let mut indices = with(
        "/accessors/2/sparse",
        json!({
            "count": 1,
            "indices": {"bufferView": 2, "byteOffset": 14, "componentType": 5121},
            "values": {"bufferView": 2, "byteOffset": 2}
        }),
    );
    let vertices = |document: &Value| -> Vec<u32> {
        let mesh = parse(document).unwrap().mesh;
        mesh.corners.iter().map(|corner| corner.position).collect()
    };
    assert_eq!(vertices(&indices), [1, 1, 2, 0, 2, 3]);
    set(&mut indices, "/accessors/2/bufferView", Value::Null);
    assert_eq!(vertices(&indices), [1, 0, 0, 0, 0, 0]);
    set(&mut indices, "/accessors/2/sparse/values/byteOffset", json!(12));
    set(&mut indices, "/accessors/0/count", json!(3));
    set(&mut indices, "/accessors/1/count", json!(3));
    let said = parse(&indices).unwrap_err().to_string();
    assert!(said.contains("indices below 3"), "{said}");
    set(&mut zeros, "/accessors/0/count", json!(1_000_000));
    set(&mut zeros, "/accessors/1/count", json!(1_000_000));
    assert!(parse(&zeros).unwrap_err().to_string().contains("without a buffer view"));
}

#[test]
fn many_instances_are_refused_before_they_are_made() {
    let mut many = with(
        "/accessors/2",
        json!({
            "bufferView": 2, "componentType": 5123, "count": 6, "type": "SCALAR"
        }),
    );
    let primitive = many["meshes"][0]["primitives"][0].clone();
    set(&mut many, "/meshes/0/primitives", json!(vec![primitive; 6000]));
    set(&mut many, "/nodes", json!(vec![json!({"mesh": 0}); 6000]));
    set(&mut many, "/scenes/0/nodes", json!((0..6000).collect::<Vec<_>>()));
    let error = parse(&many).unwrap_err();
    assert!(matches!(error, Error::Limit { .. }), "{error}");
}

#[test]
fn materials_are_read() {
    let mut document = with("/meshes/0/primitives/0/material", json!(1));
    set(
        &mut document,
        "/materials",
        json!([{}, {
            "name": "leaf", "alphaMode": "MASK", "alphaCutoff": 0.25, "doubleSided": true,
            "pbrMetallicRoughness": {
                "baseColorFactor": [0.5, 1, 1, 0.5], "roughnessFactor": 0.5,
                "baseColorTexture": {"index": 0}
            },
            "normalTexture": {"index": 0}
        }]),
    );
    set(&mut document, "/textures", json!([{"source": 0}]));
    set(&mut document, "/images", json!([{"uri": "none.png"}]));
    let loaded = parse(&document).unwrap();
    assert_eq!(loaded.mesh.materials.len(), 1);
    let leaf = &loaded.mesh.materials[0];
    assert_eq!((leaf.name.as_str(), leaf.two_sided, leaf.shininess), ("leaf", true, 0.0));
    assert_eq!((leaf.alpha_cutoff, leaf.effects.discards), (Some(0.5), true));
    assert_eq!(leaf.base_texture, None);
    assert!(loaded.warnings.iter().any(|w| w.contains("none.png")), "{:?}", loaded.warnings);
    set(&mut document, "/textures/0/source", json!(1));
    assert!(parse(&document).is_err());
}

#[test]
fn emission_is_read_and_what_is_left_out_is_named() {
    let mut document = with("/meshes/0/primitives/0/material", json!(0));
    let glowing =
        json!([{"emissiveFactor": [0.5, 1, 2], "pbrMetallicRoughness": {"metallicFactor": 0}}]);
    set(&mut document, "/materials", glowing);
    let loaded = parse(&document).unwrap();
    assert_eq!(loaded.mesh.materials[0].emission, [0.5, 1.0, 2.0]);
    assert!(loaded.warnings.is_empty(), "{:?}", loaded.warnings);
    let said = |pointer: &str, value: Value| {
        let mut document = document.clone();
        set(&mut document, pointer, value);
        parse(&document).unwrap().warnings.join("; ")
    };
    for (pointer, value, part) in [
        ("/animations", json!([{}]), "animations"),
        ("/extensionsUsed", json!(["KHR_materials_clearcoat"]), "clearcoat"),
    ] {
        let said = said(pointer, value);
        assert!(said.contains(part) && said.contains("left out"), "{pointer}: {said}");
    }
    set(&mut document, "/materials/0/emissiveFactor", json!([0, -1, 0]));
    assert!(parse(&document).is_err());
    set(&mut document, "/materials/0/emissiveFactor", json!([0, 0, 0]));
    set(&mut document, "/materials/0/emissiveTexture", json!({"index": 0}));
    set(&mut document, "/textures", json!([{"source": 0, "sampler": 0}]));
    set(&mut document, "/images", json!([{"uri": "none.png"}]));
    for (sampler, is_known) in [
        (json!({}), true),
        (json!({"wrapT": 33071, "minFilter": 9985}), true),
        (json!({"wrapT": 7}), false),
        (json!({"magFilter": 9987}), false),
        (json!({"minFilter": 1}), false),
    ] {
        set(&mut document, "/samplers", json!([sampler]));
        let warnings = parse(&document).unwrap().warnings;
        assert_eq!(!warnings.iter().any(|w| w.contains("samplers")), is_known, "{warnings:?}");
    }
}

#[test]
fn metalness_occlusion_and_extensions_of_materials() {
    let mut document = with("/meshes/0/primitives/0/material", json!(0));
    let material = json!({
        "emissiveFactor": [0.5, 1, 0],
        "pbrMetallicRoughness": {"metallicFactor": 0.25, "roughnessFactor": 0.5},
        "normalTexture": {"index": 0, "scale": 0.5},
        "occlusionTexture": {"index": 0, "strength": 0.75},
        "extensions": {
            "KHR_materials_unlit": {}, "KHR_materials_emissive_strength": {"emissiveStrength": 4}
        }
    });
    set(&mut document, "/materials", json!([material]));
    set(&mut document, "/textures", json!([{}]));
    let used = ["KHR_materials_unlit", "KHR_materials_emissive_strength"];
    set(&mut document, "/extensionsUsed", json!(used));
    let loaded = parse(&document).unwrap();
    assert_eq!(loaded.warnings, ["textures[0] is left out: no image"]);
    let material = &loaded.mesh.materials[0];
    let metallic =
        |metalness, roughness| Microfacets::Metallic { metalness, roughness, texture: None };
    assert_eq!(material.microfacets, Some(metallic(0.25, 0.5)));
    assert_eq!((material.normal_scale, material.occlusion_strength), (0.5, 0.75));
    assert_eq!((material.emission, material.is_unlit), ([2.0, 4.0, 0.0], true));
    for pointer in [
        "/materials/0/pbrMetallicRoughness/metallicFactor",
        "/materials/0/occlusionTexture/strength",
        "/materials/0/extensions/KHR_materials_emissive_strength/emissiveStrength",
    ] {
        let mut document = document.clone();
        set(&mut document, pointer, json!(-1));
        let said = parse(&document).unwrap_err().to_string();
        assert!(said.contains("materials[0]"), "{said}");
    }
    // Without a material, the default of the format: a rough metal.
    let facets = parse(&self::document()).unwrap().mesh.materials[0].microfacets;
    assert_eq!(facets, Some(metallic(1.0, 1.0)));
}

#[test]
fn colours_of_vertices() {
    let mut document = with("/meshes/0/primitives/0/attributes/COLOR_0", json!(0));
    let mesh = parse(&document).unwrap().mesh;
    // The positions, taken for colours of three channels.
    assert_eq!(mesh.colours[2], [1.0, 1.0, 0.0, 1.0]);
    assert_eq!(mesh.corners[5].colour, 3);
    set(&mut document, "/meshes/0/primitives/0/attributes/COLOR_0", json!(1));
    assert!(parse(&document).is_err());
    set(&mut document, "/meshes/0/primitives/0/attributes/COLOR_0", json!(9));
    assert!(parse(&document).is_err());
}

#[test]
fn blended_materials_have_an_opacity() {
    let mut document = with("/meshes/0/primitives/0/material", json!(0));
    let opacity = |document: &mut Value, mode: &str, alpha: f32| {
        let rough = json!({"baseColorFactor": [1, 1, 1, alpha]});
        let material = json!({"alphaMode": mode, "pbrMetallicRoughness": rough});
        set(document, "/materials", json!([material]));
        let loaded = parse(document).unwrap();
        assert!(loaded.warnings.is_empty(), "{:?}", loaded.warnings);
        loaded.mesh.materials[0].opacity
    };
    assert_eq!(opacity(&mut document, "BLEND", 0.25), Some(0.25));
    assert_eq!(opacity(&mut document, "BLEND", 3.0), Some(1.0));
    assert_eq!(opacity(&mut document, "OPAQUE", 0.25), None);
}

/// A GLB of a claimed length beyond the real one, and of chunks.
pub(super) fn glb(beyond: i32, chunks: &[(&[u8; 4], &[u8])]) -> Vec<u8> {
    let mut body = Vec::new();
    for (kind, content) in chunks {
        body.extend_from_slice(&u32::try_from(content.len()).unwrap().to_le_bytes());
        body.extend_from_slice(*kind);
        body.extend_from_slice(content);
    }
    let mut bytes = b"glTF\x02\0\0\0".to_vec();
    bytes.extend_from_slice(&(i32::try_from(body.len()).unwrap() + 12 + beyond).to_le_bytes());
    bytes.extend_from_slice(&body);
    bytes
}

fn parse_bytes(bytes: &[u8]) -> Result<Loaded, Error> {
    read(bytes, Path::new("a.gltf"), &mut |_| unreachable!())
}

#[test]
fn containers_are_taken_apart_and_their_sizes_checked() {
    let mut inside = document();
    let uri = inside["buffers"][0]["uri"].take();
    let (_, data) = uri.as_str().unwrap().split_once("base64,").unwrap();
    let data = STANDARD.decode(data).unwrap();
    let text = inside.to_string();
    let json: (&[u8; 4], &[u8]) = (b"JSON", text.as_bytes());
    let chunks = [json, (b"BIN\0", &data), (b"BIN\0", b"5")];
    assert_eq!(parse_bytes(&glb(0, &chunks)).unwrap().mesh.faces(), 2);
    let marked = format!("\u{feff}{}", document());
    assert_eq!(parse_bytes(marked.as_bytes()).unwrap().mesh.faces(), 2);
    for bad in [
        glb(1, &chunks),
        glb(-1, &chunks[..2]),
        glb(0, &[]),
        glb(0, &chunks[1..]),
        glb(0, &chunks[..1]),
        b"glTF".to_vec(),
        b"glTF\x01\0\0\0\x0c\0\0\0".to_vec(),
    ] {
        assert!(parse_bytes(&bad).is_err(), "{:?}", bad.escape_ascii());
    }
}

#[test]
fn uris_are_data_or_names_of_files() {
    let data = document()["buffers"][0]["uri"].as_str().unwrap().to_owned();
    let (_, encoded) = data.split_once("base64,").unwrap();
    let bytes = STANDARD.decode(encoded).unwrap();
    let parse = |uri: &str| {
        let document = with("/buffers/0/uri", json!(uri));
        read(document.to_string().as_bytes(), Path::new("a.gltf"), &mut |name| match name {
            "a b.bin" => Ok(bytes.clone()),
            _ => Err(Error::malformed(Path::new("a"), name, "a file", "none")),
        })
    };
    let padded = STANDARD.encode([&bytes[..], &[0]].concat());
    assert!(padded.ends_with('='));
    let unpadded = padded.trim_end_matches('=');
    for good in [&data, "a%20b.bin", &format!("data:;base64,{padded}")] {
        assert!(parse(good).is_ok(), "{good}");
    }
    assert!(parse(&format!("data:;base64,{unpadded}")).is_ok());
    for bad in ["data:,a", "data:;base64,A*", "%2", "%zz", "%ff", "http://a", "b", "file:a"] {
        assert!(parse(bad).is_err(), "{bad}");
    }
}
