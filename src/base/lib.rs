//! The foundation of quadrille: errors, outputs, numbers, pictures, and the rules of shading and coverage
//! that all of its renderers and emulated machines share.
//!
//! | module | holds |
//! |---|---|
//! | [`bytes`], [`byte_reader`] | sizes in bytes, as users write them; checked reading of untrusted bytes |
//! | [`mod@choice`] | enums whose values have names |
//! | [`error`], [`output`] | typed errors by cause; files that are written whole or not at all |
//! | [`math`] | SIMD levels, lane functions, spherical harmonics, large arrays |
//! | [`image`] | pictures (premultiplied f32), their files, films, metrics, difference pictures |
//! | [`lens`] | projections of cameras |
//! | [`parse`], [`text_file`] | numbers in user input; files that users write |
//! | [`scalar`] | types of numbers in files |
//! | [`shading`] | falloff, blend, depth and stencil rules, profiles: pure functions, without timing |
//! | [`quantise`] | codebooks and palettes |
//! | [`trace`] | spans around the parts of a call, with the feature of that name |
//! | [`units`] | percentages and milliseconds of results |
//! | [`words`] | proposals for misspelt names |
//! | [`raster`] | coverage without timing: edge functions, polygons, strips of pixels, samples |

pub mod byte_reader;
pub mod bytes;
pub mod choice;
pub mod error;
pub mod image;
pub mod lens;
pub mod math;
pub mod output;
pub mod parse;
pub mod quantise;
pub mod raster;
pub mod scalar;
pub mod shading;
pub mod task;
pub mod text_file;
pub mod trace;
pub mod units;
pub mod words;

pub use bytes::Bytes;
pub use error::{Error, Fault, Result};
pub use task::Task;
