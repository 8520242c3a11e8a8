//! Plots over any fields of a results file: lines, bars, dots and heat maps for a paper, and the plotted numbers.
//!
//! ```text
//! RESULTS --Fields::read--> Fields: a line per row and method, as `bench --csv` prints them
//!   Plot (kind, x, y, series, filters, combination) --draw(Fields)--> Plotted: chart and table
//!     Plotted --on_paper(PrintFormat)--> Drawing --svg, pdf--> file
//! ```
//!
//! Lines that agree in x and in the series are one point; a [`Combine`], by default the mean, combines their values. Points
//! of a scatter plot are never combined.
//!
//! ```
//! use quadrille_charts::PrintFormat;
//! use quadrille_plots::{Fields, Plot};
//!
//! let text = "scene,method,speedup\nisland,het,1.5\nisland,qm,1.1\nvase,het,2.5\nvase,qm,1.2\n";
//! let fields = Fields::parse_csv(text.as_bytes(), "rows.csv".as_ref())?;
//! let plot = Plot {
//!     series: vec!["method".to_owned()],
//!     ..Plot::new("scene", "speedup")
//! };
//! let plotted = plot.draw(&fields)?;
//! assert!(plotted.csv().contains("island,het,1.5"));
//! let drawing = plotted.on_paper(&PrintFormat::column())?;
//! assert!(drawing.svg().contains("vase, het: 2.5"));
//! # Ok::<(), quadrille_base::Error>(())
//! ```

mod chart;
mod combine;
mod draw;
mod fields;
mod filter;
mod format;
mod plot;
mod plotted;
mod points;

pub use combine::{Combine, Spread};
pub use fields::Fields;
pub use filter::Filter;
pub use format::PlotFormat;
pub use plot::{Plot, PlotKind};
pub use plotted::Plotted;
