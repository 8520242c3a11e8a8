//! Adaptive tessellation without cracks, which the paper on quad-fragment merging uses (section 4): Fisher, Fatahalian,
//! Boulos, Akeley, Mark and Hanrahan 2009, "DiagSplit: Parallel, Crack-Free, Adaptive Tessellation for Micropolygon
//! Rendering".
//!
//! The division of an edge depends on that edge alone: it is measured on the screen in a direction on which both patches
//! agree. Sub-patches are split until their sides are evenly divided and they fit in a grid. The owner of a side evaluates
//! its vertices, so that adjacent grids agree to the last bit.

mod edge;
mod order;
mod split;
mod topology;

use std::ops::ControlFlow;

use super::camera::MeshCamera;
use super::grid::{Grid, GridSource};
use super::surface::Surface;
use crate::files::{Material, Texture};
pub use order::GridOrder;
use quadrille_base::{Error, Result, Task};
use split::Splitter;
pub use split::{MAX_EDGE_FACTOR, TessellateSettings};
use topology::Topologies;

/// Least and greatest target area of a triangle in pixels. The paper on quad-fragment merging uses 0.5 to 10.
pub const AREA_RANGE_PX: (f64, f64) = (0.1, 1000.0);

/// Tessellated surface, a source of grids with one patch per batch.
#[derive(Debug)]
pub struct Tessellated {
    surface: Surface,
    settings: TessellateSettings,
    topologies: Topologies,
}

impl Tessellated {
    /// Creates a source of the grids of `surface`.
    ///
    /// # Errors
    /// [`Error::Argument`] when a setting is out of range.
    pub fn new(surface: Surface, settings: TessellateSettings) -> Result<Self> {
        let area = settings.triangle_area_px;
        if !(AREA_RANGE_PX.0..=AREA_RANGE_PX.1).contains(&area) {
            let expected = format!("{} to {} pixels", AREA_RANGE_PX.0, AREA_RANGE_PX.1);
            return Err(Error::argument("triangle area", expected, area));
        }
        if !(2..=MAX_EDGE_FACTOR).contains(&settings.max_edge_factor) {
            let found = settings.max_edge_factor.to_string();
            return Err(Error::argument("segments of a grid's side", "2 to 64", found));
        }
        Ok(Self {
            surface,
            topologies: Topologies::new(settings.grid_order, settings.seed),
            settings,
        })
    }
}

impl GridSource for Tessellated {
    fn batches(&self) -> usize {
        self.surface.patches()
    }

    fn draw(&self, batch: usize) -> u32 {
        self.surface.draw(batch)
    }

    fn material(&self, batch: usize) -> u32 {
        self.surface.material(batch)
    }

    fn visit_grids(
        &self,
        batch: usize,
        view: &MeshCamera,
        task: &Task,
        visit: &mut dyn FnMut(Grid) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        if view.misses_box(self.surface.patch_bounds(batch)) {
            return ControlFlow::Continue(());
        }
        let splitter = Splitter {
            surface: &self.surface,
            patch: batch,
            view,
            settings: &self.settings,
            topologies: &self.topologies,
        };
        splitter.run(task, visit)
    }

    fn materials(&self) -> &[Material] {
        self.surface.materials()
    }

    fn textures(&self) -> &[Texture] {
        self.surface.textures()
    }

    fn origin(&self) -> [f64; 3] {
        self.surface.origin()
    }

    fn bounds(&self) -> [[f32; 3]; 2] {
        self.surface.bounds()
    }
}
