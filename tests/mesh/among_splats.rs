//! Meshes among splats, against a definition that blends each sample of each pixel on its own, in f64 and without tiles.

use std::fs;
use std::path::PathBuf;

use base64::Engine;
use quadrille::nalgebra::{Matrix3, Matrix3x2, Quaternion, UnitQuaternion, Vector3};
use quadrille::suite::Silent;
use quadrille::suite::mesh_input::{LookSettings, MeshPlacement, PlacedMeshes};
use quadrille::surfaces::{SurfaceScene, Surfaces};
use quadrille::{
    Camera, Frame, LayerSettings, Protocol, Recipe, RenderSettings, Renderer, SimdLevel, Splats,
    Synthetic, Task, render_reference_surfaces,
};
use serde_json::json;

const SIZE: [u32; 2] = [96, 64];

/// Least PSNR of a picture against the definition, in dB.
const LEAST_DB: f64 = 80.0;

/// Unlit triangle of the scene, two-sided.
#[derive(Clone, Copy)]
struct Triangle {
    corners: [Vector3<f64>; 3],
    /// Linear colour and opacity.
    colour: [f32; 4],
}

/// A triangle by its corners on the picture, in pixels, with their depths; corners are multiples of 1/256 px, so that the
/// mesh path does not move them.
fn triangle(camera: &Camera, corners: [[f64; 3]; 3], colour: [f32; 4]) -> Triangle {
    let corner = |[x, y, z]: [f64; 3]| {
        let [x, y] = [x, y].map(|v| (v * 256.0).round() / 256.0);
        let [cx, cy] = camera.principal_px;
        let [fx, fy] = camera.focal_px;
        let in_view = Vector3::new((x - cx) / fx * z, (y - cy) / fy * z, z);
        let world = camera.view_from_world.transpose() * (in_view - camera.translation_in_view);
        // As the file stores it.
        world.map(|v| f64::from(v as f32))
    };
    Triangle { corners: corners.map(corner), colour }
}

/// Writes triangles as a glTF, one material each.
fn file(folder: &tempfile::TempDir, name: &str, triangles: &[Triangle]) -> PathBuf {
    let corners = triangles.iter().flat_map(|t| t.corners);
    let floats: Vec<f32> = corners.flat_map(|c| [c.x, c.y, c.z]).map(|v| v as f32).collect();
    let bytes: Vec<u8> = floats.iter().flat_map(|v| v.to_le_bytes()).collect();
    let bounds = |fold: fn(f32, f32) -> f32| {
        [0, 1, 2].map(|k| floats.iter().skip(k).step_by(3).copied().reduce(fold).unwrap())
    };
    let number = 0..triangles.len();
    let uri = base64::engine::general_purpose::STANDARD.encode(&bytes);
    let document = json!({
        "asset": { "version": "2.0" },
        "extensionsUsed": ["KHR_materials_unlit"],
        "buffers": [{
            "byteLength": bytes.len(),
            "uri": format!("data:application/octet-stream;base64,{uri}"),
        }],
        "bufferViews": [{ "buffer": 0, "byteLength": bytes.len() }],
        "accessors": number.clone().map(|i| json!({
            "bufferView": 0, "byteOffset": i * 36, "componentType": 5126, "count": 3, "type": "VEC3",
            "min": bounds(f32::min), "max": bounds(f32::max),
        })).collect::<Vec<_>>(),
        "materials": triangles.iter().map(|t| json!({
            "doubleSided": true,
            "alphaMode": if t.colour[3] < 1.0 { "BLEND" } else { "OPAQUE" },
            "pbrMetallicRoughness": { "baseColorFactor": t.colour },
            "extensions": { "KHR_materials_unlit": {} },
        })).collect::<Vec<_>>(),
        "meshes": [{ "primitives": number.map(|i| json!({
            "attributes": { "POSITION": i }, "material": i,
        })).collect::<Vec<_>>() }],
        "nodes": [{ "mesh": 0 }],
        "scenes": [{ "nodes": [0] }],
        "scene": 0,
    });
    let path = folder.path().join(name);
    fs::write(&path, document.to_string()).unwrap();
    path
}

/// A splat or a surface at a sample.
#[derive(Clone, Copy)]
struct Fragment {
    depth: f32,
    alpha: f64,
    colour: [f64; 3],
    is_splat: bool,
}

/// Fragments of the splats at the centre of each pixel, by the constants of the profile `inria`.
fn splat_fragments(splats: &Splats, camera: &Camera) -> Vec<Vec<Fragment>> {
    let [width, height] = SIZE.map(f64::from);
    let [fx, fy] = camera.focal_px;
    let mut pixels = vec![Vec::new(); (SIZE[0] * SIZE[1]) as usize];
    for splat in splats.iter() {
        let mean = Vector3::from(splat.mean.map(f64::from));
        let p = camera.view_from_world * mean + camera.translation_in_view;
        if p.z <= 0.2 {
            continue;
        }
        let limits = [1.3 * width / (2.0 * fx), 1.3 * height / (2.0 * fy)];
        let [tx, ty] = [p.x / p.z, p.y / p.z];
        let [tx, ty] = [tx.clamp(-limits[0], limits[0]), ty.clamp(-limits[1], limits[1])];
        let j = Matrix3x2::new(fx / p.z, 0.0, 0.0, fy / p.z, -fx * tx / p.z, -fy * ty / p.z);
        let [w, x, y, z] = splat.rotation.map(f64::from);
        let turn = UnitQuaternion::from_quaternion(Quaternion::new(w, x, y, z));
        let scale = Matrix3::from_diagonal(&Vector3::from(splat.scale.map(f64::from)));
        let m = camera.view_from_world * turn.to_rotation_matrix().matrix() * scale;
        let mut covariance = j.transpose() * m * m.transpose() * j;
        (0..2).for_each(|k| covariance[(k, k)] += 0.3);
        let Some(inverse) = covariance.try_inverse() else { continue };
        let centre =
            [fx * p.x / p.z + camera.principal_px[0], fy * p.y / p.z + camera.principal_px[1]];
        let grey = 0.282_094_791_773_878_14;
        let colour = splat.sh[0].map(|c| (f64::from(c) * grey + 0.5).max(0.0));
        for (at, pixel) in pixels.iter_mut().enumerate() {
            let place = [at % SIZE[0] as usize, at / SIZE[0] as usize];
            let d = [0, 1].map(|axis| place[axis] as f64 + 0.5 - centre[axis]);
            let d = quadrille::nalgebra::Vector2::from(d);
            let power = -0.5 * (d.transpose() * inverse * d)[0];
            let alpha = (f64::from(splat.opacity) * power.exp()).min(0.99);
            if alpha >= 1.0 / 255.0 {
                pixel.push(Fragment { depth: p.z as f32, alpha, colour, is_splat: true });
            }
        }
    }
    pixels
}

/// Positions of samples in a pixel, in 1/16 px, as Vulkan states them.
fn sample_positions(samples: u32) -> &'static [[u32; 2]] {
    match samples {
        1 => &[[8, 8]],
        4 => &[[6, 2], [14, 6], [2, 10], [10, 14]],
        8 => &[[9, 5], [7, 11], [13, 9], [5, 3], [3, 13], [1, 7], [11, 15], [15, 1]],
        _ => panic!("no positions"),
    }
}

fn encoded(linear: f32) -> f64 {
    let linear = f64::from(linear);
    if linear <= 0.003_130_8 { linear * 12.92 } else { 1.055 * linear.powf(1.0 / 2.4) - 0.055 }
}

/// The fragment of a triangle at a position on the picture.
fn hit(triangle: &Triangle, camera: &Camera, [x, y]: [f64; 2]) -> Option<Fragment> {
    let [a, b, c] = triangle.corners.map(|corner| {
        let p = camera.view_from_world * corner + camera.translation_in_view;
        let [x, y] = [p.x, p.y].map(|v| v / p.z);
        let at = [
            x * camera.focal_px[0] + camera.principal_px[0],
            y * camera.focal_px[1] + camera.principal_px[1],
        ];
        (at.map(|v| (v * 256.0).round() / 256.0), 1.0 / p.z)
    });
    let cross = |p: [f64; 2], q: [f64; 2]| (q[0] - p[0]) * (y - p[1]) - (q[1] - p[1]) * (x - p[0]);
    let edges = [cross(b.0, c.0), cross(c.0, a.0), cross(a.0, b.0)];
    assert!(edges.iter().all(|edge| *edge != 0.0), "a sample on an edge, where a rule decides");
    let is_inside = edges.iter().all(|e| *e > 0.0) || edges.iter().all(|e| *e < 0.0);
    let inverse_z = (edges[0] * a.1 + edges[1] * b.1 + edges[2] * c.1) / edges.iter().sum::<f64>();
    is_inside.then(|| Fragment {
        depth: (1.0 / inverse_z) as f32,
        alpha: triangle.colour[3].into(),
        colour: [0, 1, 2].map(|k| encoded(triangle.colour[k])),
        is_splat: false,
    })
}

/// Blends all samples of all pixels, one by one.
fn defined(splats: &Splats, camera: &Camera, triangles: &[Triangle], samples: u32) -> Frame {
    let of_splats = splat_fragments(splats, camera);
    let pixels = of_splats.iter().enumerate().map(|(at, of_splats)| {
        let place = [at as u32 % SIZE[0], at as u32 / SIZE[0]];
        let mut sum = [0.0; 4];
        for position in sample_positions(samples) {
            let at = [0, 1].map(|k| f64::from(place[k]) + f64::from(position[k]) / 16.0);
            let hits = triangles.iter().filter_map(|t| hit(t, camera, at));
            // A stable sort: at equal depths, splats come first.
            let mut all: Vec<_> = of_splats.iter().copied().chain(hits).collect();
            all.sort_by(|a, b| a.depth.total_cmp(&b.depth));
            let (mut splats_let, mut surfaces_let, mut is_open) = (1.0, 1.0, true);
            for Fragment { alpha, colour, is_splat, .. } in all {
                let left = splats_let * (1.0 - alpha);
                is_open &= !(is_splat && left < 1e-4);
                if is_splat && !is_open {
                    continue;
                }
                (0..3).for_each(|k| sum[k] += splats_let * surfaces_let * alpha * colour[k]);
                match is_splat {
                    true => splats_let = left,
                    false => surfaces_let *= 1.0 - alpha,
                }
            }
            sum[3] += 1.0 - splats_let * surfaces_let;
        }
        sum.map(|v| (v / f64::from(samples)) as f32)
    });
    Frame::from_pixels(SIZE[0], SIZE[1], pixels.collect())
}

fn scene(recipe: Recipe, view: usize) -> (Splats, Camera) {
    let scene = Synthetic::new(recipe, 5, 3000, 0).unwrap();
    let camera = scene.cameras()[view].resized(SIZE[0], SIZE[1]).unwrap();
    (scene.splats(), camera)
}

/// Depth that this share of the splats in view is in front of.
fn depth(splats: &Splats, camera: &Camera, share: f64) -> f64 {
    let mut renderer = Renderer::default();
    renderer.render(splats, camera, &RenderSettings::default());
    let mut depths: Vec<_> = renderer.drawn().map(|(splat, _)| splat.depth).collect();
    depths.sort_by(f32::total_cmp);
    f64::from(depths[(share * (depths.len() - 1) as f64) as usize])
}

fn placed(paths: &[PathBuf], samples: u32, moves: &[MeshPlacement]) -> PlacedMeshes {
    PlacedMeshes::load(paths, moves, samples, &LookSettings::default(), &Silent).unwrap()
}

fn drawn_on(meshes: &PlacedMeshes, splats: &Splats, camera: &Camera, level: SimdLevel) -> Frame {
    let surfaces = meshes.surfaces(camera, level, &Task::NEVER).unwrap();
    fast(splats, camera, &surfaces, level).0
}

fn fast(splats: &Splats, camera: &Camera, surfaces: &Surfaces, level: SimdLevel) -> (Frame, u64) {
    let settings = RenderSettings { level, ..RenderSettings::default() };
    let mut frame = Frame::new(0, 0);
    let scene = SurfaceScene { splats, surfaces };
    let layers = LayerSettings::default();
    let mut renderer = Renderer::default();
    let drawn =
        renderer.render_surfaces(&mut frame, scene, camera, &settings, &layers, &Task::NEVER);
    (frame, drawn.unwrap().1.fragments_blended)
}

fn hold(found: &Frame, expected: &Frame, what: &str) {
    let db = quadrille::compare(found, expected, Protocol::Float).unwrap().psnr_db;
    let db = db.unwrap_or(f64::INFINITY);
    let alphas = found.pixels().iter().zip(expected.pixels()).map(|(a, b)| (a[3] - b[3]).abs());
    let alpha = alphas.fold(0.0, f32::max);
    println!("{what}: {db:.1} dB, alpha within {alpha:.1e}");
    assert!(db >= LEAST_DB && alpha < 1e-3, "{what}: {db:.1} dB, alpha within {alpha:e}");
}

/// A strip of triangles: the share of the splats that is in front of it, its corners in pixels with their relative depths,
/// and its colour.
type Strip = (f64, Vec<[f64; 3]>, [f32; 4]);

/// Draws meshes, one per strip, with the scalar renderer and on every SIMD level.
fn hold_to_definition(recipe: Recipe, view: usize, samples: u32, shape: &[Strip]) {
    let (splats, camera) = scene(recipe, view);
    let folder = tempfile::tempdir().unwrap();
    let (mut triangles, mut paths) = (Vec::new(), Vec::new());
    for (index, (share, corners, colour)) in shape.iter().enumerate() {
        let z = depth(&splats, &camera, *share);
        let of_mesh: Vec<_> = corners
            .windows(3)
            .map(|w| triangle(&camera, [w[0], w[1], w[2]].map(|[x, y, s]| [x, y, z * s]), *colour))
            .collect();
        paths.push(file(&folder, &format!("{index}.gltf"), &of_mesh));
        triangles.extend(of_mesh);
    }
    let expected = defined(&splats, &camera, &triangles, samples);
    let meshes = placed(&paths, samples, &[]);
    let (plain, _) = quadrille::render(&splats, &camera, &RenderSettings::default());
    let db = quadrille::compare(&plain, &expected, Protocol::Float).unwrap().psnr_db.unwrap();
    assert!(db < 40.0, "the meshes change little: {db:.1} dB");
    for level in SimdLevel::all() {
        let found = drawn_on(&meshes, &splats, &camera, level);
        hold(&found, &expected, &format!("{recipe}, {samples} samples, {}", level.name()));
    }
    let surfaces = meshes.surfaces(&camera, SimdLevel::best(), &Task::NEVER).unwrap();
    let scene = SurfaceScene { splats: &splats, surfaces: &surfaces };
    let exact = render_reference_surfaces(
        scene,
        &camera,
        &RenderSettings::default(),
        &LayerSettings::default(),
    );
    hold(&exact.unwrap().0, &expected, &format!("{recipe}, {samples} samples, scalar"));
}

#[test]
fn an_opaque_triangle_cuts_a_room() {
    let corners = vec![[8.3, 5.1, 0.8], [88.6, 20.7, 1.1], [40.2, 60.9, 1.4]];
    hold_to_definition(Recipe::Room, 0, 1, &[(0.4, corners, [0.8, 0.3, 0.1, 1.0])]);
}

#[test]
fn glass_and_an_opaque_mesh_stand_in_an_object() {
    let glass = vec![[10.1, 8.3, 0.9], [86.7, 3.2, 1.0], [20.9, 59.7, 1.05], [90.4, 50.3, 1.1]];
    let solid = vec![[30.3, 2.7, 1.0], [70.9, 12.1, 0.97], [52.2, 62.3, 1.06]];
    let meshes = [
        (0.2, glass.clone(), [0.1, 0.6, 0.2, 0.4]),
        (0.6, solid, [0.2, 0.2, 0.9, 1.0]),
        (0.5, glass, [0.9, 0.8, 0.2, 0.3]),
    ];
    hold_to_definition(Recipe::Object, 1, 4, &meshes);
}

#[test]
fn two_meshes_that_cross_stand_in_a_world() {
    let first = vec![[-9.3, 10.7, 0.4], [60.2, -20.3, 2.0], [50.9, 80.3, 1.0]];
    let second = vec![[110.1, 5.3, 0.5], [30.7, 15.9, 1.9], [70.3, 90.1, 0.9]];
    let meshes = [(0.3, first, [0.5, 0.5, 0.5, 1.0]), (0.35, second, [0.05, 0.4, 0.7, 1.0])];
    hold_to_definition(Recipe::World, 0, 8, &meshes);
}

/// A wall over the whole picture at a depth, and the colour that it has alone.
fn wall(folder: &tempfile::TempDir, camera: &Camera, z: f64) -> (PlacedMeshes, [f32; 3]) {
    let colour = [0.7, 0.2, 0.4, 1.0];
    let corners = [[-200.0, -200.0, z], [500.0, -200.0, z], [-200.0, 500.0, z]];
    let path = file(folder, "wall.gltf", &[triangle(camera, corners, colour)]);
    (placed(&[path], 4, &[]), [0, 1, 2].map(|k| encoded(colour[k]) as f32))
}

#[test]
fn a_wall_behind_everything_is_a_background_and_one_before_it_the_picture() {
    for (recipe, view) in [(Recipe::Room, 0), (Recipe::Object, 1), (Recipe::World, 0)] {
        let (splats, camera) = scene(recipe, view);
        let folder = tempfile::tempdir().unwrap();
        let level = SimdLevel::best();
        let (plain, _) = quadrille::render(&splats, &camera, &RenderSettings::default());
        let (behind, colour) = wall(&folder, &camera, 2.0 * depth(&splats, &camera, 1.0));
        let found = drawn_on(&behind, &splats, &camera, level);
        for (found, plain) in found.pixels().iter().zip(plain.pixels()) {
            for k in 0..3 {
                let expected = plain[k] + (1.0 - plain[3]) * colour[k];
                assert!((found[k] - expected).abs() < 1e-5, "{found:?}, not {expected}");
            }
            assert_eq!(found[3], 1.0);
        }
        let (before, colour) = wall(&folder, &camera, 0.9 * depth(&splats, &camera, 0.0));
        let surfaces = before.surfaces(&camera, level, &Task::NEVER).unwrap();
        let (found, fragments) = fast(&splats, &camera, &surfaces, level);
        assert_eq!(fragments, 0, "splats behind the wall are blended");
        for pixel in found.pixels() {
            let is_wall = (0..3).all(|k| (pixel[k] - colour[k]).abs() < 1e-6) && pixel[3] == 1.0;
            assert!(is_wall, "{pixel:?}, not {colour:?}");
        }
    }
}

#[test]
fn a_mesh_out_of_view_changes_no_byte() {
    let (splats, camera) = scene(Recipe::Room, 0);
    let folder = tempfile::tempdir().unwrap();
    let corners = [[200.3, 5.1, 3.0], [280.6, 20.7, 3.0], [240.2, 60.9, 3.0]];
    let path = file(&folder, "away.gltf", &[triangle(&camera, corners, [1.0; 4])]);
    let found = drawn_on(&placed(&[path], 8, &[]), &splats, &camera, SimdLevel::best());
    assert_eq!(found, quadrille::render(&splats, &camera, &RenderSettings::default()).0);
}

#[test]
fn a_moved_mesh_is_drawn_where_its_moved_corners_are() {
    let (splats, camera) = scene(Recipe::Room, 0);
    let folder = tempfile::tempdir().unwrap();
    let z = depth(&splats, &camera, 0.4);
    let corners = [[8.3, 5.1, 0.8 * z], [88.6, 20.7, 1.1 * z], [40.2, 60.9, 1.4 * z]];
    let target = triangle(&camera, corners, [0.8, 0.3, 0.1, 1.0]);
    // The inverse of turning by 90 degrees around y, doubling, and moving.
    let back = target.corners.map(|c| {
        let c = (c - Vector3::new(1.0, -2.0, 0.5)) / 2.0;
        Vector3::new(-c.z, c.y, c.x)
    });
    let paths = [file(&folder, "back.gltf", &[Triangle { corners: back, ..target }])];
    let moves = MeshPlacement::parse("rotate 0,90,0 scale 2 translate 1,-2,0.5").unwrap();
    let found = drawn_on(&placed(&paths, 1, &[moves]), &splats, &camera, SimdLevel::best());
    hold(&found, &defined(&splats, &camera, &[target], 1), "moved");
}

#[test]
fn wrong_placements_are_errors() {
    for (text, word) in [
        ("translate", "translate"),
        ("translate 1,2", "three numbers"),
        ("scale 0", "scale"),
        ("jump 1,2,3", "jump"),
        ("sh 2", "translate X,Y,Z"),
        ("flip-axes RUF", "mirroring"),
        ("prune 0.5", "translate X,Y,Z"),
    ] {
        let error = MeshPlacement::parse(text).unwrap_err().to_string();
        assert!(error.contains(word), "{text}: {error}");
    }
    assert_eq!(MeshPlacement::parse("").unwrap(), MeshPlacement::default());
    let load = |paths: &[&str], moves: usize, samples: u32| {
        let paths: Vec<PathBuf> = paths.iter().map(PathBuf::from).collect();
        let moves = vec![MeshPlacement::default(); moves];
        let look = LookSettings::default();
        PlacedMeshes::load(&paths, &moves, samples, &look, &Silent).err().unwrap().to_string()
    };
    assert!(load(&["plane"], 2, 4).contains("at most 1"));
    assert!(load(&["plane"], 1, 16).contains("1, 2, 4 or 8"));
    assert!(load(&["no such mesh"], 0, 4).contains("no such mesh"));
    let meshes = placed(&["plane".into()], 4, &[]);
    let (_, camera) = scene(Recipe::Room, 0);
    let panorama = Camera { projection: quadrille::Projection::Equirectangular, ..camera };
    let error = meshes.surfaces(&panorama, SimdLevel::best(), &Task::NEVER).unwrap_err();
    assert!(error.to_string().contains("pinhole"), "{error}");
}
