//! A view, a plane that faces it and a material, for the shader's tests.

use nalgebra::{Matrix3, Vector3};

use super::interpolate::TrianglePlanes;
use super::quad::{QuadInputs, TriangleRef};
use super::shader::{ShadeSettings, Shader};
use super::texture::Textures;
use crate::mesh::files::{Material, Texture};
use crate::mesh::camera::MeshCamera;
use crate::mesh::grid::GridVertex;
use crate::scene::{Camera, Intrinsics};

/// Side of the texture of [`noisy`], in texels.
pub(super) const TEXELS: u32 = 256;
/// Distance of the plane: a world unit is a pixel there.
const FAR: f32 = 512.0;

/// 640 x 360 pixels, from the world's origin along z.
pub(super) fn view() -> MeshCamera {
    let lens = Intrinsics {
        width: 640,
        height: 360,
        focal_px: [FAR.into(); 2],
        principal_px: [320.0, 180.0],
    };
    let camera = Camera::new("test", lens, Matrix3::identity(), Vector3::zeros());
    MeshCamera::new(camera.unwrap(), 0.125)
}

/// A vertex that faces [`view`].
pub(super) fn vertex(position: [f32; 3], uv: [f32; 2]) -> GridVertex {
    GridVertex {
        position,
        normal: [0.0, 0.0, -1.0],
        uv,
        id: 0,
    }
}

/// A vertex of the plane, seen at a place in pixels; the texture lies on it without distortion.
pub(super) fn plane_vertex(x_px: f32, y_px: f32, texels_a_px: f32) -> GridVertex {
    let uv = [x_px, y_px].map(|v| v * texels_a_px / TEXELS as f32);
    vertex([x_px - 320.0, y_px - 180.0, FAR], uv)
}

/// Materials and their textures.
pub(super) struct Scene {
    pub(super) materials: Vec<Material>,
    pub(super) textures: Textures,
}

impl Scene {
    pub(super) fn of(material: Material, textures: &[Texture]) -> Self {
        let materials = vec![material];
        Self {
            textures: Textures::new(textures, &materials),
            materials,
        }
    }

    pub(super) fn shader_with(&self, settings: ShadeSettings) -> Shader<'_> {
        Shader::new(&self.materials, &self.textures, &view(), settings)
    }

    pub(super) fn shader(&self) -> Shader<'_> {
        self.shader_with(ShadeSettings::default())
    }
}

/// One material with a texture of noise.
pub(super) fn noisy() -> Scene {
    let material = Material {
        base_colour: [1.0, 0.8, 0.9],
        base_texture: Some(0),
        shininess: 20.0,
        ..Material::default()
    };
    let texel = |k: u32| {
        let [r, g, b, _] = k.wrapping_add(7).wrapping_mul(0x9e37_79b9).to_be_bytes();
        [r, g, b, 255]
    };
    let texture = Texture {
        width: TEXELS,
        height: TEXELS,
        texels: (0..TEXELS * TEXELS).map(texel).collect(),
    };
    Scene::of(material, &[texture])
}

/// The quad whose first pixel is (300, 200), of a triangle, sampled at its centres.
pub(super) fn quad_inputs<'a>(
    vertices: [&'a GridVertex; 3],
    planes: &'a TrianglePlanes,
) -> QuadInputs<'a> {
    QuadInputs {
        cells: [TriangleRef { vertices, planes }; 4],
        points_px: [
            [300.5, 200.5],
            [301.5, 200.5],
            [300.5, 201.5],
            [301.5, 201.5],
        ],
        cell_px: 1,
        wanted: 0b1111,
        material: 0,
        is_front: true,
    }
}

/// A triangle of the plane around that quad.
pub(super) fn plane_triangle(texels_a_px: f32) -> [GridVertex; 3] {
    [[290.25, 190.0], [295.0, 240.5], [330.5, 195.75]].map(|[x, y]| plane_vertex(x, y, texels_a_px))
}

/// That quad of the plane.
pub(super) fn shade_plane(shader: &Shader, texels_a_px: f32) -> [[f32; 3]; 4] {
    let vertices = plane_triangle(texels_a_px);
    let planes = TrianglePlanes::new(vertices.each_ref(), &view()).unwrap();
    shader.quad(&quad_inputs(vertices.each_ref(), &planes))
}
