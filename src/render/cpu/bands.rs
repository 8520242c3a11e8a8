//! Drawing in bands of tiles: only one band's lists are in memory, since the lists of ten million splats take 80 MB.

use super::RenderSettings;
use super::bin::TileGrid;
use super::clock::Clock;
use super::renderer::Renderer;
use quadrille_base::task::Task;

impl Renderer {
    /// Lists the projected splats of each tile of `grid` in drawing order, band by band, and calls `draw` with them.
    /// Returns the sum of the fragment counts that `draw` returns. Once the task is cancelled, other bands are skipped.
    pub(super) fn each_band(
        &mut self,
        grid: TileGrid,
        settings: &RenderSettings,
        clock: &mut Clock,
        task: &Task,
        mut draw: impl FnMut(&Self, TileGrid) -> u64,
    ) -> u64 {
        let level = settings.level;
        let mut fragments_blended = 0;
        for band in self.bins.count(level, grid, &self.projected) {
            if task.is_cancelled() {
                break;
            }
            self.bins.fill(level, grid, band, &self.projected);
            clock.lap(|times| &mut times.bin);
            self.bins.sort(level, task);
            clock.lap(|times| &mut times.sort);
            {
                quadrille_base::span!("raster");
                fragments_blended += draw(self, band);
            }
            clock.lap(|times| &mut times.raster);
        }
        fragments_blended
    }
}

#[cfg(test)]
#[path = "tests/bands.rs"]
mod tests;
