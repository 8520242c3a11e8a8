//! Messages, progress and table rows that a running comparison prints.

use indicatif::ProgressBar;

use crate::cli::console::{fail, print};
use crate::cli::outputs::{NAME, Template};
use crate::cli::session::Session;
use quadrille_base::error::{Error, Result};
use quadrille_base::image::files;
use quadrille_evaluation::pairing::PairName;
use quadrille_evaluation::{Measured, Observer, TextRows};
use quadrille_suite::report::error_map;

pub(super) struct Console<'a> {
    pub(super) session: &'a Session,
    pub(super) bar: ProgressBar,
    pub(super) text: Option<&'a TextRows>,
    pub(super) diff: Option<Template>,
    pub(super) has_begun: bool,
    pub(super) last_error: Option<anyhow::Error>,
}

impl Console<'_> {
    fn print_line(&mut self, line: impl FnOnce(&TextRows) -> String) -> Result<()> {
        let Some(text) = self.text else { return Ok(()) };
        let headings = if self.has_begun { "" } else { text.headings() };
        self.has_begun = true;
        let lines = headings.to_owned() + &line(text);
        self.bar.suspend(|| print(lines))
    }
}

impl Observer for Console<'_> {
    fn compared(&mut self, measured: Measured<'_>) -> Result<()> {
        let row = measured.row;
        let is_kept = measured.pictures.is_none();
        if let (Some(diff), Some(([a, _], errors))) = (&self.diff, measured.pictures) {
            let path = diff.filled(&[(NAME, &row.pair.name)]);
            let title = format!("FLIP error of {}", row.pair.name);
            files::write(&path, &error_map::picture(&title, [a.width(), a.height()], errors))?;
            row.diff = Some(path.display().to_string());
        }
        let (a, b) = (&row.pair.a, &row.pair.b);
        let done = if is_kept { "kept" } else { "compared" };
        self.session.remark(&format!("{a} and {b}: {done}"));
        self.print_line(|text| text.row(row))
    }

    fn failed(&mut self, pair: &PairName, error: Error) {
        let context = format!("comparing {} and {}", pair.a, pair.b);
        let error = anyhow::Error::new(error).context(context);
        self.bar.suspend(|| {
            self.last_error.iter().for_each(|e| fail(&format!("{e:#}")));
        });
        self.last_error = Some(error);
        // If stdout is closed, printing the next row reports it.
        let _ = self.print_line(|text| text.unmeasured(pair));
    }

    fn blank(&mut self, pair: &PairName, warning: &str) {
        self.warn(warning);
        let _ = self.print_line(|text| text.unmeasured(pair));
    }

    fn warn(&mut self, text: &str) {
        self.bar.suspend(|| self.session.warn(text));
    }
}
