//! The results of `render`: a table or documents.

use serde_json::{Value, json};

use crate::cli::console::{joined, print};
use crate::cli::frames::{Backend, FrameTimes, STAGES, StageMs, peak_rss_bytes};
use crate::cli::view_page::view_json;
use quadrille_base::error::Result;
use quadrille_base::math::SimdLevel;
use quadrille_scene::Camera;
use quadrille_suite::report::table::{LineTable, TextTable, or_dash, shortened};

pub(super) struct RenderCall {
    pub(super) scene: Value,
    pub(super) profile: &'static str,
    pub(super) backend: Backend,
    pub(super) threads: usize,
    pub(super) level: SimdLevel,
    pub(super) view_flags: Option<String>,
}

impl RenderCall {
    /// Describes a film as JSON; every backend draws it on several threads.
    pub(super) fn of_film(&self) -> Value {
        json!({
            "scene": self.scene,
            "profile": self.profile,
            "backend": self.backend,
            "threads": self.threads,
        })
    }

    pub(super) fn document(&self, rendered: &[Rendered], is_repeated: bool) -> Value {
        let is_reference = self.backend == Backend::Reference;
        let views = rendered.iter().map(|r| r.json(is_repeated));
        json!({
            "scene": self.scene,
            "profile": self.profile,
            "backend": self.backend,
            "threads": if is_reference { 1 } else { self.threads },
            "simd": if is_reference { "none" } else { self.level.name() },
            "peak_rss_bytes": peak_rss_bytes(),
            "view_flags": self.view_flags,
            "views": views.collect::<Vec<_>>(),
        })
    }
}

pub(super) struct Rendered {
    pub(super) camera: Camera,
    pub(super) output: Option<String>,
    pub(super) timed: Option<FrameTimes>,
}

impl Rendered {
    /// A drawn view whose picture has not been written.
    pub(super) fn new(camera: Camera, times: FrameTimes) -> Self {
        Self { camera, output: None, timed: Some(times) }
    }

    pub(super) fn json(&self, is_repeated: bool) -> Value {
        let timed = self.timed.as_ref();
        let facts = json!({
            "output": self.output,
            "kept": timed.is_none(),
            "splats_in_frustum": timed.map(|t| t.counts.splats_in_frustum),
            "fragments_blended": timed.map(|t| t.counts.fragments_blended),
            "frame_bytes": timed.map(|t| t.frame_bytes),
            "ms": timed.map(|t| t.median_ms.json()),
        });
        let mut view = joined([view_json(&self.camera), facts]);
        if is_repeated {
            view["ms_min"] = json!(timed.map(|t| t.least_ms.json()));
        }
        view
    }

    fn facts(&self) -> [String; 4] {
        let counts = self.timed.map(|timed| timed.counts);
        [
            shortened(&self.camera.name),
            format!("{}x{}", self.camera.width, self.camera.height),
            or_dash(counts, |c| c.splats_in_frustum.to_string()),
            or_dash(counts, |c| format!("{:.2}M", c.fragments_blended as f64 / 1e6)),
        ]
    }

    pub(super) fn cells(&self) -> impl Iterator<Item = String> {
        let output = self.output.clone().unwrap_or_default();
        let end = match self.timed {
            Some(_) => output,
            None => format!("{output} (kept)"),
        };
        self.facts().into_iter().chain(times(self.timed.map(|t| t.median_ms), end))
    }
}

fn times(ms: Option<StageMs>, end: String) -> impl Iterator<Item = String> {
    let all = ms.map_or([None; 4], |ms| ms.stages).into_iter().chain([ms.map(|ms| ms.total)]);
    all.map(|ms| or_dash(ms, |ms| format!("{ms:.2}"))).chain([end])
}

fn headings() -> Vec<&'static str> {
    let facts = ["<view", "pixels", "splats", "fragments"];
    [&facts[..], &STAGES, &["total ms", "<output"]].concat()
}

pub(super) fn begin_lines(cameras: &[Camera], splats: usize) -> Result<LineTable> {
    /// Characters of a time or count: up to 99999.99.
    const NUMBER: usize = 8;
    let widest = |text: fn(&Camera) -> String| {
        cameras.iter().map(|camera| text(camera).chars().count()).max().unwrap_or_default()
    };
    let name = widest(|camera| shortened(&camera.name));
    let pixels = widest(|camera| format!("{}x{}", camera.width, camera.height));
    let given = [name, pixels, splats.to_string().len()];
    let widths = given.into_iter().chain(std::iter::repeat(NUMBER));
    let columns: Vec<_> = headings().into_iter().zip(widths).collect();
    let (table, line) = LineTable::new(&columns);
    print(line)?;
    Ok(table)
}

pub(super) fn table(rendered: &[Rendered], repeat: Option<u32>) -> String {
    let mut table = TextTable::new(&headings());
    for r in rendered {
        let Some((repeat, timed)) = repeat.zip(r.timed) else {
            table.row(r.cells());
            continue;
        };
        let median = times(Some(timed.median_ms), format!("(median of {repeat})"));
        table.row(r.facts().into_iter().chain(median));
        let least = times(Some(timed.least_ms), "(minimum)".to_owned());
        table.row([const { String::new() }; 4].into_iter().chain(least));
    }
    table.to_string()
}
