//! Quadrille.

pub mod cli;
pub mod error;
pub mod image;
pub mod output;
pub mod scene;
pub mod shading;

pub use error::{Error, Fault, Result};
