//! The splats in view of a scene that is projected batch by batch.

use super::project::Projected;
use super::projected::{PixelBounds, ProjectedSplat};

#[derive(Debug, Default)]
pub(crate) struct KeptSplats {
    splats: Vec<ProjectedSplat>,
    bounds: Vec<PixelBounds>,
    keys: Vec<u32>,
    splats_in_view: usize,
}

impl KeptSplats {
    /// Appends the visible splats of a batch that starts at splat `first` of the scene.
    pub(crate) fn append(&mut self, batch: &Projected, first: u32) {
        self.splats_in_view += batch.splats_in_view();
        for chunk in 0..batch.chunks() {
            let chunk = batch.chunk(chunk);
            let splats = &batch.slots()[chunk.first_slot as usize..][..chunk.keys.len()];
            self.splats.extend(
                splats.iter().map(|splat| ProjectedSplat { index: first + splat.index, ..*splat }),
            );
            self.bounds.extend_from_slice(chunk.bounds);
            self.keys.extend_from_slice(chunk.keys);
        }
    }

    pub(crate) fn bytes(&self) -> usize {
        size_of_val(&*self.splats) + size_of_val(&*self.bounds) + size_of_val(&*self.keys)
    }

    pub(crate) fn splats_in_view(&self) -> usize {
        self.splats_in_view
    }

    pub(crate) fn into_projected(self) -> Projected {
        Projected::of_packed(self.splats, self.bounds, self.keys)
    }
}
