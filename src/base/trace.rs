//! Spans of `tracing` around the parts of a call, with the feature `trace`, without which [`span!`](crate::span) is empty.
//!
//! A span costs about a microsecond where a subscriber listens, so spans stand around the stages of a frame or a file, and
//! never in loops over splats, tiles or triangles.

#[cfg(feature = "trace")]
#[doc(hidden)]
pub use tracing;

/// Enters a span that ends with the block in which it stands.
#[cfg(feature = "trace")]
#[macro_export]
macro_rules! span {
    ($name:literal) => {
        let _span = $crate::trace::tracing::info_span!(target: "quadrille", $name).entered();
    };
}

/// Expands to nothing without the feature `trace`; with it, enters a span.
#[cfg(not(feature = "trace"))]
#[macro_export]
macro_rules! span {
    ($name:literal) => {};
}
