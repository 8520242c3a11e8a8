//! Shading: interpolation against rays, derivatives, textures, light.
use nalgebra::{Matrix3, Vector3};
use quadrille::Camera;
use quadrille::Intrinsics;
use quadrille::geometry::camera::MeshCamera;
use quadrille::geometry::files::Material;
use quadrille::geometry::files::Texture;
use quadrille::geometry::grid::{CornerExtras, GridVertex, VertexExtras};
use quadrille::mesh::shade::Albedo;
use quadrille::mesh::shade::Barycentrics;
use quadrille::mesh::shade::MipChain;
use quadrille::mesh::shade::QuadInputs;
use quadrille::mesh::shade::Sampling;
use quadrille::mesh::shade::ShadeSettings;
use quadrille::mesh::shade::Shader;
use quadrille::mesh::shade::TextureRole;
use quadrille::mesh::shade::Textures;
use quadrille::mesh::shade::TrianglePlanes;
use quadrille::mesh::shade::TriangleRef;
use quadrille::mesh::shade::VertexStep;
use quadrille::mesh::shade::sampling_point;
use quadrille::raster::samples::SamplePattern;

/// Side of the texture of [`noisy`], in texels.
const TEXELS: u32 = 256;
/// Distance of the plane: a world unit is a pixel there.
const FAR: f32 = 512.0;

/// 640 x 360 pixels, from the world's origin along z.
fn view() -> MeshCamera {
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
fn vertex(position: [f32; 3], uv: [f32; 2]) -> GridVertex {
    GridVertex { position, normal: [0.0, 0.0, -1.0], uv }
}

/// A vertex of the plane at a position on the picture, in pixels; the texture lies on it without distortion.
fn plane_vertex(x_px: f32, y_px: f32, texels_a_px: f32) -> GridVertex {
    let uv = [x_px, y_px].map(|v| v * texels_a_px / TEXELS as f32);
    vertex([x_px - 320.0, y_px - 180.0, FAR], uv)
}

/// Colours of the shading pixels of a quad, without their opacities.
fn quad(shader: &Shader<'_>, inputs: &QuadInputs) -> [[f32; 3]; 4] {
    shader.quad(inputs).map(|[r, g, b, _]| [r, g, b])
}

/// Materials and their textures.
struct Scene {
    materials: Vec<Material>,
    textures: Textures,
}

impl Scene {
    fn of(material: Material, textures: &[Texture]) -> Self {
        let materials = vec![material];
        Self { textures: Textures::new(textures, &materials), materials }
    }

    fn shader_with(&self, settings: ShadeSettings) -> Shader<'_> {
        Shader::new(&self.materials, &self.textures, &view(), settings)
    }

    fn shader(&self) -> Shader<'_> {
        self.shader_with(ShadeSettings::default())
    }
}

/// One material with a texture of noise.
fn noisy() -> Scene {
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
        ..Texture::default()
    };
    Scene::of(material, &[texture])
}

/// The quad whose first pixel is (300, 200), of a triangle, sampled at its centres.
fn quad_inputs<'a>(vertices: [&'a GridVertex; 3], planes: &'a TrianglePlanes) -> QuadInputs<'a> {
    QuadInputs {
        triangles: [TriangleRef { vertices, planes, extras: CornerExtras::default() }; 4],
        points_px: [[300.5, 200.5], [301.5, 200.5], [300.5, 201.5], [301.5, 201.5]],
        side_px: 1,
        wanted: 0b1111,
        material: 0,
        is_front: true,
    }
}

/// A triangle of the plane around that quad.
fn plane_triangle(texels_a_px: f32) -> [GridVertex; 3] {
    [[290.25, 190.0], [295.0, 240.5], [330.5, 195.75]].map(|[x, y]| plane_vertex(x, y, texels_a_px))
}

/// That quad of the plane.
fn shade_plane(shader: &Shader, texels_a_px: f32) -> [[f32; 3]; 4] {
    let vertices = plane_triangle(texels_a_px);
    let planes = TrianglePlanes::new(vertices.each_ref(), &view()).unwrap();
    quad(shader, &quad_inputs(vertices.each_ref(), &planes))
}

/// Barycentrics and z of the point where the ray through a pixel meets the triangle's plane.
fn traced(view: &MeshCamera, corners: [[f32; 3]; 3], x: f64, y: f64) -> ([f64; 3], f64) {
    let camera = &view.camera;
    let ray = Vector3::new(
        (x - camera.principal_px[0]) / camera.focal_px[0],
        (y - camera.principal_px[1]) / camera.focal_px[1],
        1.0,
    );
    let ray = camera.view_from_world.transpose() * ray;
    let eye = camera.eye();
    let [a, b, c] = corners.map(|p| Vector3::from(p.map(f64::from)));
    // eye + z ray = a + u (b - a) + v (c - a)
    let columns = Matrix3::from_columns(&[b - a, c - a, -ray]);
    let solved = columns.lu().solve(&(eye - a)).unwrap();
    ([1.0 - solved.x - solved.y, solved.x, solved.y], solved.z)
}

fn assert_as_traced(corners: [[f32; 3]; 3], x: f64, y: f64) {
    let view = view();
    let vertices = corners.map(|p| vertex(p, [0.0; 2]));
    let planes = TrianglePlanes::new(vertices.each_ref(), &view).unwrap();
    let (weights, z) = traced(&view, corners, x, y);
    let found = planes.at(x, y);
    let size = weights.iter().fold(1.0, |m: f64, w| m.max(w.abs()));
    for k in 0..3 {
        let off = (found.weights[k] - weights[k]).abs() / size;
        assert!(off < 1e-5, "{found:?} against {weights:?}");
    }
    assert!((found.inverse_z * z - 1.0).abs() < 1e-5, "{found:?}, z {z}");
}

#[test]
fn as_rays_see_it() {
    let large = [[-2.0, -1.5, 3.0], [2.5, -1.0, 9.0], [0.0, 2.0, 5.0]];
    for (x, y) in [(320.0, 180.0), (300.5, 200.5), (0.5, 0.5), (639.5, 10.5)] {
        assert_as_traced(large, x, y);
    }
    // About half a pixel, at centres around it.
    let small = [[1.0, 0.5, 4.0], [1.008, 0.502, 4.001], [1.001, 0.507, 4.003]];
    let at = view().position_px(small[0]);
    for (dx, dy) in [(-1.0, 0.5), (0.0, 0.0), (0.5, 0.5), (1.5, -1.0)] {
        assert_as_traced(small, at[0] + dx, at[1] + dy);
    }
}

#[test]
fn corners_behind_the_eye() {
    let ground = [[0.0, 1.0, 20.0], [6.0, 1.0, -10.0], [-6.0, 1.0, -10.0]];
    for (x, y) in [(320.0, 220.0), (320.0, 359.5), (250.5, 300.5), (600.5, 200.5)] {
        assert_as_traced(ground, x, y);
    }
}

#[test]
fn no_area() {
    let view = view();
    let planes = |corners: [[f32; 3]; 3]| {
        TrianglePlanes::new(corners.map(|p| vertex(p, [0.0; 2])).each_ref(), &view)
    };
    assert!(planes([[0.0, 0.0, 2.0], [1.0, 0.0, 2.0], [2.0, 0.0, 2.0]]).is_none());
    assert!(planes([[0.0, 0.0, 2.0]; 3]).is_none());
    // Edge on: the plane holds the eye.
    assert!(planes([[0.0, 0.0, 2.0], [1.0, 0.0, 4.0], [2.0, 0.0, 7.0]]).is_none());
    assert!(planes([[0.0, 0.0, -2.0], [1.0, 0.0, -2.0], [0.0, 1.0, -2.0]]).is_none());
    assert!(planes([[f32::NAN, 0.0, 2.0], [1.0, 0.0, 2.0], [0.0, 1.0, 2.0]]).is_none());
}

#[test]
fn attributes_mix_by_weight() {
    let at = Barycentrics { weights: [0.5, 0.75, -0.25], inverse_z: 1.0 };
    assert_eq!(at.mix([[2.0, 8.0], [4.0, 8.0], [0.0, 8.0]]), [4.0, 8.0]);
}

#[test]
fn coarse_pixels_are_filtered_twice_as_wide() {
    let scene = noisy();
    let vertices = plane_triangle(2.0);
    let planes = TrianglePlanes::new(vertices.each_ref(), &view()).unwrap();
    let coarse = QuadInputs {
        points_px: [[301.0, 201.0], [303.0, 201.0], [301.0, 203.0], [303.0, 203.0]],
        side_px: 2,
        ..quad_inputs(vertices.each_ref(), &planes)
    };
    let shader = scene.shader();
    let expected =
        scene.textures.get(0).unwrap().sample([602.0 / TEXELS as f32, 402.0 / TEXELS as f32], 2.0);
    // Base colour and light equal the result at the same position with a white texture.
    let shade = |base_texture| {
        let mut scene = noisy();
        scene.materials[0].shininess = 0.0;
        scene.materials[0].base_texture = base_texture;
        quad(&scene.shader(), &coarse)[0]
    };
    let (lit, textured) = (shade(None), shade(Some(0)));
    for c in 0..3 {
        let off = (textured[c] - lit[c] * expected[c]).abs();
        assert!(off < 1e-3, "{textured:?}");
    }
    assert!(quad(&shader, &coarse)[0][0] >= textured[0]);
}

#[test]
fn sampling_points_of_shading_pixels() {
    let four = SamplePattern::standard(4).unwrap();
    let point = |pixel, samples, centre| {
        sampling_point([3, 5], pixel, &four, Sampling::Centroid, samples, centre)
    };
    assert_eq!(point(0, 0b0001, false), [6.375, 10.125]);
    assert_eq!(point(3, 0b1000, false), [7.625, 11.875]);
    assert_eq!(point(1, 0b1000, true), [7.5, 10.5], "centre covered");
    assert_eq!(point(2, 0b1111, false), [6.5, 11.5], "full");
    assert_eq!(point(2, 0, false), [6.5, 11.5], "nothing covered");
    let centre = sampling_point([3, 5], 0, &four, Sampling::Centre, 1, false);
    assert_eq!(centre, [6.5, 10.5]);
    let coarse = SamplePattern::coarse(1).unwrap();
    let point = |samples| sampling_point([1, 1], 3, &coarse, Sampling::Centroid, samples, false);
    assert_eq!(point(0b0100), [6.5, 7.5]);
    assert_eq!(point(0), [7.0, 7.0]);
}

#[test]
fn merged_triangles_of_a_plane_are_as_one() {
    let scene = noisy();
    let shader = scene.shader();
    let whole = shade_plane(&shader, 3.0);
    let [a, b, c] = plane_triangle(3.0);
    let uv = [0, 1].map(|k| (a.uv[k] + b.uv[k]) / 2.0);
    let middle = vertex([0, 1, 2].map(|k| (a.position[k] + b.position[k]) / 2.0), uv);
    let halves = [[&a, &middle, &c], [&middle, &b, &c]];
    let planes = halves.map(|v| TrianglePlanes::new(v, &view()).unwrap());
    let pixel = |k: usize| TriangleRef {
        vertices: halves[k],
        planes: &planes[k],
        extras: CornerExtras::default(),
    };
    let inputs = QuadInputs {
        triangles: [pixel(0), pixel(1), pixel(1), pixel(0)],
        ..quad_inputs(halves[0], &planes[0])
    };
    let merged = quad(&shader, &inputs);
    for (a, b) in whole.iter().flatten().zip(merged.iter().flatten()) {
        assert!((a - b).abs() < 2e-3, "{whole:?} {merged:?}");
    }
    let some = quad(&shader, &QuadInputs { wanted: 0b0100, ..inputs });
    assert_eq!(some, [[0.0; 3], [0.0; 3], merged[2], [0.0; 3]]);
}

#[test]
fn far_beyond_the_horizon_colours_stay_in_range() {
    let scene = noisy();
    let shader = scene.shader();
    // Nearly edge on, far below the quad: its plane's horizon crosses the quad.
    let ground = [[0.0, 1.0, 20.0], [6.0, 1.0, 40.0], [-6.0, 1.0, 40.0]];
    let vertices = ground.map(|p| vertex(p, [p[0], p[2]]));
    let planes = TrianglePlanes::new(vertices.each_ref(), &view()).unwrap();
    for y in [179.0, 180.0, 179.5, -1e6] {
        let inputs = QuadInputs {
            points_px: [[300.0, y], [301.0, y], [300.0, y + 1.0], [301.0, y + 1.0]],
            ..quad_inputs(vertices.each_ref(), &planes)
        };
        let colours = quad(&shader, &inputs);
        assert!(colours.iter().flatten().all(|c| (0.0..=1.0).contains(c)), "{colours:?}");
    }
}

/// A vertex at a pixel's centre and the quad there see the same picture.
#[test]
fn as_a_quad_there() {
    let (scene, view) = (noisy(), view());
    let shader = scene.shader();
    for texels_a_px in [0.5, 2.0, 3.0] {
        let vertex = |x, y| plane_vertex(x, y, texels_a_px);
        let at = vertex(300.5, 200.5);
        // Neighbours across the pixels, along no axis.
        let steps = [vertex(301.0, 200.25), vertex(300.75, 201.5)];
        let steps = steps.map(|n| VertexStep::between(&at, &n, &view));
        let [quad, ..] = shade_plane(&shader, texels_a_px);
        let alone = shader.vertex(&at, VertexExtras::default(), &steps, 0, true);
        for c in 0..3 {
            assert!((alone[c] - quad[c]).abs() < 2e-3, "{alone:?} {quad:?}");
        }
    }
}

#[test]
fn steps_along_a_line_still_give_a_colour() {
    let (scene, view) = (noisy(), view());
    let shader = scene.shader();
    let at = plane_vertex(300.5, 200.5, 1.0);
    let step = VertexStep::between(&at, &plane_vertex(301.5, 200.5, 1.0), &view);
    for steps in [[step; 2], [VertexStep::default(); 2]] {
        let colour = shader.vertex(&at, VertexExtras::default(), &steps, 0, true);
        assert!(colour.iter().all(|c| *c > 0.0 && *c <= 1.0), "{colour:?}");
    }
}

fn close(a: [f32; 3], b: [f32; 3], limit: f32) -> bool {
    a.iter().zip(b).all(|(a, b)| (a - b).abs() < limit)
}

fn one_texel(texel: [u8; 3]) -> Texture {
    let [r, g, b] = texel;
    Texture { width: 1, height: 1, texels: vec![[r, g, b, 255]], ..Texture::default() }
}

/// The quad of the plane with a normal map of one texel.
fn with_normal_map(texel: Option<[u8; 3]>) -> [[f32; 3]; 4] {
    let material =
        Material { normal_texture: texel.map(|_| 0), shininess: 30.0, ..Material::default() };
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
fn emission_is_added_to_reflected_light() {
    let shade = |material: Material, textures: &[Texture]| {
        shade_plane(&Scene::of(material, textures).shader(), 1.0)[0]
    };
    let dark =
        Material { base_colour: [0.0; 3], emission: [0.25, 1.5, 0.0], ..Material::default() };
    assert_eq!(shade(dark.clone(), &[]), [0.25, 1.5, 0.0]);
    let textured = Material { emission_texture: Some(0), ..dark.clone() };
    // 188 in sRGB is 0.503 in linear light.
    let half = shade(textured, &[one_texel([188, 255, 255])]);
    assert!(close(half, [0.25 * 0.503, 1.5, 0.0], 1e-3), "{half:?}");
    let lit = Material { base_colour: [0.8; 3], ..dark };
    let grey = shade(Material::default(), &[]);
    let sum = [grey[0] + 0.25, grey[1] + 1.5, grey[2]];
    assert!(close(shade(lit, &[]), sum, 1e-6));
}

#[test]
fn faces_without_normals_and_back_faces() {
    let front = plane_triangle(1.0);
    let with_normal = |normal| front.map(|v| GridVertex { normal, ..v });
    let flat = with_normal([0.0; 3]);
    let shade = |vertices: &[GridVertex; 3], is_front| {
        let scene = Scene::of(Material::default(), &[]);
        let planes = TrianglePlanes::new(vertices.each_ref(), &view()).unwrap();
        let inputs = quad_inputs(vertices.each_ref(), &planes);
        quad(&scene.shader(), &QuadInputs { is_front, ..inputs })[0]
    };
    let lit = shade(&front, true);
    assert!(close(lit, shade(&flat, true), 1e-4));
    // A back that is drawn is lit from its own side, whichever flag or material has it drawn.
    assert!(close(lit, shade(&flat, false), 1e-4));
    let away = with_normal([0.0, 0.0, 1.0]);
    assert!(close(lit, shade(&away, false), 1e-4));
    let dark = shade(&away, true);
    assert!(dark[0] < 0.5 * lit[0], "turned away: {dark:?} {lit:?}");
}

#[test]
fn checker_shows_up_close_and_is_grey_afar() {
    let scene = Scene::of(Material::default(), &[]);
    let shader = scene.shader_with(ShadeSettings {
        albedo: Albedo::Checker { scale: 2.0 },
        ..ShadeSettings::default()
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

/// A texture whose texel (x, y) is `texel(x, y)`, grey.
fn grey(width: u32, height: u32, texel: impl Fn(u32, u32) -> u8) -> Texture {
    let positions = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
    Texture {
        width,
        height,
        texels: positions.map(|(x, y)| texel(x, y)).map(|c| [c, c, c, 255]).collect(),
        ..Texture::default()
    }
}

fn raw(texture: &Texture) -> MipChain {
    MipChain::new(texture, TextureRole::Raw).unwrap()
}

#[test]
fn levels_for_known_scales() {
    let pyramid = raw(&grey(256, 64, |_, _| 0));
    assert_eq!(pyramid.levels(), 9);
    let texels = |x: f32, y: f32| [x / 256.0, y / 64.0];
    // Texels per pixel, and their log2.
    for (scale, level) in [(1.0, 0.0), (2.0, 1.0), (4.0, 2.0), (0.5, -1.0), (64.0, 6.0)] {
        let straight = pyramid.level(texels(scale, 0.0), texels(0.0, scale));
        let turned = pyramid.level(texels(0.6 * scale, 0.8 * scale), texels(0.0, 0.1));
        assert!((straight - level).abs() < 1e-5, "{straight} for {level}");
        assert!((turned - level).abs() < 1e-5, "{turned} for {level}");
    }
    assert!(pyramid.level([0.0; 2], [0.0; 2]) < 0.0);
}

/// The alpha of a texture counts only where the material is blended.
#[test]
fn opacity_is_that_of_material_and_texture() {
    let texture =
        Texture { texels: vec![[255, 255, 255, 51]; 4], width: 2, height: 2, ..Texture::default() };
    let corners = plane_triangle(1.0);
    let opacity = |opacity: Option<f32>, base_texture: Option<u32>| {
        let material = Material { opacity, base_texture, ..Material::default() };
        let scene = Scene::of(material, std::slice::from_ref(&texture));
        let planes = TrianglePlanes::new(corners.each_ref(), &view()).unwrap();
        let inputs = quad_inputs(corners.each_ref(), &planes);
        scene.shader().quad(&inputs)[0][3]
    };
    for (given, texture, expected) in
        [(None, None, 1.0), (None, Some(0), 1.0), (Some(0.5), None, 0.5), (Some(0.5), Some(0), 0.1)]
    {
        let found = opacity(given, texture);
        assert!((found - expected).abs() < 1e-5, "{given:?} {texture:?}: {found}");
    }
}

#[test]
fn fine_checks_become_grey_in_linear_light() {
    let checks = grey(64, 64, |x, y| if (x + y) % 2 == 0 { 255 } else { 0 });
    let pyramid = MipChain::new(&checks, TextureRole::Colour).unwrap();
    for level in [1.0, 2.5, 6.0, 100.0, f32::INFINITY] {
        let [r, g, b, a] = pyramid.sample([0.3, 0.8], level);
        assert!([r, g, b].iter().all(|c| (c - 0.5).abs() < 1e-4), "{r}");
        assert!((a - 1.0).abs() < 1e-5);
    }
    // Exactly at a texel's centre.
    assert!((pyramid.sample([0.5 / 64.0; 2], 0.0)[0] - 1.0).abs() < 1e-5);
    assert!(pyramid.sample([1.5 / 64.0, 0.5 / 64.0], f32::NAN)[0].abs() < 1e-5);
}

#[test]
fn any_size_keeps_its_mean() {
    for (width, height) in [(1, 1), (7, 5), (13, 1), (1, 6), (100, 37), (3, 2)] {
        let noise = |x: u32, y: u32| {
            (x * 7919 + y * 104_729 + 13).wrapping_mul(0x9e37_79b9).to_be_bytes()[0]
        };
        let texture = grey(width, height, noise);
        let sum: f64 = texture.texels.iter().map(|t| f64::from(t[0]) / 255.0).sum();
        let mean = sum / f64::from(width * height);
        let pyramid = raw(&texture);
        let [found, ..] = pyramid.sample([0.2, 0.9], 1e9);
        assert!((f64::from(found) - mean).abs() < 1e-3, "{width} x {height}");
        let log2 = width.max(height).ilog2() as usize;
        assert_eq!(pyramid.levels(), log2 + 1, "{width} x {height}");
        // A linear ramp of levels: half way is the mean of both.
        let at = |level| f64::from(pyramid.sample([0.37, 0.61], level)[0]);
        if log2 > 0 {
            assert!((at(0.5) - (at(0.0) + at(1.0)) / 2.0).abs() < 1e-5);
        }
    }
}

#[test]
fn bilinear_by_its_definition() {
    let texture = grey(5, 3, |x, y| u8::try_from(x * 40 + y * 17).unwrap());
    let pyramid = raw(&texture);
    for k in 0..400_u16 {
        let uv = [f32::from(k) * 0.013 - 2.6, 1.7 - f32::from(k) * 0.011];
        let (x, y) = (uv[0] * 5.0 - 0.5, uv[1] * 3.0 - 0.5);
        let texel = |x: f32, y: f32| (x.rem_euclid(5.0) * 40.0 + y.rem_euclid(3.0) * 17.0) / 255.0;
        let (fx, fy) = (x - x.floor(), y - y.floor());
        let row = |y: f32| (1.0 - fx) * texel(x.floor(), y) + fx * texel(x.floor() + 1.0, y);
        let expected = (1.0 - fy) * row(y.floor()) + fy * row(y.floor() + 1.0);
        let [found, ..] = pyramid.sample(uv, 0.0);
        assert!((found - expected).abs() < 1e-4, "{uv:?}: {found} {expected}");
    }
}

#[test]
fn poison_and_far_away_do_no_harm() {
    let pyramid = raw(&grey(4, 4, |x, _| if x == 0 { 0 } else { 200 }));
    for v in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 1e30, -3e9, -1e-9] {
        let colour = pyramid.sample([v, -v], 0.7);
        assert!(colour.iter().all(|c| (0.0..=1.0).contains(c)), "{v}: {colour:?}");
    }
}

#[test]
fn roles_follow_from_materials_and_bad_textures_are_left_out() {
    let texture = grey(1, 1, |_, _| 128);
    let broken = Texture { width: 2, ..texture.clone() };
    let material =
        Material { base_texture: Some(0), normal_texture: Some(1), ..Material::default() };
    let textures = Textures::new(&[texture.clone(), texture, broken], &[material]);
    let of = |index: u32| textures.get(index).map(|t| t.sample([0.5; 2], 0.0)[0]);
    assert!((of(0).unwrap() - 0.215_86).abs() < 1e-4, "decoded");
    assert!((of(1).unwrap() - 128.0 / 255.0).abs() < 1e-5, "as it is");
    assert!(of(2).is_none() && of(3).is_none());
}
