//! Input of commands and suites that draw meshes: a file or a procedural scene, as it is or tessellated, with its
//! views and its light.

mod exposure;
mod facts;
mod framing;
mod input;
mod look;
mod placed;
mod run;
mod settings;
mod views;

pub use facts::{MaterialFacts, MeshFacts};
pub use input::MeshInput;
pub use look::{LightChoice, Look, LookSettings};
pub use placed::{MeshPlacement, PlacedMeshes};
pub use run::{Frames, MeshRunSettings, PreparedMesh};
pub use settings::{AxisDirection, MeshSettings, ShaderEffect};
pub use views::up_of;
pub(crate) use views::{all_views, camera_text, following, nothing_in_view};
