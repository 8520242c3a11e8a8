//! Bands of a picture that is written while it is drawn.

use std::io;

use crate::image::Frame;

pub(super) type PushBand<'a> = &'a mut dyn FnMut(&Frame) -> io::Result<()>;
