//! Runs of `--sensitivity`, with an estimate of their time.

use std::time::Duration;

use indicatif::HumanDuration;

use super::{Printed, SimJob};
use crate::cli::session::Progress;
use quadrille_base::error::Result;
use quadrille_gpu::sensitivity::Sensitivity;
use quadrille_gpu::view::PreparedView;
use quadrille_scene::Camera;
use quadrille_suite::report::sensitivity;

impl SimJob<'_> {
    /// Runs the view of `camera` in all configurations, and prints the page or keeps the document. After the first
    /// configuration of the first view, prints an estimate of the time for all `cameras`.
    pub(super) fn vary(
        &self,
        prepared: &PreparedView<'_>,
        camera: &Camera,
        cameras: &[Camera],
        printed: &mut Printed,
        views: &Progress,
    ) -> Result<()> {
        let progress = self.session.progress("fields");
        let is_first = camera.name == cameras[0].name;
        let mut begin = |configurations: usize, first: Duration| {
            if is_first {
                let note = self.estimate([configurations, cameras.len()], first);
                progress.bar.suspend(|| self.session.note(&note));
            }
        };
        let (config, methods) = (&self.configurations[0].config, self.methods);
        let varied = Sensitivity::of(prepared, config, methods, &progress.task, &mut begin)?;
        drop(progress);
        if self.args.json {
            printed.documents.push(sensitivity::document(&camera.name, methods, &varied));
            return Ok(());
        }
        printed.page(views, &sensitivity::table(&camera.name, methods, &varied))
    }

    /// Number of runs, and estimated time if every configuration takes as long as the first one and all threads are
    /// busy.
    fn estimate(&self, [configurations, views]: [usize; 2], first: Duration) -> String {
        let (methods, threads) = (self.methods.len(), self.session.threads());
        let runs = configurations * methods * views;
        let seconds =
            first.as_secs_f64() * (configurations * views).div_ceil(threads.max(1)) as f64;
        format!(
            "--sensitivity makes {runs} runs (configurations: {configurations}, methods: {methods}, views: {views}, threads: \
             {threads}), about {} by the {:.2} s of the first configuration",
            HumanDuration(Duration::from_secs_f64(seconds)),
            first.as_secs_f64(),
        )
    }
}
