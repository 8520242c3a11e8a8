//! Fragments of the pixels of a picture: which ones are blended, and their blending.

use quadrille_base::math::narrow;
use quadrille_base::shading::{Accumulated, Blended, Profile, fragment_alpha};
use quadrille_base::{Result, Task};

use super::plane_splat::PlaneSplat;
use super::scene::ScalarScene;
use crate::preprocess::ViewTransform;

/// A splat that is blended into a pixel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fragment {
    /// Rank of the splat in drawing order.
    pub(super) rank: usize,
    /// Whether alpha is the profile's cap.
    pub(super) is_capped: bool,
}

/// A fragment's alpha and the quantities from which it follows.
#[derive(Debug, Clone, Copy)]
pub(super) struct Falloff {
    /// Offset of the pixel's centre from the splat's, in pixels.
    pub(super) offset: [f64; 2],
    /// Alpha before the cap, for an opacity of 1.
    pub(super) falloff: f64,
    pub(super) alpha: f64,
}

/// Result of blending the fragments of a pixel.
#[derive(Debug, Clone)]
pub(super) struct BlendedPixel {
    /// Sum of weight times channel, of each channel including depth.
    pub(super) sums: Vec<f64>,
    /// Transmittance behind the last fragment.
    pub(super) transmittance: f64,
}

/// Projects all splats of `scene`; returns the drawn ones in drawing order.
pub(super) fn drawn_splats(
    scene: &ScalarScene,
    view: &ViewTransform,
    task: &Task,
) -> Result<Vec<PlaneSplat>> {
    let mut splats = Vec::new();
    for index in 0..scene.len() {
        task.check()?;
        let splat = PlaneSplat::project(scene, view, index, None);
        if splat.is_drawn(view) {
            splats.push(splat);
        }
    }
    // By definition, numbers are compared as f32. The sort is stable, so ties stay in the scene's order.
    splats.sort_by(|a, b| narrow(a.order(view)).total_cmp(&narrow(b.order(view))));
    Ok(splats)
}

/// Lists the fragments of every pixel, row by row, nearest first.
pub(super) fn list(
    splats: &[PlaneSplat],
    view: &ViewTransform,
    profile: &Profile,
    task: &Task,
) -> Result<Vec<Vec<Fragment>>> {
    let pixels = view.width as usize * view.height as usize;
    let mut fragments = vec![Vec::new(); pixels];
    let mut blended = vec![Accumulated::default(); pixels];
    for (rank, splat) in splats.iter().enumerate() {
        task.check()?;
        let Some(bounds) = splat.exact(view).bounds(view) else { continue };
        for y in bounds.y0..=bounds.y1 {
            for x in bounds.x0..=bounds.x1 {
                let at = usize::from(y) * view.width as usize + usize::from(x);
                let offset = splat.offset([usize::from(x), usize::from(y)]);
                let cap = profile.alpha_cap;
                let alpha = fragment_alpha(splat.conic, offset, splat.opacity, cap);
                let Some(alpha) = alpha else { continue };
                // The transmittance decides; colours are not needed here.
                if blended[at].offer(alpha, [0.0; 3], profile.stop) == Blended::Yes {
                    fragments[at].push(Fragment { rank, is_capped: alpha >= cap });
                }
            }
        }
    }
    Ok(fragments)
}

impl Fragment {
    pub(super) fn falloff(self, splat: &PlaneSplat, pixel: [usize; 2], cap: f64) -> Falloff {
        let offset = splat.offset(pixel);
        let ([xx, xy, yy], [x, y]) = (splat.conic, offset);
        let falloff = (-0.5 * (xx * x * x + yy * y * y) - xy * x * y).exp();
        let alpha = if self.is_capped { cap } else { splat.opacity * falloff };
        Falloff { offset, falloff, alpha }
    }
}

/// Blends the `fragments` of a pixel.
pub(super) fn blend(
    splats: &[PlaneSplat],
    fragments: &[Fragment],
    pixel: [usize; 2],
    cap: f64,
    channels: usize,
) -> BlendedPixel {
    let mut blended = BlendedPixel { sums: vec![0.0; channels], transmittance: 1.0 };
    for fragment in fragments {
        let splat = &splats[fragment.rank];
        let alpha = fragment.falloff(splat, pixel, cap).alpha;
        let weight = blended.transmittance * alpha;
        for (sum, channel) in blended.sums.iter_mut().zip(&splat.channels) {
            *sum += weight * channel;
        }
        blended.transmittance *= 1.0 - alpha;
    }
    blended
}
