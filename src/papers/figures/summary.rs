//! The paragraph at the head of the page, computed from the results: our numbers beside the published ones, and reasons for
//! differences.

use super::frames::{energy_ratio, frame_speedup, raster_share};
use super::implied::{derived, per_quad, published_per_quad};
use super::results::{CYCLES, PAPER_PRESET, Results};
use super::speedups::mean_reductions;
use crate::paper::mean_of;
use crate::sheet::{largest, least, mean};
use crate::suite_table::is_paper_scene;
use quadrille_base::units::counted;

/// Relative difference below which two numbers count as equal.
const EQUAL: f64 = 0.05;

fn relation(ours: f64, theirs: f64) -> &'static str {
    match ours / theirs {
        ratio if ratio < 1.0 - EQUAL => "less than",
        ratio if ratio > 1.0 + EQUAL => "more than",
        _ => "about",
    }
}

/// Returns the summary; empty without results.
pub(crate) fn summary(results: &Results) -> String {
    let sentences = [
        Some(extent(results)),
        speedups(results),
        causes(results),
        frames(results),
        energy(results),
        software(results),
    ];
    sentences.into_iter().flatten().collect::<Vec<String>>().join(" ")
}

fn extent(results: &Results) -> String {
    let (views, scenes) = (results.all().len(), results.scenes().len());
    let of_paper: Vec<&str> = results
        .scenes()
        .iter()
        .map(|views| views[0].scene())
        .filter(|scene| is_paper_scene(scene))
        .collect();
    let whose = match of_paper.is_empty() {
        true if scenes == 1 => "not a scene of the paper: ✓ and ✗ say whether its bounds hold for this one as well".to_owned(),
        true => "none of them a scene of the paper: ✓ and ✗ say whether its bounds hold for these as well".to_owned(),
        false => format!(
            "of which {} has the name of a scene of the paper",
            of_paper.join(", ")
        ),
    };
    format!(
        "This report draws the paper's figures again from {} of {} on the emulated GPU of Table I, {whose}.",
        counted(views, "view", "views"),
        counted(scenes, "scene", "scenes")
    )
}

fn speedups(results: &Results) -> Option<String> {
    let speedup = |method: &str| results.mean(|view| view.speedup(method));
    let (qm, het, both) = (speedup("qm")?, speedup("het")?, speedup("het+qm")?);
    let [published_het, published_both] =
        ["speedup of HET", "speedup of HET+QM"].map(|quantity| mean_of("fig16", quantity));
    let of = match results.all().len() {
        1 => "Speedups of the only view (n = 1)",
        _ => "Mean speedups",
    };
    Some(format!(
        "{of} are {qm:.2} for quad merging, {het:.2} for early termination ({} the published {published_het:.2}) \
         and {both:.2} for both ({} {published_both:.2}).",
        relation(het, published_het),
        relation(both, published_both),
    ))
}

/// Explains why the speedup of HET differs: the work that it saves, and the resulting gain.
fn causes(results: &Results) -> Option<String> {
    let [fragments, _, quads, merged] = mean_reductions(results);
    let (fragments, quads, merged) = (fragments?, quads?, merged?);
    let [share, share_both] = per_quad(results);
    let (share, share_both) = (share?, share_both?);
    let [their_fragments, their_quads, their_merged] =
        ["fragments, HET", "quads, HET", "quads, QM on top of HET"].map(|q| mean_of("fig18", q));
    let [theirs, theirs_both] = published_per_quad();
    let because = match (relation(quads, their_quads), relation(share, theirs)) {
        ("about", "about") => "so that neither the scenes nor the pipeline differ much",
        (_, "about") => "so that the difference lies in the scenes, not in the pipeline",
        ("about", _) => {
            "so that the difference lies in the pipeline ahead of the ROPs, not in the scenes"
        }
        _ => "so that both the scenes and the rates ahead of the ROPs contribute to the difference",
    };
    Some(format!(
        "Early termination removes {fragments:.2} times the fragments and {quads:.2} times the quads ({their_fragments:.2} \
         and {their_quads:.2} published), and merging then {merged:.2} times the quads ({their_merged:.2}); of the reduction \
         of quads, {:.0} % becomes speedup with HET and {:.0} % with both ({:.0} % and {:.0} % published), {because}.",
        share * 100.0,
        share_both * 100.0,
        theirs * 100.0,
        theirs_both * 100.0,
    ))
}

fn frames(results: &Results) -> Option<String> {
    let views = results.first(PAPER_PRESET);
    let of = |method: &str| mean(views.iter().map(|view| frame_speedup(view, method)));
    let (software, hardware) = (of("compute")?, of("baseline")?);
    let share = mean(views.iter().map(|view| Some(1.0 - raster_share(view)?)))?;
    let theirs = derived().not_raster;
    let [over_software, over_hardware] =
        ["VR-Pipe over software", "VR-Pipe over hardware"].map(|q| mean_of("fig17", q));
    let because = match relation(share, theirs) {
        "less than" => {
            "modelled preprocess and sort take less of the frame than follows from the three published means"
        }
        "more than" => {
            "modelled preprocess and sort take more of the frame than follows from the three published means"
        }
        _ => "preprocess and sort take as much of the frame",
    };
    Some(format!(
        "Whole frames, modelled, are {hardware:.2} times as fast as on hardware without the additions and {software:.2} times \
         as fast as in software (published {over_hardware:.2} and {over_software:.2}): {because}, {:.1} % against {:.1} % (derived).",
        share * 100.0,
        theirs * 100.0
    ))
}

fn energy(results: &Results) -> Option<String> {
    let views = results.first(PAPER_PRESET);
    let ratios = |at: usize| views.iter().map(move |view| Some(energy_ratio(view, "het+qm")?[at]));
    let (ratio, low, high) = (mean(ratios(0))?, least(ratios(1))?, largest(ratios(2))?);
    let theirs = mean_of("fig19", "energy efficiency");
    Some(format!(
        "The modelled energy of a draw falls by a factor of {ratio:.2} ({} the published {theirs:.2}), {low:.2} to {high:.2} over all scenes \
         and constants.",
        relation(ratio, theirs)
    ))
}

fn software(results: &Results) -> Option<String> {
    let views = results.first(PAPER_PRESET);
    let locked = mean(views.iter().map(|v| v.ratio("interlock", "baseline", CYCLES)));
    let passes = mean(views.iter().map(|v| {
        let speedups = super::alternatives::PASSES.map(|n| v.speedup(&format!("multipass:{n}")));
        largest(speedups)
    }));
    let passes = passes.map(|p| format!("several passes gain {p:.2} at their best number"));
    let locked = locked.map(|l| {
        format!("blending in the shader with interlock takes {l:.1} times as long as in the ROPs")
    });
    let parts: Vec<String> = [passes, locked].into_iter().flatten().collect();
    if parts.is_empty() {
        return None;
    }
    Some(format!("In software on the same hardware, {}.", parts.join(", and ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::results::tests::view;
    use quadrille_gpu::config::Config;
    use quadrille_gpu::frame::FrameTimes;

    fn results(cycles: u64) -> Results {
        let methods = [
            ("baseline", 2000, 3000),
            ("qm", 1500, 2000),
            ("het", cycles, 1200),
            ("het+qm", 900, 900),
        ];
        Results { views: vec![view("a", &methods)], config: Config::default() }
    }

    #[test]
    fn the_summary_follows_the_results() {
        let slow = summary(&results(1500));
        assert!(slow.contains("1 view of 1 scene"), "{slow}");
        assert!(slow.contains("of the only view (n = 1)"), "{slow}");
        assert!(
            slow.contains("1.33 for early termination (less than the published 1.80)"),
            "{slow}"
        );
        let fast = summary(&results(1000));
        assert!(
            fast.contains("2.00 for early termination (more than the published 1.80)"),
            "{fast}"
        );
        assert_ne!(slow, fast);
    }

    /// The share of the frame that is not raster follows from three published means and was not measured.
    #[test]
    fn a_derived_share_is_called_so() {
        let mut results = results(1000);
        results.views[0] =
            view("a", &[("baseline", 2000, 3000), ("het+qm", 900, 900), ("compute", 3000, 3000)]);
        for (method, total) in results.views[0].row.methods.iter_mut().zip([40, 25, 50]) {
            method.details.frame = Some(FrameTimes::new([total, 0, 9 * total], 1.0));
        }
        let text = summary(&results);
        assert!(
            text.contains("10.0 % against 27.5 % (derived)") && !text.contains("measured"),
            "{text}"
        );
    }

    #[test]
    fn without_results_it_claims_nothing() {
        let empty = Results { views: Vec::new(), ..results(1) };
        let text = summary(&empty);
        assert!(text.contains("0 views of 0 scenes") && !text.contains("speedup"), "{text}");
    }
}
