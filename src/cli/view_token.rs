//! The token of the viewer's address in a file.

use std::io::ErrorKind;
use std::path::Path;

use quadrille_base::error::{Error, Result};
use quadrille_base::text_file::read_text;
use quadrille_view::{is_token, new_token};

/// Token in a file that only its owner can read; created if missing.
pub(super) fn token_of(path: &Path) -> Result<String> {
    match std::fs::metadata(path) {
        Ok(found) => {
            refuse_readable(path, &found)?;
            let text = read_text(path, "a token")?;
            let token = text.trim();
            match is_token(token) {
                true => Ok(token.to_owned()),
                false => Err(Error::malformed(
                    path,
                    "token",
                    "32 hexadecimal digits in lower case",
                    format!("{} characters", token.chars().count()),
                )),
            }
        }
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let token = new_token();
            write_private(path, &token).map_err(|reason| Error::write(path, reason))?;
            Ok(token)
        }
        Err(error) => Err(Error::read(path, error)),
    }
}

#[cfg(unix)]
fn refuse_readable(path: &Path, found: &std::fs::Metadata) -> Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let mode = found.permissions().mode() & 0o777;
    match mode & 0o077 {
        0 => Ok(()),
        _ => {
            let found = format!("{mode:o} (chmod 600 changes it)");
            Err(Error::malformed(path, "permissions", "600", found))
        }
    }
}

#[cfg(not(unix))]
fn refuse_readable(_: &Path, _: &std::fs::Metadata) -> Result<()> {
    Ok(())
}

fn write_private(path: &Path, text: &str) -> std::io::Result<()> {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    std::io::Write::write_all(&mut file, format!("{text}\n").as_bytes())
}
