//! `compare`: how far pictures lie apart, one pair or two folders of them.

mod pairs;
mod results;

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::ValueEnum;
use indicatif::{ProgressBar, ProgressStyle};

use self::pairs::{Pairs, PicturePair};
use self::results::{Measured, Results};
use super::{Outcome, Verbosity, stdout};
use crate::error::{Error, Result};
use crate::image::difference::heat_picture;
use crate::image::files::{self, Format};
use crate::image::metrics::{Protocol, compare_with_map};

/// What stands for a pair's name in the name of its difference picture.
const NAME_PLACE: &str = "{name}";

/// How many files without a partner are named; the rest are counted.
const LISTED_UNMATCHED: usize = 10;

/// Measure how far two pictures, or two folders of like-named pictures, lie apart
#[derive(Debug, clap::Args)]
#[command(
    long_about = "Measure how far two pictures, or two folders of like-named pictures, lie apart.\n\n\
    Pictures are .png, .exr or .npy files, recognised by their content. Colours are compared over \
    black; the difference of alpha is reported by itself. In folders, files of the same name are \
    pairs, then files of the same name but for the extension."
)]
pub(super) struct Args {
    /// A picture, a folder of pictures, or - for a picture from stdin
    a: PathBuf,
    /// What to compare it with, of the same size
    b: PathBuf,
    /// What is done to the values first
    #[arg(long, value_enum, default_value_t)]
    protocol: ProtocolName,
    /// Write the FLIP error of every pixel as a heat map, black for 0 to cream for 1; for folders,
    /// {name} in the file's name stands for the pair's
    #[arg(long, value_name = "OUT.png")]
    diff: Option<PathBuf>,
    /// Exit with 1 when the PSNR of any pair is below this; identical pictures never are
    #[arg(long, value_name = "DB", value_parser = finite, allow_negative_numbers = true)]
    fail_under_psnr: Option<f64>,
    /// Print one JSON document instead of a table
    #[arg(long)]
    json: bool,
}

/// The metrics' protocol, by its name.
#[derive(Debug, Clone, Copy, Default, ValueEnum)]
enum ProtocolName {
    /// Clamp to 0..1 and round to 8 bits, as the authors of 3D Gaussian splatting do
    #[default]
    Inria,
    /// Neither clamp nor round (FLIP clamps)
    Float,
}

impl From<ProtocolName> for Protocol {
    fn from(name: ProtocolName) -> Self {
        match name {
            ProtocolName::Inria => Self::Inria,
            ProtocolName::Float => Self::Float,
        }
    }
}

fn finite(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|value: &f64| value.is_finite())
        .ok_or_else(|| "a number of decibels, such as 40".to_owned())
}

pub(super) fn run(args: &Args, verbosity: Verbosity) -> anyhow::Result<Outcome> {
    let found = pairs::find(&args.a, &args.b)?;
    if let Some(diff) = &args.diff {
        check_diff_name(diff, &found)?;
    }
    warn_unmatched(&found.unmatched, verbosity);
    let progress = progress_bar(&found, verbosity);
    let protocol = args.protocol.into();
    let mut measured = Vec::with_capacity(found.pairs.len());
    for pair in &found.pairs {
        let diff = args.diff.as_ref().map(|path| diff_path(path, &pair.name));
        let (a, b) = (pair.a.display(), pair.b.display());
        let one = measure(pair, protocol, diff.as_deref())
            .with_context(|| format!("comparing {a} and {b}"))?;
        if one.comparison.non_finite_pixels > 0 {
            let pixels = one.comparison.non_finite_pixels;
            progress.suspend(|| {
                verbosity.warn(&format!("{a} and {b}: {pixels} pixels are NaN or infinite"));
            });
        }
        measured.push(one);
        progress.inc(1);
    }
    progress.finish_and_clear();
    let results = Results::new(protocol, measured);
    let text = if args.json {
        results.json()
    } else {
        results.table()
    };
    stdout::write(text.as_bytes())?;
    Ok(match args.fail_under_psnr {
        Some(least_db) => verdict(&results, least_db, verbosity),
        None => Outcome::Done,
    })
}

/// Reads, compares and, with `diff`, writes the picture of the difference.
fn measure(pair: &PicturePair, protocol: Protocol, diff: Option<&Path>) -> Result<Measured> {
    let (a, b) = (pairs::read(&pair.a)?, pairs::read(&pair.b)?);
    if (a.width(), a.height()) != (b.width(), b.height()) {
        return Err(Error::file(
            &pair.b,
            "picture size",
            format!(
                "{} x {} pixels as in {}",
                a.width(),
                a.height(),
                pair.a.display()
            ),
            format!("{} x {}", b.width(), b.height()),
        ));
    }
    let (comparison, map) = compare_with_map(&a, &b, protocol)?;
    if let Some(path) = diff {
        files::write(path, &heat_picture(&map))?;
    }
    Ok(Measured::new(pair, comparison, diff))
}

/// Refuses, before any work, a name that no difference picture, or only one of many, can have.
fn check_diff_name(diff: &Path, found: &Pairs) -> Result<()> {
    let refused = |expected: &str| {
        Err(Error::caller(
            "--diff",
            expected,
            diff.display().to_string(),
        ))
    };
    if Format::of_name(diff).is_none() {
        return refused("a name that ends in .png, .exr or .npy");
    }
    if found.are_folders && !diff.to_string_lossy().contains(NAME_PLACE) {
        return refused("{name} in the file's name, since folders are compared");
    }
    Ok(())
}

fn diff_path(diff: &Path, name: &str) -> PathBuf {
    match diff.to_str() {
        Some(text) => text.replace(NAME_PLACE, name).into(),
        None => diff.to_path_buf(),
    }
}

fn warn_unmatched(unmatched: &[PathBuf], verbosity: Verbosity) {
    for path in unmatched.iter().take(LISTED_UNMATCHED) {
        verbosity.warn(&format!(
            "{}: no partner in the other folder",
            path.display()
        ));
    }
    if unmatched.len() > LISTED_UNMATCHED {
        let more = unmatched.len() - LISTED_UNMATCHED;
        verbosity.warn(&format!("{more} more files without a partner"));
    }
}

/// A bar over the pairs of folders, which draws itself on terminals only.
fn progress_bar(found: &Pairs, verbosity: Verbosity) -> ProgressBar {
    if !found.are_folders || !verbosity.progress() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{pos} of {len} pairs {wide_bar} {eta}");
    ProgressBar::new(found.pairs.len() as u64)
        .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

fn verdict(results: &Results, least_db: f64, verbosity: Verbosity) -> Outcome {
    let under: Vec<&str> = results.under_psnr(least_db).collect();
    if under.is_empty() {
        return Outcome::Done;
    }
    verbosity.warn(&format!("PSNR under {least_db} dB: {}", under.join(", ")));
    Outcome::CheckFailed
}
