//! The rows of a comparison: table, JSON, and the conclusions in sentences.

use serde_json::{Value, json};

#[derive(Debug, Clone)]
pub(super) struct VersusRow {
    /// "mesh": opaque triangles that share edges, tested for depth; or "splats": transparent boxes
    /// that share nothing, blended in order.
    pub(super) subject: &'static str,
    /// "none", "qfm", "pmu", "pmu-forced" (though its rules bar it) or "qm" (VR-Pipe's).
    pub(super) unit: &'static str,
    /// Entries of the unit's buffer, or "unbounded".
    pub(super) buffer: Option<String>,
    pub(super) samples: u32,
    /// Quads that reached the unit.
    pub(super) quads: u64,
    /// Quads saved: shadings of QFM and PMU, blends of QM.
    pub(super) saved: u64,
    /// Of splats: quads that became part of another splat's quad; a lower bound of QM.
    pub(super) saved_between_splats: Option<u64>,
    /// PSNR against the picture without the unit in dB; infinite when they are the same.
    pub(super) psnr_db: f64,
    pub(super) note: String,
}

impl VersusRow {
    /// Quads saved of all that came.
    #[allow(clippy::cast_precision_loss, reason = "counts far below 2^53")]
    fn savings(&self) -> f64 {
        if self.quads == 0 {
            return 0.0;
        }
        self.saved as f64 / self.quads as f64
    }

    fn json(&self) -> Value {
        let buffer = self.buffer.as_ref().map(|b| match b.parse::<u64>() {
            Ok(entries) => json!(entries),
            Err(_) => json!(b),
        });
        json!({
            "subject": self.subject,
            "unit": self.unit,
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
    pub(super) rows: Vec<VersusRow>,
    /// How alike the two subjects are at the most samples: PSNR of the unmerged pictures in dB.
    pub(super) alike_db: f64,
}

impl Versus {
    pub(crate) fn json(&self) -> Value {
        let rows: Vec<Value> = self.rows.iter().map(VersusRow::json).collect();
        json!({
            "rows": rows,
            "splats_vs_mesh_psnr_db": Some(self.alike_db).filter(|db| db.is_finite()),
            "explanation": self.explanation(),
        })
    }

    /// Headings of the columns of [`Versus::cells`]; one that begins with `<` is of words.
    pub(crate) const HEADINGS: [&'static str; 10] = [
        "subject", "unit", "buffer", "msaa", "quads", "saved", "share", "between", "PSNR dB",
        "<note",
    ];

    pub(crate) fn cells(&self) -> impl Iterator<Item = [String; 10]> {
        let dash = || "-".to_owned();
        self.rows.iter().map(move |row| {
            let between = row.saved_between_splats.map(|n| n.to_string());
            let psnr = match row.psnr_db {
                f64::INFINITY => "same".to_owned(),
                db => format!("{db:.2}"),
            };
            [
                row.subject.to_owned(),
                row.unit.to_owned(),
                row.buffer.clone().unwrap_or_else(dash),
                row.samples.to_string(),
                row.quads.to_string(),
                row.saved.to_string(),
                percent(row.savings()),
                between.unwrap_or_else(dash),
                psnr,
                row.note.clone(),
            ]
        })
    }

    /// The row of a unit on a subject at the most samples; of several buffers the first.
    fn row(&self, subject: &str, unit: &str) -> Option<&VersusRow> {
        let of = |r: &&VersusRow| r.subject == subject && r.unit == unit;
        let most = self.rows.iter().filter(of).map(|r| r.samples).max()?;
        self.rows.iter().filter(of).find(|r| r.samples == most)
    }

    /// What the numbers say, in sentences.
    pub(crate) fn explanation(&self) -> Vec<String> {
        let alike = match self.alike_db {
            f64::INFINITY => "Without a unit, mesh and splats give the same picture.".to_owned(),
            db => format!("Without a unit, the splats' picture is {db:.2} dB from the mesh's."),
        };
        let units = [self.about_qfm(), self.about_pmu(), self.about_qm()];
        [Some(alike)].into_iter().chain(units).flatten().collect()
    }

    fn about_qfm(&self) -> Option<String> {
        let mesh = self.row("mesh", "qfm")?;
        let splats = self.row("splats", "qfm")?;
        let of_splats = |r: &&VersusRow| r.subject == "splats" && r.unit == "qfm";
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
        let mesh = self.row("mesh", "pmu")?;
        let forced = self.row("splats", "pmu-forced")?;
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
        let qm = self.row("splats", "qm")?;
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

fn compared(db: f64) -> String {
    if db == f64::INFINITY {
        "here to the same picture".to_owned()
    } else {
        format!("{db:.2} dB")
    }
}
