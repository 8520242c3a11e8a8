//! One subject as a mesh and as splats, each merging unit on each: table, JSON, and what follows
//! from the numbers.

use std::fmt::Write as _;

use serde_json::{Value, json};

/// What a unit is run on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Subject {
    /// Opaque triangles that share edges, tested for depth.
    Mesh,
    /// Transparent boxes that share nothing, blended in order.
    Splats,
}

/// The unit of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RowUnit {
    /// None.
    None,
    /// Quad-fragment merging.
    Qfm,
    /// The pixel merge unit as its rules have it.
    Pmu,
    /// The pixel merge unit though its rules bar it.
    PmuForced,
    /// VR-Pipe's quad merging.
    Qm,
}

impl RowUnit {
    /// Its name in tables and documents.
    #[must_use]
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Qfm => "qfm",
            Self::Pmu => "pmu",
            Self::PmuForced => "pmu-forced",
            Self::Qm => "qm",
        }
    }
}

/// A unit on a subject.
#[derive(Debug, Clone)]
pub(crate) struct VersusRow {
    /// What it was run on.
    pub subject: Subject,
    /// The unit.
    pub unit: RowUnit,
    /// Entries of its buffer, "unbounded", or nothing.
    pub buffer: Option<String>,
    /// Samples a pixel.
    pub samples: u32,
    /// Quads that came to it.
    pub quads: u64,
    /// Quads that it saved: shadings of QFM and PMU, blends of QM.
    pub saved: u64,
    /// Of splats: those that became part of another splat's quad. Of QM at least so many.
    pub saved_between_splats: Option<u64>,
    /// PSNR against the picture without the unit in dB; infinite when they are the same.
    pub psnr_db: f64,
    /// What else there is to say, in a few words.
    pub note: String,
}

impl VersusRow {
    /// Quads saved of all that came.
    #[must_use]
    #[allow(clippy::cast_precision_loss, reason = "counts far below 2^53")]
    pub(crate) fn savings(&self) -> f64 {
        if self.quads == 0 {
            return 0.0;
        }
        self.saved as f64 / self.quads as f64
    }

    fn json(&self) -> Value {
        let subject = match self.subject {
            Subject::Mesh => "mesh",
            Subject::Splats => "splats",
        };
        let buffer = self.buffer.as_ref().map(|b| match b.parse::<u64>() {
            Ok(entries) => json!(entries),
            Err(_) => json!(b),
        });
        json!({
            "subject": subject,
            "unit": self.unit.name(),
            "buffer": buffer,
            "samples": self.samples,
            "quads": self.quads,
            "saved": self.saved,
            "savings": self.savings(),
            "saved_between_splats": self.saved_between_splats,
            "psnr_vs_none_db": Some(self.psnr_db).filter(|db| db.is_finite()),
            "same_as_none": self.psnr_db == f64::INFINITY,
            "note": self.note,
        })
    }
}

/// All rows of a view.
#[derive(Debug, Clone)]
pub(crate) struct Versus {
    /// The rows, in order.
    pub rows: Vec<VersusRow>,
    /// How alike the two subjects are at the most samples: PSNR of the unmerged pictures in dB.
    pub alike_db: f64,
}

impl Versus {
    /// The document.
    #[must_use]
    pub(crate) fn json(&self) -> Value {
        let rows: Vec<Value> = self.rows.iter().map(VersusRow::json).collect();
        json!({ "versus": {
            "rows": rows,
            "splats_vs_mesh_psnr_db": Some(self.alike_db).filter(|db| db.is_finite()),
            "explanation": self.explanation(),
        }})
    }

    /// The table, and below it what follows from it.
    #[must_use]
    pub(crate) fn page(&self) -> String {
        let mut text = format!(
            "{:>7} {:>10} {:>9} {:>4} {:>10} {:>10} {:>7} {:>10} {:>8}  note\n",
            "subject", "unit", "buffer", "msaa", "quads", "saved", "share", "between", "PSNR dB"
        );
        for row in &self.rows {
            let subject = match row.subject {
                Subject::Mesh => "mesh",
                Subject::Splats => "splats",
            };
            let between = row
                .saved_between_splats
                .map_or_else(|| "-".to_owned(), |n| n.to_string());
            // Writing to a string cannot fail.
            let _ = writeln!(
                text,
                "{subject:>7} {:>10} {:>9} {:>4} {:>10} {:>10} {:>7} {between:>10} {:>8}  {}",
                row.unit.name(),
                row.buffer.as_deref().unwrap_or("-"),
                row.samples,
                row.quads,
                row.saved,
                percent(row.savings()),
                decibels(row.psnr_db),
                row.note,
            );
        }
        for sentence in self.explanation() {
            let _ = writeln!(text, "\n{sentence}");
        }
        text
    }

    /// The row of a unit on a subject at the most samples; of several buffers the first.
    fn row(&self, subject: Subject, unit: RowUnit) -> Option<&VersusRow> {
        let of = |r: &&VersusRow| r.subject == subject && r.unit == unit;
        let most = self.rows.iter().filter(of).map(|r| r.samples).max()?;
        self.rows.iter().filter(of).find(|r| r.samples == most)
    }

    /// What the numbers say, in sentences.
    #[must_use]
    pub(crate) fn explanation(&self) -> Vec<String> {
        let alike = match self.alike_db {
            f64::INFINITY => "Without a unit, mesh and splats give the same picture.".to_owned(),
            db => format!("Without a unit, the splats' picture is {db:.2} dB from the mesh's."),
        };
        let units = [self.about_qfm(), self.about_pmu(), self.about_qm()];
        [Some(alike)].into_iter().chain(units).flatten().collect()
    }

    fn about_qfm(&self) -> Option<String> {
        let mesh = self.row(Subject::Mesh, RowUnit::Qfm)?;
        let splats = self.row(Subject::Splats, RowUnit::Qfm)?;
        let of_splats = |r: &&VersusRow| r.subject == Subject::Splats && r.unit == RowUnit::Qfm;
        let all = || self.rows.iter().filter(of_splats);
        let between = splats.saved_between_splats.unwrap_or(0);
        let worst = all().map(|r| r.psnr_db).fold(f64::INFINITY, f64::min);
        let order = if worst == f64::INFINITY {
            "Blended in the order in which they leave the unit, the quads give the same picture."
                .to_owned()
        } else {
            format!(
                "Blended in the order in which they leave the unit, the quads give another picture \
                 ({worst:.1} dB at worst): full quads overtake the partial ones of nearer splats."
            )
        };
        let samples = mesh.samples;
        Some(format!(
            "QFM merges quads of triangles that share an edge and do not overlap. On the mesh it saves \
             {} of the shading at {samples} samples, and approximates: {}. On splats it saves {}: {} \
             quads between the two halves of one box, which share the diagonal, and {between} between \
             two splats, which share nothing. {order}",
            percent(mesh.savings()),
            compared(mesh.psnr_db),
            percent(splats.savings()),
            splats.saved.saturating_sub(between),
        ))
    }

    fn about_pmu(&self) -> Option<String> {
        let mesh = self.row(Subject::Mesh, RowUnit::Pmu)?;
        let forced = self.row(Subject::Splats, RowUnit::PmuForced)?;
        Some(format!(
            "The PMU saves {} of the shading of the mesh, and approximates: {}. It is off without \
             multi-sampling, and off for splats, whose shader discards what is below the cut on alpha. \
             Forced on at {} samples it would save {}, {} quads of it between two splats.",
            percent(mesh.savings()),
            compared(mesh.psnr_db),
            forced.samples,
            percent(forced.savings()),
            forced.saved_between_splats.unwrap_or(0),
        ))
    }

    fn about_qm(&self) -> Option<String> {
        let qm = self.row(Subject::Splats, RowUnit::Qm)?;
        let exact = if qm.psnr_db == f64::INFINITY {
            "the picture is the same".to_owned()
        } else {
            let db = qm.psnr_db;
            format!("but for the rounding of sums the picture is the same ({db:.1} dB)")
        };
        Some(format!(
            "QM blends two quads at one place in the shader, whichever splats they are of: it saves \
             {} of the blends, at least {} of them between two splats, and {exact}. The mesh has no \
             row for it: opaque fragments that write depth are not blended, and of two at one place \
             the depth test keeps one.",
            percent(qm.savings()),
            qm.saved_between_splats.unwrap_or(0),
        ))
    }
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

/// A PSNR in a sentence.
fn compared(db: f64) -> String {
    if db == f64::INFINITY {
        "here to the same picture".to_owned()
    } else {
        format!("{db:.2} dB")
    }
}

fn decibels(db: f64) -> String {
    if db == f64::INFINITY {
        "same".to_owned()
    } else {
        format!("{db:.2}")
    }
}
