//! The fast renderer: project, bin, sort, raster.

use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

use super::bin::{TileGrid, TileLists};
use super::clock::{Clock, RenderTimes};
use super::layers::{self, Planes, SplatGeometry};
use super::places::ReplayBuffers;
use super::raster;
use super::surfaces::{SurfaceScene, Surfaces};
use super::tile::{TILE_PX, Tile};
use super::tile_layers::{TileLayers, kept};
use super::tile_rows::{area_of_tile, rows_by_tile, strips};
use super::tile_surfaces::TileSurfaces;
use super::{Counts, LayerSettings, RenderSettings};
use crate::preprocess::{InPlace, PixelBounds, Projected, ProjectedSplat, ViewTransform};
use quadrille_base::image::{Frame, LayerPicture};
use quadrille_base::math::fit;
use quadrille_base::{Error, Result, Task};
use quadrille_scene::{Camera, Splats};

/// Renders one frame. Pixels that nothing covers are transparent. To render many frames, keep a [`Renderer`].
///
/// ```
/// use quadrille_base::shading::Profile;
/// use quadrille_render::cpu::{RenderSettings, render};
/// use quadrille_render::synth::{Recipe, Synthetic};
///
/// // Or the `splats` of `quadrille_scene::load` and the `cameras` of a camera file.
/// let scene = Synthetic::new(Recipe::Object, 1, 1000, 0)?;
/// let (splats, camera) = (scene.splats(), scene.cameras()[0].resized(64, 36)?);
/// let settings = RenderSettings {
///     profile: Profile::named("gsplat")?,
///     ..RenderSettings::default()
/// };
/// let (frame, counts) = render(&splats, &camera, &settings);
/// assert_eq!((frame.width(), frame.height()), (64, 36));
/// assert!(counts.fragments_blended > 0);
/// quadrille_base::image::files::write(std::env::temp_dir().join("vase.png"), &frame)?;
/// # Ok::<(), quadrille_base::Error>(())
/// ```
pub fn render(splats: &Splats, camera: &Camera, settings: &RenderSettings) -> (Frame, Counts) {
    Renderer::default().render(splats, camera, settings)
}

/// Source of the splats of a frame.
#[derive(Clone, Copy)]
pub enum FrameSource<'a> {
    /// A scene in memory.
    Scene(&'a Splats),
    /// A PLY file whose splats are read while they are projected.
    InPlace(&'a InPlace<'a>),
}

impl<'a> From<&'a Splats> for FrameSource<'a> {
    fn from(splats: &'a Splats) -> Self {
        Self::Scene(splats)
    }
}

impl<'a> From<&'a InPlace<'a>> for FrameSource<'a> {
    fn from(file: &'a InPlace<'a>) -> Self {
        Self::InPlace(file)
    }
}

/// Renders frames on rayon's current thread pool. It reuses its arrays, so frames after the first
/// allocate almost nothing. The same input gives the same bytes on any number of threads.
#[derive(Debug, Default)]
pub struct Renderer {
    pub(super) projected: Projected,
    pub(super) bins: TileLists,
    pub(super) replay: ReplayBuffers,
}

impl Renderer {
    /// Renders a frame. Pixels that nothing covers are transparent.
    pub fn render(
        &mut self,
        splats: &Splats,
        camera: &Camera,
        settings: &RenderSettings,
    ) -> (Frame, Counts) {
        let mut frame = Frame::new(camera.width, camera.height);
        // The task is never cancelled, and nothing else fails.
        let drawn = self.render_into(&mut frame, splats, camera, settings, &Task::NEVER);
        (frame, drawn.unwrap_or_default().0)
    }

    /// Renders into `frame`, which is resized to the camera's size. Its content is unspecified after an error.
    ///
    /// # Errors
    /// [`Error::Cancelled`](quadrille_base::Error::Cancelled).
    pub fn render_into<'a>(
        &mut self,
        frame: &mut Frame,
        splats: impl Into<FrameSource<'a>>,
        camera: &Camera,
        settings: &RenderSettings,
        task: &Task,
    ) -> Result<(Counts, RenderTimes)> {
        frame.resize(camera.width, camera.height);
        self.render_pixels(frame.pixels_mut(), splats, camera, settings, task)
    }

    /// Renders like [`Self::render_into`] into memory of the caller: premultiplied RGBA for each pixel of the camera, row
    /// by row from the top. All pixels are written.
    ///
    /// # Errors
    /// [`Error::Cancelled`](quadrille_base::Error::Cancelled); [`Error::Argument`](quadrille_base::Error::Argument) if the
    /// length of `pixels` is not the number of the camera's pixels.
    pub fn render_pixels<'a>(
        &mut self,
        pixels: &mut [[f32; 4]],
        splats: impl Into<FrameSource<'a>>,
        camera: &Camera,
        settings: &RenderSettings,
        task: &Task,
    ) -> Result<(Counts, RenderTimes)> {
        let expected = camera.width as usize * camera.height as usize;
        Error::refuse_if(pixels.len() != expected, "pixels", expected, pixels.len())?;
        let mut clock = self.project(splats.into(), camera, settings, task)?;
        let grid = TileGrid::new(camera.width, camera.height);
        let blended = self.raster(pixels, grid, camera, settings.into(), &mut clock, task);
        task.check()?;
        Ok((self.counts(blended), clock.stop()))
    }

    /// Renders the picture of [`Self::render_into`] in bands from the top, for pictures larger than memory, and calls
    /// `each` with each band: as many rows of tiles as fit in `band_pixels` pixels, at least one.
    ///
    /// # Errors
    /// [`Error::Cancelled`](quadrille_base::Error::Cancelled), and the first error of `each`.
    pub fn render_bands(
        &mut self,
        band_pixels: usize,
        splats: &Splats,
        camera: &Camera,
        settings: &RenderSettings,
        task: &Task,
        mut each: impl FnMut(&Frame) -> Result<()>,
    ) -> Result<(Counts, RenderTimes)> {
        let mut clock = self.project(splats.into(), camera, settings, task)?;
        let mut band = Frame::new(0, 0);
        let mut fragments_blended = 0;
        let rows = (band_pixels / (camera.width as usize * TILE_PX)).max(1);
        for grid in TileGrid::new(camera.width, camera.height).bands(rows) {
            let first: u32 = fit(grid.first_row * TILE_PX);
            let most: u32 = fit(grid.rows * TILE_PX);
            band.resize(camera.width, most.min(camera.height - first));
            let pixels = band.pixels_mut();
            fragments_blended +=
                self.raster(pixels, grid, camera, settings.into(), &mut clock, task);
            task.check()?;
            each(&band)?;
            // The time of `each` counts only in the total.
            clock.skip();
        }
        Ok((self.counts(fragments_blended), clock.stop()))
    }

    /// Renders a frame per camera into the same memory; calls `each` with its index and the frame. Progress is in frames.
    ///
    /// # Errors
    /// [`Error::Cancelled`](quadrille_base::Error::Cancelled), and the first error of `each`.
    pub fn render_many(
        &mut self,
        splats: &Splats,
        cameras: &[Camera],
        settings: &RenderSettings,
        task: &Task,
        mut each: impl FnMut(usize, &Frame) -> Result<()>,
    ) -> Result<()> {
        let mut frame = Frame::new(1, 1);
        let steps = task.steps(cameras.len() as u64);
        for (index, camera) in cameras.iter().enumerate() {
            self.render_into(&mut frame, splats, camera, settings, task)?;
            each(index, &frame)?;
            steps.advance(1)?;
        }
        Ok(())
    }

    /// Renders the same colours as [`Self::render_into`], and returns the pictures of `layers` in order.
    ///
    /// # Errors
    /// [`Error::Cancelled`](quadrille_base::Error::Cancelled), after which the content of `frame` is unspecified.
    pub fn render_layers(
        &mut self,
        frame: &mut Frame,
        splats: &Splats,
        camera: &Camera,
        settings: &RenderSettings,
        layers: &LayerSettings,
        task: &Task,
    ) -> Result<(Vec<LayerPicture>, Counts, RenderTimes)> {
        self.layered(frame, splats, camera, settings.into(), layers, task)
    }

    /// Renders like [`Self::render_layers`], with surfaces among the splats. `layers` may be empty. Depths and alpha show
    /// splats and surfaces; other layers show the splats, dimmed by the surfaces in front of them.
    ///
    /// ```
    /// use quadrille_base::Task;
    /// use quadrille_render::cpu::surfaces::{SurfaceFragment, SurfaceScene, Surfaces};
    /// use quadrille_render::cpu::{RenderSettings, Renderer};
    /// use quadrille_render::synth::{Recipe, Synthetic};
    ///
    /// let scene = Synthetic::new(Recipe::Object, 1, 1000, 0)?;
    /// let (splats, camera) = (scene.splats(), scene.cameras()[0].resized(8, 6)?);
    /// // A red wall directly before the camera, with one sample per pixel.
    /// let wall = |pixel| SurfaceFragment {
    ///     pixel,
    ///     sample: 0,
    ///     depth: 0.01,
    ///     colour: [1.0, 0.0, 0.0],
    ///     opacity: 1.0,
    /// };
    /// let surfaces = Surfaces::new([8, 6], 1, |[columns, rows], found| {
    ///     found.extend(rows.flat_map(|y| columns.clone().map(move |x| wall([x, y]))));
    /// })?;
    /// let scene = SurfaceScene { splats: &splats, surfaces: &surfaces };
    /// let mut frame = quadrille_base::image::Frame::new(0, 0);
    /// let (settings, layers) = (RenderSettings::default(), Default::default());
    /// Renderer::default().render_surfaces(&mut frame, scene, &camera, &settings, &layers, &Task::NEVER)?;
    /// assert!(frame.pixels().iter().all(|pixel| *pixel == [1.0, 0.0, 0.0, 1.0]));
    /// # Ok::<(), quadrille_base::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Argument`](quadrille_base::Error::Argument) if the camera has another size than the surfaces or is neither
    /// a pinhole nor orthographic, if depths of `layers` are distances, or for splats in the order by distance;
    /// [`Error::Cancelled`](quadrille_base::Error::Cancelled), after which the content of `frame` is unspecified.
    pub fn render_surfaces(
        &mut self,
        frame: &mut Frame,
        scene: SurfaceScene<'_>,
        camera: &Camera,
        settings: &RenderSettings,
        layers: &LayerSettings,
        task: &Task,
    ) -> Result<(Vec<LayerPicture>, Counts, RenderTimes)> {
        scene.surfaces.check(camera, layers)?;
        let settings = &RenderSettings { profile: settings.profile.among_surfaces()?, ..*settings };
        let drawing = Drawing { settings, surfaces: Some(scene.surfaces) };
        if !layers.layers.is_empty() {
            return self.layered(frame, scene.splats, camera, drawing, layers, task);
        }
        frame.resize(camera.width, camera.height);
        let mut clock = self.project(scene.splats.into(), camera, settings, task)?;
        let grid = TileGrid::new(camera.width, camera.height);
        let blended = self.raster(frame.pixels_mut(), grid, camera, drawing, &mut clock, task);
        task.check()?;
        Ok((Vec::new(), self.counts(blended), clock.stop()))
    }

    fn layered(
        &mut self,
        frame: &mut Frame,
        splats: &Splats,
        camera: &Camera,
        drawing: Drawing<'_>,
        layers: &LayerSettings,
        task: &Task,
    ) -> Result<(Vec<LayerPicture>, Counts, RenderTimes)> {
        let settings = drawing.settings;
        frame.resize(camera.width, camera.height);
        let mut clock = self.project(splats.into(), camera, settings, task)?;
        let view = ViewTransform::new(splats, camera, &settings.profile);
        let geometry = layers::geometry(splats, &view, &self.projected, layers);
        clock.lap(|times| &mut times.preprocess);
        let mut planes = Planes::new([camera.width, camera.height], &layers.layers);
        let of_frame = FrameLayers { settings: layers, geometry: &geometry };
        let blended = self.raster_kept(frame, drawing, of_frame, &mut planes, &mut clock, task);
        task.check()?;
        Ok((planes.into_pictures(), self.counts(blended), clock.stop()))
    }

    pub(crate) fn render_recoloured(
        &mut self,
        frame: &mut Frame,
        splats: &Splats,
        camera: &Camera,
        settings: &RenderSettings,
        task: &Task,
        colour: impl Fn(&ProjectedSplat) -> [f32; 3] + Sync,
    ) -> Result<()> {
        frame.resize(camera.width, camera.height);
        let mut clock = self.project(splats.into(), camera, settings, task)?;
        self.projected.recolour(colour);
        let grid = TileGrid::new(camera.width, camera.height);
        self.raster(frame.pixels_mut(), grid, camera, settings.into(), &mut clock, task);
        task.check()
    }

    /// Projects the splats of a frame and returns the frame's clock.
    // The source is not a type parameter, since callers would compile the projection with their own options.
    fn project(
        &mut self,
        splats: FrameSource<'_>,
        camera: &Camera,
        settings: &RenderSettings,
        task: &Task,
    ) -> Result<Clock> {
        settings.check(camera)?;
        let mut clock = Clock::start();
        let (profile, level) = (&settings.profile, Some(settings.level));
        match splats {
            FrameSource::Scene(splats) => self.projected.run(splats, camera, profile, level, task),
            FrameSource::InPlace(file) => self.projected.run(file, camera, profile, level, task),
        }
        task.check()?;
        clock.lap(|times| &mut times.preprocess);
        Ok(clock)
    }

    /// Returns the splats that may touch the last picture, in the scene's order, with the pixels of their bounding boxes.
    /// At the seam of a panorama, a splat has two footprints.
    pub fn drawn(&self) -> impl Iterator<Item = (&ProjectedSplat, PixelBounds)> {
        self.drawn_chunks().flat_map(|(splats, bounds)| splats.iter().zip(bounds.iter().copied()))
    }

    /// Returns the splats of [`Self::drawn`] in chunks for several threads. Some chunks may be empty.
    pub fn drawn_chunks(
        &self,
    ) -> impl ExactSizeIterator<Item = (&[ProjectedSplat], &[PixelBounds])> {
        (0..self.projected.chunks()).map(|chunk| {
            let chunk = self.projected.chunk(chunk);
            let splats = &self.projected.slots()[chunk.first_slot as usize..];
            (&splats[..chunk.bounds.len()], chunk.bounds)
        })
    }

    pub(super) fn counts(&self, fragments_blended: u64) -> Counts {
        Counts { splats_in_frustum: self.projected.splats_in_view() as u64, fragments_blended }
    }

    pub(super) fn raster(
        &mut self,
        pixels: &mut [[f32; 4]],
        grid: TileGrid,
        camera: &Camera,
        Drawing { settings, surfaces }: Drawing<'_>,
        clock: &mut Clock,
        task: &Task,
    ) -> u64 {
        let picture = [camera.width, camera.height];
        let mut strips = strips(pixels, picture[0], 1);
        self.each_band(grid, settings, clock, task, |listed, band| {
            let strips = strips[band.rows_in(grid)].par_iter_mut();
            let drawn = strips.with_max_len(1).enumerate().map(|(row, strip)| {
                let mut rows = rows_by_tile(strip, picture[0], 1, band.row());
                let tiles = rows.par_chunks_mut(TILE_PX).with_max_len(1);
                let drawn = tiles.enumerate().map(|(column, rows)| {
                    if task.is_cancelled() {
                        return 0;
                    }
                    let index = row * band.columns + column;
                    let area = area_of_tile(index, band, picture);
                    let (splats, list) = (listed.projected.slots(), listed.bins.tile(index));
                    let rows = &mut rows[..area.size_px[1]];
                    let mut tile = Tile::new(area);
                    match surfaces.and_then(|surfaces| surfaces.tile(index, band)) {
                        None => raster::draw(&mut tile, splats, list, settings, rows, &mut ()),
                        Some(steps) => {
                            let layers = &mut ();
                            let mut surfaces = TileSurfaces::new(steps, layers);
                            raster::draw(&mut tile, splats, list, settings, rows, &mut surfaces);
                        }
                    }
                    tile.fragments_blended
                });
                drawn.sum::<u64>()
            });
            drawn.sum()
        })
    }

    /// Draws all tiles with layers, with the smallest sufficient inner loop. Not every set of layers has its own loop,
    /// since each loop is compiled for all vector levels and stop rules.
    fn raster_kept(
        &mut self,
        frame: &mut Frame,
        drawing: Drawing<'_>,
        layers: FrameLayers<'_>,
        planes: &mut Planes,
        clock: &mut Clock,
        task: &Task,
    ) -> u64 {
        const ALPHA: u8 = 0;
        const GEOMETRY: u8 = kept::DEPTH | kept::NORMAL;
        let needed = layers.settings.layers.iter();
        let draw = match needed.fold(0, |kept, &layer| kept | kept::of(layer)) {
            _ if drawing.surfaces.is_some() => Self::raster_layers::<{ kept::ALL }>,
            ALPHA => Self::raster_layers::<ALPHA>,
            kept::DEPTH => Self::raster_layers::<{ kept::DEPTH }>,
            GEOMETRY | kept::NORMAL => Self::raster_layers::<GEOMETRY>,
            kept::ID => Self::raster_layers::<{ kept::ID }>,
            _ => Self::raster_layers::<{ kept::ALL }>,
        };
        draw(self, frame, drawing, layers, planes, clock, task)
    }

    /// Draws all tiles with layers made of the quantities `KEPT`; returns the number of blended fragments.
    fn raster_layers<const KEPT: u8>(
        &mut self,
        frame: &mut Frame,
        Drawing { settings, surfaces }: Drawing<'_>,
        layers: FrameLayers<'_>,
        planes: &mut Planes,
        clock: &mut Clock,
        task: &Task,
    ) -> u64 {
        // At most one sink per thread: rayon would make one per tile, and their arrays are larger than a tile.
        let idle: Mutex<Vec<Box<TileLayers<'_, KEPT>>>> = Mutex::default();
        let idle = || idle.lock().unwrap_or_else(PoisonError::into_inner);
        let picture = [frame.width(), frame.height()];
        let grid = TileGrid::new(picture[0], picture[1]);
        let mut rows = rows_by_tile(frame.pixels_mut(), picture[0], 1, grid);
        let mut tiles: Vec<TileRows<'_>> =
            rows.chunks_mut(TILE_PX).map(|colours| (colours, Vec::new())).collect();
        for plane in planes.all() {
            let mut rows = rows_by_tile(plane, picture[0], 1, grid).into_iter();
            for (_, planes) in &mut tiles {
                planes.push(rows.by_ref().take(TILE_PX).collect());
            }
        }
        self.each_band(grid, settings, clock, task, |listed, band| {
            let tiles = tiles[band.tiles_in(grid)].par_iter_mut().with_max_len(1);
            let drawn = tiles.enumerate().map(|(index, (rows, planes))| {
                if task.is_cancelled() {
                    return 0;
                }
                let area = area_of_tile(index, band, picture);
                let (splats, list) = (listed.projected.slots(), listed.bins.tile(index));
                let height = area.size_px[1];
                let sink = idle().pop();
                let mut sink =
                    sink.unwrap_or_else(|| TileLayers::new(layers.settings, layers.geometry));
                sink.clear();
                let rows = &mut rows[..height];
                let mut tile = Tile::new(area);
                // Only the loop of all layers is also compiled for surfaces.
                if const { KEPT == kept::ALL }
                    && let Some(steps) = surfaces.and_then(|s| s.tile(index, band))
                {
                    let mut surfaces = TileSurfaces::new(steps, &mut *sink);
                    raster::draw(&mut tile, splats, list, settings, rows, &mut surfaces);
                } else {
                    raster::draw(&mut tile, splats, list, settings, rows, &mut *sink);
                }
                planes.iter_mut().for_each(|rows| rows.truncate(height));
                sink.store(settings.level, &tile.blocks, planes);
                idle().push(sink);
                tile.fragments_blended
            });
            drawn.sum()
        })
    }

    /// Size in bytes of the arrays that the last frame used, besides the scene and the picture.
    pub fn used_bytes(&self) -> usize {
        self.projected.used_bytes() + self.bins.used_bytes()
    }
}

/// Settings of a frame, and the surfaces among its splats.
#[derive(Clone, Copy)]
pub(super) struct Drawing<'a> {
    settings: &'a RenderSettings,
    surfaces: Option<&'a Surfaces>,
}

impl<'a> From<&'a RenderSettings> for Drawing<'a> {
    fn from(settings: &'a RenderSettings) -> Self {
        Self { settings, surfaces: None }
    }
}

#[derive(Clone, Copy)]
struct FrameLayers<'a> {
    settings: &'a LayerSettings,
    geometry: &'a [SplatGeometry],
}

/// Rows of a tile in the picture, and in each plane of the layers.
type TileRows<'a> = (&'a mut [&'a mut [[f32; 4]]], Vec<Vec<&'a mut [u32]>>);
