//! Output files, written whole or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::error::{Error, Result};

/// Permissions of a new file before the process's umask is taken off: reading and writing for all,
/// as `open(2)` gives any file. (A temporary file's own default would hide it from other users.)
#[cfg(unix)]
const NEW_FILE_MODE: u32 = 0o666;

/// Writes the file `path` by calling `write`, so that no reader ever sees half of it.
///
/// The bytes go to a temporary file in the same folder, which takes the name `path` only when
/// `write` has succeeded; on any error the old file, if there was one, is left as it was. A
/// symbolic link is followed, and what it points at is replaced. A path that exists and is no plain
/// file, such as `/dev/null` or a pipe, is written to directly.
///
/// The writer is buffered.
///
/// # Errors
/// [`Error::Write`] when the folder does not exist or cannot be written to, or when `write` fails.
pub(crate) fn write_whole(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<()> {
    let written = match fs::metadata(path) {
        Ok(there) if !there.is_file() => write_in_place(path, write),
        Ok(_) => fs::canonicalize(path).and_then(|real| write_and_rename(&real, write)),
        Err(_) => write_and_rename(path, write),
    };
    written.map_err(|e| Error::write(path, e))
}

fn write_in_place(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let file = OpenOptions::new().write(true).open(path)?;
    write_buffered(&file, write)
}

fn write_and_rename(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    if path.file_name().is_none() {
        let reason = "the path names no file";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, reason));
    }
    let temporary = temporary_beside(path)?;
    write_buffered(temporary.as_file(), write)?;
    temporary.persist(path).map_err(|e| e.error)?;
    Ok(())
}

fn write_buffered(
    file: &File,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let mut buffered = BufWriter::new(file);
    write(&mut buffered)?;
    buffered.flush()
}

/// An empty temporary file in the folder of `path`: renaming works within one file system only.
fn temporary_beside(path: &Path) -> io::Result<NamedTempFile> {
    let folder = match path.parent() {
        Some(folder) if folder != Path::new("") => folder.to_path_buf(),
        _ => PathBuf::from("."),
    };
    let mut builder = tempfile::Builder::new();
    builder.prefix(".quadrille-").suffix(".part");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(NEW_FILE_MODE));
    }
    builder.tempfile_in(folder).map_err(|e| without_path(&e))
}

/// The system's reason alone: the error names the random temporary file, which no caller asked for.
fn without_path(error: &io::Error) -> io::Error {
    let reason = error.get_ref().and_then(std::error::Error::source);
    match reason {
        Some(reason) => io::Error::new(error.kind(), reason.to_string()),
        None => error.kind().into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_write_leaves_the_old_file_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.txt");
        write_whole(&path, |out| out.write_all(b"old")).unwrap();
        let failed = write_whole(&path, |out| {
            out.write_all(b"half")?;
            Err(io::Error::other("stopped"))
        });
        assert!(failed.unwrap_err().to_string().ends_with("stopped"));
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn a_new_file_has_the_permissions_of_any_new_file() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let (ours, plain) = (folder.path().join("ours"), folder.path().join("plain"));
        write_whole(&ours, |out| out.write_all(b"x")).unwrap();
        fs::write(&plain, b"x").unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode(&ours), mode(&plain));
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_followed() {
        let folder = tempfile::tempdir().unwrap();
        let (real, link) = (folder.path().join("real"), folder.path().join("link"));
        fs::write(&real, b"old").unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        write_whole(&link, |out| out.write_all(b"new")).unwrap();
        assert_eq!(fs::read(&real).unwrap(), b"new");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    }

    #[cfg(unix)]
    #[test]
    fn a_device_is_written_to_not_replaced() {
        let device = Path::new("/dev/null");
        write_whole(device, |out| out.write_all(b"gone")).unwrap();
        assert!(!fs::metadata(device).unwrap().is_file());
    }

    #[test]
    fn bad_targets_are_the_outputs_fault() {
        let folder = tempfile::tempdir().unwrap();
        for path in [
            folder.path().join("absent/out.txt"),
            folder.path().to_path_buf(),
            PathBuf::new(),
            PathBuf::from(".."),
        ] {
            let error = write_whole(&path, |out| out.write_all(b"x")).unwrap_err();
            assert_eq!(error.fault(), crate::Fault::Output, "{error}");
            assert!(!error.to_string().contains(".part"), "{error}");
        }
    }
}
