//! The files of `deferred`: pictures, heat maps and bars of every view and combination of settings.

use std::path::{Path, PathBuf};

use super::args::Args;
use crate::cli::film::{Film, refuse_measures, writes_to_stdout};
use crate::cli::outputs::{
    Background, METHOD, Output, Outputs, Template, VIEW, colour_behind, first_given, require_values,
};
use quadrille_base::error::{Error, Result};
use quadrille_base::image::files;
use quadrille_deferred::backend::resolve;
use quadrille_deferred::draw::DeferredResult;
use quadrille_scene::Camera;
use quadrille_suite::deferred_runs::{
    DeferredRunSettings, DeferredView, DeferredWants, heat_picture,
};
use quadrille_suite::report::deferred::traffic_bars;
use quadrille_suite::rows::DeferredRow;
use quadrille_suite::unique;

pub(super) struct DeferredJob<'a> {
    args: &'a Args,
    settings: &'a DeferredRunSettings,
    output: Option<Output>,
    pub(super) film: Option<Film<'a>>,
    heat: Option<Template>,
    bars: Option<Template>,
    truth: Option<Template>,
}

impl<'j> DeferredJob<'j> {
    pub(super) fn new(args: &'j Args, settings: &'j DeferredRunSettings) -> Result<Self> {
        let layers = args.aov.named();
        let (path, placeholders) = (args.output.as_deref(), layers.placeholders());
        let (output, film) =
            args.rows.pictures_or_film(path, &args.film, args.quality, placeholders)?;
        let png = |flag, path: &Option<PathBuf>, placeholders| {
            path.as_deref().map(|path| Template::png(flag, path, placeholders)).transpose()
        };
        let job = Self {
            args,
            settings,
            film,
            output,
            heat: png("--heat", &args.heat, &[VIEW, METHOD])?,
            bars: png("--bars", &args.bars, &[VIEW])?,
            truth: args.truth_out.as_deref().map(truth_template).transpose()?,
        };
        layers.check(job.output.as_ref())?;
        refuse_measures(job.measures(), job.writes_to_stdout())?;
        Error::refuse_if(
            job.film.is_some() && !args.aov.is_empty(),
            "--aov",
            "pictures, since films have no layers",
            "a film",
        )?;
        let areas = settings.input.tessellate.len().max(1);
        let pipeline = &settings.frames.pipeline;
        let variants = areas * pipeline.grid.len() * pipeline.runs().len();
        let mut films = job.film.iter();
        films.try_for_each(|film| film.check_variants(variants))?;
        job.templates()
            .try_for_each(|t| t.require(METHOD, variants, "combinations of settings"))?;
        Ok(job)
    }

    /// Flag of a measurement whose numbers are in the table.
    pub(super) fn measures(&self) -> Option<&'static str> {
        let pipeline = &self.settings.frames.pipeline;
        first_given([("--traffic", pipeline.traffic), ("--truth", pipeline.truth.is_some())])
    }

    pub(super) fn writes_to_stdout(&self) -> bool {
        writes_to_stdout(self.output.as_ref(), self.film.as_ref())
    }

    fn templates(&self) -> impl Iterator<Item = &Template> {
        self.output.iter().map(|output| &output.template).chain(&self.heat)
    }

    pub(super) fn prepare_outputs(&self, cameras: &[Camera]) -> Result<()> {
        let mut outputs = Outputs::beside(self.settings.files());
        let variants = [METHOD.to_owned()];
        if let Some(output) = &self.output {
            output.check_pictures(cameras, self.args.background, false)?;
            self.args.aov.named().prepare(output, &mut outputs, cameras)?;
        }
        let mut templates = self.heat.iter().chain(&self.bars).chain(&self.truth);
        templates.try_for_each(|t| t.prepare(&mut outputs, cameras, &variants))?;
        let mut films = self.film.iter();
        films.try_for_each(|film| film.prepare(&mut outputs, self.args.rows.json))
    }

    pub(super) fn wants(&self) -> DeferredWants {
        let is_written = self.output.is_some() || self.film.is_some();
        let wants_picture = is_written || self.settings.frames.pipeline.truth.is_some();
        DeferredWants {
            picture: wants_picture.then(|| {
                resolve::Background::new(colour_behind(self.args.background, self.output.as_ref()))
            }),
            heat: self.heat.is_some(),
            layers: self.args.aov.layers(),
            is_path: self.args.film.path.is_flight(),
        }
    }

    /// Writes the files of a row. `tell` takes remarks about them.
    pub(super) fn write(
        &self,
        row: &DeferredRow,
        result: &DeferredResult,
        view: &DeferredView,
        tell: &dyn Fn(&str),
    ) -> Result<()> {
        let variant = row.variant_name();
        if let (Some(template), Some(heat)) = (&self.heat, &result.heat) {
            files::write(template.path(&row.view, &variant), &heat_picture(row, heat))?;
        }
        if let (Some(output), Some(picture)) = (&self.output, &result.picture) {
            let names = [row.view.as_str(), &variant];
            match self.args.aov.is_empty() {
                true => drop(output.save(picture, names, Some(Background::Transparent))?),
                false => self.args.aov.named().save(output, picture, &view.layers, names, tell)?,
            }
        }
        // All rows of a view have the same truth.
        if let (Some(template), Some(truth)) = (&self.truth, &view.truth) {
            files::write(template.path(&row.view, ""), truth)?;
        }
        Ok(())
    }

    pub(super) fn write_bars(&self, rows: &[DeferredRow]) -> Result<()> {
        let Some(template) = &self.bars else { return Ok(()) };
        for view in unique(rows.iter().map(|row| row.view.as_str())) {
            let own: Vec<&DeferredRow> = rows.iter().filter(|row| row.view == view).collect();
            let title = format!("{}, {view}: bytes to and from memory", own[0].mesh);
            files::write(template.path(view, ""), &traffic_bars(&title, &own))?;
        }
        Ok(())
    }
}

fn truth_template(path: &Path) -> Result<Template> {
    require_values("--truth-out", path)?;
    Template::parse("--truth-out", path, &[VIEW])
}
