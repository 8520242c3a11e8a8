//! The scalar reference renderer: the definition of a frame, and the oracle of all tests.
//!
//! Projects every splat with [`ExactSplat`], sorts all, and blends each into every pixel of its bounding box, in f64.

use super::layers::{LEAST_ALPHA, MEDIAN_TRANSMITTANCE, NO_ID};
use super::surfaces::{SurfaceScene, SurfaceStep, Surfaces};
use super::{Counts, LayerSettings, RenderSettings};
use crate::preprocess::exact::{ExactSplat, distance, facing_normal};
use crate::preprocess::{PixelBounds, ViewTransform};
use quadrille_base::Result;
use quadrille_base::image::{Frame, Layer, LayerPicture};
use quadrille_base::math::{fit, narrow};
use quadrille_base::shading::{Accumulated, Blended, Profile};
use quadrille_scene::{Camera, Splats};

/// Renders a frame by the scalar definition of [`Renderer`](super::Renderer). Pixels that nothing covers are transparent.
pub fn render(splats: &Splats, camera: &Camera, settings: &RenderSettings) -> (Frame, Counts) {
    draw(splats, camera, settings, None, |_| {})
}

/// Renders like [`render()`], and also returns the pictures of `layers`.
pub fn render_layers(
    splats: &Splats,
    camera: &Camera,
    settings: &RenderSettings,
    layers: &LayerSettings,
) -> (Frame, Vec<LayerPicture>, Counts) {
    draw_layers(splats, camera, settings, layers, None)
}

/// Renders like [`render_layers()`], with surfaces among the splats, by the scalar definition of
/// [`Renderer::render_surfaces`](super::Renderer::render_surfaces).
///
/// # Errors
/// As for that method.
pub fn render_surfaces(
    SurfaceScene { splats, surfaces }: SurfaceScene<'_>,
    camera: &Camera,
    settings: &RenderSettings,
    layers: &LayerSettings,
) -> Result<(Frame, Vec<LayerPicture>, Counts)> {
    surfaces.check(camera, layers)?;
    let settings = &RenderSettings { profile: settings.profile.among_surfaces()?, ..*settings };
    Ok(draw_layers(splats, camera, settings, layers, Some(surfaces)))
}

fn draw_layers(
    splats: &Splats,
    camera: &Camera,
    settings: &RenderSettings,
    layers: &LayerSettings,
    surfaces: Option<&Surfaces>,
) -> (Frame, Vec<LayerPicture>, Counts) {
    let view = ViewTransform::new(splats, camera, &settings.profile);
    if layers.layers.is_empty() {
        let (frame, counts) = draw(splats, camera, settings, surfaces, |_| {});
        return (frame, Vec::new(), counts);
    }
    let empty = Fragments { ranks: layers.top_count().max(1), ..Fragments::default() };
    let mut pixels = vec![empty; camera.width as usize * camera.height as usize];
    let (frame, counts) = draw(splats, camera, settings, surfaces, |blended| {
        if blended.index == NO_ID {
            return pixels[blended.pixel].add_depth(&blended, blended.depth);
        }
        let splat = splats.geometry(blended.index as usize);
        let depth = if layers.is_distance { distance(&view, splat.mean) } else { blended.depth };
        pixels[blended.pixel].add(&blended, depth, facing_normal(&view, &splat));
    });
    let picture = |&layer: &Layer| {
        let planes = (0..layer.planes()).flat_map(|part| pixels.iter().map(move |p| (p, part)));
        let bits = planes.map(|(pixel, part)| pixel.bits(layer, part));
        LayerPicture::from_bits(layer, [camera.width, camera.height], bits.collect())
    };
    (frame, layers.layers.iter().map(picture).collect(), counts)
}

pub(super) struct BlendedFragment {
    pixel: usize,
    /// Index of the splat; [`NO_ID`] for a surface.
    pub(super) index: u32,
    pub(super) depth: f64,
    pub(super) colour: [f64; 3],
    pub(super) alpha: f64,
    pub(super) transmittance: f64,
}

/// Splat on the picture plane, pixels of its bounding box, and index in the scene.
pub(super) type Footprint = (ExactSplat, PixelBounds, u32);

#[derive(Debug, Clone, Default)]
struct Fragments {
    depth: f64,
    inverse: f64,
    median: f64,
    alpha: f64,
    normal: [f64; 3],
    count: u32,
    ranks: usize,
    /// Largest weights and their splats, in descending order; the nearer first if equal.
    largest: Vec<(f64, u32)>,
}

impl Fragments {
    fn add_depth(&mut self, fragment: &BlendedFragment, depth: f64) {
        let weight = fragment.transmittance * fragment.alpha;
        self.depth += weight * depth;
        self.inverse += weight / depth;
        if fragment.transmittance > MEDIAN_TRANSMITTANCE {
            self.median = depth;
        }
        self.alpha = 1.0 - fragment.transmittance * (1.0 - fragment.alpha);
    }

    fn add(&mut self, fragment: &BlendedFragment, depth: f64, normal: [f64; 3]) {
        self.add_depth(fragment, depth);
        let weight = fragment.transmittance * fragment.alpha;
        for (sum, n) in self.normal.iter_mut().zip(normal) {
            *sum += weight * n;
        }
        let rank = self.largest.partition_point(|(w, _)| *w >= weight);
        self.largest.insert(rank, (weight, fragment.index));
        self.largest.truncate(self.ranks);
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

/// Draws a frame and reports each blended fragment in drawing order.
fn draw(
    splats: &Splats,
    camera: &Camera,
    settings: &RenderSettings,
    surfaces: Option<&Surfaces>,
    mut blended: impl FnMut(BlendedFragment),
) -> (Frame, Counts) {
    let view = ViewTransform::new(splats, camera, &settings.profile);
    let footprints = footprints(&view, splats, 0..fit(splats.len()));
    // At the seam of a panorama, a splat has two footprints.
    let splats_in_view = footprints.chunk_by(|a, b| a.2 == b.2).count();
    let mut counts = Counts { splats_in_frustum: splats_in_view as u64, fragments_blended: 0 };
    let counted = |fragment: BlendedFragment| {
        counts.fragments_blended += u64::from(fragment.index != NO_ID);
        blended(fragment);
    };
    let [width, height] = [camera.width, camera.height];
    let picture = PixelBounds { x0: 0, x1: fit(width - 1), y0: 0, y1: fit(height - 1) };
    let pixels = blend(&view, &settings.profile, footprints, picture, surfaces, counted);
    let rgba = |p: &Accumulated| {
        let [r, g, b] = p.colour.map(narrow);
        [r, g, b, narrow(1.0 - p.transmittance)]
    };
    (Frame::from_pixels(width, height, pixels.iter().map(rgba).collect()), counts)
}

/// Projects the splats at `indices`, which must ascend.
pub(super) fn footprints(
    view: &ViewTransform,
    splats: &Splats,
    indices: impl IntoIterator<Item = u32>,
) -> Vec<Footprint> {
    let projected = indices.into_iter().filter_map(|index| {
        let splat = splats.splat(index as usize);
        Some((index, ExactSplat::project(view, splats.sh_degree(), &splat)?))
    });
    let mut footprints = Vec::new();
    for (index, splat) in projected {
        footprints.extend(splat.footprints(view).map(|(splat, bounds)| (splat, bounds, index)));
    }
    footprints
}

/// Pixel while its splats and surfaces are blended.
#[derive(Default)]
struct BlendedPixel<'a> {
    splats: Accumulated,
    /// Steps of surfaces that have not been blended.
    steps: &'a [SurfaceStep],
    /// Share of the light that the blended surfaces take.
    taken: f64,
}

impl BlendedPixel<'_> {
    /// Blends the surfaces in front of `depth`; reports each as a fragment of the pixel with this index.
    fn pass(&mut self, pixel: usize, depth: f32, blended: &mut impl FnMut(BlendedFragment)) {
        while let Some((step, rest)) = self.steps.split_first()
            && step.depth < depth
        {
            let (light, left) = (self.splats.transmittance, 1.0 - self.taken);
            let colour = step.colour.map(f64::from);
            (0..3).for_each(|i| self.splats.colour[i] += light * colour[i]);
            self.taken = 1.0 - f64::from(step.left);
            blended(BlendedFragment {
                pixel,
                index: NO_ID,
                depth: step.depth.into(),
                colour,
                alpha: 1.0 - f64::from(step.left) / left,
                transmittance: light * left,
            });
            self.steps = rest;
        }
    }
}

/// Blends footprints, given in scene order, and surfaces into the pixels of `window`, in row order; reports each blended
/// fragment.
pub(super) fn blend(
    view: &ViewTransform,
    profile: &Profile,
    mut footprints: Vec<Footprint>,
    window: PixelBounds,
    surfaces: Option<&Surfaces>,
    mut blended: impl FnMut(BlendedFragment),
) -> Vec<Accumulated> {
    // By definition, numbers are compared as f32. The sort is stable, so ties stay in the scene's order.
    footprints.sort_by(|(a, ..), (b, ..)| narrow(a.order).total_cmp(&narrow(b.order)));
    let across = |x: u16| usize::from(x - window.x0);
    let down = |y: u16| usize::from(y - window.y0);
    let width = across(window.x1) + 1;
    let places = (window.y0..=window.y1).flat_map(|y| (window.x0..=window.x1).map(move |x| [x, y]));
    let steps = |place: [u16; 2]| surfaces.map_or(&[][..], |s| s.pixel(place.map(usize::from)));
    let pixel = |place| BlendedPixel { steps: steps(place), ..BlendedPixel::default() };
    let mut pixels: Vec<BlendedPixel<'_>> = places.map(pixel).collect();
    let half_size = view.half_size_px();
    for (splat, bounds, index) in &footprints {
        let conic = splat.conic();
        let centre = [0, 1].map(|axis| splat.mean_from_centre_px[axis] + half_size[axis]);
        for y in bounds.y0.max(window.y0)..=bounds.y1.min(window.y1) {
            for x in bounds.x0.max(window.x0)..=bounds.x1.min(window.x1) {
                let d = [f64::from(x) + 0.5 - centre[0], f64::from(y) + 0.5 - centre[1]];
                let Some((alpha, depth)) = splat.fragment(conic, d, profile.alpha_cap) else {
                    continue;
                };
                let at = down(y) * width + across(x);
                let pixel = &mut pixels[at];
                pixel.pass(at, narrow(splat.depth), &mut blended);
                let left = 1.0 - pixel.taken;
                let transmittance = pixel.splats.transmittance * left;
                let seen = splat.colour.map(|c| c * left);
                if left > 0.0 && pixel.splats.offer(alpha, seen, profile.stop) == Blended::Yes {
                    blended(BlendedFragment {
                        pixel: at,
                        index: *index,
                        depth,
                        colour: splat.colour,
                        alpha,
                        transmittance,
                    });
                }
            }
        }
    }
    let finished = pixels.into_iter().enumerate().map(|(at, mut pixel)| {
        pixel.pass(at, f32::INFINITY, &mut blended);
        pixel.splats.transmittance *= 1.0 - pixel.taken;
        pixel.splats
    });
    finished.collect()
}
