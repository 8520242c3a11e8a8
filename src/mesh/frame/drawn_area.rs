//! Mean area of the triangles of a frame on the screen.

use rayon::prelude::*;

use super::settings::FrameSettings;
use crate::project::{Piece, ProjectedGrid, UNITS};
use quadrille_base::task::Task;
use quadrille_geometry::camera::MeshCamera;
use quadrille_geometry::grid::{GridSource, batch_runs};

/// Number and area of the drawn triangles. A triangle is drawn if it touches the picture and faces the viewer or has a
/// visible back side; it may be hidden behind others.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DrawnArea {
    /// Number of drawn triangles.
    pub triangles: u64,
    /// Twice the summed area, in squared units of 1/256 px.
    twice_area: u64,
}

impl DrawnArea {
    #[inline]
    pub(super) fn add(&mut self, piece: &Piece) {
        self.triangles += 1;
        self.twice_area += piece.twice_area();
    }

    #[must_use]
    pub(super) fn with(self, other: Self) -> Self {
        Self {
            triangles: self.triangles + other.triangles,
            twice_area: self.twice_area + other.twice_area,
        }
    }

    /// Mean area in pixels; `None` without triangles.
    pub fn mean_px(&self) -> Option<f64> {
        let area = self.twice_area as f64 / (2.0 * UNITS * UNITS);
        (self.triangles > 0).then(|| area / self.triangles as f64)
    }

    /// Measures the triangles that a frame would draw, without rasterizing them.
    pub fn measure(source: &dyn GridSource, view: &MeshCamera, settings: &FrameSettings) -> Self {
        let (picture, pattern) = (settings.shading_area(), settings.pattern);
        let of_run = |batches: std::ops::Range<usize>| {
            let mut drawn = Self::default();
            let mut projected = ProjectedGrid::default();
            for batch in batches {
                let _ = source.visit_grids(batch, view, &Task::NEVER, &mut |grid| {
                    let material = &source.materials()[grid.material as usize];
                    let draws_backs = settings.faces.draws_backs(material);
                    projected.project(view, &grid);
                    projected.pieces(
                        view,
                        &grid,
                        picture,
                        pattern,
                        draws_backs,
                        |piece, is_drawn| {
                            if is_drawn {
                                drawn.add(&piece);
                            }
                        },
                    );
                    std::ops::ControlFlow::Continue(())
                });
            }
            drawn
        };
        batch_runs(source).into_par_iter().map(of_run).reduce(Self::default, Self::with)
    }
}
