//! Defaults of meshes: adjacency, sides, linear light, memory.

use std::path::Path;

use nalgebra::{Matrix3, Vector3};
use quadrille::geometry::files::{Mesh, MeshFile, TEXTURE_BYTES, parse};
use quadrille::geometry::triangles::Adjacency;
use quadrille::mesh::frame::Faces;
use quadrille::mesh::merge::{MergeUnitKind, PmuSettings, QfmSettings};
use quadrille::{
    Camera, ColourSpace, Error, Intrinsics, MeshDrawSettings, PictureFormat, decode_picture,
    draw_mesh, encode_picture,
};

use crate::support::shared;

fn read(text: &str, name: &str) -> Mesh {
    let no_files = &mut |name: &str| panic!("{name}");
    let loaded = parse(text.as_bytes(), Path::new(name), no_files);
    loaded.unwrap().mesh
}

/// A camera at the origin that looks along +z.
fn camera() -> Camera {
    let lens = Intrinsics::from_vertical_fov(64, 64, 1.0);
    Camera::new("front", lens, Matrix3::identity(), Vector3::zeros()).unwrap()
}

/// A wavy sheet of 24 x 24 quads in front of the camera; each triangle has corners of its own, and its
/// own texture coordinate or normal if `seams` names `vt` or `vn`.
fn sheet(seams: Option<&str>) -> Mesh {
    let mut text = String::new();
    let mut triangle = 0;
    let at = |x: u32, y: u32| {
        let [x, y] = [x, y].map(|v| f64::from(v) / 12.0 - 1.0);
        format!("v {x} {y} {}\n", 3.0 + 0.1 * (5.0 * x).sin())
    };
    for (x, y) in (0..24).flat_map(|y| (0..24).map(move |x| (x, y))) {
        let corners = [[x, y], [x, y + 1], [x + 1, y + 1], [x + 1, y]];
        for [a, b, c] in [[0, 1, 2], [0, 2, 3]] {
            let face: Vec<String> =
                [a, b, c].map(|k: usize| at(corners[k][0], corners[k][1])).into();
            text += &face.concat();
            triangle += 1;
            match seams {
                Some("vt") => {
                    text += &format!("vt {} 0\nf -3/-1 -2/-1 -1/-1\n", f64::from(triangle) / 1e4);
                }
                Some(_) => {
                    text += &format!("vn {} 0 -1\n", f64::from(triangle) / 1e4);
                    text += "f -3//-1 -2//-1 -1//-1\n";
                }
                None => text += "f -3 -2 -1\n",
            }
        }
    }
    read(&text, "sheet.obj")
}

#[test]
fn triangles_are_adjacent_where_their_vertices_are_equal() {
    let units =
        [MergeUnitKind::Qfm(QfmSettings::default()), MergeUnitKind::Pmu(PmuSettings::default())];
    let merged = |mesh: &Mesh, unit, adjacency| {
        let settings = MeshDrawSettings { unit, adjacency, ..MeshDrawSettings::default() };
        let (_, counts) = draw_mesh(mesh, &camera(), &settings).unwrap();
        assert!(counts.pixels_covered > 500);
        counts.quads_merged()
    };
    for unit in units {
        for seams in ["vt", "vn"] {
            let mesh = sheet(Some(seams));
            assert_eq!(merged(&mesh, unit, Adjacency::Vertex), 0, "{seams}");
            assert!(merged(&mesh, unit, Adjacency::Position) > 100, "{seams}");
        }
        // Corners that are repeated with equal values are one vertex.
        let mesh = sheet(None);
        let [vertex, position] = [Adjacency::Vertex, Adjacency::Position]
            .map(|adjacency| merged(&mesh, unit, adjacency));
        assert!(vertex > 100);
        assert_eq!(vertex, position);
    }
}

#[test]
fn open_surfaces_show_both_sides_and_closed_ones_their_fronts() {
    // A square that faces the camera, and one that faces away: the latter shows its back.
    let square = "v -1 -1 3\nv 1 -1 3\nv 1 1 3\nv -1 1 3\n";
    let covered = |faces_of_file: &str, faces| {
        let mesh = read(&format!("{square}{faces_of_file}"), "square.obj");
        let settings = MeshDrawSettings { faces, ..MeshDrawSettings::default() };
        let (picture, counts) = draw_mesh(&mesh, &camera(), &settings).unwrap();
        (picture.pixels()[64 * 32 + 32][1], counts.pixels_covered)
    };
    let towards = covered("f 4 3 2 1\n", Faces::Material);
    assert!(towards.1 > 500);
    let away = covered("f 1 2 3 4\n", Faces::Material);
    assert_eq!(towards, away, "lit from the side that is seen");
    assert_eq!(covered("f 1 2 3 4\n", Faces::Front).1, 0);
    assert_eq!(covered("f 1 2 3 4\n", Faces::Both), away);
    // The same two squares back to back are closed.
    let closed = read(&format!("{square}f 1 2 3 4\nf 4 3 2 1\n"), "plate.obj");
    assert!(closed.materials.iter().all(|m| !m.two_sided));
}

#[test]
fn pictures_are_linear_until_they_are_written_as_png() {
    let mesh = read(
        "v -9 -9 3\nv 9 -9 3\nv 9 9 3\nv -9 9 3\nvn 0 0 -1\nf 4//1 3//1 2//1 1//1\n",
        "wall.obj",
    );
    let mut bright = mesh.clone();
    bright.materials[0].base_colour = [3.0; 3];
    let [plain, bright] = [mesh, bright].map(|mesh| {
        let (picture, _) = draw_mesh(&mesh, &camera(), &MeshDrawSettings::default()).unwrap();
        assert_eq!(picture.colour_space(), ColourSpace::Linear);
        picture
    });
    let [linear, above] = [&plain, &bright].map(|picture| picture.pixels()[64 * 32 + 32]);
    assert!((above[0] / linear[0] - 3.0 / 0.8).abs() < 1e-4);
    assert!(above[0] > 1.0, "not clamped: {above:?}");
    let written = |format| {
        let mut bytes = Vec::new();
        encode_picture(&mut bytes, format, &plain).unwrap();
        decode_picture(&bytes, Path::new("picture")).unwrap().pixels()[64 * 32 + 32]
    };
    assert_eq!(written(PictureFormat::Exr), linear);
    assert_eq!(written(PictureFormat::Npy), linear);
    let curve = |c: f32| 1.055 * c.powf(1.0 / 2.4) - 0.055;
    let png = written(PictureFormat::Png);
    assert!((0..3).all(|c| (png[c] - curve(linear[c])).abs() < 0.6 / 255.0), "{png:?}");
    assert!(png[1] - linear[1] > 0.1, "{png:?} {linear:?}");
}

#[test]
fn sides_of_shared_meshes() {
    let Some(folder) = shared::path("meshes") else {
        return;
    };
    let loaded = |name: &str| MeshFile::load(&folder.join(name), TEXTURE_BYTES).unwrap();
    let MeshFile::Polygons(ribbons) = loaded("hairy_object/hair_ribbons.ply") else {
        panic!("polygons");
    };
    assert!(ribbons.mesh.materials[0].two_sided);
    let MeshFile::Polygons(spot) = loaded("spot/spot_triangulated.obj") else {
        panic!("polygons");
    };
    assert!(spot.mesh.materials.iter().all(|m| !m.two_sided));
}

#[test]
fn a_frame_beyond_its_memory_is_refused() {
    use quadrille::geometry::camera::MeshCamera;
    use quadrille::geometry::surface::ProceduralScene;
    use quadrille::geometry::tessellate::{TessellateSettings, Tessellated};
    use quadrille::mesh::frame::{FrameSettings, VisibleFrame};

    let surface = ProceduralScene::Plane.surface(1);
    let source = Tessellated::new(surface, TessellateSettings::default()).unwrap();
    let camera = ProceduralScene::Plane.viewpoint().camera("plane", 320, 200);
    let view = MeshCamera::new(camera.unwrap(), 1e-3);
    let frame = |memory_bytes| {
        let settings = FrameSettings {
            size: [320, 200],
            memory_bytes,
            ..crate::support::mesh::settings(
                quadrille::raster::samples::SamplePattern::standard(4).unwrap().shared(),
                quadrille::mesh::frame::Cull::Quads,
            )
        };
        VisibleFrame::new(&source, [&view, &view], &settings, &quadrille::Task::NEVER)
    };
    assert!(frame(1 << 30).is_ok());
    let error = frame(1 << 20).unwrap_err();
    assert!(matches!(error, Error::Argument { .. }), "{error}");
    assert!(error.to_string().contains("at most 1 MiB"), "{error}");
}
