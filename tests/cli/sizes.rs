//! Sizes in bytes, which are written in the same ways wherever one is given.

use std::fs;

use crate::support::program::{DONE, Place, SHOT, UNREADABLE, USAGE};

/// 1 MiB in twelve spellings.
const SPELLINGS: [&str; 12] = [
    "1M", "1MB", "1MiB", "1 MiB", "1 MB", "1mb", "1024K", "1024KB", "1024 kB", "1024KiB",
    "1048576B", "1048576",
];

#[test]
fn sizes_are_spelt_alike_at_every_place() {
    let place = Place::new();
    // Without a mesh, commands fail after their flags and files are accepted.
    let missing =
        |arguments: &[&str]| place.expect_error(UNREADABLE, arguments, &["none.obj: cannot read"]);
    let l2 = |arguments: &[&str]| {
        let dump = place.expect(DONE, &[&["sim", "--config-dump"], arguments].concat());
        let dump: toml::Table = toml::from_str(&String::from_utf8(dump.stdout).unwrap()).unwrap();
        assert_eq!(dump["l2"]["bytes"].as_integer(), Some(1 << 20), "{arguments:?}");
    };
    for size in SPELLINGS {
        let drawn = [&["render", "scene.ply", "-o", "a.png", "--memory", size], &SHOT[..]].concat();
        place.expect(DONE, &drawn);
        for command in ["mesh", "deferred"] {
            missing(&[command, "none.obj", "--memory", size]);
        }
        for value in [size.to_owned(), format!("\"{size}\"")] {
            l2(&["--set", &format!("l2.bytes={value}")]);
        }
        fs::write(place.path("my.toml"), format!("[l2]\nbytes = \"{size}\"\n")).unwrap();
        l2(&["--config", "my.toml"]);
        let suite = format!(
            "workload = \"merging\"\n[[mesh]]\nname = \"a\"\nmesh = \"none.obj\"\nmemory = \"{size}\"\n[[study]]\nname = \"s\"\n"
        );
        fs::write(place.path("suite.toml"), suite).unwrap();
        missing(&["bench", "suite.toml", "-o", "rows.jsonl"]);
        l2(&["--set", &format!("l2.bytes={size}..{size}*2")]);
    }
    for wrong in ["MB", "1X", "0.3B"] {
        let drawn =
            [&["render", "scene.ply", "-o", "a.png", "--memory", wrong], &SHOT[..]].concat();
        place.expect_error(
            USAGE,
            &drawn,
            &["--memory: expected a size such as 512M, 64KiB or 1.5GB"],
        );
    }
}
