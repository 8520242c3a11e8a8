use std::sync::LazyLock;
use std::thread;
use std::time::Duration;

use quadrille_base::output::remove_part_files;
use quadrille_base::task::Task;

/// Exit code after an interrupt: 128 + SIGINT, as in shells.
pub(super) const EXIT_CODE: u8 = 130;
/// Time that a command has to end by itself after an interrupt. Commands stop within 50 ms unless they wait, for
/// example for a pipe that nobody writes to.
const GRACE: Duration = Duration::from_secs(2);

static TASK: LazyLock<Task> = LazyLock::new(Task::new);

pub(crate) fn task() -> &'static Task {
    &TASK
}

/// Installs a handler that cancels the [`task`] of the process. The command then ends with
/// [`Error::Cancelled`](quadrille_base::Error::Cancelled). A second interrupt ends the process at once, as does the
/// end of a grace period.
pub(super) fn install() {
    let handler = || {
        if TASK.is_cancelled() {
            exit();
        }
        TASK.cancel();
        thread::spawn(|| {
            thread::sleep(GRACE);
            exit();
        });
    };
    // Without the handler, an interrupt still ends the process.
    let _ = ctrlc::set_handler(handler);
}

fn exit() -> ! {
    remove_part_files();
    std::process::exit(EXIT_CODE.into())
}
