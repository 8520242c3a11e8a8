//! Published numbers beside the range of our numbers over the open assumptions.

use super::pixels::{ORDERS, efficiency, most_efficient};
use super::results::{Frame, Measure, MergingResults, MergingRun, RANDOM_SET, Unit};
use crate::content::Content;
use crate::paper::{Figure, Statistic};
use crate::sheet::{Sheet, largest, least, mean};
use quadrille_charts::measured;

/// Lowest, default and highest value over the assumptions, and the value in random order.
type Range = [Option<f64>; 4];

fn table(figure: &'static Figure, ranges: Vec<(&'static str, Range)>) -> Content {
    let number = |at: usize| move |(_, range): &(&str, Range)| range[at];
    let published = |quantity: &str| figure.published.iter().find(|p| p.quantity == quantity);
    let mut sheet = Sheet::labelled(figure, ranges, "numbers", "quantity", |(quantity, _)| {
        (*quantity).to_owned()
    });
    sheet
        .word("said", "published", |(quantity, _)| {
            let one = published(quantity)?;
            let number = measured(one.value);
            Some(match one.statistic {
                Statistic::Above => format!("over {number}"),
                Statistic::Maximum => format!("up to {number}"),
                _ => number,
            })
        })
        .number("lowest", "lowest", number(0))
        .number("default", "default", number(1))
        .number("highest", "highest", number(2))
        .number("random", "random order", number(3))
        .word("inside", "inside", |(quantity, [lowest, _, highest, _])| {
            // Compared in the digits that the page shows.
            let [lowest, value, highest] =
                [(*lowest)?, published(quantity)?.value, (*highest)?].map(rounded);
            let is_above = published(quantity)?.statistic == Statistic::Above;
            let is_inside = value <= highest && (is_above || lowest <= value);
            Some(if is_inside { "yes" } else { "no" }.to_owned())
        });
    for (quantity, [lowest, default, highest, _]) in sheet.rows().to_vec() {
        debug_assert!(lowest <= highest, "{quantity}");
        sheet.ours(quantity, default);
    }
    let insides: Vec<_> = sheet.table.words("inside").map(|word| Some(word? == "yes")).collect();
    sheet.claim("The published number lies in the range.", "numbers", insides);
    sheet.finish()
}

fn rounded(number: f64) -> f64 {
    let digits = 2.0 - number.abs().max(f64::MIN_POSITIVE).log10().floor();
    let scale = 10_f64.powf(digits);
    (number * scale).round() / scale
}

pub(super) fn quads(figure: &'static Figure, results: &MergingResults) -> Content {
    let in_percent: Measure = |frame| Some(100.0 * frame.share()?);
    let times_reyes: Measure = |frame| Some(1.0 / frame.over_reyes()?);
    let ranges: [(&str, Measure, Option<&str>); 9] = [
        ("times less, mean", Frame::less, None),
        ("share of an unbounded buffer's merges in %, mean", in_percent, None),
        ("shadings with QFM, mean", Frame::qfm, None),
        ("shadings without merging, BIGGUY", Frame::none, Some("BIGGUY")),
        ("shadings with QFM, BIGGUY", Frame::qfm, Some("BIGGUY")),
        ("QFM over Reyes, quads culled, mean", Frame::over_reyes, None),
        ("QFM over Reyes, grids culled, mean", Frame::over_reyes_grids, None),
        ("Reyes over QFM, FURBALL", times_reyes, Some("FURBALL")),
        ("Reyes over QFM, PTCLOUD", times_reyes, Some("PTCLOUD")),
    ];
    let ranges = ranges.map(|(quantity, of, scene)| (quantity, range(results, of, scene)));
    table(figure, ranges.to_vec())
}

fn range(results: &MergingResults, of: Measure, scene: Option<&str>) -> Range {
    let scenes = scene.map_or_else(|| results.meshes("merging"), |scene| vec![scene]);
    let over = |frames: &[Frame], choose: fn(Vec<Option<f64>>) -> Option<f64>| {
        let of_scene = |scene: &&str| {
            choose(frames.iter().filter(|frame| frame.quads.key.mesh == **scene).map(of).collect())
        };
        mean(scenes.iter().map(of_scene))
    };
    let sets = results.sets().into_iter();
    let sets: Vec<_> =
        sets.map(|set| results.frames(&["merging", "variants", "dense"], set)).collect();
    let random = results.frames(&["random"], RANDOM_SET);
    [
        least(sets.iter().map(|frames| over(frames, least))),
        over(&results.default_frames(), mean),
        largest(sets.iter().map(|frames| over(frames, largest))),
        over(&random, mean),
    ]
}

pub(super) fn pixels(figure: &'static Figure, results: &MergingResults) -> Content {
    let saved = |run: &MergingRun| run.of_unit(Unit::Pmu, 512, |row| 100.0 * row.savings());
    let by_order = |choose: &dyn Fn(Vec<&MergingRun>) -> Option<f64>| -> Range {
        let [file, random, cache] = ORDERS.map(|[order, _]| {
            let runs = results.of("orders_pmu");
            choose(runs.filter(|run| run.setting("order") == Some(order)).collect())
        });
        [least([file, cache]), file, largest([file, cache]), random]
    };
    let mut efficiencies = by_order(&|runs| most_efficient(runs.into_iter()));
    let dense: Vec<_> = results.of("pixels_dense").map(efficiency).collect();
    efficiencies[0] = least(dense.iter().copied().chain([efficiencies[0]]));
    efficiencies[2] = largest(dense.into_iter().chain([efficiencies[2]]));
    let quality = |look: &str| -> Range {
        let runs = results.of("pixels").filter(|run| run.setting("look") == Some(look));
        let db: Vec<_> = runs.map(|run| run.rows.first()?.psnr_covered_db).collect();
        [least(db.clone()), mean(db.clone()), largest(db), None]
    };
    let ranges = vec![
        ("quads saved in %, mean", by_order(&|runs| mean(runs.into_iter().map(saved)))),
        ("quads saved in %, most", by_order(&|runs| largest(runs.into_iter().map(saved)))),
        ("efficiency in %, most", efficiencies),
        ("PSNR in dB, own textures", quality("plain")),
        ("PSNR in dB, checker", quality("checker")),
    ];
    table(figure, ranges)
}
