//! Quadrille renders trained 3D Gaussian-splatting scenes on a CPU, with the picture of the reference
//! renderer; emulates the graphics pipeline of a GPU that draws splats, functionally and in cycles; and
//! draws triangle meshes through the same kind of pipeline.
//!
//! # The pipeline
//!
//! ```text
//! file --load----------> Scene --+
//!                                +--preprocess--> projected splats, in drawing order
//! file --load_cameras--> Camera -+      |
//!                                       +--render----> Frame     (bin, sort, cover, blend)
//!                                       +--simulate--> Outcome
//!                                                      (unit by unit: picture, cycles, counters)
//! file --geometry::files::load--> Mesh --draw_mesh--> MeshResult
//!                                       (tessellate, rasterize and test samples, merge quads, shade)
//!
//! Frame --write_picture--> file         Frame, Frame --compare--> PSNR, SSIM, FLIP
//! ```
//!
//! # A quick tour
//!
//! ```
//! use quadrille::{Config, Protocol, Recipe, RenderSettings, Simulation, Synthetic, Variant};
//!
//! // A procedural scene takes the place of `quadrille::load("scene.ply")?.splats`.
//! let vase = Synthetic::new(Recipe::Object, 1, 1000, 0)?;
//! let splats = vase.splats();
//! let camera = vase.cameras()[0].resized(64, 36)?;
//!
//! let (frame, counts) = quadrille::render(&splats, &camera, &RenderSettings::default());
//! assert!(counts.fragments_blended > 0);
//!
//! let variants = [Variant::BASELINE, Variant::HET_QM];
//! let simulation = Simulation::new(Config::default(), variants);
//! let results = quadrille::simulate(&splats, &camera, &simulation)?;
//! assert!(results[1].fragments_blended() <= results[0].fragments_blended());
//!
//! // The emulated colour buffer holds 16-bit floats.
//! let difference = quadrille::compare(&frame, &results[0].frame(), Protocol::Float)?;
//! assert!(difference.psnr_db.is_none_or(|db| db > 40.0));
//! # Ok::<(), quadrille::Error>(())
//! ```
//!
//! # Extending the emulator
//!
//! Seven modules are public beside the items of the root, since custom machines are built from their
//! parts: [`machine`] is the kernel (stage contract, ports, queues, memory), [`raster`] is coverage without timing,
//! [`gpu`] holds the units of the emulated pipeline and their wiring, [`geometry`] meshes and curved surfaces,
//! [`mesh`] the mesh path, [`mesh_pipeline`] its units in cycles, and [`deferred`] stochastic rasterization with sort-based
//! deferred shading.
//! `examples/add_a_unit.rs` adds a stage and a flush policy from outside. [`suite`] runs many views in
//! many configurations, on one machine or several.
//!
//! # Terms
//!
//! `docs/glossary.md` defines the terms that names, docs, tables and JSON use.

// Lets the modules of the program use the same `quadrille::` paths as other users of the library.
#[cfg(feature = "cli")]
extern crate self as quadrille;

#[cfg(feature = "cli")]
pub mod cli;

pub use quadrille_deferred as deferred;
pub use quadrille_geometry as geometry;
pub use quadrille_gpu as gpu;
pub use quadrille_machine as machine;
pub use quadrille_machine::{chain, statistics};
pub use quadrille_mesh as mesh;
pub use quadrille_mesh_pipeline as mesh_pipeline;
pub use quadrille_suite as suite;

pub use quadrille_base::raster;
pub use quadrille_render::backward;
pub use quadrille_render::convert;
pub use quadrille_render::cpu::{channels, surfaces};

/// Version, commit and source hash of this build.
pub const PROGRAM: suite::Program = suite::Program {
    version: env!("CARGO_PKG_VERSION"),
    commit: env!("QUADRILLE_COMMIT"),
    sources: env!("QUADRILLE_SOURCES"),
};

/// Crate of the vector and matrix types in [`Camera`].
pub use nalgebra;

pub use quadrille_base::image::difference::{DIFFERENCE_SCALE, heat_picture, scaled_difference};
pub use quadrille_base::image::exposure::exposed;
pub use quadrille_base::image::files::{
    PictureFormat, decode as decode_picture, read as read_picture, write as write_picture,
    write_exr_layers, write_npy_layer, write_to as encode_picture,
};
pub use quadrille_base::image::metrics::{
    Comparison, LossPadding, LossPictures, LossTerms, Protocol, compare, compare_with_map,
};
pub use quadrille_base::image::{ColourSpace, Frame, Layer, LayerPicture, TopCount};
pub use quadrille_base::math::{SimdLevel, axes_of_covariances};
pub use quadrille_base::shading::{
    ColourFormat, DepthTest, JacobianClamp, OpacityFactor, Profile, SplatOrder, StencilOperation,
    StencilTest, StopRule,
};
pub use quadrille_base::{Error, Fault, Result, Task};
pub use quadrille_deferred::draw::{DeferredDrawSettings, draw_deferred};
pub use quadrille_geometry::files::load as load_mesh;
pub use quadrille_gpu::config::Config;
pub use quadrille_gpu::method::Method;
pub use quadrille_gpu::outcome::Outcome;
pub use quadrille_gpu::result::SimulationResult;
pub use quadrille_gpu::simulation::{Simulation, simulate};
pub use quadrille_gpu::variant::Variant;
pub use quadrille_mesh::draw::{MeshDrawSettings, draw_mesh};
pub use quadrille_render::cpu::reference::{
    render as render_reference, render_layers as render_reference_layers,
    render_surfaces as render_reference_surfaces,
};
pub use quadrille_render::cpu::{
    Counts, LayerSettings, PixelFragment, PixelProbe, RenderSettings, RenderTimes, Renderer, render,
};
pub use quadrille_render::preprocess::{
    PixelBounds, PreprocessTimes, Preprocessed, ProjectedSplat, SplatRows,
};
pub use quadrille_render::synth::{Order, Recipe, Synthetic};
pub use quadrille_render::viewpoint::default_camera;
pub use quadrille_render::{Distribution, SceneStatistics, Sight, Visibility};
pub use quadrille_scene::cameras::{
    CameraFile, CameraOptions, CameraTransform, Exposures, Flight, PictureScale, PictureSize,
    fitting_eye, fly as fly_cameras, fly_keys, load as load_cameras,
    load_bytes as load_cameras_bytes, load_views, load_with as load_cameras_with,
    orbit as orbit_cameras, select as select_views, write_inria_json,
};
pub use quadrille_scene::formats::ply::PlyWriter;
pub use quadrille_scene::{
    Camera, DistortedLens, DistortionModel, Dropped, FisheyeLens, Intrinsics, LoadOptions,
    MAX_SIDE_PX, OutputFormat, Projection, ReadoutDirection, RollingShutter, Scene, SceneEncoding,
    SceneFormat, SceneInput, Splat, SplatArrays, SplatAxes, SplatModel, SplatSlices, SplatTable,
    Splats, WriteOptions, load, load_table, write_table,
};
pub use quadrille_suite::report::config::toml as config_toml;
pub use quadrille_suite::report::json::SimulationDocument;
pub use quadrille_suite::report::maps::write as write_maps;
pub use quadrille_suite::report::screen::{pages as simulation_pages, simulation_page};
pub use quadrille_suite::report::simulated::{
    AgainstReference, SceneFacts, Simulated, VariantRun, ViewFacts,
};
pub use quadrille_suite::report::trace::write as write_trace;

/// Compiles the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
