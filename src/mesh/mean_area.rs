//! Tessellation to a mean triangle area instead of a maximum.
//!
//! The tessellator's area is an upper bound: numbers of segments are rounded up, edges are measured at their longest
//! part, and triangles seen at an angle are smaller. The mean of a frame is lower by a factor that depends on the scene.

use super::frame::{DrawnArea, FrameSettings};
use quadrille_base::error::Result;
use quadrille_geometry::camera::MeshCamera;
use quadrille_geometry::surface::Surface;
use quadrille_geometry::tessellate::{AREA_RANGE_PX, TessellateSettings, Tessellated};

/// Relative tolerance of the mean area.
const TOLERANCE: f64 = 0.005;
/// Maximum number of steps. Each scales the bound by target / mean; three suffice if the mean is proportional to it.
const MOST_STEPS: u32 = 8;

/// Tessellates with the upper bound on areas for which the triangles of a frame have the mean area
/// `settings.triangle_area_px`. The mean comes within half a per cent of it unless the bound leaves the tessellator's range
/// or there are few small patches, whose numbers of segments change in steps.
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
