//! Tests that do not run where they are: each names its reason, and the test program lists them all
//! when it ends, since the output of a test that passes is not shown.

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::{Mutex, Once};

static SKIPPED: Mutex<BTreeMap<String, String>> = Mutex::new(BTreeMap::new());
static LIST_AT_EXIT: Once = Once::new();

/// Notes that the test under way is skipped, wholly or in part, for `reason`.
pub(crate) fn note(reason: impl Into<String>) {
    // The test harness names a test's thread after the test.
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("a test without a name").to_owned();
    SKIPPED.lock().unwrap().entry(test).or_insert(reason.into());
    #[allow(unsafe_code, reason = "the standard library has no hook for the end of the process")]
    LIST_AT_EXIT.call_once(|| {
        // SAFETY: `list` is a function for the life of the process and does not unwind.
        unsafe { libc::atexit(list) };
    });
}

/// Whether the test under way takes more than a few seconds, and the feature `slow-tests` is off: it is then skipped.
pub(crate) fn is_slow() -> bool {
    let is_skipped = cfg!(not(feature = "slow-tests"));
    if is_skipped {
        note("slow; the feature `slow-tests` runs it");
    }
    is_skipped
}

/// Number of repetitions of a test: all with the feature `slow-tests`, else a tenth; the test is then listed as skipped.
pub(crate) fn part_of(all: u64) -> u64 {
    if cfg!(feature = "slow-tests") {
        return all;
    }
    note(format!("a tenth of {all} repetitions is run; the feature `slow-tests` runs all"));
    all / 10
}

extern "C" fn list() {
    let Ok(skipped) = SKIPPED.lock() else { return };
    let mut text = format!("\nskipped tests: {}\n", skipped.len());
    let mut by_reason: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (test, reason) in &*skipped {
        by_reason.entry(reason).or_default().push(test);
    }
    for (reason, tests) in by_reason {
        text += &format!("  {reason}:\n    {}\n", tests.join("\n    "));
    }
    // Not `eprint!`, which the harness captures.
    let _ = std::io::stderr().write_all(text.as_bytes());
}
