//! The figures and tables of the paper on sort-based deferred shading, drawn from rows of `deferred`.

mod blurs;
pub mod results;
mod scenes;

use crate::content::Content;
use crate::paper::Figure;
use crate::sheet::{largest, least, quotient};
use results::{BYTES, DeferredResults, JRK, PIXEL, SDS};

type Draw = fn(&'static Figure, &DeferredResults) -> Content;

const DRAWINGS: [(&str, Draw); 8] = [
    ("sds-sorting", scenes::sorting),
    ("sds-fig9", blurs::figure_9),
    ("sds-table1", scenes::table_1),
    ("sds-fig10", scenes::figure_10),
    ("sds-fig11", scenes::figure_11),
    ("sds-fig12", blurs::figure_12),
    ("sds-fig13", blurs::figure_13),
    ("sds-memo", blurs::memo),
];

/// Draws a figure of the paper from the available results; `None` for a figure of another paper.
pub fn draw(figure: &'static Figure, results: &DeferredResults) -> Option<Content> {
    let (_, draw) = DRAWINGS.iter().find(|(id, _)| *id == figure.id)?;
    Some(draw(figure, results))
}

/// The paragraph at the head of the page; all of it is computed from the results.
pub fn summary(results: &DeferredResults) -> String {
    let scenes = results.of("scene");
    let mut text = format!(
        "This report draws the paper's tables and figures again from {} scenes, {} amounts of blur and {} traces, none of \
         them a scene of the paper.",
        scenes.len(),
        results.of("blur").len(),
        results.of("trace").len()
    );
    let fewer = scenes.iter().map(|run| {
        let [jrk, sds] = [JRK, SDS].map(|pipeline| run.number(pipeline, PIXEL, BYTES));
        quotient(sds, jrk)
    });
    let fewer: Vec<_> = fewer.collect();
    if let (Some(low), Some(high)) = (least(fewer.clone()), largest(fewer)) {
        text += &format!(
            " Sort-based deferred shading moves {low:.2} to {high:.2} of the bytes of cached decoupled sampling."
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paper::Paper;

    #[test]
    fn figures_without_results_have_gaps() {
        let results = DeferredResults { runs: Vec::new() };
        let figures = Paper::figures_of("sort-based-deferred-shading");
        assert_eq!(figures.len(), DRAWINGS.len());
        for figure in figures {
            let content = draw(figure, &results).unwrap();
            assert!(content.claims.iter().all(|c| c.of == 0), "{}", figure.id);
            assert!(content.compared.iter().all(|c| c.ours.is_none()));
            assert_eq!(content.compared.len(), figure.published.len());
            assert!(content.charts.iter().all(|c| !c.drawings.inline().contains("NaN")));
        }
        assert!(summary(&results).contains("0 scenes"));
    }
}
