//! Whether the ports that are named as the limit of a run are the ones whose relief helps.

use quadrille::gpu::config::Config;
use quadrille::gpu::method::Method;
use quadrille::gpu::relief::{MethodRelief, PartKind, relief};
use quadrille::gpu::view::PreparedView;

use crate::support::emulated;
use crate::support::{shared, skipped};

/// Rates at half of their defaults.
const HALVED_RATES: [&str; 16] = [
    "vertex.primitives_per_cycle=1/2",
    "vpo.primitives_per_cycle=1/2",
    "tgc.primitives_in_per_cycle=1/2",
    "tgc.primitives_out_per_cycle=1/2",
    "setup.primitives_per_cycle=1/2",
    "coarse.tiles_per_cycle=1",
    "hi_z.tiles_per_cycle=1",
    "fine.tiles_per_cycle=1",
    "tc.tiles_in_per_cycle=1",
    "tc.quads_out_per_cycle=4",
    "prop.quads_in_per_cycle=4",
    "prop.quads_out_per_cycle=2",
    "zrop.quads_per_cycle=4",
    "qru.quads_per_cycle=2",
    "launch.warps_per_cycle=1/2",
    "crop.bytes_per_cycle=32",
];

/// Storages at half of their defaults.
const HALVED_STORAGES: [&str; 14] = [
    "vertex.buffer_bytes=262144",
    "vertex.fetch_queue=128",
    "vertex.warps=32",
    "tgc.fetch_queue=128",
    "tgc.bins=64",
    "tc.bins=16",
    "zrop.wait_queue=128",
    "zrop.update_queue=32",
    "zrop.cache_bytes=16384",
    "qru.buffers=1",
    "cores.warps_per_core=24",
    "crop.wait_queue=320",
    "crop.cache_bytes=8192",
    "l2.bytes=2097152",
];

/// Gain below which no relief matters.
const LEAST_GAIN: f64 = 0.005;

fn reliefs(view: &PreparedView<'_>, config: &Config) -> Vec<MethodRelief> {
    let methods = ["qm", "het", "het+qm"].map(|name| Method::parse(name).unwrap());
    relief(view, config, &methods, &quadrille::Task::NEVER, &mut |_, _| ()).unwrap()
}

/// The methods whose named ports, relieved together, gain less than half of the best single relief, in words. `undone` has
/// the cycles of each method without the change that the run is about; its gain counts as a relief too.
fn wrong(reliefs: &[MethodRelief], undone: Option<&[u64]>) -> Vec<String> {
    let of_method = |(at, relief): (usize, &MethodRelief)| {
        let singles = [PartKind::Unit, PartKind::Storage].map(|kind| relief.best(kind));
        let best = singles.into_iter().flatten().max_by(|a, b| a.gain.total_cmp(&b.gain))?;
        let undone = undone.map_or(0.0, |cycles| 1.0 - cycles[at] as f64 / relief.cycles as f64);
        let best_gain = best.gain.max(undone);
        let gain = relief.of_limit().map_or(0.0, |part| part.gain);
        (best_gain >= LEAST_GAIN && gain < best_gain / 2.0).then(|| {
            format!(
                "{}: {:?} gains {gain:.3}, {} {:.3}, undoing {undone:.3}",
                relief.method, relief.limiting, best.name, best.gain
            )
        })
    };
    reliefs.iter().enumerate().filter_map(of_method).collect()
}

/// Runs `scene` at `width` with each of the changes whose place in the list of all is a multiple of `every`.
fn check_halves(scene: &str, view: usize, width: u32, every: usize) -> Vec<String> {
    let (Some(splats), Some(cameras)) =
        (shared::scene(scene), shared::cameras(&format!("scenes/{scene}.cameras.json")))
    else {
        return Vec::new();
    };
    let camera = &cameras[view];
    let height = (width * camera.height).div_ceil(camera.width);
    let camera = camera.resized(width, height).unwrap();
    let view = emulated::prepared(&splats, &camera);
    let unchanged = reliefs(&view, &Config::default());
    let cycles: Vec<u64> = unchanged.iter().map(|relief| relief.cycles).collect();
    let mut faults = wrong(&unchanged, None);
    let changes = HALVED_RATES.iter().chain(&HALVED_STORAGES);
    for change in changes.step_by(every) {
        let of_change = reliefs(&view, &emulated::config(&[change]));
        let sentences = wrong(&of_change, Some(&cycles)).into_iter();
        faults.extend(sentences.map(|sentence| format!("{scene}, {change}: {sentence}")));
    }
    faults
}

/// A tenth of the changes, on the scene with the fewest splats.
#[test]
fn relief_of_the_named_ports_gains_most() {
    if skipped::is_slow() {
        return;
    }
    assert_eq!(check_halves("udon", 4, 200, 10), Vec::<String>::new());
}

/// All changes, on three scenes.
#[test]
#[ignore = "18,000 runs take half an hour"]
fn relief_of_the_named_ports_gains_most_in_three_scenes() {
    let scenes = [("truck", 1, 200), ("statue", 2, 128), ("robot", 3, 110)];
    let faults = scenes.map(|(scene, view, width)| check_halves(scene, view, width, 1));
    assert_eq!(faults.concat(), Vec::<String>::new());
}

/// All scenes and presets.
#[test]
#[ignore = "30,000 runs take two hours"]
fn relief_of_the_named_ports_gains_most_on_every_preset() {
    let scenes = ["truck", "statue", "robot", "showroom", "flowers", "graffiti", "udon"];
    let mut faults = Vec::new();
    for scene in scenes {
        let (Some(splats), Some(cameras)) =
            (shared::scene(scene), shared::cameras(&format!("scenes/{scene}.cameras.json")))
        else {
            return;
        };
        for camera in cameras.iter().step_by(cameras.len() / 3).take(3) {
            let height = (160 * camera.height).div_ceil(camera.width);
            let view = emulated::prepared(&splats, &camera.resized(160, height).unwrap());
            for preset in ["vr-pipe", "emerald-example", "orin", "ampere-gpc", "rtx-a6000"] {
                let of_preset = reliefs(&view, &Config::preset(preset).unwrap());
                let sentences = wrong(&of_preset, None).into_iter();
                faults.extend(
                    sentences
                        .map(|sentence| format!("{scene}, {}, {preset}: {sentence}", camera.name)),
                );
            }
        }
    }
    assert_eq!(faults, Vec::<String>::new());
}
