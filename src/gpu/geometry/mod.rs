//! Vertex shading, the buffer of its results, primitive assembly in each GPC, and the way of primitives
//! to the GPCs' rasterizers.

pub mod assembly;
pub mod crossbar;
pub mod distributor;
pub mod position_fetch;
pub mod splat_box;
pub mod vertex;
pub mod vertex_buffer;
