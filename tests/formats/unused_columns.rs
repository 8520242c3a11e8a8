//! Columns that no picture uses, and values that may have another meaning than that of a trainer's PLY.

use std::path::Path;

use quadrille::{Scene, load, load_table};

use crate::support::shared;

/// Writes a PLY of 200 equal splats with further columns of zeros, and reads it.
fn read(folder: &Path, opacity: f32, more: &[&str]) -> Scene {
    let plain = [
        "x", "y", "z", "f_dc_0", "f_dc_1", "f_dc_2", "opacity", "scale_0", "scale_1", "scale_2",
        "rot_0", "rot_1", "rot_2", "rot_3",
    ];
    let mut file = b"ply\nformat binary_little_endian 1.0\nelement vertex 200\n".to_vec();
    for name in plain.iter().chain(more) {
        file.extend(format!("property float {name}\n").bytes());
    }
    file.extend(b"end_header\n");
    for _ in 0..200 {
        for name in &plain {
            let value: f32 = match *name {
                "rot_0" => 1.0,
                "opacity" => opacity,
                "scale_0" => -3.0,
                _ => 0.0,
            };
            file.extend(value.to_le_bytes());
        }
        file.extend(more.iter().flat_map(|_| [0; 4]));
    }
    let path = folder.join("scene.ply");
    std::fs::write(&path, file).unwrap();
    let (scene, table) = (load(&path).unwrap(), load_table(&path).unwrap());
    assert_eq!(scene.encoding, table.encoding);
    scene
}

#[test]
fn columns_without_effect_are_listed_and_those_of_methods_warned_of() {
    let folder = tempfile::tempdir().unwrap();
    let normals = read(folder.path(), -1.0, &["nx", "ny", "nz", "segment"]);
    assert_eq!(normals.encoding.unused_columns, ["nx", "ny", "nz", "segment"]);
    assert!(normals.encoding.warnings.is_empty());
    for (names, method) in [
        (&["trbf_center", "motion_0", "omega_3"][..], "Spacetime"),
        (&["t", "scale_t", "rot_r_0"], "4D"),
        (&["base_color_0", "roughness"], "relightable"),
    ] {
        let scene = read(folder.path(), -1.0, names);
        let [warning] = &scene.encoding.warnings[..] else { panic!("{method}") };
        assert!(
            warning.contains(method) && names.iter().all(|name| warning.contains(name)),
            "{warning}"
        );
    }
}

#[test]
fn opacities_that_may_be_no_logits_are_warned_of() {
    let folder = tempfile::tempdir().unwrap();
    for (opacity, is_warned) in
        [(0.0, true), (0.5, true), (1.0, true), (1.01, false), (-0.01, false)]
    {
        let warnings = read(folder.path(), opacity, &[]).encoding.warnings;
        assert_eq!(warnings.len(), usize::from(is_warned), "{opacity}: {warnings:?}");
    }
}

/// What the files of `11-columns` are warned of.
#[test]
fn files_of_the_field_are_read_with_their_warnings() {
    let Some(folder) = shared::path("cases/splats-2/11-columns") else { return };
    let expected = [
        ("crlfend.ply", ""),
        ("float32.ply", ""),
        ("fourd.ply", "Spacetime"),
        ("gbk.ply", ""),
        ("linear_opacity.ply", "from 0 to 1"),
        ("linear_scales.ply", ""),
        ("ok.ply", ""),
        ("opacity_all_one.ply", "from 0 to 1"),
        ("r3dg.ply", "relightable"),
        ("t4d.ply", "4D"),
    ];
    let mut files: Vec<_> =
        std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    files.sort();
    assert_eq!(files, expected.map(|(name, _)| name));
    for (name, part) in expected {
        let scene = load(folder.join(name)).unwrap();
        assert_eq!(scene.splats.len(), 200, "{name}");
        let warnings = scene.encoding.warnings.join("; ");
        assert!(
            warnings.contains(part) && warnings.is_empty() == part.is_empty(),
            "{name}: {warnings}"
        );
    }
}
