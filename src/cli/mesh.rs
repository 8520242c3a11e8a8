//! `mesh`: the MSAA path of triangle meshes and subdivision surfaces.

mod job;
mod options;
mod subject;
mod versus;

use std::path::PathBuf;

use serde_json::{Value, json};

use super::console::{Exit, Verbosity, print};
use super::options::{GpuFlags, HostFlags};
use super::outputs::{Background, parse_background};
use super::views::ViewArgs;
use crate::error::Result;
use crate::image::crop::Crop;
use crate::report::mesh::{MeshRow, cycles_table, table};
use job::Job;
use options::PipelineFlags;
use subject::SubjectFlags;
use versus::VersusFlags;

/// Draw triangle meshes and subdivision surfaces with multi-sample anti-aliasing, and merge quads of
/// adjacent triangles
///
/// A mesh goes through tessellation, raster and depth test on samples, then through a unit that
/// merges quads before they are shaded: quad-fragment merging (qfm), the pixel merge unit (pmu), or
/// none. The table says how many quads each step left, how often a covered pixel is shaded, and what
/// the unit saved.
#[derive(Debug, clap::Args)]
#[allow(clippy::struct_excessive_bools, reason = "flags that are given or not")]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// The mesh: .obj, .ply, .gltf, .glb, a file of Bezier patches (.bpt or no extension), or a
    /// procedural one: plane, sinewave, ptcloud, furball
    mesh: PathBuf,
    /// The picture: .png, .exr or .npy; "{view}" and "{variant}" in it become the view's name and the
    /// combination of settings; "-" writes a PNG to standard output
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    /// Write how often each pixel is shaded, as a picture: dark blue once, green four times, dark red
    /// eight times or more
    #[arg(long, value_name = "OUT")]
    heat: Option<PathBuf>,
    /// Write the difference to the unmerged picture, 100 times as strong
    #[arg(long, value_name = "OUT")]
    diff: Option<PathBuf>,
    /// Compare each picture with the unmerged one: PSNR, colours as floats
    #[arg(long)]
    psnr: bool,
    /// Compare each picture with one of 64 shaded samples a pixel
    #[arg(long)]
    truth: bool,
    /// Of the picture, keep W by H pixels from column X and row Y on, each enlarged to a square of
    /// ZOOM by ZOOM
    #[arg(long, value_name = "X,Y,W,H[,ZOOM]", value_parser = Crop::parse, requires = "output")]
    crop: Option<Crop>,
    /// What shows behind the mesh: R,G,B from 0 to 1, or "transparent" [default: 0,0,0 for .png,
    /// transparent for .exr and .npy]
    #[arg(long, value_name = "R,G,B|transparent", value_parser = parse_background)]
    background: Option<Background>,
    /// Run the emulated pipeline as well, unit by unit: cycles, and which unit limits them (not of
    /// reyes)
    #[arg(long)]
    cycles: bool,
    /// Print one JSON document instead of a table: the row's, or of several rows {"rows": [...]}
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    subject: SubjectFlags,
    #[command(flatten)]
    pipeline: PipelineFlags,
    #[command(flatten)]
    versus: VersusFlags,
    #[command(flatten)]
    views: ViewArgs,
    #[command(flatten)]
    gpu: GpuFlags,
    #[command(flatten)]
    host: HostFlags,
}

const EXAMPLES: &str = "Examples:
  quadrille mesh helmet.gltf -o helmet.png
  quadrille mesh cage.obj --tessellate 0.5 --msaa 16 --unit none,qfm --heat 'heat.{variant}.png'
  quadrille mesh cage.obj --tessellate 0.5 --msaa 16 --unit qfm --buffer 1,4,16,32,128,unbounded
  quadrille mesh helmet.gltf --unit pmu --buffer 16,64,256,512,1024 --psnr --json
  quadrille mesh sinewave --tessellate 0.5 --msaa 16 --unit none,qfm,reyes
  quadrille mesh cage.obj --tessellate 10 --unit none,qfm,pmu --cycles --set qfm.quads_per_cycle=2
  quadrille mesh spot.obj --to-splats spot.ply
  quadrille mesh spot.obj --versus spot.ply --msaa 4";

pub(super) fn run(args: &Args, verbosity: Verbosity) -> Result<Exit> {
    let host = args.host.check()?;
    let job = Job::new(args, host.level)?;
    let subject = args.subject.load(&args.mesh, verbosity)?;
    let cameras = args.views.views_of(|| subject.framing(), verbosity)?;
    job.check_views(&cameras)?;
    let pool = host.pool()?;
    let versus = || versus::run(args, host.level, &subject, &cameras, verbosity);
    if let Some(page) = pool.install(versus)? {
        print(page)?;
        return Ok(Exit::Done);
    }
    let rows = pool.install(|| job.run_all(&subject, &cameras))?;
    let text = if args.json {
        let mut rows: Vec<Value> = rows.iter().map(MeshRow::json).collect();
        let document = if rows.len() == 1 {
            rows.remove(0)
        } else {
            json!({ "rows": rows })
        };
        format!("{document:#}\n")
    } else {
        table(&rows) + &cycles_table(&rows)
    };
    if args.json || !job.writes_to_stdout() {
        print(text)?;
    }
    Ok(Exit::Done)
}
