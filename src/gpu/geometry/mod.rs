//! Vertex shading, the buffer of its results, primitive assembly per GPC, and the crossbar to the rasterizers.

pub mod assembly;
pub mod crossbar;
pub mod distributor;
pub mod position_fetch;
pub mod splat_box;
pub mod vertex;
pub mod vertex_buffer;
