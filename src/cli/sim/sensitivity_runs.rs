//! Runs of `--sensitivity` and `--relief`, with an estimate of their time.

use std::time::Duration;

use indicatif::HumanDuration;

use super::{Printed, SimJob};
use crate::cli::session::Progress;
use quadrille_base::error::Result;
use quadrille_gpu::relief::relief;
use quadrille_gpu::sensitivity::Sensitivity;
use quadrille_gpu::view::PreparedView;
use quadrille_scene::Camera;
use quadrille_suite::report::{self, sensitivity};

impl SimJob<'_> {
    /// Runs the view of `camera` in all changed configurations, and prints the page or keeps the document. After the
    /// first configuration of the first view, prints an estimate of the time for all `cameras`.
    pub(super) fn vary(
        &self,
        prepared: &PreparedView<'_>,
        camera: &Camera,
        cameras: &[Camera],
        printed: &mut Printed,
        views: &Progress,
    ) -> Result<()> {
        let (args, name) = (self.args, &camera.name);
        let progress = self.session.progress_in_lines(if args.relief { "runs" } else { "fields" });
        let is_first = *name == cameras[0].name;
        let mut begin = |runs: usize, first: Duration| {
            if is_first {
                let note = self.estimate(runs, cameras.len(), first);
                progress.bar.suspend(|| self.session.note(&note));
            }
        };
        let (config, methods) = (&self.configurations[0].config, self.methods);
        let (document, table) = if args.relief {
            let relief = relief(prepared, config, methods, &progress.task, &mut begin)?;
            (report::relief::document(name, &relief), report::relief::table(name, &relief))
        } else {
            let varied = Sensitivity::of(prepared, config, methods, &progress.task, &mut begin)?;
            (
                sensitivity::document(name, methods, &varied),
                sensitivity::table(name, methods, &varied),
            )
        };
        drop(progress);
        if args.json {
            printed.documents.push(document);
            return Ok(());
        }
        printed.page(views, &table)
    }

    /// Number of runs, and estimated time if every run takes its share of the `first` ones, of all methods, and all
    /// threads are busy.
    fn estimate(&self, runs_of_view: usize, views: usize, first: Duration) -> String {
        let (methods, threads) = (self.methods.len(), self.session.threads());
        let runs = runs_of_view * views;
        let flag = if self.args.relief { "--relief" } else { "--sensitivity" };
        let seconds = first.as_secs_f64() * runs.div_ceil(methods * threads.max(1)) as f64;
        format!(
            "{flag} makes {runs} runs (methods: {methods}, views: {views}, threads: {threads}), about {} by the {:.2} s of the first \
             configuration",
            HumanDuration(Duration::from_secs_f64(seconds)),
            first.as_secs_f64(),
        )
    }
}
