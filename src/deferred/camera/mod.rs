//! Camera with an open shutter: lens, motion of camera and draws, projection of vertices.

pub mod lens;
pub mod motion;
pub mod motion_file;
pub mod shutter;
