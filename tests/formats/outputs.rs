//! Output files: written whole or not at all, through links, and never over an input.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use quadrille::Fault;
use quadrille::Task;
use quadrille_base::output::{make_folder_of, refuse_input, write_whole};

#[test]
fn a_failed_write_leaves_the_old_file_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.txt");
    write_whole(&path, &Task::NEVER, |out| out.write_all(b"old")).unwrap();
    let failed = write_whole(&path, &Task::NEVER, |out| {
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
    write_whole(&ours, &Task::NEVER, |out| out.write_all(b"x")).unwrap();
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
    write_whole(&link, &Task::NEVER, |out| out.write_all(b"new")).unwrap();
    assert_eq!(fs::read(&real).unwrap(), b"new");
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
}

#[cfg(unix)]
#[test]
fn a_device_is_written_to_not_replaced() {
    let device = Path::new("/dev/null");
    write_whole(device, &Task::NEVER, |out| out.write_all(b"gone")).unwrap();
    assert!(!fs::metadata(device).unwrap().is_file());
}

#[cfg(unix)]
#[test]
fn a_link_to_nothing_is_followed_too() {
    let folder = tempfile::tempdir().unwrap();
    let (real, link) = (folder.path().join("real"), folder.path().join("link"));
    std::os::unix::fs::symlink("real", &link).unwrap();
    write_whole(&link, &Task::NEVER, |out| out.write_all(b"new")).unwrap();
    assert_eq!(fs::read(&real).unwrap(), b"new");
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    let circle = folder.path().join("circle");
    std::os::unix::fs::symlink("circle", &circle).unwrap();
    assert!(write_whole(&circle, &Task::NEVER, |out| out.write_all(b"new")).is_ok());
}

#[test]
fn an_input_is_no_output() {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("a.ply");
    fs::write(&input, b"x").unwrap();
    let other_name = folder.path().join(".").join("a.ply");
    for output in [&input, &other_name] {
        let error = refuse_input(output, &[Path::new("-"), &input]).unwrap_err();
        assert!(error.to_string().contains("not an input"), "{error}");
    }
    for output in ["b.ply", "a"].map(|name| folder.path().join(name)) {
        refuse_input(&output, &[&input]).unwrap();
    }
    refuse_input(Path::new("-"), &[Path::new("-")]).unwrap();
}

#[test]
fn missing_folders_are_named_or_made() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new/folder/a.png");
    let error = write_whole(&path, &Task::NEVER, |out| out.write_all(b"x")).unwrap_err();
    assert!(error.to_string().ends_with("folder does not exist"), "{error}");
    make_folder_of(&path).unwrap();
    write_whole(&path, &Task::NEVER, |out| out.write_all(b"x")).unwrap();
    make_folder_of(Path::new("a.png")).unwrap();
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
        let error = write_whole(&path, &Task::NEVER, |out| out.write_all(b"x")).unwrap_err();
        assert_eq!(error.fault(), Fault::Output, "{error}");
        assert!(!error.to_string().contains(".part"), "{error}");
    }
}
