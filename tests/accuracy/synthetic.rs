//! Procedural scenes: every splat is sound, depends on its index alone, and measures like a trained one.

use quadrille::nalgebra::Vector3;
use quadrille::{Order, Recipe, Splat, Splats, Synthetic};

/// The value that `percent` of the values are below.
fn quantile(mut values: Vec<f32>, percent: usize) -> f32 {
    values.sort_by(f32::total_cmp);
    let rank = values.len() * percent / 100;
    values[rank.min(values.len() - 1)]
}

#[test]
fn every_splat_of_every_recipe_is_sound() {
    for recipe in Recipe::ALL {
        for count in [1, 7, 1000, 20_000] {
            let scene = Synthetic::new(recipe, 3, count, 3).unwrap();
            assert_eq!(scene.len(), count);
            for i in 0..count {
                let s = scene.splat(i);
                let norm: f32 = s.rotation.iter().map(|q| q * q).sum();
                assert!((norm - 1.0).abs() < 1e-4, "{recipe:?} {i}: {s:?}");
                assert!(s.mean.iter().all(|v| v.abs() < 1e3), "{recipe:?} {i}: {s:?}");
                assert!(s.scale.iter().all(|v| *v > 0.0 && *v < 1e3));
                assert!((0.005..1.0).contains(&s.opacity), "{recipe:?} {i}: {s:?}");
                assert!(s.sh.iter().flatten().all(|v| v.abs() < 3.0), "{recipe:?} {i}: {s:?}");
            }
        }
    }
}

#[test]
fn a_splat_depends_on_nothing_but_its_index() {
    let one = Synthetic::new(Recipe::World, 5, 4000, 2).unwrap();
    let two = Synthetic::new(Recipe::World, 5, 4000, 2).unwrap();
    for i in (0..4000).rev() {
        assert_eq!(one.splat(i), two.splat(i));
    }
    let other = Synthetic::new(Recipe::World, 6, 4000, 2).unwrap();
    assert!((0..4000).filter(|&i| one.splat(i) == other.splat(i)).count() < 40);
}

#[test]
fn the_degree_bounds_the_coefficients() {
    for degree in 0..=3 {
        let scene = Synthetic::new(Recipe::Object, 1, 500, degree).unwrap();
        let kept = (usize::from(degree) + 1).pow(2);
        for i in 0..500 {
            let sh = scene.splat(i).sh;
            assert!(sh[kept..].iter().flatten().all(|&c| c == 0.0));
            assert!(degree == 0 || sh[kept - 1] != [0.0; 3]);
        }
    }
    assert!(Synthetic::new(Recipe::Object, 1, 500, 4).is_err());
    assert!(Synthetic::new(Recipe::Object, 1, 0, 0).is_err());
}

/// The statistics of trained scenes: two heaps of opacities, log-normal scales, flat splats.
#[test]
fn statistics_are_those_of_trained_scenes() {
    for recipe in Recipe::ALL {
        let scene = Synthetic::new(recipe, 1, 20_000, 0).unwrap();
        let splats: Vec<Splat> = (0..20_000).map(|i| scene.splat(i)).collect();
        let share = |low: f32, high: f32| {
            let inside = splats.iter().filter(|s| (low..high).contains(&s.opacity));
            inside.count() as f32 / 20_000.0
        };
        assert!(share(0.75, 1.0) > 0.4, "{recipe:?}");
        assert!(share(0.0, 0.2) > 0.1, "{recipe:?}");
        assert!(share(0.25, 0.55) < 0.1, "{recipe:?}");
        let flatness = splats.iter().map(|s| {
            let mut scale = s.scale;
            scale.sort_by(f32::total_cmp);
            scale[1] / scale[0]
        });
        assert!(quantile(flatness.collect(), 50) > 3.0, "{recipe:?}");
    }
}

/// Coverage does not depend on the count: four times the splats are half as large.
#[test]
fn sizes_follow_the_count() {
    for recipe in Recipe::ALL {
        let size = |count: u64| {
            let scene = Synthetic::new(recipe, 1, count, 0).unwrap();
            quantile((0..count).map(|i| scene.splat(i).scale[0]).collect(), 50)
        };
        let ratio = size(5000) / size(20_000);
        assert!((1.8..2.2).contains(&ratio), "{recipe:?}: {ratio}");
    }
}

#[test]
fn cameras_see_their_scene() {
    for recipe in Recipe::ALL {
        let scene = Synthetic::new(recipe, 1, 5000, 0).unwrap();
        let splats = scene.splats();
        assert!(scene.cameras().len() >= 4);
        for camera in scene.cameras() {
            let seen = quadrille::Visibility::of(&splats, camera, &quadrille::Profile::default());
            assert!(seen.in_view > 0.15, "{recipe:?} {}: {seen:?}", camera.name);
        }
    }
}

/// The repository's own scene has the viewpoints of the recipe that made it.
#[test]
fn the_island_has_its_cameras() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("scenes/island.cameras.json");
    let file = quadrille::load_cameras(&path).unwrap();
    let scene = Synthetic::new(Recipe::World, 0, 1000, 0).unwrap();
    assert_eq!(file.cameras.len(), scene.cameras().len());
    for (saved, made) in file.cameras.iter().zip(scene.cameras()) {
        assert_eq!(saved.name, made.name);
        assert!((saved.eye() - made.eye()).norm() < 1e-9);
        assert!((saved.view_from_world - made.view_from_world).norm() < 1e-9);
    }
}

#[test]
fn order_in_space_keeps_the_scene_and_brings_neighbours_together() {
    let scene = |order| {
        let scene = Synthetic::new(Recipe::Room, 1, 20_000, 0).unwrap();
        scene.in_order(order).splats()
    };
    let median_step = |splats: &Splats| {
        let means: Vec<Vector3<f32>> = splats.iter().map(|s| s.mean.into()).collect();
        let mut steps: Vec<f32> = means.windows(2).map(|w| (w[1] - w[0]).norm()).collect();
        steps.sort_by(f32::total_cmp);
        steps[steps.len() / 2]
    };
    let mean_of = |splats: &Splats| {
        splats.iter().map(|s| Vector3::from(s.mean)).sum::<Vector3<f32>>() / splats.len() as f32
    };
    let (mixed, space) = (scene(Order::Mixed), scene(Order::Space));
    assert!(median_step(&space) < median_step(&mixed) / 10.0);
    assert!((mean_of(&space) - mean_of(&mixed)).norm() < 0.05);
}
