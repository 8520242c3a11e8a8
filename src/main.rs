//! The command line: parse, run, exit code.

fn main() -> std::process::ExitCode {
    quadrille::cli::run()
}
