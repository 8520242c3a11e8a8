use super::settings::DeferredFrames;
use crate::mesh_input::{PreparedMesh, all_views, nothing_in_view};
use crate::messages::Messages;
use crate::report::heat::{self, HeatMap, SHADINGS};
use crate::report::scale::{Curve, Scale};
use crate::rows::{DeferredRow, ShadingGridKind};
use quadrille_base::error::Result;
use quadrille_base::image::metrics::psnr_db;
use quadrille_base::image::{Frame, Layer, LayerPicture};
use quadrille_base::math::{SimdLevel, narrow};
use quadrille_base::task::Task;
use quadrille_deferred::backend::resolve::Background;
use quadrille_deferred::camera::shutter::ShutterView;
use quadrille_deferred::draw::{
    DeferredDrawSettings, DeferredResult, draw_with_shader, mean_picture,
};
use quadrille_deferred::frame::StochasticFrame;
use quadrille_deferred::settings::DeferredSettings;
use quadrille_geometry::grid::GridSource;
use quadrille_mesh::shade::{Shader, Textures};
use quadrille_scene::Camera;

/// Shader executions per pixel at the last colour of a heat map (figures 1, 9 and 13).
const HEAT_MAX: u32 = 64;

/// Optional results of a run, in addition to its rows.
#[derive(Debug, Clone, Default)]
pub struct DeferredWants {
    /// Background of the pictures; `None` for no pictures.
    pub picture: Option<Background>,
    /// Whether shader executions are counted per pixel.
    pub heat: bool,
    /// Layers of each view: depth and coverage.
    pub layers: Vec<Layer>,
    /// Whether the views are the frames of a path: each moves towards the next one while the shutter is open. The other
    /// views move towards the next one of their file or circle.
    pub is_path: bool,
}

/// Pictures of a view that all rows share.
#[derive(Debug, Clone, Default)]
pub struct DeferredView {
    /// Mean of the frames that rows are compared with.
    pub truth: Option<Frame>,
    /// Layers in the order of [`DeferredWants::layers`].
    pub layers: Vec<LayerPicture>,
}

/// Callback for each row, the result that it describes, and the pictures of its view.
pub type KeepDeferred<'k> =
    dyn FnMut(&DeferredRow, &DeferredResult, &DeferredView) -> Result<()> + Send + 'k;

impl PreparedMesh<'_, DeferredFrames> {
    /// Draws all views on rayon's current pool until `task` is cancelled. `keep` takes each row as soon as it is known.
    pub fn run(
        &self,
        wants: &DeferredWants,
        level: SimdLevel,
        task: &Task,
        messages: &dyn Messages,
        keep: &mut KeepDeferred<'_>,
    ) -> Result<Vec<DeferredRow>> {
        let settings = self.settings;
        let look = self.look(messages)?;
        let cameras = &self.views.cameras;
        let all = || match wants.is_path {
            true => Ok(cameras.clone()),
            false => all_views(&settings.views, &self.input),
        };
        let views = settings.frames.views(cameras, all, &self.input, messages)?;
        let mut rows = Vec::new();
        for source in self.input.sources()? {
            let (area, source) = source?;
            let source = source.as_ref();
            let textures = Textures::new(source.textures(), source.materials());
            for view in &views {
                let drawn = DrawnView {
                    run: self,
                    wants,
                    messages,
                    level,
                    task,
                    source,
                    area,
                    view,
                    shader: look.shader(source, &textures, view.1.middle()),
                };
                let before = rows.len();
                drawn.rows(&mut rows, keep)?;
                if rows.get(before).is_some_and(|row| row.pixels_covered == 0) {
                    messages.warn(&nothing_in_view(&view.0));
                }
            }
        }
        Ok(rows)
    }
}

struct DrawnView<'a> {
    run: &'a PreparedMesh<'a, DeferredFrames>,
    wants: &'a DeferredWants,
    messages: &'a dyn Messages,
    level: SimdLevel,
    task: &'a Task,
    source: &'a dyn GridSource,
    area: Option<f64>,
    view: &'a (Camera, ShutterView),
    shader: Shader<'a>,
}

impl DrawnView<'_> {
    fn rows(&self, rows: &mut Vec<DeferredRow>, keep: &mut KeepDeferred<'_>) -> Result<()> {
        let pipeline = &self.run.settings.frames.pipeline;
        let (camera, view) = self.view;
        let truth = |seeds: u32| {
            let settings = self.settings(ShadingGridKind::Pixel);
            mean_picture(self.source, view, &self.shader, &settings, seeds)
        };
        let of_view =
            DeferredView { truth: pipeline.truth.map(truth).transpose()?, layers: self.layers()? };
        for &grid in &pipeline.grid {
            self.task.check()?;
            let settings = self.settings(grid);
            let frame = draw_with_shader(self.source, view, &self.shader, &settings)?;
            for result in &frame.pipelines {
                let mut row = DeferredRow {
                    mesh: self.run.settings.mesh.display().to_string(),
                    view: camera.name.clone(),
                    triangle_area_px: self.area,
                    grid,
                    ..DeferredRow::new(&frame, result, &pipeline.hardware.raster, settings.colour)
                };
                if let (Some(truth), Some(picture)) = (&of_view.truth, &result.picture) {
                    let has_pixels = row.pixels_covered > 0;
                    row.psnr_db = has_pixels.then(|| psnr_db(picture, truth)).transpose()?;
                }
                keep(&row, result, &of_view)?;
                rows.push(row);
            }
        }
        Ok(())
    }

    /// Draws the layers of the view, with the samples of its picture.
    fn layers(&self) -> Result<Vec<LayerPicture>> {
        if self.wants.layers.is_empty() {
            return Ok(Vec::new());
        }
        let (camera, view) = self.view;
        let frame = self.settings(ShadingGridKind::Pixel).frame;
        let frame = DeferredSettings { keeps_depths: true, ..frame };
        let drawn = StochasticFrame::new(self.source, view.clone(), &frame, self.task)?;
        if drawn.geometry.forward() > 0 {
            self.messages.warn(&format!(
                "view \"{}\": layers leave out surfaces with alpha, which have no depth of their own",
                camera.name
            ));
        }
        Ok(drawn.visible.layers(&self.wants.layers, narrow(view.near())))
    }

    fn settings(&self, grid: ShadingGridKind) -> DeferredDrawSettings {
        let pipeline = &self.run.settings.frames.pipeline;
        let for_truth = pipeline.truth.map(|_| Background::new(Some([0.0; 3])));
        DeferredDrawSettings {
            frame: pipeline.frame(grid, self.level),
            pipelines: pipeline.runs(),
            picture: self.wants.picture.or(for_truth),
            traffic: pipeline.traffic,
            heat: self.wants.heat,
            depth: pipeline.depth,
            colour: pipeline.colour,
            forward_memo_quads: pipeline.memo.first().and_then(|memo| memo.0),
            hardware: pipeline.hardware.clone(),
            task: self.task.clone(),
            ..DeferredDrawSettings::default()
        }
    }
}

/// Draws the shader executions of a pipeline as a heat map.
pub fn heat_picture(row: &DeferredRow, executions: &[f64]) -> Frame {
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "executions per pixel, rounded for the picture"
    )]
    let counts: Vec<u32> = executions.iter().map(|n| n.round() as u32).collect();
    heat::picture(&HeatMap {
        title: format!("{}: shader executions per pixel", row.variant_name()),
        nothing: "none",
        size: [row.width, row.height],
        counts: &counts,
        scale: Scale { least: 1, top: HEAT_MAX, curve: Curve::Logarithmic },
        scale_end: "as in the paper",
        palette: SHADINGS,
    })
}
