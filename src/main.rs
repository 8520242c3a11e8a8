//! Entry point of the `quadrille` command.

fn main() -> std::process::ExitCode {
    quadrille::cli::run()
}
