//! Quadrille.

mod buffer;
pub mod cli;
pub mod cpu;
pub mod error;
pub mod image;
pub mod math;
pub mod output;
pub mod preprocess;
pub mod scene;
pub mod shading;

pub use error::{Error, Fault, Result};
