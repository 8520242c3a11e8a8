//! Runs the program on a small scene in a temporary folder.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Command, Output};

use quadrille::Frame;
use quadrille::PlyWriter;
use quadrille::write_inria_json;
use serde_json::Value;

use super::scenes::{self, Random};

/// Flags that select one view of the camera file.
pub(crate) const SHOT: [&str; 4] = ["--cameras", "cameras.json", "--view", "shot_1"];

/// A call that renders all views of the camera file, without its output.
pub(crate) const ALL_VIEWS: [&str; 6] =
    ["render", "scene.ply", "--cameras", "cameras.json", "--view", "all"];

/// The program's exit codes.
pub(crate) const DONE: i32 = 0;
pub(crate) const USAGE: i32 = 2;
pub(crate) const UNREADABLE: i32 = 3;
pub(crate) const UNWRITABLE: i32 = 4;

/// Number of cameras in the camera file.
pub(crate) const CAMERAS: usize = 3;

/// A temporary folder with `scene.ply` and `cameras.json`.
pub(crate) struct Place(tempfile::TempDir);

impl Place {
    pub(crate) fn new() -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        let mut random = Random::new(3);
        let cameras: Vec<_> = (0..CAMERAS)
            .map(|i| {
                let mut camera = scenes::camera(&mut random, 60, 40);
                camera.name = format!("shot_{i}");
                // The file has no principal point.
                camera.principal_px = [30.0, 20.0];
                camera
            })
            .collect();
        let splats = scenes::splats(&mut random, &cameras[0], 300, 1);
        let file = File::create(place.path("scene.ply")).unwrap();
        let mut writer = PlyWriter::new(file, splats.len() as u64, 1, &[]).unwrap();
        for splat in splats.iter() {
            writer.push(&splat).unwrap();
        }
        writer.finish().unwrap();
        fs::write(place.path("cameras.json"), write_inria_json(&cameras)).unwrap();
        place
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_quadrille"))
            .args(arguments)
            .current_dir(self.0.path())
            .output()
            .unwrap()
    }

    /// Runs the program with the file `name` as standard input, and returns what it prints.
    pub(crate) fn fed(&self, name: &str, arguments: &[&str]) -> String {
        let mut command = Command::new(env!("CARGO_BIN_EXE_quadrille"));
        let command = command.args(arguments).current_dir(self.0.path());
        let output = command.stdin(File::open(self.path(name)).unwrap()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    pub(crate) fn expect(&self, code: i32, arguments: &[&str]) -> Output {
        let output = self.run(arguments);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {errors}");
        assert_eq!(code == DONE, !errors.contains("error:"), "{arguments:?}: {errors}");
        output
    }

    /// Expects an error that contains `words`, and no results; a conversion has printed what was done before.
    pub(crate) fn expect_error(&self, code: i32, arguments: &[&str], words: &[&str]) {
        let output = self.expect(code, arguments);
        let errors = String::from_utf8(output.stderr).unwrap();
        for word in words {
            assert!(errors.contains(word), "{arguments:?} does not say {word}: {errors}");
        }
        let has_rows = arguments.first() == Some(&"convert");
        assert!(output.stdout.is_empty() || has_rows, "{arguments:?} prints results");
    }

    /// Expects results and an exit code other than 0; returns what stands on standard error.
    pub(crate) fn expect_failure(&self, code: i32, arguments: &[&str]) -> String {
        let output = self.expect(code, arguments);
        assert!(!output.stdout.is_empty(), "{arguments:?} prints no results");
        String::from_utf8(output.stderr).unwrap()
    }

    /// The JSON document that a command prints, which names the build.
    pub(crate) fn document(&self, arguments: &[&str]) -> Value {
        let stdout = self.expect(DONE, arguments).stdout;
        let document: Value = serde_json::from_slice(&stdout).unwrap();
        let build = &document["quadrille"];
        assert_eq!(build["version"], env!("CARGO_PKG_VERSION"), "{arguments:?}");
        let commit = build["commit"].as_str().unwrap_or_default();
        assert!(!commit.is_empty(), "{arguments:?}: {build}");
        document
    }

    /// Renders with `--json`.
    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        self.document(&[&["render", "scene.ply", "--json"], arguments].concat())
    }

    /// Renders into `name` and reads the picture.
    pub(crate) fn picture(&self, name: &str, arguments: &[&str]) -> Frame {
        self.expect(DONE, &[&["render", "scene.ply", "-o", name], arguments].concat());
        quadrille::read_picture(self.path(name)).unwrap()
    }

    pub(crate) fn names(&self) -> BTreeSet<String> {
        let entries = fs::read_dir(self.0.path()).unwrap();
        entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect()
    }
}
