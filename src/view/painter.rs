//! Pictures of requests: drawn scenes, layers as colours, photos, and compositions of two of them.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::camera_request::CameraRequest;
use super::eight_bit::{rgb_over, split};
use super::look::Look;
use super::message::PictureRequest;
use super::photo::{Crop, PixelArea, photo_of};
use super::source::{Drawn, Mode, RendererName, Show, Source};
use super::stage::{ListedView, LoadedScene, SceneContent, Stage, camera_of};
use quadrille_base::image::difference::scaled_difference;
use quadrille_base::image::exposure::exposed;
use quadrille_base::image::{Frame, Layer};
use quadrille_base::math::narrow;
use quadrille_base::{Error, Result, Task};
use quadrille_gpu::wiring::Watch;
use quadrille_render::Sight;
use quadrille_render::cpu::surfaces::SurfaceScene;
use quadrille_render::cpu::{LayerSettings, RenderSettings, RenderTimes, Renderer, reference};
use quadrille_scene::Camera;
use quadrille_suite::report::layer_colours::layer_colours;
use quadrille_suite::report::scale::Curve;

/// Request whose picture a canvas of the painter contains.
#[derive(Debug, Clone, PartialEq)]
struct Subject {
    generation: u32,
    cam: CameraRequest,
    size: [u32; 2],
    source: Source,
    /// Whether the picture may be coarser than the exact one, as of meshes.
    is_moving: bool,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Legend {
    layer: Layer,
    low: f32,
    high: f32,
    curve: Curve,
}

impl Legend {
    /// The scale of the first canvas that shows a layer. Of two pictures, the title names the one that it belongs to.
    fn of(canvases: &[Canvas]) -> Option<(Self, &'static str)> {
        let sides = if canvases.len() > 1 { ["A: ", "B: "] } else { ["", ""] };
        let mut legends = canvases.iter().zip(sides);
        legends.find_map(|(canvas, side)| Some((canvas.legend?, side)))
    }

    pub(crate) fn message(&self, side: &str, seq: u32) -> Value {
        json!({
            "t": "legend",
            "seq": seq,
            "title": format!("{side}{}", self.layer.name()),
            "low": self.low,
            "high": self.high,
            "curve": curve_name(self.curve),
        })
    }
}

pub(crate) fn curve_name(curve: Curve) -> &'static str {
    match curve {
        Curve::Linear => "linear",
        Curve::SquareRoot => "root",
        Curve::Logarithmic => "logarithmic",
    }
}

#[derive(Debug)]
struct Canvas {
    frame: Frame,
    background: [f32; 3],
    subject: Option<Subject>,
    legend: Option<Legend>,
    times: RenderTimes,
    is_empty: bool,
    /// Part of the picture that a photo covers, if it is not all of it.
    covered: Option<PixelArea>,
}

impl Default for Canvas {
    fn default() -> Self {
        Self {
            frame: Frame::new(0, 0),
            background: [0.0; 3],
            subject: None,
            legend: None,
            times: RenderTimes::default(),
            is_empty: false,
            covered: None,
        }
    }
}

/// Draws the pictures of requests, and keeps its arrays for the next ones.
#[derive(Debug)]
pub(crate) struct Painter {
    look: Arc<Look>,
    /// Renderer shared by all pictures, since its arrays are the largest of the server.
    pub(crate) renderer: Renderer,
    canvases: [Canvas; 2],
}

#[derive(Debug)]
pub(crate) struct ScreenPicture {
    pub(crate) rgb: Vec<u8>,
    pub(crate) size: [u32; 2],
    pub(crate) legend: Option<(Legend, &'static str)>,
    /// Time of the stages that do not depend on the number of pixels.
    pub(crate) fixed: Duration,
    pub(crate) total: Duration,
    pub(crate) is_empty: bool,
}

#[derive(Debug)]
pub(crate) struct StillPictures {
    pub(crate) seq: u32,
    pub(crate) size: [u32; 2],
    pub(crate) a: Vec<u8>,
    pub(crate) b: Option<Vec<u8>>,
    pub(crate) difference: Option<Vec<u8>>,
    /// Part of the picture that both sides show, if it is not all of it: a photo ends where its camera ended.
    pub(crate) covered: Option<PixelArea>,
    pub(crate) legend: Option<(Legend, &'static str)>,
    pub(crate) time: Duration,
    /// Stages of picture A, of the fast renderer alone.
    pub(crate) stages: RenderTimes,
    pub(crate) is_empty: bool,
}

impl StillPictures {
    pub(crate) fn size_bytes(&self) -> usize {
        let others = [&self.b, &self.difference];
        self.a.len() + others.into_iter().flatten().map(Vec::len).sum::<usize>()
    }
}

impl Painter {
    pub(crate) fn new(look: Arc<Look>) -> Self {
        Self { look, renderer: Renderer::default(), canvases: Default::default() }
    }

    /// Memory of the renderer and of the pictures in progress.
    pub(crate) fn used_bytes(&self) -> usize {
        let frames = self.canvases.iter().map(|canvas| size_of_val(canvas.frame.pixels()));
        self.renderer.used_bytes() + frames.sum::<usize>()
    }

    pub(crate) fn screen(
        &mut self,
        request: &PictureRequest,
        size: [u32; 2],
        stage: &Stage,
    ) -> Result<ScreenPicture> {
        let start = Instant::now();
        let show = fast(&request.show);
        self.draw_all(&show, &request.cam, size, stage, true, &Task::NEVER)?;
        let [a, b] = &self.canvases;
        let rgb = match (show.second().is_some(), show.mode) {
            (false, _) | (_, Mode::Single) => a.rgb(),
            (true, Mode::Split) => split(a.rgb(), &b.rgb(), size[0], show.split),
            (true, Mode::Difference) => a.difference(b, show.gain)?,
        };
        let stages = |canvas: &Canvas| {
            let times = canvas.times;
            times.preprocess + times.bin + times.sort
        };
        let drawn = show.sources().count();
        Ok(ScreenPicture {
            rgb,
            size,
            legend: Legend::of(&self.canvases[..drawn]),
            fixed: self.canvases[..drawn].iter().map(stages).sum(),
            total: start.elapsed(),
            is_empty: self.canvases[..drawn].iter().all(|canvas| canvas.is_empty),
        })
    }

    pub(crate) fn still(
        &mut self,
        request: &PictureRequest,
        stage: &Stage,
        task: &Task,
    ) -> Result<StillPictures> {
        let start = Instant::now();
        let (show, size) = (&request.show, [request.w, request.h]);
        self.draw_all(show, &request.cam, size, stage, false, task)?;
        let [a, b] = &self.canvases;
        let difference = match (show.second(), show.mode) {
            (Some(_), Mode::Difference) => Some(a.difference(b, show.gain)?),
            _ => None,
        };
        Ok(StillPictures {
            seq: request.seq,
            size,
            a: a.rgb(),
            b: show.second().map(|_| b.rgb()),
            difference,
            covered: self.canvases[..show.sources().count()].iter().find_map(|c| c.covered),
            legend: Legend::of(&self.canvases[..show.sources().count()]),
            time: start.elapsed(),
            stages: a.times,
            is_empty: a.is_empty && show.second().is_none_or(|_| b.is_empty),
        })
    }

    /// Draws a frame of a film, with its background.
    pub(crate) fn frame(
        &mut self,
        drawn: &Drawn,
        camera: &Camera,
        stage: &Stage,
        task: &Task,
    ) -> Result<(&Frame, [f32; 3])> {
        let look = Arc::clone(&self.look);
        let scene = stage.scene(drawn)?;
        let canvas = &mut self.canvases[0];
        canvas.background = drawn.background.unwrap_or(look.background);
        canvas.draw(drawn, &mut self.renderer, camera, &scene, &look, false, task)?;
        Ok((&canvas.frame, canvas.background))
    }

    /// Draws all shown sources, and frees the second canvas if there is only one.
    fn draw_all(
        &mut self,
        show: &Show,
        cam: &CameraRequest,
        size: [u32; 2],
        stage: &Stage,
        is_moving: bool,
        task: &Task,
    ) -> Result<()> {
        for (index, source) in show.sources().enumerate() {
            self.draw(index, cam, size, source, stage, is_moving, task)?;
        }
        if show.second().is_none() {
            self.canvases[1] = Canvas::default();
        }
        Ok(())
    }

    /// Draws a source into a canvas, unless it is there already.
    fn draw(
        &mut self,
        index: usize,
        cam: &CameraRequest,
        size: [u32; 2],
        source: &Source,
        stage: &Stage,
        is_moving: bool,
        task: &Task,
    ) -> Result<()> {
        let look = Arc::clone(&self.look);
        let camera = camera_of(cam, size, &look.views)?;
        let subject = Subject {
            generation: stage.generation,
            cam: cam.clone(),
            size,
            source: source.clone(),
            is_moving: is_moving && is_mesh(source, stage),
        };
        let canvas = &mut self.canvases[index];
        if canvas.subject.as_ref() == Some(&subject) {
            return Ok(());
        }
        canvas.subject = None;
        canvas.legend = None;
        canvas.times = RenderTimes::default();
        canvas.is_empty = false;
        canvas.covered = None;
        canvas.background = match source {
            Source::Drawn(drawn) => drawn.background.unwrap_or(look.background),
            Source::Photo => look.background,
        };
        match source {
            Source::Photo => {
                let view = listed_view(cam, &look.views)?;
                let photo = photo_of(view)?;
                let crop = Crop::new(&view.camera, &camera, &photo);
                canvas.covered = crop.covered();
                canvas.frame = crop.of(&photo);
            }
            Source::Drawn(drawn) => {
                let scene = stage.scene(drawn)?;
                let is_moving = subject.is_moving;
                canvas.draw(drawn, &mut self.renderer, &camera, &scene, &look, is_moving, task)?;
            }
        }
        let exposures = look.exposures.as_ref().filter(|_| canvas.legend.is_none());
        let is_rendered = match source {
            Source::Drawn(drawn) => !matches!(drawn.renderer, RendererName::Emulated(_)),
            Source::Photo => false,
        };
        let is_listed = matches!(cam, CameraRequest::Listed(_)) && is_rendered;
        if let Some(rows) = exposures.filter(|_| is_listed).and_then(|e| e.of(&camera.name)) {
            canvas.frame = exposed(&canvas.frame.over(canvas.background), rows);
        }
        canvas.subject = Some(subject);
        Ok(())
    }
}

impl Canvas {
    fn rgb(&self) -> Vec<u8> {
        rgb_over(&self.frame, self.background)
    }

    fn difference(&self, other: &Self, gain: f64) -> Result<Vec<u8>> {
        let [a, b] = [self, other].map(|canvas| canvas.frame.over(canvas.background));
        Ok(rgb_over(&scaled_difference(&a, &b, narrow(gain))?, self.background))
    }

    fn draw(
        &mut self,
        drawn: &Drawn,
        renderer: &mut Renderer,
        camera: &Camera,
        scene: &LoadedScene,
        look: &Look,
        is_moving: bool,
        task: &Task,
    ) -> Result<()> {
        let splats = match &scene.content {
            SceneContent::Splats(scene) => &scene.splats,
            SceneContent::Mesh(mesh) => {
                // Shading computes with linear light; files and screens have sRGB.
                let drawn = mesh.draw(&camera.as_pinhole(), self.background, is_moving, task)?;
                self.frame = drawn.to_srgb().into_owned();
                return Ok(());
            }
        };
        let profile = look.profile(scene, drawn.profile);
        let settings = RenderSettings { profile, level: look.level };
        let layers =
            LayerSettings { layers: drawn.layer.into_iter().collect(), is_distance: false };
        let meshes = look.meshes.as_deref();
        let surfaces =
            meshes.map(|meshes| meshes.surfaces(camera, look.level, task)).transpose()?;
        match drawn.renderer {
            RendererName::Cpu => {}
            RendererName::Reference => {
                // The scalar renderer cannot be interrupted.
                let (frame, _, counts) = match &surfaces {
                    Some(surfaces) => {
                        let scene = SurfaceScene { splats, surfaces };
                        reference::render_surfaces(scene, camera, &settings, &layers)?
                    }
                    None => reference::render_layers(splats, camera, &settings, &layers),
                };
                task.check()?;
                self.is_empty = Sight::is_nothing(counts.splats_in_frustum);
                self.frame = frame;
                return Ok(());
            }
            RendererName::Emulated(variant) => {
                let watch = Watch::default();
                let outcome = look.emulated(splats, camera, &profile, variant, watch, task)?;
                self.is_empty = Sight::is_nothing(outcome.fragments_blended());
                self.frame = outcome.frame();
                return Ok(());
            }
        }
        let (pictures, counts, times) = match (&surfaces, drawn.layer) {
            (Some(surfaces), _) => {
                let scene = SurfaceScene { splats, surfaces };
                renderer.render_surfaces(
                    &mut self.frame,
                    scene,
                    camera,
                    &settings,
                    &layers,
                    task,
                )?
            }
            (None, Some(_)) => {
                renderer.render_layers(&mut self.frame, splats, camera, &settings, &layers, task)?
            }
            (None, None) => {
                let frame = &mut self.frame;
                let (counts, times) =
                    renderer.render_into(frame, splats, camera, &settings, task)?;
                (Vec::new(), counts, times)
            }
        };
        self.times = times;
        self.is_empty = Sight::is_nothing(counts.splats_in_frustum);
        if let (Some(layer), Some(colours)) =
            (drawn.layer, pictures.first().and_then(layer_colours))
        {
            self.legend =
                Some(Legend { layer, low: colours.low, high: colours.high, curve: colours.curve });
            self.frame = colours.frame;
        }
        Ok(())
    }
}

fn is_mesh(source: &Source, stage: &Stage) -> bool {
    match source {
        Source::Drawn(drawn) => stage.scenes[drawn.scene].splats().is_err(),
        Source::Photo => false,
    }
}

/// The same picture with fast renderers in place of slow ones, for a moving camera.
fn fast(show: &Show) -> Show {
    let faster = |source: &Source| match source {
        Source::Drawn(drawn) => {
            Source::Drawn(Drawn { renderer: RendererName::Cpu, ..drawn.clone() })
        }
        Source::Photo => Source::Photo,
    };
    Show { a: faster(&show.a), b: show.b.as_ref().map(faster), ..*show }
}

pub(crate) fn is_slow(show: &Show) -> bool {
    let is_slow = |source: &Source| match source {
        Source::Drawn(drawn) => drawn.renderer != RendererName::Cpu,
        Source::Photo => false,
    };
    show.sources().any(is_slow)
}

fn listed_view<'a>(cam: &CameraRequest, views: &'a [ListedView]) -> Result<&'a ListedView> {
    let view = match cam {
        CameraRequest::Listed(view) => views.get(*view),
        CameraRequest::Placed(_) => None,
    };
    view.ok_or_else(|| Error::argument("source", "a listed view", "another camera"))
}
