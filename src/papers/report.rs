//! A report: the figures of all papers with results, as a page and as files.

use crate::content::{Compared, Content};
use crate::paper::{Figure, PAPERS, Paper};
use crate::table::{Cell, Column, Table};
use crate::{correlation, deferred_figures, figures, merging_figures};
use quadrille_suite::Program;

/// Results from which a report is drawn.
pub struct Inputs {
    /// Results of splats, for the figures of the VR-Pipe paper.
    pub splats: Option<figures::results::Results>,
    /// Runs of `deferred`, for the figures of the paper on sort-based deferred shading.
    pub deferred: Option<deferred_figures::results::DeferredResults>,
    /// Runs of `mesh`, for the figures of the papers on quad-fragment merging and on the pixel merge unit.
    pub merging: Option<merging_figures::results::MergingResults>,
    /// Measured numbers of a machine beside the emulator's.
    pub hardware: Option<correlation::Correlation>,
    /// Arguments of `quadrille figures` that make the whole report.
    pub command: String,
    /// Further arguments, which select parts of the report and further files.
    pub choice: Vec<String>,
    /// Build of the program, for the footer of the report.
    pub program: Program,
}

pub(crate) struct Section {
    pub(crate) figure: &'static Figure,
    pub(crate) content: Content,
    pub(crate) missing: Vec<String>,
    pub(crate) command: String,
}

pub(crate) struct Chapter {
    pub(crate) paper: &'static Paper,
    pub(crate) is_whole: bool,
    /// A paragraph computed from the results; empty if figures are left out.
    pub(crate) summary: String,
    pub(crate) sections: Vec<Section>,
}

/// The drawn figures of all papers with results.
pub struct Report<'a> {
    pub(crate) inputs: &'a Inputs,
    pub(crate) chapters: Vec<Chapter>,
}

impl Inputs {
    fn draw(&self, figure: &'static Figure) -> Option<Content> {
        let splats = || Content::draw(figures::DRAWINGS, figure, self.splats.as_ref()?);
        let deferred =
            || Content::draw(deferred_figures::DRAWINGS, figure, self.deferred.as_ref()?);
        let merging = || Content::draw(merging_figures::DRAWINGS, figure, self.merging.as_ref()?);
        splats()
            .or_else(deferred)
            .or_else(merging)
            .or_else(|| correlation::draw(figure, self.hardware.as_ref()?))
    }

    fn summary(&self, paper: &Paper) -> String {
        let splats = self.splats.as_ref().map(figures::summary::summary);
        let deferred = self.deferred.as_ref().map(deferred_figures::summary);
        let merging = self.merging.as_ref();
        let summary = match &*paper.id {
            "vr-pipe" => splats,
            "sort-based-deferred-shading" => deferred,
            "quad-fragment-merging" => merging.map(merging_figures::summary_of_quads),
            "pixel-merge-unit" => merging.map(merging_figures::summary_of_pixels),
            "hardware" => self.hardware.as_ref().map(correlation::summary),
            _ => None,
        };
        summary.unwrap_or_default()
    }
}

impl<'a> Report<'a> {
    /// Draws the figures whose names are chosen, of all papers with results. `missing` returns the results that a figure
    /// lacks, as words.
    pub fn draw(
        inputs: &'a Inputs,
        is_chosen: &dyn Fn(&str) -> bool,
        missing: &dyn Fn(&Figure) -> Vec<String>,
    ) -> Self {
        let chapters = PAPERS.iter().map(|paper| {
            let is_whole = paper.figures.iter().all(|figure| is_chosen(&figure.id));
            let drawn = paper.figures.iter().filter(|figure| is_chosen(&figure.id));
            let sections = drawn.filter_map(|figure| {
                Some(Section {
                    figure,
                    content: inputs.draw(figure)?,
                    missing: missing(figure),
                    command: format!("quadrille figures {} --only {}", inputs.command, figure.id),
                })
            });
            Chapter {
                paper,
                is_whole,
                summary: if is_whole { inputs.summary(paper) } else { String::new() },
                sections: sections.collect(),
            }
        });
        Self { inputs, chapters: chapters.filter(|c| !c.sections.is_empty()).collect() }
    }

    /// Names of the figures for which no result was found.
    pub fn empty_figures(&self) -> impl Iterator<Item = &str> {
        let sections = self.chapters.iter().flat_map(|chapter| &chapter.sections);
        let empty = sections.filter(|section| section.content.is_empty());
        empty.map(|section| &*section.figure.id)
    }

    /// The paragraphs at the head of the page, one per paper.
    pub fn summary(&self) -> String {
        let paragraphs = self.chapters.iter().map(|chapter| &*chapter.summary);
        paragraphs.filter(|paragraph| !paragraph.is_empty()).collect::<Vec<_>>().join("\n\n")
    }

    pub(crate) fn title(&self) -> String {
        match &self.chapters[..] {
            [chapter] if chapter.paper.id == "hardware" => chapter.paper.title.clone(),
            [chapter] => format!("{}: published figures and ours", chapter.paper.title),
            _ => "Published figures and ours".to_owned(),
        }
    }

    pub(crate) fn compared(&self) -> impl Iterator<Item = (&Chapter, &Section, &Compared)> {
        let chapters = self.chapters.iter();
        let sections = chapters.flat_map(|c| c.sections.iter().map(move |section| (c, section)));
        sections.flat_map(|(c, s)| s.content.compared.iter().map(move |one| (c, s, one)))
    }

    pub(crate) fn comparison(&self) -> Table {
        let keys =
            "paper figure quantity statistic published ours unit place holds deviation reason"
                .split(' ');
        let rows = self.compared().map(|(chapter, section, one)| {
            let Compared { published, ours } = one;
            let holds = one.holds().map(|holds| if holds { "yes" } else { "no" });
            vec![
                Cell::from(&*chapter.paper.id),
                Cell::from(&*section.figure.id),
                Cell::from(&*published.quantity),
                Cell::from(published.statistic.name()),
                Cell::from(published.value),
                Cell::from(*ours),
                Cell::from(&*published.unit),
                Cell::from(&*published.place),
                holds.map_or(Cell::Missing, Cell::from),
                Cell::from(one.deviation()),
                one.reason().map_or(Cell::Missing, Cell::from),
            ]
        });
        Table { columns: keys.map(|key| Column::new(key, key)).collect(), rows: rows.collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::results::Results;
    use crate::figures::results::tests::view;
    use quadrille_gpu::config::Config;

    /// The page of Figure 21 for a termination ratio; the published means of scenes are above 1.5, and a view has 4.4.
    fn page(baseline: u64, het: u64) -> String {
        let methods = [("baseline", 2000, baseline), ("het", 1000, het)];
        let inputs = Inputs {
            splats: Some(Results {
                views: vec![view("attic", &methods)],
                config: Config::default(),
            }),
            deferred: None,
            merging: None,
            hardware: None,
            command: String::new(),
            choice: Vec::new(),
            program: Program { version: "1", commit: "c", sources: "s" },
        };
        let report = Report::draw(&inputs, &|id| id == "fig21", &|_| Vec::new());
        crate::page::html(&report)
    }

    /// Only the bound is ticked or crossed, in both tables and as a statement; the reach is judged by its deviation, whose
    /// reason is given if it is large.
    #[test]
    fn bounds_are_ticked_and_reach_is_not() {
        let marks = |page: &str| ["yes\">✓", "no\">✗"].map(|mark| page.matches(mark).count());
        let [kept, broken] = [page(2000, 1000), page(1200, 1000)];
        assert_eq!([marks(&kept), marks(&broken)], [[3, 0], [0, 3]]);
        let deviates = |page: &str, by: &str| page.matches(&format!(">{by}</td>")).count() == 2;
        assert!(deviates(&kept, "-55 %") && deviates(&broken, "-73 %"));
        let near = page(4400, 1000);
        assert!(deviates(&near, "+0 %"));
        assert_eq!(
            [&kept, &broken, &near].map(|p| p.matches("class=\"word whole reason").count()),
            [2, 4, 0]
        );
    }
}
