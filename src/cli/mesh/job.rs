//! The files of `mesh`: pictures, heat maps and differences of every view and combination of settings.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use super::args::Args;
use crate::cli::film::{Film, refuse_measures, writes_to_stdout};
use crate::cli::outputs::{
    Background, METHOD, Output, Outputs, Template, VIEW, colour_behind, first_given, refuse_given,
    require_values,
};
use quadrille_base::error::{Error, Result};
use quadrille_base::image::difference::{DIFFERENCE_SCALE, scaled_difference};
use quadrille_base::image::files;
use quadrille_mesh::frame::{Shading, VisibleFrame};
use quadrille_scene::Camera;
use quadrille_suite::each_once;
use quadrille_suite::merging_runs::{MergedFrame, MergingRunSettings, MergingWants};
use quadrille_suite::report::heat::{self, HeatMap, SHADINGS};
use quadrille_suite::report::overlay::{Overlay, OverlayDrawing};
use quadrille_suite::report::scale::{Curve, Scale};
use quadrille_suite::rows::{MergingUnit, MeshRow};

/// Shadings per pixel at the last colour of a heat map, as in Figure 11 of the quad-fragment merging paper.
const HEAT_MAX: u32 = 8;

pub(super) struct MeshDrawing<'a> {
    args: &'a Args,
    settings: &'a MergingRunSettings,
    output: Option<Output>,
    pub(super) film: Option<Film<'a>>,
    /// Names of the heat map picture and of the `.npy` file with its counts.
    heat: Option<[Template; 2]>,
    diff: Option<Template>,
}

impl<'j> MeshDrawing<'j> {
    pub(super) fn new(args: &'j Args, settings: &'j MergingRunSettings) -> Result<Self> {
        let layers = args.aov.named();
        let (path, placeholders) = (args.output.as_deref(), layers.placeholders());
        let (output, film) =
            args.rows.pictures_or_film(path, &args.film, args.quality, placeholders)?;
        let job = Self {
            args,
            settings,
            film,
            output,
            heat: args.heat.as_deref().map(heat_templates).transpose()?,
            diff: args.diff_unmerged.as_deref().map(diff_template).transpose()?,
        };
        layers.check(job.output.as_ref())?;
        job.check_overlay()?;
        refuse_measures(job.measures(), job.writes_to_stdout())?;
        let variants = settings.input.tessellate.len().max(1) * settings.frames.rows_per_view()?;
        if let Some(film) = &job.film {
            film.check_variants(variants)?;
            let refused = [("--aov", !args.aov.is_empty()), ("--crop", args.crop.is_some())];
            refuse_given(refused, |f| Error::conflict(f, "a film (name pictures with -o)"))?;
        }
        job.templates()
            .try_for_each(|t| t.require(METHOD, variants, "combinations of settings"))?;
        Ok(job)
    }

    fn check_overlay(&self) -> Result<()> {
        let overlay = &self.args.overlay;
        each_once("overlay", &overlay.iter().map(|o| o.name()).collect::<Vec<_>>())?;
        let has_quads = overlay.contains(&Overlay::Quads);
        if has_quads && self.settings.frames.units().any(|unit| unit == MergingUnit::Reyes) {
            let other = "--method reyes, which shades vertices (none, qfm and pmu shade quads)";
            return Err(Error::conflict("--overlay quads", other));
        }
        if self.args.crop.is_some() && self.output.is_none() && self.heat.is_none() {
            return Err(Error::needs("--crop", "-o or --heat"));
        }
        if self.settings.frames.coarse && self.args.crop.is_some() && self.heat.is_some() {
            return Err(Error::conflict(
                "--heat with --crop",
                "--coarse, which shades other pixels",
            ));
        }
        match self.args.heat_max {
            Some(_) if self.args.heat.is_none() && !has_quads => {
                Err(Error::needs("--heat-max", "--heat or --overlay quads"))
            }
            _ => Ok(()),
        }
    }

    /// Flag of a measurement whose numbers are in the table.
    pub(super) fn measures(&self) -> Option<&'static str> {
        let frames = &self.settings.frames;
        first_given([
            ("--cycles", frames.cycles),
            ("--psnr", frames.psnr),
            ("--psnr-supersampled", frames.psnr_supersampled),
        ])
    }

    pub(super) fn writes_to_stdout(&self) -> bool {
        writes_to_stdout(self.output.as_ref(), self.film.as_ref())
    }

    fn templates(&self) -> impl Iterator<Item = &Template> {
        let output = self.output.iter().map(|output| &output.template);
        output.chain(self.heat.iter().flatten()).chain(&self.diff)
    }

    pub(super) fn prepare_outputs(&self, cameras: &[Camera]) -> Result<()> {
        let mut outputs = Outputs::beside(self.settings.files().chain(self.args.other_files()));
        // The row that names a combination of settings does not exist yet: check the placeholder itself.
        let variants = [METHOD.to_owned()];
        if let Some(output) = &self.output {
            self.args.aov.named().prepare(output, &mut outputs, cameras)?;
            if !self.args.overlay.is_empty() {
                let sizes = cameras.iter().map(|camera| [camera.width, camera.height]);
                let mut parts = sizes.map(|size| OverlayDrawing::part(size, self.args.crop));
                parts.try_for_each(|part| part.map(drop))?;
            }
            // The output size is known only without a crop or overlay, which change it.
            let is_whole = self.args.crop.is_none() && self.args.overlay.is_empty();
            let drawn = is_whole.then_some(cameras);
            output.check_pictures(drawn.unwrap_or_default(), self.args.background, false)?;
        }
        for template in self.heat.iter().flatten().chain(&self.diff) {
            template.prepare(&mut outputs, cameras, &variants)?;
        }
        if let Some(path) = &self.args.versus.to_splats {
            outputs.add("--to-splats", path)?;
        }
        let mut films = self.film.iter();
        films.try_for_each(|film| film.prepare(&mut outputs, self.args.rows.json))
    }

    pub(super) fn wants(&self) -> MergingWants {
        MergingWants {
            picture: self.output.is_some() || self.film.is_some(),
            unmerged: self.diff.is_some(),
            background: colour_behind(self.args.background, self.output.as_ref()),
        }
    }

    /// Writes the files of a row. `tell` takes remarks about them.
    pub(super) fn write(
        &self,
        row: &MeshRow,
        frame: &MergedFrame<'_>,
        tell: &dyn Fn(&str),
    ) -> Result<()> {
        let (view, variant) = (row.view.name.as_str(), row.variant_name());
        let (visible, shading) = (frame.visible, frame.shading);
        let scale =
            Scale { least: 1, top: self.args.heat_max.unwrap_or(HEAT_MAX), curve: Curve::Linear };
        if let Some([picture, counts]) = &self.heat {
            let paths = [picture.path(view, &variant), counts.path(view, &variant)];
            self.write_heat(paths, &variant, scale, visible, shading)?;
        }
        let Some(picture) = &frame.picture else { return Ok(()) };
        if let (Some(template), Some(unmerged)) = (&self.diff, frame.unmerged) {
            let difference = scaled_difference(picture, unmerged, DIFFERENCE_SCALE)?;
            files::write(template.path(view, &variant), &difference)?;
        }
        let Some(output) = &self.output else { return Ok(()) };
        let picture = match &self.args.crop {
            _ if !self.args.overlay.is_empty() => {
                let drawing = OverlayDrawing {
                    title: format!("{variant}: shadings per quad"),
                    part: OverlayDrawing::part(visible.settings.size, self.args.crop)?,
                    overlays: &self.args.overlay,
                    scale,
                };
                Cow::Owned(drawing.of(picture, frame)?)
            }
            Some(crop) => Cow::Owned(crop.of(picture)?),
            None => Cow::Borrowed(picture),
        };
        let names = [view, variant.as_str()];
        if self.args.aov.is_empty() {
            output.save(&picture, names, Some(Background::Transparent))?;
        } else {
            let layers = self.args.aov.pictures(visible, shading);
            self.args.aov.named().save(output, &picture, &layers, names, tell)?;
        }
        Ok(())
    }

    fn write_heat(
        &self,
        [picture_path, counts_path]: [PathBuf; 2],
        variant: &str,
        scale: Scale,
        visible: &VisibleFrame,
        shading: Option<&Shading>,
    ) -> Result<()> {
        let (size, counts, counted) = match shading {
            None => (visible.settings.size, visible.vertices_per_pixel(), "vertices shaded"),
            Some(shading) => {
                let area = visible.settings.shading_area();
                let size = [area.x1, area.y1].map(i32::cast_unsigned);
                (size, visible.fragments_per_shading_pixel(shading), "shadings")
            }
        };
        files::write_counts(&counts_path, size, &counts)?;
        let (counts, size) = match &self.args.crop {
            Some(crop) => crop.of_values(&counts, size)?,
            None => (counts, size),
        };
        let picture = heat::picture(&HeatMap {
            title: format!("{variant}: {counted} per pixel"),
            nothing: "none",
            size,
            counts: &counts,
            scale,
            scale_end: "--heat-max",
            palette: SHADINGS,
        });
        files::write(picture_path, &picture)
    }
}

fn diff_template(path: &Path) -> Result<Template> {
    require_values("--diff-unmerged", path)?;
    Template::parse("--diff-unmerged", path, &[VIEW, METHOD])
}

fn heat_templates(path: &Path) -> Result<[Template; 2]> {
    let (picture, counts) =
        (Template::png("--heat", path, &[VIEW, METHOD])?, path.with_extension("npy"));
    Ok([picture, Template::parse("--heat", &counts, &[VIEW, METHOD])?])
}
