use super::*;
use crate::mesh::files::Texture;
use crate::mesh::grid::GridVertex;
use crate::mesh::shade::interpolate::TrianglePlanes;
use crate::mesh::shade::quad::QuadInputs;
use crate::mesh::shade::testing::{noisy, plane_triangle, quad_inputs, shade_plane, view};
use crate::mesh::shade::texture::Textures;
use crate::mesh::shade::{Albedo, ShadeSettings};

fn close(a: [f32; 3], b: [f32; 3], limit: f32) -> bool {
    a.iter().zip(b).all(|(a, b)| (a - b).abs() < limit)
}

fn one_texel(texel: [u8; 3]) -> Texture {
    let [r, g, b] = texel;
    Texture {
        width: 1,
        height: 1,
        texels: vec![[r, g, b, 255]],
    }
}

/// The quad of the plane with a normal map of one texel.
fn with_normal_map(texel: Option<[u8; 3]>) -> [[f32; 3]; 4] {
    let materials = [Material {
        normal_texture: texel.map(|_| 0),
        shininess: 30.0,
        ..Material::default()
    }];
    let textures: Vec<Texture> = texel.into_iter().map(one_texel).collect();
    let pyramids = Textures::new(&textures, &materials);
    let shader = Shader::new(&materials, &pyramids, &view(), ShadeSettings::default());
    shade_plane(&shader, 1.0)
}

#[test]
fn flat_normal_map_changes_nothing() {
    let (plain, mapped) = (
        with_normal_map(None),
        with_normal_map(Some([128, 128, 255])),
    );
    for (a, b) in plain.into_iter().zip(mapped) {
        assert!(close(a, b, 1e-4), "{a:?} {b:?}");
    }
}

#[test]
fn tilted_normal_map_turns_the_normal_along_the_texture() {
    let materials = [Material {
        normal_texture: Some(0),
        ..Material::default()
    }];
    let point = SurfacePoints {
        to_eye: [[0.0; 4], [0.0; 4], [-1.0; 4]],
        normal: [[0.0; 4], [0.0; 4], [-1.0; 4]],
        uv: [[0.25; 4]; 2],
        position_slopes: [
            [[2.0; 4], [0.0; 4], [0.0; 4]],
            [[0.0; 4], [2.0; 4], [0.0; 4]],
        ],
        uv_slopes: [[[0.1; 4], [0.0; 4]], [[0.0; 4], [0.1; 4]]],
        is_front: true,
        wanted: 0b1000,
    };
    let turned = |texel: [u8; 3], point: &SurfacePoints| {
        let pyramids = Textures::new(&[one_texel(texel)], &materials);
        let shader = Shader::new(&materials, &pyramids, &view(), ShadeSettings::default());
        shader.normal(&materials[0], point).map(|c| c[3])
    };
    // u to the right, v down: x of the map is right, y up.
    assert!(close(
        turned([255, 128, 128], &point),
        [1.0, 0.0, 0.0],
        1e-5
    ));
    assert!(close(
        turned([128, 255, 128], &point),
        [0.0, -1.0, 0.0],
        1e-5
    ));
    let mirrored = SurfacePoints {
        uv_slopes: [[[-0.1; 4], [0.0; 4]], [[0.0; 4], [0.1; 4]]],
        ..point
    };
    assert!(close(
        turned([255, 128, 128], &mirrored),
        [-1.0, 0.0, 0.0],
        1e-5
    ));
    let without_uv = SurfacePoints {
        uv_slopes: [[[0.0; 4]; 2]; 2],
        ..point
    };
    assert!(close(
        turned([255, 128, 128], &without_uv),
        [0.0, 0.0, -1.0],
        1e-5
    ));
}

#[test]
fn faces_without_normals_and_back_faces() {
    let mut materials = [Material::default()];
    let pyramids = Textures::default();
    let view = view();
    let front = plane_triangle(1.0);
    let flat = front.map(|v| GridVertex {
        normal: [0.0; 3],
        ..v
    });
    let shade = |vertices: &[GridVertex; 3], materials: &[Material], is_front| {
        let shader = Shader::new(materials, &pyramids, &view, ShadeSettings::default());
        let planes = TrianglePlanes::new(vertices.each_ref(), &view).unwrap();
        let inputs = quad_inputs(vertices.each_ref(), &planes);
        shader.quad(&QuadInputs { is_front, ..inputs })[0]
    };
    let lit = shade(&front, &materials, true);
    assert!(close(lit, shade(&flat, &materials, true), 1e-4));
    let dark = shade(&flat, &materials, false);
    assert!(dark[0] < 0.5 * lit[0], "the other side: {dark:?} {lit:?}");
    materials[0].two_sided = true;
    assert!(close(lit, shade(&flat, &materials, false), 1e-4));
    let away = front.map(|v| GridVertex {
        normal: [0.0, 0.0, 1.0],
        ..v
    });
    assert!(close(lit, shade(&away, &materials, false), 1e-4));
}

#[test]
fn checker_shows_up_close_and_is_grey_afar() {
    let materials = [Material::default()];
    let pyramids = Textures::default();
    let settings = ShadeSettings {
        albedo: Albedo::Checker { scale: 2.0 },
    };
    let shader = Shader::new(&materials, &pyramids, &view(), settings);
    let plain = Shader::new(&materials, &pyramids, &view(), ShadeSettings::default());
    let [colour, ..] = shade_plane(&plain, 1.0);
    let shades: Vec<f32> = [0.2, 40_000.0]
        .iter()
        .map(|&scale| shade_plane(&shader, scale)[0][1] / colour[1])
        .collect();
    // Shades 250 and 90 in linear light, and their mean.
    assert!((shades[0] - 0.955_97).abs() < 1e-3, "{shades:?}");
    assert!((shades[1] - 0.529_2).abs() < 2e-3, "{shades:?}");
}

#[test]
fn highlights_and_missing_materials() {
    let (mut materials, _) = noisy();
    materials[0].base_texture = None;
    let pyramids = Textures::default();
    let shade = |materials: &[Material]| {
        let shader = Shader::new(materials, &pyramids, &view(), ShadeSettings::default());
        shade_plane(&shader, 1.0)[0]
    };
    let shiny = shade(&materials);
    materials[0].shininess = 0.0;
    let dull = shade(&materials);
    assert!(
        shiny.iter().zip(dull).all(|(s, d)| *s > d),
        "{shiny:?} {dull:?}"
    );
    assert!(shade(&[]).iter().all(|c| *c > 0.0));
}
