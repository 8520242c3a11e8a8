use std::path::PathBuf;

use super::outputs::OutputFlags;
use crate::cli::exposures::ExposureFlags;
use crate::cli::limits::{LimitFlags, parse_score, parse_share};
use crate::cli::options::DepthFlags;
use crate::cli::outputs::{Background, parse_background};
use quadrille_base::image::ColourCorrection;
use quadrille_base::image::metrics::Protocol;
use quadrille_base::parse::finite;
use quadrille_base::shading::Profile;
use quadrille_evaluation::LpipsKind;
use quadrille_scene::LoadOptions;
use quadrille_scene::cameras::ViewSpec;

/// Compare pictures, films, scenes, or a scene and its photos
///
/// A and B are two pictures, two folders of pictures, two films (.y4m or .apng), two scenes, two sequences of scenes (folders of
/// numbered scenes, or patterns, as in `render`), or a scene and a folder of photos. Prints PSNR (in dB; higher is closer), SSIM (1 is identical), LPIPS with --lpips, SSIMULACRA2
/// with --ssimulacra2, FLIP (0 is identical), the largest and the 99.9th percentile of the absolute differences, their mean square, and the largest
/// difference of alpha; and for several pairs the mean, the median and the worst value.
///
/// Pictures are .png, .jpg, .exr or .npy files, recognised by their content. In folders, files with the
/// same name form pairs; a file without a partner is paired with one whose name differs only in its
/// extension. Photos are rotated according to the orientation in their EXIF data.
///
/// A scene and photos: the views of the camera file (--cameras, or the file beside the scene) are drawn and compared
/// with the photos of the same names; --view test chooses the test views of the trainers. Two scenes of any
/// format are drawn from the same views, each with its own profile: the cameras beside the first scene, else
/// a circle of 8 views around its content, unless flags choose other views.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
#[allow(clippy::struct_excessive_bools, reason = "flags that are given or not")]
pub(in crate::cli) struct Args {
    /// Picture, folder of pictures, film, scene or sequence; "-" reads standard input
    pub(super) a: PathBuf,
    /// Picture of the same size, folder, film, scene or sequence to compare with A, or folder of photos of scene A
    pub(super) b: PathBuf,
    /// Conversion of values before they are compared
    #[arg(long, default_value_t = Protocol::Inria)]
    pub(super) protocol: Protocol,
    /// Colour behind both pictures, R,G,B from 0 to 1
    #[arg(long, value_name = "R,G,B", default_value = "0,0,0", value_parser = opaque)]
    pub(super) background: Opaque,
    #[command(flatten)]
    pub(super) sizes: SizeFlags,
    /// Compare only pixels that are bright in this folder's picture with the name of the pair or, with "alpha",
    /// opaque in the picture of B; all other pixels are set to black in both pictures
    #[arg(long, value_name = "DIR|alpha")]
    pub(super) masks: Option<PathBuf>,
    /// Correct the colours of the picture of A to those of B before all metrics, for photos whose exposure or white balance
    /// differs: affine, a factor and an offset per channel, or quadratic, a polynomial of all channels. With --protocol gsplat,
    /// the metrics are cc_psnr, cc_ssim and cc_lpips of gsplat
    #[arg(long, value_name = "affine|quadratic")]
    pub(super) colour_correction: Option<ColourCorrection>,
    /// Measure LPIPS with these networks: vgg, as in the original trainer and gsplat with --lpips_net vgg; alex, as in
    /// nerfstudio and, by default, gsplat; or vgg-scaled, as the authors of LPIPS define it
    #[arg(long, value_name = "NET,...", value_delimiter = ',')]
    pub(super) lpips: Vec<LpipsKind>,
    /// File or folder with the weights for --lpips [default: the environment variable QUADRILLE_LPIPS_WEIGHTS, else
    /// ~/.cache/quadrille]
    #[arg(long, value_name = "PATH", requires = "lpips")]
    pub(super) lpips_weights: Option<PathBuf>,
    /// Measure SSIMULACRA 2.1: 100 for identical pictures, 90 for a difference that viewers do not notice, 30 for low quality. The
    /// original is the picture of B or, of two scenes or sequences, of A
    #[arg(long)]
    pub(super) ssimulacra2: bool,
    #[command(flatten)]
    pub(super) exposures: ExposureFlags,
    /// Compare layers instead of colours: the other channels of .exr files, or .npy files of one layer
    #[arg(long, conflicts_with_all = ["protocol", "background", "diff", "fail_under_psnr", "fail_under_ssim", "fail_over_flip", "fail_over_lpips", "junit", "html", "csv", "markdown", "latex", "resume", "resize", "masks", "colour_correction", "lpips", "lpips_weights", "ssimulacra2"])]
    pub(super) layers: bool,
    /// Exit with code 1 if more than this share of the pixels of any layer differ, 0 to 1
    #[arg(long, value_name = "SHARE", value_parser = parse_share)]
    pub(super) fail_over_share: Option<f64>,
    #[command(flatten)]
    pub(in crate::cli) limits: LimitFlags,
    /// Exit with code 1 if the LPIPS of any pair or view is above this, by any network of --lpips
    #[arg(long, value_name = "LPIPS", value_parser = finite, requires = "lpips")]
    pub(super) fail_over_lpips: Option<f64>,
    /// Exit with code 1 if the SSIMULACRA2 score of any pair or view is below this, up to 100
    #[arg(long, value_name = "SCORE", value_parser = parse_score, requires = "ssimulacra2")]
    pub(super) fail_under_ssimulacra2: Option<f64>,
    /// Let pictures without a partner, views without a photo and a shorter film pass the limits
    #[arg(long)]
    pub(super) allow_missing: bool,
    /// Print one JSON document instead of a table
    #[arg(long)]
    pub(super) json: bool,
    #[command(flatten)]
    pub(super) outputs: OutputFlags,
    /// Renderer whose constants to use for scenes, as in `render` [default: for each scene the profile
    /// that its file names, else inria]
    #[arg(long, value_name = "NAME", value_parser = Profile::named)]
    pub(super) profile: Option<Profile>,
    #[command(flatten)]
    pub(super) depth: DepthFlags,
    #[command(flatten)]
    pub(super) reading: LoadOptions,
    // Last, since it ends with the heading of the views.
    #[command(flatten)]
    pub(super) views: ViewSpec,
}

/// Flags for pictures of different sizes.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(super) struct SizeFlags {
    /// Resize pictures of B to the size of A with the bicubic filter of Pillow, which trainers use to
    /// reduce photos; the proportions must be equal
    #[arg(long, conflicts_with = "photo_size")]
    pub(super) resize: bool,
    /// Draw the views of the scene at the sizes of their photos
    #[arg(long, conflicts_with_all = ["width", "height", "picture_scale"])]
    pub(super) photo_size: bool,
}

const EXAMPLES: &str = "Examples:
  quadrille compare ours.png photo.png
  quadrille compare renders references --protocol float --json
  quadrille compare scene.ply images --view test --photo-size --html report
  quadrille compare scene.ply images --cameras cameras.json --resize \\
    --picture-scale 1/4 --lpips vgg --csv table.csv
  quadrille compare renders references --diff 'diff/{name}.png'
  quadrille compare ours.npy reference.npy --fail-under-psnr 40
  quadrille compare renders golden --fail-under-psnr 40 --fail-over-flip 0.02 \\
    --junit verdict.xml
  quadrille compare scene.ply scene.spz --fail-under-psnr 35
  quadrille compare a.ply b.ply --cameras cameras.json --view ..:8
  quadrille compare ours.exr reference.exr --layers --fail-over-share 0.001";

#[derive(Debug, Clone, Copy)]
pub(super) struct Opaque(pub(super) [f32; 3]);

fn opaque(text: &str) -> std::result::Result<Opaque, String> {
    match parse_background(text)? {
        Background::Opaque(rgb) => Ok(Opaque(rgb)),
        Background::Transparent => Err("expected a colour such as 1,1,1".to_owned()),
    }
}
