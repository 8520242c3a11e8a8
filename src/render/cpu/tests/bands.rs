//! Tests of drawing in bands.

#![allow(clippy::unwrap_used, reason = "tests")]
use rayon::ThreadPoolBuilder;

use super::*;
use crate::cpu::channels::{ChannelDepth, ChannelPicture, ChannelSettings, ChannelValues};
use crate::cpu::{Counts, LayerSettings};
use crate::preprocess::SplatRows;
use crate::synth::{Recipe, Synthetic};
use quadrille_base::image::{Frame, Layer, LayerPicture};
use quadrille_base::shading::Profile;
use quadrille_scene::{Camera, Splats};

/// Bits of a frame, of a frame with layers, of a frame in bands and of channels, with the layers and the counts.
#[derive(PartialEq)]
struct Drawn {
    bits: [Vec<u32>; 4],
    layers: Vec<LayerPicture>,
    counts: [Counts; 4],
}

fn bits<'a>(values: impl IntoIterator<Item = &'a f32>) -> Vec<u32> {
    values.into_iter().map(|value| value.to_bits()).collect()
}

fn bits_of_frame(frame: &Frame) -> Vec<u32> {
    bits(frame.pixels().as_flattened())
}

/// Draws with lists of at most `most` entries; also returns the largest size of the lists in bytes.
fn draw(
    (splats, camera): (&Splats, &Camera),
    settings: &RenderSettings,
    layers: &[Layer],
    most: usize,
) -> (Drawn, usize) {
    let task = &Task::NEVER;
    let mut renderer = Renderer::default();
    renderer.bins.most_entries = most;
    let (frame, plain) = renderer.render(splats, camera, settings);
    let list_bytes = renderer.bins.used_bytes();
    let layers = LayerSettings { layers: layers.to_vec(), is_distance: false };
    let mut beside = Frame::new(1, 1);
    let (layers, counts, _) =
        renderer.render_layers(&mut beside, splats, camera, settings, &layers, task).unwrap();
    let arrays = splats.to_arrays();
    let rows = SplatRows::new(arrays.as_slices(), splats.sh_degree()).unwrap();
    let pixels = camera.width as usize * camera.height as usize;
    let (mut values, mut alphas) = (vec![0.0; pixels * 6], vec![0.0; pixels]);
    let channels = ChannelSettings {
        values: ChannelValues::Colours,
        depth: Some(ChannelDepth::Mean),
        background: None,
        has_spread: true,
    };
    let mut picture = ChannelPicture { values: &mut values, alphas: &mut alphas };
    let of_channels =
        renderer.render_channels(&rows, camera, settings, &channels, &mut picture, task).unwrap();
    let mut bands = Vec::new();
    let most = camera.width as usize * 70;
    let each = |band: &Frame| {
        bands.extend(bits_of_frame(band));
        Ok(())
    };
    let (of_bands, _) = renderer.render_bands(most, splats, camera, settings, task, each).unwrap();
    let drawn = Drawn {
        bits: [
            bits_of_frame(&frame),
            bits_of_frame(&beside),
            bands,
            bits(values.iter().chain(&alphas)),
        ],
        layers,
        counts: [plain, counts, of_bands, of_channels.counts],
    };
    (drawn, list_bytes)
}

#[test]
fn bands_draw_the_bytes_of_one_list() {
    let scene = Synthetic::new(Recipe::Room, 3, 20_001, 1).unwrap();
    let splats = scene.splats();
    let camera = scene.cameras()[0].resized(203, 139).unwrap();
    let layers = [&[Layer::Depth][..], &[Layer::Normal, Layer::Id, Layer::Count]];
    for (turn, profile) in Profile::ALL.into_iter().enumerate() {
        let settings = RenderSettings { profile, ..RenderSettings::default() };
        let layers = layers[turn % 2];
        let of = (&splats, &camera);
        let (whole, all_bytes) = draw(of, &settings, layers, usize::MAX);
        assert!(whole.counts[0].fragments_blended > 0);
        for threads in [1, 2, 7] {
            let pool = ThreadPoolBuilder::new().num_threads(threads).build();
            for (most, is_less) in [(usize::MAX, false), (all_bytes / 16, true), (0, true)] {
                let of_bands = || draw(of, &settings, layers, most);
                let (drawn, bytes) = pool.as_ref().unwrap().install(of_bands);
                assert!(drawn == whole, "{}, {threads} threads, {most}", profile.name);
                assert_eq!(bytes < all_bytes, is_less, "{bytes} of {all_bytes} bytes");
            }
        }
    }
}
