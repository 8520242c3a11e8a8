//! Interrupts (Ctrl-C).

use quadrille_base::output::remove_part_files;

/// Exit code of an interrupted process, as of shells.
pub(super) const EXIT_CODE: u8 = 130;

/// Installs a handler that removes the temporary files of writes in progress and ends the process with
/// [`EXIT_CODE`]. It does not wait for a task to notice its cancellation: a process that ends needs
/// nothing but its part files removed.
pub(super) fn install() {
    let handler = || {
        remove_part_files();
        std::process::exit(EXIT_CODE.into());
    };
    // Without the handler, an interrupt still ends the process.
    let _ = ctrlc::set_handler(handler);
}
