//! The pixel shader of the mesh path: interpolation, textures, derivatives, light.
//!
//! Everything that a wrong choice of shading inputs can spoil is there to be seen: mip levels from
//! the derivatives of texture coordinates, normal maps in a frame made of derivatives, attributes
//! extrapolated beyond a triangle's edge.

mod derivatives;
pub(crate) mod interpolate;
mod lanes;
pub(crate) mod quad;
mod shader;
mod texture;
pub(crate) mod vertex;

#[cfg(test)]
mod testing;

pub use quad::Sampling;
pub use shader::{Albedo, ShadeSettings, Shader};
pub use texture::Textures;
