//! `compare`: compares two pictures, or two folders of pictures.

mod pairs;
mod results;

use std::path::{Path, PathBuf};

use anyhow::Context;

use self::pairs::{Pairs, PicturePair};
use self::results::{Measured, Results};
use super::console::{Exit, Verbosity, fail, print, print_json};
use super::outputs::{NAME, Outputs, Template};
use super::usage::finite;
use crate::error::{Error, Result};
use crate::image::difference::heat_picture;
use crate::image::files::{self, PictureFormat};
use crate::image::metrics::{Protocol, compare_with_map};

/// Maximum number of files without a partner that are named.
const LISTED_UNMATCHED: usize = 10;

/// Compare two pictures, or two folders of pictures with the same names
///
/// Prints PSNR (in dB; higher is closer), SSIM (1 is identical), FLIP (0 is identical), the largest
/// and the 99.9th percentile of the absolute differences, their mean square, and the largest
/// difference of alpha. Colours are compared over black.
///
/// Pictures are .png, .exr or .npy files, recognised by their content. In folders, files with the
/// same name form pairs; a file without a partner is paired with one whose name differs only in its
/// extension.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// Picture or folder of pictures; "-" reads a picture from standard input
    a: PathBuf,
    /// Picture of the same size, or folder, to compare with
    b: PathBuf,
    /// Preparation of values before they are compared
    #[arg(long, value_enum, default_value_t = Protocol::Inria)]
    protocol: Protocol,
    /// Write the FLIP error of every pixel as a heat map, from black (0) to cream (1). For folders, the
    /// name must contain "{name}", which is replaced by the name of the pair
    #[arg(long, value_name = "OUT.png")]
    diff: Option<PathBuf>,
    /// Exit with code 1 if the PSNR of any pair is below this, in dB; identical pictures always pass
    #[arg(long, value_name = "DB", value_parser = finite)]
    fail_under_psnr: Option<f64>,
    /// Print one JSON document instead of a table
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "Examples:
  quadrille compare ours.png photo.png
  quadrille compare renders references --protocol float --json
  quadrille compare renders references --diff 'diff/{name}.png'
  quadrille compare ours.npy reference.npy --fail-under-psnr 40";

pub(super) fn run(args: &Args, verbosity: Verbosity) -> anyhow::Result<Exit> {
    let found = pairs::find(&args.a, &args.b)?;
    let diff = args.diff.as_deref();
    let diff = diff.map(|path| prepare_diff(path, &found)).transpose()?;
    warn_unmatched(&found.unmatched, verbosity);
    let progress = verbosity.progress_bar(found.pairs.len() as u64, "pairs");
    let protocol = args.protocol;
    let mut measured = Vec::with_capacity(found.pairs.len());
    // The last error; the others have been printed.
    let mut unmeasured = None;
    for pair in &found.pairs {
        let diff = diff.as_ref().map(|d| d.filled(&[(NAME, &pair.name)]));
        let (a, b) = (pair.a.display(), pair.b.display());
        let one = measure(pair, protocol, diff.as_deref())
            .with_context(|| format!("comparing {a} and {b}"));
        let one = match one {
            Ok(one) => one,
            // The other pairs can still be compared.
            Err(error) if found.are_folders => {
                progress.suspend(|| unmeasured.iter().for_each(|e| fail(&format!("{e:#}"))));
                unmeasured = Some(error);
                continue;
            }
            Err(error) => return Err(error),
        };
        if one.comparison.non_finite_pixels > 0 {
            let pixels = one.comparison.non_finite_pixels;
            progress.suspend(|| {
                verbosity.warn(&format!("{a} and {b}: {pixels} pixels are NaN or infinite"));
            });
        }
        verbosity.remark(&format!("{a} and {b}: compared"));
        measured.push(one);
        progress.inc(1);
    }
    progress.finish_and_clear();
    if let Some(error) = unmeasured.take_if(|_| measured.is_empty()) {
        return Err(error);
    }
    let results = Results {
        protocol,
        pairs: measured,
    };
    if args.json {
        print_json(results.json())?;
    } else {
        print(results.table())?;
    }
    if let Some(error) = unmeasured {
        return Err(error);
    }
    Ok(match args.fail_under_psnr {
        Some(least_db) => check_psnr(&results, least_db, verbosity),
        None => Exit::Done,
    })
}

/// Compares a pair, and writes its difference picture to `diff`.
fn measure(pair: &PicturePair, protocol: Protocol, diff: Option<&Path>) -> Result<Measured> {
    let (a, b) = (pairs::read(&pair.a)?, pairs::read(&pair.b)?);
    let [size, other] = [&a, &b].map(|picture| [picture.width(), picture.height()]);
    if size != other {
        let expected = format!(
            "{} x {} pixels as in {}",
            size[0],
            size[1],
            pair.a.display()
        );
        let found = format!("{} x {}", other[0], other[1]);
        return Err(Error::malformed(&pair.b, "picture size", expected, found));
    }
    let (comparison, map) = compare_with_map(&a, &b, protocol)?;
    if let Some(path) = diff {
        files::write(path, &heat_picture(size, &map))?;
    }
    Ok(Measured::new(pair, comparison, diff))
}

/// Checks the names of difference pictures, and makes their folders.
fn prepare_diff(path: &Path, found: &Pairs) -> Result<Template> {
    if PictureFormat::of_name(path).is_none() {
        let expected = "a name that ends in .png, .exr or .npy";
        let found = path.display().to_string();
        return Err(Error::argument("--diff", expected, found));
    }
    let diff = Template::parse("--diff", path, &[NAME])?;
    // Folders may have more pairs at the next call.
    if found.are_folders {
        diff.require(NAME, found.pairs.len().max(2), "pairs")?;
    }
    let inputs = found.pairs.iter().flat_map(|pair| [&*pair.a, &*pair.b]);
    let mut outputs = Outputs::beside(inputs);
    for pair in &found.pairs {
        outputs.add("--diff", &diff.filled(&[(NAME, &pair.name)]))?;
    }
    Ok(diff)
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

fn check_psnr(results: &Results, least_db: f64, verbosity: Verbosity) -> Exit {
    let below: Vec<&str> = results.below_psnr(least_db).collect();
    if below.is_empty() {
        return Exit::Done;
    }
    verbosity.warn(&format!("PSNR below {least_db} dB: {}", below.join(", ")));
    Exit::CheckFailed
}
