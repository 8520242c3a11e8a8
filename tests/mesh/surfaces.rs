//! Surfaces: displacement and the procedural scenes.
use nalgebra::Vector3;
use quadrille::geometry::files::Material;
use quadrille::geometry::files::Texture;
use quadrille::geometry::surface::HeightChannel;
use quadrille::geometry::surface::HeightMap;
use quadrille::geometry::surface::ProceduralScene;
use quadrille::geometry::surface::Surface;

/// A flat patch of side 3 at z = 0, facing up.
fn flat() -> Surface {
    let points: Vec<[f32; 3]> =
        (0..16_u8).map(|i| [f32::from(i % 4), f32::from(i / 4), 0.0]).collect();
    let patch = std::array::from_fn(|i| u32::try_from(i).unwrap());
    Surface::bezier(&points, &[patch], Material::default()).unwrap()
}

#[test]
fn heights_move_points_and_tilt_normals() {
    // A slope along u of 1 in 8 texels, away from the seam.
    let texels = (0..64_u8).map(|i| [0, 0, 0, 32 * (i % 8)]).collect();
    let texture = Texture { width: 8, height: 8, texels, ..Texture::default() };
    let map = HeightMap::new(&texture, HeightChannel::Alpha).unwrap();
    let slope = 32.0 / 255.0 * 8.0;
    assert!((map.at([0.5, 0.3]) - slope * (0.5 - 0.5 / 8.0)).abs() < 1e-5);
    let surface = flat().displaced(map, 2.0, 1.0).unwrap();
    let point = surface.point(0, 0.5, 0.5);
    assert!((point.position[2] - (1.0 + 2.0 * slope * 0.4375)).abs() < 1e-4);
    let expected = Vector3::new(-2.0 * slope / 3.0, 0.0, 1.0).normalize();
    let off = (Vector3::from(point.normal) - expected).amax();
    assert!(off < 1e-3, "{:?}", point.normal);
}

#[test]
fn wrong_textures_are_refused() {
    let texture = Texture { width: 2, height: 2, texels: vec![[0; 4]; 3], ..Texture::default() };
    assert!(HeightMap::new(&texture, HeightChannel::Luminance).is_err());
}

#[test]
fn names_lead_to_scenes() {
    assert_eq!(ProceduralScene::from_name("FurBall").unwrap(), ProceduralScene::FurBall);
    assert!(ProceduralScene::from_name("toad").is_err());
}

#[test]
fn normals_are_those_of_the_surface() {
    for scene in ProceduralScene::ALL {
        let surface = scene.surface(7);
        let last = surface.patches() - 1;
        for patch in [0, 3, last / 2, last] {
            let at = |u: f32, v: f32| Vector3::from(surface.position(patch, u, v));
            // Steps far smaller than the bumps of a frog.
            let du = at(0.301, 0.6) - at(0.299, 0.6);
            let dv = at(0.3, 0.601) - at(0.3, 0.599);
            let expected = du.cross(&dv).normalize();
            let normal = Vector3::from(surface.point(patch, 0.3, 0.6).normal);
            assert!(normal.dot(&expected) > 0.99, "{scene} {patch}");
        }
    }
}

#[test]
fn seeds_make_scenes() {
    let point = |seed| {
        let surface = ProceduralScene::PtCloud.surface(seed);
        surface.position(100, 0.2, 0.7)
    };
    assert_eq!(point(1), point(1));
    assert_ne!(point(1), point(2));
}

#[test]
fn all_of_a_scene_is_in_the_middle_of_its_picture() {
    for scene in ProceduralScene::ALL {
        let camera = scene.viewpoint().camera(scene.name(), 1728, 1080);
        let camera = camera.unwrap();
        let [least, greatest] = scene.surface(0).bounds();
        let middle = Vector3::from(least) + Vector3::from(greatest);
        let middle = middle.map(|x| f64::from(x) / 2.0);
        let seen = camera.view_from_world * middle + camera.translation_in_view;
        assert!(seen.z > 0.0 && seen.x.abs() < 0.2 * seen.z, "{scene}");
    }
}
