use super::*;
use crate::mesh::files::Texture;
use crate::mesh::grid::GridVertex;
use crate::mesh::shade::interpolate::TrianglePlanes;
use crate::mesh::shade::quad::QuadInputs;
use crate::mesh::shade::testing::{Scene, noisy, plane_triangle, quad_inputs, shade_plane, view};
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
    let material = Material {
        normal_texture: texel.map(|_| 0),
        shininess: 30.0,
        ..Material::default()
    };
    let textures: Vec<Texture> = texel.into_iter().map(one_texel).collect();
    shade_plane(&Scene::of(material, &textures).shader(), 1.0)
}

#[test]
fn flat_normal_map_changes_nothing() {
    let [plain, mapped] = [None, Some([128, 128, 255])].map(with_normal_map);
    for (a, b) in plain.into_iter().zip(mapped) {
        assert!(close(a, b, 1e-4), "{a:?} {b:?}");
    }
}

#[test]
fn tilted_normal_map_turns_the_normal_along_the_texture() {
    let material = Material {
        normal_texture: Some(0),
        ..Material::default()
    };
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
        let scene = Scene::of(material.clone(), &[one_texel(texel)]);
        scene.shader().normal(&material, point).map(|c| c[3])
    };
    let mirrored = SurfacePoints {
        uv_slopes: [[[-0.1; 4], [0.0; 4]], [[0.0; 4], [0.1; 4]]],
        ..point
    };
    let without_uv = SurfacePoints {
        uv_slopes: [[[0.0; 4]; 2]; 2],
        ..point
    };
    let (right, up) = ([255, 128, 128], [128, 255, 128]);
    // u to the right, v down: x of the map is right, y up.
    for (texel, point, normal) in [
        (right, point, [1.0, 0.0, 0.0]),
        (up, point, [0.0, -1.0, 0.0]),
        (right, mirrored, [-1.0, 0.0, 0.0]),
        (right, without_uv, [0.0, 0.0, -1.0]),
    ] {
        assert!(close(turned(texel, &point), normal, 1e-5), "{normal:?}");
    }
}

#[test]
fn faces_without_normals_and_back_faces() {
    let front = plane_triangle(1.0);
    let with_normal = |normal| front.map(|v| GridVertex { normal, ..v });
    let flat = with_normal([0.0; 3]);
    let shade = |vertices: &[GridVertex; 3], two_sided, is_front| {
        let material = Material {
            two_sided,
            ..Material::default()
        };
        let scene = Scene::of(material, &[]);
        let planes = TrianglePlanes::new(vertices.each_ref(), &view()).unwrap();
        let inputs = quad_inputs(vertices.each_ref(), &planes);
        scene.shader().quad(&QuadInputs { is_front, ..inputs })[0]
    };
    let lit = shade(&front, false, true);
    assert!(close(lit, shade(&flat, false, true), 1e-4));
    let dark = shade(&flat, false, false);
    assert!(dark[0] < 0.5 * lit[0], "the other side: {dark:?} {lit:?}");
    assert!(close(lit, shade(&flat, true, false), 1e-4));
    let away = with_normal([0.0, 0.0, 1.0]);
    assert!(close(lit, shade(&away, true, false), 1e-4));
}

#[test]
fn checker_shows_up_close_and_is_grey_afar() {
    let scene = Scene::of(Material::default(), &[]);
    let shader = scene.shader_with(ShadeSettings {
        albedo: Albedo::Checker { scale: 2.0 },
    });
    let [colour, ..] = shade_plane(&scene.shader(), 1.0);
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
    let mut scene = noisy();
    scene.materials[0].base_texture = None;
    let [shiny, ..] = shade_plane(&scene.shader(), 1.0);
    scene.materials[0].shininess = 0.0;
    let [dull, ..] = shade_plane(&scene.shader(), 1.0);
    let is_brighter = shiny.iter().zip(dull).all(|(s, d)| *s > d);
    assert!(is_brighter, "{shiny:?} {dull:?}");
    scene.materials.clear();
    let [missing, ..] = shade_plane(&scene.shader(), 1.0);
    assert!(missing.iter().all(|c| *c > 0.0));
}
