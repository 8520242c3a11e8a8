//! The commands in the README and in `docs/` run as they stand there.
//!
//! A block fenced as `sh` is run whole by a shell, in a folder with links to `scenes` and
//! `benches`, which blocks that begin with the same suite share. Of a block fenced as `sh slow`, which would take minutes, the flags are checked against
//! the help of the command, and so are the flags of commands in tables. Where a block fenced as `text` follows a
//! block that is run, its lines are printed. The feature `slow-tests` runs all pages; without it, [`FIRST`] ones are run.
#![cfg(unix)]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use rayon::prelude::*;

use crate::support::{shared, skipped};

const PROGRAM: &str = env!("CARGO_BIN_EXE_quadrille");

/// Pages that a newcomer reads first.
const FIRST: [&str; 4] = ["README.md", "getting-started.md", "install.md", "three-splats.md"];

/// Relative difference of numbers in an output of another machine, whose vectors may round otherwise.
const ROUNDING: f64 = 1e-3;

/// Help of each command, by its name.
static HELPS: Mutex<BTreeMap<String, String>> = Mutex::new(BTreeMap::new());

/// A fenced block of shell commands.
#[derive(Default)]
struct Block {
    /// Page and line, for messages.
    place: String,
    is_slow: bool,
    commands: String,
    /// Lines that the commands print, as a block fenced as `text` behind this one shows them. `...` stands for others.
    output: Vec<String>,
    /// Whether the output has times of a machine: the block is fenced as `text times`.
    has_times: bool,
}

/// The part of a page that a line is in.
#[derive(PartialEq)]
enum Part {
    Prose,
    Commands,
    /// Behind a block of commands, where its output may begin.
    BehindCommands,
    Output,
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn pages() -> Vec<PathBuf> {
    let docs = fs::read_dir(root().join("docs")).unwrap().map(|entry| entry.unwrap().path());
    let mut pages: Vec<_> = docs.filter(|p| p.extension().is_some_and(|e| e == "md")).collect();
    pages.push(root().join("README.md"));
    pages.sort();
    pages
}

fn blocks(page: &Path) -> Vec<Block> {
    let name = page.file_name().unwrap().to_str().unwrap();
    let text = fs::read_to_string(page).unwrap();
    let mut blocks: Vec<Block> = Vec::new();
    let mut part = Part::Prose;
    for (line, number) in text.lines().zip(1..) {
        let fence = line.strip_prefix("```");
        part = match (fence, part) {
            (Some(""), Part::Commands) => Part::BehindCommands,
            (Some(info @ ("sh" | "sh slow")), _) => {
                blocks.push(Block {
                    place: format!("{name}:{number}"),
                    is_slow: info == "sh slow",
                    ..Block::default()
                });
                Part::Commands
            }
            (Some(info @ ("text" | "text times")), Part::BehindCommands) => {
                blocks.last_mut().unwrap().has_times = info == "text times";
                Part::Output
            }
            (None, Part::Commands) => {
                let commands = &mut blocks.last_mut().unwrap().commands;
                *commands += &line.replace("cargo run --release --", "quadrille");
                commands.push('\n');
                Part::Commands
            }
            (None, Part::Output) => {
                let shown = Some(line.to_owned()).filter(|line| line != "..." && !line.is_empty());
                blocks.last_mut().unwrap().output.extend(shown);
                Part::Output
            }
            (None, Part::BehindCommands) if line.is_empty() => Part::BehindCommands,
            _ => Part::Prose,
        };
    }
    // The test command is the one that runs this test.
    blocks.retain(|block| !block.commands.starts_with("cargo test"));
    blocks
}

/// The commands in the tables of a page.
fn commands_in_tables(page: &Path) -> Vec<Block> {
    let name = page.file_name().unwrap().to_str().unwrap();
    let text = fs::read_to_string(page).unwrap();
    let rows = (1..).zip(text.lines()).filter(|(_, line)| line.starts_with('|'));
    let commands = rows.flat_map(|(number, line)| {
        let code = line.split('`').skip(1).step_by(2);
        code.filter(|code| code.starts_with("quadrille ")).map(move |code| (number, code))
    });
    commands
        .map(|(number, code)| Block {
            place: format!("{name}:{number}"),
            is_slow: true,
            commands: code.to_owned(),
            ..Block::default()
        })
        .collect()
}

/// Checks that the help of each command knows the flags that a block gives it.
fn check_flags(block: &Block) {
    let commands = block.commands.replace("\\\n", " ");
    for command in commands.lines().filter(|line| line.starts_with("quadrille ")) {
        let words: Vec<&str> = command.split_whitespace().collect();
        if words[1] == "view" && !cfg!(feature = "view") {
            skipped::note(format!("{} needs the feature view", block.place));
            continue;
        }
        let mut helps = HELPS.lock().unwrap();
        let help = helps.entry(words[1].to_owned()).or_insert_with(|| {
            let help = Command::new(PROGRAM).args([words[1], "--help"]).output().unwrap();
            String::from_utf8(help.stdout).unwrap()
        });
        for flag in words.iter().filter(|word| word.starts_with("--")) {
            let flag = flag.split('=').next().unwrap();
            assert!(help.contains(flag), "{}: {} has no flag {flag}", block.place, words[1]);
        }
    }
}

fn run(block: &Block, shared: &Path, folder: &Path) {
    let programs = Path::new(PROGRAM).parent().unwrap().to_str().unwrap();
    let path = std::env::var("PATH").unwrap();
    let output = Command::new("sh")
        .args(["-euc", &block.commands])
        .current_dir(folder)
        .env("PATH", format!("{programs}:{path}"))
        .env("SCENES", shared.join("scenes"))
        .env("MESHES", shared.join("meshes"))
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}:\n{}{errors}", block.place, block.commands);
    let printed = format!("{}{errors}", String::from_utf8_lossy(&output.stdout));
    for shown in &block.output {
        let is_printed = printed.lines().any(|line| is_like(shown, line, block.has_times));
        assert!(is_printed, "{}: {shown}\nis not in\n{printed}", block.place);
    }
}

/// Whether two lines have the same words and, except for rounding or where `times` differ, the same numbers.
fn is_like(shown: &str, printed: &str, times: bool) -> bool {
    let number = |word: &str| {
        let digits = word.trim_end_matches(['x', '%', 'M', ',', ';']);
        digits.parse::<f64>().ok()
    };
    let [shown, printed] = [shown, printed].map(|line| line.split_whitespace().collect::<Vec<_>>());
    let is_alike = |(a, b): (&&str, &&str)| match number(a).zip(number(b)) {
        Some((a, b)) => times || (a - b).abs() <= ROUNDING * a.abs().max(b.abs()),
        None => a == b,
    };
    shown.len() == printed.len() && shown.iter().zip(&printed).all(is_alike)
}

#[test]
fn commands_of_the_readme_and_the_docs_run() {
    let mut counts = [0, 0];
    let in_tables: Vec<_> = pages().iter().flat_map(|page| commands_in_tables(page)).collect();
    in_tables.iter().for_each(check_flags);
    assert!(in_tables.len() > 20, "commands in tables were not found");
    let mut runs = Vec::new();
    for block in pages().iter().flat_map(|page| blocks(page)) {
        check_flags(&block);
        counts[usize::from(block.is_slow)] += 1;
        let is_first = FIRST.iter().any(|page| block.place.starts_with(page));
        if block.is_slow || !is_first && skipped::is_slow() {
            continue;
        }
        let needs_shared = block.commands.contains("$SCENES") || block.commands.contains("$MESHES");
        let shared = if needs_shared { shared::path("") } else { Some(root()) };
        match shared {
            Some(shared) => runs.push((block, shared)),
            None => skipped::note(format!("{} needs $SCENES or $MESHES", block.place)),
        }
    }
    // Blocks that begin with the same suite share their folder, so that its runs are made once.
    let suite = |block: &Block| {
        let first = block.commands.lines().next().unwrap_or_default().to_owned();
        Some(first).filter(|command| command.starts_with("quadrille bench"))
    };
    let mut groups: BTreeMap<String, Vec<_>> = BTreeMap::new();
    for (block, shared) in &runs {
        let key = suite(block).unwrap_or_else(|| block.place.clone());
        groups.entry(key).or_default().push((block, shared));
    }
    let groups: Vec<_> = groups.into_values().collect();
    groups.par_iter().with_max_len(1).for_each(|group| {
        let folder = tempfile::tempdir().unwrap();
        for name in ["scenes", "benches"] {
            symlink(root().join(name), folder.path().join(name)).unwrap();
        }
        group.iter().for_each(|(block, shared)| run(block, shared, folder.path()));
    });
    assert!(counts[0] > 10 && counts[1] > 2, "blocks were not found: {counts:?}");
}

/// The part of an address behind `#` that GitHub gives to a heading.
fn anchor(heading: &str) -> String {
    let letters = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = letters.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

#[test]
fn the_readme_is_short_and_names_every_page() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    assert!(readme.len() <= 6 * 1024, "README.md has {} bytes", readme.len());
    for page in pages() {
        let name = page.file_name().unwrap().to_str().unwrap();
        assert!(
            name == "README.md" || readme.contains(&format!("(docs/{name})")),
            "README.md does not name docs/{name}"
        );
    }
}

#[test]
fn links_lead_to_files_and_headings() {
    let mut anchors = 0;
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap();
        let links = text.split("](").skip(1);
        for link in links.filter_map(|rest| rest.split(')').next()) {
            if link.starts_with("http") {
                continue;
            }
            let (file, part) = link.split_once('#').unwrap_or((link, ""));
            let target = match file {
                "" => page.clone(),
                _ => page.parent().unwrap().join(file),
            };
            let place = format!("{} links to {link}", page.display());
            assert!(target.exists(), "{place}");
            if !part.is_empty() {
                let target = fs::read_to_string(target).unwrap();
                let headings = target.lines().filter(|line| line.starts_with('#'));
                assert!(headings.map(anchor).any(|a| a == part), "{place}");
                anchors += 1;
            }
        }
    }
    assert!(anchors > 10, "links to headings were not found");
}
