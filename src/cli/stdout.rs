//! Results on standard output.

use std::io::{self, ErrorKind, Write};
use std::path::Path;

use crate::error::{Error, Result};

/// Writes `bytes` to standard output. A reader that has gone away (`| head`) has seen enough: that
/// is no error.
///
/// # Errors
/// [`Error::Write`] for any other reason.
pub(super) fn write(bytes: &[u8]) -> Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Error::write(Path::new("<stdout>"), error))
        }
        _ => Ok(()),
    }
}
