use rayon::prelude::*;

use super::ViewBlur;
use quadrille_base::error::{Error, Result};
use quadrille_base::image::{FRAME_BYTES, Frame, LightMean, check_memory};
use quadrille_render::cpu::{Counts, RenderSettings, Renderer};
use quadrille_scene::{Camera, Splats};

/// Pixels of all pictures that are drawn at the same time (assumed): 1 GiB of frames.
const PIXELS_AT_ONCE: usize = 1 << 26;

/// Draws the picture of a camera into a frame.
pub type DrawSample<'d> = dyn Fn(&mut Frame, &mut Renderer, &Camera) -> Result<Counts> + Sync + 'd;

/// Draws the mean in linear light of the pictures of `blur`, premultiplied, with its alpha. Each thread of rayon's current
/// pool draws pictures of its own, as far as memory allows; the sum has their order, so that the bytes do not depend on the
/// number of threads.
///
/// The counts are the largest number of splats in view of a picture, and the fragments of all pictures.
///
/// # Errors
/// Those of `draw`, and [`Error::Argument`] for a picture that does not fit in the available memory.
pub fn draw_blurred(
    frame: &mut Frame,
    camera: &Camera,
    blur: &ViewBlur,
    draw: &DrawSample<'_>,
) -> Result<Counts> {
    let cameras = blur.cameras(camera);
    let size = [camera.width, camera.height];
    let pixels = (camera.width as usize * camera.height as usize).max(1);
    let threads = rayon::current_num_threads();
    let at_once = (PIXELS_AT_ONCE / pixels).clamp(1, threads).min(cameras.len());
    check_memory(size, FRAME_BYTES * (at_once as u64 + 1))?;
    let mut mean = LightMean::new(camera.width, camera.height);
    let mut lanes: Vec<(Frame, Renderer)> =
        (0..at_once).map(|_| (Frame::new(0, 0), Renderer::default())).collect();
    let mut counts = Counts::default();
    for cameras in cameras.chunks(at_once) {
        let drawn = cameras.par_iter().zip(&mut lanes);
        let drawn = drawn.map(|(camera, (frame, renderer))| draw(frame, renderer, camera));
        for drawn in drawn.collect::<Result<Vec<Counts>>>()? {
            counts.splats_in_frustum = counts.splats_in_frustum.max(drawn.splats_in_frustum);
            counts.fragments_blended += drawn.fragments_blended;
        }
        let frames: Vec<&Frame> = lanes[..cameras.len()].iter().map(|(frame, _)| frame).collect();
        mean.add(&frames);
    }
    mean.write_to(frame);
    Ok(counts)
}

/// Median depth of the splats in the middle of the picture: the distance that a camera without another focus is focused at.
///
/// # Errors
/// [`Error::Argument`] if no splat covers the middle of the picture.
pub fn median_depth(splats: &Splats, camera: &Camera, settings: &RenderSettings) -> Result<f64> {
    let middle = [camera.width, camera.height].map(|px| px / 2);
    let probe = Renderer::default().probe(splats, camera, settings, middle)?;
    let found = format!("none in the middle of view \"{}\"", camera.name);
    let expected = "a distance, or splats in the middle of the picture";
    Error::refuse_if(probe.fragments.is_empty(), "focus", expected, found)?;
    Ok(probe.depth_median)
}
