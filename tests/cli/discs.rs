//! Scenes of 2D Gaussians (2DGS): discs in pictures, and flat 3D Gaussians, with a warning, in commands that draw no discs.

use std::fs;

use quadrille::{OutputFormat, SplatModel, load_table, write_table};
use serde_json::Value;

use crate::support::program::{DONE, Place, SHOT, UNREADABLE, USAGE};

const WARNING: &str = "trained as 2D Gaussians (2DGS), which are drawn as flat 3D Gaussians";

/// Adds `discs.ply`, the scene without third scales.
pub(crate) fn write_discs(place: &Place) {
    let mut table = load_table(place.path("scene.ply")).unwrap();
    table.columns.retain(|column| column.name != "scale_2");
    write_table(&place.path("discs.ply"), &table, OutputFormat::Ply).unwrap();
}

fn errors(place: &Place, arguments: &[&str]) -> String {
    String::from_utf8(place.expect(DONE, arguments).stderr).unwrap()
}

#[test]
fn discs_are_drawn_and_ellipsoids_warned_of() {
    let place = Place::new();
    write_discs(&place);
    let suite = "methods = [\"baseline\"]\n[[scene]]\nname = \"discs\"\npath = \"discs.ply\"\n\
                 cameras = \"cameras.json\"\nview = \"0\"\nwidth = 32\n";
    fs::write(place.path("suite.toml"), suite).unwrap();
    let with_shot = |command: &[&'static str]| [command, &SHOT[..]].concat();
    for call in [
        with_shot(&["sim", "discs.ply", "--width", "32", "--method", "baseline"]),
        vec!["bench", "suite.toml", "-o", "rows.jsonl"],
        vec![
            "convert",
            "discs.ply",
            "--prune",
            "0.001",
            "--cameras",
            "cameras.json",
            "-o",
            "pruned.ply",
        ],
    ] {
        let errors = errors(&place, &call);
        assert!(errors.contains(WARNING), "{call:?}: {errors}");
    }
    for call in [
        with_shot(&["render", "discs.ply", "-o", "discs.npy"]),
        with_shot(&["render", "discs.ply", "-o", "batches.npy", "--memory", "1GB"]),
        with_shot(&["render", "scene.ply", "-o", "named.npy", "--profile", "2dgs"]),
        with_shot(&["render", "discs.ply", "-o", "flat.npy", "--profile", "inria"]),
        with_shot(&["compare", "scene.ply", "discs.ply", "--width", "32"]),
        vec!["convert", "discs.ply", "-o", "discs.sog"],
        vec!["render", "discs.sog", "--width", "32", "-o", "sog.png"],
    ] {
        let errors = errors(&place, &call);
        assert!(!errors.contains(WARNING), "{call:?}: {errors}");
    }
    let bytes = |name: &str| fs::read(place.path(name)).unwrap();
    // The third scale, which the discs lack, has no effect.
    assert!(bytes("discs.npy") == bytes("named.npy"));
    assert!(bytes("discs.npy") == bytes("batches.npy"));
    assert!(bytes("discs.npy") != bytes("flat.npy"));
    // A scale in time is none of the three in space.
    let mut moving = load_table(place.path("discs.ply")).unwrap();
    let mut times = moving.columns.iter().find(|column| column.name == "scale_0").unwrap().clone();
    "scale_t".clone_into(&mut times.name);
    moving.columns.push(times);
    (moving.encoding.model, moving.profile_hint) = (None, None);
    moving.comments.clear();
    write_table(&place.path("moving.ply"), &moving, OutputFormat::Ply).unwrap();
    for name in ["discs.ply", "discs.sog", "moving.ply"] {
        let document = place.expect(DONE, &["info", name, "--json"]).stdout;
        let document: Value = serde_json::from_slice(&document).unwrap();
        assert_eq!(document["encoding"]["model"], "2dgs");
        assert_eq!(document["profile_hint"], "2dgs");
    }
}

#[test]
fn commands_without_discs_refuse_their_profiles() {
    let place = Place::new();
    let refused = |code, call: &[&str]| {
        let errors = String::from_utf8(place.expect(code, call).stderr).unwrap();
        assert!(errors.contains("a profile of ellipsoids, such as inria"), "{call:?}: {errors}");
    };
    refused(USAGE, &["sim", "scene.ply", "--width", "32", "--profile", "2dgs"]);
    let suite = "methods = [\"baseline\"]\n[[scene]]\nname = \"a\"\npath = \"scene.ply\"\nprofile = \"2dgs\"\n";
    fs::write(place.path("suite.toml"), suite).unwrap();
    refused(UNREADABLE, &["bench", "suite.toml", "-o", "rows.jsonl"]);
    let panorama = ["--camera-model", "equirectangular", "--profile", "2dgs", "-o", "a.png"];
    let call = [&["render", "scene.ply", "--width", "32"][..], &panorama].concat();
    let errors = String::from_utf8(place.expect(USAGE, &call).stderr).unwrap();
    assert!(errors.contains("a pinhole camera, for profile 2dgs"), "{errors}");
}

/// A conversion keeps the model, or says that the format cannot hold it; inputs of several models have none.
#[test]
fn conversions_keep_the_model_or_name_its_loss() {
    let place = Place::new();
    write_discs(&place);
    for output in ["a.spz", "a.glb", "a.splat"] {
        let errors = errors(&place, &["convert", "discs.ply", "-o", output]);
        assert!(
            errors.contains("the model 2dgs, which the scene was trained as, is left out"),
            "{errors}"
        );
    }
    for output in ["a.ply", "a.compressed.ply", "a.sog", "a.ssog"] {
        let errors = errors(&place, &["convert", "discs.ply", "--scale", "2", "-o", output]);
        assert!(!errors.contains("left out"), "{output}: {errors}");
        let table = load_table(place.path(output)).unwrap();
        assert_eq!(table.encoding.model, Some(SplatModel::Discs), "{output}");
    }
    place.expect(DONE, &["convert", "scene.ply", "discs.ply", "-o", "both.ply"]);
    let table = load_table(place.path("both.ply")).unwrap();
    assert_eq!(table.encoding.model, Some(SplatModel::Plain));
}
