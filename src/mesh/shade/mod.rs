//! The pixel shader of the mesh path: interpolation, textures, derivatives, light.
//!
//! The shader includes every effect that wrong shading inputs can spoil: mip levels from the derivatives of texture
//! coordinates, normal maps in a tangent frame from derivatives, and attributes extrapolated beyond a triangle's edge.

mod alpha_test;
mod derivatives;
mod interpolate;
mod lanes;
mod light;
mod microfacet;
mod points;
mod quad;
mod shader;
mod texture;
mod vertex;

pub use alpha_test::AlphaTests;
pub use alpha_test::SurfaceAlpha;
pub use interpolate::{Barycentrics, TrianglePlanes};
pub use light::{Lighting, illuminance};
pub use quad::{QuadInputs, QuadPoints, Sampling, TriangleRef, sampling_point};
pub use shader::{Albedo, ShadeSettings, Shader};
pub use texture::{MipChain, TextureRole, Textures};
pub use vertex::VertexStep;
