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
mod evaluator;
mod journal;
mod lpips;
mod masks;
mod page;
pub mod pairing;
mod row;
pub mod sources;
mod summary;
mod text;

pub use columns::Column;
pub use conditions::Conditions;
pub use documents::{TableFormat, table};
pub use evaluator::{Evaluated, Evaluator, Measured, Observer, PairSource};
pub use journal::Journal;
pub use lpips::{LpipsDistances, LpipsKind, LpipsMetrics};
pub use masks::Masks;
pub use page::{Page, PairPictures, bytes_per_pair};
pub use row::{Row, UnmeasuredRow};
pub use summary::Summary;
pub use text::TextRows;
