//! `compare`: compares pictures, films, scenes, or a scene and photos.

mod layers;
mod observer;
mod opened;
mod outputs;

use std::path::PathBuf;

use anyhow::Context;
use indicatif::ProgressBar;
use serde_json::{Value, json};

use self::layers::ComparedLayers;
use self::observer::Console;
use self::opened::{Kind, Opened, kind_of};
use self::outputs::{OutputFlags, PageFacts};
use super::choice::one_of;
use super::console::{Exit, Verbosity, fail, print, print_json};
use super::exposures::ExposureFlags;
use super::inputs::SceneFlags;
use super::least_psnr::check_psnr;
use super::options::parse_profile;
use super::outputs::{Background, parse_background};
use super::views::ViewArgs;
use quadrille_base::error::{Error, Result};
use quadrille_base::image::metrics::Protocol;
use quadrille_base::parse::finite;
use quadrille_base::shading::Profile;
use quadrille_evaluation::pairing::{self, Pairs};
use quadrille_evaluation::{
    Column, Conditions, Evaluated, Evaluator, LpipsKind, LpipsMetrics, Masks, PairSource, Row,
    Summary, TextRows,
};

/// Maximum number of files without a partner that are named.
const LISTED_UNMATCHED: usize = 10;

/// Compare pictures, films, scenes, or a scene and its photos
///
/// A and B are two pictures, two folders of pictures, two films (.y4m or .apng), two scenes, or a scene and a
/// folder of photos. Prints PSNR (in dB; higher is closer), SSIM (1 is identical), LPIPS with --lpips and FLIP (0 is
/// identical), the largest and the 99.9th percentile of the absolute differences, their mean square, and the largest
/// difference of alpha; and of several pairs the mean, the median and the worst number.
///
/// Pictures are .png, .jpg, .exr or .npy files, recognised by their content. In folders, files with the
/// same name form pairs; a file without a partner is paired with one whose name differs only in its
/// extension. Photos are turned as their EXIF data say.
///
/// A scene and photos: the views of the camera file, of --cameras or beside the scene, are drawn and compared with
/// the photos of their names; --view test chooses the test views of the trainers. Two scenes of any
/// format are drawn from the same views, each by its own profile: the cameras beside the first scene, else
/// a circle of 8 around its content, unless flags choose others.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// Picture, folder of pictures, film or scene; "-" reads standard input
    a: PathBuf,
    /// Picture of the same size, folder, film, scene, or folder of photos of the scene, to compare with
    b: PathBuf,
    /// Preparation of values before they are compared
    #[arg(long, value_parser = one_of::<Protocol>(), default_value_t = Protocol::Inria)]
    protocol: Protocol,
    /// Colour behind both pictures, R,G,B from 0 to 1
    #[arg(long, value_name = "R,G,B", default_value = "0,0,0", value_parser = opaque)]
    background: Opaque,
    #[command(flatten)]
    sizes: SizeFlags,
    /// Compare only pixels that are bright in the picture of the pair's name in this folder or, with "alpha",
    /// opaque in the picture of B; all others are black in both
    #[arg(long, value_name = "DIR|alpha")]
    masks: Option<PathBuf>,
    /// Measure LPIPS by these networks: vgg, as the original trainer and gsplat with --lpips_net vgg print it, alex,
    /// as gsplat by default and nerfstudio print it, or vgg-scaled, as its authors define it
    #[arg(long, value_name = "NET,...", value_delimiter = ',', value_parser = one_of::<LpipsKind>())]
    lpips: Vec<LpipsKind>,
    /// File or folder of the weights of --lpips [default: the environment variable QUADRILLE_LPIPS_WEIGHTS, else
    /// ~/.cache/quadrille]
    #[arg(long, value_name = "PATH", requires = "lpips")]
    lpips_weights: Option<PathBuf>,
    #[command(flatten)]
    exposures: ExposureFlags,
    /// Compare layers instead of colours: the other channels of .exr files, or .npy files of one layer
    #[arg(long, conflicts_with_all = ["protocol", "background", "diff", "fail_under_psnr", "html", "csv", "resize", "masks", "lpips"])]
    layers: bool,
    /// Exit with code 1 if more than this share of the pixels of any layer differ, 0 to 1
    #[arg(long, value_name = "SHARE", requires = "layers", value_parser = finite)]
    fail_over_share: Option<f64>,
    /// Exit with code 1 if the PSNR of any pair or view is below this, in dB; identical pictures always pass
    #[arg(long, value_name = "DB", value_parser = finite)]
    fail_under_psnr: Option<f64>,
    /// Print one JSON document instead of a table
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    outputs: OutputFlags,
    /// Renderer whose constants to use for scenes, as in `render` [default: for each scene the profile
    /// that its file names, else inria]
    #[arg(long, value_name = "NAME", value_parser = parse_profile)]
    profile: Option<Profile>,
    #[command(flatten)]
    reading: SceneFlags,
    // Last, since it ends with the heading of the views.
    #[command(flatten)]
    views: ViewArgs,
}

/// Flags about pictures of different sizes.
#[derive(Debug, Clone, Copy, clap::Args)]
struct SizeFlags {
    /// Resize pictures of B to the size of A by the bicubic filter of Pillow, with which trainers
    /// reduce their photos; proportions have to agree
    #[arg(long, conflicts_with = "photo_size")]
    resize: bool,
    /// Draw the views of the scene in the sizes of their photos
    #[arg(long, conflicts_with_all = ["width", "height", "picture_scale"])]
    photo_size: bool,
}

const EXAMPLES: &str = "Examples:
  quadrille compare ours.png photo.png
  quadrille compare renders references --protocol float --json
  quadrille compare scene.ply images --view test --photo-size --html report
  quadrille compare scene.ply images --cameras cameras.json --resize \\
    --picture-scale 1/4 --lpips vgg --csv table.csv
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
    let kind = kind_of(&args.a, &args.b)?;
    check_flags(args, kind)?;
    if args.layers {
        let found = pairing::find(&args.a, &args.b)?;
        return compare_layers(args, &found, verbosity);
    }
    let compared = Compared {
        args,
        kind,
        verbosity,
        lpips: LpipsMetrics::load(&args.lpips, args.lpips_weights.as_deref())?,
        masks: args.masks.as_deref().map(Masks::parse).transpose()?,
    };
    opened::with(args, kind, verbosity, |source, opened| {
        compared.run(source, opened)
    })
}

/// What is compared, and how.
struct Compared<'a> {
    args: &'a Args,
    kind: Kind,
    verbosity: Verbosity,
    lpips: LpipsMetrics,
    masks: Option<Masks>,
}

impl Compared<'_> {
    fn run(&self, source: &mut dyn PairSource, opened: &Opened) -> anyhow::Result<Exit> {
        let args = self.args;
        let keys: Vec<_> = self.lpips.kinds().iter().map(|kind| kind.key()).collect();
        let columns = Column::shown(&keys, self.kind != Kind::Photos);
        let conditions = self.conditions(opened);
        let text = TextRows::new(&columns, source.pairs());
        let text = (!args.json).then_some(&text);
        let (evaluated, last_error) = self.evaluate(source, opened, &conditions, text)?;
        let summary = Summary::of(&evaluated.rows, &columns);
        if let Some(text) = text {
            print(text.end(&summary, &evaluated.unmeasured, &conditions))?;
        }
        let facts = PageFacts {
            title: format!("{} and {}", args.a.display(), args.b.display()),
            sides: opened.sides,
            columns: &columns,
            conditions: &conditions,
        };
        args.outputs
            .write(&facts, &evaluated, &summary, self.verbosity)?;
        if args.json {
            print_json(self.document(&evaluated, &summary, &conditions, opened))?;
        }
        let rows = evaluated.rows.iter();
        let compared = rows.map(|row| (row.pair.name.as_str(), &row.comparison));
        let exit = check_psnr(compared, opened.one, args.fail_under_psnr);
        match last_error {
            Some(error) => Err(error),
            None => Ok(exit),
        }
    }

    /// Compares all pairs, and prints their rows. Also returns the last error of a pair that was not compared.
    fn evaluate(
        &self,
        source: &mut dyn PairSource,
        opened: &Opened,
        conditions: &Conditions,
        text: Option<&TextRows>,
    ) -> anyhow::Result<(Evaluated, Option<anyhow::Error>)> {
        let (args, pairs) = (self.args, source.pairs());
        let (outputs, count) = (&args.outputs, pairs.len());
        let first = pairs.first().cloned().unwrap_or_default();
        let mut console = Console {
            verbosity: self.verbosity,
            diff: outputs.prepare(args, opened, pairs)?,
            bar: ProgressBar::hidden(),
            text,
            has_begun: false,
            last_error: None,
        };
        let mut evaluator = Evaluator {
            protocol: args.protocol,
            background: args.background.0,
            masks: self.masks.as_ref(),
            lpips: &self.lpips,
            journal: outputs.journal(conditions, count)?,
            page_bytes: outputs.page_bytes(count),
        };
        let progress = self.verbosity.progress(opened.counted);
        console.bar = progress.bar.clone();
        let evaluated = evaluator.run(source, &mut console, &progress.task);
        drop(progress);
        match evaluated {
            Ok(evaluated) if evaluated.rows.is_empty() => {
                Err(console.last_error.unwrap_or_else(nothing))
            }
            Ok(evaluated) => Ok((evaluated, console.last_error)),
            // The only pair of pictures.
            Err(error) if self.kind == Kind::Pictures => {
                let context = format!("comparing {} and {}", first.a, first.b);
                Err(anyhow::Error::new(error).context(context))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// The conditions in words, in the order of a pair's way through the program.
    fn conditions(&self, opened: &Opened) -> Conditions {
        let mut clauses = opened.clauses.clone();
        match &self.masks {
            Some(Masks::Folder { path, .. }) => clauses.push(format!(
                "means over the pixels that count in {}, black elsewhere",
                path.display()
            )),
            Some(Masks::Alpha) => clauses.push(
                "means over the pixels that are opaque in the second picture, black elsewhere"
                    .to_owned(),
            ),
            None => {}
        }
        let lpips = self.lpips.kinds().iter();
        clauses.extend(lpips.map(|kind| kind.clause().to_owned()));
        Conditions {
            protocol: self.args.protocol,
            background: self.args.background.0,
            clauses,
        }
    }

    fn document(
        &self,
        evaluated: &Evaluated,
        summary: &Summary,
        conditions: &Conditions,
        opened: &Opened,
    ) -> Value {
        let mut rows: Vec<&Row> = evaluated.rows.iter().collect();
        if self.kind == Kind::Scenes {
            // Worst first.
            rows.sort_by(|a, b| psnr(a).total_cmp(&psnr(b)));
        }
        let mut document = json!({
            "protocol": conditions.protocol,
            "background": conditions.background,
            "conditions": conditions.sentence(summary),
            "pairs": rows,
        });
        summary.add_to(&mut document);
        if !evaluated.unmeasured.is_empty() {
            document["not_compared"] = json!(evaluated.unmeasured);
        }
        if let Some(source) = &opened.views_from {
            document["views_from"] = source.as_str().into();
            document["profiles"] = opened.profiles.clone().into();
        }
        document
    }
}

fn nothing() -> anyhow::Error {
    Error::argument("pictures", "at least one pair that can be compared", "none").into()
}

fn psnr(row: &Row) -> f64 {
    row.comparison.psnr_db.unwrap_or(f64::INFINITY)
}

/// Refuses flags that do not go with what is compared.
fn check_flags(args: &Args, kind: Kind) -> Result<()> {
    let refused =
        |flag: &str, expected: &str| Err(Error::argument(flag, expected, kind.in_words()));
    if args.layers && kind != Kind::Pictures {
        return refused(
            "--layers",
            "pictures with layers (render writes them with --aov)",
        );
    }
    if args.sizes.photo_size && kind != Kind::Photos {
        return refused("--photo-size", "a scene and a folder of photos");
    }
    if args.sizes.resize && !matches!(kind, Kind::Pictures | Kind::Photos) {
        return refused("--resize", "pictures, or a scene and a folder of photos");
    }
    if args.exposures.file().is_some() && kind != Kind::Photos {
        return refused("--exposures", "a scene and a folder of photos");
    }
    if args.outputs.resume && kind == Kind::Films {
        return refused(
            "--resume",
            "pictures or scenes, which can be read from the middle",
        );
    }
    Ok(())
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
