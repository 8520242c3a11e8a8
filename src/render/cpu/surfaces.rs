//! Surfaces among the splats of a picture: fragments of opaque and blended surfaces at the samples of each pixel.
//!
//! A sample blends the splats in front of its opaque fragment, then this fragment, by the light that they let through;
//! blended fragments take their places in between. The depth of a splat's centre decides, as in the order of splats; at
//! equal depths the splat is in front. A pixel is the mean of its samples. The stop rule looks at splats alone.
//!
//! All samples of a pixel blend the same splats, evaluated at the pixel's centre. Their mean is therefore a sum along one
//! pass through the splats: each splat counts by the share of the light that the surfaces in front of it let through, which
//! is a step function of depth.

use std::ops::Range;

use rayon::prelude::*;

use super::LayerSettings;
use super::bin::TileGrid;
use super::tile::TILE_PX;
use quadrille_base::math::{fit, narrow};
use quadrille_base::{Error, Result};
use quadrille_scene::{Camera, Splats};

/// Most samples per pixel, as many as the sample patterns of meshes have.
const MAX_SAMPLES: usize = 16;

/// Fragment of a surface at a sample of a pixel.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SurfaceFragment {
    /// Column and row of the pixel.
    pub pixel: [u32; 2],
    /// Index of the sample in the pixel.
    pub sample: u32,
    /// Depth along the line of sight in world units, as of splats.
    pub depth: f32,
    /// Colour in the colour space of splats, not premultiplied.
    pub colour: [f32; 3],
    /// Opacity, 1 for an opaque surface.
    pub opacity: f32,
}

/// Depth at which a surface takes light from a pixel.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct SurfaceStep {
    pub(super) depth: f32,
    /// Share of the light that this surface and all in front of it let through, over all samples.
    pub(super) left: f32,
    /// Colour, multiplied by the share of the light that the surface takes.
    pub(super) colour: [f32; 3],
}

/// Steps of the pixels of a tile, front to back; empty for a tile without surfaces.
#[derive(Debug, Clone, Default)]
pub(super) struct TileSteps {
    /// Index in `steps` of the first step of each pixel, row by row; one more entry ends the last pixel.
    starts: Vec<u32>,
    steps: Vec<SurfaceStep>,
}

/// Surfaces of a picture.
#[derive(Debug)]
pub struct Surfaces {
    size: [u32; 2],
    grid: TileGrid,
    tiles: Vec<TileSteps>,
}

/// Splats, and surfaces among them.
#[derive(Debug, Clone, Copy)]
pub struct SurfaceScene<'a> {
    /// The splats.
    pub splats: &'a Splats,
    /// Surfaces in the view of the camera.
    pub surfaces: &'a Surfaces,
}

impl Surfaces {
    /// Collects the surfaces of a picture with `samples` samples per pixel. `fragments` adds all fragments in a range of
    /// columns and a range of rows, in any order; of two fragments at the same depth of a sample, the first is in front.
    /// Fragments beyond these ranges and samples are left out.
    ///
    /// # Errors
    /// [`Error::Argument`] if `samples` is not 1 to 16.
    pub fn new(
        size: [u32; 2],
        samples: u32,
        fragments: impl Fn([Range<u32>; 2], &mut Vec<SurfaceFragment>) + Sync,
    ) -> Result<Self> {
        let is_possible = (1..=fit(MAX_SAMPLES)).contains(&samples);
        let expected = format_args!("a number from 1 to {MAX_SAMPLES}");
        Error::refuse_if(!is_possible, "samples", expected, samples)?;
        let grid = TileGrid::new(size[0], size[1]);
        let of_tile = |found: &mut Vec<SurfaceFragment>, index| {
            let corner = [index % grid.columns, index / grid.columns];
            let ranges = [0, 1].map(|axis| {
                let first: u32 = fit(corner[axis] * TILE_PX);
                first..(first + fit::<u32>(TILE_PX)).min(size[axis])
            });
            found.clear();
            fragments(ranges.clone(), found);
            found.retain(|f| {
                (0..2).all(|axis| ranges[axis].contains(&f.pixel[axis])) && f.sample < samples
            });
            TileSteps::new(samples, found)
        };
        let tiles = (0..grid.len()).into_par_iter().map_init(Vec::new, of_tile).collect();
        Ok(Self { size, grid, tiles })
    }

    /// Checks that the surfaces can be drawn in the view of a camera.
    pub(super) fn check(&self, camera: &Camera, layers: &LayerSettings) -> Result<()> {
        let size = [camera.width, camera.height];
        let [expected, found] = [self.size, size].map(|[w, h]| format!("{w}x{h} pixels"));
        Error::refuse_if(self.size != size, "camera", expected, found)?;
        let (expected, found) = ("a pinhole or orthographic camera", "another projection");
        Error::refuse_if(!camera.projection.is_planar(), "camera", expected, found)?;
        let expected = "depths along the line of sight with surfaces";
        Error::refuse_if(layers.is_distance, "layers", expected, "distances")
    }

    /// Steps of the tile with this index in a band of the picture; `None` for a tile without surfaces.
    pub(super) fn tile(&self, index: usize, band: TileGrid) -> Option<&TileSteps> {
        let tile = &self.tiles[band.first_row * self.grid.columns + index];
        (!tile.steps.is_empty()).then_some(tile)
    }

    /// Steps of a pixel, front to back.
    pub(super) fn pixel(&self, [x, y]: [usize; 2]) -> &[SurfaceStep] {
        self.tiles[y / TILE_PX * self.grid.columns + x / TILE_PX].pixel([x % TILE_PX, y % TILE_PX])
    }
}

impl TileSteps {
    fn new(samples: u32, fragments: &mut [SurfaceFragment]) -> Self {
        if fragments.is_empty() {
            return Self::default();
        }
        let place = |f: &SurfaceFragment| {
            f.pixel[1] as usize % TILE_PX * TILE_PX + f.pixel[0] as usize % TILE_PX
        };
        fragments.sort_by(|a, b| place(a).cmp(&place(b)).then(a.depth.total_cmp(&b.depth)));
        let (mut starts, mut steps) = (Vec::with_capacity(TILE_PX * TILE_PX + 1), Vec::new());
        for fragments in fragments.chunk_by(|a, b| place(a) == place(b)) {
            starts.resize(place(&fragments[0]) + 1, fit(steps.len()));
            let mut left = [1.0; MAX_SAMPLES];
            for fragment in fragments {
                let of_sample = &mut left[fragment.sample as usize];
                let taken = *of_sample * f64::from(fragment.opacity);
                if taken == 0.0 {
                    continue;
                }
                *of_sample -= taken;
                // A sum of all samples, so that it is exactly 0 once no sample has light left.
                let all: f64 = left[..samples as usize].iter().sum();
                steps.push(SurfaceStep {
                    depth: fragment.depth,
                    left: narrow(all / f64::from(samples)),
                    colour: fragment
                        .colour
                        .map(|c| narrow(f64::from(c) * taken / f64::from(samples))),
                });
            }
        }
        starts.resize(TILE_PX * TILE_PX + 1, fit(steps.len()));
        Self { starts, steps }
    }

    /// Steps of the pixel in this column and row of the tile.
    pub(super) fn pixel(&self, [x, y]: [usize; 2]) -> &[SurfaceStep] {
        match self.starts.get(y * TILE_PX + x..y * TILE_PX + x + 2) {
            Some(&[start, end]) => &self.steps[start as usize..end as usize],
            _ => &[],
        }
    }
}
