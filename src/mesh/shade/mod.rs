//! The pixel shader of the mesh path: interpolation, textures, derivatives, light.
//!
//! Everything that a wrong choice of shading inputs can spoil is there to be seen: mip levels from
//! the derivatives of texture coordinates, normal maps in a frame made of derivatives, attributes
//! extrapolated beyond a triangle's edge.

mod derivatives;
pub mod interpolate;
mod lanes;
pub mod quad;
mod shader;
pub mod texture;
pub mod vertex;

#[cfg(test)]
mod testing;

pub use shader::{Albedo, ShadeSettings, Shader};
