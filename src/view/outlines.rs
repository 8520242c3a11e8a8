//! Outlines of splats: ellipses at which their alpha falls to the least one that is drawn.

use std::collections::HashMap;

use quadrille_base::math::narrow;
use quadrille_base::shading::ALPHA_CUT;
use quadrille_render::preprocess::ViewTransform;
use quadrille_render::preprocess::exact::ExactSplat;
use quadrille_scene::{Camera, Splats};

/// Largest number of outlines in an answer. Pages draw this many within a frame, and more would cover the picture.
const MAX_OUTLINES: usize = 6000;

/// Centre, `a` and `b` of an ellipse in pixels: its points are `centre + a cos t + b sin t`.
pub(crate) type Outline = [[f32; 2]; 3];

/// Outline of a splat. Discs, and splats that the view leaves out, have none.
pub(crate) fn outline(
    splats: &Splats,
    view: &ViewTransform,
    camera: &Camera,
    index: u32,
) -> Option<Outline> {
    let splat = splats.splat(index as usize);
    let shape = ExactSplat::project(view, splats.sh_degree(), &splat)?;
    if shape.disc.is_some() {
        return None;
    }
    let [xx, xy, yy] = shape.covariance;
    let radius = (2.0 * (shape.opacity / ALPHA_CUT).ln()).max(0.0).sqrt();
    let (across, size) = (xx.sqrt(), [camera.width, camera.height]);
    let centre = [0, 1].map(|axis| shape.mean_from_centre_px[axis] + f64::from(size[axis]) / 2.0);
    // The Cholesky factor of the covariance.
    let cosine = [across, xy / across];
    let sine = [0.0, (yy - cosine[1] * cosine[1]).max(0.0).sqrt()];
    let ellipse = [centre, cosine.map(|v| v * radius), sine.map(|v| v * radius)];
    Some(ellipse.map(|axis| axis.map(narrow)))
}

/// Splats with the largest weight in at least one pixel, in descending order of the number of these pixels, up to
/// [`MAX_OUTLINES`]; and the number of all of them. `identifiers` has the splat of each pixel, of which the largest number
/// stands for none.
pub(crate) fn seen(identifiers: &[u32]) -> (Vec<u32>, usize) {
    let mut pixels: HashMap<u32, usize> = HashMap::new();
    for index in identifiers.iter().filter(|index| **index != u32::MAX) {
        *pixels.entry(*index).or_default() += 1;
    }
    let mut seen: Vec<_> = pixels.into_iter().collect();
    seen.sort_unstable_by_key(|(index, pixels)| (std::cmp::Reverse(*pixels), *index));
    let largest = seen.iter().take(MAX_OUTLINES).map(|(index, _)| *index);
    (largest.collect(), seen.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splats_of_the_most_pixels_come_first() {
        let none = u32::MAX;
        let (largest, all) = seen(&[7, none, 3, 3, 9, 7, 3, none, 1]);
        assert_eq!((largest, all), (vec![3, 7, 1, 9], 4));
        let many: Vec<u32> = (0..9000).rev().collect();
        let (largest, all) = seen(&many);
        assert_eq!((largest.len(), all), (MAX_OUTLINES, 9000));
        assert!(largest.is_sorted());
    }
}
