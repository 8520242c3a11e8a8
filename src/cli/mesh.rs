//! `mesh`: the MSAA path of triangle meshes and subdivision surfaces.

mod options;
mod subject;
mod versus;

use std::path::PathBuf;
use std::time::Instant;

use serde_json::{Value, json};

use super::output_path::{Output, Placeholder, Template};
use super::render_options::{Background, HostFlags, parse_background};
use super::views::ViewArgs;
use super::{Outcome, Verbosity, stdout};
use crate::error::{Error, Result};
use crate::image::metrics::{self, Protocol};
use crate::image::{Frame, files};
use crate::math::SimdLevel;
use crate::mesh::difference::scaled_difference;
use crate::mesh::frame::Visible;
use crate::mesh::frame::merging::{Shading, Unit};
use crate::mesh::frame::settings::FrameSettings;
use crate::mesh::grid::Source;
use crate::mesh::heat::shading_rate_picture;
use crate::mesh::outcome::MeshOutcome;
use crate::mesh::shade::Shader;
use crate::mesh::shade::texture::Textures;
use crate::mesh::truth;
use crate::mesh::view::View;
use crate::report::mesh::{MeshRow, table};
use crate::scene::Camera;
use options::{Choice, PipelineFlags, UnitName};
use subject::{Subject, SubjectFlags};
use versus::VersusFlags;

/// What differences of pictures are multiplied with, as the PMU paper's Figure 1 has it.
const DIFFERENCE_SCALE: f32 = 100.0;

/// Draw triangle meshes and subdivision surfaces with multi-sample anti-aliasing, and merge quads of
/// adjacent triangles
///
/// A mesh goes through tessellation, raster and depth test on samples, then through a unit that
/// merges quads before they are shaded: quad-fragment merging (qfm), the pixel merge unit (pmu), or
/// none. The table says how many quads each step left, how often a covered pixel is shaded, and what
/// the unit saved.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// The mesh: .obj, .ply, .gltf, .glb, a file of Bezier patches (.bpt), or a procedural one: plane,
    /// sinewave, ptcloud, furball
    mesh: PathBuf,
    /// The picture: .png, .exr or .npy; "{view}" and "{variant}" in it become the view's name and the
    /// combination of settings; "-" writes a PNG to standard output
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    /// Write how often each pixel is shaded, as a picture: dark blue once, green four times, dark red
    /// eight times or more
    #[arg(long, value_name = "OUT")]
    heat: Option<PathBuf>,
    /// Write the difference to the unmerged picture, 100 times as strong
    #[arg(long, value_name = "OUT")]
    diff: Option<PathBuf>,
    /// Compare each picture with the unmerged one: PSNR, colours as floats
    #[arg(long)]
    psnr: bool,
    /// Compare each picture with one of 64 shaded samples a pixel
    #[arg(long)]
    truth: bool,
    /// What shows behind the mesh: R,G,B from 0 to 1, or "transparent" [default: 0,0,0 for .png,
    /// transparent for .exr and .npy]
    #[arg(long, value_name = "R,G,B|transparent", value_parser = parse_background)]
    background: Option<Background>,
    /// Print one JSON document instead of a table: the row's, or of several rows {"rows": [...]}
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    subject: SubjectFlags,
    #[command(flatten)]
    pipeline: PipelineFlags,
    #[command(flatten)]
    versus: VersusFlags,
    #[command(flatten)]
    views: ViewArgs,
    #[command(flatten)]
    host: HostFlags,
}

const EXAMPLES: &str = "Examples:
  quadrille mesh helmet.gltf -o helmet.png
  quadrille mesh cage.obj --tessellate 0.5 --msaa 16 --unit none,qfm --heat 'heat.{variant}.png'
  quadrille mesh cage.obj --tessellate 0.5 --msaa 16 --unit qfm --buffer 1,4,16,32,128,unbounded
  quadrille mesh helmet.gltf --unit pmu --buffer 16,64,256,512,1024 --psnr --json
  quadrille mesh sinewave --tessellate 0.5 --msaa 16 --unit none,qfm,reyes
  quadrille mesh spot.obj --to-splats spot.ply
  quadrille mesh spot.obj --versus spot.ply --msaa 4";

pub(super) fn run(args: &Args, verbosity: Verbosity) -> Result<Outcome> {
    let host = args.host.check()?;
    let choices = args.pipeline.choices()?;
    let job = Job {
        args,
        level: host.level,
        choices,
        output: args.output.as_deref().map(Output::parse).transpose()?,
        heat: args.heat.as_deref().map(Template::new),
        diff: args.diff.as_deref().map(Template::new),
    };
    job.check()?;
    let subject = args.subject.load(&args.mesh, verbosity)?;
    let cameras = args.views.views_of(|| subject.framing(), verbosity)?;
    job.check_views(&cameras)?;
    let pool = host.pool()?;
    let versus = || versus::run(args, host.level, &subject, &cameras, verbosity);
    if let Some(page) = pool.install(versus)? {
        stdout::write(page.as_bytes())?;
        return Ok(Outcome::Done);
    }
    let rows = pool.install(|| job.run_all(&subject, &cameras))?;
    let text = if args.json {
        let mut rows: Vec<Value> = rows.iter().map(MeshRow::json).collect();
        let document = if rows.len() == 1 {
            rows.remove(0)
        } else {
            json!({ "rows": rows })
        };
        format!("{document:#}\n")
    } else {
        table(&rows)
    };
    if !job.output.as_ref().is_some_and(Output::is_stdout) || args.json {
        stdout::write(text.as_bytes())?;
    }
    Ok(Outcome::Done)
}

/// What to do with every view and combination.
struct Job<'a> {
    args: &'a Args,
    level: SimdLevel,
    choices: Vec<Choice>,
    output: Option<Output>,
    heat: Option<Template>,
    diff: Option<Template>,
}

/// A frame with its visibility resolved and what it is compared with.
struct Prepared<'a> {
    camera: &'a Camera,
    area: Option<f64>,
    msaa: u32,
    visible: Visible,
    visibility_ms: f64,
    shader: Shader<'a>,
    unmerged: Option<Frame>,
    truth: Option<Frame>,
}

impl Job<'_> {
    fn check(&self) -> Result<()> {
        for &msaa in &self.args.pipeline.msaa {
            self.args.pipeline.pattern(msaa)?;
        }
        self.args.pipeline.shade()?;
        if self.args.json && self.output.as_ref().is_some_and(Output::is_stdout) {
            return Err(Error::caller(
                "-o -",
                "a file beside --json",
                "the picture on stdout as well",
            ));
        }
        let variants = self.combinations();
        if let Some(output) = &self.output {
            output.check_variants(variants)?;
        }
        for (flag, template) in [("--heat", &self.heat), ("--diff", &self.diff)] {
            if let Some(template) = template {
                template.require(flag, Placeholder::Variant, variants, "combinations")?;
            }
        }
        Ok(())
    }

    fn combinations(&self) -> usize {
        let areas = self.args.subject.areas().len().max(1);
        areas * self.args.pipeline.msaa.len() * self.choices.len()
    }

    fn check_views(&self, cameras: &[Camera]) -> Result<()> {
        if let Some(output) = &self.output {
            output.check_views(cameras.len())?;
        }
        for (flag, template) in [("--heat", &self.heat), ("--diff", &self.diff)] {
            if let Some(template) = template {
                template.require(flag, Placeholder::View, cameras.len(), "views")?;
            }
        }
        Ok(())
    }

    fn run_all(&self, subject: &Subject, cameras: &[Camera]) -> Result<Vec<MeshRow>> {
        let mut rows = Vec::new();
        for source in subject.sources()? {
            let (area, source) = source?;
            let textures = Textures::new(source.textures(), source.materials());
            for camera in cameras {
                let view = View::new(
                    camera.clone(),
                    subject.near(camera, self.args.subject.near)?,
                );
                for &msaa in &self.args.pipeline.msaa {
                    let prepared =
                        self.prepare(source.as_ref(), (area, msaa), camera, &view, &textures)?;
                    for &choice in &self.choices {
                        rows.push(self.row(source.as_ref(), &prepared, choice)?);
                    }
                }
            }
        }
        Ok(rows)
    }

    fn prepare<'a>(
        &self,
        source: &'a dyn Source,
        (area, msaa): (Option<f64>, u32),
        camera: &'a Camera,
        view: &View,
        textures: &'a Textures,
    ) -> Result<Prepared<'a>> {
        let settings = FrameSettings {
            size: [camera.width, camera.height],
            pattern: self.args.pipeline.pattern(msaa)?,
            faces: self.args.pipeline.faces(),
            cull: self.args.pipeline.cull(),
            level: self.level,
        };
        let begun = Instant::now();
        let visible = Visible::new(source, view, view, &settings)?;
        let visibility_ms = milliseconds(begun);
        let shade = self.args.pipeline.shade()?;
        let shader = Shader::new(source.materials(), textures, view, shade);
        let mut prepared = Prepared {
            camera,
            area,
            msaa,
            visible,
            visibility_ms,
            shader,
            unmerged: None,
            truth: None,
        };
        if self.args.psnr || self.diff.is_some() {
            let shading = prepared.visible.merged(source, Unit::None);
            prepared.unmerged = Some(self.picture(&prepared, &shading, None));
        }
        if self.args.truth {
            let shade = |view: &View| Shader::new(source.materials(), textures, view, shade);
            let frame = truth::supersampled(source, view, &settings, shade, self.background())?;
            prepared.truth = Some(frame);
        }
        Ok(prepared)
    }

    /// What the picture is drawn over; `None` to keep its alpha.
    fn background(&self) -> Option<[f32; 3]> {
        let background = self
            .args
            .background
            .or_else(|| self.output.as_ref().map(Output::default_background));
        match background.unwrap_or(Background::Opaque([0.0; 3])) {
            Background::Transparent => None,
            Background::Opaque(colour) => Some(colour),
        }
    }

    fn picture(&self, prepared: &Prepared<'_>, shading: &Shading, choice: Option<Choice>) -> Frame {
        let visible = &prepared.visible;
        if choice.is_some_and(|c| c.name == UnitName::Reyes) {
            return visible.reyes_picture(&prepared.shader, self.background());
        }
        let sampling = self.args.pipeline.sampling();
        visible.picture(&prepared.shader, shading, sampling, self.background())
    }

    fn row(&self, source: &dyn Source, prepared: &Prepared<'_>, choice: Choice) -> Result<MeshRow> {
        let visible = &prepared.visible;
        let begun = Instant::now();
        let shading = visible.merged(source, choice.unit());
        let merging_ms = milliseconds(begun);
        let view = prepared.camera.name.as_str();
        let mut row = MeshRow {
            mesh: self.args.mesh.display().to_string(),
            view: view.to_owned(),
            area_px: prepared.area,
            msaa: prepared.msaa,
            unit: choice.unit_name(),
            buffer: choice.buffer(),
            shades_vertices: choice.name == UnitName::Reyes,
            pixels: u64::from(prepared.camera.width) * u64::from(prepared.camera.height),
            outcome: MeshOutcome::of(visible, &shading),
            psnr_db: None,
            psnr_vs_truth_db: None,
            host_ms: [prepared.visibility_ms, merging_ms],
        };
        let variant = variant_name(&row);
        if let Some(template) = &self.heat {
            let cells = visible.settings.cells();
            let size = [cells.x1, cells.y1].map(i32::cast_unsigned);
            let counts = visible.fragments_a_cell(&shading);
            let picture = shading_rate_picture(size, &counts);
            files::write(&template.path(view, &variant), &picture)?;
        }
        let compared = prepared.unmerged.is_some() || prepared.truth.is_some();
        if self.output.is_none() && !compared {
            return Ok(row);
        }
        let picture = self.picture(prepared, &shading, Some(choice));
        if let Some(unmerged) = &prepared.unmerged {
            row.psnr_db = Some(psnr(&picture, unmerged)?);
            if let Some(template) = &self.diff {
                let difference = scaled_difference(&picture, unmerged, DIFFERENCE_SCALE)?;
                files::write(&template.path(view, &variant), &difference)?;
            }
        }
        if let Some(truth) = &prepared.truth {
            row.psnr_vs_truth_db = Some(psnr(&picture, truth)?);
        }
        if let Some(output) = &self.output {
            super::render::save(
                output,
                &picture,
                [view, &variant],
                Some(Background::Transparent),
            )?;
        }
        Ok(row)
    }
}

/// A combination of settings, for names of files.
fn variant_name(row: &MeshRow) -> String {
    let mut name = row.unit.to_owned();
    if let Some(buffer) = &row.buffer {
        name += &format!("-{buffer}");
    }
    name += &format!("-{}x", row.msaa);
    if let Some(area) = row.area_px {
        name += &format!("-{area}px");
    }
    name
}

fn milliseconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1000.0
}

/// PSNR of a picture; infinite when both are the same.
fn psnr(picture: &Frame, other: &Frame) -> Result<f64> {
    let compared = metrics::compare(picture, other, Protocol::Float)?;
    Ok(compared.psnr_db.unwrap_or(f64::INFINITY))
}
