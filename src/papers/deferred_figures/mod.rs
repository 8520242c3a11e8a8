//! The figures and tables of the paper on sort-based deferred shading, drawn from rows of `deferred`.

mod blurs;
pub mod results;
mod scenes;

use crate::content::DrawnFrom;
use crate::sheet::{largest, least, quotient};
use quadrille_base::units::counted;
use results::{BYTES, DeferredResults, JRK, PIXEL, SDS};

pub(crate) const DRAWINGS: &DrawnFrom<DeferredResults> = &[
    ("sds-sorting", scenes::sorting),
    ("sds-fig6", scenes::figure_6),
    ("sds-fig9", blurs::figure_9),
    ("sds-table1", scenes::table_1),
    ("sds-fig10", scenes::figure_10),
    ("sds-fig11", scenes::figure_11),
    ("sds-fig12", blurs::figure_12),
    ("sds-fig13", blurs::figure_13),
    ("sds-memo", blurs::memo),
];

/// Returns the paragraph at the head of the page, which is computed from the results.
pub(crate) fn summary(results: &DeferredResults) -> String {
    let scenes: Vec<_> = results.of("scene").collect();
    let mut text = format!(
        "This report draws the paper's tables and figures again from {}, {} and {}, none of them a scene of the paper.",
        counted(scenes.len(), "scene", "scenes"),
        counted(results.of("blur").count(), "amount of blur", "amounts of blur"),
        counted(results.of("trace").count(), "trace", "traces")
    );
    let fewer = scenes.iter().map(|run| {
        let [jrk, sds] = [JRK, SDS].map(|pipeline| run.number(pipeline, PIXEL, BYTES));
        quotient(sds, jrk)
    });
    let fewer: Vec<_> = fewer.collect();
    if let (Some(low), Some(high)) = (least(fewer.clone()), largest(fewer)) {
        let [low, high] = [low, high].map(|share| format!("{share:.2}"));
        let range = if low == high { low } else { format!("{low} to {high}") };
        text += &format!(
            " Sort-based deferred shading moves {range} of the bytes of cached decoupled sampling."
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::content::tests::check_gaps;
    use crate::content::{Compared, Content};
    use crate::paper::{Paper, Statistic};
    use crate::studies::Studies;

    #[test]
    fn figures_without_results_have_gaps() {
        let results = Studies(Vec::new());
        check_gaps(&["sort-based-deferred-shading"], DRAWINGS, &results);
        assert!(summary(&results).contains("0 scenes"));
    }

    /// The ratios of the paper's Table 1 keep to the bounds that are derived from it.
    #[test]
    fn the_published_table_keeps_its_bounds() {
        let mut figures = Paper::figures_of("sort-based-deferred-shading").iter();
        let figure = figures.find(|figure| figure.id == "sds-table1").unwrap();
        let table = Content::draw(DRAWINGS, figure, &Studies(Vec::new())).unwrap().table;
        assert_eq!(table.rows.len(), 6);
        let is_bound = |s: Statistic| matches!(s, Statistic::Below | Statistic::Above);
        for published in figure.published.iter().filter(|p| is_bound(p.statistic)) {
            for row in 0..table.rows.len() {
                let ours = table.number(row, published.column.as_deref().unwrap());
                let one = Compared { published, ours };
                assert_eq!(one.holds(), Some(true), "row {row}: {one:?}");
            }
        }
    }
}
