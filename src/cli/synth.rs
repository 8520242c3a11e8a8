//! `synth`: writes a procedural splat scene.

use std::io::{self, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::console::Exit;
use super::outputs::{Outputs, refuse_terminal};
use super::session::Session;
use quadrille_base::math::fit;
use quadrille_base::output::{STDOUT, write_bytes, write_whole};
use quadrille_base::parse::whole_number;
use quadrille_base::{Error, Result, Task};
use quadrille_render::synth::{Order, Recipe, Synthetic};
use quadrille_scene::cameras::write_inria_json;
use quadrille_scene::formats::ply::{PlyWriter, encoded_rows};

/// Splats per batch: 15 MB of PLY rows, and enough work for all cores.
const BATCH: u64 = 1 << 16;

const PART: u64 = 1 << 10;

/// Write a procedural splat scene
///
/// The same recipe, number of splats, seed, degree and order always give the same file.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  quadrille synth world -o world.ply --cameras-out world.cameras.json\n  quadrille synth room --splats 2e6 --seed 7 -o room.ply"
)]
pub(super) struct Args {
    recipe: Recipe,
    /// PLY file to write; "-" writes to standard output
    #[arg(short, long, value_name = "OUT.ply")]
    output: PathBuf,
    /// Number of splats
    #[arg(long, value_name = "N", default_value_t = 200_000, value_parser = whole_number::<u64>)]
    splats: u64,
    /// Seed of the random numbers
    #[arg(long, value_name = "S", default_value_t = 0, value_parser = whole_number::<u64>)]
    seed: u64,
    /// Degree of the spherical harmonics, 0 to 3
    #[arg(long, value_name = "DEGREE", default_value_t = 3, value_parser = whole_number::<u8>)]
    sh_degree: u8,
    /// Order of the splats in the file
    #[arg(long, value_name = "ORDER", default_value = "mixed")]
    order: Order,
    /// Also write cameras for the scene, as a cameras.json
    #[arg(long, value_name = "FILE")]
    cameras_out: Option<PathBuf>,
}

pub(super) fn run(args: &Args, session: &Session) -> Result<Exit> {
    let scene =
        Synthetic::new(args.recipe, args.seed, args.splats, args.sh_degree)?.in_order(args.order);
    let order = match args.order {
        Order::Mixed => "",
        Order::Space => " --order space",
    };
    let comment = format!(
        "quadrille synth {} --splats {} --seed {} --sh-degree {}{order}",
        args.recipe.name(),
        args.splats,
        args.seed,
        args.sh_degree,
    );
    let mut outputs = Outputs::default();
    let extension = args.output.extension();
    if args.output == Path::new(STDOUT) {
        refuse_terminal("a scene")?;
    } else if extension.is_none_or(|e| !e.eq_ignore_ascii_case("ply")) {
        return Err(Error::argument("-o", "a name that ends in .ply, or -", args.output.display()));
    }
    outputs.add("-o", &args.output)?;
    if let Some(path) = &args.cameras_out {
        outputs.add("--cameras-out", path)?;
    }
    let progress = session.progress("splats");
    let task = &progress.task;
    write_whole(&args.output, task, |out| write_scene(&scene, out, &comment, task))?;
    drop(progress);
    if let Some(path) = &args.cameras_out {
        write_bytes(path, write_inria_json(scene.cameras()))?;
    }
    session.remark(&format!(
        "{}: {} splats of degree {}",
        args.output.display(),
        scene.len(),
        scene.sh_degree()
    ));
    Ok(Exit::Done)
}

fn write_scene(scene: &Synthetic, out: impl Write, comment: &str, task: &Task) -> io::Result<()> {
    let mut writer = PlyWriter::new(out, scene.len(), scene.sh_degree(), &[comment])?;
    let steps = task.steps(scene.len());
    let mut ready = Vec::new();
    let mut start = 0;
    loop {
        let end = scene.len().min(start + BATCH);
        let mut next = Vec::new();
        // This thread writes a batch while the others compute the next one.
        let written = rayon::in_place_scope(|scope| {
            scope.spawn(|_| next = encoded_parts(scene, start..end));
            ready.iter().try_for_each(|rows: &Vec<u8>| writer.push_rows(rows))
        });
        written?;
        steps.advance(end - start).map_err(io::Error::other)?;
        if next.is_empty() {
            break;
        }
        (ready, start) = (next, end);
    }
    writer.finish()?;
    Ok(())
}

fn encoded_parts(scene: &Synthetic, indices: Range<u64>) -> Vec<Vec<u8>> {
    let parts = (indices.end - indices.start).div_ceil(PART);
    let part = |part: u64| {
        let start = indices.start + part * PART;
        let count = PART.min(indices.end - start);
        let splats = (0..fit::<u32>(count)).map(|at| scene.splat(start + u64::from(at)));
        encoded_rows(scene.sh_degree(), splats)
    };
    (0..parts).into_par_iter().map(part).collect()
}
