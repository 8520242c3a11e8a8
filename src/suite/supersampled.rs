//! The reference for image quality: 64 shaded samples per pixel.
//!
//! The picture is drawn eight times as wide and as high with one shaded sample per pixel, in parts of the
//! size of the picture; blocks of 8x8 pixels are then averaged in linear light. Tessellation is chosen for
//! the picture at its own size.

use quadrille_base::error::Result;
use quadrille_base::image::{ColourSpace, Frame};
use quadrille_base::raster::samples::SamplePattern;
use quadrille_base::task::Task;
use quadrille_geometry::camera::MeshCamera;
use quadrille_geometry::grid::GridSource;
use quadrille_mesh::frame::{FrameSettings, VisibleFrame};
use quadrille_mesh::merge::MergeUnitKind;
use quadrille_mesh::shade::{Sampling, Shader};

const SIDE: u32 = 8;

/// Draws `source` in `view` with 64 samples per pixel, each shaded on its own. `shader` creates the
/// shader of a view. The task's progress is in parts.
pub fn supersampled<'a>(
    source: &dyn GridSource,
    view: &MeshCamera,
    settings: &FrameSettings,
    shader: impl Fn(&MeshCamera) -> Shader<'a>,
    background: Option<[f32; 3]>,
    task: &Task,
) -> Result<Frame> {
    let [width, height] = settings.size;
    let settings = FrameSettings { pattern: SamplePattern::standard(1)?.shared(), ..*settings };
    let mut sums = vec![[0.0_f32; 4]; (width * height) as usize];
    let steps = task.steps(u64::from(SIDE * SIDE));
    for part in 0..SIDE * SIDE {
        let corner = [part % SIDE * width, part / SIDE * height];
        let part = view.enlarged(SIDE, corner, [width, height]);
        let visible = VisibleFrame::new(source, [view, &part], &settings, task)?;
        let shading = visible.merged(source, MergeUnitKind::None);
        let picture = visible.picture(&shader(&part), &shading, Sampling::Centre, background);
        steps.advance(1)?;
        for (pixel, at) in picture.pixels().iter().zip(0..) {
            let (x, y) = (corner[0] + at % width, corner[1] + at / width);
            let sum = &mut sums[(y / SIDE * width + x / SIDE) as usize];
            (0..4).for_each(|k| sum[k] += pixel[k]);
        }
    }
    let share = 1.0 / f32::from(u16::try_from(SIDE * SIDE).unwrap_or(1));
    let pixels = sums.into_iter().map(|sum| sum.map(|c| c * share));
    Ok(Frame::from_pixels(width, height, pixels.collect()).taken_as(ColourSpace::Linear))
}
