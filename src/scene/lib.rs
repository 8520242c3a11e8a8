//! Scenes of splats: arrays in memory, readers and writers of scene files, and cameras.

mod activate;
pub mod activation;
mod assemble;
pub mod bytes;
mod camera;
pub mod cameras;
mod chunk_order;
mod column_names;
mod directions;
mod encoding;
mod flip;
pub mod formats;
pub mod morton;
mod origin;
mod quaternion;
mod raw_columns;
mod raw_values;
mod scene_file;
mod slices;
mod splats;
pub mod table;
pub mod transform;

pub use camera::{Camera, Intrinsics, MAX_SIDE_PX};
pub use encoding::{LoadOptions, SceneEncoding, SplatAxes, SplatModel};
pub use formats::{
    OutputFormat, SceneInput, WriteOptions, load, load_table, write_levels_if, write_table,
};
pub use quadrille_base::lens::{
    DistortedLens, DistortionModel, FisheyeLens, Projection, ReadoutDirection, RollingShutter,
};
pub use quadrille_base::scalar::Scalar;
pub use scene_file::{Dropped, Scene, SceneFormat};
pub use slices::{SplatArrays, SplatSlices};
pub use splats::{BLOCK, Lanes, MAX_SPLATS, SplatBlock};
pub use splats::{Splat, Splats, rest_coefficients};
pub use table::SplatTable;
