//! Input of commands and suites that draw meshes: a file or a procedural scene, as it is or tessellated, with its
//! views and its light.

mod exposure;
mod framing;
mod input;
mod look;
mod settings;
mod views;

pub use input::MeshInput;
pub use look::{LightChoice, Look, LookSettings};
pub use settings::{Axis, MemorySize, MeshSettings, ShaderEffect};
pub(crate) use views::nothing_in_view;
pub use views::{all_views, camera_text, following, up_of, view_files, views_of_mesh};
