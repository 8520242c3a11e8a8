//! Readers of scenes and meshes: every layout that exporters write, and hostile files.
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "tests"
)]

mod camera_colmap;
mod camera_files;
mod camera_framing;
mod camera_paths;
mod camera_search;
mod camera_visibility;
mod camera_worlds;
mod conversion;
mod convert_actions;
mod corpus;
mod fuzz;
mod gltf_splats;
mod lcc;
mod mesh_cases;
mod mesh_files;
mod mesh_gltf;
mod mesh_gltf_draco;
mod mesh_gltf_extensions;
mod mesh_gltf_lights;
mod mesh_gltf_morphs;
mod mesh_gltf_nodes;
mod mesh_gltf_skins;
mod mesh_names;
mod mesh_obj;
mod mesh_ply;
mod mesh_torture;
mod mesh_trial;
mod outputs;
mod packed_hostile;
mod packed_seeds;
mod packed_values;
mod peers;
mod pictures;
mod ply_files;
mod ply_peer;
mod scene_files;
mod scene_folders;
mod scene_formats;
mod scene_headers;
mod scene_torture;
mod scene_values;
mod unused_columns;
mod usd_stages;

#[path = "../support/mod.rs"]
mod support;
