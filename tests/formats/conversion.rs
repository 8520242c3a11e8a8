//! Conversion between scene formats: a scene that is written again equals the scene that was read.

use std::path::{Path, PathBuf};

use quadrille::Task;
use quadrille::convert::{Action, concatenate};
use quadrille::{
    OutputFormat, Recipe, Scene, SplatAxes, SplatTable, Synthetic, load, load_table, write_table,
};

use quadrille_scene::formats::ply::Scalar;
use quadrille_scene::table::{Column, ColumnValues};

use crate::support::shared;

/// Largest part of a value that rounding to f32 on the way may change, twice.
const ROUNDING: f32 = 4e-7;

pub(crate) fn table(path: &Path) -> SplatTable {
    load_table(path).unwrap()
}

/// A scene of `count` splats of degree 3, as a PLY in `folder`.
pub(crate) fn synthetic(folder: &Path, count: u64) -> PathBuf {
    let path = folder.join("synthetic.ply");
    let scene = Synthetic::new(Recipe::Object, 1, count, 3).unwrap();
    let file = std::fs::File::create(&path).unwrap();
    let mut writer = quadrille::PlyWriter::new(file, count, 3, &[]).unwrap();
    for splat in scene.splats().iter() {
        writer.push(&splat).unwrap();
    }
    writer.finish().unwrap();
    path
}

fn body(file: &[u8]) -> &[u8] {
    let end = b"end_header\n";
    let at = file.windows(end.len()).position(|w| w == end).unwrap();
    &file[at + end.len()..]
}

#[test]
fn rows_of_ply_survive_byte_for_byte() {
    let folder = tempfile::tempdir().unwrap();
    // Columns of every type, a NaN with a payload, an infinity, and a name that no splat has.
    let types = ["char", "uchar", "short", "ushort", "int", "uint", "float", "double"];
    let mut header =
        "ply\nformat binary_little_endian 1.0\ncomment kept\nelement vertex 3\n".to_owned();
    for name in "x y z f_dc_0 f_dc_1 f_dc_2 opacity scale_0 scale_1 scale_2 rot_0 rot_1 rot_2 rot_3"
        .split(' ')
    {
        header += &format!("property float {name}\n");
    }
    for kind in types {
        header += &format!("property {kind} own_{kind}\n");
    }
    header += "end_header\n";
    let mut file = header.into_bytes();
    for row in 0..3u8 {
        for column in 0..14u8 {
            file.extend(
                f32::from_bits(0x3f80_0000 + u32::from(row) * 977 + u32::from(column))
                    .to_le_bytes(),
            );
        }
        file.extend([255 - row, row, 0, 255, 1, row, 2, 0, 0, 255, 3, row, row, 0]);
        file.extend(0x7fc0_1234u32.to_le_bytes());
        file.extend(f64::NEG_INFINITY.to_le_bytes());
    }
    let odd = folder.path().join("odd.ply");
    std::fs::write(&odd, &file).unwrap();
    let mut inputs = vec![odd, synthetic(folder.path(), 5000)];
    for name in ["udon", "statue"] {
        inputs.extend(shared::path(&format!("scenes/{name}.ply")));
    }
    for input in inputs {
        let output = folder.path().join("again.ply");
        write_table(&output, &table(&input), OutputFormat::Ply).unwrap();
        let [before, after] = [&input, &output].map(|path| std::fs::read(path).unwrap());
        assert!(body(&before) == body(&after), "{}", input.display());
    }
}

/// Compares two scenes: rotations up to `rotation`, everything else up to rounding.
pub(crate) fn assert_same(name: &str, a: &Scene, b: &Scene, rotation: f32) {
    assert_eq!(a.splats.len(), b.splats.len(), "{name}");
    assert_eq!(a.splats.sh_degree(), b.splats.sh_degree(), "{name}");
    for (row, (a, b)) in a.splats.iter().zip(b.splats.iter()).enumerate() {
        let plain = |s: &quadrille::Splat| {
            [&s.mean[..], &s.scale, &[s.opacity], s.sh.as_flattened()].concat()
        };
        for (at, (x, y)) in plain(&a).into_iter().zip(plain(&b)).enumerate() {
            let bound = ROUNDING * x.abs().max(1e-3);
            assert!((x - y).abs() <= bound, "{name}, row {row}, value {at}: {x} {y}");
        }
        let dot: f32 = a.rotation.iter().zip(b.rotation).map(|(p, q)| p * q).sum();
        let sign = dot.signum();
        let errors = a.rotation.iter().zip(b.rotation).map(|(p, q)| (p - sign * q).abs());
        let error = errors.fold(0.0, f32::max);
        assert!(error <= rotation, "{name}, row {row}: rotations differ by {error}");
    }
}

/// Step of a quaternion component in a format, or of the largest one that follows from the others.
fn rotation_step(format: OutputFormat) -> f32 {
    match format {
        OutputFormat::CompressedPly => 2.0 * 1.42 / 1023.0,
        OutputFormat::Spz3 | OutputFormat::Spz4 => 2.0 * 0.71 / 511.0,
        OutputFormat::DotSplat => 2.0 / 128.0,
        OutputFormat::Ply
        | OutputFormat::Glb
        | OutputFormat::Usda
        | OutputFormat::Usdc
        | OutputFormat::Usdz => 1e-6,
        // SOG.
        _ => 2.0 * 1.42 / 255.0,
    }
}

/// Writes `input` in `format`, then as PLY, then in `format` again.
fn there_and_back(input: &Path, format: OutputFormat, folder: &Path) {
    let name = |stem: &str| folder.join(format!("{stem}-{}{}", format.name(), format.extension()));
    let (first, ply, second) = (name("first"), folder.join("between.ply"), name("second"));
    write_table(&first, &table(input), format).unwrap();
    write_table(&ply, &table(&first), OutputFormat::Ply).unwrap();
    write_table(&second, &table(&ply), format).unwrap();
    let [first, ply, second] = [first, ply, second].map(|path| load(path).unwrap());
    assert_eq!(first.dropped.total(), 0);
    assert_same(format.name(), &first, &ply, 1e-6);
    assert_same(format.name(), &first, &second, rotation_step(format));
}

#[test]
fn every_format_survives_the_way_through_ply() {
    let folder = tempfile::tempdir().unwrap();
    let input = synthetic(folder.path(), 2000);
    for format in OutputFormat::all() {
        there_and_back(&input, format, folder.path());
    }
}

/// Files of another program, through PLY and back.
#[test]
fn samples_survive_the_way_through_ply() {
    let Some(samples) = shared::path("scenes/formats") else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    for (name, format) in [
        ("flowers.compressed.ply", OutputFormat::CompressedPly),
        ("flowers.v3.spz", OutputFormat::Spz3),
        ("flowers.v4.spz", OutputFormat::Spz4),
        ("biker.spz", OutputFormat::Spz4),
        ("flowers.glb", OutputFormat::Glb),
        ("flowers.sog", OutputFormat::Sog),
    ] {
        let input = samples.join(name);
        let ply = folder.path().join("between.ply");
        let again = folder.path().join(format!("again-{}{}", format.name(), format.extension()));
        write_table(&ply, &table(&input), OutputFormat::Ply).unwrap();
        write_table(&again, &table(&ply), format).unwrap();
        let [input, again] = [input, again].map(|path| load(path).unwrap());
        assert_same(name, &input, &again, rotation_step(format));
    }
}

#[test]
fn what_a_format_cannot_hold_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let mut scene = table(&synthetic(folder.path(), 10));
    let path = folder.path().join("out");
    Action::Translate([3000.0, 0.0, 0.0])
        .apply(&mut scene, &path, &quadrille::Task::NEVER)
        .unwrap();
    for format in [OutputFormat::Spz3, OutputFormat::Spz4] {
        let error = write_table(&path, &scene, format).unwrap_err().to_string();
        assert!(error.contains("positions from -2048 to 2048"), "{error}");
    }
    assert!(!path.exists());
    write_table(&path, &scene, OutputFormat::CompressedPly).unwrap();
    let losses = OutputFormat::DotSplat.losses(&scene);
    assert_eq!(losses, ["spherical harmonics of degree 3 are left out"]);
    assert_eq!(
        OutputFormat::of_name(Path::new("A.COMPRESSED.PLY")),
        Some(OutputFormat::CompressedPly)
    );
    assert_eq!(OutputFormat::of_name(Path::new("a.txt")), None);
    assert!(OutputFormat::named("zip").is_err());
}

#[test]
fn tables_are_joined_with_what_one_lacks_as_zero() {
    let folder = tempfile::tempdir().unwrap();
    let full = table(&synthetic(folder.path(), 20));
    let mut plain = full.clone();
    Action::LimitSh(0).apply(&mut plain, folder.path(), &quadrille::Task::NEVER).unwrap();
    assert_eq!(plain.sh_degree(), 0);
    let both = concatenate(vec![plain, full.clone()], &Task::NEVER).unwrap().unwrap();
    assert_eq!((both.rows(), both.sh_degree()), (40, 3));
    let column = both.column("f_rest_44").unwrap();
    assert!(column[..20].iter().all(|v| *v == 0.0));
    assert_eq!(column[20..], *full.column("f_rest_44").unwrap());
    assert_eq!(both.column("x").unwrap()[..20], both.column("x").unwrap()[20..]);
    assert!(concatenate(Vec::new(), &Task::NEVER).unwrap().is_none());
}

#[test]
fn actions_keep_and_move_splats() {
    let folder = tempfile::tempdir().unwrap();
    let scene = table(&synthetic(folder.path(), 3000));
    let apply = |action: Action| {
        let mut changed = scene.clone();
        action.apply(&mut changed, folder.path(), &quadrille::Task::NEVER).unwrap();
        changed
    };
    let x = |table: &SplatTable| table.column("x").unwrap().into_owned();
    let kept = apply(Action::KeepBox([0.0, -9.0, -9.0], [9.0; 3]));
    let expected = x(&scene).iter().filter(|x| **x >= 0.0).count();
    assert_eq!(kept.rows(), expected);
    assert!(kept.rows() > 0 && kept.rows() < 3000);
    let condition = quadrille::convert::Condition::parse("opacity > 0.5 && !(x < 0)").unwrap();
    let kept = apply(Action::Where(condition));
    assert!(kept.rows() > 0 && kept.rows() <= expected);
    assert!(kept.column("opacity").unwrap().iter().all(|logit| *logit > 0.0));
    let unknown = quadrille::convert::Condition::parse("w > 0").unwrap();
    let error =
        Action::Where(unknown).apply(&mut scene.clone(), folder.path(), &quadrille::Task::NEVER);
    assert!(error.unwrap_err().to_string().contains("found w"));
    let moved = apply(Action::Translate([1.0, 0.0, 0.0]));
    assert!(x(&moved).iter().zip(x(&scene)).all(|(after, before)| *after == before + 1.0));
    // Four quarter turns are none.
    let mut turned = scene.clone();
    for _ in 0..4 {
        Action::Rotate([0.0, 90.0, 0.0])
            .apply(&mut turned, folder.path(), &quadrille::Task::NEVER)
            .unwrap();
    }
    for name in ["x", "f_rest_3", "f_rest_20", "f_rest_44"] {
        let [before, after] =
            [&scene, &turned].map(|table| table.column(name).unwrap().into_owned());
        for (before, after) in before.iter().zip(after) {
            assert!((before - after).abs() < 1e-5, "{name}: {before} {after}");
        }
    }
    let flipped = apply(Action::Axes(SplatAxes::RUB));
    assert!(
        flipped
            .column("y")
            .unwrap()
            .iter()
            .zip(scene.column("y").unwrap().iter())
            .all(|(a, b)| *a == -b)
    );
    let mut ordered = x(&apply(Action::Morton));
    let mut all = x(&scene);
    assert_ne!(ordered, all);
    ordered.sort_by(f32::total_cmp);
    all.sort_by(f32::total_cmp);
    assert_eq!(ordered, all);
}

/// A camera that looks at the synthetic scene.
pub(crate) fn camera(width: u32, height: u32) -> quadrille::Camera {
    let scene = Synthetic::new(Recipe::Object, 1, 100, 0).unwrap();
    scene.cameras()[0].resized(width, height).unwrap()
}

/// A scene and a camera that turn together give the same picture, for all rotations of a cube.
#[test]
fn rotated_scenes_and_cameras_give_the_same_picture() {
    let folder = tempfile::tempdir().unwrap();
    let scene = table(&synthetic(folder.path(), 3000));
    let shot = camera(160, 90);
    let settings = quadrille::RenderSettings::default();
    let picture = |table: &SplatTable, camera: &quadrille::Camera| {
        let path = folder.path().join("turned.ply");
        write_table(&path, table, OutputFormat::Ply).unwrap();
        quadrille::render(&load(&path).unwrap().splats, camera, &settings).0
    };
    let expected = picture(&scene, &shot);
    let faces = [[0.0, 0.0], [90.0, 0.0], [180.0, 0.0], [270.0, 0.0], [0.0, 90.0], [0.0, 270.0]];
    for [x, y] in faces {
        for z in [0.0, 90.0, 180.0, 270.0] {
            let mut turned = scene.clone();
            Action::Rotate([x, y, z])
                .apply(&mut turned, folder.path(), &quadrille::Task::NEVER)
                .unwrap();
            let angles = [x, y, z].map(f64::to_radians);
            let rotation =
                quadrille::nalgebra::Rotation3::from_euler_angles(angles[0], angles[1], angles[2]);
            let mut camera = shot.clone();
            camera.view_from_world = shot.view_from_world * rotation.matrix().transpose();
            let found = quadrille::compare(
                &expected,
                &picture(&turned, &camera),
                quadrille::Protocol::Float,
            )
            .unwrap();
            let psnr = found.psnr_db.unwrap_or(f64::INFINITY);
            assert!(psnr >= 90.0, "{x} {y} {z}: {psnr} dB");
        }
    }
}

#[test]
fn pruned_splats_show_in_no_view() {
    let folder = tempfile::tempdir().unwrap();
    let scene = table(&synthetic(folder.path(), 3000));
    let cameras = [camera(160, 90)];
    let profile = quadrille::Profile::default();
    let splats = load(folder.path().join("synthetic.ply")).unwrap().splats;
    let weights =
        quadrille::convert::largest_weights(&splats, &cameras, &profile, &Task::NEVER).unwrap().0;
    assert!(weights.iter().all(|w| (0.0..=0.99).contains(w)));
    let hidden = weights.iter().filter(|w| **w < 0.004).count();
    assert!(hidden > 300 && hidden < 2900, "{hidden}");
    let mut pruned = scene.clone();
    quadrille::convert::prune(&mut pruned, 0.004, &cameras, &profile, folder.path(), &Task::NEVER)
        .unwrap();
    assert_eq!(pruned.rows(), 3000 - hidden);
    let path = folder.path().join("pruned.ply");
    write_table(&path, &pruned, OutputFormat::Ply).unwrap();
    let settings = quadrille::RenderSettings::default();
    let pictures = [&splats, &load(&path).unwrap().splats]
        .map(|s| quadrille::render(s, &cameras[0], &settings).0);
    // A dropped splat adds less than 0.004 to a pixel, and the splats behind it gain as little.
    let found = quadrille::compare(&pictures[0], &pictures[1], quadrille::Protocol::Float).unwrap();
    assert!(found.psnr_db.is_none_or(|db| db > 45.0), "{:?}", found.psnr_db);
    let error = quadrille::convert::prune(&mut pruned, 0.1, &[], &profile, &path, &Task::NEVER)
        .unwrap_err();
    assert!(error.to_string().contains("cameras"));
}

/// Two splats on the axis of a camera: the front one has its own alpha, the other what that lets through.
#[test]
fn weights_are_transmittance_times_alpha() {
    let splat = |z: f32, opacity: f32| quadrille::Splat {
        mean: [0.0, 0.0, z],
        scale: [0.5; 3],
        rotation: [1.0, 0.0, 0.0, 0.0],
        opacity,
        sh: [[0.0; 3]; 25],
    };
    let hidden = quadrille::Splat { mean: [0.0, 0.0, -3.0], ..splat(0.0, 0.9) };
    let splats = quadrille::Splats::from_splats(0, [splat(6.0, 0.5), splat(3.0, 0.75), hidden]);
    let lens = quadrille::Intrinsics::from_vertical_fov(65, 65, 1.0);
    let up = quadrille::nalgebra::Vector3::new(0.0, -1.0, 0.0);
    let target = quadrille::nalgebra::Vector3::new(0.0, 0.0, 1.0);
    let camera =
        quadrille::Camera::look_at("axis", lens, quadrille::nalgebra::Vector3::zeros(), target, up)
            .unwrap();
    let weights = quadrille::convert::largest_weights(
        &splats,
        &[camera],
        &quadrille::Profile::default(),
        &Task::NEVER,
    )
    .unwrap()
    .0;
    assert!((weights[1] - 0.75).abs() < 1e-5, "{weights:?}");
    assert_eq!(weights[2], 0.0);
    // The splat behind is largest where the one in front is faint, or at the centre.
    assert!(weights[0] >= 0.25 * 0.5 - 1e-5 && weights[0] < 0.5, "{weights:?}");
}

#[test]
fn attribute_errors_are_those_of_the_format() {
    let folder = tempfile::tempdir().unwrap();
    let scene = table(&synthetic(folder.path(), 3000));
    for format in OutputFormat::all() {
        let path = folder.path().join(format!("out-{}{}", format.name(), format.extension()));
        write_table(&path, &scene, format).unwrap();
        let errors = quadrille::convert::attribute_errors(
            &scene,
            &table(&path),
            format,
            &path,
            &Task::NEVER,
        )
        .unwrap();
        let Some(errors) = errors else {
            assert_eq!(format, OutputFormat::DotSplat, "the only one without harmonics");
            continue;
        };
        let name = format.name();
        assert!(
            errors.position.rms <= errors.position.max && errors.position.max < 0.01,
            "{name}: {errors:?}"
        );
        assert!(errors.opacity.max <= 0.5 / 255.0 + 1e-6, "{name}: {errors:?}");
        assert!(errors.rotation_degrees.max < 2.0, "{name}: {errors:?}");
        if matches!(
            format,
            OutputFormat::Ply
                | OutputFormat::Glb
                | OutputFormat::Usda
                | OutputFormat::Usdc
                | OutputFormat::Usdz
        ) {
            assert!(
                errors.position.max == 0.0 && errors.log_scale.max < 1e-5,
                "{name}: {errors:?}"
            );
        } else {
            assert!(
                errors.colour.max > 0.0 && errors.rotation_degrees.rms > 0.0,
                "{name}: {errors:?}"
            );
        }
    }
}

/// A file says how it is drawn where its format can, and a loss names the profile where it cannot.
#[test]
fn profiles_are_kept_or_named() {
    let folder = tempfile::tempdir().unwrap();
    let plain = Synthetic::new(Recipe::Object, 1, 300, 1).unwrap().splats();
    let plain = SplatTable::from_slices(&plain.to_arrays().as_slices()).unwrap();
    let with_comments = |comments: &[&str]| {
        let mut table = plain.clone();
        table.comments = comments.iter().map(|comment| (*comment).to_owned()).collect();
        let path = folder.path().join("in.ply");
        write_table(&path, &table, OutputFormat::Ply).unwrap();
        load_table(&path).unwrap()
    };
    let mut filtered = plain.clone();
    let filter = ColumnValues::F32(vec![0.01; filtered.rows()]);
    filtered.columns.push(Column { name: "filter_3D".to_owned(), values: filter });
    let path = folder.path().join("filtered.ply");
    write_table(&path, &filtered, OutputFormat::Ply).unwrap();
    let filtered = load_table(&path).unwrap();
    // An action applies the filter and drops its column.
    let mut moved = filtered.clone();
    Action::Translate([1.0, 0.0, 0.0]).apply(&mut moved, &path, &quadrille::Task::NEVER).unwrap();
    assert!(moved.values("filter_3D").is_none());
    let (brush, mip) = ("Exported from Brush", "SplatRenderMode: mip");
    for (table, profile, by_flag) in [
        (&plain, None, None),
        (&with_comments(&["antialiased 1"]), Some("inria-aa"), Some("inria-aa")),
        (&with_comments(&[brush]), Some("brush"), None),
        (&with_comments(&[brush, mip]), Some("brush-aa"), Some("inria-aa")),
        (&filtered, Some("mip-splatting"), Some("inria-aa")),
        (&moved, Some("mip-splatting"), Some("inria-aa")),
    ] {
        assert_eq!(table.profile_hint, profile);
        for format in OutputFormat::all() {
            let path = folder.path().join(format!("out-{}{}", format.name(), format.extension()));
            write_table(&path, table, format).unwrap();
            let kept = match format {
                OutputFormat::Ply | OutputFormat::CompressedPly => profile,
                OutputFormat::DotSplat
                | OutputFormat::Glb
                | OutputFormat::Usda
                | OutputFormat::Usdc
                | OutputFormat::Usdz => None,
                _ => by_flag,
            };
            let read = load_table(&path).unwrap();
            let scene = load(&path).unwrap();
            assert_eq!(
                (read.profile_hint, scene.profile_hint),
                (kept, kept),
                "{format:?} {profile:?}"
            );
            let losses = format.losses(table).join("; ");
            let is_named = losses.contains(&format!("--profile {}", profile.unwrap_or("nothing")));
            assert_eq!(is_named, kept != profile, "{format:?}: {losses}");
        }
    }
}

/// A move changes positions, and leaves the other columns as they are, of any type.
#[test]
fn columns_that_a_move_leaves_alone_keep_their_numbers() {
    let plain = Synthetic::new(Recipe::Object, 1, 50, 0).unwrap().splats();
    let mut table = SplatTable::from_slices(&plain.to_arrays().as_slices()).unwrap();
    for column in &mut table.columns {
        // No f32 holds a tenth.
        let values = (0..50).map(|row| column.values.get(row) + 0.1).collect();
        column.values = ColumnValues::Other(Scalar::F64, values);
    }
    let mut moved = table.clone();
    let path = Path::new("table");
    Action::Translate([1e-9, 0.0, 0.0]).apply(&mut moved, path, &quadrille::Task::NEVER).unwrap();
    for (before, after) in table.columns.iter().zip(&moved.columns) {
        assert_eq!(before.name, after.name);
        assert_eq!(before.values == after.values, before.name != "x", "{}", before.name);
    }
}

/// Values beyond the range of a format are counted in a warning each.
#[test]
fn clamped_values_are_warned_of_with_their_number() {
    let plain = Synthetic::new(Recipe::Object, 1, 50, 1).unwrap().splats();
    let mut table = SplatTable::from_slices(&plain.to_arrays().as_slices()).unwrap();
    for column in &mut table.columns {
        let values: &mut [f32] = match &mut column.values {
            ColumnValues::F32(values) => values,
            ColumnValues::Other(..) => panic!("single precision"),
        };
        // Values in range, but for these.
        values.iter_mut().for_each(|v| *v = v.clamp(-1.0, 1.0));
        match column.name.as_str() {
            "scale_1" => values[..2].copy_from_slice(&[7.0, 5.95]),
            "f_dc_2" => values[..3].copy_from_slice(&[4.0, -2.5, 1.7]),
            "f_rest_3" => values[..3].copy_from_slice(&[4.5, -1.5, 1.02]),
            _ => {}
        }
    }
    for (format, expected) in [
        (
            OutputFormat::Spz4,
            &["scales above e^5.94", "colours beyond -0.44 to 1.44", "harmonics beyond -1 to 0.99"]
                [..],
        ),
        (OutputFormat::CompressedPly, &["harmonics beyond -4 to 4"]),
        (OutputFormat::DotSplat, &["degree 1 are left out", "colours beyond 0 to 1"]),
        (OutputFormat::Sog, &[]),
        (OutputFormat::Glb, &[]),
    ] {
        let losses = format.losses(&table);
        assert_eq!(losses.len(), expected.len(), "{format:?}: {losses:?}");
        for (loss, expected) in losses.iter().zip(expected) {
            let count = match *expected {
                "colours beyond 0 to 1" | "harmonics beyond -1 to 0.99" => "values clamped: 2",
                _ => "values clamped: 1",
            };
            let is_named = loss.contains(expected);
            assert!(is_named && (loss.contains(count) || loss.contains("left out")), "{loss}");
        }
    }
}
