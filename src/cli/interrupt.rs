use std::sync::LazyLock;
use std::thread;
use std::time::Duration;

use quadrille_base::output::remove_part_files;
use quadrille_base::task::Task;

/// Exit code after an interrupt: 128 + SIGINT, as in shells. Also after SIGTERM and SIGHUP.
pub(super) const EXIT_CODE: u8 = 130;
/// Time that a command has to end by itself after an interrupt. Commands stop within 50 ms unless they wait, for
/// example for a pipe that nobody writes to.
const GRACE: Duration = Duration::from_secs(2);

static TASK: LazyLock<Task> = LazyLock::new(Task::new);

pub(crate) fn task() -> &'static Task {
    &TASK
}

/// Installs a handler of interrupts, termination and hang-up that cancels the [`task`] of the process. The command then
/// ends with [`Error::Cancelled`](quadrille_base::Error::Cancelled). A second interrupt ends the process at once, as does the
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
    // Without the handler, an interrupt still ends the process, but leaves temporary files.
    let _ = match ctrlc::try_set_handler(handler) {
        // Some of the signals are ignored. `nohup` does that with a hang-up, which must then not end the command.
        Err(_) if !is_hangup_ignored() => ctrlc::set_handler(handler),
        installed => installed,
    };
}

/// Whether the process was started with hang-ups ignored, or may have been.
fn is_hangup_ignored() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    // Bit 0 is signal 1, SIGHUP.
    ignored.is_none_or(|mask| mask & 1 == 1)
}

fn exit() -> ! {
    remove_part_files();
    std::process::exit(EXIT_CODE.into())
}
