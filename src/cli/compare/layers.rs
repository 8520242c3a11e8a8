//! Comparison of layers: planes of numbers without a peak value.

use serde::Serialize;
use serde_json::{Value, json};

use quadrille_base::error::{Error, Result};
use quadrille_base::image::files::{Plane, read_planes};
use quadrille_evaluation::pairing::PicturePair;
use quadrille_suite::report::table::{TextTable, shortened};

/// Relative tolerance for equal numbers; absolute below 1.
const TOLERANCE: f64 = 1e-4;
const HIGH_SHARE: f64 = 0.999;

#[derive(Debug, Serialize)]
struct ComparedPlane {
    name: String,
    /// Name of the EXR channel; empty for an NPY file.
    channel: String,
    max_abs: f64,
    p99_9_abs: f64,
    rmse: f64,
    differing_share: f64,
    /// Pixels that are NaN or infinite in either picture.
    non_finite_pixels: u64,
}

#[derive(Debug, Default)]
pub(super) struct ComparedLayers(Vec<ComparedPlane>);

impl ComparedLayers {
    pub(super) fn add(&mut self, pair: &PicturePair) -> Result<()> {
        let (a, b) = (read_planes(&pair.a)?, read_planes(&pair.b)?);
        let shapes = |planes: &[Plane]| {
            let shape = |p: &Plane| match p.name.as_str() {
                "" => format!("{} x {}", p.size[0], p.size[1]),
                name => format!("{name} {} x {}", p.size[0], p.size[1]),
            };
            planes.iter().map(shape).collect::<Vec<_>>().join(", ")
        };
        let (expected, found) = (shapes(&a), shapes(&b));
        if expected != found {
            let expected = format!("{expected} as in {}", pair.a.display());
            return Err(Error::malformed(&pair.b, "layers", expected, found));
        }
        let expected = "channels besides R, G, B and A";
        Error::malformed_if(a.is_empty(), &pair.a, "layers", expected, "none")?;
        for (a, b) in a.iter().zip(&b) {
            self.0.push(ComparedPlane::of(&pair.name, a, b));
        }
        Ok(())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Reasons why the layers do not keep the limit `most`: a greater share of pixels differs, values are not finite, or
    /// pictures are `missing`.
    pub(super) fn failures(&self, most: f64, missing: &[String]) -> Vec<String> {
        let named = |is: &dyn Fn(&ComparedPlane) -> bool| {
            let planes = self.0.iter().filter(|plane| is(plane));
            let names = planes.map(|p| format!("{} {}", p.name, p.channel).trim_end().to_owned());
            names.collect::<Vec<_>>().join(", ")
        };
        let expected = format!(
            "expected at most a share of {most} of the pixels of every layer to differ, found more in "
        );
        let reasons = [
            (expected.as_str(), named(&|plane| plane.differing_share > most)),
            (
                "expected finite numbers, found NaN or infinity in ",
                named(&|plane| plane.non_finite_pixels > 0),
            ),
            (
                "expected a partner for every picture (--allow-missing accepts this), found none for ",
                missing.join(", "),
            ),
        ];
        let failed = reasons.into_iter().filter(|(_, names)| !names.is_empty());
        failed.map(|(reason, names)| format!("{reason}{names}")).collect()
    }

    pub(super) fn json(&self) -> Value {
        json!({ "tolerance": TOLERANCE, "layers": self.0 })
    }

    pub(super) fn table(&self) -> String {
        let mut table = TextTable::new(&["<", "<channel", "max", "p99.9", "RMSE", "differing"]);
        for plane in &self.0 {
            table.row([
                shortened(&plane.name),
                plane.channel.clone(),
                format!("{:.3e}", plane.max_abs),
                format!("{:.3e}", plane.p99_9_abs),
                format!("{:.3e}", plane.rmse),
                format!("{:.4} %", 100.0 * plane.differing_share),
            ]);
        }
        format!(
            "{table}differing: pixels that differ by more than {TOLERANCE:e}, relative to the larger number or to 1\n"
        )
    }
}

impl ComparedPlane {
    fn of(name: &str, a: &Plane, b: &Plane) -> Self {
        let mut differences = Vec::with_capacity(a.values.len());
        let (mut differing, mut squares, mut non_finite_pixels) = (0.0, 0.0, 0);
        for (&p, &q) in a.values.iter().zip(&b.values) {
            non_finite_pixels += u64::from(!p.is_finite() || !q.is_finite());
            // Equal infinities count as equal; any other pair with a non-finite value differs infinitely.
            let difference = if p == q {
                0.0
            } else if (p - q).is_finite() {
                (p - q).abs()
            } else {
                f64::INFINITY
            };
            if difference > TOLERANCE * p.abs().max(q.abs()).max(1.0) {
                differing += 1.0;
            }
            squares += difference * difference;
            differences.push(difference);
        }
        differences.sort_by(f64::total_cmp);
        let count = differences.len() as f64;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "below the number of pixels"
        )]
        let rank = (HIGH_SHARE * (count - 1.0)) as usize;
        Self {
            name: name.to_owned(),
            channel: a.name.clone(),
            max_abs: differences.last().copied().unwrap_or(0.0),
            p99_9_abs: differences.get(rank).copied().unwrap_or(0.0),
            rmse: (squares / count).sqrt(),
            differing_share: differing / count,
            non_finite_pixels,
        }
    }
}
