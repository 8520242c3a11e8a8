//! The shading grids of triangles while they are rasterized.

use std::collections::HashMap;

use super::grid::ShadingGrid;
use super::grid_view::GridView;
use crate::raster::triangle::MovingTriangle;

/// The shading grid of the triangle that is rasterized, and the grids with bands of earlier ones.
///
#[derive(Debug)]
pub(crate) struct GridCache {
    view: GridView,
    /// Primitive of the current grid; 0 before the first one.
    primitive: u32,
    current: ShadingGrid,
    /// Grids with bands. Large triangles come back in every block of pixels, and bands take long to make.
    banded: HashMap<u32, ShadingGrid>,
}

impl GridCache {
    pub(crate) fn new(view: GridView) -> Self {
        Self {
            view,
            primitive: 0,
            current: ShadingGrid::barycentric(),
            banded: HashMap::new(),
        }
    }

    /// The grid of a triangle, made at the first call for it.
    #[inline(always)]
    pub(crate) fn of(&mut self, triangle: &MovingTriangle) -> &ShadingGrid {
        if self.primitive != triangle.primitive {
            self.change_to(triangle);
        }
        &self.current
    }

    #[inline(never)]
    fn change_to(&mut self, triangle: &MovingTriangle) {
        self.primitive = triangle.primitive;
        if let Some(known) = self.banded.get(&triangle.primitive) {
            self.current = known.clone();
            return;
        }
        self.current = ShadingGrid::new(triangle, &self.view);
        if self.current.has_bands() {
            self.banded.insert(triangle.primitive, self.current.clone());
        }
    }
}
