//! The figures and tables of the papers on quad-fragment merging and on the pixel merge unit, drawn from rows of `mesh`.

mod brackets;
mod pixels;
mod quads;
pub mod results;

use crate::content::DrawnFrom;
use crate::sheet::mean;
use quadrille_base::units::counted;
use results::{Frame, MergingResults, Unit};

pub(crate) const DRAWINGS: &DrawnFrom<MergingResults> = &[
    ("qfm-fig9", quads::figure_9),
    ("qfm-fig12", quads::figure_12),
    ("qfm-fig13", quads::figure_13),
    ("qfm-fig14", quads::figure_14),
    ("qfm-quality", quads::quality),
    ("qfm-brackets", brackets::quads),
    ("qfm-assumptions", quads::assumptions),
    ("pmu-fig4", pixels::figure_4),
    ("pmu-fig5", pixels::figure_5),
    ("pmu-dense", pixels::dense),
    ("pmu-orders", pixels::orders),
    ("pmu-meshes", pixels::properties),
    ("pmu-brackets", brackets::pixels),
];

/// The paragraph about quad-fragment merging at the head of the page, computed from the results.
pub(crate) fn summary_of_quads(results: &MergingResults) -> String {
    let frames = results.default_frames();
    let mut text = format!(
        "Quad-fragment merging is drawn from {} of the paper's.",
        counted(frames.len(), "scene with the name", "scenes with the names")
    );
    let over = |of: fn(&Frame) -> Option<f64>| mean(frames.iter().map(of));
    if let (Some(less), Some(reyes)) = (over(Frame::less), over(Frame::over_reyes)) {
        text += &format!(
            " It shades {less:.2} times less than a pipeline without merging (published 8.1), and {reyes:.2} times as often as \
             Reyes (published 0.83)."
        );
    }
    text
}

/// The paragraph about the pixel merge unit at the head of the page, computed from the results.
pub(crate) fn summary_of_pixels(results: &MergingResults) -> String {
    let runs: Vec<_> = results.of("buffers").collect();
    let mut text = format!(
        "The pixel merge unit is drawn from {}, none of them a scene of the paper.",
        counted(runs.len(), "mesh", "meshes")
    );
    let saved = runs.iter().map(|run| run.of_unit(Unit::Pmu, 512, |row| row.savings()));
    if let Some(saved) = mean(saved) {
        text += &format!(
            " With 512 entries it saves {:.1} % of the quads on average (published 8 %).",
            100.0 * saved
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::content::tests::check_gaps;
    use crate::studies::Studies;

    #[test]
    fn figures_without_results_have_gaps() {
        let results = Studies(Vec::new());
        check_gaps(&["quad-fragment-merging", "pixel-merge-unit"], DRAWINGS, &results);
        assert!(summary_of_quads(&results).contains("0 scenes"));
        assert!(summary_of_pixels(&results).contains("0 meshes"));
    }
}
