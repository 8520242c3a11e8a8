//! Evaluation of pictures: pairs of renders and photos, the metrics that the field prints, and tables and pages of them.
//!
//! ```text
//! two pictures, folders, films,
//! scenes, a scene and photos ---PairSource---> pairs of frames ---Evaluator---> rows ---> text, CSV, JSON,
//!                                                                                         Markdown, LaTeX, page
//! ```

mod columns;
mod conditions;
mod documents;
mod evaluated;
mod evaluator;
mod gate;
mod journal;
mod lpips;
mod masks;
mod page;
mod pair_pictures;
pub mod pairing;
pub mod picture_folder;
mod row;
pub mod sources;
mod summary;
mod text;

pub use columns::MetricColumn;
pub use conditions::Conditions;
pub use documents::{TableFormat, table};
pub use evaluated::Evaluated;
pub use evaluator::{Evaluator, LoadedPair, Measured, Observer, PairSource};
pub use gate::{JUNIT_START, Limits, Verdict};
pub use journal::Journal;
pub use lpips::{LpipsDistances, LpipsKind, LpipsMetrics};
pub use masks::Masks;
pub use page::{Page, bytes_per_pair};
pub use pair_pictures::PairPictures;
pub use row::{PairRow, UnmeasuredRow};
pub use summary::Summary;
pub use text::TextRows;
