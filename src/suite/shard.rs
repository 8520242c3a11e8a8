//! Shards: equal parts of a suite for several machines.

use std::fmt;
use std::path::{Path, PathBuf};

use quadrille_base::error::{Error, Result};

const MAX_SHARDS: u32 = 100_000;

/// One of several equal parts of a suite: of `count` shards, shard `index` has the jobs `index - 1`,
/// `index - 1 + count` and so on. The shards of one count are disjoint and complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    /// 1 to `count`.
    index: u32,
    count: u32,
}

impl Shard {
    /// Parses `I/N`, with I from 1 to N.
    ///
    /// # Errors
    /// [`Error::Argument`] for anything else.
    pub fn parse(text: &str) -> Result<Self> {
        let wrong = || {
            let expected = format!("I/N, shard I from 1 to N of at most {MAX_SHARDS}, as in 2/4");
            Error::argument("shard", expected, text)
        };
        let (index, count) = text.split_once('/').ok_or_else(wrong)?;
        let whole = |text: &str| {
            let is_plain = text.bytes().all(|b| b.is_ascii_digit());
            text.parse().ok().filter(|_| is_plain)
        };
        let (index, count) = whole(index).zip(whole(count)).ok_or_else(wrong)?;
        let fits = count <= MAX_SHARDS && (1..=count).contains(&index);
        fits.then_some(Self { index, count }).ok_or_else(wrong)
    }

    /// Whether the shard has the job at `job` of the whole suite.
    pub fn contains(self, job: usize) -> bool {
        job as u64 % u64::from(self.count) == u64::from(self.index - 1)
    }

    /// The shard's own results file: `rows.2-of-4.jsonl` beside `rows.jsonl`.
    pub fn file(self, results: &Path) -> PathBuf {
        let (stem, extension) = parts(results);
        results.with_file_name(format!("{stem}.{self}{extension}"))
    }

    /// The results files of all shards beside `results`, by count and index of their shard.
    pub fn files(results: &Path) -> Result<Vec<PathBuf>> {
        let folder = match results.parent() {
            Some(folder) if folder != Path::new("") => folder,
            _ => Path::new("."),
        };
        let (stem, extension) = parts(results);
        let shard = |name: &str| {
            let middle = name.strip_prefix(&stem)?.strip_prefix('.')?;
            let (index, count) = middle.strip_suffix(&extension)?.split_once("-of-")?;
            Self::parse(&format!("{index}/{count}")).ok()
        };
        let unread = |e| Error::read(folder, e);
        let mut found = Vec::new();
        for entry in std::fs::read_dir(folder).map_err(unread)? {
            let name = entry.map_err(unread)?.file_name();
            let Some(shard) = name.to_str().and_then(shard) else { continue };
            found.push(((shard.count, shard.index), results.with_file_name(name)));
        }
        found.sort();
        Ok(found.into_iter().map(|(_, path)| path).collect())
    }

    pub(super) fn files_to_merge(results: &Path) -> Result<Vec<PathBuf>> {
        let files = Self::files(results)?;
        let name = Self { index: 1, count: 4 }.file(results);
        let expected = format!("files of shards such as {}", name.display());
        Error::refuse_if(files.is_empty(), "merge", expected, "none")?;
        Ok(files)
    }
}

/// Stem of a file name, and its extension with the dot.
fn parts(results: &Path) -> (String, String) {
    let text = |part: Option<&std::ffi::OsStr>| {
        part.map_or(String::new(), |p| p.to_string_lossy().into_owned())
    };
    let extension = match text(results.extension()) {
        empty if empty.is_empty() => empty,
        extension => format!(".{extension}"),
    };
    (text(results.file_stem()), extension)
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-of-{}", self.index, self.count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_are_disjoint_and_complete() {
        for count in 1..=7_u32 {
            let shards = (1..=count).map(|i| Shard::parse(&format!("{i}/{count}")).unwrap());
            let shards: Vec<_> = shards.collect();
            for job in 0..50 {
                let having = shards.iter().filter(|shard| shard.contains(job));
                assert_eq!(having.count(), 1, "job {job} of {count} shards");
            }
        }
    }

    #[test]
    fn only_shards_are_parsed() {
        for wrong in
            ["", "1", "0/4", "5/4", "1/0", "-1/4", "+1/4", "1/4/2", "a/b", "1/100001", " 1/4"]
        {
            let error = Shard::parse(wrong).unwrap_err().to_string();
            assert!(error.starts_with("shard: expected I/N"), "{error}");
        }
    }

    #[test]
    fn files_of_shards_are_found_in_order() {
        let folder = tempfile::tempdir().unwrap();
        let results = folder.path().join("rows.jsonl");
        let name = |text: &str| Shard::parse(text).unwrap().file(&results);
        assert_eq!(name("2/10"), folder.path().join("rows.2-of-10.jsonl"));
        assert_eq!(Shard::parse("1/2").unwrap().file(Path::new("rows")), Path::new("rows.1-of-2"));
        for shard in ["10/10", "2/10", "1/2"] {
            std::fs::write(name(shard), "").unwrap();
        }
        for other in ["rows.jsonl", "rows.0-of-4.jsonl", "rows.1-of-4.csv", "x.1-of-4.jsonl"] {
            std::fs::write(folder.path().join(other), "").unwrap();
        }
        let expected = ["1/2", "2/10", "10/10"].map(name);
        assert_eq!(Shard::files(&results).unwrap(), expected);
    }
}
