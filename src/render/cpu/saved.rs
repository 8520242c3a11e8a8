//! Pictures of channels that are kept until the derivatives of a loss by them are known.

use std::ops::Range;

use bytemuck::Zeroable;
use rayon::prelude::*;

use super::RenderSettings;
use super::bin::{TileGrid, split};
use super::channels::{
    ChannelCounts, ChannelDepth, ChannelPicture, ChannelSettings, ChannelValues, PixelLight,
    check_length,
};
use super::places::{ReplayBuffers, TilePlaces, tiles};
use super::renderer::Renderer;
use super::replay::{ReplayedTile, place, record_lines};
use super::tile::Tile;
use super::tile_cotangents::{PictureRows, TileCotangents};
use super::tile_rows::area_of_tile;
use crate::preprocess::{ProjectedChunk, ProjectedSplat, SplatSource, ViewTransform};
use quadrille_base::math::buffer::{Line, as_atomic_u64, stream_lines};
use quadrille_base::math::{SimdLevel, fit, index, narrow, prefetch};
use quadrille_base::{Error, Result, Task};
use quadrille_scene::Camera;

/// Derivatives of a loss by a picture of channels.
#[derive(Debug, Clone, Copy)]
pub struct PictureCotangents<'a, T> {
    /// By the channels of every pixel, row by row.
    pub values: &'a [T],
    /// By the alpha of every pixel, row by row.
    pub alphas: &'a [T],
}

/// A picture of channels with its projected splats and the lists of its tiles.
///
/// It holds 76 bytes per splat of the scene, 8 per entry of a list, and 4 per value and pixel of the picture.
#[derive(Debug)]
pub struct SavedPicture {
    renderer: Renderer,
    view: ViewTransform,
    settings: RenderSettings,
    channels: usize,
    has_mean: bool,
    values: Vec<f32>,
    transmittances: Vec<f32>,
}

/// Derivatives of a loss by the drawn splats in the picture plane, in the scene's order, and by the background.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct RasterSums {
    /// Indices of the splats in the scene, ascending.
    pub indices: Vec<u32>,
    /// By the centres: x, y, per pixel.
    pub means2d: Vec<[f32; 2]>,
    /// Sums of the absolute values of the pixels' contributions to [`Self::means2d`]; empty unless asked for.
    pub absolute_means2d: Vec<[f32; 2]>,
    /// By the channels, including depth, row by row. The entry of a mean depth is the derivative by the splat's depth.
    pub channels: Vec<f32>,
    /// By the background of each channel except depth.
    pub background: Vec<f32>,
    /// By the logarithm of the opacity; and the moments uu, uv and vv of the whitened offsets of the fragments, weighted by
    /// the derivatives by the logarithms of their alphas.
    pub(crate) shapes: Vec<[f32; 4]>,
}

impl Renderer {
    /// Renders channels as [`Self::render_channels`], and keeps what their derivatives need.
    ///
    /// # Errors
    /// As for [`Self::render_channels`]; [`Error::Argument`] if the camera is no pinhole, orthographic camera or fisheye.
    pub fn render_saved<S: SplatSource + ?Sized>(
        mut self,
        splats: &S,
        camera: &Camera,
        settings: &RenderSettings,
        channels: &ChannelSettings<'_>,
        picture: &mut ChannelPicture<'_>,
        task: &Task,
    ) -> Result<(SavedPicture, ChannelCounts)> {
        let is_other = !camera.projection.has_derivatives();
        let expected = "a pinhole, an orthographic camera or a fisheye";
        Error::refuse_if(is_other, "camera", expected, "another projection")?;
        settings.profile.require_derivative()?;
        Error::refuse_if(channels.has_spread, "channels", "no spread", "a spread")?;
        // All lists stay in memory.
        let most_entries = std::mem::replace(&mut self.bins.most_entries, usize::MAX);
        let light = PixelLight::Transmittance;
        let counts = self.render_light(splats, camera, settings, channels, picture, light, task)?;
        self.bins.most_entries = most_entries;
        let transmittances = picture.alphas.to_vec();
        picture.alphas.iter_mut().for_each(|alpha| *alpha = 1.0 - *alpha);
        let saved = SavedPicture {
            view: ViewTransform::new(splats, camera, &settings.profile),
            renderer: self,
            settings: *settings,
            channels: channels.channels(),
            has_mean: channels.depth == Some(ChannelDepth::Mean),
            values: picture.values.to_vec(),
            transmittances,
        };
        Ok((saved, counts))
    }
}

impl SavedPicture {
    /// The renderer that drew the picture, whose memory the next frame can use.
    pub fn into_renderer(self) -> Renderer {
        self.renderer
    }

    /// Size in bytes of the picture, its splats and lists, and the working memory of its gradients.
    pub fn used_bytes(&self) -> usize {
        let pixels = size_of_val(&*self.values) + size_of_val(&*self.transmittances);
        self.renderer.used_bytes() + self.renderer.replay.bytes() + pixels
    }

    pub(crate) fn view(&self) -> &ViewTransform {
        &self.view
    }

    pub(crate) fn level(&self) -> SimdLevel {
        self.settings.level
    }

    /// The renderer that drew the picture.
    pub fn renderer(&self) -> &Renderer {
        &self.renderer
    }

    /// First phase: sums the derivatives of a loss by each drawn splat in the picture plane, given those by the picture.
    /// `channels` are those of the picture; `is_absolute` asks for [`RasterSums::absolute_means2d`].
    ///
    /// The same input gives the same bytes on any number of threads. The working memory is 64 bytes per entry of a list and
    /// per 8 channels, and stays with the renderer.
    ///
    /// # Errors
    /// [`Error::Argument`] if the length of an array is wrong; [`Error::Cancelled`].
    pub fn raster_gradients(
        &mut self,
        channels: &ChannelSettings<'_>,
        cotangents: &PictureCotangents<'_, f32>,
        is_absolute: bool,
        task: &Task,
    ) -> Result<RasterSums> {
        check_length("channels", self.channels, channels.channels())?;
        check_length("cotangents of values", self.values.len(), cotangents.values.len())?;
        check_length("cotangents of alphas", self.transmittances.len(), cotangents.alphas.len())?;
        let mut buffers = std::mem::take(&mut self.renderer.replay);
        buffers.places.number(&self.renderer.projected)?;
        let entries = self.renderer.bins.lists().last().map_or(0, |list| list.end);
        buffers.records.reserve_zeroed(entries * record_lines(self.channels));
        buffers.positions.reserve_zeroed(buffers.places.len);
        let background = self.replay_tiles(channels, cotangents, is_absolute, &mut buffers, task);
        task.check()?;
        let mut sums = self.add_records(channels, is_absolute, &buffers);
        sums.background = background;
        self.renderer.replay = buffers;
        Ok(sums)
    }

    /// Replays all tiles. Writes the record of each splat in a tile to the lines of its entries, and its position, plus
    /// one, to the place of the splat in the tile. Returns the derivatives by the background.
    fn replay_tiles(
        &self,
        channels: &ChannelSettings<'_>,
        cotangents: &PictureCotangents<'_, f32>,
        is_absolute: bool,
        ReplayBuffers { records, places, positions }: &mut ReplayBuffers,
        task: &Task,
    ) -> Vec<f32> {
        let size = [self.view.width, self.view.height];
        let grid = TileGrid::new(size[0], size[1]);
        let picture = PictureRows {
            values: &self.values,
            transmittances: &self.transmittances,
            by_values: cotangents.values,
            by_alphas: cotangents.alphas,
            channels: self.channels,
            has_mean: self.has_mean,
        };
        let Renderer { projected, bins, .. } = &self.renderer;
        let positions = as_atomic_u64(positions);
        let lines = record_lines(self.channels);
        let lengths = bins.lists().map(|list| list.len() * lines);
        let records = split(records, lengths);
        let tiles: Vec<_> = records.into_iter().zip(bins.lists()).collect();
        let values = channels.value_channels();
        let replay = |pixels: &mut TileCotangents,
                      (tile_index, (records, list)): NumberedTile<'_>| {
            let mut background = vec![0.0; values];
            if task.is_cancelled() {
                return background;
            }
            let area = area_of_tile(tile_index, grid, size);
            pixels.load(area, &picture, &mut background);
            let replayed = ReplayedTile {
                splats: projected.slots(),
                list: bins.tile(tile_index),
                value: |splat: &ProjectedSplat, channel| channels.value(splat, channel),
                channels: self.channels,
                is_absolute,
            };
            let places = TilePlaces {
                places,
                cell: [tile_index % grid.columns, tile_index / grid.columns].map(fit::<u32>),
                first: list.start,
                positions,
            };
            stream_lines(records, |records| {
                replayed.replay(&Tile::new(area), &self.settings, pixels, records, &places);
            });
            background
        };
        let tiles = tiles.into_par_iter().enumerate().with_max_len(1);
        let parts: Vec<Vec<f64>> = tiles.map_init(TileCotangents::default, replay).collect();
        let mut background = vec![0.0; values];
        for part in parts {
            for (sum, part) in background.iter_mut().zip(part) {
                *sum += part;
            }
        }
        background.into_iter().map(narrow).collect()
    }

    /// Adds the records of each splat, tile by tile.
    fn add_records(
        &self,
        channels: &ChannelSettings<'_>,
        is_absolute: bool,
        ReplayBuffers { records, places, positions }: &ReplayBuffers,
    ) -> RasterSums {
        let drawn = self.renderer.projected.len();
        let mut sums = RasterSums {
            indices: vec![0; drawn],
            means2d: vec![[0.0; 2]; drawn],
            absolute_means2d: vec![[0.0; 2]; if is_absolute { drawn } else { 0 }],
            channels: vec![0.0; drawn * self.channels],
            shapes: vec![[0.0; 4]; drawn],
            background: Vec::new(),
        };
        let projected = &self.renderer.projected;
        let lengths = || (0..projected.chunks()).map(|chunk| projected.chunk(chunk).bounds.len());
        let absolute_lengths = lengths().map(|len| if is_absolute { len } else { 0 });
        let parts = split(&mut sums.indices, lengths())
            .into_par_iter()
            .zip(split(&mut sums.means2d, lengths()))
            .zip(split(&mut sums.absolute_means2d, absolute_lengths))
            .zip(split(&mut sums.channels, lengths().map(|len| len * self.channels)))
            .zip(split(&mut sums.shapes, lengths()));
        let is_coloured = matches!(channels.values, ChannelValues::Colours);
        let lines = record_lines(self.channels);
        parts.enumerate().with_max_len(1).for_each(
            |(chunk, ((((indices, means2d), absolute), by_channels), shapes))| {
                let ProjectedChunk { first_slot, bounds, .. } = projected.chunk(chunk);
                let splats = &projected.slots()[first_slot as usize..];
                let mut place = places.starts[chunk];
                let mut total = vec![Line::zeroed(); lines];
                for (number, (splat, bounds)) in splats.iter().zip(bounds).enumerate() {
                    total.fill(Line::zeroed());
                    let end = place + index(u64::from(tiles(bounds)));
                    for (at, &position) in (place..).zip(&positions[place..end]) {
                        if let Some(ahead) = positions.get(at + PLACES_AHEAD) {
                            prefetch(records, index(ahead.saturating_sub(1)) * lines);
                        }
                        let Some(record) = position.checked_sub(1) else { continue };
                        let record = &records[index(record) * lines..][..lines];
                        for (sum, part) in total.iter_mut().zip(record) {
                            for (sum, part) in sum.0.iter_mut().zip(part.0) {
                                *sum += part;
                            }
                        }
                    }
                    place = end;
                    let total: &[f32] = bytemuck::cast_slice(&total);
                    indices[number] = splat.index;
                    means2d[number] = by_centre(splat, total);
                    if let Some(absolute) = absolute.get_mut(number) {
                        *absolute = [0, 1].map(|axis| BY_OFFSET * total[place::ABSOLUTE + axis]);
                    }
                    let [uu, uv, vv] = [0, 1, 2].map(|m| total[place::MOMENTS + m]);
                    shapes[number] = [total[place::TOTAL], uu, uv, vv];
                    let by_channels = &mut by_channels[number * self.channels..][..self.channels];
                    by_channels.copy_from_slice(&total[place::CHANNELS..][..self.channels]);
                    if is_coloured {
                        for (by, colour) in by_channels.iter_mut().zip(splat.colour) {
                            // Black colours were bounded below.
                            *by = if colour > 0.0 { *by } else { 0.0 };
                        }
                    }
                }
            },
        );
        sums
    }
}

/// Number of a tile, the lines of its records, and the positions of its entries.
type NumberedTile<'a> = (usize, (&'a mut [Line], Range<usize>));

/// Distance in places between an added record and the one that is prefetched.
const PLACES_AHEAD: usize = 16;

/// Factor of -u in the derivative of the logarithm of alpha by u: alpha is the opacity times 2 to the power of -u² - v².
const BY_OFFSET: f32 = 2.0 * std::f32::consts::LN_2;

/// Derivatives by the centre, from the sums of u and v.
fn by_centre(splat: &ProjectedSplat, total: &[f32]) -> [f32; 2] {
    let [u, v] = [total[place::OFFSETS], total[place::OFFSETS + 1]];
    [splat.u_per_x * u, splat.v_per_y * v - splat.u_per_y * u].map(|by| BY_OFFSET * by)
}
