//! Text files that are written by hand: configurations and suites.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::error::{Error, Result};

/// Limit of a text file; a complete configuration has about 10 KB.
const MAX_BYTES: u64 = 1 << 20;

/// Reads the file at `path`, or standard input for `-`; `what` names its content in messages, such as "a suite".
///
/// # Errors
/// [`Error::Read`], [`Error::Malformed`] for bytes that are not UTF-8, and [`Error::Limit`] for more than
/// 1 MiB.
pub fn read_text(path: &Path, what: &str) -> Result<String> {
    let unread = |e| Error::read(path, e);
    let source: Box<dyn Read> = if path == Path::new("-") {
        Box::new(std::io::stdin())
    } else {
        Box::new(File::open(path).map_err(unread)?)
    };
    let mut bytes = Vec::new();
    let mut limited = source.take(MAX_BYTES + 1);
    let length = limited.read_to_end(&mut bytes).map_err(unread)? as u64;
    Error::check_limit(format!("{}: bytes of {what}", path.display()), MAX_BYTES, length)?;
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let found = format!("the byte {:#04x}", error.as_bytes()[at]);
        Error::malformed(path, format!("byte {at}"), format!("{what} in UTF-8"), found)
    })
}
