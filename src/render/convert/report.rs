//! Loss of a conversion: differences of pictures and of attributes.

use std::path::Path;

use nalgebra::{Quaternion, UnitQuaternion};
use serde::Serialize;

use crate::cpu::{RenderSettings, Renderer};
use crate::visibility::Sight;
use quadrille_base::image::Frame;
use quadrille_base::image::metrics::{Comparison, MeanComparison, Protocol, compare_over};
use quadrille_base::math::SH_C0;
use quadrille_base::{Result, Task};
use quadrille_scene::activation::sigmoid;
use quadrille_scene::table::RawColumns;
use quadrille_scene::{Camera, OutputFormat, SplatTable, Splats};

/// Difference between pictures of a view before and after a conversion.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ViewDifference {
    /// Name of the view.
    pub name: String,
    /// Metrics of the two pictures, over black and rounded to 8 bits.
    #[serde(flatten)]
    pub comparison: Comparison,
}

/// Largest and root mean square error of an attribute.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct AttributeError {
    /// Largest absolute error of a component.
    pub max: f64,
    /// Root of the mean squared error over all components.
    pub rms: f64,
}

/// Errors of the attributes of splats in the output.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
#[non_exhaustive]
pub struct AttributeErrors {
    /// Coordinates of the centre, in world units.
    pub position: AttributeError,
    /// Natural logarithms of the standard deviations: relative errors, if small.
    pub log_scale: AttributeError,
    /// Angles between the orientations, in degrees.
    pub rotation_degrees: AttributeError,
    /// Opacities, 0 to 1.
    pub opacity: AttributeError,
    /// Constant part of the colours; the range of a display is 0 to 1.
    pub colour: AttributeError,
    /// Higher coefficients of the spherical harmonics.
    pub sh_rest: AttributeError,
}

/// Names of the profiles with which the input and the output are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct DrawnBy {
    /// Name of the profile that the input is drawn with.
    pub input: &'static str,
    /// Name of the profile that the output is drawn with.
    pub output: &'static str,
}

/// Loss of a conversion: the output against the joined inputs with their intended changes.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct ConversionLoss {
    /// Preparation of the colours before comparison.
    pub protocol: Protocol,
    /// Camera file or option that the views come from.
    pub views_from: String,
    /// Names of the views that splats were pruned with; `None` without pruning.
    pub pruned_by: Option<Vec<String>>,
    /// Whether the compared views lie halfway between the pruning views.
    pub views_are_between: bool,
    /// Profiles that the pictures are drawn with.
    pub profiles: DrawnBy,
    /// Differences of the single views.
    pub views: Vec<ViewDifference>,
    /// Names of the views that show nothing of the input, which are not compared.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub blank_views: Vec<String>,
    /// Metrics averaged over the compared views; `None` without any.
    pub mean: Option<MeanComparison>,
    /// Name of the view with the lowest PSNR; `None` if all are identical.
    pub worst_view: Option<String>,
    /// Differences of the coarser levels of detail, from level 1.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub coarser_levels: Vec<LevelLoss>,
    /// Errors of the attributes; `None` if the number of splats or the degree differs.
    pub attributes: Option<AttributeErrors>,
}

/// Loss of a coarser level of detail, in the views of the finest one.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct LevelLoss {
    /// Number of the level; 0 is the finest.
    pub level_of_detail: u32,
    /// Number of splats of the level.
    pub splats: usize,
    /// Metrics averaged over the compared views; `None` without any.
    pub mean: Option<MeanComparison>,
    /// Name of the view with the lowest PSNR; `None` if all are identical.
    pub worst_view: Option<String>,
    /// Differences of the single views.
    pub views: Vec<ViewDifference>,
}

impl LevelLoss {
    pub(super) fn new(level_of_detail: u32, splats: &Splats, compared: ComparedViews) -> Self {
        let views = compared.views;
        Self {
            level_of_detail,
            splats: splats.len(),
            mean: mean_of(&views),
            worst_view: worst_view(&views).map(|view| view.name.clone()),
            views,
        }
    }
}

/// Metrics averaged over views; `None` without any.
pub(super) fn mean_of(views: &[ViewDifference]) -> Option<MeanComparison> {
    let comparisons = views.iter().map(|view| &view.comparison);
    (!views.is_empty()).then(|| MeanComparison::of(comparisons))
}

/// Result of a comparison of views of two scenes.
#[derive(Debug, Default)]
pub struct ComparedViews {
    /// Differences of the views that show the first scene.
    pub views: Vec<ViewDifference>,
    /// Names of the views that show nothing of the first scene.
    pub blank: Vec<String>,
}

/// Settings for a comparison of views of two scenes.
#[derive(Debug, Clone, Copy)]
pub struct ViewComparison<'a> {
    /// Scenes to compare, the reference first.
    pub scenes: [&'a Splats; 2],
    /// Settings with which each scene is drawn.
    pub settings: [RenderSettings; 2],
    /// Preparation of the colours before comparison.
    pub protocol: Protocol,
    /// Colour behind both pictures.
    pub background: [f32; 3],
}

impl ViewComparison<'_> {
    /// Renders every view of both scenes and compares the pictures. Calls `warn` with each warning about a view that shows
    /// little or nothing of the first scene. The task's progress is in views.
    ///
    /// # Errors
    /// [`Error::Cancelled`](quadrille_base::Error::Cancelled). Metrics fail only for sizes that no camera has.
    pub fn run(
        &self,
        cameras: &[Camera],
        task: &Task,
        mut warn: impl FnMut(&str),
    ) -> Result<ComparedViews> {
        let mut renderers = [Renderer::default(), Renderer::default()];
        let mut frames = [Frame::new(1, 1), Frame::new(1, 1)];
        let mut compared = ComparedViews::default();
        let steps = task.steps(cameras.len() as u64);
        for camera in cameras {
            let mut in_view = [0; 2];
            for side in 0..2 {
                let (splats, settings) = (self.scenes[side], &self.settings[side]);
                let (frame, renderer) = (&mut frames[side], &mut renderers[side]);
                let (counts, _) = renderer.render_into(frame, splats, camera, settings, task)?;
                in_view[side] = counts.splats_in_frustum;
            }
            let profile = &self.settings[0].profile;
            let sight = Sight::of(in_view[0], self.scenes[0], camera, profile);
            sight.warning().into_iter().for_each(&mut warn);
            let name = camera.name.clone();
            if sight.nothing().is_some() {
                compared.blank.push(name);
            } else {
                let [a, b] = &frames;
                let (comparison, _) = compare_over(a, b, self.background, self.protocol)?;
                compared.views.push(ViewDifference { name, comparison });
            }
            steps.advance(1)?;
        }
        Ok(compared)
    }
}

/// Returns the view with the lowest PSNR; `None` if all pictures are identical.
pub fn worst_view(views: &[ViewDifference]) -> Option<&ViewDifference> {
    let psnr = |view: &&ViewDifference| view.comparison.psnr_db;
    views.iter().filter(|view| psnr(view).is_some()).min_by(|a, b| {
        let [a, b] = [a, b].map(|view| psnr(view).unwrap_or(f64::INFINITY));
        a.total_cmp(&b)
    })
}

/// Compares `table` with the file written from it; `None` if the number of splats or the degree differs.
///
/// # Errors
/// Errors of rows that are not finite, and [`Error::Cancelled`](quadrille_base::Error::Cancelled).
pub fn attribute_errors(
    table: &SplatTable,
    written: &SplatTable,
    format: OutputFormat,
    path: &Path,
    task: &Task,
) -> Result<Option<AttributeErrors>> {
    let mut before = table.raw(path, task)?;
    if let Some(order) = format.order(&before, task)? {
        before.select(&order, task)?;
    }
    let after = written.raw(path, task)?;
    let shape = |raw: &RawColumns| (raw.rows(), raw.sh_degree());
    if shape(&before) != shape(&after) {
        return Ok(None);
    }
    Ok(Some(errors(&before, &after)))
}

#[derive(Default)]
struct ErrorSum {
    squares: f64,
    count: f64,
    max: f64,
}

impl ErrorSum {
    fn add(&mut self, error: f64) {
        self.squares += error * error;
        self.count += 1.0;
        self.max = self.max.max(error.abs());
    }

    fn finish(&self) -> AttributeError {
        AttributeError { max: self.max, rms: (self.squares / self.count.max(1.0)).sqrt() }
    }
}

fn errors(before: &RawColumns, after: &RawColumns) -> AttributeErrors {
    fn of<T: Copy + Into<f64>>(a: &[Vec<T>], b: &[Vec<T>], scale: f64) -> AttributeError {
        let mut sum = ErrorSum::default();
        for (a, b) in a.iter().flatten().zip(b.iter().flatten()) {
            sum.add(((*a).into() - (*b).into()) * scale);
        }
        sum.finish()
    }
    let (mut opacity, mut rotation) = (ErrorSum::default(), ErrorSum::default());
    for (a, b) in before.opacity.iter().zip(&after.opacity) {
        opacity.add(sigmoid(f64::from(*a)) - sigmoid(f64::from(*b)));
    }
    for row in 0..before.rows() {
        let [a, b] = [before, after].map(|raw| {
            let [w, x, y, z] = raw.unit_rotation(row);
            UnitQuaternion::from_quaternion(Quaternion::new(w, x, y, z))
        });
        rotation.add(a.angle_to(&b).to_degrees());
    }
    AttributeErrors {
        position: of(&before.mean, &after.mean, 1.0),
        log_scale: of(&before.scale, &after.scale, 1.0),
        rotation_degrees: rotation.finish(),
        opacity: opacity.finish(),
        colour: of(&before.sh_constant, &after.sh_constant, SH_C0),
        sh_rest: of(&before.sh_rest, &after.sh_rest, 1.0),
    }
}
