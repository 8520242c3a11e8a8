//! Random scenes and cameras.

use std::fmt::Write;
use std::path::Path;

use nalgebra::{Matrix3, Vector3};

use quadrille_base::task::Task;
use quadrille_deferred::camera::lens::Lens;
use quadrille_deferred::camera::motion::{CameraMotion, RigidMotion, SceneMotion};
use quadrille_deferred::camera::shutter::ShutterView;
use quadrille_deferred::frame::StochasticFrame;
use quadrille_deferred::settings::DeferredSettings;
use quadrille_geometry::files::{Material, Mesh, Texture};
use quadrille_geometry::triangles::{Adjacency, Triangles};
use quadrille_scene::{Camera, Intrinsics};

/// Generator of random numbers for scenes.
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn next(&mut self, least: f64, greatest: f64) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        least + (greatest - least) * ((self.0 >> 33) as f64 / 2_147_483_648.0)
    }
}

fn parsed(text: &str) -> Mesh {
    let no_files = &mut |name: &str| unreachable!("{name}");
    quadrille_geometry::files::parse(text.as_bytes(), Path::new("test.obj"), no_files).unwrap().mesh
}

pub(super) fn mesh(text: &str) -> Triangles {
    Triangles::new(parsed(text), Adjacency::Vertex, &Task::NEVER).unwrap()
}

/// As [`soup`], with a quarter of the triangles blended and half of them alpha-tested with a texture of holes.
pub(super) fn layered_soup(seed: u64, count: usize, size: f64) -> Triangles {
    let text = soup_text(seed, count, size).replace("\nf ", "\nvt 0 0\nvt 2 0\nvt 0 2\nf ");
    // Corners of faces have the same index in both lists.
    let faces = text.lines().map(|line| match line.strip_prefix("f ") {
        Some(corners) => {
            corners.split(' ').fold("f".to_owned(), |face, c| format!("{face} {c}/{c}"))
        }
        None => line.to_owned(),
    });
    let mut mesh = parsed(&faces.collect::<Vec<_>>().join("\n"));
    let plain = mesh.materials[0].clone();
    let blended = Material { opacity: Some(0.4), ..plain.clone() };
    let tested = Material {
        alpha_cutoff: Some(0.5),
        base_texture: Some(u32::try_from(mesh.textures.len()).unwrap()),
        ..plain
    };
    mesh.textures.push(Texture {
        width: 8,
        height: 8,
        texels: (0..64_u8)
            .map(|k| [200, 4 * k, 90, if (k + k / 8) % 2 == 0 { 255 } else { 0 }])
            .collect(),
        ..Texture::default()
    });
    let first = u32::try_from(mesh.materials.len()).unwrap();
    mesh.materials.extend([blended, tested]);
    for (at, material) in mesh.face_materials.iter_mut().enumerate() {
        match at % 4 {
            0 => *material = first,
            1 | 3 => *material = first + 1,
            _ => {}
        }
    }
    Triangles::new(mesh, Adjacency::Vertex, &Task::NEVER).unwrap()
}

/// Triangles at random positions in front of the camera, of both orientations; some cross the camera plane.
pub(super) fn soup(seed: u64, count: usize, size: f64) -> Triangles {
    mesh(&soup_text(seed, count, size))
}

fn soup_text(seed: u64, count: usize, size: f64) -> String {
    let mut random = Random(seed);
    let mut text = String::new();
    for k in 0..count {
        let z = random.next(1.0, 6.0);
        let centre = [random.next(-0.8, 0.8) * z, random.next(-0.6, 0.6) * z, z];
        let reach = if k % 11 == 0 { 4.0 * size } else { size };
        for _ in 0..3 {
            let [x, y, z] = centre.map(|c| c + random.next(-reach, reach));
            writeln!(text, "v {x} {y} {z}").unwrap();
        }
        let first = 3 * k + 1;
        writeln!(text, "g {k}\nf {first} {} {}", first + 1, first + 2).unwrap();
    }
    text
}

pub(super) fn camera(size: [u32; 2]) -> Camera {
    let lens = Intrinsics::from_vertical_fov(size[0], size[1], 1.1);
    Camera::new("test", lens, Matrix3::identity(), Vector3::zeros()).unwrap()
}

pub(super) fn moving() -> SceneMotion {
    let spin = RigidMotion {
        displacement: Vector3::new(0.3, -0.1, 0.2),
        rotation: Vector3::new(0.1, 0.2, -0.3),
        centre: Vector3::new(0.0, 0.0, 3.0),
    };
    SceneMotion {
        camera: CameraMotion::in_view(&camera([8, 8]), [0.1, 0.0, 0.3], [2.0, -1.0, 3.0]),
        draws: vec![(0..1, spin)],
    }
}

/// Four kinds of blur: none, motion, defocus, and both.
pub(super) fn blurs() -> [(Lens, SceneMotion); 4] {
    let lens = Lens::new(0.08, 3.0).unwrap();
    [
        (Lens::PINHOLE, SceneMotion::NONE),
        (Lens::PINHOLE, moving()),
        (lens, SceneMotion::NONE),
        (lens, moving()),
    ]
}

pub(super) fn frame(
    source: &Triangles,
    size: [u32; 2],
    (lens, motion): (Lens, SceneMotion),
    settings: &DeferredSettings,
) -> StochasticFrame {
    let view = ShutterView::new(&camera(size), 0.05, lens, motion).unwrap();
    StochasticFrame::new(source, view, settings, &Task::NEVER).unwrap()
}
