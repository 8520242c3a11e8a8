//! Records the commit that the program is built from.

use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let commit = commit().unwrap_or_else(|| "unknown".to_owned());
    println!("cargo::rustc-env=QUADRILLE_COMMIT={commit}");
}

/// The commit of this repository; `None` outside of one, as in a package from a registry.
fn commit() -> Option<String> {
    // A package that lies inside another project's repository is not of its commit.
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let found = git(&["rev-parse", "--show-toplevel"])?;
    if root.canonicalize().ok()? != Path::new(&found).canonicalize().ok()? {
        return None;
    }
    // The log of HEAD grows with every commit and checkout. The index is left out: looking at the
    // state of the working tree touches it.
    for name in ["HEAD", "logs/HEAD"] {
        let path = git(&["rev-parse", "--git-path", name])?;
        if root.join(&path).exists() {
            println!("cargo::rerun-if-changed={path}");
        }
    }
    println!("cargo::rerun-if-changed=src");
    git(&["describe", "--always", "--dirty", "--abbrev=12"])
}

/// What git prints for `arguments`; `None` where there is no git or no repository.
fn git(arguments: &[&str]) -> Option<String> {
    let root = env!("CARGO_MANIFEST_DIR");
    let output = Command::new("git")
        .args(arguments)
        .current_dir(root)
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let text = text.trim();
    (output.status.success() && !text.is_empty()).then(|| text.to_owned())
}
