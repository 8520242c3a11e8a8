//! Real meshes load with the counts that are known of them.
//!
//! The files are not part of the project; without them the tests say so and pass.
use std::path::PathBuf;

use crate::support::shared;
use quadrille::geometry::files::BezierPatches;
use quadrille::geometry::files::Loaded;
use quadrille::geometry::files::Mesh;
use quadrille::geometry::files::NONE;
use quadrille::geometry::files::load;

/// The path `relative` among the shared meshes, or `None` where it is absent.
fn path(relative: &str) -> Option<PathBuf> {
    shared::path(&format!("meshes/{relative}"))
}

fn mesh(relative: &str) -> Option<Loaded> {
    let loaded = load(&path(relative)?, &quadrille::Task::NEVER).unwrap();
    check(&loaded.mesh, relative);
    println!("{relative}: {:?}", loaded.warnings);
    Some(loaded)
}

/// What readers promise of every mesh.
fn check(mesh: &Mesh, name: &str) {
    assert_eq!(mesh.face_starts.len(), mesh.faces() + 1, "{name}");
    assert!((0..mesh.faces()).all(|face| mesh.face(face).len() >= 3), "{name}");
    let inside = |index: u32, len: usize| index == NONE || (index as usize) < len;
    for corner in &mesh.corners {
        assert!((corner.position as usize) < mesh.positions.len(), "{name}");
        assert!(inside(corner.uv, mesh.uvs.len()), "{name}");
        assert!(inside(corner.normal, mesh.normals.len()), "{name}");
    }
    let mut next = 0;
    for draw in &mesh.draws {
        assert_eq!(draw.start, next, "{name}");
        assert!(draw.end > draw.start, "{name}");
        let materials = &mesh.face_materials[draw.start as usize..draw.end as usize];
        assert!(materials.iter().all(|m| *m == materials[0]), "{name}");
        next = draw.end;
    }
    assert_eq!(next as usize, mesh.faces(), "{name}");
    for material in &mesh.materials {
        let textures = [material.base_texture, material.normal_texture];
        assert!(textures.iter().flatten().all(|t| (*t as usize) < mesh.textures.len()));
    }
    assert!(mesh.face_materials.iter().all(|m| (*m as usize) < mesh.materials.len()));
    let numbers = mesh.positions.as_flattened().iter();
    let numbers = numbers.chain(mesh.uvs.as_flattened());
    assert!(numbers.copied().all(f32::is_finite), "{name}");
    for [x, y, z] in &mesh.normals {
        assert!((x * x + y * y + z * z - 1.0).abs() < 1e-5, "{name}");
    }
}

/// Name, positions after welding, faces, texture coordinates, draws.
const MESHES: [(&str, usize, usize, usize, usize); 19] = [
    ("bigguy/bigguy.obj", 1452, 1450, 1754, 1),
    ("monsterfrog/monsterfrog.obj", 1308, 1292, 1705, 1),
    ("dxsdk_subd_cages/guy3.obj", 586, 584, 0, 1),
    ("dxsdk_subd_cages/head.obj", 264, 262, 0, 1),
    ("dxsdk_subd_cages/Tree.obj", 540, 538, 0, 1),
    ("dxsdk_subd_cages/shipquads.obj", 480, 482, 0, 1),
    ("dxsdk_subd_cages/testshape.obj", 168, 174, 0, 1),
    ("dxsdk_subd_cages/subdbox.obj", 92, 90, 0, 1),
    ("dxsdk_subd_cages/cubetest.obj", 20, 16, 0, 1),
    ("spot/spot_control_mesh.obj", 188, 180, 267, 1),
    ("spot/spot_quadrangulated.obj", 2930, 2928, 3225, 1),
    ("spot/spot_triangulated.obj", 2930, 5856, 3225, 1),
    ("scorpion/scorpion.obj", 49997, 99990, 0, 1),
    ("mountain/mountain.obj", 25600, 50562, 0, 1),
    ("shadowcolumns/testscene.obj", 8542, 16646, 49938, 187),
    ("hairy_object/TestObject1.obj", 382, 760, 439, 1),
    ("hairy_object/hair_ribbons.ply", 80216, 60162, 80216, 1),
    ("flighthelmet/FlightHelmet.gltf", 47561, 94722, 55392, 6),
    ("hairy_object/hair_strands.ply", 40108, 0, 0, 0),
];

#[test]
fn counts_are_those_of_the_files() {
    for (name, positions, faces, uvs, draws) in MESHES {
        let Some(Loaded { mesh, .. }) = mesh(name) else {
            continue;
        };
        let found = (mesh.positions.len(), mesh.faces(), mesh.uvs.len(), mesh.draws.len());
        assert_eq!(found, (positions, faces, uvs, draws), "{name}");
    }
}

#[test]
fn textures_come_with_their_materials() {
    let Some(helmet) = mesh("flighthelmet/FlightHelmet.gltf") else {
        return;
    };
    let materials = &helmet.mesh.materials;
    assert!(materials.iter().all(|m| m.base_texture.is_some() && m.normal_texture.is_some()));
    assert!(
        helmet
            .mesh
            .textures
            .iter()
            .all(|t| t.texels.len() as u64 == u64::from(t.width) * u64::from(t.height))
    );
    for (name, size) in [("hairy_object/TestObject1.obj", 1024), ("shadowcolumns/testscene.obj", 1)]
    {
        let Some(Loaded { mesh, .. }) = mesh(name) else {
            return;
        };
        let texture = &mesh.textures[mesh.materials[0].base_texture.unwrap() as usize];
        assert_eq!((texture.width, texture.height), (size, size));
        assert_eq!(mesh.materials[0].base_colour, [1.0; 3]);
    }
}

#[test]
fn subdivision_shapes_come_with_their_tags() {
    let Some(folder) = path("osd_shapes") else {
        return;
    };
    let (mut files, mut creases, mut corners) = (0, 0, 0);
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|e| e == "obj") {
            let loaded = load(&path, &quadrille::Task::NEVER).unwrap();
            check(&loaded.mesh, &path.display().to_string());
            files += 1;
            creases += loaded.mesh.creases.len();
            corners += loaded.mesh.sharp_corners.len();
        }
    }
    println!("{files} shapes");
    assert_eq!((creases, corners), (1379, 41));
}

#[test]
fn the_teaset_is_read() {
    for (name, patches, points) in [("teapot", 32, 306), ("teacup", 26, 251), ("teaspoon", 16, 256)]
    {
        let Some(path) = path(&format!("teaset_bezier/{name}")) else {
            return;
        };
        let found = BezierPatches::load(&path).unwrap();
        assert_eq!((found.patches.len(), found.points.len()), (patches, points), "{name}");
    }
}
