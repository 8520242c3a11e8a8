//! Probe of a pixel: the splats that contribute to it.

use super::layers::{LEAST_ALPHA, MEDIAN_TRANSMITTANCE};
use super::reference::{blend, footprints};
use super::{RenderSettings, Renderer};
use crate::preprocess::{PixelBounds, ViewTransform};
use quadrille_base::math::fit;
use quadrille_base::{Error, Result, Task};
use quadrille_scene::{Camera, Splats};

/// Search margin in pixels: the fast projection's boxes are rounded from f32 and may miss a pixel at the alpha cut.
const MARGIN_PX: u32 = 1;

/// A pixel and the fragments that it blends, in f64.
#[derive(Debug, Clone, PartialEq)]
pub struct PixelProbe {
    /// Column and row of the pixel.
    pub pixel: [u32; 2],
    /// Premultiplied red, green, blue, as in a [`Frame`](quadrille_base::image::Frame).
    pub rgb: [f64; 3],
    /// 1 minus the transmittance behind all fragments.
    pub alpha: f64,
    /// Mean depth, as in [`Layer::Depth`](quadrille_base::image::Layer::Depth).
    pub depth: f64,
    /// Median depth, as in [`Layer::DepthMedian`](quadrille_base::image::Layer::DepthMedian).
    pub depth_median: f64,
    /// The fragments in drawing order, nearest first. Their weights add up to alpha.
    pub fragments: Vec<PixelFragment>,
}

/// A fragment that a pixel blends.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct PixelFragment {
    /// Index of the splat in the scene.
    pub index: u32,
    /// Weight of the fragment's colour in the pixel: alpha times the transmittance in front of the fragment.
    pub weight: f64,
    /// Alpha of the splat in the pixel.
    pub alpha: f64,
    /// Depth of the splat's centre: along the line of sight for a pinhole camera, otherwise the distance. For a disc, the
    /// depth at which the ray meets it.
    pub depth: f64,
    /// Colour of the splat as seen from the camera: red, green, blue, not premultiplied and not clamped above.
    pub rgb: [f64; 3],
}

impl PixelProbe {
    /// Returns at most `most` fragments with the largest weights, in descending order (the nearer first if equal), and the
    /// number and the summed weight of the other fragments.
    pub fn largest(&self, most: usize) -> (Vec<PixelFragment>, usize, f64) {
        let mut sorted = self.fragments.clone();
        sorted.sort_by(|a, b| b.weight.total_cmp(&a.weight));
        let rest = sorted.split_off(most.min(sorted.len()));
        (sorted, rest.len(), rest.iter().map(|fragment| fragment.weight).sum())
    }
}

impl Renderer {
    /// Finds the splats that contribute to the pixel in column `pixel[0]` and row `pixel[1]`; no frame need be rendered
    /// before. They are blended by [the definition](mod@super::reference), so the colour equals the pixel of
    /// [`Self::render`] up to the fast renderer's rounding. Afterwards, [`Self::drawn`] lists the splats near the pixel.
    ///
    /// # Errors
    /// [`Error::Argument`] if the pixel lies outside the picture.
    ///
    /// ```
    /// use quadrille_render::cpu::{RenderSettings, Renderer};
    /// use quadrille_render::synth::{Recipe, Synthetic};
    ///
    /// let vase = Synthetic::new(Recipe::Object, 1, 1000, 0)?;
    /// let (splats, camera) = (vase.splats(), vase.cameras()[0].resized(64, 36)?);
    /// let probe = Renderer::default().probe(&splats, &camera, &RenderSettings::default(), [32, 18])?;
    /// let (largest, rest, rest_weight) = probe.largest(3);
    /// assert_eq!(largest.len() + rest, probe.fragments.len());
    /// let weights: f64 = largest.iter().map(|fragment| fragment.weight).sum();
    /// assert!((weights + rest_weight - probe.alpha).abs() < 1e-12);
    /// # Ok::<(), quadrille_base::Error>(())
    /// ```
    pub fn probe(
        &mut self,
        splats: &Splats,
        camera: &Camera,
        settings: &RenderSettings,
        pixel: [u32; 2],
    ) -> Result<PixelProbe> {
        settings.check(camera)?;
        let [x, y] = pixel;
        let [width, height] = [camera.width, camera.height];
        let expected = format_args!("a column below {width} and a row below {height}");
        Error::refuse_if(x >= width || y >= height, "pixel", expected, format_args!("{x},{y}"))?;
        let view = ViewTransform::new(splats, camera, &settings.profile);
        // Only the splats near the pixel are projected.
        let around = view.around(pixel, MARGIN_PX);
        self.projected.run_view(splats, &around, Some(settings.level), &Task::NEVER);
        let mut indices: Vec<u32> = self.drawn().map(|(splat, _)| splat.index).collect();
        // At the seam of a panorama, a splat has two footprints.
        indices.dedup();
        let window = PixelBounds { x0: fit(x), x1: fit(x), y0: fit(y), y1: fit(y) };
        let (mut fragments, mut depth, mut depth_median) = (Vec::new(), 0.0, 0.0);
        let candidates = footprints(&view, splats, indices);
        let pixels = blend(&view, &settings.profile, candidates, window, None, |blended| {
            let weight = blended.transmittance * blended.alpha;
            depth += weight * blended.depth;
            if blended.transmittance > MEDIAN_TRANSMITTANCE {
                depth_median = blended.depth;
            }
            fragments.push(PixelFragment {
                index: blended.index,
                weight,
                alpha: blended.alpha,
                depth: blended.depth,
                rgb: blended.colour,
            });
        });
        let alpha = 1.0 - pixels[0].transmittance;
        Ok(PixelProbe {
            pixel,
            rgb: pixels[0].colour,
            alpha,
            depth: depth / alpha.max(f64::from(LEAST_ALPHA)),
            depth_median,
            fragments,
        })
    }
}
