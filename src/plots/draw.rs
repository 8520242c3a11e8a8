//! Drawing of plots: choice, combination and arrangement of their points.

use std::collections::HashMap;

use crate::chart::{self, Chart, Dot};
use crate::combine::{Combine, Spread, standard_deviation};
use crate::fields::Fields;
use crate::filter::Filter;
use crate::plot::{Plot, PlotKind};
use crate::plotted::{Layout, Plotted};
use crate::points::{Grid, Key, SEPARATOR, value};
use quadrille_base::error::{Error, Result};

/// Limits of a plot: points of lines and dots, bars, and cells of a heat map.
const MAX_POINTS: usize = 20_000;
const MAX_BARS: usize = 2_000;
const MAX_CELLS: usize = 10_000;
/// Field with the number of splats in view.
const SPLATS: &str = "splats";

impl Plot {
    /// Selects and combines rows into points, and arranges the points as a chart.
    pub fn draw(&self, fields: &Fields) -> Result<Plotted> {
        let lines = Filter::lines(&self.filters, fields)?;
        let column =
            |name: &str, argument: &str| fields.column(name).map_err(|error| error.about(argument));
        let (x, y) = (column(&self.x, "x")?, column(&self.y, "y")?);
        let series = self.series.iter().map(|name| column(name, "series"));
        let series: Vec<usize> = series.collect::<Result<_>>()?;
        let kind = self.kind.unwrap_or_else(|| match &self.value {
            Some(_) => PlotKind::Heat,
            None if fields.is_numeric(x) => PlotKind::Lines,
            None => PlotKind::Bars,
        });
        self.check(kind)?;
        let mut plotted = match (kind, &self.value) {
            (PlotKind::Scatter, _) => self.scatter(fields, &lines, x, &series, y),
            (PlotKind::Heat, Some(value)) => {
                let grid = Grid::new(fields, &lines, x, &[y], column(value, "value")?, MAX_CELLS)?;
                self.heat(fields, &grid, &[x, y])
            }
            (kind, _) => {
                let most = if kind == PlotKind::Bars { MAX_BARS } else { MAX_POINTS };
                let grid = Grid::new(fields, &lines, x, &series, y, most)?;
                self.check_names(&grid)?;
                self.lines_or_bars(kind, fields, &grid, &[&[x], &series[..]].concat())
            }
        }?;
        let own = [Some(&self.x), Some(&self.y), self.value.as_ref()].into_iter().flatten();
        let names = own.chain(&self.series).map(String::as_str);
        plotted.remarks.extend(fields.remarks(names.chain(self.filters.iter().map(Filter::field))));
        plotted.remarks.extend(self.unused_names(fields, &lines, &series));
        plotted.remarks.extend(blank_rows(fields, &lines));
        Ok(plotted)
    }

    /// Refuses one name for several series, of which a table could show one alone.
    fn check_names(&self, grid: &Grid) -> Result<()> {
        let mut seen = HashMap::new();
        for key in &grid.series {
            let name = self.series_name(&key.text);
            if let Some(other) = seen.insert(name.clone(), &key.text) {
                let found = format!("{name} for {other} and for {}", key.text);
                return Err(Error::argument("name", "a name of its own for each series", found));
            }
        }
        Ok(())
    }

    /// Remarks on names of values that no series of these lines has.
    fn unused_names(&self, fields: &Fields, lines: &[usize], series: &[usize]) -> Vec<String> {
        let is_used = |value: &str| {
            lines.iter().any(|line| {
                let cells: Vec<&str> = series.iter().map(|at| fields.cell(*line, *at)).collect();
                cells.contains(&value) || cells.join(SEPARATOR) == value
            })
        };
        let unused = self.names.iter().filter(|[value, _]| !is_used(value));
        let remark =
            |[value, name]: &[String; 2]| format!("no series has the value {value}, named {name}");
        unused.map(remark).collect()
    }

    fn check(&self, kind: PlotKind) -> Result<()> {
        let is = |kinds: &[PlotKind]| kinds.contains(&kind);
        let others = [
            ("value", self.value.is_some(), is(&[PlotKind::Heat])),
            ("series", !self.series.is_empty(), !is(&[PlotKind::Heat])),
            ("summary", self.summary.is_some(), is(&[PlotKind::Bars])),
            ("spread", self.spread.is_some(), is(&[PlotKind::Lines, PlotKind::Bars])),
            ("log-x", self.is_log[0], is(&[PlotKind::Lines, PlotKind::Scatter])),
            ("fit-x", self.is_fitted[0], is(&[PlotKind::Lines, PlotKind::Scatter])),
            ("fit-y", self.is_fitted[1], is(&[PlotKind::Lines, PlotKind::Scatter])),
            ("mark", !self.marks.is_empty(), !is(&[PlotKind::Heat])),
        ];
        if let Some((argument, ..)) = others.iter().find(|(_, is_given, fits)| *is_given && !fits) {
            let expected = "a kind of plot that has it";
            return Err(Error::argument(*argument, expected, kind.name()));
        }
        if self.spread == Some(Spread::Sd) && self.combine != Combine::Mean {
            let found = format!("sd, of the {}", self.combine.name());
            return Err(Error::argument(
                "spread",
                "range, or sd around the mean of a point",
                found,
            ));
        }
        let is_wrong = kind == PlotKind::Heat && self.value.is_none();
        Error::refuse_if(is_wrong, "value", "the field of the colours of a heat map", "none")?;
        Ok(())
    }

    fn check_values(&self, grid: &Grid, is_log: [bool; 2]) -> Result<()> {
        let expected = "rows with a value of all fields of the plot";
        Error::refuse_if(grid.series.is_empty(), "field", expected, "none")?;
        let place = |series: usize, x: usize| {
            [&grid.series[series].text, &grid.x[x].text].map(String::as_str).join(" at ")
        };
        if let Some(key) = grid
            .x
            .iter()
            .find(|key| key.number.is_none_or(|number| number <= 0.0))
            .filter(|_| is_log[0])
        {
            return Err(not_positive("log-x", &key.text));
        }
        for series in 0..grid.series.len() {
            let combined = grid.combined(series, self.combine);
            for (x, (cell, combined)) in grid.cells[series].iter().zip(combined).enumerate() {
                if !cell.values.is_empty() && combined.is_none() {
                    return Err(not_positive("combine", &place(series, x)));
                }
                if is_log[1] && combined.is_some_and(|value| value <= 0.0) {
                    return Err(not_positive("log-y", &place(series, x)));
                }
            }
        }
        Ok(())
    }

    /// Remarks on points that combine several rows. `used` are the columns that distinguish points.
    fn remarks(&self, fields: &Fields, grid: &Grid, used: &[usize]) -> Vec<String> {
        let (mut varying, most) = grid.varying(fields);
        varying.retain(|name| used.iter().all(|column| fields.name(*column) != name));
        if most < 2 {
            return Vec::new();
        }
        let differ = match varying.is_empty() {
            true => String::new(),
            false => format!(", which differ in {}", varying.join(", ")),
        };
        let rule = self.combine.name();
        vec![format!("each point is the {rule} of up to {most} rows{differ}")]
    }

    fn lines_or_bars(
        &self,
        kind: PlotKind,
        fields: &Fields,
        grid: &Grid,
        used: &[usize],
    ) -> Result<Plotted> {
        self.check_values(grid, self.is_log)?;
        let mut remarks = self.remarks(fields, grid, used);
        let mut table = self.table(grid, &self.series, &self.y);
        let chart = match kind {
            PlotKind::Bars => {
                let summary = self.summarize(grid, &mut table, &mut remarks)?;
                Chart::Bars(chart::bars(self, grid, summary.as_ref()))
            }
            _ => {
                if let Some(name) = grid.x.iter().find(|key| key.number.is_none()) {
                    let expected = "numbers, which lines need (bars show names)";
                    return Err(Error::argument("x", expected, format!("\"{}\"", name.text)));
                }
                Chart::Lines(chart::lines(self, grid))
            }
        };
        Ok(Plotted {
            chart,
            table,
            layout: Layout::Points { has_series: !self.series.is_empty(), spread: self.spread },
            plot: self.clone(),
            remarks,
        })
    }

    fn summarize(
        &self,
        grid: &Grid,
        table: &mut Vec<Vec<String>>,
        remarks: &mut Vec<String>,
    ) -> Result<Option<(String, Vec<Option<f64>>)>> {
        let Some(combine) = self.summary else { return Ok(None) };
        let mut values = Vec::new();
        for (at, series) in grid.series.iter().enumerate() {
            let known: Vec<f64> = grid.combined(at, self.combine).into_iter().flatten().collect();
            let missing = grid.x.len() - known.len();
            if missing > 0 {
                let (series, rule) = (&series.text, combine.name());
                remarks.push(format!(
                    "the {rule} of {series} lacks {missing} of {} groups",
                    grid.x.len()
                ));
            }
            let value = combine.of(&known).ok_or_else(|| not_positive("summary", &series.text))?;
            let mut line = vec![combine.name().to_owned()];
            line.extend((!self.series.is_empty()).then(|| series.text.clone()));
            line.push(value.to_string());
            line.extend(vec![String::new(); 3]);
            line.push(known.len().to_string());
            table.push(line);
            values.push(Some(value));
        }
        Ok(Some((combine.name().to_owned(), values)))
    }

    /// Plotted numbers: x, series, value, least and largest value, standard deviation, and number of rows.
    fn table(&self, grid: &Grid, series: &[String], value: &str) -> Vec<Vec<String>> {
        let mut heading = vec![self.x.clone()];
        heading.extend((!series.is_empty()).then(|| series.join(", ")));
        heading.extend([value, "min", "max", "sd", "rows"].map(str::to_owned));
        let mut table = vec![heading];
        for (at, name) in grid.series.iter().enumerate() {
            let combined = grid.combined(at, self.combine);
            for ((x, cell), combined) in grid.x.iter().zip(&grid.cells[at]).zip(combined) {
                let Some(combined) = combined else { continue };
                let ends = cell.ends().unwrap_or([combined; 2]);
                let mut line = vec![x.text.clone()];
                line.extend((!series.is_empty()).then(|| name.text.clone()));
                line.push(combined.to_string());
                line.extend(ends.map(|end| end.to_string()));
                let sd = standard_deviation(&cell.values);
                line.push(sd.map_or(String::new(), |sd| sd.to_string()));
                line.push(cell.values.len().to_string());
                table.push(line);
            }
        }
        table
    }

    fn heat(&self, fields: &Fields, grid: &Grid, used: &[usize]) -> Result<Plotted> {
        self.check_values(grid, [false, self.is_log[1]])?;
        let value = self.value.clone().unwrap_or_default();
        Ok(Plotted {
            remarks: self.remarks(fields, grid, used),
            table: self.table(grid, std::slice::from_ref(&self.y), &value),
            layout: Layout::Points { has_series: true, spread: None },
            plot: self.clone(),
            chart: Chart::Heat(chart::heat(self, grid)),
        })
    }

    fn scatter(
        &self,
        fields: &Fields,
        lines: &[usize],
        x: usize,
        series: &[usize],
        y: usize,
    ) -> Result<Plotted> {
        let mut dots: Vec<Dot> = Vec::new();
        for &line in lines {
            let at = value(fields, line, x)?.zip(value(fields, line, y)?);
            let name: Vec<&str> = series.iter().map(|c| fields.cell(line, *c)).collect();
            dots.extend(
                at.map(|(x, y)| Dot { at: [x, y], series: Key::new(&name.join(SEPARATOR)) }),
            );
        }
        if dots.is_empty() || dots.len() > MAX_POINTS {
            let expected = format!("1 to {MAX_POINTS} rows with numbers in both fields");
            return Err(Error::argument("points", expected, dots.len()));
        }
        for (axis, argument) in ["log-x", "log-y"].into_iter().enumerate() {
            if let Some(dot) = dots.iter().find(|dot| self.is_log[axis] && dot.at[axis] <= 0.0) {
                return Err(not_positive(argument, &dot.at[axis].to_string()));
            }
        }
        let mut table = vec![vec![self.x.clone()]];
        table[0].extend((!series.is_empty()).then(|| self.series.join(", ")));
        table[0].push(self.y.clone());
        table.extend(dots.iter().map(|dot| {
            let mut line = vec![dot.at[0].to_string()];
            line.extend((!series.is_empty()).then(|| dot.series.text.clone()));
            line.push(dot.at[1].to_string());
            line
        }));
        Ok(Plotted {
            chart: Chart::Lines(chart::scatter(self, &dots)),
            table,
            layout: Layout::Dots,
            plot: self.clone(),
            remarks: Vec::new(),
        })
    }
}

/// Remark on rows of views without splats, whose counts of 0 are values of their points.
fn blank_rows(fields: &Fields, lines: &[usize]) -> Option<String> {
    let splats = fields.column(SPLATS).ok()?;
    let count = lines.iter().filter(|line| fields.cell(**line, splats) == "0").count();
    (count > 0).then(|| {
        format!(
            "rows of views that show no splat are plotted: {count} ({SPLATS}>0 leaves them out)"
        )
    })
}

fn not_positive(argument: &str, found: &str) -> Error {
    Error::argument(argument, "values above 0", format!("a value of 0 or less ({found})"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROWS: &str = "scene,view,tc.bins,method,commit,cycles,speedup\n\
        island,a,8,baseline,c,100,\nisland,a,8,het,c,50,2\nisland,b,8,het,c,80,4\n\
        vase,a,8,het,c,10,8\nvase,a,16,het,c,20,0.5\nvase,a,16,qm,c,90,1.5\n";

    fn plotted(plot: &Plot) -> Result<Plotted> {
        plot.draw(&Fields::parse_csv(ROWS.as_bytes(), "rows.csv".as_ref()).unwrap())
    }

    fn by_method(x: &str, y: &str) -> Plot {
        Plot { series: vec!["method".to_owned()], ..Plot::new(x, y) }
    }

    #[test]
    fn names_are_bars_and_numbers_are_lines() {
        let bars = Plot {
            summary: Some(Combine::Geomean),
            filters: vec!["tc.bins=8".parse().unwrap()],
            ..by_method("scene", "speedup")
        };
        let drawn = plotted(&bars).unwrap();
        assert!(matches!(drawn.chart, Chart::Bars(_)));
        assert_eq!(
            drawn.csv(),
            "scene,method,speedup,min,max,sd,rows\nisland,het,3,2,4,1.4142135623730951,2\nvase,het,8,8,8,,1\n\
             geomean,het,4.898979485566356,,,,2\n"
        );
        assert_eq!(drawn.remarks, ["each point is the mean of up to 2 rows, which differ in view"]);
        let lines = plotted(&by_method("tc.bins", "speedup")).unwrap();
        assert!(matches!(lines.chart, Chart::Lines(_)));
        let heat = Plot { value: Some("speedup".to_owned()), ..Plot::new("tc.bins", "scene") };
        let heat = plotted(&heat).unwrap();
        assert!(matches!(heat.chart, Chart::Heat(_)));
        assert!(
            heat.csv().starts_with("tc.bins,scene,speedup,min,max,sd,rows\n8,island,3,2,4,1.414")
        );
    }

    #[test]
    fn tiles_of_a_picture_are_squares_from_the_top() {
        let text = "tile_x,tile_y,y,quads\n0,0,0,1\n1,0,0,2\n0,1,1,3\n1,1,1,4\n";
        let fields = Fields::parse_csv(text.as_bytes(), "tiles.csv".as_ref()).unwrap();
        let heat = |x: &str, y: &str| {
            let plot = Plot { value: Some("quads".to_owned()), ..Plot::new(x, y) };
            let Chart::Heat(chart) = plot.draw(&fields).unwrap().chart else { panic!("{x} {y}") };
            (chart.is_square, chart.rows.into_iter().map(|(name, _)| name).collect::<Vec<_>>())
        };
        assert_eq!(heat("tile_x", "tile_y"), (true, vec!["0".to_owned(), "1".to_owned()]));
        assert_eq!(heat("tile_x", "y"), (false, vec!["1".to_owned(), "0".to_owned()]));
    }

    #[test]
    fn dots_are_rows() {
        let scatter = Plot { kind: Some(PlotKind::Scatter), ..by_method("cycles", "speedup") };
        let csv = plotted(&scatter).unwrap().csv();
        assert_eq!(csv.lines().count(), 1 + 5, "{csv}");
        assert!(csv.starts_with("cycles,method,speedup\n50,het,2\n"), "{csv}");
    }

    #[test]
    fn names_without_a_series_and_views_without_splats_are_told() {
        let names = [["het", "HET"], ["hte", "HTE"]].map(|pair| pair.map(str::to_owned));
        let plot = Plot { names: names.to_vec(), ..by_method("scene", "speedup") };
        let remarks = plotted(&plot).unwrap().remarks;
        assert_eq!(remarks.last().unwrap(), "no series has the value hte, named HTE");
        assert!(!remarks.iter().any(|remark| remark.contains("HET")), "{remarks:?}");
        let text = "scene,view,splats,cycles\na,0,5,10\na,1,0,0\n";
        let fields = Fields::parse_csv(text.as_bytes(), "rows.csv".as_ref()).unwrap();
        let remarks = Plot::new("scene", "cycles").draw(&fields).unwrap().remarks;
        assert!(remarks.last().unwrap().contains("show no splat are plotted: 1 (splats>0"));
    }

    /// The speedups of the island are 2 and 4: 3 with a standard deviation of the square root of 2.
    #[test]
    fn tables_have_names_and_standard_deviations() {
        let plot = Plot {
            spread: Some(Spread::Sd),
            names: vec![["het".to_owned(), "HET".to_owned()]],
            labels: [Some("Scene".to_owned()), Some("speedup (times)".to_owned()), None],
            filters: vec!["tc.bins=8".parse().unwrap()],
            ..by_method("scene", "speedup")
        };
        let drawn = plotted(&plot).unwrap();
        let Chart::Bars(bars) = &drawn.chart else { panic!("not bars") };
        assert_eq!(bars.series[0].name, "HET");
        let band = bars.groups[0].bars[0].unwrap().band.unwrap();
        let sd = 2.0_f64.sqrt();
        assert!(band.iter().zip([3.0 - sd, 3.0 + sd]).all(|(a, b)| (a - b).abs() < 1e-12));
        let table = drawn.typeset();
        assert_eq!(table.headings, ["speedup (times) by Scene, method", "HET"]);
        assert_eq!(table.rows[0], ["island", "3 ± 1.41 (n = 2)"]);
        assert_eq!(table.rows[1], ["vase", "8 (n = 1)"]);
        let median = Plot { combine: Combine::Median, ..plot };
        assert!(plotted(&median).unwrap_err().to_string().contains("sd"));
    }

    #[test]
    fn wrong_plots_are_refused() {
        let lines = Plot { kind: Some(PlotKind::Lines), ..Plot::new("scene", "speedup") };
        let geomean = Plot { combine: Combine::Geomean, ..Plot::new("method", "view") };
        let spread = Plot {
            spread: Some(Spread::Range),
            kind: Some(PlotKind::Scatter),
            ..Plot::new("cycles", "cycles")
        };
        let heat = Plot { kind: Some(PlotKind::Heat), ..Plot::new("scene", "view") };
        for (plot, words) in [
            (Plot::new("scene", "speedups"), ["y", "such as speedup,"]),
            (lines, ["x", "\"island\""]),
            (geomean, ["numbers in the field view", "\"a\""]),
            (spread, ["spread", "scatter"]),
            (heat, ["value", "heat map"]),
            (Plot::new("scene", "cycles,speedup"), ["one field", "2 fields"]),
        ] {
            let error = plotted(&plot).unwrap_err().to_string();
            assert!(words.iter().all(|word| error.contains(word)), "{error}");
        }
    }
}
