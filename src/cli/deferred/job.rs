//! The files of `deferred`: pictures, heat maps and bars of every view and combination of settings.

use std::path::Path;

use super::args::Args;
use crate::cli::film::Film;
use crate::cli::outputs::{Background, METHOD, Output, Outputs, Template, VIEW, colour_behind};
use quadrille_base::error::{Error, Result};
use quadrille_base::image::files::{self, PictureFormat};
use quadrille_deferred::backend::resolve;
use quadrille_deferred::draw::DeferredResult;
use quadrille_scene::Camera;
use quadrille_suite::deferred_runs::{DeferredRunSettings, DeferredWants, heat_picture};
use quadrille_suite::report::deferred::traffic_bars;
use quadrille_suite::rows::DeferredRow;

pub(super) struct DeferredJob<'a> {
    args: &'a Args,
    settings: &'a DeferredRunSettings,
    output: Option<Output>,
    pub(super) film: Option<Film<'a>>,
    heat: Option<Template>,
    bars: Option<Template>,
}

impl<'j> DeferredJob<'j> {
    pub(super) fn new(args: &'j Args, settings: &'j DeferredRunSettings) -> Result<Self> {
        let film = args.film.film(args.output.as_deref())?;
        let pictures = args.output.as_deref().filter(|_| film.is_none());
        let output = Output::parse(pictures, &[VIEW, METHOD], args.json)?;
        let job = Self {
            args,
            settings,
            film,
            output: args.quality.applied(output)?,
            heat: picture_template("--heat", args.heat.as_deref(), &[VIEW, METHOD])?,
            bars: picture_template("--bars", args.bars.as_deref(), &[VIEW])?,
        };
        let areas = settings.input.tessellate.len().max(1);
        let pipeline = &settings.frames.pipeline;
        let variants = areas * pipeline.grid.len() * pipeline.runs().len();
        let mut films = job.film.iter();
        films.try_for_each(|film| film.check_variants(variants))?;
        job.templates()
            .try_for_each(|t| t.require(METHOD, variants, "combinations of settings"))?;
        Ok(job)
    }

    pub(super) fn writes_to_stdout(&self) -> bool {
        self.output.as_ref().is_some_and(Output::is_stdout)
    }

    fn templates(&self) -> impl Iterator<Item = &Template> {
        let output = self.output.iter().map(|output| &output.template);
        output.chain(&self.heat)
    }

    pub(super) fn prepare_outputs(&self, cameras: &[Camera]) -> Result<()> {
        let mut outputs = Outputs::beside(self.settings.files());
        let variants = [METHOD.to_owned()];
        if let Some(output) = &self.output {
            output.check_pictures(cameras, self.args.background, false)?;
        }
        let mut templates = self.templates().chain(&self.bars);
        templates.try_for_each(|t| t.prepare(&mut outputs, cameras, &variants))?;
        let mut films = self.film.iter();
        films.try_for_each(|film| film.prepare(&mut outputs, self.args.json))
    }

    pub(super) fn wants(&self) -> DeferredWants {
        let is_written = self.output.is_some() || self.film.is_some();
        let wants_picture = is_written || self.settings.frames.pipeline.truth.is_some();
        DeferredWants {
            picture: wants_picture.then(|| {
                resolve::Background::new(colour_behind(self.args.background, self.output.as_ref()))
            }),
            heat: self.heat.is_some(),
            is_path: self.args.film.path.is_flight(),
        }
    }

    pub(super) fn write(&self, row: &DeferredRow, result: &DeferredResult) -> Result<()> {
        let variant = row.variant_name();
        if let (Some(template), Some(heat)) = (&self.heat, &result.heat) {
            let path = template.path(&row.view, &variant);
            files::write(path, &heat_picture(row, heat))?;
        }
        if let (Some(output), Some(picture)) = (&self.output, &result.picture) {
            let background = Some(Background::Transparent);
            output.save(picture, [&row.view, &variant], background)?;
        }
        Ok(())
    }

    pub(super) fn write_bars(&self, rows: &[DeferredRow]) -> Result<()> {
        let Some(template) = &self.bars else {
            return Ok(());
        };
        let mut drawn: Vec<&str> = Vec::new();
        for first in rows {
            if drawn.contains(&first.view.as_str()) {
                continue;
            }
            drawn.push(&first.view);
            let title = format!("{}, {}: bytes to and from memory", first.mesh, first.view);
            let own: Vec<&DeferredRow> = rows.iter().filter(|r| r.view == first.view).collect();
            files::write(template.path(&first.view, ""), &traffic_bars(&title, &own))?;
        }
        Ok(())
    }
}

fn picture_template(
    flag: &'static str,
    path: Option<&Path>,
    parts: &[&str],
) -> Result<Option<Template>> {
    let Some(path) = path else {
        return Ok(None);
    };
    let is_wrong = PictureFormat::of_name(path) != Some(PictureFormat::Png);
    Error::refuse_if(is_wrong, flag, "a name that ends in .png", path.display())?;
    Template::parse(flag, path, parts).map(Some)
}
