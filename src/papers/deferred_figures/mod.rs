//! The figures and tables of "A Sort-based Deferred Shading Architecture for Decoupled Sampling" (Clarberg, Toth and
//! Munkberg, 2013), drawn from rows of `deferred` beside the published numbers.
//!
//! A [`Spec`] names the kinds of runs that a figure is drawn from; entries without results stay empty.

mod blurs;
mod comparisons;
mod published;
pub mod results;
mod scenes;
mod trace;

use super::figures::{Basis, Content, Heading};
use super::published::Published;
use results::{Kind, Results};

const RESULTS: &str = "Results (section 6)";
const ALGORITHM: &str = "Algorithm (section 4)";

/// The title of the page.
pub const TITLE: &str = "Sort-based deferred shading: published figures and ours";

/// The paper and its numbers, in HTML.
pub const INTRODUCTION: &str = "<p>The paper is P. Clarberg, R. Toth and J. Munkberg, <em>A Sort-based Deferred Shading \
     Architecture for Decoupled Sampling</em>, SIGGRAPH 2013. Its scenes are traces of games that are not published, so only \
     relations between the pipelines can be compared. Published numbers are those of its text and of its table; the values \
     of its plots are not stated.</p>";

/// A figure or table of the paper.
#[derive(Debug, Clone, Copy)]
pub struct Spec {
    /// Name in flags and files.
    pub id: &'static str,
    number: &'static str,
    title: &'static str,
    part: &'static str,
    /// Runs that it is drawn from.
    pub kind: Kind,
    draw: fn(&Results) -> Content,
}

/// All figures and tables, in the order of the page.
pub const ALL: &[Spec] = &[
    Spec {
        id: "sorting",
        number: "Sections 4.1 to 4.3",
        title: "Compression of the identifiers, and passes of the sort",
        part: ALGORITHM,
        kind: Kind::Scene,
        draw: scenes::sorting,
    },
    Spec {
        id: "fig9",
        number: "Figures 1 and 9",
        title: "Shader executions by amount of blur",
        part: RESULTS,
        kind: Kind::Blur,
        draw: blurs::figure_9,
    },
    Spec {
        id: "table1",
        number: "Table 1",
        title: "Operations of the raster",
        part: RESULTS,
        kind: Kind::Scene,
        draw: scenes::table_1,
    },
    Spec {
        id: "fig10",
        number: "Figure 10",
        title: "Traffic and shader executions of the scenes",
        part: RESULTS,
        kind: Kind::Scene,
        draw: scenes::figure_10,
    },
    Spec {
        id: "fig11",
        number: "Figure 11",
        title: "A whole trace",
        part: RESULTS,
        kind: Kind::Trace,
        draw: trace::figure_11,
    },
    Spec {
        id: "fig12",
        number: "Figure 12",
        title: "Shader executions by the size of tiles",
        part: RESULTS,
        kind: Kind::Blur,
        draw: blurs::figure_12,
    },
    Spec {
        id: "fig13",
        number: "Figure 13",
        title: "Bin spread as heat maps",
        part: RESULTS,
        kind: Kind::Heat,
        draw: blurs::figure_13,
    },
    Spec {
        id: "memo",
        number: "Adaptive shading",
        title: "Quads and memo with adaptive anisotropic shading",
        part: RESULTS,
        kind: Kind::Blur,
        draw: blurs::memo,
    },
];

impl Spec {
    /// The heading of the figure's section.
    pub fn heading(&self, results: &Results) -> Heading {
        Heading {
            id: self.id,
            number: self.number,
            title: self.title,
            part: self.part,
            basis: Basis::Emulated,
            assumptions: &[],
            command: format!("quadrille figures {} --only {}", results.command, self.id),
        }
    }

    /// Draws the figure from the results that there are.
    pub fn draw(&self, results: &Results) -> Content {
        (self.draw)(results)
    }

    /// Published numbers of the figure.
    pub fn published(&self) -> impl Iterator<Item = &'static Published> {
        published::of_figure(self.id)
    }
}

/// The paragraph at the head of the page; all of it is computed from the results.
pub fn summary(results: &Results) -> String {
    let scenes = results.of(Kind::Scene);
    let mut text = format!(
        "This report draws the paper's tables and figures again from {} scenes, {} amounts of blur and {} traces, none of \
         them a scene of the paper.",
        scenes.len(),
        results.of(Kind::Blur).len(),
        results.of(Kind::Trace).len()
    );
    let fewer = scenes.iter().filter_map(|run| {
        let [jrk, sds] = ["jrk", "sds"].map(|p| run.bytes(p, "pixel"));
        Some(sds? / jrk?)
    });
    let fewer: Vec<f64> = fewer.collect();
    if let Some([least, most]) = results::range(fewer) {
        text += &format!(
            " Sort-based deferred shading moves {least:.2} to {most:.2} of the bytes of cached decoupled sampling."
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_without_results_have_gaps() {
        let results = Results::new(Vec::new(), "suite.toml -o out".to_owned());
        for spec in ALL {
            let content = spec.draw(&results);
            assert!(content.claims.iter().all(|c| c.of == 0), "{}", spec.id);
            assert!(content.compared.iter().all(|c| c.ours.is_none()));
            assert!(content.charts.iter().all(|c| !c.svg.contains("NaN")));
        }
        assert!(summary(&results).contains("0 scenes"));
    }
}
