//! Materials and lights, pixel by pixel against the formulas of glTF 2.0 (appendix B) and of
//! `KHR_lights_punctual` in double precision; alpha tests, colours of vertices, samplers.

use std::f64::consts::PI;

use nalgebra::{Matrix3, Vector3};
use quadrille::Task;
use quadrille::deferred::camera::{lens::Lens, motion::SceneMotion, shutter::ShutterView};
use quadrille::deferred::draw::{DeferredDrawSettings, draw_with_shader};
use quadrille::geometry::camera::MeshCamera;
use quadrille::geometry::files::{
    Corner, LightKind, Material, Mesh, Microfacets, NONE, PunctualLight, Sampler, SpotCone,
    Texture, TextureFilter, UvMap, Wrap,
};
use quadrille::geometry::triangles::{Adjacency, Triangles};
use quadrille::mesh::frame::{Cull, FrameSettings, VisibleFrame};
use quadrille::mesh::merge::{MergeUnitKind, PmuSettings, QfmSettings};
use quadrille::mesh::result::MeshResult;
use quadrille::mesh::shade::{Lighting, MipChain, ShadeSettings, Shader, TextureRole, Textures};
use quadrille::mesh_pipeline::{self, MeshConfig};
use quadrille::{Camera, Frame, Intrinsics, MeshDrawSettings, draw_mesh};

use crate::support::{self, mesh::pattern};

const SIZE: u32 = 32;
/// Distance of the square, in world units, and focal length in pixels.
const FAR: f64 = 4.0;
const FOCAL_PX: f64 = 32.0;

/// A camera at the origin that looks along z, with y down.
fn camera() -> Camera {
    let lens =
        Intrinsics { width: SIZE, height: SIZE, focal_px: [FOCAL_PX; 2], principal_px: [16.0; 2] };
    Camera::new("test", lens, Matrix3::identity(), Vector3::zeros()).unwrap()
}

/// The place that the centre of a pixel shows.
fn place([x, y]: [u32; 2]) -> Vector3<f64> {
    let along = |v: u32| (f64::from(v) + 0.5 - 16.0) / FOCAL_PX * FAR;
    Vector3::new(along(x), along(y), FAR)
}

/// A square of one material across the view, which faces the camera, with texture coordinates from 0 at
/// the top left to 1.
fn square(material: Material, textures: Vec<Texture>) -> Mesh {
    let (near, far) = (-2.0, 2.0);
    let corner = |at: u32| Corner { position: at, uv: at, normal: NONE, colour: NONE };
    let z = FAR as f32;
    Mesh {
        positions: vec![[near, near, z], [far, near, z], [far, far, z], [near, far, z]],
        uvs: vec![[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]],
        corners: [0, 3, 2, 1].map(corner).to_vec(),
        face_starts: vec![0, 4],
        face_materials: vec![0],
        draws: std::iter::once(0..1).collect(),
        materials: vec![material],
        textures,
        ..Mesh::default()
    }
}

fn rough(metalness: f32, roughness: f32) -> Material {
    Material {
        base_colour: [0.9, 0.5, 0.2],
        microfacets: Some(Microfacets::Metallic { metalness, roughness, texture: None }),
        ..Material::default()
    }
}

fn texel(texel: [u8; 4]) -> Texture {
    Texture { width: 1, height: 1, texels: vec![texel], ..Texture::default() }
}

fn draw(mesh: &Mesh, settings: &MeshDrawSettings) -> (Frame, MeshResult) {
    draw_mesh(mesh, &camera(), settings).unwrap()
}

fn picture(mesh: &Mesh) -> Frame {
    draw(mesh, &MeshDrawSettings::default()).0
}

/// The picture with the colours of vertices, as Reyes shades them.
fn reyes_picture(mesh: &Mesh) -> Frame {
    let source = Triangles::new(mesh, Adjacency::Vertex, &Task::NEVER).unwrap();
    let view = MeshCamera::new(camera(), 0.1);
    let settings =
        FrameSettings { size: [SIZE; 2], ..support::mesh::settings(pattern(1), Cull::Quads) };
    let visible = VisibleFrame::new(&source, [&view, &view], &settings, &Task::NEVER).unwrap();
    let textures = Textures::new(&mesh.textures, &mesh.materials);
    let shader = Shader::new(&mesh.materials, &textures, &view, ShadeSettings::default());
    visible.reyes_picture(&shader.lit_by(&mesh.lights), None)
}

/// The picture by sort-based deferred shading.
fn deferred_picture(mesh: &Mesh) -> Frame {
    let source = Triangles::new(mesh, Adjacency::Vertex, &Task::NEVER).unwrap();
    let view = ShutterView::new(&camera(), 0.1, Lens::PINHOLE, SceneMotion::NONE).unwrap();
    let textures = Textures::new(&mesh.textures, &mesh.materials);
    let shader = Shader::new(&mesh.materials, &textures, view.middle(), ShadeSettings::default());
    let shader = shader.lit_by(&mesh.lights);
    let frame =
        draw_with_shader(&source, &view, &shader, &DeferredDrawSettings::default()).unwrap();
    frame.pipelines[0].picture.clone().unwrap()
}

fn pixel(frame: &Frame, [x, y]: [u32; 2]) -> [f64; 3] {
    let [r, g, b, _] = frame.pixels()[(y * SIZE + x) as usize];
    [r, g, b].map(f64::from)
}

/// The specification's reflection of a surface with normal -z, without the cosine of the light.
fn brdf(base: [f64; 3], [metal, rough]: [f64; 2], directions: [Vector3<f64>; 2]) -> [f64; 3] {
    let f0 = base.map(|base| 0.04 + metal * (base - 0.04));
    reflection(base.map(|base| base * (1.0 - metal)), f0, rough, directions)
}

/// The same of a surface of a diffuse colour and the reflectance `f0` along the normal.
fn reflection(
    diffuse: [f64; 3],
    f0: [f64; 3],
    rough: f64,
    [view, light]: [Vector3<f64>; 2],
) -> [f64; 3] {
    let normal = -Vector3::z();
    let half = (view + light).normalize();
    let square = (rough * rough).powi(2);
    let (n_l, n_v, n_h, v_h) =
        (normal.dot(&light), normal.dot(&view), normal.dot(&half), view.dot(&half));
    let g = |x: f64| 1.0 / (x.abs() + (square + (1.0 - square) * x * x).sqrt());
    let d = square / (PI * (n_h * n_h * (square - 1.0) + 1.0).powi(2));
    [0, 1, 2].map(|c| {
        let fresnel = f0[c] + (1.0 - f0[c]) * (1.0 - v_h.abs()).powi(5);
        (1.0 - fresnel) * diffuse[c] / PI + fresnel * d * g(n_l) * g(n_v)
    })
}

fn close(found: [f64; 3], expected: [f64; 3], what: &str) {
    for (found, expected) in found.iter().zip(expected) {
        let off = (found - expected).abs();
        assert!(off < 2e-4 * expected.max(1.0), "{what}: {found} for {expected}");
    }
}

/// The picture of a square under a directional light of intensity 2, 3 and 4.
fn under_the_sun(material: Material, textures: Vec<Texture>, direction: Vector3<f64>) -> Frame {
    let mut mesh = square(material, textures);
    mesh.lights.push(PunctualLight {
        name: String::new(),
        kind: LightKind::Directional { direction: direction.into() },
        intensity: [2.0, 3.0, 4.0],
    });
    picture(&mesh)
}

/// A map of a texture, and a second set of coordinates, are as good as coordinates that are mapped: its texels, their mip level and the frame of its normals.
#[test]
fn textures_have_maps_of_their_own() {
    let turned = UvMap([[0.0, 12.3, 0.25], [-8.7, 0.0, 0.5]]);
    let sampler = Sampler { magnify: TextureFilter::Nearest, ..Sampler::default() };
    let drawn = |map: UvMap, place: UvMap, has_second_uvs: bool| {
        let texels = (0..64_u8).map(|at| [4 * at, 255 - 4 * at, 4 * (at % 8) + 90, 255]);
        let of = Texture { sampler, uv_map: map, has_second_uvs, ..Texture::default() };
        let colour = Texture { width: 8, height: 8, texels: texels.collect(), ..of.clone() };
        let tilted = Texture { texels: vec![[230, 150, 200, 255]], width: 1, height: 1, ..of };
        let material =
            Material { base_texture: Some(0), normal_texture: Some(1), ..rough(0.0, 0.5) };
        let mut mesh = square(material, vec![colour, tilted]);
        let placed = mesh.uvs.iter().map(|uv| place.point(*uv)).collect();
        match has_second_uvs {
            true => mesh.second_uvs = placed,
            false => mesh.uvs = placed,
        }
        mesh.lights.push(PunctualLight {
            name: String::new(),
            kind: LightKind::Directional { direction: [0.5, 0.3, 0.8] },
            intensity: [20.0; 3],
        });
        [picture(&mesh), reyes_picture(&mesh), deferred_picture(&mesh)]
    };
    let largest = |a: &Frame, b: &Frame| {
        let values = a.pixels().as_flattened().iter().zip(b.pixels().as_flattened());
        values.map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
    };
    let mapped = drawn(turned, UvMap::IDENTITY, false);
    let unmapped = drawn(UvMap::IDENTITY, UvMap::IDENTITY, false);
    for pipeline in [0, 1, 2] {
        for of_second_set in [false, true] {
            let placed = drawn(UvMap::IDENTITY, turned, of_second_set);
            let apart = largest(&mapped[pipeline], &placed[pipeline]);
            assert!(apart < 1e-3, "{apart}");
        }
        assert!(largest(&mapped[pipeline], &unmapped[pipeline]) > 0.1);
    }
}

/// Specular red 188 in sRGB is 0.503 of the factor, alpha 204 four fifths of the glossiness.
#[test]
fn specular_colours_and_glossiness() {
    let direction = Vector3::new(0.3, 0.5, 0.9).normalize();
    let material = |texture| Material {
        microfacets: Some(Microfacets::Specular {
            colour: [0.8, 0.25, 0.1],
            glossiness: 0.75,
            texture,
        }),
        ..rough(0.0, 0.0)
    };
    let plain = under_the_sun(material(None), Vec::new(), direction);
    let texels = vec![texel([188, 0, 255, 204])];
    let textured = under_the_sun(material(Some(0)), texels, direction);
    let base = [0.9, 0.5, 0.2].map(|v: f32| f64::from(v));
    let red = ((188.0 / 255.0 + 0.055) / 1.055_f64).powf(2.4);
    for (frame, f0, glossiness) in
        [(plain, [0.8, 0.25, 0.1], 0.75), (textured, [0.8 * red, 0.0, 0.1], 0.6)]
    {
        let diffuse = base.map(|base| base * (1.0 - f0[0]));
        for at in [[3, 5], [16, 16], [28, 9]] {
            let view = -place(at).normalize();
            let f = reflection(diffuse, f0, 1.0 - glossiness, [view, -direction]);
            let expected = [0, 1, 2].map(|c| [2.0, 3.0, 4.0][c] * f[c] * direction.z);
            close(pixel(&frame, at), expected, &format!("{f0:?} {at:?}"));
        }
    }
}

#[test]
fn microfacets_under_a_directional_light() {
    let direction = Vector3::new(0.3, 0.5, 0.9).normalize();
    for (metal, roughness) in [(0.0, 0.5), (1.0, 0.3), (0.4, 0.8), (1.0, 1.0)] {
        let frame = under_the_sun(rough(metal, roughness), Vec::new(), direction);
        for at in [[3, 5], [16, 16], [28, 9]] {
            let view = -place(at).normalize();
            let factors = [metal, roughness].map(f64::from);
            let base = [0.9, 0.5, 0.2].map(|v: f32| f64::from(v));
            let f = brdf(base, factors, [view, -direction]);
            let cosine = direction.z;
            let expected = [2.0 * f[0] * cosine, 3.0 * f[1] * cosine, 4.0 * f[2] * cosine];
            close(pixel(&frame, at), expected, &format!("{metal} {roughness} {at:?}"));
        }
    }
}

#[test]
fn points_and_spots_fall_off_with_distance_and_angle() {
    let (position, range) = (Vector3::new(0.5, -0.25, 2.0), 4.0);
    let axis = Vector3::new(0.0, 0.2, 1.0).normalize();
    let angles: [f64; 2] = [0.1, 0.5];
    let cone = SpotCone { axis: axis.into(), angles };
    for spot in [None, Some(cone)] {
        let mut mesh = square(rough(0.0, 0.7), Vec::new());
        mesh.lights.push(PunctualLight {
            name: "lamp".to_owned(),
            kind: LightKind::Point { position: position.into(), range: Some(range), spot },
            intensity: [30.0; 3],
        });
        let frame = picture(&mesh);
        let mut levels = Vec::new();
        for at in [[18, 16], [20, 19], [24, 12], [2, 30]] {
            let way = position - place(at);
            let (distance, towards) = (way.norm(), way.normalize());
            let window = (1.0 - (distance / range).powi(4)).clamp(0.0, 1.0);
            let mut illuminance = 30.0 * window / (distance * distance);
            if spot.is_some() {
                let [inner, outer] = angles.map(f64::cos);
                let share = ((-towards.dot(&axis) - outer) / (inner - outer)).clamp(0.0, 1.0);
                illuminance *= share * share;
            }
            let base = [0.9, 0.5, 0.2].map(|v: f32| f64::from(v));
            let factors = [0.0, f64::from(0.7_f32)];
            let f = brdf(base, factors, [-place(at).normalize(), towards]);
            let cosine = -towards.z;
            close(
                pixel(&frame, at),
                f.map(|f| f * illuminance * cosine),
                &format!("{spot:?} {at:?}"),
            );
            levels.push(illuminance);
        }
        assert!(levels[0] > 0.0);
        assert_eq!(levels[3] == 0.0, spot.is_some(), "{levels:?}");
    }
}

#[test]
fn a_cone_of_no_width_and_a_light_on_the_surface_give_finite_pictures() {
    let mut mesh = square(rough(0.0, 0.0), Vec::new());
    for (position, angles) in [([0.0, 0.0, 1.0], [0.0; 2]), ([0.0, 0.0, FAR], [0.0, 0.3])] {
        mesh.lights.push(PunctualLight {
            name: String::new(),
            kind: LightKind::Point {
                position,
                range: None,
                spot: Some(SpotCone { axis: [0.0, 0.0, 1.0], angles }),
            },
            intensity: [f32::MAX; 3],
        });
    }
    let pixels = picture(&mesh);
    assert!(pixels.pixels().iter().flatten().all(|v| !v.is_nan()));
}

#[test]
fn textures_scale_roughness_metalness_and_occlusion() {
    // Roughness 128/255 of 1 and metalness 51/255 of 1, against factors without a texture.
    let textured = Material {
        microfacets: Some(Microfacets::Metallic {
            metalness: 1.0,
            roughness: 1.0,
            texture: Some(0),
        }),
        ..rough(1.0, 1.0)
    };
    let with = picture(&square(textured, vec![texel([0, 128, 51, 255])]));
    let without = picture(&square(rough(0.2, 128.0 / 255.0), Vec::new()));
    for at in [[3, 5], [16, 16]] {
        close(pixel(&with, at), pixel(&without, at), "texture");
    }
    // Occlusion takes its share of the ambient light alone, which is 0.06 in red.
    let occluded = |share: u8, strength: f32, material: Material| {
        let material =
            Material { occlusion_texture: Some(0), occlusion_strength: strength, ..material };
        pixel(&picture(&square(material, vec![texel([share, 0, 0, 255])])), [16, 16])
    };
    let matt = Material { base_colour: [0.5; 3], ..Material::default() };
    let [open, _, _] = occluded(255, 1.0, matt.clone());
    let [dark, _, _] = occluded(0, 1.0, matt.clone());
    let [half, _, _] = occluded(0, 0.5, matt);
    assert!((open - dark - 0.03).abs() < 1e-6, "{open} {dark}");
    assert!((open - half - 0.015).abs() < 1e-6, "{open} {half}");
    // Of a dielectric, ambient light is also mirrored: Karis's fit, straight from the front.
    let dielectric = rough(0.0, 0.5);
    let [open, _, _] = occluded(255, 1.0, dielectric.clone());
    let [dark, _, _] = occluded(0, 1.0, dielectric);
    let view = -place([16, 16]).normalize();
    let (x, y, z, w) = (0.5, 0.0425 - 0.01375, 1.04 - 0.286, 0.011 - 0.04);
    let fall = f64::powi(x, 2).min((-9.28 * -view.z).exp2()) * x + y;
    let mirrored = 0.04 * (z - 1.04 * fall) + (w + 1.04 * fall);
    let expected = 0.06 * (f64::from(0.9_f32) + mirrored);
    assert!((open - dark - expected).abs() < 1e-5, "{} for {expected}", open - dark);
}

#[test]
fn unlit_surfaces_and_exposure() {
    let unlit = Material { is_unlit: true, emission: [0.0, 0.25, 0.0], ..rough(1.0, 0.5) };
    let mesh = square(unlit, Vec::new());
    let mut settings = MeshDrawSettings::default();
    let colour = [0.9, 0.5, 0.2].map(|v: f32| f64::from(v));
    let expected = [colour[0], colour[1] + 0.25, colour[2]];
    close(pixel(&draw(&mesh, &settings).0, [7, 7]), expected, "unlit");
    settings.shade.exposure_stops = -2.0;
    let darker = expected.map(|v| v / 4.0);
    close(pixel(&draw(&mesh, &settings).0, [7, 7]), darker, "two stops less");
}

#[test]
fn a_sky_lights_from_above_and_the_ground_from_below() {
    let matt = Material { base_colour: [1.0; 3], ..Material::default() };
    let red = |up: [f32; 3]| {
        let mut settings = MeshDrawSettings::default();
        settings.shade.lighting = Lighting::Sky { up };
        pixel(&draw(&square(matt.clone(), Vec::new()), &settings).0, [16, 16])[0]
    };
    // The square's normal is -z: the zenith, the nadir, and the horizon. The sun, 0.75 in red, stands
    // with a sine of 0.7 above the horizon, to one side of the front.
    let sun = 0.75;
    assert!((red([0.0, 0.0, -1.0]) - (0.30 + sun * 0.7)).abs() < 1e-5);
    assert!((red([0.0, 0.0, 1.0]) - 0.12).abs() < 1e-5);
    // With +y up the front is +z, from where the sun shines: none reaches the normal -z.
    assert!((red([0.0, 1.0, 0.0]) - 0.21).abs() < 1e-5);
}

#[test]
fn colours_of_vertices_multiply_and_part_vertices() {
    let mut mesh = square(
        Material { is_unlit: true, base_colour: [1.0, 0.5, 1.0], ..Material::default() },
        Vec::new(),
    );
    mesh.colours = vec![[0.0, 0.0, 0.5, 1.0], [1.0, 0.0, 0.5, 1.0]];
    // Red rises from the left to the right.
    for corner in &mut mesh.corners {
        corner.colour = u32::from(mesh.positions[corner.position as usize][0] > 0.0);
    }
    let frame = picture(&mesh);
    for at in [[4, 9], [16, 3], [29, 30]] {
        let red = (place(at).x + 2.0) / 4.0;
        close(pixel(&frame, at), [red, 0.0, 0.5], "colours");
    }
    // A corner without a colour is white; Reyes has the same colours.
    mesh.corners.iter_mut().for_each(|corner| corner.colour = NONE);
    close(pixel(&picture(&mesh), [5, 5]), [1.0, 0.5, 1.0], "white");
}

/// A square whose texture is opaque in its left half alone.
fn card() -> Mesh {
    let mut texels = vec![[255; 4]; 16];
    for (k, texel) in texels.iter_mut().enumerate() {
        texel[3] = if k % 4 < 2 { 255 } else { 0 };
    }
    let texture = Texture {
        width: 4,
        height: 4,
        texels,
        sampler: Sampler { magnify: TextureFilter::Nearest, ..Sampler::default() },
        ..Texture::default()
    };
    let mut material = Material {
        base_texture: Some(0),
        alpha_cutoff: Some(0.5),
        is_unlit: true,
        ..Material::default()
    };
    material.effects.discards = true;
    square(material, vec![texture])
}

#[test]
fn alpha_tests_cut_holes_through_which_the_rest_is_seen() {
    let card = card();
    let (frame, counts) = draw(&card, &MeshDrawSettings::default());
    for (x, shown) in [(3, true), (15, true), (16, false), (29, false)] {
        let [red, _, _] = pixel(&frame, [x, 11]);
        assert_eq!(red > 0.0, shown, "column {x}");
    }
    assert_eq!(counts.pixels_covered, u64::from(SIZE * SIZE / 2));
    // The shader decides, so every quad is shaded.
    let mut solid = card.clone();
    solid.materials[0].alpha_cutoff = None;
    let (_, all) = draw(&solid, &MeshDrawSettings::default());
    assert_eq!(counts.fragments_shaded(), all.fragments_shaded());
    // Behind the card, a second square of another colour: drawn after it, it shows in the hole alone.
    let mut scene = card.clone();
    for at in 0..4 {
        let [x, y, z] = scene.positions[at];
        scene.positions.push([x * 2.0, y * 2.0, z * 2.0]);
    }
    for at in 0..4 {
        let corner = scene.corners[at];
        scene.corners.push(Corner { position: corner.position + 4, ..corner });
    }
    scene.face_starts.push(8);
    scene.face_materials.push(1);
    scene.draws.push(1..2);
    scene.materials.push(Material {
        base_colour: [0.0, 1.0, 0.0],
        is_unlit: true,
        ..Material::default()
    });
    let (frame, _) = draw(&scene, &MeshDrawSettings::default());
    close(pixel(&frame, [20, 11]), [0.0, 1.0, 0.0], "behind the hole");
    assert!(pixel(&frame, [4, 11])[0] > 0.5);
    // The alpha of vertices counts as well.
    let mut faded = card;
    faded.colours = vec![[1.0, 1.0, 1.0, 0.4]];
    faded.corners.iter_mut().for_each(|corner| corner.colour = 0);
    let (_, counts) = draw(&faded, &MeshDrawSettings::default());
    assert_eq!(counts.pixels_covered, 0);
}

#[test]
fn alpha_tests_in_cycles_show_and_count_the_same() {
    let scene = card();
    let units = [
        MergeUnitKind::None,
        MergeUnitKind::Qfm(QfmSettings::default()),
        MergeUnitKind::Pmu(PmuSettings::default()),
    ];
    let source = Triangles::new(scene, Adjacency::Vertex, &quadrille::Task::NEVER).unwrap();
    let view = MeshCamera::new(camera(), 0.125);
    let settings =
        FrameSettings { size: [SIZE; 2], ..support::mesh::settings(pattern(4), Cull::Quads) };
    let visible =
        VisibleFrame::new(&source, [&view, &view], &settings, &quadrille::Task::NEVER).unwrap();
    for unit in units {
        let shading = visible.merged(&source, unit);
        let config = MeshConfig::default();
        let timed =
            mesh_pipeline::run(&source, &view, &settings, &config, unit, &Task::NEVER).unwrap();
        assert_eq!(timed.counters, shading.counters, "{unit:?}");
        let owned = visible.bins.iter().flat_map(|bin| &bin.samples);
        let shown = owned.filter(|owner| **owner != u32::MAX).count() as u64;
        assert_eq!(timed.colour.samples, shown, "{unit:?}");
    }
}

#[test]
fn samplers_wrap_and_filter() {
    let chain = |sampler: Sampler| {
        let grey = |v: u8| [v, v, v, 255];
        let texture = Texture {
            width: 4,
            height: 1,
            texels: [0, 51, 153, 255].map(grey).to_vec(),
            sampler,
            ..Texture::default()
        };
        MipChain::new(&texture, TextureRole::Raw).unwrap()
    };
    let red = |chain: &MipChain, u: f32, level: f32| chain.sample([u, 0.5], level)[0];
    let with = |wrap, filter| {
        chain(Sampler {
            wrap: [wrap; 2],
            magnify: filter,
            minify: filter,
            levels: Some(TextureFilter::Nearest),
        })
    };
    let nearest = TextureFilter::Nearest;
    for (wrap, expected) in [
        // At -0.9, -0.1, 0.1, 1.1 and 1.9.
        (Wrap::Repeat, [0.0, 1.0, 0.0, 0.0, 1.0]),
        (Wrap::Mirror, [1.0, 0.0, 0.0, 1.0, 0.0]),
        (Wrap::Clamp, [0.0, 0.0, 0.0, 1.0, 1.0]),
    ] {
        let texture = with(wrap, nearest);
        let found = [-0.9, -0.1, 0.1, 1.1, 1.9].map(|u| red(&texture, u, 0.0));
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-4, "{wrap:?}: {found} for {expected}");
        }
    }
    // Between the edges: half of both when repeated, the edge alone otherwise.
    let linear = TextureFilter::Linear;
    for (wrap, expected) in [(Wrap::Repeat, 0.5), (Wrap::Mirror, 0.0), (Wrap::Clamp, 0.0)] {
        let found = red(&with(wrap, linear), 0.0, 0.0);
        assert!((found - expected).abs() < 1e-4, "{wrap:?}: {found}");
    }
    let middle = red(&with(Wrap::Clamp, linear), 0.5, 0.0);
    assert!((middle - 0.4).abs() < 1e-4, "{middle}");
    // The levels are means of two and of four texels; 0.6 rounds to the first of them.
    let texture = with(Wrap::Clamp, nearest);
    for (level, expected) in [(0.4, 0.0), (0.6, 0.1), (9.0, 0.45)] {
        let found = red(&texture, 0.1, level);
        assert!((found - expected).abs() < 1e-4, "level {level}: {found}");
    }
    // A sampler that repeats along u and clamps along v filters along u as the default does.
    let plain = chain(Sampler::default());
    let said = chain(Sampler { wrap: [Wrap::Repeat, Wrap::Clamp], ..Sampler::default() });
    for u in [-1.3, 0.0, 0.13, 0.77, 2.4] {
        for level in [0.0, 0.3, 1.7] {
            let off = (red(&plain, u, level) - red(&said, u, level)).abs();
            assert!(off < 1e-5, "{u} {level}: {off}");
        }
    }
    for bad in [f32::NAN, f32::INFINITY, -1e30] {
        for wrap in [Wrap::Repeat, Wrap::Mirror, Wrap::Clamp] {
            assert!(red(&with(wrap, linear), bad, bad).is_finite());
        }
    }
}
