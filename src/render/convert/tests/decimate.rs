//! Tests of the module `decimate`.

use super::*;

/// Round splats of a given deviation and opacity in a line, `gap` apart.
fn line(rows: u16, deviation: f32, gap: f32, opacity: f64) -> RawColumns {
    let mut raw = RawColumns::zeroed(usize::from(rows), 1);
    for row in 0..rows {
        let at = usize::from(row);
        raw.mean[0][at] = f64::from(row) * f64::from(gap);
        raw.rotation[0][at] = 1.0;
        raw.opacity[at] = logit(opacity);
        raw.sh_rest[4][at] = f32::from(row);
        for axis in &mut raw.scale {
            axis[at] = deviation.ln();
        }
    }
    raw
}

fn merged(raw: &RawColumns, target: usize) -> RawColumns {
    let task = &Task::NEVER;
    let mut merging = Merging::of(raw, task).unwrap();
    let pairs = merging.cheapest(raw.rows() - target, task).unwrap();
    merging.merge(&pairs, task).unwrap();
    merging.columns(raw, task).unwrap()
}

#[test]
fn a_merged_splat_has_the_moments_and_the_mass_of_both() {
    let raw = line(2, 0.5, 2.0, 0.3);
    let one = merged(&raw, 1);
    assert_eq!(one.rows(), 1);
    assert_eq!([0, 1, 2].map(|axis| one.mean[axis][0]), [1.0, 0.0, 0.0]);
    let mut deviations = [0, 1, 2].map(|axis| one.scale[axis][0].exp());
    deviations.sort_by(f32::total_cmp);
    // Variance 0.25 within and 1 between the two.
    let expected = [0.5, 0.5, 1.25_f32.sqrt()];
    for (found, expected) in deviations.iter().zip(expected) {
        assert!((found - expected).abs() < 1e-5, "{deviations:?}");
    }
    let mass = |raw: &RawColumns, row: usize| {
        let deviations = [0, 1, 2].map(|axis| f64::from(raw.scale[axis][row]).exp());
        sigmoid(f64::from(raw.opacity[row])) * area(deviations)
    };
    assert!((mass(&one, 0) - 2.0 * mass(&raw, 0)).abs() < 1e-5);
    assert_eq!(one.sh_rest[4][0], 0.5);
    // The longest axis points from one splat to the other.
    let [w, x, y, z] = one.unit_rotation(0);
    let turn = UnitQuaternion::from_quaternion(Quaternion::new(w, x, y, z));
    let longest = (0..3).max_by(|a, b| one.scale[*a][0].total_cmp(&one.scale[*b][0]));
    let mut axis = Vector3::zeros();
    axis[longest.unwrap()] = 1.0;
    assert!((turn * axis).x.abs() > 0.9999);
}

#[test]
fn equal_splats_merge_before_others() {
    let mut raw = line(6, 0.5, 2.0, 0.5);
    raw.mean[0][3] = raw.mean[0][2];
    let left = merged(&raw, 5);
    assert_eq!(left.rows(), 5);
    assert_eq!(left.mean[0], [0.0, 2.0, 4.0, 8.0, 10.0]);
    // Unmerged rows keep their values.
    assert_eq!(left.opacity[0].to_bits(), raw.opacity[0].to_bits());
    // Splats with different colours do not merge first.
    raw.sh_constant[1][3] = 9.0;
    assert!(merged(&raw, 5).mean[0] != [0.0, 2.0, 4.0, 8.0, 10.0]);
}

#[test]
fn areas_are_those_of_spheres_and_discs() {
    assert!((area([2.0; 3]) - 4.0).abs() < 1e-9);
    // A disc has two sides: half of the sphere's area.
    assert!((area([1.0, 1.0, 0.0]) - 0.5).abs() < 0.01);
    assert!(area([0.0; 3]) > 0.0);
}
