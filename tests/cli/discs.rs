//! Scenes of 2D Gaussians (2DGS), which are drawn as flat 3D Gaussians: every command that draws one says so.

use std::fs;

use quadrille::{OutputFormat, SplatModel, load_table, write_table};
use serde_json::Value;

use crate::support::program::{DONE, Place, SHOT};

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
fn every_command_that_draws_discs_warns() {
    let place = Place::new();
    write_discs(&place);
    let suite = "methods = [\"baseline\"]\n[[scene]]\nname = \"discs\"\npath = \"discs.ply\"\n\
                 cameras = \"cameras.json\"\nview = \"0\"\nwidth = 32\n";
    fs::write(place.path("suite.toml"), suite).unwrap();
    let with_shot = |command: &[&'static str]| [command, &SHOT[..]].concat();
    for call in [
        with_shot(&["render", "discs.ply", "-o", "a.png"]),
        with_shot(&["render", "discs.ply", "-o", "a.npy", "--memory", "1GB"]),
        with_shot(&["sim", "discs.ply", "--width", "32", "--method", "baseline"]),
        with_shot(&["compare", "scene.ply", "discs.ply", "--width", "32"]),
        vec!["render", "discs.ply", "--orbit", "2", "--width", "32", "-o", "a.y4m"],
        vec!["bench", "suite.toml", "-o", "rows.jsonl"],
        vec!["convert", "discs.ply", "-o", "discs.sog"],
        vec!["render", "discs.sog", "--width", "32", "-o", "a.png"],
    ] {
        let errors = errors(&place, &call);
        assert!(errors.contains(WARNING), "{call:?}: {errors}");
    }
    let page = String::from_utf8(place.expect(DONE, &["info", "discs.ply"]).stdout).unwrap();
    assert!(page.contains("warning    it was trained as 2D Gaussians"), "{page}");
    let document = place.expect(DONE, &["info", "discs.sog", "--json"]).stdout;
    let document: Value = serde_json::from_slice(&document).unwrap();
    assert_eq!(document["encoding"]["model"], "2dgs");
    // Other scenes have no warning.
    let errors = errors(&place, &with_shot(&["render", "scene.ply", "-o", "b.png"]));
    assert!(!errors.contains("2DGS"), "{errors}");
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
