//! Choice of views of a scene by comparing small pictures of candidates.
//!
//! ```text
//! Splats -> upright: the direction that points up, from the largest level surface
//!        -> sample: a few thousand splats that draw the same small pictures
//!        -> candidates: cameras around the main content, and inside the scene
//!        -> score: a small picture of each; detail, coverage, blur
//!        -> search: the best candidates, moved until they no longer improve
//! ```
//!
//! Results depend only on the scene and the request, not on the number of threads.

mod candidates;
mod sample;
mod score;
mod search;
mod upright;

pub use search::{default_camera, framing, proposals, views};
