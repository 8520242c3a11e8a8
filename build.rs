//! Passes the commit and a hash of the sources to the build, as environment variables.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    let commit = commit().unwrap_or_else(|| "unknown".to_owned());
    println!("cargo::rustc-env=QUADRILLE_COMMIT={commit}");
    // Two builds of one commit differ if the working tree was changed in between.
    println!("cargo::rustc-env=QUADRILLE_SOURCES={:016x}", sources()?);
    Ok(())
}

/// FNV-1a hash of the paths and contents of all source files, and of the versions of all dependencies.
fn sources() -> io::Result<u64> {
    println!("cargo::rerun-if-changed=src");
    let mut files = vec![PathBuf::from("Cargo.toml"), PathBuf::from("Cargo.lock")];
    files.retain(|file| file.exists());
    let mut folders = vec![PathBuf::from("src")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else {
                files.push(path);
            }
        }
    }
    files.sort();
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for file in files {
        let name = file.to_string_lossy().replace('\\', "/");
        for byte in name.bytes().chain(fs::read(&file)?) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    Ok(hash)
}

/// The commit of this repository; `None` outside of one, as in a package from a registry.
fn commit() -> Option<String> {
    // A package that is vendored in another project's repository must not report that project's commit.
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let found = git(&["rev-parse", "--show-toplevel"])?;
    if root.canonicalize().ok()? != Path::new(&found).canonicalize().ok()? {
        return None;
    }
    // The log of HEAD changes with every commit and checkout. The index is not watched, since even
    // `git status` rewrites it.
    for name in ["HEAD", "logs/HEAD"] {
        let path = git(&["rev-parse", "--git-path", name])?;
        if root.join(&path).exists() {
            println!("cargo::rerun-if-changed={path}");
        }
    }
    // `--exclude=*` ignores release tags, so that the output is always the commit.
    git(&["describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"])
}

/// Returns the output of git with `arguments`; `None` without git or outside a repository.
fn git(arguments: &[&str]) -> Option<String> {
    let root = env!("CARGO_MANIFEST_DIR");
    let output = Command::new("git").args(arguments).current_dir(root).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let text = text.trim();
    (output.status.success() && !text.is_empty()).then(|| text.to_owned())
}
