//! Frames of `sim` in sequence: warm caches, stereo pairs, and their sums.

use serde::Serialize;
use serde_json::{Map, Value, json};

use quadrille_base::error::{Error, Result};
use quadrille_base::parse::positive;
use quadrille_gpu::frame_sequence::FrameSequence;
use quadrille_gpu::method::Method;
use quadrille_machine::Traffic;
use quadrille_scene::Camera;
use quadrille_suite::report::simulated::{Simulated, VariantRun};
use quadrille_suite::report::table::{TextTable, or_dash};

/// Suffixes of the views of a stereo pair, and their sides along the camera's x axis.
const EYES: [(&str, f64); 2] = [("left", -0.5), ("right", 0.5)];

/// Flags for views that form frames.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(super) struct SequenceFlags {
    /// Draw the views as frames of one run. In the graphics pipeline, the L2 also caches the reads of vertex shading, and begins each frame with
    /// the content from the end of the previous frame, without dirty lines. Between frames, dirty colours
    /// are written back and stencil and depth values are cleared, in no time; all other caches begin empty. The
    /// accelerator keeps the order of its splats with `--set gscore.order=kept`
    #[arg(long)]
    pub(super) warm: bool,
    /// Draw each view twice, from points half this distance to the left and to the right of the camera
    /// along its x axis, in units of the scene; a frame consists of both draws
    #[arg(long, value_name = "METRES", value_parser = positive)]
    stereo: Option<f64>,
}

impl SequenceFlags {
    pub(super) fn check(self, methods: &[Method]) -> Result<()> {
        match methods.iter().find(|method| !method.keeps_frames()) {
            Some(other) if self.warm => {
                let other =
                    format!("--method {}, which keeps nothing between frames", other.name());
                Err(Error::conflict("--warm", other))
            }
            _ => Ok(()),
        }
    }

    pub(super) fn draws(self, views: Vec<Camera>) -> Vec<Camera> {
        let Some(distance) = self.stereo else { return views };
        let eyes = |view: &Camera| {
            EYES.map(|(name, side)| {
                let mut eye = view.clone();
                eye.name = format!("{}.{name}", view.name);
                // In view space, points move opposite to the eye.
                eye.translation_in_view.x -= side * distance;
                eye
            })
        };
        views.iter().flat_map(eyes).collect()
    }

    pub(super) fn draws_per_frame(self) -> usize {
        self.stereo.map_or(1, |_| EYES.len())
    }

    pub(super) fn is_sequence(self) -> bool {
        self.warm || self.stereo.is_some()
    }
}

#[derive(Debug, Clone, Copy, Default, Serialize)]
struct Sums {
    cycles: u64,
    ms: f64,
    dram_read_bytes: Option<u64>,
    dram_written_bytes: Option<u64>,
    /// Bytes read and written; the accelerator states no others.
    dram_bytes: Option<u64>,
}

impl Sums {
    fn of(simulated: &Simulated<'_>, run: &VariantRun) -> Self {
        let cycles = run.outcome.cycles();
        let sum = |of: fn(&Traffic) -> u64| {
            Some(run.outcome.pipeline()?.traffic.clients().iter().map(|client| of(client)).sum())
        };
        let of_stages = || {
            let stages = &run.outcome.gscore()?.counts.stages;
            Some(stages.iter().map(|stage| stage.bytes).sum())
        };
        Self {
            cycles,
            ms: simulated.ms(cycles),
            dram_read_bytes: sum(|t| t.dram_read_bytes),
            dram_written_bytes: sum(|t| t.dram_written_bytes),
            dram_bytes: sum(|t| t.dram_read_bytes + t.dram_written_bytes).or_else(of_stages),
        }
    }

    fn add(self, other: Self) -> Self {
        let sum = |a: Option<u64>, b: Option<u64>| Some(a? + b?);
        Self {
            cycles: self.cycles + other.cycles,
            ms: self.ms + other.ms,
            dram_read_bytes: sum(self.dram_read_bytes, other.dram_read_bytes),
            dram_written_bytes: sum(self.dram_written_bytes, other.dram_written_bytes),
            dram_bytes: sum(self.dram_bytes, other.dram_bytes),
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct Sequence {
    pub(super) warm: FrameSequence,
    methods: Vec<String>,
    frames: Vec<(Vec<String>, Vec<Sums>)>,
    draws: usize,
}

impl Sequence {
    pub(super) fn push(&mut self, simulated: Simulated<'_>, draws_per_frame: usize) {
        let sums: Vec<_> = (simulated.runs.iter()).map(|run| Sums::of(&simulated, run)).collect();
        self.methods = simulated.runs.iter().map(VariantRun::name).collect();
        let name = simulated.view.name.clone();
        match self.frames.last_mut() {
            Some((names, frame)) if !self.draws.is_multiple_of(draws_per_frame) => {
                names.push(name);
                for (sum, draw) in frame.iter_mut().zip(sums) {
                    *sum = sum.add(draw);
                }
            }
            _ => self.frames.push((vec![name], sums)),
        }
        self.draws += 1;
        simulated.runs.into_iter().for_each(|run| self.warm.keep(run.outcome));
    }

    fn totals(&self) -> Vec<Sums> {
        let frames = self.frames.iter();
        let of_method = |method: usize| {
            frames.clone().map(move |(_, sums)| sums[method]).reduce(Sums::add).unwrap_or_default()
        };
        (0..self.methods.len()).map(of_method).collect()
    }

    pub(super) fn document(&self) -> Value {
        let by_method = |sums: &[Sums]| {
            let sums = self.methods.iter().cloned().zip(sums);
            Value::Object(Map::from_iter(sums.map(|(m, sums)| (m, json!(sums)))))
        };
        let frames = self.frames.iter();
        let frames =
            frames.map(|(names, sums)| json!({"views": names, "methods": by_method(sums)}));
        json!({"frames": frames.collect::<Vec<_>>(), "total": by_method(&self.totals())})
    }

    pub(super) fn table(&self) -> String {
        let headings = ["<frame", "<method", "cycles", "ms", "MB read", "MB written", "MB"];
        let mut table = TextTable::new(&headings);
        let mb = |bytes: Option<u64>| or_dash(bytes, |bytes| format!("{:.3}", bytes as f64 / 1e6));
        let mut rows = |name: &str, sums: &[Sums]| {
            for (method, sum) in self.methods.iter().zip(sums) {
                table.row([
                    name.to_owned(),
                    method.clone(),
                    sum.cycles.to_string(),
                    format!("{:.3}", sum.ms),
                    mb(sum.dram_read_bytes),
                    mb(sum.dram_written_bytes),
                    mb(sum.dram_bytes),
                ]);
            }
        };
        for (names, sums) in &self.frames {
            rows(&names.join(" + "), sums);
        }
        rows("total", &self.totals());
        table.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use quadrille_render::synth::{Recipe, Synthetic};

    /// The eyes are the stated distance apart, along the camera's x axis, around the camera.
    #[test]
    fn eyes_are_the_distance_apart() {
        let view = Synthetic::new(Recipe::Object, 1, 10, 0).unwrap().cameras()[0].clone();
        let flags = SequenceFlags { warm: false, stereo: Some(0.3) };
        let eyes = flags.draws(vec![view.clone()]);
        let position =
            |camera: &Camera| -camera.view_from_world.transpose() * camera.translation_in_view;
        let [left, right] = [0, 1].map(|eye: usize| position(&eyes[eye]));
        let x_axis = view.view_from_world.row(0).transpose();
        assert!((right - left - x_axis * 0.3).norm() < 1e-12);
        assert!(((left + right) / 2.0 - position(&view)).norm() < 1e-12);
        assert_eq!(eyes[0].view_from_world, view.view_from_world);
        assert_eq!(
            eyes.iter().map(|eye| &eye.name).collect::<Vec<_>>(),
            [&format!("{}.left", view.name), &format!("{}.right", view.name)]
        );
    }
}
