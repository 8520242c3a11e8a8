//! `compare`: compares two pictures, two folders of pictures, or two scenes.

mod layers;
mod pairs;
mod results;
mod scenes;

use std::path::{Path, PathBuf};

use anyhow::Context;

use self::layers::ComparedLayers;
use self::pairs::{Pairs, PicturePair};
use self::results::{Measured, Results, Unmeasured};
use self::scenes::ComparedScenes;
use super::choice::one_of;
use super::console::{Exit, Verbosity, fail, print, print_json};
use super::inputs::SceneFlags;
use super::options::parse_profile;
use super::outputs::{Background, NAME, Outputs, Template, parse_background, require_values};
use super::views::ViewArgs;
use quadrille_base::error::{Error, Result};
use quadrille_base::image::difference::heat_picture;
use quadrille_base::image::files;
use quadrille_base::image::metrics::{Protocol, compare_over};
use quadrille_base::parse::finite;
use quadrille_base::shading::Profile;

/// Maximum number of files without a partner that are named.
const LISTED_UNMATCHED: usize = 10;

/// Compare two pictures, two folders of pictures with the same names, or two scenes
///
/// Prints PSNR (in dB; higher is closer), SSIM (1 is identical), FLIP (0 is identical), the largest
/// and the 99.9th percentile of the absolute differences, their mean square, and the largest
/// difference of alpha. Colours are compared over black or --background.
///
/// Pictures are .png, .jpg, .exr or .npy files, recognised by their content. In folders, files with the
/// same name form pairs; a file without a partner is paired with one whose name differs only in its
/// extension.
///
/// Scenes of any format are rendered from the same views, each by its own profile, and the table begins
/// with the worst view. The views are the cameras beside the first scene, else a circle of 8 around its
/// content, unless flags choose others.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// Picture, folder of pictures or scene; "-" reads standard input
    a: PathBuf,
    /// Picture of the same size, folder, or scene, to compare with
    b: PathBuf,
    /// Preparation of values before they are compared
    #[arg(long, value_parser = one_of::<Protocol>(), default_value_t = Protocol::Inria)]
    protocol: Protocol,
    /// Colour behind both pictures, R,G,B from 0 to 1
    #[arg(long, value_name = "R,G,B", default_value = "0,0,0", value_parser = opaque)]
    background: Opaque,
    /// Compare layers instead of colours: the other channels of .exr files, or .npy files of one layer
    #[arg(long, conflicts_with_all = ["protocol", "background", "diff", "fail_under_psnr"])]
    layers: bool,
    /// Exit with code 1 if more than this share of the pixels of any layer differ, 0 to 1
    #[arg(long, value_name = "SHARE", requires = "layers", value_parser = finite)]
    fail_over_share: Option<f64>,
    /// Write the FLIP error of every pixel as a heat map, from black (0) to cream (1). For folders and
    /// several views, the name must contain "{name}", which is replaced by the name of the pair or view
    #[arg(long, value_name = "OUT.png")]
    diff: Option<PathBuf>,
    /// Exit with code 1 if the PSNR of any pair or view is below this, in dB; identical pictures always pass
    #[arg(long, value_name = "DB", value_parser = finite)]
    fail_under_psnr: Option<f64>,
    /// Print one JSON document instead of a table
    #[arg(long)]
    json: bool,
    /// Renderer whose constants to use for both scenes, as in `render` [default: for each scene the profile
    /// that its file names, else inria]
    #[arg(long, value_name = "NAME", value_parser = parse_profile)]
    profile: Option<Profile>,
    #[command(flatten)]
    reading: SceneFlags,
    // Last, since it ends with the heading of the views.
    #[command(flatten)]
    views: ViewArgs,
}

const EXAMPLES: &str = "Examples:
  quadrille compare ours.png photo.png
  quadrille compare renders references --protocol float --json
  quadrille compare renders references --diff 'diff/{name}.png'
  quadrille compare ours.npy reference.npy --fail-under-psnr 40
  quadrille compare scene.ply scene.spz --fail-under-psnr 35
  quadrille compare a.ply b.ply --cameras cameras.json --view ..:8
  quadrille compare ours.exr reference.exr --layers --fail-over-share 0.001";

/// An opaque background.
#[derive(Debug, Clone, Copy)]
struct Opaque([f32; 3]);

fn opaque(text: &str) -> std::result::Result<Opaque, String> {
    match parse_background(text)? {
        Background::Opaque(rgb) => Ok(Opaque(rgb)),
        Background::Transparent => Err("expected a colour such as 1,1,1".to_owned()),
    }
}

pub(super) fn run(args: &Args, verbosity: Verbosity) -> anyhow::Result<Exit> {
    args.views.check()?;
    if scenes::are_scenes(&args.a, &args.b)? {
        if args.layers {
            let expected = "pictures with layers (render writes them with --aov)";
            return Err(Error::argument("--layers", expected, "scenes").into());
        }
        let compared = ComparedScenes {
            paths: [&args.a, &args.b],
            views: &args.views,
            reading: args.reading,
            profile: args.profile,
            protocol: args.protocol,
            background: args.background.0,
            diff: args.diff.as_deref().map(diff_template).transpose()?,
            json: args.json,
            fail_under_psnr: args.fail_under_psnr,
        };
        return Ok(scenes::compare(&compared, verbosity)?);
    }
    let found = pairs::find(&args.a, &args.b)?;
    if args.layers {
        return compare_layers(args, &found, verbosity);
    }
    let diff = args.diff.as_deref();
    let diff = diff.map(|path| prepare_diff(path, &found)).transpose()?;
    warn_unmatched(&found.unmatched, verbosity);
    let progress = verbosity.progress("pairs");
    let (steps, bar) = (progress.task.steps(found.pairs.len() as u64), &progress.bar);
    let protocol = args.protocol;
    let mut measured = Vec::with_capacity(found.pairs.len());
    let mut not_compared = Vec::new();
    // The last error; the others have been printed.
    let mut unmeasured = None;
    for pair in &found.pairs {
        let diff = diff.as_ref().map(|d| d.filled(&[(NAME, &pair.name)]));
        let (a, b) = (pair.a.display(), pair.b.display());
        let one = match measure(args, pair, diff.as_deref()) {
            Ok(one) => one,
            // The other pairs can still be compared.
            Err(error) if found.are_folders => {
                not_compared.push(Unmeasured::new(pair, &error));
                let error = anyhow::Error::new(error).context(format!("comparing {a} and {b}"));
                bar.suspend(|| unmeasured.iter().for_each(|e| fail(&format!("{e:#}"))));
                unmeasured = Some(error);
                continue;
            }
            Err(error) => {
                return Err(anyhow::Error::new(error).context(format!("comparing {a} and {b}")));
            }
        };
        if one.comparison.non_finite_pixels > 0 {
            let pixels = one.comparison.non_finite_pixels;
            bar.suspend(|| {
                verbosity.warn(&format!("{a} and {b}: {pixels} pixels are NaN or infinite"));
            });
        }
        verbosity.remark(&format!("{a} and {b}: compared"));
        measured.push(one);
        steps.advance(1)?;
    }
    drop(progress);
    if let Some(error) = unmeasured.take_if(|_| measured.is_empty()) {
        return Err(error);
    }
    let results = Results {
        protocol,
        background: args.background.0,
        pairs: measured,
        unmeasured: not_compared,
    };
    if args.json {
        print_json(results.json())?;
    } else {
        print(results.table())?;
    }
    if let Some(error) = unmeasured {
        return Err(error);
    }
    let summary = results.summary();
    Ok(summary.check_psnr("pair", args.fail_under_psnr))
}

/// Compares a pair, and writes its difference picture to `diff`.
fn measure(args: &Args, pair: &PicturePair, diff: Option<&Path>) -> Result<Measured> {
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
    let Opaque(background) = args.background;
    let (comparison, map) = compare_over(&a, &b, background, args.protocol)?;
    if let Some(path) = diff {
        files::write(path, &heat_picture(size, &map))?;
    }
    Ok(Measured::new(pair, comparison, diff))
}

/// Compares the layers of all pairs.
fn compare_layers(args: &Args, found: &Pairs, verbosity: Verbosity) -> anyhow::Result<Exit> {
    warn_unmatched(&found.unmatched, verbosity);
    let mut compared = ComparedLayers::default();
    let mut failed = None;
    for pair in &found.pairs {
        let (a, b) = (pair.a.display(), pair.b.display());
        let added = compared.add(pair);
        if let Err(error) = added.with_context(|| format!("comparing {a} and {b}")) {
            failed.iter().for_each(|e| fail(&format!("{e:#}")));
            failed = Some(error);
        }
    }
    if let Some(error) = failed.take_if(|_| compared.is_empty()) {
        return Err(error);
    }
    if args.json {
        print_json(compared.json())?;
    } else {
        print(compared.table())?;
    }
    if let Some(error) = failed {
        return Err(error);
    }
    let most = args.fail_over_share.unwrap_or(1.0);
    let above: Vec<String> = compared.above_share(most).collect();
    if above.is_empty() {
        return Ok(Exit::Done);
    }
    fail(&format!(
        "expected at most {most} of the pixels of every layer to differ, found more in {}",
        above.join(", ")
    ));
    Ok(Exit::CheckFailed)
}

/// The name of difference pictures, which must be one of a picture.
fn diff_template(path: &Path) -> Result<Template> {
    require_values("--diff", path)?;
    Template::parse("--diff", path, &[NAME])
}

/// Checks the names of difference pictures, and makes their folders.
fn prepare_diff(path: &Path, found: &Pairs) -> Result<Template> {
    let diff = diff_template(path)?;
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
