//! The `compare` command as other programs see it: exit codes, JSON keys, files.
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use quadrille::Frame;
use serde_json::Value;

/// The program's exit codes.
const DONE: i32 = 0;
const CHECK_FAILED: i32 = 1;
const USAGE: i32 = 2;
const UNREADABLE: i32 = 3;
const UNWRITABLE: i32 = 4;

fn quadrille(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_quadrille")).arg("compare").args(arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

fn expect(code: i32, arguments: &[&str]) -> Output {
    let output = quadrille(arguments);
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {}", text(&output.stderr));
    output
}

fn json(arguments: &[&str]) -> Value {
    let output = expect(DONE, &[arguments, &["--json"]].concat());
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Grey 0.5 and a corner pixel of its own.
fn picture(corner: f32) -> Frame {
    let mut frame = Frame::from_pixels(12, 9, vec![[0.5, 0.5, 0.5, 1.0]; 108]);
    frame.pixels_mut()[0] = [corner, corner, corner, 1.0];
    frame
}

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes a picture and gives its path.
    fn with(&self, name: &str, frame: &Frame) -> String {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        quadrille::write_picture(&path, frame).unwrap();
        path.to_str().unwrap().to_owned()
    }

    fn named(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }
}

#[test]
fn json_of_one_pair_has_the_promised_keys() {
    let folder = Folder::new();
    let (a, b) = (folder.with("a.npy", &picture(0.5)), folder.with("b.npy", &picture(0.75)));
    let results = json(&[&a, &b, "--protocol", "float"]);
    assert_eq!(results["protocol"], "float");
    let pair = &results["pairs"][0];
    assert_eq!(pair["a"], a.as_str());
    assert_eq!(pair["b"], b.as_str());
    for key in ["psnr_db", "ssim", "flip", "max_abs", "p99_9_abs", "mse"] {
        assert!(pair[key].is_f64(), "{key} of {pair}");
        assert_eq!(pair[key], results["mean"][key]);
    }
    assert_eq!(pair["max_abs"], 0.25);
    let mse = 0.25_f64 * 0.25 / 108.0;
    assert!((pair["mse"].as_f64().unwrap() - mse).abs() < 1e-15);
    assert!((pair["psnr_db"].as_f64().unwrap() + 10.0 * mse.log10()).abs() < 1e-9);
}

#[test]
fn inria_is_the_default_and_rounds() {
    let folder = Folder::new();
    let (a, b) = (folder.with("a.npy", &picture(0.5)), folder.with("b.npy", &picture(0.501)));
    let results = json(&[&a, &b]);
    assert_eq!(results["protocol"], "inria");
    assert!(results["pairs"][0]["psnr_db"].is_null());
    assert!(json(&[&a, &b, "--protocol", "float"])["pairs"][0]["psnr_db"].is_f64());
}

#[test]
fn identical_pictures_are_null_and_said_to_be_identical() {
    let folder = Folder::new();
    let (a, b) = (folder.with("a.png", &picture(0.2)), folder.with("b.exr", &picture(0.2)));
    let results = json(&[&a, &b]);
    assert!(results["pairs"][0]["psnr_db"].is_null());
    assert!(results["mean"]["psnr_db"].is_null());
    assert_eq!(results["pairs"][0]["flip"], 0.0);
    let output = expect(DONE, &[&a, &b, "--fail-under-psnr", "1000"]);
    assert!(text(&output.stdout).contains("identical"));
    assert!(text(&output.stdout).contains("protocol inria"));
    assert!(output.stderr.is_empty(), "{}", text(&output.stderr));
}

#[test]
fn a_psnr_under_the_bound_is_exit_code_1_after_the_results() {
    let folder = Folder::new();
    let (a, b) = (folder.with("a.npy", &picture(0.5)), folder.with("b.npy", &picture(0.75)));
    let arguments = [&a, &b, "--json", "--fail-under-psnr"];
    let output = expect(CHECK_FAILED, &[&arguments[..], &["60"]].concat());
    let results: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(results["pairs"][0]["psnr_db"].as_f64().unwrap() < 60.0);
    assert!(text(&output.stderr).contains("error: pair \"a\": expected a PSNR of at least 60 dB"));
    // The error of a check is printed also when nothing else is.
    let quiet = expect(CHECK_FAILED, &[&a, &b, "-q", "--fail-under-psnr", "60"]);
    assert!(text(&quiet.stderr).contains("at least 60 dB"));
    expect(DONE, &[&arguments[..], &["10"]].concat());
    expect(DONE, &[&arguments[..], &["-5"]].concat());
    expect(USAGE, &[&arguments[..], &["nan"]].concat());
}

#[test]
fn unreadable_inputs_are_exit_code_3() {
    let folder = Folder::new();
    let a = folder.with("a.npy", &picture(0.5));
    let output = expect(UNREADABLE, &[&a, &folder.named("absent.npy")]);
    assert!(text(&output.stderr).contains("absent.npy"));
    assert!(output.stdout.is_empty());
    let small = folder.with("small.npy", &Frame::new(7, 5));
    let output = expect(UNREADABLE, &[&a, &small]);
    for size in ["12 x 9", "7 x 5", "small.npy", "a.npy"] {
        assert!(text(&output.stderr).contains(size), "{}", text(&output.stderr));
    }
    let broken = folder.path("broken.png");
    fs::write(&broken, b"no picture").unwrap();
    expect(UNREADABLE, &[&a, broken.to_str().unwrap()]);
}

#[test]
fn wrong_usage_is_exit_code_2() {
    let folder = Folder::new();
    let a = folder.with("in/a.npy", &picture(0.5));
    let inside = folder.named("in");
    expect(USAGE, &[&a]);
    expect(USAGE, &[&a, &a, "--protocol", "lpips"]);
    expect(USAGE, &[&a, &inside]);
    expect(USAGE, &[&a, &a, "--diff", "out.jpg"]);
    expect(USAGE, &["-", "-"]);
    let output = expect(USAGE, &[&inside, &inside, "--diff", "out.png"]);
    assert!(text(&output.stderr).contains("{name}"));
}

#[test]
fn the_difference_picture_is_written_or_exit_code_4() {
    let folder = Folder::new();
    let (a, b) = (folder.with("a.npy", &picture(0.0)), folder.with("b.npy", &picture(1.0)));
    let diff = folder.named("diff.png");
    let results = json(&[&a, &b, "--diff", &diff]);
    assert_eq!(results["pairs"][0]["diff"], diff.as_str());
    let heat = quadrille::read_picture(Path::new(&diff)).unwrap();
    // Enlarged eight times, above a legend.
    assert!(heat.width() > 12 * 8 && heat.height() > 9 * 8);
    assert!(heat.pixels()[0][0] > 0.9, "the corner is hot: {:?}", heat.pixels()[0]);
    let far = heat.pixels()[heat.width() as usize * 71 + 95];
    assert!(far[0] < 0.3, "the far corner is cold: {far:?}");
    let impossible = folder.named("a.npy/diff.png");
    let output = expect(UNWRITABLE, &[&a, &b, "--diff", &impossible]);
    assert!(text(&output.stderr).contains("a.npy/diff.png"));
}

#[test]
fn folders_pair_by_name_and_warn_about_the_rest() {
    let folder = Folder::new();
    folder.with("a/0.png", &picture(0.5));
    folder.with("a/1.npy", &picture(0.5));
    folder.with("a/2.npy", &picture(0.5));
    folder.with("b/0.npy", &picture(0.5));
    folder.with("b/1.npy", &picture(1.0));
    folder.with("b/3.npy", &picture(0.5));
    let (a, b) = (folder.named("a"), folder.named("b"));
    let template = folder.named("{name}-diff.png");
    let output = expect(DONE, &[&a, &b, "--json", "--diff", &template]);
    let results: Value = serde_json::from_slice(&output.stdout).unwrap();
    let pairs = results["pairs"].as_array().unwrap();
    assert_eq!(pairs.len(), 2);
    assert!(pairs[0]["b"].as_str().unwrap().ends_with("0.npy"));
    assert!(pairs[0]["psnr_db"].is_null());
    assert_eq!(results["mean"]["psnr_db"], pairs[1]["psnr_db"]);
    assert_eq!(results["mean"]["identical"], 1);
    let half = pairs[1]["mse"].as_f64().unwrap() / 2.0;
    assert_eq!(results["mean"]["mse"].as_f64().unwrap(), half);
    for name in ["0-diff.png", "1-diff.png"] {
        assert!(folder.path(name).exists());
    }
    let warnings = text(&output.stderr);
    assert!(warnings.contains("2.npy") && warnings.contains("3.npy"), "{warnings}");
    let table = expect(DONE, &[&a, &b, "--quiet"]);
    assert!(table.stderr.is_empty());
    let table = text(&table.stdout);
    assert!(table.lines().any(|line| line.starts_with("mean ")), "{table}");
    expect(CHECK_FAILED, &[&a, &b, "--fail-under-psnr", "60"]);
}

#[test]
fn folders_without_a_pair_are_exit_code_3() {
    let folder = Folder::new();
    folder.with("a/0.png", &picture(0.5));
    folder.with("b/1.png", &picture(0.5));
    let output = expect(UNREADABLE, &[&folder.named("a"), &folder.named("b")]);
    assert!(text(&output.stderr).contains("no common name (pictures here: 1, there: 1;"));
}

#[test]
fn poison_is_warned_about() {
    let folder = Folder::new();
    let (a, b) = (folder.with("a.npy", &picture(0.5)), folder.with("b.npy", &picture(f32::NAN)));
    let output = expect(DONE, &[&a, &b, "--json"]);
    let results: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(results["pairs"][0]["non_finite_pixels"], 1);
    assert!(results["pairs"][0]["psnr_db"].is_f64());
    assert!(text(&output.stderr).contains("pixels that are NaN or infinite: 1"));
}

#[test]
fn a_picture_from_stdin() {
    let folder = Folder::new();
    let a = folder.with("a.npy", &picture(0.5));
    let mut child = Command::new(env!("CARGO_BIN_EXE_quadrille"))
        .args(["compare", "-", &a, "--json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let bytes = fs::read(&a).unwrap();
    child.stdin.take().unwrap().write_all(&bytes).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(DONE));
    let results: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(results["pairs"][0]["psnr_db"].is_null());
}

#[test]
fn a_background_is_put_behind_both_pictures() {
    let folder = Folder::new();
    // Half-transparent grey, and what it looks like over white.
    let clear = Frame::from_pixels(12, 9, vec![[0.25, 0.25, 0.25, 0.5]; 108]);
    let white = Frame::from_pixels(12, 9, vec![[0.75, 0.75, 0.75, 1.0]; 108]);
    let (a, b) = (folder.with("a.npy", &clear), folder.with("b.npy", &white));
    let over_white = json(&[&a, &b, "--protocol", "float", "--background", "1,1,1"]);
    assert_eq!(over_white["pairs"][0]["max_abs"], 0.0);
    assert_eq!(over_white["pairs"][0]["alpha_max_abs"], 0.5);
    assert_eq!(over_white["background"], serde_json::json!([1.0, 1.0, 1.0]));
    let over_black = json(&[&a, &b, "--protocol", "float"]);
    assert_eq!(over_black["pairs"][0]["max_abs"], 0.5);
    expect(USAGE, &[&a, &b, "--background", "transparent"]);
}

/// A picture of another exposure is equal after the correction, over any background; the order of the pictures counts, and the
/// conditions name the map.
#[test]
fn colours_are_corrected_before_all_metrics() {
    let folder = Folder::new();
    let colours = (0..108_u8)
        .map(|at| [40, 7 * (at % 12), 5 * (at / 12)].map(|v| 0.2 + f32::from(v) / 160.0));
    let photo: Vec<[f32; 4]> = colours.map(|[r, g, b]| [r, g, b, 1.0]).collect();
    let darker = photo.iter().map(|[r, g, b, _]| [0.5 * r, 0.7 * g + 0.1, 0.6 * b, 0.75]);
    let a = folder.with("a.npy", &Frame::from_pixels(12, 9, darker.collect()));
    let cubes = photo.iter().map(|[r, g, b, _]| [r * r * r, g * g * g, b * b * b, 1.0]);
    let curved = folder.with("curved.npy", &Frame::from_pixels(12, 9, cubes.collect()));
    let b = folder.with("b.npy", &Frame::from_pixels(12, 9, photo));
    let plain = json(&[&a, &b, "--protocol", "gsplat"]);
    assert!(plain["pairs"][0]["psnr_db"].as_f64().unwrap() < 20.0, "{plain}");
    for (map, background) in
        [("affine", "0,0,0"), ("quadratic", "0,0,0"), ("affine", "0.4,0.5,0.6")]
    {
        let flags =
            ["--protocol", "gsplat", "--colour-correction", map, "--background", background];
        let corrected = json(&[&[&a[..], &b], &flags[..]].concat());
        let pair = &corrected["pairs"][0];
        assert!(pair["psnr_db"].as_f64().is_none_or(|psnr| psnr > 90.0), "{map}: {pair}");
        assert!(pair["ssim"].as_f64().unwrap() > 0.999_99 && pair["flip"].as_f64().unwrap() < 1e-3);
        assert_eq!(pair["alpha_max_abs"], 0.25);
        let words = corrected["conditions"].as_str().unwrap();
        assert!(words.contains(&format!("by the {map} map")), "{words}");
    }
    let affine = ["--protocol", "gsplat", "--colour-correction", "affine"];
    let to_curved = json(&[&[&b[..], &curved], &affine[..]].concat());
    let from_curved = json(&[&[&curved[..], &b], &affine[..]].concat());
    assert_ne!(to_curved["pairs"][0]["mse"], from_curved["pairs"][0]["mse"]);
    expect(USAGE, &[&a, &b, "--colour-correction", "cubic"]);
    expect(USAGE, &[&a, &b, "--colour-correction", "affine", "--layers"]);
}

#[test]
fn photographs_in_jpeg_are_compared() {
    let folder = Folder::new();
    let a = folder.with("ours/one.png", &picture(0.5));
    let pixels: Vec<u8> = vec![128; 12 * 9 * 3];
    let jpeg = folder.named("photos/one.JPG");
    fs::create_dir_all(folder.path("photos")).unwrap();
    let file = fs::File::create(&jpeg).unwrap();
    let mut encoder = image::codecs::jpeg::JpegEncoder::new_with_quality(file, 100);
    encoder.encode(&pixels, 12, 9, image::ExtendedColorType::Rgb8).unwrap();
    let one = json(&[&a, &jpeg]);
    assert!(one["pairs"][0]["max_abs"].as_f64().unwrap() < 0.02);
    let (ours, photos) = (folder.named("ours"), folder.named("photos"));
    let all = json(&[&ours, &photos]);
    assert_eq!(all["pairs"][0]["name"], "one");
    // Half of the file is an error, and no panic.
    let content = fs::read(&jpeg).unwrap();
    fs::write(&jpeg, &content[..content.len() / 4]).unwrap();
    expect(UNREADABLE, &[&a, &jpeg]);
}

#[test]
fn a_pair_of_different_sizes_has_a_row_and_the_others_are_compared() {
    let folder = Folder::new();
    folder.with("a/one.png", &picture(0.5));
    folder.with("b/one.png", &picture(0.25));
    folder.with("a/two.png", &picture(0.5));
    let small = Frame::from_pixels(3, 2, vec![[0.5, 0.5, 0.5, 1.0]; 6]);
    folder.with("b/two.png", &small);
    let (a, b) = (folder.named("a"), folder.named("b"));
    let output = expect(UNREADABLE, &[&a, &b]);
    let page = text(&output.stdout);
    assert!(page.contains("not compared"), "{page}");
    assert!(page.contains("expected 12 x 9 pixels"), "{page}");
    let output = expect(UNREADABLE, &[&a, &b, "--json"]);
    let results: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(results["pairs"][0]["name"], "one");
    assert_eq!(results["not_compared"][0]["name"], "two");
}

#[test]
fn layers_are_compared_plane_by_plane() {
    let folder = Folder::new();
    let scene = concat!(env!("CARGO_MANIFEST_DIR"), "/scenes/island.ply");
    let render = |name: &str, backend: &str| {
        let path = folder.named(name);
        let output = Command::new(env!("CARGO_BIN_EXE_quadrille"))
            .args(["render", scene, "--eye", "12,-4,-12", "--target", "0,-1,0", "--width", "96"])
            .args(["--aov", "depth,normal,id,count", "--backend", backend, "-o", &path])
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", text(&output.stderr));
        path
    };
    let (fast, exact) = (render("fast.exr", "cpu"), render("exact.exr", "reference"));
    let results = json(&[&fast, &exact, "--layers", "--fail-over-share", "0.001"]);
    let channels = results["layers"].as_array().unwrap().iter();
    let channels: Vec<_> = channels.map(|layer| layer["channel"].as_str().unwrap()).collect();
    assert_eq!(channels, ["Count.X", "Id.X", "N.X", "N.Y", "N.Z", "Z"]);
    // Another view differs nearly everywhere.
    let other = folder.named("other.{aov}.npy");
    for eye in ["12,-4,-12", "-12,-4,12"] {
        let name = other.replace("other", if eye.starts_with('-') { "b" } else { "a" });
        let output = Command::new(env!("CARGO_BIN_EXE_quadrille"))
            .args(["render", scene, "--eye", eye, "--target", "0,-1,0", "--width", "96"])
            .args(["--aov", "depth,id", "-o", &name])
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", text(&output.stderr));
    }
    for layer in ["depth", "id"] {
        let pair = ["a", "b"].map(|name| folder.named(&format!("{name}.{layer}.npy")));
        let flags = [&*pair[0], &pair[1], "--layers", "--fail-over-share", "0.5"];
        expect(CHECK_FAILED, &flags);
    }
    assert!(folder.path("a.rgba.npy").exists());
    // Two depths and an identifier have no plane in common.
    let (a, b) = (folder.named("a.depth.npy"), folder.named("a.rgba.npy"));
    expect(UNREADABLE, &[&a, &b, "--layers"]);
}

/// The flag adds SSIMULACRA2 to every output; the order of the pictures matters, and small ones are named.
#[test]
fn ssimulacra2_is_in_every_output() {
    let place = Folder::new();
    let noisy = |step: usize| {
        let value = |at: usize| (at * at * step % 97) as f32 / 97.0;
        let pixels = (0..24 * 16).map(|at| [value(at), value(at + 3), value(at + 5), 1.0]);
        Frame::from_pixels(24, 16, pixels.collect())
    };
    let [a, b] = [place.with("a.npy", &noisy(1)), place.with("b.npy", &noisy(2))];
    let metric = ["--ssimulacra2", "--protocol", "gsplat"];
    let score = |a: &str, b: &str| {
        let document = json(&[&[a, b], &metric[..]].concat());
        let score = document["pairs"][0]["ssimulacra2"].as_f64().unwrap();
        assert_eq!(document["worst"]["ssimulacra2"], score);
        score
    };
    // The second picture is the original.
    let read = |path: &str| quadrille::read_picture(path).unwrap();
    let expected = |original: &str, other: &str| {
        let protocol = quadrille::Protocol::Gsplat;
        quadrille_base::image::metrics::ssimulacra2(&read(original), &read(other), protocol)
            .unwrap()
    };
    assert_eq!(score(&a, &b), expected(&b, &a));
    assert_ne!(score(&a, &b), score(&b, &a));
    assert_eq!(score(&a, &a), 100.0);
    assert!(json(&[&a, &b])["pairs"][0].get("ssimulacra2").is_none());
    let csv = place.path("t.csv").to_str().unwrap().to_owned();
    let page = place.path("page").to_str().unwrap().to_owned();
    let files = ["--csv", &csv, "--html", &page];
    let output = expect(DONE, &[&[&*a, &b], &metric[..], &files].concat());
    let printed = text(&output.stdout);
    assert!(
        printed.contains("SSIMULACRA2") && printed.contains("the second picture as the original"),
        "{printed}"
    );
    let table = fs::read_to_string(&csv).unwrap();
    assert!(table.starts_with("name,a,b,psnr_db,ssim,ssimulacra2,flip"), "{table}");
    let page = fs::read_to_string(place.path("page/index.html")).unwrap();
    assert!(page.contains("by-ssimulacra2"));
    let gate = |limit: f64| {
        let limit = limit.to_string();
        let code = |pair: [&str; 2]| {
            let limit = ["--fail-under-ssimulacra2", &limit];
            quadrille(&[&pair[..], &metric, &limit].concat()).status.code()
        };
        [code([&a, &b]), code([&a, &a])]
    };
    assert_eq!(gate(score(&a, &b) + 0.1), [Some(CHECK_FAILED), Some(DONE)]);
    assert_eq!(gate(score(&a, &b) - 0.1), [Some(DONE), Some(DONE)]);
    for wrong in [
        &["--fail-under-ssimulacra2", "50"][..],
        &["--ssimulacra2", "--fail-under-ssimulacra2", "101"],
    ] {
        expect(USAGE, &[&[&*a, &b], wrong].concat());
    }
    let small = place.with("small.png", &Frame::new(9, 7));
    let output = expect(USAGE, &[&small, &small, "--ssimulacra2"]);
    let errors = text(&output.stderr);
    assert!(
        errors.contains(&small) && errors.contains("at least 8 x 8 pixels, found 9 x 7"),
        "{errors}"
    );
    assert!(errors.contains("SSIMULACRA2"), "{errors}");
}
