//! The scalar reference renderer: the definition of a frame, and the oracle of all tests.
//!
//! Projects every splat with [`ExactSplat`], sorts, and offers each splat to every pixel of its
//! bounding box, in f64. It is simple and slow.

use super::layers::{LEAST_ALPHA, MEDIAN_TRANSMITTANCE, NO_ID};
use super::{Counts, LayerSettings, RenderSettings};
use crate::preprocess::ViewTransform;
use crate::preprocess::exact::{ExactSplat, distance, facing_normal};
use quadrille_base::image::{Frame, Layer, LayerPicture};
use quadrille_base::math::narrow;
use quadrille_base::shading::{Accumulated, Blended, fragment_alpha};
use quadrille_scene::{Camera, Splats};

/// Renders a frame with the scalar reference renderer, which defines what [`Renderer`](super::Renderer)
/// computes; transparent where nothing covers it.
pub fn render(splats: &Splats, camera: &Camera, settings: &RenderSettings) -> (Frame, Counts) {
    draw(splats, camera, settings, |_| {})
}

/// Renders as [`render()`], with `layers` beside the colours.
pub fn render_layers(
    splats: &Splats,
    camera: &Camera,
    settings: &RenderSettings,
    layers: &LayerSettings,
) -> (Frame, Vec<LayerPicture>, Counts) {
    let view = ViewTransform::new(splats, camera, &settings.profile);
    if layers.layers.is_empty() {
        let (frame, counts) = render(splats, camera, settings);
        return (frame, Vec::new(), counts);
    }
    let empty = Fragments {
        ranks: layers.top_count().max(1),
        ..Fragments::default()
    };
    let mut pixels = vec![empty; camera.width as usize * camera.height as usize];
    let (frame, counts) = draw(splats, camera, settings, |blended| {
        let splat = splats.geometry(blended.index as usize);
        let depth = if layers.is_distance {
            distance(&view, splat.mean)
        } else {
            blended.depth
        };
        pixels[blended.pixel].add(&blended, depth, facing_normal(&view, &splat));
    });
    let picture = |&layer: &Layer| {
        let planes = (0..layer.planes()).flat_map(|part| pixels.iter().map(move |p| (p, part)));
        let bits = planes.map(|(pixel, part)| pixel.bits(layer, part));
        LayerPicture::from_bits(layer, [camera.width, camera.height], bits.collect())
    };
    let pictures = layers.layers.iter().map(picture).collect();
    (frame, pictures, counts)
}

/// A fragment that a pixel has blended.
struct BlendedFragment {
    /// Index of the pixel.
    pixel: usize,
    /// Index of the splat in the scene.
    index: u32,
    depth: f64,
    alpha: f64,
    /// Transmittance in front of the fragment.
    transmittance: f64,
}

/// Sums and weights from which the layers of a pixel are computed.
#[derive(Debug, Clone, Default)]
struct Fragments {
    depth: f64,
    inverse: f64,
    median: f64,
    alpha: f64,
    normal: [f64; 3],
    count: u32,
    /// Number of weights to keep.
    ranks: usize,
    /// The largest weights so far and their splats, in descending order; of equal ones, the nearer first.
    largest: Vec<(f64, u32)>,
}

impl Fragments {
    fn add(&mut self, fragment: &BlendedFragment, depth: f64, normal: [f64; 3]) {
        let weight = fragment.transmittance * fragment.alpha;
        self.depth += weight * depth;
        self.inverse += weight / depth;
        for (sum, n) in self.normal.iter_mut().zip(normal) {
            *sum += weight * n;
        }
        if fragment.transmittance > MEDIAN_TRANSMITTANCE {
            self.median = depth;
        }
        let rank = self.largest.partition_point(|(w, _)| *w >= weight);
        self.largest.insert(rank, (weight, fragment.index));
        self.largest.truncate(self.ranks);
        self.alpha = 1.0 - fragment.transmittance * (1.0 - fragment.alpha);
        self.count += 1;
    }

    fn bits(&self, layer: Layer, part: usize) -> u32 {
        let float = |value: f64| narrow(value).to_bits();
        let id = |rank: usize| self.largest.get(rank).map_or(NO_ID, |(_, index)| *index);
        match layer {
            Layer::Depth => float(self.depth / self.alpha.max(f64::from(LEAST_ALPHA))),
            Layer::DepthSum => float(self.depth),
            Layer::DepthInverse => float(self.inverse),
            Layer::DepthMedian => float(self.median),
            Layer::Alpha => float(self.alpha),
            Layer::Normal => float(self.normal[part]),
            Layer::Id => id(0),
            Layer::Count => self.count,
            Layer::TopId(_) => id(part),
            Layer::TopWeight(_) => float(self.largest.get(part).map_or(0.0, |(weight, _)| *weight)),
        }
    }
}

/// Draws a frame, and tells of each fragment that is blended, in drawing order.
fn draw(
    splats: &Splats,
    camera: &Camera,
    settings: &RenderSettings,
    mut blended: impl FnMut(BlendedFragment),
) -> (Frame, Counts) {
    let view = ViewTransform::new(splats, camera, &settings.profile);
    let mut visible: Vec<_> = (0_u32..)
        .zip(splats.iter())
        .filter_map(|(i, s)| Some((i, ExactSplat::project(&view, splats.sh_degree(), &s)?)))
        .flat_map(|(i, s)| {
            s.footprints(&view)
                .map(move |(s, bounds)| (bounds, s, i))
                .collect::<Vec<_>>()
        })
        .collect();
    // At the seam of a panorama, a splat has two footprints.
    let splats_in_view = visible.chunk_by(|a, b| a.2 == b.2).count();
    // Depths order as f32 by definition; the sort is stable, so ties stay in the scene's order.
    visible.sort_by(|(_, a, _), (_, b, _)| narrow(a.depth).total_cmp(&narrow(b.depth)));

    let mut pixels = vec![Accumulated::default(); camera.width as usize * camera.height as usize];
    let mut counts = Counts {
        splats_in_frustum: splats_in_view as u64,
        fragments_blended: 0,
    };
    let half_size = view.half_size_px();
    for (bounds, splat, index) in &visible {
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
                let at = usize::from(y) * camera.width as usize + usize::from(x);
                let transmittance = pixels[at].transmittance;
                let outcome = pixels[at].offer(alpha, splat.colour, settings.profile.stop);
                if outcome == Blended::Yes {
                    counts.fragments_blended += 1;
                    blended(BlendedFragment {
                        pixel: at,
                        index: *index,
                        depth: splat.depth,
                        alpha,
                        transmittance,
                    });
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
