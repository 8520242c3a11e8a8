//! Measured numbers of a machine beside the emulator's: errors, their mean, and scatter plots.

use crate::content::{Content, LARGE_DEVIATION};
use crate::paper::Figure;
use crate::sheet::{Sheet, mean, quotient};
use quadrille_base::units::percent;
use quadrille_charts::{Axis, LineChart, LineKind, LineSeries, measured};
use quadrille_suite::measured::{Measurement, Quantity};
use quadrille_suite::unique;

const REFERENCE: &str = "blend-rgba16f";
const RELATIVE: &str = "Rates relative to blend-rgba16f";

/// A measured number with the emulated one.
#[derive(Debug, Clone, PartialEq)]
pub struct Pair {
    /// Measured number with its item, view and device.
    pub measured: Measurement,
    /// Emulated number in SI units; `None` for an item without a model.
    pub modelled: Option<f64>,
    /// Fields of the configuration that move the emulated number, if it deviates.
    pub fields: String,
}

/// Pairs of measured and emulated numbers, and the configuration of the emulator.
#[derive(Debug, Clone, PartialEq)]
pub struct Correlation {
    /// Pairs in the order of the file.
    pub pairs: Vec<Pair>,
    /// Name of the emulator's configuration.
    pub configuration: String,
}

impl Correlation {
    /// Measurement of the rate that the other rates of draws are compared with.
    pub fn reference(&self) -> Option<&Measurement> {
        self.pairs.iter().map(|pair| &pair.measured).find(|one| one.item == REFERENCE)
    }

    /// The pairs that deviate by more than 15 %; of rates of draws, relative to the reference.
    pub fn deviating(&mut self) -> Vec<&mut Pair> {
        let reference = reference(&self.pairs);
        let deviates = |pair: &Pair| {
            let numbers = relative(pair, reference).or_else(|| pair.numbers());
            numbers.is_some_and(|[measured, ours]| (ours / measured - 1.0).abs() > LARGE_DEVIATION)
        };
        self.pairs.iter_mut().filter(|pair| deviates(pair)).collect()
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Agreement {
    pairs: usize,
    /// Mean magnitude of the relative errors.
    mean_error: f64,
    /// Geometric mean of the emulator's numbers over the measured ones.
    ratio: f64,
    /// Pearson's coefficient of the logarithms; `None` for fewer than three pairs, or if one side is constant.
    correlation: Option<f64>,
}

impl Pair {
    fn unit(&self) -> (&'static str, f64) {
        self.measured.quantity.unit()
    }

    fn numbers(&self) -> Option<[f64; 2]> {
        Some([self.measured.value, self.modelled?])
    }

    fn error(&self) -> Option<f64> {
        Some(self.modelled? / self.measured.value - 1.0)
    }

    fn is_of_kernel(&self) -> bool {
        self.measured.view.is_some()
    }
}

impl Agreement {
    fn of(pairs: impl IntoIterator<Item = [f64; 2]>) -> Option<Self> {
        let pairs = pairs.into_iter().filter(|pair| pair.iter().all(|n| *n > 0.0));
        let pairs: Vec<[f64; 2]> = pairs.collect();
        let logs: Vec<[f64; 2]> = pairs.iter().map(|pair| pair.map(f64::ln)).collect();
        let errors = pairs.iter().map(|[measured, ours]| Some((ours / measured - 1.0).abs()));
        let ratios = logs.iter().map(|[measured, ours]| Some(ours - measured));
        Some(Self {
            pairs: pairs.len(),
            mean_error: mean(errors)?,
            ratio: mean(ratios)?.exp(),
            correlation: pearson(&logs),
        })
    }

    fn sentence(&self, subject: &str) -> String {
        let correlation = match self.correlation {
            Some(r) => format!(", the correlation of the logarithms is {r:.3}"),
            None => String::new(),
        };
        format!(
            "{subject}, n = {}: the mean error is {}, the emulator's numbers are {} times the measured ones in the \
             geometric mean{correlation}.",
            self.pairs,
            percent(self.mean_error),
            measured(self.ratio),
        )
    }
}

fn pearson(points: &[[f64; 2]]) -> Option<f64> {
    let count = points.len() as f64;
    let [x, y] = [0, 1].map(|axis| points.iter().map(|p| p[axis]).sum::<f64>() / count);
    let sum = |of: &dyn Fn(&[f64; 2]) -> f64| points.iter().map(of).sum::<f64>();
    let product = sum(&|p| (p[0] - x) * (p[1] - y));
    let spread = sum(&|p| (p[0] - x).powi(2)) * sum(&|p| (p[1] - y).powi(2));
    (points.len() >= 3 && spread > 0.0).then(|| product / spread.sqrt())
}

pub(crate) fn draw(figure: &'static Figure, results: &Correlation) -> Option<Content> {
    let is_kernels = match &*figure.id {
        "hw-agreement" | "hw-kernels" => true,
        "hw-rates" => false,
        _ => return None,
    };
    let pairs = results.pairs.iter().filter(|pair| pair.is_of_kernel() == is_kernels);
    let pairs: Vec<&Pair> = pairs.collect();
    if pairs.is_empty() {
        return None;
    }
    Some(match &*figure.id {
        "hw-agreement" => agreement(figure, &pairs),
        "hw-kernels" => kernels(figure, results, &pairs),
        _ => rates(figure, results, &pairs),
    })
}

fn agreement(figure: &'static Figure, pairs: &[&Pair]) -> Content {
    let of_item = |item: String| {
        let of = pairs.iter().filter(|pair| pair.measured.item == item);
        let agreement = Agreement::of(of.filter_map(|pair| pair.numbers()))?;
        Some((item, agreement))
    };
    let items = unique(pairs.iter().map(|pair| pair.measured.item.clone()));
    let rows = items.into_iter().filter_map(of_item);
    let mut sheet = Sheet::labelled(figure, rows, "items", "item", |(item, _)| item.clone());
    sheet
        .whole("count", "n", |(_, of)| Some(of.pairs as f64))
        .share("mean_error", "mean error", |(_, of)| Some(of.mean_error))
        .number("ratio", "ratio", |(_, of)| Some(of.ratio))
        .number("correlation", "correlation", |(_, of)| of.correlation);
    sheet.finish()
}

fn begin<'a>(
    figure: &'static Figure,
    results: &Correlation,
    pairs: &[&'a Pair],
    cases: &'static str,
) -> Sheet<&'a Pair> {
    let devices = pairs.iter().map(|pair| &*pair.measured.device);
    let devices = unique(devices.filter(|device| !device.is_empty()));
    let without = pairs.iter().filter(|pair| pair.modelled.is_none()).count();
    let mut sheet =
        Sheet::new(figure, pairs.iter().copied(), cases, |pair| pair.measured.item.clone());
    let machine =
        if devices.is_empty() { "an unnamed machine".to_owned() } else { devices.join(", ") };
    sheet.say(format!(
        "Measured on {machine}, compared with the configuration {}.",
        results.configuration
    ));
    match without {
        0 => {}
        1 => sheet.say("1 measured number has no counterpart in the emulator."),
        _ => sheet.say(format!("{without} measured numbers have no counterpart in the emulator.")),
    }
    sheet.text("item", "item", |pair| pair.measured.item.clone());
    sheet
}

fn values(sheet: &mut Sheet<&Pair>) {
    sheet
        .text("unit", "unit", |pair| pair.unit().0.to_owned())
        .number("measured", "measured", |pair| Some(pair.measured.value / pair.unit().1))
        .number("emulated", "emulated", |pair| Some(pair.modelled? / pair.unit().1))
        .share("error", "error", |pair| pair.error())
        .text("fields", "fields that move it", |pair| pair.fields.clone());
}

fn kernels(figure: &'static Figure, results: &Correlation, pairs: &[&Pair]) -> Content {
    let mut sheet = begin(figure, results, pairs, "kernels");
    for (quantity, noun) in [(Quantity::Time, "Times"), (Quantity::Count, "Counts")] {
        let of = pairs.iter().filter(|pair| pair.measured.quantity == quantity);
        if let Some(agreement) = Agreement::of(of.filter_map(|pair| pair.numbers())) {
            sheet.say(agreement.sentence(noun));
        }
    }
    sheet
        .text("scene", "scene", |pair| place(pair, 0))
        .text("view", "view", |pair| place(pair, 1))
        .whole("width", "width", |pair| Some(f64::from(pair.measured.size[0])))
        .whole("height", "height", |pair| Some(f64::from(pair.measured.size[1])));
    values(&mut sheet);
    let times = pairs.iter().filter(|pair| pair.measured.quantity == Quantity::Time);
    let times: Vec<&Pair> = times.copied().collect();
    scatter(&mut sheet, &times, "Times of kernels in microseconds", |pair| {
        Some(pair.numbers()?.map(|n| n / pair.unit().1))
    });
    sheet.finish()
}

fn rates(figure: &'static Figure, results: &Correlation, pairs: &[&Pair]) -> Content {
    let reference = reference(pairs.iter().copied());
    let relative = move |pair: &Pair| relative(pair, reference);
    let mut sheet = begin(figure, results, pairs, "rates");
    if let Some(agreement) = relative_agreement(pairs.iter().copied()) {
        sheet.say(agreement.sentence(RELATIVE));
    }
    values(&mut sheet);
    sheet
        .number("measured_relative", "measured, relative", move |pair| {
            relative(pair).map(|pair| pair[0])
        })
        .number("emulated_relative", "emulated, relative", move |pair| {
            relative(pair).map(|pair| pair[1])
        })
        .share("relative_error", "error, relative", move |pair| {
            let [measured, ours] = relative(pair)?;
            quotient(Some(ours), Some(measured)).map(|ratio| ratio - 1.0)
        });
    let rest: Vec<&Pair> = pairs.iter().copied().filter(|pair| relative(pair).is_some()).collect();
    scatter(&mut sheet, &rest, &format!("Rates relative to {REFERENCE}"), relative);
    sheet.finish()
}

/// Agreement of the relative rates without the reference, whose error is 0 by definition.
fn relative_agreement<'a>(pairs: impl Iterator<Item = &'a Pair> + Clone) -> Option<Agreement> {
    let reference = reference(pairs.clone());
    let others = pairs.filter(|pair| pair.measured.item != REFERENCE);
    Agreement::of(others.filter_map(|pair| relative(pair, reference)))
}

fn relative(pair: &Pair, reference: Option<[f64; 2]>) -> Option<[f64; 2]> {
    let [measured, ours] = reference.filter(|_| pair.measured.quantity.is_of_draws())?;
    let numbers = pair.numbers()?;
    Some([numbers[0] / measured, numbers[1] / ours])
}

fn reference<'a>(pairs: impl IntoIterator<Item = &'a Pair>) -> Option<[f64; 2]> {
    pairs.into_iter().find(|pair| pair.measured.item == REFERENCE)?.numbers()
}

fn place(pair: &Pair, at: usize) -> String {
    let view = pair.measured.view.as_ref();
    view.map_or_else(String::new, |view| view[at].clone())
}

/// The item without a trailing size or number of quads, so that draws that differ in it are one series.
fn family(item: &str) -> &str {
    let rest = item.strip_suffix("-quads").unwrap_or(item);
    rest.trim_end_matches(|c: char| c.is_ascii_digit()).strip_suffix('-').unwrap_or(item)
}

fn scatter(
    sheet: &mut Sheet<&Pair>,
    pairs: &[&Pair],
    title: &str,
    point: impl Fn(&Pair) -> Option<[f64; 2]>,
) {
    let families = unique(pairs.iter().map(|pair| family(&pair.measured.item)));
    let series = families.into_iter().enumerate().map(|(colour, name)| {
        let of = pairs.iter().filter(|pair| family(&pair.measured.item) == name);
        let points: Vec<[f64; 2]> = of.filter_map(|pair| point(pair)).collect();
        LineSeries::ours(name, colour, points, LineKind::Points)
    });
    let mut series: Vec<LineSeries> = series.filter(|one| !one.points.is_empty()).collect();
    let all = || series.iter().flat_map(|one| one.points.iter().flatten().copied());
    let [least, most] = [all().fold(f64::INFINITY, f64::min), all().fold(0.0, f64::max)];
    if series.is_empty() {
        return;
    }
    let equal = LineSeries::ours("equal", series.len(), [[least; 2], [most; 2]], LineKind::Line);
    series.push(equal);
    let axes = [Axis::log("measured, logarithmic"), Axis::log("emulated, logarithmic")];
    let chart = LineChart::new(title, axes, Vec::new(), series);
    sheet.chart(chart.draw(), format!("{title}: emulated numbers over measured numbers."));
}

pub(crate) fn summary(results: &Correlation) -> String {
    let times = results
        .pairs
        .iter()
        .filter(|pair| pair.is_of_kernel() && pair.measured.quantity == Quantity::Time);
    let times = Agreement::of(times.filter_map(Pair::numbers));
    let rates = || results.pairs.iter().filter(|pair| !pair.is_of_kernel());
    let rates = relative_agreement(rates());
    let kernels = times.map(|agreement| agreement.sentence("Times of kernels"));
    let rates = rates.map(|agreement| agreement.sentence(RELATIVE));
    let sentences: Vec<String> = kernels.into_iter().chain(rates).collect();
    format!("Hardware beside the emulator. {}", sentences.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paper::figures;
    use std::path::Path;

    fn results() -> Correlation {
        let text = "item,scene,view,width,height,value,unit,device\n\
                    sort,a,v,8,8,1,ms,G\nraster,a,v,8,8,2,ms,G\nraster,b,v,8,8,4,ms,G\npairs,a,v,8,8,100,count,G\n\
                    blend-rgba16f,,,96,96,2,Gpixel/s,G\nblend-rgba8,,,96,96,3,Gpixel/s,G\nwrite-rgba8,,,96,96,9,Gpixel/s,G\n";
        let measured = Measurement::read_all(text, Path::new("g.csv")).unwrap();
        let modelled = [0.5e-3, 2e-3, 8e-3, 90.0, 4e9, 8e9].map(Some).into_iter().chain([None]);
        let pairs = measured.into_iter().zip(modelled);
        let pairs =
            pairs.map(|(measured, modelled)| Pair { measured, modelled, fields: String::new() });
        Correlation { pairs: pairs.collect(), configuration: "h200".to_owned() }
    }

    /// The half, the double and, relative to the reference of 4/2, the 8/3 deviate; a count that is 10 % off does not.
    #[test]
    fn pairs_that_deviate_are_found() {
        let mut results = results();
        let items: Vec<_> =
            results.deviating().iter().map(|pair| pair.measured.item.clone()).collect();
        assert_eq!(items, ["sort", "raster", "blend-rgba8"]);
        assert_eq!(results.reference().unwrap().item, REFERENCE);
    }

    fn drawn(id: &str) -> Content {
        let figure = figures().find(|figure| figure.id == id).unwrap();
        draw(figure, &results()).unwrap()
    }

    #[test]
    fn draws_that_differ_in_a_size_are_a_family() {
        let named = [
            "rectangles-32",
            "blend-rgba16f-2-quads",
            "interlock-stacked-96",
            "blend-rgba8",
            "sort",
        ];
        let families = ["rectangles", "blend-rgba16f", "interlock-stacked", "blend-rgba8", "sort"];
        assert_eq!(named.map(family), families);
    }

    /// Errors of -1/2, 0 and 1 have a mean magnitude of 1/2, and ratios of 1/2, 1 and 2 a geometric mean of 1.
    #[test]
    fn errors_are_summed_up() {
        let results = results();
        let times = results.pairs.iter().take(3);
        let agreement = Agreement::of(times.filter_map(Pair::numbers)).unwrap();
        assert!((agreement.mean_error - 0.5).abs() < 1e-12);
        assert!((agreement.ratio - 1.0).abs() < 1e-12);
        // The logarithms to base 2 are (0, -1), (1, 1) and (2, 3): a line.
        assert!((agreement.correlation.unwrap() - 1.0).abs() < 1e-12);
        assert_eq!(pearson(&[[0.0, 0.0], [1.0, 2.0]]), None);
        assert_eq!(pearson(&[[0.0, 1.0], [1.0, 1.0], [2.0, 1.0]]), None);
        let opposed = pearson(&[[0.0, 2.0], [1.0, 1.0], [2.0, 0.0]]).unwrap();
        assert!((opposed + 1.0).abs() < 1e-12);
    }

    #[test]
    fn kernels_and_rates_are_figures_of_their_own() {
        let kernels = drawn("hw-kernels");
        assert_eq!(kernels.table.rows.len(), 4);
        let errors: Vec<_> = (0..4).map(|row| kernels.table.number(row, "error")).collect();
        let rounded = errors.iter().map(|error| (error.unwrap() * 100.0).round());
        assert_eq!(rounded.collect::<Vec<_>>(), [-50.0, 0.0, 100.0, -10.0]);
        assert!(
            kernels.text.iter().any(|text| text.contains("Times, n = 3: the mean error is 50.0 %")),
            "{:?}",
            kernels.text
        );
        assert_eq!(kernels.charts.len(), 1);
        let agreement = drawn("hw-agreement");
        let of = |row, key| agreement.table.number(row, key);
        assert_eq!(agreement.table.rows.len(), 3);
        assert_eq!((of(1, "count"), of(1, "mean_error")), (Some(2.0), Some(0.5)));
        assert_eq!(of(1, "correlation"), None);
        let rates = drawn("hw-rates");
        assert!(
            rates.text.iter().any(|text| text.starts_with("1 measured number has")),
            "{:?}",
            rates.text
        );
        // The error of the reference, 0 by definition, is not part of the mean.
        let is_mean = |text: &String| text.contains("n = 1: the mean error is 33.3 %");
        assert!(rates.text.iter().any(is_mean), "{:?}", rates.text);
        assert_eq!(rates.table.number(0, "measured_relative"), Some(1.0));
        assert_eq!(rates.table.number(1, "emulated_relative"), Some(2.0));
        // Relative to the reference, 3/2 measured and 8/4 emulated: a third more.
        assert!((rates.table.number(1, "relative_error").unwrap() - 1.0 / 3.0).abs() < 1e-12);
        assert_eq!(rates.table.number(2, "error"), None);
    }
}
