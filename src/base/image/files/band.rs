//! Bands of a picture that is written as it is drawn.

use std::io;

use crate::image::Frame;

/// Takes the next band of a picture, from the top.
pub(super) type PushBand<'a> = &'a mut dyn FnMut(&Frame) -> io::Result<()>;
