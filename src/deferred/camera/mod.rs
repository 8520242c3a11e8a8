//! The camera while its shutter is open: lens, motion of camera and draws, projection of vertices.

pub mod lens;
pub mod motion;
pub mod motion_file;
pub mod shutter;
