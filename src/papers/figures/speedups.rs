//! Figures 16 and 18: speedups of VR-Pipe, and the work that its additions take off the ROPs.

use super::results::{Results, SceneViews, ViewResult, largest, least, mean, quotient};
use super::table::{Cell, Column, Table};
use super::{Claim, Content, series};
use crate::published::{self, Statistic};
use crate::svg::{Axis, BarChart, BarValue, Group, Mark};

/// A quantity of a view: the ratio of a count between two methods.
#[derive(Clone, Copy)]
pub(super) struct Ratio {
    /// Name in files.
    key: &'static str,
    /// Name on the page.
    name: &'static str,
    /// Published quantity.
    quantity: &'static str,
    /// Methods: the dividend's and the divisor's.
    methods: [&'static str; 2],
    /// Count.
    path: &'static str,
}

const SPEEDUPS: [Ratio; 3] = Ratio::SPEEDUPS;

const REDUCTIONS: [Ratio; 4] = [
    Ratio {
        key: "fragments_het",
        name: "fragments: HET",
        quantity: "fragments, HET",
        methods: ["baseline", "het"],
        path: "fragments.blended",
    },
    Ratio {
        key: "fragments_qm",
        name: "fragments: then QM",
        quantity: "fragments, QM on top of HET",
        methods: ["het", "het+qm"],
        path: "fragments.blended",
    },
    Ratio {
        key: "quads_het",
        name: "quads: HET",
        quantity: "quads, HET",
        methods: ["baseline", "het"],
        path: "quads.blended",
    },
    Ratio {
        key: "quads_qm",
        name: "quads: then QM",
        quantity: "quads, QM on top of HET",
        methods: ["het", "het+qm"],
        path: "quads.blended",
    },
];

impl Ratio {
    /// Speedups of VR-Pipe's additions over the baseline.
    pub(super) const SPEEDUPS: [Self; 3] = [
        Self {
            key: "qm",
            name: "QM",
            quantity: "speedup of QM",
            methods: ["baseline", "qm"],
            path: "cycles",
        },
        Self {
            key: "het",
            name: "HET",
            quantity: "speedup of HET",
            methods: ["baseline", "het"],
            path: "cycles",
        },
        Self {
            key: "het_qm",
            name: "HET+QM",
            quantity: "speedup of HET+QM",
            methods: ["baseline", "het+qm"],
            path: "cycles",
        },
    ];

    fn of(&self, view: &ViewResult) -> Option<f64> {
        view.ratio(self.methods[0], self.methods[1], self.path)
    }

    /// The mean over the views of a scene.
    fn of_scene(&self, scene: &SceneViews<'_>) -> Option<f64> {
        scene.mean(|view| self.of(view))
    }
}

/// The mean speedups of QM, HET and both over the scenes.
pub(super) fn mean_speedups(results: &Results) -> [Option<f64>; 3] {
    let scenes = results.all();
    SPEEDUPS.map(|ratio| mean(scenes.iter().map(|scene| ratio.of_scene(scene))))
}

/// The mean reductions over the scenes: fragments by HET and then QM, quads by HET and then QM.
pub(super) fn mean_reductions(results: &Results) -> [Option<f64>; 4] {
    let scenes = results.all();
    REDUCTIONS.map(|ratio| mean(scenes.iter().map(|scene| ratio.of_scene(scene))))
}

/// The speedups of HET and of both as shares of the reduction of quads, as means over the scenes.
pub(super) fn per_quad(results: &Results) -> [Option<f64>; 2] {
    let scenes = results.all();
    ["het", "het+qm"].map(|method| {
        let of = |view: &ViewResult| {
            let quads = view.ratio("baseline", method, "quads.blended");
            quotient(view.speedup(method), quads)
        };
        mean(scenes.iter().map(|scene| scene.mean(of)))
    })
}

/// A table with a row per view, and a chart with a group per scene, their mean, and the published means.
pub(super) fn draw(
    content: &mut Content,
    figure: &str,
    scenes: &[SceneViews<'_>],
    ratios: &[Ratio],
    [title, axis]: [&str; 2],
) -> BarChart {
    let keys = ratios.iter().map(|r| Column::new(r.key, r.name));
    let first = [Column::new("scene", "scene"), Column::new("view", "view")];
    content.table = Table::new(first.into_iter().chain(keys).collect());
    let mut groups = Vec::new();
    for scene in scenes {
        for view in &scene.views {
            let cells = ratios.iter().map(|r| Cell::from(r.of(view)));
            let key = super::key_cells(view).into_iter();
            content.table.row(key.chain(cells).collect());
        }
        let means = ratios.iter().map(|r| r.of_scene(scene));
        groups.push(Group {
            label: scene.name.to_owned(),
            bars: means.map(|m| m.map(BarValue::ours)).collect(),
        });
    }
    let means: Vec<_> = ratios
        .iter()
        .map(|r| mean(scenes.iter().map(|scene| r.of_scene(scene))))
        .collect();
    if scenes.len() > 1 {
        groups.push(Group {
            label: "mean".to_owned(),
            bars: means.iter().map(|m| m.map(BarValue::ours)).collect(),
        });
    }
    let stated = ratios.iter().map(|r| {
        let most = published::number(figure, r.quantity, Statistic::Maximum);
        BarValue::mean_and_most(published::mean(figure, r.quantity), most)
    });
    groups.push(Group {
        label: "published".to_owned(),
        bars: stated.map(Some).collect(),
    });
    let names: Vec<&str> = ratios.iter().map(|r| r.name).collect();
    BarChart {
        title: title.to_owned(),
        axis: Axis::linear(axis),
        series: series(&names),
        groups,
        marks: vec![Mark::at(1.0, "")],
        is_stacked: false,
    }
}

pub(super) fn figure_16(results: &Results) -> Content {
    let mut content = Content::default();
    content.say(
        "Cycles of the baseline over those with quad merging (QM), early termination (HET) and both. A bar is the mean \
         over the views of a scene, the mean that of the scenes.",
    );
    let scenes = results.all();
    let title = "Speedup over the baseline";
    let chart = draw(
        &mut content,
        "fig16",
        &scenes,
        &SPEEDUPS,
        [title, "speedup (times)"],
    );
    let most = |ratio: &Ratio| {
        largest(
            scenes
                .iter()
                .flat_map(|s| s.views.iter().map(|view| ratio.of(view))),
        )
    };
    content.chart(
        chart.svg(),
        "Dashed bars are published means, dashed lines published maxima; the paper states no mean of QM.",
    );
    let [_, het, both] = mean_speedups(results);
    content.compare(
        "fig16",
        SPEEDUPS[0].quantity,
        Statistic::Maximum,
        most(&SPEEDUPS[0]),
    );
    content.compare("fig16", SPEEDUPS[1].quantity, Statistic::Mean, het);
    content.compare("fig16", SPEEDUPS[2].quantity, Statistic::Mean, both);
    content.compare(
        "fig16",
        SPEEDUPS[2].quantity,
        Statistic::Maximum,
        most(&SPEEDUPS[2]),
    );
    let improves = scenes.iter().map(|scene| {
        let [qm, het, both] = SPEEDUPS.map(|r| r.of_scene(scene));
        Some(both? >= qm?.max(het?))
    });
    let statement = "Both additions together are faster than either (VI-B).";
    content
        .claims
        .push(Claim::count(statement, "scenes", improves));
    let gains = scenes.iter().map(|s| Some(SPEEDUPS[2].of_scene(s)? > 1.0));
    let statement = "VR-Pipe improves every scene (VI-B).";
    content
        .claims
        .push(Claim::count(statement, "scenes", gains));
    let views = scenes.iter().flat_map(|s| &s.views);
    let all: Vec<_> = views.map(|view| SPEEDUPS[2].of(view)).collect();
    if let (Some(low), Some(high)) = (least(all.clone()), largest(all)) {
        content.say(format!(
            "Over all views, HET+QM ranges from {low:.2} to {high:.2}."
        ));
    }
    content
}

pub(super) fn figure_18(results: &Results) -> Content {
    let mut content = Content::default();
    content.say(
        "Fragments and quads that CROP blends in the baseline over those with early termination, and with early \
         termination over those with quad merging on top.",
    );
    let scenes = results.all();
    let title = "Reduction of blended fragments and quads";
    let chart = draw(
        &mut content,
        "fig18",
        &scenes,
        &REDUCTIONS,
        [title, "reduction (times)"],
    );
    content.chart(chart.svg(), "Dashed bars are published means.");
    let means = mean_reductions(results);
    for (ratio, mean) in REDUCTIONS.iter().zip(means) {
        content.compare("fig18", ratio.quantity, Statistic::Mean, mean);
    }
    let smaller = scenes
        .iter()
        .map(|scene| Some(REDUCTIONS[2].of_scene(scene)? <= REDUCTIONS[0].of_scene(scene)?));
    let statement = "HET reduces quads less than fragments (VI-C).";
    content
        .claims
        .push(Claim::count(statement, "scenes", smaller));
    let [het, both] = per_quad(results);
    if let (Some(het), Some(both)) = (het, both) {
        let speedup = |quantity| published::mean("fig16", quantity).unwrap_or(f64::NAN);
        let quads =
            |at: usize| published::mean("fig18", REDUCTIONS[at].quantity).unwrap_or(f64::NAN);
        let published_het = speedup(SPEEDUPS[1].quantity) / quads(2);
        let published_both = speedup(SPEEDUPS[2].quantity) / (quads(2) * quads(3));
        content.say(format!(
            "The speedup as a share of the reduction of quads does not depend on the size of the splats: {het:.2} for HET \
             and {both:.2} for HET+QM here, {published_het:.2} and {published_both:.2} from the published means. It is 1 \
             where the ROPs limit the draw with and without the additions."
        ));
    }
    content
}
