//! Measures rates of the fixed-function units of a GPU through Vulkan, as rows for `quadrille figures --correlate`.
//!
//! Each rate comes from two draws, of n and of 2n rectangles, so that it excludes the time of the start and the end of a
//! draw. Times are medians of timestamps of the GPU. Warps are counted by the shader, in one draw.

mod cases;
mod gpu;
mod pipeline;
mod resources;
mod target;

use std::process::ExitCode;

use anyhow::{Context, Result, bail};

use cases::Case;
use gpu::Gpu;

const HELP: &str = "Measure rates of the fixed-function units of a GPU through Vulkan

Prints CSV: item,scene,view,width,height,value,unit,device. Cases that the device cannot run are named on stderr.

Options:
  --device N    Number of the device, in the order of the driver [default: 0]
  --size PX     Side of the picture in pixels, a multiple of 96 [default: 1056]
  --time MS     Least time of the shorter draw in milliseconds [default: 2]
  --repeats N   Repeats, of which the median counts [default: 15]
  --only TEXT   Only items whose names contain this text
  --list        List the devices";

/// Parsed command line; [`HELP`] describes the options.
struct Args {
    device: usize,
    size_px: u32,
    least_ms: f64,
    repeats: usize,
    only: String,
    lists: bool,
}

fn args() -> Result<Option<Args>> {
    let mut found = Args {
        device: 0,
        size_px: 1056,
        least_ms: 2.0,
        repeats: 15,
        only: String::new(),
        lists: false,
    };
    let mut words = std::env::args().skip(1);
    while let Some(flag) = words.next() {
        let mut value = || words.next().with_context(|| format!("{flag} takes a value"));
        match &*flag {
            "--device" => found.device = value()?.parse().context("--device")?,
            "--size" => found.size_px = value()?.parse().context("--size")?,
            "--time" => found.least_ms = value()?.parse().context("--time")?,
            "--repeats" => found.repeats = value()?.parse().context("--repeats")?,
            "--only" => found.only = value()?,
            "--list" => found.lists = true,
            "--help" | "-h" => return Ok(None),
            _ => bail!("unknown argument {flag}; --help lists all"),
        }
    }
    if found.size_px == 0 || !found.size_px.is_multiple_of(96) || found.size_px > 8192 {
        bail!("--size: expected a multiple of 96 up to 8192, found {}", found.size_px);
    }
    if found.repeats == 0 {
        bail!("--repeats: expected at least 1, found 0");
    }
    Ok(Some(found))
}

fn run() -> Result<()> {
    let Some(args) = args()? else {
        println!("{HELP}");
        return Ok(());
    };
    if args.lists {
        for (at, name) in Gpu::names()?.iter().enumerate() {
            println!("{at}: {name}");
        }
        return Ok(());
    }
    let gpu = Gpu::new(args.device)?;
    println!("item,scene,view,width,height,value,unit,device");
    for case in Case::all() {
        if !case.item.contains(&args.only) {
            continue;
        }
        match case.measure(&gpu, args.size_px, args.least_ms, args.repeats) {
            Ok(rate) => println!(
                "{},,,{size},{size},{rate:.6},{},{}",
                case.item_on(&gpu),
                case.work.unit(),
                gpu.name,
                size = args.size_px
            ),
            Err(error) => eprintln!("{}: {error:#}", case.item),
        }
    }
    Ok(())
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}
