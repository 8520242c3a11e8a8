//! The fast renderer: project, bin, sort, raster.

use std::time::{Duration, Instant};

use rayon::prelude::*;

use super::bin::{TileGrid, TileLists};
use super::raster;
use super::tile::{TILE_PX, TileArea};
use super::{Counts, RenderSettings};
use crate::image::Frame;
use crate::preprocess::Projected;
use crate::scene::{Camera, Splats};

/// Renders one frame, transparent where nothing covers it; for many frames, keep a [`Renderer`].
///
/// ```
/// use quadrille::{Profile, Recipe, RenderSettings, Synthetic, render};
///
/// // Or the `splats` of `quadrille::load` and the `cameras` of `quadrille::load_cameras`.
/// let scene = Synthetic::new(Recipe::Object, 1, 1000, 0)?;
/// let (splats, camera) = (scene.splats(), scene.cameras()[0].resized(64, 36)?);
/// let settings = RenderSettings {
///     profile: Profile::named("gsplat")?,
///     ..RenderSettings::default()
/// };
/// let (frame, counts) = render(&splats, &camera, &settings);
/// assert_eq!((frame.width(), frame.height()), (64, 36));
/// assert!(counts.fragments_blended > 0);
/// quadrille::write_picture(std::env::temp_dir().join("vase.png"), &frame)?;
/// # Ok::<(), quadrille::Error>(())
/// ```
pub fn render(splats: &Splats, camera: &Camera, settings: &RenderSettings) -> (Frame, Counts) {
    Renderer::default().render(splats, camera, settings)
}

/// Renders frames on rayon's current thread pool. It keeps its arrays, so frames after the first
/// allocate next to nothing. The same input gives the same bytes on any number of threads.
#[derive(Debug, Default)]
pub struct Renderer {
    projected: Projected,
    bins: TileLists,
}

/// Wall-clock times of the stages of a frame.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct RenderTimes {
    /// Culling, projection, colours and bounding boxes.
    pub preprocess: Duration,
    /// Binning splats into tiles.
    pub bin: Duration,
    /// Sorting the tiles' lists by depth.
    pub sort: Duration,
    /// Coverage and blending.
    pub raster: Duration,
    /// The whole frame.
    pub total: Duration,
}

impl Renderer {
    /// Renders a frame, transparent where nothing covers it.
    pub fn render(
        &mut self,
        splats: &Splats,
        camera: &Camera,
        settings: &RenderSettings,
    ) -> (Frame, Counts) {
        let mut frame = Frame::new(camera.width, camera.height);
        let (counts, _) = self.render_into(&mut frame, splats, camera, settings);
        (frame, counts)
    }

    /// Renders into a frame, which takes on the camera's size.
    pub fn render_into(
        &mut self,
        frame: &mut Frame,
        splats: &Splats,
        camera: &Camera,
        settings: &RenderSettings,
    ) -> (Counts, RenderTimes) {
        let start = Instant::now();
        if (frame.width(), frame.height()) != (camera.width, camera.height) {
            *frame = Frame::new(camera.width, camera.height);
        }
        self.projected
            .run(splats, camera, &settings.profile, settings.level);
        let projected = Instant::now();
        let grid = TileGrid::new(camera.width, camera.height);
        self.bins.fill(grid, &self.projected);
        let binned = Instant::now();
        self.bins.sort(settings.level);
        let sorted = Instant::now();
        let fragments_blended = self.raster(frame, grid, settings);
        let end = Instant::now();
        let counts = Counts {
            splats_in_frustum: self.projected.len() as u64,
            fragments_blended,
        };
        let times = RenderTimes {
            preprocess: projected - start,
            bin: binned - projected,
            sort: sorted - binned,
            raster: end - sorted,
            total: end - start,
        };
        (counts, times)
    }

    /// Draws all tiles; returns the number of fragments blended.
    fn raster(&self, frame: &mut Frame, grid: TileGrid, settings: &RenderSettings) -> u64 {
        let picture = [frame.width() as usize, frame.height() as usize];
        let mut rows = rows_by_tile(frame, grid);
        rows.par_chunks_mut(TILE_PX)
            .with_max_len(1)
            .enumerate()
            .map(|(index, rows)| {
                let first_px = [
                    index % grid.columns * TILE_PX,
                    index / grid.columns * TILE_PX,
                ];
                let size_px = [0, 1].map(|axis| TILE_PX.min(picture[axis] - first_px[axis]));
                let area = TileArea {
                    first_px,
                    size_px,
                    picture_px: picture,
                };
                let (splats, list) = (self.projected.slots(), self.bins.tile(index));
                raster::draw(area, splats, list, settings, &mut rows[..size_px[1]])
            })
            .sum()
    }

    /// Size in bytes of the arrays that the last frame used, besides the scene and the picture.
    pub fn used_bytes(&self) -> usize {
        self.projected.used_bytes() + self.bins.used_bytes()
    }
}

/// Divides the picture into the rows of each tile: [`TILE_PX`] slices per tile, empty below the
/// picture.
fn rows_by_tile(frame: &mut Frame, grid: TileGrid) -> Vec<&mut [[f32; 4]]> {
    let width = frame.width() as usize;
    let mut rows: Vec<&mut [[f32; 4]]> = (0..grid.len() * TILE_PX)
        .map(|_| <&mut [_]>::default())
        .collect();
    for (y, line) in frame.pixels_mut().chunks_exact_mut(width).enumerate() {
        for (column, piece) in line.chunks_mut(TILE_PX).enumerate() {
            rows[(y / TILE_PX * grid.columns + column) * TILE_PX + y % TILE_PX] = piece;
        }
    }
    rows
}
