//! Actions that look at the surroundings of splats, and SOG as a folder.

use std::path::Path;

use quadrille::Task;
use quadrille::convert::{Action, Amount, Condition, coarser_levels, concatenate};
use quadrille::{
    LoadOptions, OutputFormat, Protocol, RenderSettings, SceneInput, SplatTable, Splats, compare,
    load, render, write_table,
};

use quadrille_scene::{WriteOptions, write_levels_if};

use crate::conversion::{assert_same, camera, synthetic, table};
use crate::support::skipped;

fn applied(table: &SplatTable, action: &Action) -> SplatTable {
    let mut changed = table.clone();
    action.apply(&mut changed, Path::new("scene"), &quadrille::Task::NEVER).unwrap();
    changed
}

fn picture(table: &SplatTable, folder: &Path) -> quadrille::Frame {
    let path = folder.join("drawn.ply");
    write_table(&path, table, OutputFormat::Ply).unwrap();
    let splats = load(&path).unwrap().splats;
    render(&splats, &camera(240, 135), &RenderSettings::default()).0
}

#[test]
fn floaters_are_dropped_and_the_scene_stays() {
    let folder = tempfile::tempdir().unwrap();
    let scene = table(&synthetic(folder.path(), 4000));
    // Three single splats, far from the scene and from each other.
    let one = applied(&scene, &Action::Decimate(Amount::Splats(1)));
    let far = [[9.0, 0.0, 0.0], [0.0, -9.0, 0.0], [7.0, -7.0, 7.0]];
    let far = far.map(|offset| applied(&one, &Action::Translate(offset)));
    let tables = std::iter::once(scene.clone()).chain(far).collect();
    let both = concatenate(tables, &Task::NEVER).unwrap().unwrap();
    let cleaned = applied(&both, &Action::DropFloaters(3.0));
    let largest = |table: &SplatTable| {
        let columns = ["x", "y", "z"].map(|name| table.column(name).unwrap().into_owned());
        columns.iter().flatten().fold(0.0_f32, |most, v| most.max(v.abs()))
    };
    assert!(largest(&both) > 6.0 && largest(&cleaned) < 6.0);
    let dropped = both.rows() - cleaned.rows();
    assert!((3..60).contains(&dropped), "{dropped} of {}", both.rows());
    // Nothing is so sparse.
    assert_eq!(applied(&both, &Action::DropFloaters(1e6)), both);
}

#[test]
fn decimated_scenes_are_closer_than_thinned_ones() {
    let folder = tempfile::tempdir().unwrap();
    let scene = table(&synthetic(folder.path(), 6000));
    let half = Action::Decimate(Amount::Share(0.5));
    let decimated = applied(&scene, &half);
    assert_eq!(decimated.rows(), 3000);
    assert_eq!(applied(&scene, &Action::Decimate(Amount::Splats(3000))), decimated);
    assert_eq!(applied(&scene, &Action::Decimate(Amount::Splats(6000))), scene);
    let one_thread = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    assert_eq!(one_thread.install(|| applied(&scene, &half)), decimated);
    // The larger half of the splats.
    let mut sizes = scene.column("scale_0").unwrap().into_owned();
    sizes.sort_by(f32::total_cmp);
    let condition = format!("scale_0 > {}", sizes[2999]);
    let condition = Condition::parse(&condition).unwrap();
    let thinned = applied(&scene, &Action::Where(condition));
    assert!((2900..=3100).contains(&thinned.rows()), "{}", thinned.rows());
    let expected = picture(&scene, folder.path());
    let [merged, thinned] = [&decimated, &thinned].map(|table| {
        let found = picture(table, folder.path());
        compare(&expected, &found, Protocol::Float).unwrap().psnr_db.unwrap()
    });
    assert!(merged > 24.0 && merged > thinned + 3.0, "{merged} {thinned}");
}

/// The folder holds what the zip holds, and a second one replaces the first.
#[test]
fn sog_is_written_as_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let scene = table(&synthetic(folder.path(), 2000));
    let (zip, unpacked) = (folder.path().join("a.sog"), folder.path().join("a"));
    write_table(&zip, &scene, OutputFormat::Sog).unwrap();
    let plain = applied(&scene, &Action::LimitSh(0));
    let meta = unpacked.join("meta.json");
    assert_eq!(OutputFormat::of_name(&meta), Some(OutputFormat::SogFolder));
    for (table, files) in [(&scene, 8), (&plain, 6), (&scene, 8)] {
        write_table(&meta, table, OutputFormat::SogFolder).unwrap();
        assert_eq!(std::fs::read_dir(&unpacked).unwrap().count(), files);
    }
    let expected = load(&zip).unwrap();
    for path in [&meta, &unpacked] {
        assert_same("folder", &expected, &load(path).unwrap(), 0.0);
    }
    std::fs::write(unpacked.join("notes.txt"), "mine").unwrap();
    let error = write_table(&unpacked, &scene, OutputFormat::SogFolder).unwrap_err();
    assert!(error.to_string().contains("notes.txt"), "{error}");
    assert!(meta.is_file());
}

/// A streamed SOG holds its levels, each a scene with the splats of the table, and says where they are: leaves cover all
/// rows once, and lie within their bounds. The finest level is as good as a SOG.
#[test]
fn levels_of_detail_are_written_as_a_streamed_sog() {
    if skipped::is_slow() {
        return;
    }
    let place = tempfile::tempdir().unwrap();
    let path = |name: &str| place.path().join(name);
    let scene = table(&synthetic(place.path(), 70_000));
    let coarser = coarser_levels(&scene, 2, 0.5, Path::new("a.ply"), &Task::NEVER).unwrap();
    let levels: Vec<&SplatTable> = [&scene].into_iter().chain(&coarser).collect();
    let write = |name: &str, format| {
        write_levels_if(&path(name), &levels, WriteOptions::new(format), |_| Ok(true)).unwrap();
    };
    write("a.ssog", OutputFormat::StreamedSog);
    for _ in 0..2 {
        write("a/lod-meta.json", OutputFormat::StreamedSogFolder);
    }
    let at = |name: &str, level: u32| {
        let options = LoadOptions::new(None, level);
        quadrille::load(SceneInput::file(&path(name)).options(options)).unwrap()
    };
    for (level, rows) in [(0, 70_000), (1, 35_000), (2, 17_500)] {
        let zipped = at("a.ssog", level);
        assert_eq!(zipped.splats.len(), rows);
        assert_same("folder", &zipped, &at("a", level), 0.0);
        assert_eq!(levels[level as usize].rows(), rows);
        let before = levels[level as usize].splats().unwrap().0;
        let sum = |splats: &Splats| splats.iter().map(|s| f64::from(s.mean[0])).sum::<f64>();
        let apart = (sum(&before) - sum(&zipped.splats)).abs() / rows as f64;
        assert!(apart < 1e-4, "level {level}: means differ by {apart}");
    }
    let options = LoadOptions::new(None, 3);
    assert!(quadrille::load(SceneInput::file(&path("a")).options(options)).is_err());
    let text = std::fs::read_to_string(path("a/lod-meta.json")).unwrap();
    let meta: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(meta["counts"], serde_json::json!([70_000, 35_000, 17_500]));
    let mut leaves = Vec::new();
    let mut nodes = vec![&meta["tree"]];
    while let Some(node) = nodes.pop() {
        match node["children"].as_array() {
            Some(children) => {
                for child in children {
                    let bound = |node: &serde_json::Value, end: &str, axis: usize| {
                        node["bound"][end][axis].as_f64().unwrap()
                    };
                    for axis in 0..3 {
                        assert!(bound(node, "min", axis) <= bound(child, "min", axis));
                        assert!(bound(node, "max", axis) >= bound(child, "max", axis));
                    }
                    nodes.push(child);
                }
            }
            None => leaves.push(node),
        }
    }
    assert!(leaves.len() > 2, "{} leaves", leaves.len());
    for (level, rows) in [("0", 70_000), ("1", 35_000), ("2", 17_500)] {
        let counts = leaves.iter().map(|leaf| leaf["lods"][level]["count"].as_u64().unwrap());
        assert_eq!(counts.sum::<u64>(), rows);
    }
    // The splats of a leaf are inside its bounds.
    let splats = at("a", 0).splats;
    for leaf in &leaves {
        let range = &leaf["lods"]["0"];
        let number = |name: &str| usize::try_from(range[name].as_u64().unwrap()).unwrap();
        assert_eq!(number("file"), 0, "70,000 splats fit into one file");
        for splat in splats.iter().skip(number("offset")).take(number("count")) {
            for axis in 0..3 {
                let v = f64::from(splat.mean[axis]);
                let [low, high] =
                    ["min", "max"].map(|end| leaf["bound"][end][axis].as_f64().unwrap());
                assert!((low..=high).contains(&v), "{low} {v} {high}");
            }
        }
    }
    // Files that are not part of a streamed SOG stay.
    std::fs::write(path("a/0_0/notes.txt"), "mine").unwrap();
    let refused = write_table(&path("a"), &scene, OutputFormat::StreamedSogFolder).unwrap_err();
    assert!(refused.to_string().contains("notes.txt"), "{refused}");
    let options = WriteOptions::new(OutputFormat::Sog);
    let error = write_levels_if(&path("b.sog"), &levels, options, |_| Ok(true));
    assert!(error.unwrap_err().to_string().contains(".ssog"));
}

/// Bounds are numbers also without splats, and of one that reaches beyond all numbers; splats in one place are not
/// divided.
#[test]
fn odd_scenes_are_written_as_a_streamed_sog() {
    let place = tempfile::tempdir().unwrap();
    let path = |name: &str| place.path().join(name);
    let scene = table(&synthetic(place.path(), 70_000));
    let mut empty = scene.clone();
    empty.select(&[], &Task::NEVER).unwrap();
    let mut huge = scene.clone();
    huge.select(&[0], &Task::NEVER).unwrap();
    let mut raw = huge.raw(Path::new("a.ply"), &Task::NEVER).unwrap();
    raw.scale.iter_mut().flatten().for_each(|log| *log = 1000.0);
    huge.set_raw(raw);
    for table in [empty, huge] {
        write_table(&path("bounds/lod-meta.json"), &table, OutputFormat::StreamedSogFolder)
            .unwrap();
        let text = std::fs::read_to_string(path("bounds/lod-meta.json")).unwrap();
        let meta: serde_json::Value = serde_json::from_str(&text).unwrap();
        for end in ["min", "max"] {
            let numbers = meta["tree"]["bound"][end].as_array().unwrap();
            assert!(
                numbers.len() == 3 && numbers.iter().all(serde_json::Value::is_number),
                "{text}"
            );
        }
    }
    let mut raw = scene.raw(Path::new("a.ply"), &Task::NEVER).unwrap();
    raw.mean.iter_mut().flatten().for_each(|v| *v = 1.0);
    let mut heap = scene.clone();
    heap.set_raw(raw);
    write_table(&path("heap.ssog"), &heap, OutputFormat::StreamedSog).unwrap();
    assert_eq!(load(path("heap.ssog")).unwrap().splats.len(), 70_000);
}

/// The largest progress that `work` reports, and the number of reports.
fn progress(work: impl FnOnce(&Task)) -> ((u64, u64), usize) {
    let seen = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let into = seen.clone();
    work(&Task::new().on_progress(move |done, total| into.lock().unwrap().push((done, total))));
    let seen = seen.lock().unwrap();
    (seen.iter().copied().max().unwrap_or_default(), seen.len())
}

#[test]
fn long_stages_report_their_progress_to_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let scene = table(&synthetic(folder.path(), 6000));
    let apply = |action: &Action| {
        progress(|task| {
            let applied = action.apply(&mut scene.clone(), Path::new("scene"), task);
            applied.unwrap();
        })
    };
    let (end, reports) = apply(&Action::Decimate(Amount::Splats(1000)));
    assert!(end == (5000, 5000) && reports > 5, "{end:?} {reports}");
    let (end, reports) = apply(&Action::DropFloaters(3.0));
    assert!(end == (6000, 6000) && reports > 4, "{end:?} {reports}");
    let write = |name: &str, format| {
        progress(|task| {
            write_table(&folder.path().join(name), &scene, WriteOptions::new(format).task(task))
                .unwrap();
        })
    };
    // Seven passes over all rows.
    let (end, reports) = write("a.sog", OutputFormat::Sog);
    assert!(end == (42_000, 42_000) && reports > 7, "{end:?} {reports}");
    let ((done, total), reports) = write("a.spz", OutputFormat::Spz4);
    assert!(done == total && total > 6000 && reports >= 5, "{done} {total} {reports}");
}
