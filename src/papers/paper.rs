//! The papers: their figures and tables as data, with the published numbers, from `published/*.toml`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use crate::table::Cell;
use quadrille_base::choice;

/// Preset of the GPU that the VR-Pipe paper simulates.
pub const PAPER_PRESET: &str = "vr-pipe";

/// Number of scenes of a quick run. In `benches/figures.toml`, most fragments terminate in these four.
pub const QUICK_SCENES: usize = 4;

/// A paper with its figures and tables.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Paper {
    /// Name of the paper in suites, such as `vr-pipe`.
    pub id: String,
    /// Short title on the page.
    pub title: String,
    /// A paragraph about the paper and its numbers, in HTML.
    pub introduction: String,
    /// Figures and tables in the order of the page.
    #[serde(rename = "figure")]
    pub figures: Vec<Figure>,
}

/// A figure or table of a paper.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    /// Name in flags and files, unique over all papers: `fig9`, `sds-table1`.
    pub id: String,
    /// Name on the page: `Figure 9`.
    pub number: String,
    /// Title: the subject of the figure.
    pub title: String,
    /// Part of the page that holds the figure.
    pub part: String,
    /// Source of our numbers.
    pub basis: NumberSource,
    /// Results of splats from which the figure is drawn.
    #[serde(default)]
    pub needs: Vec<Need>,
    /// Kinds of mesh runs from which the figure is drawn.
    #[serde(default)]
    pub runs: Vec<String>,
    /// Configuration fields that affect the figure.
    #[serde(default)]
    pub assumptions: Vec<String>,
    pub(crate) text: String,
    /// Published rows, by column key.
    #[serde(default)]
    pub(crate) rows: Vec<BTreeMap<String, Cell>>,
    #[serde(default)]
    pub(crate) published: Vec<Published>,
}

/// Methods, views and GPU preset whose results a figure needs.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Need {
    /// Views that must have results.
    pub views: NeededViews,
    /// Name of the GPU preset, `vr-pipe` by default.
    #[serde(default = "paper_preset")]
    pub preset: String,
    /// Names of the methods, such as `het+qm`.
    pub methods: Vec<String>,
}

fn paper_preset() -> String {
    PAPER_PRESET.to_owned()
}

/// The views that a figure needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NeededViews {
    /// The first view of every scene that is no sequence.
    First,
    /// Every view of every scene that is no sequence.
    All,
    /// Every view of the large scenes.
    Large,
    /// Every frame of the scenes whose views are a sequence.
    Frames,
}

choice! {
    /// Source of our numbers in a figure.
    pub enum NumberSource {
        /// Cycles and counters of emulated draws.
        Emulated = "emulated",
        /// Estimates from emulated draws and assumed constants, beside the measurements of the paper.
        Modelled = "modelled",
        /// Published specifications of products.
        Specifications = "specifications",
        /// Fields of the emulated configuration.
        Configuration = "configuration",
    }
}

/// Statistic of a published number, by which ours is computed from a figure's rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Statistic {
    /// Mean over scenes.
    Mean,
    /// Largest value of any view: how far the results reach, no bound.
    Maximum,
    /// Upper bound of every scene; ours is the largest mean of a scene.
    Below,
    /// Lower bound of every scene; ours is the least mean of a scene.
    Above,
    Value,
}

impl Statistic {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Mean => "mean",
            Self::Maximum => "maximum",
            Self::Below => "all below",
            Self::Above => "all above",
            Self::Value => "value",
        }
    }
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Published {
    /// Name of the number; unique with the statistic within the figure.
    pub(crate) quantity: String,
    pub(crate) statistic: Statistic,
    pub(crate) value: f64,
    #[serde(default)]
    pub(crate) unit: String,
    /// Section of the paper that states the number.
    pub(crate) place: String,
    /// Column with our number; `None` if the figure computes it otherwise.
    #[serde(default, skip_serializing)]
    pub(crate) column: Option<String>,
    /// Statistic of the column, if other than the published one.
    #[serde(default, skip_serializing)]
    pub(crate) ours: Option<Statistic>,
    /// Why our number deviates for the scenes of the suites in `benches`, in plain text.
    #[serde(default, skip_serializing)]
    pub(crate) reason: Option<String>,
}

/// All papers, in the order of the page.
#[expect(clippy::panic, reason = "these files are part of the crate, and tests read them")]
pub static PAPERS: LazyLock<[Paper; 5]> = LazyLock::new(|| {
    [
        include_str!("published/vr-pipe.toml"),
        include_str!("published/sort-based-deferred-shading.toml"),
        include_str!("published/quad-fragment-merging.toml"),
        include_str!("published/pixel-merge-unit.toml"),
        include_str!("published/hardware.toml"),
    ]
    .map(|text| toml::from_str(text).unwrap_or_else(|error| panic!("a published file: {error}")))
});

/// All figures of all papers.
pub fn figures() -> impl Iterator<Item = &'static Figure> {
    PAPERS.iter().flat_map(|paper| &paper.figures)
}

impl Paper {
    /// Returns the figures of the paper `id`; none for an unknown name.
    pub fn figures_of(id: &str) -> &'static [Figure] {
        let paper = PAPERS.iter().find(|paper| paper.id == id);
        paper.map_or(&[], |paper| &paper.figures)
    }
}

impl Figure {
    pub(crate) fn number(&self, quantity: &str, statistic: Statistic) -> Option<f64> {
        self.find(statistic, |one| one.quantity == quantity)
    }

    pub(crate) fn number_of_column(&self, column: &str, statistic: Statistic) -> Option<f64> {
        self.find(statistic, |one| one.column.as_deref() == Some(column))
    }

    fn find(&self, statistic: Statistic, is_it: impl Fn(&Published) -> bool) -> Option<f64> {
        self.published.iter().find(|p| p.statistic == statistic && is_it(p)).map(|p| p.value)
    }
}

/// Published mean of a quantity of a figure; NaN if there is none.
pub(crate) fn mean_of(figure: &str, quantity: &str) -> f64 {
    let figure = figures().find(|one| one.id == figure);
    figure.and_then(|figure| figure.number(quantity, Statistic::Mean)).unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique() {
        let ids: Vec<&str> = figures().map(|figure| figure.id.as_str()).collect();
        for (at, figure) in figures().enumerate() {
            assert!(!ids[..at].contains(&figure.id.as_str()), "{}", figure.id);
            for (at, one) in figure.published.iter().enumerate() {
                let same =
                    |p: &&Published| (&p.quantity, p.statistic) == (&one.quantity, one.statistic);
                assert!(figure.published[..at].iter().find(same).is_none(), "{one:?}");
            }
        }
        for number in 1..=23 {
            assert!(ids.contains(&format!("fig{number}").as_str()), "{number}");
        }
    }

    /// Figures and tables stand in the order of their numbers, and each part of a paper is in one place.
    #[test]
    fn figures_are_in_order() {
        let roman = ["I", "II", "III"];
        for paper in PAPERS.iter() {
            let mut last = BTreeMap::new();
            let mut parts: Vec<&str> = Vec::new();
            for figure in &paper.figures {
                if parts.last() != Some(&&*figure.part) {
                    assert!(!parts.contains(&&*figure.part), "{}", figure.id);
                    parts.push(&figure.part);
                }
                let Some((kind, number)) = figure.number.split_once(' ') else { continue };
                let in_roman = roman.iter().position(|n| *n == number).map(|at| at + 1);
                if let Some(number) = number.parse().ok().or(in_roman) {
                    let before = last.insert(kind, number);
                    assert!(before < Some(number), "{}", figure.number);
                }
            }
        }
    }

    /// Table III: (4 B * 3 * 16 + 2 B) * 128 = 24.25 KB, and (4 B + 6 bits) * 128 + 64 B + 16 B = 688 B.
    #[test]
    fn storage_adds_up() {
        let table3 = figures().find(|figure| figure.id == "table3").unwrap();
        let of = |quantity| table3.number(quantity, Statistic::Value).unwrap();
        assert_eq!(of("tile-grid coalescing") * 1024.0, f64::from((4 * 3 * 16 + 2) * 128));
        assert_eq!(of("quad reordering"), f64::from(4 * 128 + 6 * 128 / 8 + 64 + 16));
        let total = of("tile-grid coalescing") + of("quad reordering") / 1024.0;
        assert!((total - of("total")).abs() < 0.005);
    }
}
