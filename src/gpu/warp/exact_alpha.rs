//! Exact alpha test for fragments that are too close to the alpha cut of 1/255 to be decided in f32.

use serde::{Deserialize, Serialize};

use quadrille_base::shading::fragment_alpha;
use quadrille_render::preprocess::exact::ExactSplat;
use quadrille_render::preprocess::{ProjectedSplat, ViewTransform};
use quadrille_scene::{BLOCK, Splat, Splats};

/// Arithmetic for fragments that f32 cannot place above or below the alpha cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NearCutRule {
    /// Alpha of the reference renderer, so that fragment counts agree. No shader core could compute it.
    Exact,
    /// Alpha in f32, as a shader core computes it.
    F32,
}

/// Source of exact alphas, which decide fragments near the alpha cut.
pub trait NearCut: Sync {
    /// Capped alpha of `splat` at pixel (`x`, `y`); `None` below the cut.
    fn alpha(&self, splat: &ProjectedSplat, x: u32, y: u32) -> Option<f64>;
}

/// Exact alphas, recomputed from the scene in f64 like those of the reference renderer.
#[derive(Debug, Clone)]
pub struct ExactAlpha<'a> {
    /// Splats of the scene, indexed by `ProjectedSplat::index`.
    pub splats: &'a Splats,
    /// View transform of the frame.
    pub view: ViewTransform,
    /// Alpha at which fragments are capped.
    pub cap: f64,
}

impl NearCut for ExactAlpha<'_> {
    fn alpha(&self, splat: &ProjectedSplat, x: u32, y: u32) -> Option<f64> {
        let index = splat.index as usize;
        let block = self.splats.blocks().get(index / BLOCK)?;
        // The higher coefficients are not loaded: alpha needs no colour, and they lie far apart in memory.
        let exact = ExactSplat::project(&self.view, 0, &Splat::load(block, &[], index % BLOCK))?;
        let bounds = exact.bounds(&self.view)?;
        let inside = (u32::from(bounds.x0)..=u32::from(bounds.x1)).contains(&x)
            && (u32::from(bounds.y0)..=u32::from(bounds.y1)).contains(&y);
        if !inside {
            return None;
        }
        let half_size = self.view.half_size_px();
        let centre = [0, 1].map(|axis| exact.mean_from_centre_px[axis] + half_size[axis]);
        let d = [f64::from(x) + 0.5 - centre[0], f64::from(y) + 0.5 - centre[1]];
        fragment_alpha(exact.conic(), d, exact.opacity, self.cap)
    }
}
