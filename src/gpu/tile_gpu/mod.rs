//! A tile-based GPU, as in phones: primitives are binned into lists in memory, and each tile is drawn in memory on the chip.
//!
//! ```text
//! splats in drawing order
//!   -> geometry: vertex shading with results in memory, primitive assembly
//!   -> coalesce: binning, lists of the primitives of each tile in memory
//!   -> tile by tile: setup, coarse, Hi-Z, fine, tile coalescing, tests, [quad reordering], warp packing, launch, cores
//!   -> tile_buffer: blend on the chip, [termination bit, back to the tests], one write of the tile
//! ```
//!
//! All units but the binning unit and the tile buffer are those of the pipeline. Stencil values also lie on the chip, for
//! as long as the tile, so that tests fetch and write nothing. Tiles take the place of tile-grid coalescing: their quads
//! reach a few tile bins together, and quad merging needs quad reordering only.

pub mod tile_buffer;
pub mod tiles_in_work;

use crate::config::Config;
use crate::draw_state::DrawState;
use crate::geometry::vertex_buffer::VertexBuffer;
use crate::variant::Variant;
use crate::zrop::framebuffer::FramebufferLines;
use quadrille_base::choice;
use quadrille_base::math::fit;
use quadrille_machine::{LINE_BYTES, Memory, lines_of};
use tiles_in_work::TilesInWork;

choice! {
    /// Method of drawing splats on a tile-based GPU.
    pub enum TileMethod {
        /// Blending in the tile buffer.
        Plain = "tile-gpu",
        /// Also terminating pixels, by bits in the tile's stencil values.
        Het = "tile-gpu+het",
        /// Also merging quads.
        Qm = "tile-gpu+qm",
        /// Terminating pixels and merging quads.
        HetQm = "tile-gpu+het+qm",
        /// Blending in the fragment shader, which reads and writes the tile buffer in the order of each pixel.
        FramebufferFetch = "framebuffer-fetch",
    }
}

impl TileMethod {
    /// Additions to the pipeline.
    pub fn variant(self) -> Variant {
        match self {
            Self::Plain | Self::FramebufferFetch => Variant::BASELINE,
            Self::Het => Variant::HET,
            Self::Qm => Variant::QRU,
            Self::HetQm => Variant::HET_QRU,
        }
    }
}

/// Places the parameter buffer behind the framebuffer of a draw: the results of vertex shading, splat by splat, and behind
/// them the lists, whose address is returned. Prepares the tiles on the chip; `het` adds early termination.
pub(crate) fn place_in_memory(state: &mut DrawState<'_>, config: &Config, het: bool) -> u64 {
    let framebuffer = FramebufferLines::of(&state.framebuffer).tests.end;
    let buffer = VertexBuffer::new(config.vertex.entry(), None, state.draw.len());
    let buffer = buffer.in_memory(u64::from(framebuffer) * LINE_BYTES);
    let lists: u32 = framebuffer + lines_of(u64::from(state.draw.len()) * buffer.entry_bytes());
    let end = lists + fit::<u32>(config.binning.parameter_bytes.div_ceil(LINE_BYTES));
    state.memory = Memory::new(&config.l2, &config.dram, config.gpu.clock_mhz, end);
    state.vertex_buffer = buffer;
    let (layout, format) = (state.framebuffer.layout, state.framebuffer.format);
    state.tiles = TilesInWork::new(config.tile_buffer.buffers, layout, format, het);
    u64::from(lists) * LINE_BYTES
}
