//! The figures of the paper on the pixel merge unit.

use super::quads::Points;
use super::results::{MergingCounts, MergingResults, MergingRun, Unit};
use crate::content::Content;
use crate::paper::Figure;
use crate::sheet::{Sheet, largest};
use quadrille_charts::{Axis, LineChart, LineKind, LineSeries};

const ENTRIES: [u32; 5] = [16, 64, 256, 512, 1024];

fn by_entries<'a>(
    figure: &'static Figure,
    results: &'a MergingResults,
    study: &str,
    of: fn(&MergingCounts) -> f64,
) -> Sheet<&'a MergingRun> {
    let name = |run: &&MergingRun| match run.setting("area") {
        Some(area) => format!("{}, {area}", run.key.mesh),
        None => run.key.mesh.clone(),
    };
    let mut sheet = Sheet::labelled(figure, results.of(study), "meshes", "mesh", name);
    sheet.whole("triangles", "triangles", |run| Some(run.rows.first()?.triangles as f64));
    let mut points = Points::new();
    for entries in ENTRIES {
        let key = format!("entries_{entries}");
        sheet.share(&key, &format!("{entries} entries"), |run| run.of_unit(Unit::Pmu, entries, of));
        points.push((key, f64::from(entries).log2(), entries.to_string()));
    }
    if study == "buffers" {
        sheet.mean_row();
    }
    let axes = [Axis::linear("entries of the merge buffer"), Axis::small_share("quads saved")];
    sheet.lines([&figure.title, "The paper's lines have no numbers in its text."], axes, &points);
    sheet.judge("The curve levels off at 512 entries (5).", |mesh| {
        let [before, at, beyond] = [256, 512, 1024].map(|n| mesh.of(&format!("entries_{n}")));
        // Twice the entries gain at most 5 %.
        before.and(Some(beyond? <= 1.05 * at?))
    });
    sheet
}

pub(super) fn figure_4(figure: &'static Figure, results: &MergingResults) -> Content {
    by_entries(figure, results, "buffers", |row| row.efficiency()).finish()
}

pub(super) fn figure_5(figure: &'static Figure, results: &MergingResults) -> Content {
    by_entries(figure, results, "buffers", |row| row.savings()).finish()
}

pub(super) fn dense(figure: &'static Figure, results: &MergingResults) -> Content {
    let mut sheet = by_entries(figure, results, "buffers_dense", |row| row.savings());
    let saved = sheet.values("entries_512");
    let larger: Vec<_> = saved.windows(2).map(|pair| Some(pair[0]? >= pair[1]?)).collect();
    sheet.claim("Smaller triangles save more (5).", "steps of the tessellation", larger);
    sheet.finish()
}

pub(super) const ORDERS: [[&str; 2]; 3] =
    [["file", "file"], ["random", "random"], ["vertex-cache", "vertex cache"]];

fn saved(
    results: &MergingResults,
    mesh: &str,
    unit: Unit,
    entries: u32,
    order: &str,
) -> Option<f64> {
    let study = if unit == Unit::Pmu { "orders_pmu" } else { "orders" };
    let mut runs = results.of(study);
    let run = runs.find(|run| run.key.mesh == mesh && run.setting("order") == Some(order))?;
    run.of_unit(unit, entries, |row| row.savings())
}

pub(super) fn orders(figure: &'static Figure, results: &MergingResults) -> Content {
    let units = [
        (Unit::Qfm, 32, "qfm_32", "QFM 32"),
        (Unit::Qfm, 512, "qfm_512", "QFM 512"),
        (Unit::Pmu, 512, "pmu_512", "PMU 512"),
    ];
    let meshes = results.meshes("orders_pmu");
    let mut sheet = Sheet::labelled(figure, meshes, "meshes", "mesh", |mesh| (*mesh).to_owned());
    for (unit, entries, key, name) in units {
        for [order, label] in ORDERS {
            let key = format!("{key}_{}", order.replace('-', "_"));
            sheet.share(&key, &format!("{name}: {label}"), |mesh| {
                saved(results, mesh, unit, entries, order)
            });
        }
    }
    sheet.judge("A vertex cache's order saves more than a random one.", |mesh| {
        Some(mesh.of("pmu_512_vertex_cache")? > mesh.of("pmu_512_random")?)
    });
    sheet.judge(
        "With 512 entries, quad-fragment merging saves more than the pixel merge unit.",
        |mesh| Some(mesh.of("qfm_512_file")? > mesh.of("pmu_512_file")?),
    );
    sheet.mean_row();
    sheet.finish()
}

/// Chart of a point per mesh and order: the quads saved over a column.
fn over(sheet: &Sheet<&str>, title: &str, x: Axis, key: &str) -> LineChart {
    let across = sheet.values(key);
    let series = ORDERS.iter().enumerate().map(|(colour, [order, label])| {
        let saved = sheet.values(&order.replace('-', "_"));
        let points = across.iter().zip(saved).filter_map(|(x, y)| Some([(*x)?, y?]));
        LineSeries::ours(*label, colour, points, LineKind::Points)
    });
    LineChart::new(title, [x, Axis::small_share("quads saved")], Vec::new(), series)
}

/// Rank correlation (Spearman) of two columns over the rows that have both.
fn rank_correlation(sheet: &Sheet<&str>, [a, b]: [&str; 2]) -> Option<f64> {
    let pairs = sheet.values(a).into_iter().zip(sheet.values(b));
    let pairs: Vec<[f64; 2]> = pairs.filter_map(|(a, b)| Some([a?, b?])).collect();
    // The middle of the ranks of equal values.
    let rank = |of: usize, value: f64| {
        let below = pairs.iter().filter(|pair| pair[of] < value).count();
        let equal = pairs.iter().filter(|pair| pair[of] == value).count();
        below as f64 + (equal as f64 - 1.0) / 2.0
    };
    let middle = (pairs.len() as f64 - 1.0) / 2.0;
    let offsets = pairs.iter().map(|pair| [0, 1].map(|of| rank(of, pair[of]) - middle));
    let [ab, aa, bb] =
        offsets.fold([0.0; 3], |[ab, aa, bb], [a, b]| [ab + a * b, aa + a * a, bb + b * b]);
    (aa > 0.0 && bb > 0.0).then(|| ab / (aa * bb).sqrt())
}

pub(super) fn properties(figure: &'static Figure, results: &MergingResults) -> Content {
    let studies = ["orders_pmu", "properties"];
    let meshes = studies.iter().flat_map(|study| results.meshes(study));
    let mut sheet = Sheet::labelled(figure, meshes, "meshes", "mesh", |mesh| (*mesh).to_owned());
    let row = |mesh: &str, order: &str| {
        let mut runs = studies.iter().flat_map(|study| results.of(study));
        let run = runs.find(|run| run.key.mesh == mesh && run.setting("order") == Some(order))?;
        run.row(Unit::Pmu, Some(512)).copied()
    };
    let file = |mesh: &str| row(mesh, ORDERS[0][0]);
    sheet.whole("triangles", "triangles", |mesh| Some(file(mesh)?.triangles as f64));
    sheet.number("area_px", "mean area in px", |mesh| file(mesh)?.mean_px);
    sheet.share("partial", "partially covered quads", |mesh| Some(file(mesh)?.partial_share()));
    for [order, label] in ORDERS {
        sheet.share(&order.replace('-', "_"), &format!("saved: {label}"), |mesh| {
            Some(row(mesh, order)?.savings())
        });
    }
    let caption = "A point per mesh and order of its triangles; 512 entries, 4 samples.";
    let charts = [
        (
            "Quads saved by share of partially covered quads",
            Axis::share("partially covered quads"),
            "partial",
        ),
        ("Quads saved by area of triangles", Axis::log("mean area of triangles in px"), "area_px"),
    ];
    for (title, axis, key) in charts {
        let drawing = over(&sheet, title, axis, key).draw();
        sheet.chart(drawing, caption);
    }
    for (key, name) in
        [("partial", "share of partially covered quads"), ("area_px", "area of triangles")]
    {
        let of = |order| rank_correlation(&sheet, [key, order]);
        if let (Some(file), Some(cached)) = (of("file"), of("vertex_cache")) {
            sheet.say(format!(
                "The rank correlation of the {name} with the saving is {file:.2} in the order of the file and {cached:.2} in \
                 the order of a vertex cache."
            ));
        }
    }
    sheet.judge(
        "A vertex cache's order saves more than ten times as much as a random one.",
        |mesh| Some(mesh.of("vertex_cache")? > 10.0 * mesh.of("random")?),
    );
    sheet.finish()
}

pub(super) fn most_efficient<'a>(runs: impl Iterator<Item = &'a MergingRun>) -> Option<f64> {
    largest(runs.map(efficiency))
}

pub(super) fn efficiency(run: &MergingRun) -> Option<f64> {
    run.of_unit(Unit::Pmu, 512, |row| 100.0 * row.efficiency())
}
