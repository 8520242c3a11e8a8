//! Sweeps a setting of the emulated GPU on a scene, and plots the speedup of each method against it.
//!
//! ```text
//! cargo run --release --example sweep_with_plot
//! ```

use std::path::Path;

/// One view, three methods, four numbers of bins for tile coalescing. `quadrille sim --set` takes the same fields.
const SUITE: &str = "method = ['baseline', 'qm', 'het+qm']
[matrix]
tc.bins = [4, 8, 16, 32]
[[scene]]
name = 'vase'
recipe = 'object'
splats = 4000
view = '0'
width = 160
";

/// Writes the suite, its results and the plot to a folder; returns the exit code of the first command that fails.
pub(crate) fn run(folder: &Path) -> std::io::Result<u8> {
    let at = |name: &str| folder.join(name).display().to_string();
    let (suite, rows, plot) = (at("bins.toml"), at("bins.jsonl"), at("bins.svg"));
    std::fs::write(&suite, SUITE)?;
    // A second run continues where the first one stopped, since existing rows are kept.
    let bench = ["quadrille", "--quiet", "bench", &suite, "-o", &rows];
    let lines = ["--x", "tc.bins", "--y", "speedup", "--series", "method"];
    let plot = [&["quadrille", "plot", &rows][..], &lines, &["-o", &plot]].concat();
    for command in [bench.to_vec(), plot] {
        let code = quadrille::cli::run_from(command);
        if code != 0 {
            return Ok(code);
        }
    }
    Ok(0)
}

fn main() -> std::io::Result<std::process::ExitCode> {
    run(&std::env::temp_dir()).map(Into::into)
}
