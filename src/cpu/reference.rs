//! The scalar reference renderer: the definition of a frame, and the oracle of all tests.
//!
//! Projects every splat with [`ExactSplat`], sorts, and offers each splat to every pixel of its
//! bounding box, in f64. It is simple and slow.

use super::{Counts, RenderSettings};
use crate::image::Frame;
use crate::math::narrow;
use crate::preprocess::ViewTransform;
use crate::preprocess::exact::ExactSplat;
use crate::scene::{Camera, Splats};
use crate::shading::{Accumulated, Blended, fragment_alpha};

/// Renders a frame with the scalar reference renderer, which defines what [`Renderer`](super::Renderer)
/// computes; transparent where nothing covers it.
pub fn render(splats: &Splats, camera: &Camera, settings: &RenderSettings) -> (Frame, Counts) {
    let view = ViewTransform::new(camera, &settings.profile);
    let mut visible: Vec<_> = splats
        .iter()
        .filter_map(|s| ExactSplat::project(&view, splats.sh_degree(), &s))
        .filter_map(|s| Some((s.bounds(&view)?, s)))
        .collect();
    // Depths order as f32 by definition; the sort is stable, so ties stay in the scene's order.
    visible.sort_by(|(_, a), (_, b)| narrow(a.depth).total_cmp(&narrow(b.depth)));

    let mut pixels = vec![Accumulated::default(); camera.width as usize * camera.height as usize];
    let mut counts = Counts {
        splats_in_frustum: visible.len() as u64,
        fragments_blended: 0,
    };
    let half_size = view.half_size_px();
    for (bounds, splat) in &visible {
        let [xx, xy, yy] = splat.covariance.map(|c| c / splat.determinant);
        let conic = [yy, -xy, xx];
        let centre = [0, 1].map(|axis| splat.mean_from_centre_px[axis] + half_size[axis]);
        for y in bounds.y0..=bounds.y1 {
            for x in bounds.x0..=bounds.x1 {
                let d = [
                    f64::from(x) + 0.5 - centre[0],
                    f64::from(y) + 0.5 - centre[1],
                ];
                let Some(alpha) =
                    fragment_alpha(conic, d, splat.opacity, settings.profile.alpha_cap)
                else {
                    continue;
                };
                let pixel = &mut pixels[usize::from(y) * camera.width as usize + usize::from(x)];
                if pixel.offer(alpha, splat.colour, settings.profile.stop) == Blended::Yes {
                    counts.fragments_blended += 1;
                }
            }
        }
    }
    let rgba = |p: &Accumulated| {
        let [r, g, b] = p.colour.map(narrow);
        [r, g, b, narrow(1.0 - p.transmittance)]
    };
    let pixels = pixels.iter().map(rgba).collect();
    let frame = Frame::from_pixels(camera.width, camera.height, pixels);
    (frame, counts)
}
