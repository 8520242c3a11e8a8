//! The program.

fn main() -> std::process::ExitCode {
    quadrille::cli::run()
}
