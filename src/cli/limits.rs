//! Flags for the limits of comparisons, which make them gates of scripts.

use std::borrow::Borrow;
use std::fs::File;
use std::io::Read;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use super::console::{Exit, command_line, fail, print};
use super::outputs::Outputs;
use quadrille_base::output::write_bytes;
use quadrille_base::parse::finite;
use quadrille_base::{Error, Result};
use quadrille_evaluation::{JUNIT_START, Limits, PairRow, Verdict};

/// Flags for limits that `compare` and `convert` share. With several numbers, each is for a level of detail.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct LimitFlags {
    /// Exit with code 1 if the PSNR of any pair or view is below this, in dB. Identical pictures pass; with any limit,
    /// pairs that are missing, blank or not finite fail. `convert` then writes nothing, and takes one number per level of
    /// detail, or one for all
    #[arg(long, value_name = "DB", value_delimiter = ',', value_parser = finite)]
    fail_under_psnr: Vec<f64>,
    /// Exit with code 1 if the SSIM of any pair or view is below this, up to 1
    #[arg(long, value_name = "SSIM", value_delimiter = ',', value_parser = parse_ssim)]
    fail_under_ssim: Vec<f64>,
    /// Exit with code 1 if the FLIP error of any pair or view is above this, 0 to 1
    #[arg(long, value_name = "FLIP", value_delimiter = ',', value_parser = parse_share)]
    fail_over_flip: Vec<f64>,
    /// Write the verdict about each pair or view as JUnit XML; needs a limit
    #[arg(long, value_name = "FILE.xml")]
    junit: Option<PathBuf>,
}

/// Parses a limit that a metric of a bounded range can break and keep.
fn bounded(text: &str, range: RangeInclusive<f64>) -> std::result::Result<f64, String> {
    let number = finite(text)?;
    let (least, most) = (*range.start(), *range.end());
    let expected = || match least > f64::MIN {
        true => format!("expected a number from {least} to {most}, the range of the metric"),
        false => format!("expected a number up to {most}, the range of the metric"),
    };
    if range.contains(&number) { Ok(number) } else { Err(expected()) }
}

fn parse_ssim(text: &str) -> std::result::Result<f64, String> {
    bounded(text, -1.0..=1.0)
}

/// Parses a limit of SSIMULACRA2.
pub(super) fn parse_score(text: &str) -> std::result::Result<f64, String> {
    bounded(text, f64::MIN..=100.0)
}

/// Parses a limit of 0 to 1.
pub(super) fn parse_share(text: &str) -> std::result::Result<f64, String> {
    bounded(text, 0.0..=1.0)
}

impl LimitFlags {
    fn lists(&self) -> [(&'static str, &[f64]); 3] {
        [
            ("--fail-under-psnr", &self.fail_under_psnr),
            ("--fail-under-ssim", &self.fail_under_ssim),
            ("--fail-over-flip", &self.fail_over_flip),
        ]
    }

    /// Whether any of these flags has a limit.
    pub(super) fn are_set(&self) -> bool {
        self.lists().iter().any(|(_, list)| !list.is_empty())
    }

    /// Checks the numbers of limits for an output of `levels` levels of detail, and adds the file of the verdict.
    /// `has_limit` tells whether any flag has a limit.
    pub(super) fn prepare(
        &self,
        levels: usize,
        has_limit: bool,
        outputs: &mut Outputs<'_>,
    ) -> Result<()> {
        for (flag, list) in self.lists() {
            let expected = match levels {
                1 => "one number".to_owned(),
                levels => format!("one number, or {levels}, one per level of detail"),
            };
            let found = || list.iter().map(f64::to_string).collect::<Vec<_>>().join(",");
            let is_wrong = list.len() > 1 && list.len() != levels;
            Error::refuse_if(is_wrong, flag, expected, found())?;
        }
        let Some(path) = &self.junit else { return Ok(()) };
        if !has_limit {
            return Err(Error::needs("--junit", "a limit, such as --fail-under-psnr 30"));
        }
        outputs.add("--junit", path)
    }

    /// Limits of a level of detail.
    pub(super) fn of_level(&self, level: usize) -> Limits {
        let of = |list: &[f64]| list.get(level).or(list.first()).copied();
        Limits {
            psnr_db: of(&self.fail_under_psnr),
            ssim: of(&self.fail_under_ssim),
            flip: of(&self.fail_over_flip),
            ..Limits::default()
        }
    }

    /// Writes an error that ended the command to the file of `--junit`, which is new or has the verdict of an earlier run.
    pub(super) fn report(&self, error: &anyhow::Error) -> Result<()> {
        match &self.junit {
            // Paths are not checked against the inputs before these are opened.
            Some(path) if !path.exists() || is_verdict(path) => {
                let verdict = Verdict::of_error(&format!("{error:#}"));
                write_bytes(path, verdict.junit(&command_line()))
            }
            _ => Ok(()),
        }
    }

    /// Reports a verdict, as the last output of a command: failures on stderr, and success below the table, if `has_table`.
    pub(super) fn conclude(&self, verdict: &Verdict, has_table: bool) -> Result<Exit> {
        if let Some(path) = &self.junit {
            write_bytes(path, verdict.junit(&command_line()))?;
        }
        verdict.failures.iter().for_each(|text| fail(text));
        if has_table && verdict.passed() {
            print(verdict.sentence())?;
        }
        Ok(Exit::of(verdict.passed()))
    }
}

/// Whether a file begins as a verdict. Devices, which may have no end, are none.
fn is_verdict(path: &Path) -> bool {
    let mut start = [0; JUNIT_START.len()];
    let opened = File::open(path).ok().filter(|file| file.metadata().is_ok_and(|m| m.is_file()));
    opened.is_some_and(|mut file| {
        file.read_exact(&mut start).is_ok() && start == JUNIT_START.as_bytes()
    })
}

/// Sorts rows by PSNR, the lowest first. Identical pictures have no PSNR and come last.
pub(super) fn sort_by_psnr<R: Borrow<PairRow>>(rows: &mut [R]) {
    let psnr = |row: &R| row.borrow().comparison.psnr_db.unwrap_or(f64::INFINITY);
    rows.sort_by(|a, b| psnr(a).total_cmp(&psnr(b)));
}
