//! Draws a mesh of small triangles with and without quad-fragment merging, and maps how often each pixel is shaded.
//!
//! ```text
//! cargo run --release --example mesh_heat_map
//! ```

use std::path::Path;

/// Writes a map per unit to a folder, `heat.none-16x-1px.png` and `heat.qfm-32-16x-1px.png`, named by unit, entries,
/// samples and size of triangles; returns the exit code of the program.
///
/// Without merging, every triangle shades whole quads of 2x2 pixels, so that pixels at edges are shaded by all
/// neighbours; merging shades them once where the triangles share an edge and face the same way.
pub(crate) fn run(folder: &Path) -> u8 {
    let heat = folder.join("heat.{method}.png").display().to_string();
    quadrille::cli::run_from([
        "quadrille",
        "--quiet",
        "mesh",
        // Or a file: .obj, .ply, .gltf, .glb.
        "sinewave",
        // Sides of micropolygons in pixels, as Reyes dices surfaces.
        "--tessellate",
        "1",
        "--msaa",
        "16",
        "--method",
        "none,qfm",
        "--width",
        "320",
        "--height",
        "180",
        "--heat",
        &heat,
    ])
}

fn main() -> std::process::ExitCode {
    run(&std::env::temp_dir()).into()
}
