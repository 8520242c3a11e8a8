//! Size and quality of frames while the camera moves, from a model of their cost.
//!
//! A frame costs the time of its renderer and encoder, or the time of its bytes on the link, whichever is longer. Both
//! follow from averages per pixel, and from the stages of the renderer that do not depend on the number of pixels. Sizes
//! are fixed steps, and grow between gestures alone, so that a picture does not flicker between two of them.

use std::time::Duration;

use super::message::Chosen;

/// Weight of a new measurement in an average.
const NEW_SHARE: f64 = 0.3;
/// Frame time above which a frame counts as slow.
const SLOW: Duration = Duration::from_millis(50);
/// Predicted time of a frame below which a larger step is taken.
const FAST: Duration = Duration::from_millis(35);
/// Consecutive slow frames after which the size falls.
const PATIENCE: u32 = 2;
/// Bytes at JPEG quality 50 relative to quality 70, measured on pictures of trained scenes.
const BYTES_OF_LOW_QUALITY: f64 = 0.75;
const LEAST_SIDE_PX: u32 = 16;
/// Pixels of the largest frame unless the page chooses a scale, a little more than 1920 x 1080 (assumed). Stills may be
/// larger: they are drawn once.
const MAX_FRAME_PIXELS: u64 = 2_100_000;
/// Largest scale of the frames of windows above [`MAX_FRAME_PIXELS`]. Screens with such windows have small pixels, and half the
/// sides are less than half the pixels of three quarters of the sides.
const LARGE_WINDOW_SCALE: f64 = 0.5;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Step {
    /// Factor of width and height.
    pub(crate) scale: f64,
    pub(crate) quality: u8,
}

/// Steps in order, best first.
const STEPS: [Step; 6] = [
    Step { scale: 1.0, quality: 70 },
    Step { scale: 0.75, quality: 70 },
    Step { scale: 0.5, quality: 70 },
    Step { scale: 0.375, quality: 70 },
    Step { scale: 0.25, quality: 70 },
    Step { scale: 0.25, quality: 50 },
];
/// Least scale of frames for a slow renderer, as a factor of the window's first scale: half of a frame's time does not depend
/// on its pixels.
const LEAST_FOR_RENDERING: f64 = 0.5;

impl Step {
    pub(crate) fn size(&self, window: [u32; 2]) -> [u32; 2] {
        window.map(|side| {
            let scaled = (f64::from(side) * self.scale).round();
            let least = LEAST_SIDE_PX.min(side);
            quadrille_base::math::whole::<u32>(scaled).clamp(least, side.max(least))
        })
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Cost {
    pub(crate) pixels: u64,
    /// Time of preprocess, bin and sort, independent of the number of pixels.
    pub(crate) fixed: Duration,
    pub(crate) raster: Duration,
    pub(crate) encode: Duration,
    pub(crate) bytes: usize,
}

#[derive(Debug, Clone, Copy, Default)]
struct Average(Option<f64>);

impl Average {
    fn add(&mut self, value: f64) {
        self.0 = Some(self.0.map_or(value, |old| old + NEW_SHARE * (value - old)));
    }

    fn value(self) -> f64 {
        self.0.unwrap_or(0.0)
    }
}

#[derive(Debug, Default)]
pub(crate) struct Pace {
    step: usize,
    slow_frames: u32,
    fixed_s: Average,
    /// Seconds of raster and encoder per pixel.
    pixel_s: Average,
    /// Bytes per pixel at quality 70.
    pixel_bytes: Average,
    scale: Option<f64>,
    quality: Option<u8>,
}

impl Pace {
    pub(crate) fn choose(&mut self, scale: Chosen, quality: Chosen) {
        self.scale = match scale {
            Chosen::Auto => None,
            Chosen::Fixed(scale) => Some(scale.clamp(0.25, 1.0)),
        };
        self.quality = match quality {
            Chosen::Auto => None,
            Chosen::Fixed(quality) => Some(quadrille_base::math::whole(quality.clamp(1.0, 100.0))),
        };
    }

    /// Best step of a window.
    fn first(window: [u32; 2]) -> usize {
        let fits = |step: &Step| {
            step.size(window).map(u64::from).iter().product::<u64>() <= MAX_FRAME_PIXELS
        };
        let is_large = !fits(&STEPS[0]);
        let suits = |step: &Step| fits(step) && (!is_large || step.scale <= LARGE_WINDOW_SCALE);
        STEPS.iter().position(suits).unwrap_or(STEPS.len() - 1)
    }

    /// Worst step that a slow renderer of a window is given.
    fn last_for_rendering(window: [u32; 2]) -> usize {
        let first = Self::first(window);
        let Step { scale, quality } = STEPS[first];
        let is_used =
            |step: &Step| step.quality == quality && step.scale >= LEAST_FOR_RENDERING * scale;
        STEPS.iter().rposition(is_used).unwrap_or(first)
    }

    /// Size and quality of the next frame in a window.
    pub(crate) fn step(&self, window: [u32; 2]) -> Step {
        let auto = STEPS[self.step.max(Self::first(window))];
        Step {
            scale: self.scale.unwrap_or(auto.scale),
            quality: self.quality.unwrap_or(auto.quality),
        }
    }

    /// Takes the cost of a frame of the current step, and the link's bytes per second, if known.
    pub(crate) fn measured(&mut self, cost: &Cost, window: [u32; 2], rate: Option<f64>) {
        let pixels = (cost.pixels as f64).max(1.0);
        self.fixed_s.add(cost.fixed.as_secs_f64());
        self.pixel_s.add((cost.raster + cost.encode).as_secs_f64() / pixels);
        let quality_factor = match self.step(window).quality {
            quality if quality <= 50 => BYTES_OF_LOW_QUALITY,
            _ => 1.0,
        };
        self.pixel_bytes.add(cost.bytes as f64 / pixels / quality_factor);
        let rendering = (cost.fixed + cost.raster + cost.encode).as_secs_f64();
        let sending = rate.map_or(0.0, |rate| cost.bytes as f64 / rate);
        let slow = SLOW.as_secs_f64();
        self.slow_frames = if rendering.max(sending) > slow { self.slow_frames + 1 } else { 0 };
        if self.slow_frames < PATIENCE {
            return;
        }
        self.slow_frames = 0;
        let last = if sending > slow { STEPS.len() - 1 } else { Self::last_for_rendering(window) };
        let lower = self.step.max(Self::first(window)) + 1..=last;
        let fitting = lower.clone().find(|&step| self.predicted(step, window, rate) <= slow);
        self.step = fitting.or(lower.last()).unwrap_or(self.step);
    }

    /// At the end of a gesture, chooses the best step whose frames are fast.
    pub(crate) fn gesture_ended(&mut self, window: [u32; 2], rate: Option<f64>) {
        self.slow_frames = 0;
        let fast = FAST.as_secs_f64();
        let mut better = 0..self.step;
        if let Some(step) = better.find(|&step| self.predicted(step, window, rate) < fast) {
            self.step = step;
        }
    }

    fn predicted(&self, step: usize, window: [u32; 2], rate: Option<f64>) -> f64 {
        let step = STEPS[step];
        let [width, height] = step.size(window).map(f64::from);
        let pixels = width * height;
        let rendering = self.fixed_s.value() + self.pixel_s.value() * pixels;
        let factor = if step.quality <= 50 { BYTES_OF_LOW_QUALITY } else { 1.0 };
        let bytes = self.pixel_bytes.value() * pixels * factor;
        rendering.max(rate.map_or(0.0, |rate| bytes / rate))
    }
}

/// Weight of the past in a link's rate, per confirmation.
const PAST_SHARE: f64 = 0.8;
/// Least time of a confirmation; clocks and threads are not finer.
const LEAST_TIME: Duration = Duration::from_micros(200);
/// Range of unconfirmed bytes: the least takes 100 ms on a slow link; megabytes in buffers would delay a new camera.
const WINDOW_BYTES: [f64; 2] = [65_536.0, 1_048_576.0];
/// Bytes in flight relative to the bytes of a round trip; above one, so that the estimate can grow.
const WINDOW_FACTOR: f64 = 1.5;

#[derive(Debug, Default)]
pub(crate) struct Link {
    /// Shortest recent round trip.
    round_trip: Option<Duration>,
    last_confirmed: Duration,
    bytes: f64,
    seconds: f64,
}

impl Link {
    pub(crate) fn round_trip(&mut self, measured: Duration) {
        // A route may get slower: an old minimum grows by a tenth per measurement.
        let old = self.round_trip.map(|old| old.mul_f64(1.1));
        self.round_trip = Some(old.map_or(measured, |old| old.min(measured)));
    }

    pub(crate) fn confirmed(&mut self, bytes: usize, sent: Duration, now: Duration) {
        let arrived = sent + self.round_trip.unwrap_or_default();
        let time = now.saturating_sub(arrived.max(self.last_confirmed)).max(LEAST_TIME);
        self.last_confirmed = now;
        self.bytes = PAST_SHARE * self.bytes + bytes as f64;
        self.seconds = PAST_SHARE * self.seconds + time.as_secs_f64();
    }

    pub(crate) fn rate(&self) -> Option<f64> {
        (self.seconds > 0.0).then(|| self.bytes / self.seconds)
    }

    pub(crate) fn window_bytes(&self) -> u64 {
        let trip = self.round_trip.unwrap_or_default().as_secs_f64();
        let carried = WINDOW_FACTOR * self.rate().unwrap_or(0.0) * trip;
        quadrille_base::math::whole(carried.clamp(WINDOW_BYTES[0], WINDOW_BYTES[1]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WINDOW: [u32; 2] = [980, 545];

    /// Cost of a frame with a fixed time and times and bytes per full picture.
    fn cost(step: Step, fixed_ms: f64, full_ms: f64, full_bytes: f64) -> Cost {
        let [width, height] = step.size(WINDOW);
        let share = f64::from(width * height) / f64::from(WINDOW[0] * WINDOW[1]);
        let quality = if step.quality <= 50 { BYTES_OF_LOW_QUALITY } else { 1.0 };
        Cost {
            pixels: u64::from(width * height),
            fixed: Duration::from_secs_f64(fixed_ms / 1e3),
            raster: Duration::from_secs_f64(full_ms * share / 1e3),
            encode: Duration::ZERO,
            bytes: quadrille_base::math::whole(full_bytes * share * quality),
        }
    }

    /// Scales and qualities of frames in succession.
    fn steps(pace: &mut Pace, count: usize, costs: [f64; 3], rate: Option<f64>) -> Vec<(f64, u8)> {
        (0..count)
            .map(|_| {
                let step = pace.step(WINDOW);
                pace.measured(&cost(step, costs[0], costs[1], costs[2]), WINDOW, rate);
                (step.scale, step.quality)
            })
            .collect()
    }

    #[test]
    fn fast_frames_stay_at_full_size() {
        let mut pace = Pace::default();
        let all = steps(&mut pace, 50, [14.0, 18.0, 75e3], Some(5e6));
        assert!(all.iter().all(|step| *step == (1.0, 70)), "{all:?}");
    }

    #[test]
    fn slow_rendering_halves_the_sides_at_most() {
        let mut pace = Pace::default();
        let all = steps(&mut pace, 8, [100.0, 200.0, 75e3], None);
        assert_eq!(all[..2], [(1.0, 70); 2]);
        assert!(all[2..].iter().all(|step| *step == (0.5, 70)), "{all:?}");
    }

    #[test]
    fn a_slow_link_goes_as_low_as_it_needs() {
        // 5 Mbit/s: 43 KB take 69 ms, three quarters of the sides 39 ms.
        let mut pace = Pace::default();
        let all = steps(&mut pace, 6, [8.0, 4.0, 43e3], Some(625e3));
        assert_eq!(all[5], (0.75, 70));
        // 0.5 Mbit/s: even the last step is slow, and stays.
        let mut pace = Pace::default();
        let all = steps(&mut pace, 12, [8.0, 4.0, 75e3], Some(62.5e3));
        assert_eq!(all[11], (0.25, 50));
    }

    #[test]
    fn one_slow_frame_changes_nothing_and_size_grows_between_gestures_alone() {
        let mut pace = Pace::default();
        steps(&mut pace, 1, [100.0, 100.0, 75e3], None);
        steps(&mut pace, 1, [5.0, 5.0, 75e3], None);
        steps(&mut pace, 1, [100.0, 100.0, 75e3], None);
        assert_eq!(pace.step(WINDOW), STEPS[0]);
        steps(&mut pace, 4, [100.0, 100.0, 75e3], None);
        assert_eq!(pace.step(WINDOW), STEPS[2]);
        steps(&mut pace, 40, [5.0, 10.0, 75e3], None);
        assert_eq!(pace.step(WINDOW), STEPS[2]);
        pace.gesture_ended(WINDOW, None);
        assert_eq!(pace.step(WINDOW), STEPS[0]);
        // Frames that are neither fast nor slow change nothing in either direction.
        steps(&mut pace, 4, [100.0, 100.0, 75e3], None);
        steps(&mut pace, 40, [10.0, 35.0, 75e3], None);
        pace.gesture_ended(WINDOW, None);
        let middle = pace.step(WINDOW);
        steps(&mut pace, 40, [10.0, 35.0, 75e3], None);
        pace.gesture_ended(WINDOW, None);
        assert_eq!(pace.step(WINDOW), middle);
    }

    #[test]
    fn the_page_can_choose() {
        let mut pace = Pace::default();
        pace.choose(Chosen::Fixed(0.5), Chosen::Fixed(90.0));
        assert_eq!(pace.step(WINDOW), Step { scale: 0.5, quality: 90 });
        pace.choose(Chosen::Auto, Chosen::Auto);
        assert_eq!(pace.step(WINDOW), STEPS[0]);
        assert_eq!(STEPS[4].size([20, 8192]), [16, 2048]);
    }

    #[test]
    fn frames_of_large_windows_are_smaller_than_their_stills() {
        let mut pace = Pace::default();
        for (window, scale) in [([1920, 1080], 1.0), ([2560, 1440], 0.5), ([3840, 2160], 0.5)] {
            assert_eq!(pace.step(window), Step { scale, quality: 70 });
        }
        pace.choose(Chosen::Fixed(1.0), Chosen::Auto);
        assert_eq!(pace.step([3840, 2160]), STEPS[0]);
    }

    /// A slow renderer halves the sides in large windows too.
    #[test]
    fn slow_frames_of_large_windows_shrink_as_well() {
        let window = [2560, 1440];
        let mut pace = Pace::default();
        for scale in [0.5, 0.5, 0.25, 0.25, 0.25, 0.25] {
            let step = pace.step(window);
            assert_eq!(step, Step { scale, quality: 70 });
            pace.measured(&cost(step, 100.0, 800.0, 75e3), window, None);
        }
        steps(&mut pace, 40, [1.0, 1.0, 75e3], None);
        pace.gesture_ended(window, None);
        assert_eq!(pace.step(window).scale, 0.5);
    }

    #[test]
    fn a_link_is_measured_without_its_latency() {
        let ms = Duration::from_millis;
        let mut link = Link::default();
        assert_eq!((link.rate(), link.window_bytes()), (None, 65_536));
        link.round_trip(ms(80));
        // 5 Mbit/s: 31,250 bytes take 50 ms; two are under way at a time.
        for n in 0..40 {
            link.confirmed(31_250, ms(50 * n), ms(50 * n + 130));
        }
        let rate = link.rate().expect("a rate");
        assert!((rate / 625e3 - 1.0).abs() < 0.05, "{rate}");
        assert_eq!(link.window_bytes(), 75_000);
        // A round trip that stays longer is believed after a while.
        for _ in 0..10 {
            link.round_trip(ms(160));
        }
        assert_eq!(link.round_trip, Some(ms(160)));
    }
}
