//! Means, medians and worst numbers of many rows.

use quadrille_base::math::order::median;
use serde_json::{Map, Value, json};

use super::columns::MetricColumn;
use super::row::PairRow;

/// Statistics of the columns over all rows.
#[derive(Debug, Clone)]
pub struct Summary {
    columns: Vec<MetricColumn>,
    /// Number of rows.
    pub count: usize,
    /// Number of identical pictures, which the mean of the PSNR leaves out.
    pub identical: usize,
    /// Arithmetic mean of each column; of PSNR, over the pictures that differ.
    pub mean: Vec<Option<f64>>,
    /// Median of each column; `None` for PSNR if half of the pictures are identical.
    pub median: Vec<Option<f64>>,
    /// Worst number of each column; `None` for PSNR if all pictures are identical.
    pub worst: Vec<Option<f64>>,
    /// Name of the pair with the lowest PSNR, if pictures differ.
    pub worst_pair: Option<String>,
}

impl Summary {
    /// Computes the statistics of `rows`.
    pub fn of(rows: &[PairRow], columns: &[MetricColumn]) -> Self {
        let numbers = |column: &MetricColumn| -> Vec<f64> {
            rows.iter().filter_map(|row| (column.value)(row)).collect()
        };
        let each = |statistic: &dyn Fn(&MetricColumn, Vec<f64>) -> Option<f64>| {
            let of = |column: &MetricColumn| statistic(column, numbers(column));
            columns.iter().map(of).collect()
        };
        let psnr = |row: &&PairRow| row.comparison.psnr_db.unwrap_or(f64::INFINITY);
        let worst = rows.iter().min_by(|a, b| psnr(a).total_cmp(&psnr(b)));
        let worst = worst.filter(|row| row.comparison.psnr_db.is_some());
        Self {
            columns: columns.to_vec(),
            count: rows.len(),
            identical: rows.iter().filter(|row| row.comparison.psnr_db.is_none()).count(),
            mean: each(&|_, numbers| mean(&numbers)),
            median: each(&|column, mut numbers| {
                if column.is_psnr() {
                    numbers.resize(rows.len(), f64::INFINITY);
                }
                median(&mut numbers).filter(|number| number.is_finite())
            }),
            worst: each(&|column, numbers| {
                let numbers = numbers.into_iter();
                match column.is_higher_better {
                    true => numbers.min_by(f64::total_cmp),
                    false => numbers.max_by(f64::total_cmp),
                }
            }),
            worst_pair: worst.map(|row| row.pair.name.clone()),
        }
    }

    /// Statistics with their names, in the order of tables.
    pub fn lines(&self) -> [(&'static str, &[Option<f64>]); 3] {
        [("mean", &self.mean), ("median", &self.median), ("worst", &self.worst)]
    }

    /// Adds the statistics to a document of rows.
    pub fn add_to(&self, document: &mut Value) {
        for (name, numbers) in self.lines() {
            let numbers = self.columns.iter().zip(numbers);
            let numbers = numbers.map(|(column, number)| (column.key.to_owned(), json!(number)));
            document[name] = numbers.collect::<Map<_, _>>().into();
        }
        document["mean"]["identical"] = self.identical.into();
        document["worst"]["name"] = json!(self.worst_pair);
    }
}

fn mean(numbers: &[f64]) -> Option<f64> {
    let sum: f64 = numbers.iter().sum();
    (!numbers.is_empty()).then(|| sum / numbers.len() as f64)
}
