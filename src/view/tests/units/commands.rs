//! Copied commands, read by a shell, against what is shown.
#![cfg(unix)]

use std::process::Command;

use super::*;
use crate::camera_request::Placed;
use crate::source::{SceneFilters, Source, VariantName};
use quadrille_base::image::Layer;
use quadrille_base::lens::{FisheyeLens, Projection};
use quadrille_base::math::SimdLevel;
use quadrille_gpu::config::Config;
use quadrille_gpu::variant::Variant;
use quadrille_scene::Intrinsics;

const SIZE: [u32; 2] = [960, 645];

/// The words that a shell makes of a command.
fn words(command: &Value) -> Vec<String> {
    let listed = format!("quadrille() {{ printf '%s\\n' \"$@\"; }}; {}", command.as_str().unwrap());
    let output = Command::new("sh").args(["-c", &listed]).output().unwrap();
    assert!(output.status.success(), "{command}");
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

fn camera(name: &str) -> Camera {
    let lens = Intrinsics::from_vertical_fov(640, 360, 50_f64.to_radians());
    let [eye, target] = [[0.5, -1.0, 3.0], [0.0; 3]].map(nalgebra::Vector3::from);
    Camera::look_at(name, lens, eye, target, -nalgebra::Vector3::y()).unwrap()
}

fn look(cameras: Vec<Camera>) -> Look {
    let listed = |camera: Camera| ListedView {
        selector: Some(camera.name.clone()),
        camera,
        name_in_file: None,
        photo: None,
    };
    Look {
        views: cameras.into_iter().map(listed).collect(),
        background: [0.0; 3],
        stop: None,
        near: None,
        order: None,
        exposures: None,
        level: SimdLevel::best(),
        config: Config::default(),
        meshes: None,
    }
}

fn drawn() -> Drawn {
    let renderer = RendererName::Cpu;
    let filters = SceneFilters::default();
    Drawn { scene: 0, profile: None, renderer, layer: None, background: None, filters }
}

fn moved(lens: Option<usize>) -> CameraRequest {
    let [eye, target, up] = [[0.1, 0.2, 3.0], [0.0, 1.0 / 3.0, 0.0], [0.0, -1.0, 0.0]];
    CameraRequest::Placed(Placed { eye, target, up, fov_degrees: 40.0, lens })
}

fn answer(commands: &Commands, cam: CameraRequest, drawn: Drawn, look: &Look) -> Value {
    let shot = Shot { cam, w: SIZE[0], h: SIZE[1], source: Source::Drawn(drawn) };
    commands.flags(&FlagsRequest { id: 1, shot, map: None }, look).unwrap()
}

fn commands(scene: &str) -> Commands {
    let camera_file = Some("ev il/c.json".into());
    Commands { scene: scene.to_owned(), camera_file, ..Commands::default() }
}

#[test]
fn no_name_leaves_its_word() {
    for name in ["a$(touch pwned2)'b", "-x", "two words", "a`b`", "\"", "\\", "* ? #"] {
        for scene in ["x --profile y.ply", "-scene.ply", "it's.ply", "$HOME.ply"] {
            let gsplat = Profile::named("gsplat-aa").unwrap();
            let chosen = Drawn { profile: Some(gsplat), ..drawn() };
            let commands = Commands {
                profile_flag: vec!["--profile=inria".to_owned()],
                shared: vec!["--where".to_owned(), "opacity > 0.5".to_owned()],
                ..commands(scene)
            };
            let look = look(vec![camera(name)]);
            let answer = answer(&commands, CameraRequest::Listed(0), chosen, &look);
            let scene =
                if scene.starts_with('-') { format!("./{scene}") } else { scene.to_owned() };
            let view = format!("--view={name}");
            let expected = ["render", &scene, "--where", "opacity > 0.5", "--profile=gsplat-aa"];
            let place = ["--cameras=ev il/c.json", &view, "--width", "960", "--height", "645"];
            let words = words(&answer["render"]);
            assert_eq!(words, [&expected[..], &place, &["-o", "picture.png"]].concat());
            assert_eq!(answer["needs_file"], false);
        }
    }
}

#[test]
fn renderers_layers_and_maps_have_their_commands() {
    let (commands, look) = (commands("a.ply"), look(vec![camera("bay")]));
    let of = |drawn| words(&answer(&commands, CameraRequest::Listed(0), drawn, &look)["render"]);
    let variant = Variant::HET_QM;
    let emulated = of(Drawn { renderer: RendererName::Emulated(variant), ..drawn() });
    assert_eq!(emulated[0], "sim");
    assert!(emulated.contains(&"--method=het+qm".to_owned()), "{emulated:?}");
    let reference = of(Drawn { renderer: RendererName::Reference, ..drawn() });
    assert!(reference.contains(&"--backend=reference".to_owned()), "{reference:?}");
    let layer = of(Drawn { layer: Some(Layer::Depth), ..drawn() }).join(" ");
    assert!(layer.contains("--aov depth --aov-colours "), "{layer}");
    let source = Source::Drawn(drawn());
    let shot = Shot { cam: CameraRequest::Listed(0), w: SIZE[0], h: SIZE[1], source };
    let map = Some(VariantName(variant));
    let mapped = commands.flags(&FlagsRequest { id: 1, shot, map }, &look).unwrap();
    let mapped = words(&mapped["sim"]).join(" ");
    assert!(mapped.ends_with("--method=het+qm --maps=maps"), "{mapped}");
    let mesh = Commands { is_mesh: true, ..commands };
    let answer = answer(&mesh, CameraRequest::Listed(0), drawn(), &look);
    assert_eq!(words(&answer["render"])[..2], ["mesh", "a.ply"]);
    assert!(words(&answer["sim"]).contains(&"--cycles".to_owned()));
}

#[test]
fn no_command_reads_a_scene_in_memory() {
    let commands = Commands { is_in_memory: true, ..commands("training") };
    let look = look(vec![camera("plain")]);
    for cam in [CameraRequest::Listed(0), moved(None)] {
        let answer = answer(&commands, cam, drawn(), &look);
        for command in [&answer["render"], &answer["sim"], &answer["film"]["command"]] {
            assert_eq!(command, &Value::Null);
        }
        assert_eq!(
            (&answer["needs_file"], &answer["file"]["name"]),
            (&false.into(), &"training.view.json".into())
        );
    }
}

#[test]
fn a_moved_camera_needs_a_file_only_for_its_lens() {
    let plain = camera("plain");
    let shifted = Camera { principal_px: [320.5, 180.0], ..plain.clone() };
    let oblong = Camera { focal_px: [400.0, 401.0], ..plain.clone() };
    let fisheye = plain.clone().through_fisheye(2.0);
    let bent = Projection::Fisheye(FisheyeLens::new([0.1, 0.0, 0.0, 0.0]).unwrap());
    let bent = plain.clone().with_projection(bent);
    let sphere = plain.clone().with_projection(Projection::Equirectangular);
    let parallel = plain.clone().through_parallel_rays(nalgebra::Vector3::zeros()).unwrap();
    let commands = commands("sc ene.v2.ply");
    for (lens, flags, needs_file) in [
        (plain, "--fov 50", false),
        (fisheye, "--camera-model fisheye", false),
        (sphere, "--camera-model equirectangular", false),
        (parallel, "--fov 40 --camera-model orthographic", false),
        (shifted, "--cameras=sc_ene.v2.view.json --transform=none", true),
        (oblong, "--cameras=sc_ene.v2.view.json --transform=none", true),
        (bent, "--cameras=sc_ene.v2.view.json --transform=none", true),
    ] {
        let look = look(vec![lens.clone()]);
        let answer = answer(&commands, moved(Some(0)), drawn(), &look);
        let text = words(&answer["render"]).join(" ");
        assert!(text.contains(flags), "{text}");
        assert_eq!(answer["needs_file"], needs_file, "{text}");
        let camera = camera_of(&moved(Some(0)), SIZE, &look.views).unwrap();
        assert_eq!(camera.projection, lens.projection);
        let Some(file) = answer["file"]["text"].as_str() else {
            assert!(!needs_file, "{text}");
            continue;
        };
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(answer["file"]["name"].as_str().unwrap());
        std::fs::write(&path, file).unwrap();
        let read = quadrille_scene::cameras::load(&path).unwrap().cameras.remove(0);
        assert_eq!((read.focal_px, read.principal_px), (camera.focal_px, camera.principal_px));
        assert_eq!(read.projection, camera.projection);
        assert!((read.eye() - camera.eye()).norm() < 1e-12);
    }
    // Without a lens, the field of view is that of the page.
    let answer = answer(&commands, moved(None), drawn(), &look(vec![camera("any")]));
    assert!(words(&answer["render"]).join(" ").contains("--fov 40 --width 960 --height 645"));
}

#[test]
fn rules_that_replace_those_of_the_profile_are_flags() {
    let mut look = look(vec![Camera { near_limit: Some(0.01), ..camera("auto") }]);
    let commands = Commands { camera_file: None, ..commands("a.ply") };
    let of =
        |look: &Look| words(&answer(&commands, moved(None), drawn(), look)["render"]).join(" ");
    assert!(of(&look).contains("--near=0.01 "), "{}", of(&look));
    look.near = Some(0.5);
    look.order = Some(quadrille_base::shading::SplatOrder::Distance);
    assert!(of(&look).contains("--near=0.5 --order=distance "), "{}", of(&look));
    let coloured = Drawn { background: Some([1.0, 0.2, 0.0]), ..drawn() };
    let text = words(&answer(&commands, moved(None), coloured, &look)["render"]).join(" ");
    assert!(text.contains("--background=1,0.2,0 "), "{text}");
    look.near = None;
    look.views[0].camera.near_limit = None;
    assert!(!of(&look).contains("--near"), "{}", of(&look));
}

#[test]
fn filters_of_a_page_follow_those_of_the_server() {
    let shared = vec!["--where=x > 1".to_owned()];
    let commands = Commands { shared, camera_file: None, ..commands("a.ply") };
    let filters: SceneFilters = serde_json::from_value(json!({
        "condition": "y < $HOME || y > 'a'",
        "keep_box": [-1.5, 0, -1e-7, 1, 1, 1],
        "splat_scale": 0.001,
    }))
    .unwrap_or_default();
    assert!(filters.0.is_empty(), "a condition of text is refused");
    let filters: SceneFilters = serde_json::from_value(json!({
        "condition": "y < 1 || !(y > 2)",
        "keep_box": [-1.5, 0, -1e-7, 1, 1, 1],
        "splat_scale": 0.001,
    }))
    .unwrap();
    let filtered = Drawn { filters, ..drawn() };
    let answer = answer(&commands, moved(None), filtered, &look(vec![camera("any")]));
    for command in ["render", "sim"] {
        let words = words(&answer[command]);
        let expected = [
            "--where=x > 1",
            "--keep-box=-1.5,0,-0.0000001,1,1,1",
            "--where=y < 1 || !(y > 2)",
            "--splat-scale=0.001",
        ];
        let at = words.iter().position(|word| word == expected[0]).unwrap();
        assert_eq!(words[at..at + expected.len()], expected, "{words:?}");
    }
    let film = answer["film"]["command"].clone();
    assert!(words(&film).iter().any(|word| word == "--path=a.camera_path.json"), "{film}");
}
