//! `-vv`: prints the duration of each `tracing` span on standard error when it ends.
#![allow(clippy::print_stderr, reason = "times go beside the results")]

use std::time::Instant;

use quadrille_base::units::milliseconds;
use tracing::Subscriber;
use tracing::span::{Attributes, Id};
use tracing_subscriber::Registry;
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
use tracing_subscriber::registry::LookupSpan;

/// Prints the durations of all spans of the process from now on.
pub(super) fn print_spans() {
    // A process that runs several commands has a subscriber already.
    let _ = tracing::subscriber::set_global_default(Registry::default().with(SpanTimes));
}

/// Prints the time of a span when it ends, after the spans inside it.
struct SpanTimes;

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for SpanTimes {
    fn on_new_span(&self, _: &Attributes<'_>, id: &Id, spans: Context<'_, S>) {
        if let Some(span) = spans.span(id) {
            span.extensions_mut().insert(Instant::now());
        }
    }

    fn on_close(&self, id: Id, spans: Context<'_, S>) {
        let Some(span) = spans.span(&id) else { return };
        let begun = span.extensions().get::<Instant>().copied();
        let Some(begun) = begun else { return };
        let ms = milliseconds(begun.elapsed());
        let names: Vec<_> = span.scope().from_root().map(|span| span.name()).collect();
        eprintln!("quadrille: {ms:10.3} ms  {}", names.join(" > "));
    }
}
