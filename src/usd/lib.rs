//! Gaussian splats in OpenUSD (`ParticleField3DGaussianSplat`): layers as text and binary, packages, and their composition.
//!
//! [`UsdStage::open`] reads a layer or a package with the layers that it refers to, [`UsdStage::splats`] finds the splats in it, and
//! [`write`](write()) makes a stage with one prim of splats. Schemas are those of OpenUSD 26.11.

mod bytes;
mod compression;
mod crate_reader;
mod crate_types;
mod crate_values;
mod fields;
mod layer;
mod package;
mod stage;
mod text_reader;
mod text_scanner;
mod transform;
mod write;

pub use fields::{SplatField, SplatScene};
pub use package::is_package;
pub use stage::UsdStage;
pub use write::{UsdEncoding, WrittenSplats, write};

/// First bytes of a binary layer.
pub const BINARY_MARK: &[u8] = b"PXR-USDC";

/// First bytes of a layer in text.
pub const TEXT_MARK: &[u8] = b"#usda";
