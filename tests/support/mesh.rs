//! Small meshes for tests, and views of them.

use std::f64::consts::FRAC_PI_2;

use nalgebra::{Rotation3, Vector3};
use quadrille::Camera;
use quadrille::Intrinsics;
use quadrille::SimdLevel;
use quadrille::geometry::camera::MeshCamera;
use quadrille::geometry::files::Corner;
use quadrille::geometry::files::Material;
use quadrille::geometry::files::Mesh;
use quadrille::geometry::files::NONE;
use quadrille::geometry::files::ShaderEffects;
use quadrille::geometry::grid::GridSource;
use quadrille::geometry::surface::Surface;
use quadrille::geometry::tessellate::TessellateSettings;
use quadrille::geometry::tessellate::Tessellated;
use quadrille::geometry::triangles::{Adjacency, Triangles};
use quadrille::mesh::frame::Cull;
use quadrille::mesh::frame::Faces;
use quadrille::mesh::frame::FrameSettings;
use quadrille::raster::samples::SamplePattern;

/// A mesh of one draw and one material without attributes.
pub(crate) fn mesh(positions: Vec<[f32; 3]>, faces: &[Vec<u32>]) -> Mesh {
    let mut mesh = Mesh {
        positions,
        face_starts: vec![0],
        materials: vec![Material::default()],
        face_materials: vec![0; faces.len()],
        draws: std::iter::once(0..u32::try_from(faces.len()).unwrap()).collect(),
        ..Mesh::default()
    };
    for face in faces {
        let corner = |&position: &u32| Corner { position, uv: NONE, normal: NONE, colour: NONE };
        mesh.corners.extend(face.iter().map(corner));
        mesh.face_starts.push(mesh.corners.len() as u32);
    }
    mesh
}

/// Rounded cubes behind, before and beside each other, as micropolygons.
pub(crate) fn cubes() -> Box<dyn GridSource> {
    let (mut positions, mut faces) = (Vec::new(), Vec::new());
    let cubes = [([0.0, 0.0, 5.0], 2.6), ([0.2, 0.1, 9.0], 1.5), ([1.2, 0.4, 2.8], 0.9)];
    for (centre, half) in cubes {
        let first = positions.len() as u32;
        positions.extend((0..8).map(|i| {
            [0, 1, 2].map(|axis| centre[axis] + if i >> axis & 1 == 1 { half } else { -half })
        }));
        let sides: [[u32; 4]; 6] =
            [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
        faces.extend(sides.map(|side| side.map(|v| v + first).to_vec()));
    }
    let surface = Surface::catmull_clark(&mesh(positions, &faces), 2).unwrap();
    let settings = TessellateSettings { triangle_area_px: 3.0, ..TessellateSettings::default() };
    Box::new(Tessellated::new(surface, settings).unwrap())
}

/// Two triangles that pass through each other, one of them through the near plane.
pub(crate) fn crossing() -> Box<dyn GridSource> {
    let positions = vec![
        [-2.0, -1.0, 3.0],
        [2.0, -1.5, 6.0],
        [0.1, 2.0, 4.0],
        [-2.0, 1.0, 6.0],
        [0.3, -2.0, 5.0],
        [0.6, 0.5, -0.2],
    ];
    let mut mesh = mesh(positions, &[vec![0, 1, 2], vec![3, 4, 5]]);
    mesh.materials[0].two_sided = true;
    Box::new(Triangles::new(mesh, Adjacency::Vertex, &quadrille::Task::NEVER).unwrap())
}

/// Two waves in two draws; the shader of a part of the second bars merging pixels.
pub(crate) fn waves() -> Box<dyn GridSource> {
    Box::new(Triangles::new(wave_mesh(), Adjacency::Vertex, &quadrille::Task::NEVER).unwrap())
}

/// The waves with unlit colours, parts of both blended: in each draw before, between and after opaque parts.
pub(crate) fn veils() -> Triangles {
    let mut mesh = wave_mesh();
    let material = |base_colour, opacity| Material {
        base_colour,
        opacity,
        is_unlit: true,
        two_sided: true,
        ..Material::default()
    };
    mesh.materials = vec![
        material([0.7, 0.2, 0.1], None),
        material([0.1, 0.6, 0.3], None),
        material([0.2, 0.3, 0.9], Some(0.4)),
        material([0.9, 0.8, 0.1], Some(0.7)),
    ];
    mesh.materials[1].effects.reads_coverage = true;
    mesh.materials[3].effects.reads_coverage = true;
    let faces = mesh.face_materials.len();
    for (part, material) in [2, 0, 3, 2, 2, 1, 3, 0].into_iter().enumerate() {
        mesh.face_materials[part * faces / 8..(part + 1) * faces / 8].fill(material);
    }
    Triangles::new(mesh, Adjacency::Vertex, &quadrille::Task::NEVER).unwrap()
}

fn wave_mesh() -> Mesh {
    const SIDE: u32 = 24;
    let (mut positions, mut faces) = (Vec::new(), Vec::new());
    for wave in 0..2 {
        let first = positions.len() as u32;
        for k in 0..(SIDE + 1) * (SIDE + 1) {
            let [x, y] = [k % (SIDE + 1), k / (SIDE + 1)].map(|v| v as f32 * 0.2 - 2.4);
            let z = 4.0 + (x * 3.0 + wave as f32).sin() * (y * 2.0).cos() + 0.3 * wave as f32;
            positions.push([x, y, z]);
        }
        for k in 0..SIDE * SIDE {
            let at = first + k / SIDE * (SIDE + 1) + k % SIDE;
            faces.push(vec![at, at + SIDE + 1, at + SIDE + 2, at + 1]);
        }
    }
    let mut mesh = mesh(positions, &faces);
    let count = SIDE * SIDE;
    mesh.draws = vec![0..count, count..2 * count];
    mesh.materials[0].two_sided = true;
    mesh.materials.push(Material {
        effects: ShaderEffects { reads_coverage: true, ..ShaderEffects::default() },
        two_sided: true,
        ..Material::default()
    });
    // A stretch in the middle: quads before it must leave before it, and others come after.
    mesh.face_materials[(count + count / 4) as usize..(count + count / 2) as usize].fill(1);
    mesh
}

/// A picture of an odd size, seen a little askew.
pub(crate) const SIZE: [u32; 2] = [147, 101];

/// A camera for a picture of [`SIZE`].
pub(crate) fn view() -> MeshCamera {
    let lens = Intrinsics::from_vertical_fov(SIZE[0], SIZE[1], FRAC_PI_2);
    let turned = Rotation3::from_euler_angles(0.05, -0.04, 0.2);
    let camera = Camera::new("view", lens, *turned.matrix(), Vector3::zeros()).unwrap();
    MeshCamera::new(camera, 0.05)
}

/// Settings of a picture of [`SIZE`].
pub(crate) fn settings(pattern: &'static SamplePattern, cull: Cull) -> FrameSettings {
    FrameSettings {
        size: SIZE,
        pattern,
        faces: Faces::Material,
        cull,
        memory_bytes: quadrille::mesh::frame::MEMORY_BYTES,
        level: SimdLevel::best(),
    }
}

/// The standard pattern with this number of samples per pixel.
pub(crate) fn pattern(samples: u32) -> &'static SamplePattern {
    Box::leak(Box::new(SamplePattern::standard(samples).unwrap()))
}
