use std::collections::HashMap;

use super::grid::ShadingGrid;
use super::grid_view::GridView;
use crate::raster::triangle::MovingTriangle;

/// Shading grid of the current triangle, and the grids of earlier triangles that have bands.
#[derive(Debug)]
pub(crate) struct GridCache {
    view: GridView,
    /// Primitive id of `current`; 0 before the first triangle.
    primitive: u32,
    current: ShadingGrid,
    /// Grids with bands by primitive id: large triangles recur in every block of pixels, and bands take long to compute.
    banded: HashMap<u32, ShadingGrid>,
}

impl GridCache {
    pub(crate) fn new(view: GridView) -> Self {
        Self { view, primitive: 0, current: ShadingGrid::barycentric(), banded: HashMap::new() }
    }

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::camera::lens::Lens;
    use crate::shading::grid_view::GridRule;

    #[test]
    fn triangles_that_come_back_have_their_own_grids() {
        let lens = Lens::from_blur_at_infinity(40.0, 300.0, 4.0).unwrap();
        let view = GridView {
            rule: GridRule::Adaptive { quality: 0.5 },
            shear: lens.shear([300.0; 2]),
            near: 0.25,
            centre: [160.0, 90.5],
            reach_px: 480.0,
        };
        let places = [[-100.0, -60.0], [120.0, -50.0], [10.0, 80.0]];
        // Two large triangles through focus, which are cut into bands, and a distant one, which is not.
        let triangles =
            [[2.0, 3.0, 20.0], [20.0, 3.0, 2.0], [30.0; 3]].map(|distances: [f64; 3]| {
                let corners = [0, 1, 2].map(|i: usize| {
                    let ([x, y], z) = (places[i], distances[i]);
                    [[x * z, y * z, z]; 2]
                });
                MovingTriangle::unculled(corners, 1)
            });
        let numbered = (1..)
            .zip(triangles)
            .map(|(primitive, triangle)| MovingTriangle { primitive, ..triangle });
        let triangles: Vec<_> = numbered.collect();
        let mut cache = GridCache::new(view);
        for at in [0, 1, 2, 0, 0, 2, 1] {
            let expected = ShadingGrid::new(&triangles[at], &view);
            assert_eq!(expected.has_bands(), at < 2, "{at}");
            assert_eq!(*cache.of(&triangles[at]), expected, "{at}");
        }
        assert_eq!(cache.banded.len(), 2);
    }
}
