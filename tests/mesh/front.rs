//! The side from which a mesh is shown.

use nalgebra::Vector3;
use quadrille::geometry::front::MeshOrientation;

fn cuboid([x, y, z]: [f32; 3]) -> Vec<[f32; 3]> {
    let corner = |k: u8| {
        let end = |axis: u8, length| if k >> axis & 1 == 1 { length } else { 0.0 };
        [end(0, x), end(1, y), end(2, z)]
    };
    (0..8).map(corner).collect()
}

#[test]
fn the_front_is_seen_unless_it_is_a_sliver() {
    let conventional = Vector3::new(0.4, 0.3, 0.87);
    for size in [[1.0, 1.0, 1.0], [2.0, 1.0, 0.1], [0.5, 3.0, 0.5], [0.0; 3]] {
        let towards = MeshOrientation::y_up().towards_viewer(&cuboid(size), true);
        assert!((towards - conventional).amax() < 1e-12, "{size:?}: {towards:?}");
    }
    let towards = MeshOrientation::z_up().towards_viewer(&cuboid([1.0; 3]), false);
    assert!((towards - Vector3::new(0.4, -0.87, 0.3)).amax() < 1e-12);
    // A floor, which a view from higher up shows better.
    let towards = MeshOrientation::y_up().towards_viewer(&cuboid([10.0, 0.0, 2.0]), false);
    assert!((towards.y - towards.xz().norm()).abs() < 1e-12, "{towards:?}");
    // A wall seen edge on.
    let towards = MeshOrientation::y_up().towards_viewer(&cuboid([0.0, 2.0, 9.0]), true);
    assert!(towards.x.abs() > towards.z.abs(), "{towards:?}");
}

#[test]
fn long_symmetric_things_without_a_stated_front_are_shown_in_profile() {
    // A body with a head to one end: longer than wide, the same on the left and on the right.
    let mut animal = cuboid([1.0, 1.0, 1.8]);
    animal.extend([[0.4, 1.3, -0.4], [0.6, 1.3, -0.4]]);
    let towards = MeshOrientation::y_up().towards_viewer(&animal, false);
    assert!((towards - Vector3::new(0.957_549, 0.3, 0.0)).amax() < 1e-6, "{towards:?}");
    // The same one standing along z, whose front would be -y.
    let lying: Vec<_> = animal.iter().map(|&[x, y, z]| [x, -z, y]).collect();
    let towards = MeshOrientation::z_up().towards_viewer(&lying, false);
    assert!((towards - Vector3::new(0.957_549, 0.0, 0.3)).amax() < 1e-6);
    // A stated front, one without a mirror image, one that is hardly longer than wide, and one wider than long.
    let front = MeshOrientation::y_up().towards_front();
    assert_eq!(MeshOrientation::y_up().towards_viewer(&animal, true), front);
    let skewed: Vec<_> = animal.iter().map(|&[x, y, z]| [x + 0.3 * z, y, z]).collect();
    for points in [skewed, cuboid([1.0, 1.0, 1.05]), cuboid([1.8, 1.0, 1.0])] {
        assert_eq!(MeshOrientation::y_up().towards_viewer(&points, false), front);
    }
    // Nothing at all, and a single point.
    for points in [vec![], vec![[1.0; 3]]] {
        assert_eq!(MeshOrientation::y_up().towards_viewer(&points, false), front);
    }
}
