//! Output files: written whole or not at all, and never over an input.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use tempfile::NamedTempFile;

use crate::error::{Error, Result, shown};
use crate::task::Task;

/// Mode before the umask, as of `open(2)`; the default mode of temporary files hides them from other users.
#[cfg(unix)]
const NEW_FILE_MODE: u32 = 0o666;

const PART: &str = ".part";

/// Path that stands for standard output.
pub const STDOUT: &str = "-";

const MAX_LINKS: usize = 40;

/// Temporary files of writes in progress: global, because an interrupt ends the process, not one writer.
static PART_FILES: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Writes the file `path` by calling `write`, so that no reader ever sees a part of it.
///
/// The bytes go to a temporary file in the same folder, which is renamed to `path` only when `write`
/// has succeeded; on an error, an old file stays as it was. A symbolic link is followed, and the
/// file it points at is replaced. A path that exists and is not a plain file, such as `/dev/null` or
/// a pipe, is written to directly, and [`STDOUT`] is standard output, whose reader may close it early. The writer is buffered,
/// and fails as soon as the task is cancelled.
///
/// # Errors
/// [`Error::Write`] and [`Error::Cancelled`].
pub fn write_whole(
    path: &Path,
    task: &Task,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<()> {
    write_whole_if(path, task, write, |_| Ok(true)).map(drop)
}

/// Writes the file `path` with the content `bytes`, as [`write_whole`] does.
///
/// # Errors
/// [`Error::Write`].
pub fn write_bytes(path: &Path, bytes: impl AsRef<[u8]>) -> Result<()> {
    write_whole(path, &Task::NEVER, |out| out.write_all(bytes.as_ref()))
}

/// As [`write_whole`], but replaces an old file only if `accept` returns true, and returns whether it did.
/// `accept` takes the path of the complete new file, which has a temporary name with the extension of `path`.
/// A device or a pipe has been written to before `accept` is called.
///
/// # Errors
/// [`Error::Write`], [`Error::Cancelled`], and the errors of `accept`.
pub fn write_whole_if(
    path: &Path,
    task: &Task,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    accept: impl FnOnce(&Path) -> Result<bool>,
) -> Result<bool> {
    crate::span!("write");
    if path == Path::new(STDOUT) {
        return match write_buffered(io::stdout().lock(), task, write) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                task.check().and(Err(Error::write(Path::new("<stdout>"), error)))
            }
            _ => accept(path),
        };
    }
    let real = link_target(path);
    let written = match fs::metadata(&real) {
        Ok(there) if !there.is_file() => {
            let file = OpenOptions::new().write(true).open(&real);
            file.and_then(|file| write_buffered(file, task, write)).map(|()| accept(&real))
        }
        _ => write_and_rename(&real, task, write, accept),
    };
    written.unwrap_or_else(|error| task.check().and(Err(Error::write(path, error))))
}

/// Writes the folder `path` with the given files, so that no reader ever sees a part of it.
///
/// File names may contain folders, separated by slashes. The files go to a temporary folder beside `path`, which is renamed
/// when all are written. An existing folder is replaced if `is_replaceable` returns true for the names of all its files and
/// folders (folders end in a slash), and if `accept`, which takes the path of the complete new folder, returns true.
/// Returns whether the folder was replaced.
///
/// # Errors
/// [`Error::Write`], [`Error::Cancelled`], and the errors of `accept`.
pub fn write_folder(
    path: &Path,
    files: &[(impl AsRef<str>, Vec<u8>)],
    is_replaceable: impl Fn(&str) -> bool,
    task: &Task,
    accept: impl FnOnce(&Path) -> Result<bool>,
) -> Result<bool> {
    crate::span!("write");
    let written = write_and_swap(&link_target(path), files, is_replaceable, task, accept);
    written.unwrap_or_else(|error| task.check().and(Err(Error::write(path, error))))
}

/// Checks that the folder `path` can be written by [`write_folder`]. Call it before long work whose result would otherwise
/// be lost.
///
/// # Errors
/// [`Error::Write`] for a folder that holds other files than `is_replaceable` accepts, or has no name.
pub fn check_folder(path: &Path, is_replaceable: impl Fn(&str) -> bool) -> Result<()> {
    check_replaceable(&link_target(path), &is_replaceable).map_err(|e| Error::write(path, e))
}

fn check_replaceable(path: &Path, is_replaceable: &impl Fn(&str) -> bool) -> io::Result<()> {
    if path.file_name().is_none() || path == Path::new(STDOUT) {
        let reason = "the folder needs a name; it cannot be the working folder itself";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, reason));
    }
    match other_file(path, "", is_replaceable)? {
        None => Ok(()),
        Some(other) => Err(io::Error::new(
            io::ErrorKind::AlreadyExists,
            format!("the folder holds {}, which would be lost; name a new folder", shown(&other)),
        )),
    }
}

fn write_and_swap(
    path: &Path,
    files: &[(impl AsRef<str>, Vec<u8>)],
    is_replaceable: impl Fn(&str) -> bool,
    task: &Task,
    accept: impl FnOnce(&Path) -> Result<bool>,
) -> io::Result<Result<bool>> {
    check_replaceable(path, &is_replaceable)?;
    let temporary = temporary_names().tempdir_in(folder_of(path));
    // Dropping it removes the folder.
    let temporary = temporary.map_err(|e| without_its_name(&e, &folder_of(path)))?;
    let part = temporary.path().to_path_buf();
    part_files().push(part.clone());
    let swap = || -> io::Result<Result<bool>> {
        let (new, old) = (part.join("new"), part.join("old"));
        fs::create_dir(&new)?;
        for (name, bytes) in files {
            let file = new.join(name.as_ref());
            fs::create_dir_all(folder_of(&file))?;
            task.writer(File::create(file)?).write_all(bytes)?;
        }
        task.check().map_err(io::Error::other)?;
        let accepted = accept(&new);
        if !matches!(accepted, Ok(true)) {
            return Ok(accepted);
        }
        if path.is_dir() {
            fs::rename(path, &old)?;
        }
        fs::rename(&new, path).inspect_err(|_| {
            // The first error says more than an error of this renaming back.
            let _ = fs::rename(&old, path);
        })?;
        Ok(accepted)
    };
    let swapped = swap();
    part_files().retain(|folder| *folder != part);
    swapped
}

/// First file or folder below `path` whose name, prefixed with `above`, is not known; names of folders end in a slash.
fn other_file(
    path: &Path,
    above: &str,
    is_known: &impl Fn(&str) -> bool,
) -> io::Result<Option<PathBuf>> {
    let entries = match fs::read_dir(path) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    for entry in entries {
        let entry = entry?;
        let kind = entry.file_type()?;
        let slash = if kind.is_dir() { "/" } else { "" };
        let name = format!("{above}{}{slash}", entry.file_name().to_string_lossy());
        if !is_known(&name) || !kind.is_file() && !kind.is_dir() {
            return Ok(Some(entry.path()));
        }
        let below = if kind.is_dir() { other_file(&entry.path(), &name, is_known)? } else { None };
        if below.is_some() {
            return Ok(below);
        }
    }
    Ok(None)
}

/// Creates the folder of the output `path` if it is missing, and checks that files can be created there. Call it before
/// long work whose result would otherwise be lost.
///
/// # Errors
/// [`Error::Write`].
pub fn make_folder_of(path: &Path) -> Result<()> {
    let real = link_target(path);
    let is_new = || match fs::metadata(&real) {
        Ok(there) => there.is_file(),
        Err(_) => true,
    };
    fs::create_dir_all(folder_of(&real))
        .and_then(|()| if is_new() { temporary_beside(&real).map(drop) } else { Ok(()) })
        .map_err(|e| Error::write(path, e))
}

/// Refuses an output that is one of the `inputs`, also through relative paths and symbolic links.
pub fn refuse_input(output: &Path, inputs: &[&Path]) -> Result<()> {
    let real = |path: &Path| fs::canonicalize(path).ok();
    let Some(target) = real(output).filter(|target| target.is_file()) else { return Ok(()) };
    match inputs.iter().find(|input| real(input).as_ref() == Some(&target)) {
        None => Ok(()),
        Some(input) => Err(Error::argument(
            "output",
            "a file that is not an input",
            format!("{}, which is an input", shown(input)),
        )),
    }
}

/// Removes the temporary files of writes in progress. Call it only before the process ends, for example
/// in a handler of interrupts, since the writes cannot succeed afterwards.
pub fn remove_part_files() {
    for path in part_files().drain(..) {
        // The process ends in either case.
        let _ = fs::remove_file(&path).or_else(|_| fs::remove_dir_all(&path));
    }
}

fn part_files() -> std::sync::MutexGuard<'static, Vec<PathBuf>> {
    PART_FILES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Target of a symbolic link, also if it does not exist; `path` itself if it is no link.
fn link_target(path: &Path) -> PathBuf {
    let mut target = path.to_path_buf();
    for _ in 0..MAX_LINKS {
        match fs::read_link(&target) {
            Ok(next) => target = folder_of(&target).join(next),
            Err(_) => break,
        }
    }
    target
}

fn folder_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(folder) if folder != Path::new("") => folder.to_path_buf(),
        _ => PathBuf::from("."),
    }
}

fn write_and_rename(
    path: &Path,
    task: &Task,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    accept: impl FnOnce(&Path) -> Result<bool>,
) -> io::Result<Result<bool>> {
    if path.file_name().is_none() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "the path names no file"));
    }
    let temporary = temporary_beside(path)?;
    let part = temporary.path().to_path_buf();
    part_files().push(part.clone());
    let written = write_buffered(temporary.as_file(), task, write)
        .and_then(|()| task.check().map_err(io::Error::other))
        .and_then(|()| match accept(&part) {
            Ok(true) => match temporary.persist(path) {
                Ok(_) => Ok(Ok(true)),
                Err(error) => Err(error.error),
            },
            refused => Ok(refused),
        });
    part_files().retain(|file| *file != part);
    written
}

fn write_buffered(
    file: impl Write,
    task: &Task,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let mut buffered = BufWriter::new(task.writer(file));
    write(&mut buffered)?;
    buffered.flush()
}

/// Creates an empty temporary file in the folder of `path` (files can be renamed only within a file system),
/// with the extension of `path`, by which readers recognize some formats.
fn temporary_beside(path: &Path) -> io::Result<NamedTempFile> {
    let folder = folder_of(path);
    let suffix = path.extension().map_or_else(
        || PART.to_owned(),
        |extension| format!("{PART}.{}", extension.to_string_lossy()),
    );
    let mut builder = temporary_names();
    builder.suffix(&suffix);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(NEW_FILE_MODE));
    }
    builder.tempfile_in(&folder).map_err(|error| without_its_name(&error, &folder))
}

fn temporary_names<'a>() -> tempfile::Builder<'a, 'a> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".quadrille-").suffix(PART);
    builder
}

/// Removes the name of the temporary file, unknown to the user, from an error.
fn without_its_name(error: &io::Error, folder: &Path) -> io::Error {
    let kind = error.kind();
    if kind == io::ErrorKind::NotFound {
        let folder_is = if folder.is_dir() { "accepts no new files" } else { "does not exist" };
        return io::Error::new(kind, format!("the folder {} {folder_is}", shown(folder)));
    }
    let reason = error.get_ref().and_then(std::error::Error::source);
    reason.map_or(kind.into(), |reason| io::Error::new(kind, reason.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn a_folder_without_new_files_is_refused_before_the_work() {
        let error = make_folder_of(Path::new("/proc/x.png")).unwrap_err().to_string();
        assert!(error.ends_with("the folder /proc accepts no new files"), "{error}");
        make_folder_of(Path::new("/dev/null")).unwrap();
    }

    #[test]
    fn files_in_progress_are_known() {
        let folder = tempfile::tempdir().unwrap();
        let known = || part_files().iter().filter(|p| p.starts_with(folder.path())).count();
        write_whole(&folder.path().join("out.txt"), &Task::NEVER, |_| {
            assert_eq!(known(), 1);
            Ok(())
        })
        .unwrap();
        assert_eq!(known(), 0);
    }

    #[test]
    fn folders_are_replaced_whole_unless_they_hold_other_files() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("a");
        let write = |text: &str| {
            let files = [("one", text.into()), ("two", Vec::new())];
            let known = ["one", "two", "three"];
            write_folder(
                &folder,
                &files,
                |name| known.contains(&name),
                &Task::NEVER,
                |new| Ok(fs::read_to_string(new.join("one")).unwrap() != "refused"),
            )
        };
        write("first").unwrap();
        fs::write(folder.join("three"), "old").unwrap();
        write("second").unwrap();
        assert_eq!(fs::read_to_string(folder.join("one")).unwrap(), "second");
        assert!(folder.join("two").is_file() && !folder.join("three").exists());
        assert!(!write("refused").unwrap());
        assert_eq!(fs::read_to_string(folder.join("one")).unwrap(), "second");
        fs::write(folder.join("four"), "kept").unwrap();
        let error = write("third").unwrap_err().to_string();
        assert!(error.contains("four"), "{error}");
        assert_eq!(fs::read_to_string(folder.join("one")).unwrap(), "second");
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 1, "left over");
        let files = [("one", Vec::new())];
        let inside = place.path().join("none/a");
        assert!(write_folder(&inside, &files, |_| false, &Task::NEVER, |_| Ok(true)).is_err());
    }

    #[test]
    fn a_refused_file_leaves_the_old_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.splat");
        let write = |text: &str, accept: Result<bool>| {
            write_whole_if(
                &path,
                &Task::NEVER,
                |out| out.write_all(text.as_bytes()),
                |new| {
                    assert_eq!(new.extension(), path.extension());
                    assert_eq!(fs::read_to_string(new).unwrap(), text);
                    accept
                },
            )
        };
        assert!(write("old", Ok(true)).unwrap());
        assert!(!write("worse", Ok(false)).unwrap());
        let error = Error::argument("a", "b", "c");
        assert!(matches!(write("broken", Err(error)), Err(Error::Argument { .. })));
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "left over");
    }
}
