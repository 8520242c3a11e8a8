//! Tessellation to a mean area of triangles instead of a greatest one.
//!
//! The tessellator's area is an upper bound: numbers of segments are rounded up, edges are measured at their longest
//! part, and triangles seen at an angle are smaller. A frame's mean lies well below it, by a factor of the scene.

use super::frame::{DrawnArea, FrameSettings};
use quadrille_base::error::Result;
use quadrille_geometry::camera::MeshCamera;
use quadrille_geometry::surface::Surface;
use quadrille_geometry::tessellate::{AREA_RANGE_PX, TessellateSettings, Tessellated};

/// Relative tolerance of the mean area.
const TOLERANCE: f64 = 0.005;
/// Each step scales the bound by the remaining ratio; three suffice where the mean is proportional to the bound.
const MOST_STEPS: u32 = 8;

/// Finds the upper bound of areas with which the triangles of a frame have a mean area of `settings.triangle_area_px`, and
/// tessellates with it. The mean comes within half a per cent of the target where the bound can be chosen so finely and
/// lies in the tessellator's range; the numbers of segments of a few small patches change in steps.
///
/// # Errors
/// [`Error::Argument`](quadrille_base::error::Error::Argument) when a setting is out of range.
pub fn tessellate_to_mean(
    surface: &Surface,
    settings: TessellateSettings,
    view: &MeshCamera,
    frame: &FrameSettings,
) -> Result<Tessellated> {
    let target = settings.triangle_area_px;
    let mut bound = target;
    let mut nearest: Option<(f64, Tessellated)> = None;
    for _ in 0..MOST_STEPS {
        let scaled = TessellateSettings { triangle_area_px: bound, ..settings };
        let source = Tessellated::new(surface.clone(), scaled)?;
        let Some(mean) = DrawnArea::measure(&source, view, frame).mean_px() else {
            return Ok(source);
        };
        let off = (mean / target - 1.0).abs();
        if nearest.as_ref().is_none_or(|(least, _)| off < *least) {
            nearest = Some((off, source));
        }
        if off <= TOLERANCE {
            break;
        }
        bound = (bound * target / mean).clamp(AREA_RANGE_PX.0, AREA_RANGE_PX.1);
    }
    match nearest {
        Some((_, source)) => Ok(source),
        None => Tessellated::new(surface.clone(), settings),
    }
}
