//! Both renderers against pictures and fragment counts of trained scenes by an independent renderer in
//! double precision.
use std::collections::BTreeMap;
use std::fs;

use quadrille::Camera;
use quadrille::Counts;
use quadrille::Frame;
use quadrille::Profile;
use quadrille::Protocol;
use quadrille::RenderSettings;
use quadrille::Renderer;
use quadrille::SimdLevel;
use quadrille::Splats;
use quadrille::StopRule;
use quadrille::compare;
use quadrille::render_reference;
use serde_json::Value;

use crate::support::pictures::Differences;
use crate::support::shared;
use crate::support::tolerances::{LEAST_PSNR_DB, bound, hold};

/// Stop rule of the pictures.
const PICTURE_STOP: &str = "inria";

/// A picture with its camera, and the fragments blended under each stop rule.
struct Expected {
    name: String,
    camera: Camera,
    picture: Frame,
    blended: Vec<(String, u64)>,
}

/// The pictures by scene; `None` if there are none, which is reported as a skipped test.
fn expected() -> Option<BTreeMap<String, Vec<Expected>>> {
    let counts = fs::read_to_string(shared::path("scenes/reference/counts.jsonl")?).unwrap();
    let mut scenes: BTreeMap<String, Vec<Expected>> = BTreeMap::new();
    for line in counts.lines() {
        let row: Value = serde_json::from_str(line).unwrap();
        let text = |key: &str| row[key].as_str().unwrap().to_owned();
        let scene = text("scene");
        let name = format!("{scene}_{}", row["index"]);
        let blended = row["counts"]["fragments_blended"].as_u64().unwrap();
        let pictures = scenes.entry(scene).or_default();
        if pictures.last().is_none_or(|p| p.name != name) {
            let path = |file: &str| format!("scenes/reference/{file}");
            let cameras = shared::cameras(&path(&text("camera_file")))?;
            let index = usize::try_from(row["index"].as_u64().unwrap()).unwrap();
            let picture = shared::path(&path(&format!("{name}.npy")))?;
            pictures.push(Expected {
                name,
                camera: cameras[index].clone(),
                picture: quadrille::read_picture(&picture).unwrap(),
                blended: Vec::new(),
            });
        }
        pictures.last_mut().unwrap().blended.push((text("stop"), blended));
    }
    Some(scenes)
}

/// A renderer: its name and its function.
type Renders<'a> = (&'a str, Box<dyn FnMut(&Splats, &Camera, Profile) -> (Frame, Counts) + 'a>);

fn renderers<'a>() -> Vec<Renders<'a>> {
    let fast = |level: SimdLevel| -> Renders<'a> {
        let mut renderer = Renderer::default();
        let render = move |splats: &Splats, camera: &Camera, profile| {
            renderer.render(splats, camera, &RenderSettings { profile, level })
        };
        (level.name(), Box::new(render))
    };
    let oracle = |splats: &Splats, camera: &Camera, profile| {
        let level = SimdLevel::best();
        render_reference(splats, camera, &RenderSettings { profile, level })
    };
    let mut all: Vec<Renders<'a>> = SimdLevel::all().into_iter().map(fast).collect();
    all.push(("reference", Box::new(oracle)));
    all
}

/// Checks the bounds of a picture and prints a row of the table.
fn hold_picture(renderer: &str, found: &Frame, expected: &Expected) {
    let measured = compare(found, &expected.picture, Protocol::Float).unwrap();
    let psnr_db = measured.psnr_db.unwrap_or(f64::INFINITY);
    let strays = Differences::between(found, &expected.picture).strays(bound("stray"));
    println!(
        "{:12} {renderer:10} {psnr_db:7.2} dB  p99.9 {:.1e}  max {:.1e}  alpha max {:.1e}  {strays:3} strays",
        expected.name, measured.p99_9_abs, measured.max_abs, measured.alpha_max_abs,
    );
    let place = format!("{}, {renderer}", expected.name);
    let least = LEAST_PSNR_DB[usize::from(renderer == "reference")];
    assert!(psnr_db >= least, "{place}: {psnr_db} dB, at least {least}");
    hold("reference p99.9", measured.p99_9_abs, &place);
}

/// Checks the bound of a count of fragments.
fn hold_fragments(renderer: &str, stop: &str, found: u64, expected: u64, name: &str) {
    let place = format!("{name}, {renderer}, stop rule {stop}, {found} fragments of {expected}");
    let difference = found.abs_diff(expected) as f64;
    if renderer == "reference" {
        hold("reference oracle fragments", difference, &place);
    } else {
        hold("reference fragments", difference / expected as f64, &place);
    }
    if difference > 0.0 {
        println!("{place}");
    }
}

#[test]
fn pictures_and_counts_of_trained_scenes() {
    let Some(scenes) = expected() else { return };
    for (scene, pictures) in &scenes {
        let Some(splats) = shared::scene(scene) else {
            continue;
        };
        for (name, render) in &mut renderers() {
            for expected in pictures {
                for (stop, blended) in &expected.blended {
                    let profile =
                        Profile { stop: StopRule::parse(stop).unwrap(), ..Profile::default() };
                    let (found, counts) = render(&splats, &expected.camera, profile);
                    if stop == PICTURE_STOP {
                        hold_picture(name, &found, expected);
                    }
                    hold_fragments(name, stop, counts.fragments_blended, *blended, &expected.name);
                }
            }
        }
    }
    assert_eq!(scenes.values().map(Vec::len).sum::<usize>(), 14, "pictures compared");
}
