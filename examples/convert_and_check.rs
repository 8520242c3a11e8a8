//! Drops the spherical harmonics of a scene, writes it as SPZ, and checks that it still looks the same.
//!
//! ```text
//! cargo run --release --example convert_and_check
//! ```

use std::path::Path;

use quadrille::convert::Action;
use quadrille::{
    OutputFormat, Protocol, Recipe, RenderSettings, Result, SplatTable, Synthetic, Task,
};

/// PSNR in dB below which a view no longer looks the same.
const LEAST_PSNR_DB: f64 = 30.0;

/// Writes the small scene to a folder; returns the PSNR of its worst view in dB.
pub(crate) fn run(folder: &Path) -> Result<f64> {
    let file = folder.join("small.spz");
    // Or `quadrille::load_table("scene.ply")?`.
    let original = Synthetic::new(Recipe::Object, 1, 20_000, 1)?;
    let mut table = SplatTable::from_slices(&original.splats().to_arrays().as_slices())?;
    let actions = [Action::LimitSh(0), Action::Morton];
    Action::apply_all(&actions, &mut table, Path::new("object"), &Task::NEVER)?;
    quadrille::write_table(&file, &table, OutputFormat::Spz4)?;

    let (before, after) = (original.splats(), quadrille::load(&file)?.splats);
    let settings = RenderSettings::default();
    let mut worst = f64::INFINITY;
    for camera in original.cameras() {
        let camera = camera.resized(320, 180)?;
        let (a, _) = quadrille::render(&before, &camera, &settings);
        let (b, _) = quadrille::render(&after, &camera, &settings);
        // Identical pictures have no PSNR.
        let psnr_db = quadrille::compare(&a, &b, Protocol::Float)?.psnr_db;
        worst = worst.min(psnr_db.unwrap_or(f64::INFINITY));
    }
    Ok(worst)
}

#[allow(clippy::print_stdout, reason = "what the example is for")]
fn main() -> Result<()> {
    let worst = run(&std::env::temp_dir())?;
    let looks_alike = worst >= LEAST_PSNR_DB;
    println!("worst view {worst:.2} dB, looks alike: {looks_alike}");
    Ok(())
}
