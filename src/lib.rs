//! Quadrille renders trained 3D Gaussian-splatting scenes on a CPU, the same picture that the
//! reference renderer gives, as fast as the machine allows.
//!
//! # The pipeline
//!
//! ```text
//! file --scene::load--> Splats ---+
//!                                 +--preprocess--> ProjectedSplats
//! file --scene::cameras--> Camera +     |            (cull, project, colour, box)
//!                                       +--cpu--> Frame     (bin into tiles, sort, coverage, blend)
//!                                       +--gpu--> SimulationResult (sort, then unit by unit: picture,
//!                                                  |         cycles, counters)
//!                    report, image::files <--------+-------> image::metrics
//!                                                  |
//! file --scene::mesh--> Mesh --mesh--> MeshResult, Frame   (tessellate, raster and depth test on
//!                                       samples, merge quads, shade; without time or in cycles)
//! ```
//!
//! | module | what it holds |
//! |---|---|
//! | `math` | SIMD levels, lane functions, spherical harmonics |
//! | `image` | pictures: in memory, in files, measured against each other |
//! | `scene` | splats and the formats they come in, cameras, procedural scenes |
//! | `shading` | what a fragment does to a pixel: falloff, blend, stop rules, profiles |
//! | `preprocess` | from splats in the world to splats on the picture plane, in drawing order |
//! | `cpu` | the scalar reference renderer, which defines a frame, and the fast one |
//! | [`gpu`] | the emulated graphics pipeline, with VR-Pipe's additions |
//! | [`mesh`] | triangle meshes with multi-sampling: tessellation, units that merge quads, Reyes |
//! | `report` | results for people and programs: pages, JSON, maps, traces |
//! | `cli` | the command line |
//!
//!
//! # Example
//!
//! ```
//! use quadrille::cpu::{RenderSettings, Renderer};
//! use quadrille::synth::{Recipe, Synthetic};
//! use quadrille::scene::Splats;
//!
//! let recipe = Synthetic::new(Recipe::Object, 1, 1000, 0)?;
//! let splats = Splats::from_splats(0, (0..recipe.len()).map(|i| recipe.splat(i)));
//! let camera = recipe.cameras()[0].resized(64, 36)?;
//! let (frame, counts) = Renderer::default().render(&splats, &camera, &RenderSettings::default());
//! assert_eq!(frame.pixels().len(), 64 * 36);
//! assert!(counts.fragments_blended > 0);
//! # Ok::<(), quadrille::Error>(())
//! ```
//!
//! # Terms
//!
//! - **splat**: a 3D Gaussian with an opacity and a view-dependent colour.
//! - **footprint**: the pixels in which a splat's alpha reaches 1/255: an ellipse.
//! - **fragment**: a splat at a pixel of its footprint.
//! - **transmittance**: the share of what lies behind that still shows through a pixel.
//! - **profile**: the constants in which renderers of the same scene differ.
//! - **tile**: 32x32 pixels, what one thread draws at a time; **block**: 4x4 pixels, what one
//!   vector holds.
//!
//! And of the emulated GPU:
//!
//! - **quad**: a 2x2 block of pixels of one primitive, with a mask of those that it covers; its
//!   fragments are shaded and blended together.
//! - **raster tile**: 8x8 pixels, what the rasterizer takes at a time; **screen tile**: 16x16 pixels,
//!   what a bin gathers quads of; **tile grid**: 4x4 screen tiles, what a bin gathers primitives of.
//! - **flush**: the contents of a bin on their way out; **beat**: the quads of a flush that cross a
//!   port in one cycle.
//! - **warp**: up to eight quads of one screen tile that the shader cores run together.
//! - **ROP**: raster operation unit: PROP keeps the order, ZROP tests, CROP blends.
//! - **GPC**: a graphics processing cluster: one of each unit from coalescing to CROP.
//! - **termination**: a pixel whose accumulated alpha has reached a threshold takes no more.
//!
//! And of the mesh path:
//!
//! - **sample**: a place in a pixel at which coverage and depth are known; **coverage**: the samples
//!   of a quad that a triangle covers.
//! - **cell**: what is shaded once: a pixel or, with coarse shading, 2x2 pixels.
//! - **grid**: up to 512 connected triangles that a patch is tessellated into.
//! - **quad-fragment merging** (QFM): quads of triangles that share an edge become one before they are
//!   shaded; **pixel merge unit** (PMU): the same pixel by pixel.
//! - **Reyes**: grid vertices are shaded, before the raster.

#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod cli;
mod cpu;
mod error;
pub mod gpu;
mod image;
mod math;
pub mod mesh;
mod output;
pub mod pipeline;
mod preprocess;
pub mod raster;
mod report;
mod scene;
mod shading;
#[cfg(feature = "cli")]
mod suite;
mod synth;

/// Vectors and matrices, as [`Camera`] holds them.
pub use nalgebra;

pub use cpu::reference::render as render_reference;
pub use cpu::{Counts, RenderSettings, RenderTimes, Renderer, render};
pub use error::{Error, Fault, Result};
pub use gpu::config::Config;
pub use gpu::result::SimulationResult;
pub use gpu::variant::Variant;
pub use gpu::view::simulate;
pub use image::Frame;
pub use image::difference::{SHOWN_SCALE, heat_picture, scaled_difference};
pub use image::files::{
    PictureFormat, decode as decode_picture, read as read_picture, write as write_picture,
    write_to as encode_picture,
};
pub use image::metrics::{Comparison, Protocol, compare, compare_with_map};
pub use math::SimdLevel;
pub use mesh::draw::{MeshDrawSettings, draw_mesh};
pub use mesh::files::load as load_mesh;
pub use preprocess::{PixelBounds, PreprocessTimes, Preprocessed, ProjectedSplat};
pub use report::config::toml as config_toml;
pub use report::json::Document as SimulationDocument;
pub use report::maps::write as write_maps;
pub use report::screen::{pages as simulation_pages, simulation_page};
pub use report::simulated::{AgainstReference, SceneFacts, Simulated, VariantRun, ViewFacts};
pub use report::trace::write as write_trace;
pub use scene::cameras::{
    CameraFile, CameraOptions, PictureSize, default_camera, fitting_eye, load as load_cameras,
    load_views, load_with as load_cameras_with, orbit as orbit_cameras, select as select_views,
    write_inria_json,
};
pub use scene::formats::ply::PlyWriter;
pub use scene::{
    Camera, Distribution, Dropped, Intrinsics, MAX_SIDE_PX, Scene, SceneFormat, SceneStatistics,
    Splat, Splats, Visibility, load, load_bytes,
};
pub use shading::{
    ColourFormat, DepthTest, JacobianClamp, OpacityFactor, Profile, StencilOperation, StencilTest,
    StopRule,
};
pub use synth::{Order, Recipe, Synthetic};

/// What the project's own tests and benches probe; not part of the interface, and changed without
/// notice.
#[doc(hidden)]
pub mod internals {
    pub use crate::image::{from_8_bit, to_8_bit};
    pub use crate::math::SH_C0;
    pub use crate::math::lanes::exp2;
    pub use crate::preprocess::exact::ExactSplat;
    pub use crate::preprocess::{LOG2_ALPHA_CUT, ViewTransform, cut_radius_squared};
    pub use crate::scene::formats::ply::Header as PlyHeader;
    pub use crate::scene::{Visibility, rest_coefficients};
    pub use crate::shading::{Comparison, QuadColour, fragment_alpha, under};
}
