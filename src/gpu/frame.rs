//! Times of a whole frame: preprocess, sort and raster.
//!
//! The times are modelled, not measured: preprocess and sort are kernels of bytes and instructions (see
//! [`kernels`](super::compute::kernels)), and the raster is the emulated draw or raster kernel.

use quadrille_base::units::cycles_to_ms;
use serde::{Deserialize, Serialize};

use quadrille_machine::{Cycle, documented, spec};

spec! {
    /// Configuration of the sort before a draw through the graphics pipeline.
    FrameSpec in "frame" {
        /// Bytes of a visible splat's sort key; all bits are sorted.
        key_bytes: u64 = 4, 1..=8, Assumed "a depth in f32; VR-Pipe III-A sorts the splats by depth alone";
        /// Bytes of a visible splat's value, its index.
        value_bytes: u64 = 4, 0..=64, Assumed "32-bit indices";
    }
}

documented! {
    /// Modelled times of a frame.
    #[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
    pub struct FrameTimes {
        /// Time to cull, project and colour splats, in milliseconds.
        pub preprocess_ms: f64,
        /// Time of the sort in milliseconds; in software, with the kernels that list splats in tiles.
        pub sort_ms: f64,
        /// Time of the draw or of the raster kernel, in milliseconds.
        pub raster_ms: f64,
        /// Time of the frame in milliseconds: the sum of the parts.
        pub total_ms: f64,
        /// Frames per second; `None` for a frame without time.
        pub fps: Option<f64>,
        /// Share of the raster in the frame, 0 to 1; `None` for a frame without time.
        pub raster_share: Option<f64>,
    }
}

impl FrameTimes {
    /// Converts the cycles of preprocess, sort and raster at `clock_mhz` to times and shares.
    pub fn new(cycles: [Cycle; 3], clock_mhz: f64) -> Self {
        let ms = |cycles: Cycle| cycles_to_ms(cycles, clock_mhz);
        let [preprocess_ms, sort_ms, raster_ms] = cycles.map(ms);
        let total = cycles.iter().sum();
        let total_ms = ms(total);
        Self {
            preprocess_ms,
            sort_ms,
            raster_ms,
            total_ms,
            fps: (total > 0).then(|| 1e3 / total_ms),
            raster_share: (total > 0).then(|| raster_ms / total_ms),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 612,000 cycles at 612 MHz are a millisecond.
    #[test]
    fn times_follow_from_cycles_and_clock() {
        let frame = FrameTimes::new([612_000, 306_000, 2_448_000], 612.0);
        assert_eq!([frame.preprocess_ms, frame.sort_ms, frame.raster_ms], [1.0, 0.5, 4.0]);
        assert_eq!(frame.total_ms.to_bits(), 5.5_f64.to_bits());
        assert_eq!(frame.fps, Some(1e3 / 5.5));
        assert_eq!(frame.raster_share, Some(4.0 / 5.5));
        let empty = FrameTimes::new([0; 3], 612.0);
        assert_eq!((empty.fps, empty.raster_share), (None, None));
    }
}
