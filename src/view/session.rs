//! A WebSocket of one page: reads its messages, and sends the waiting ones.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::ws::{CloseFrame, Message, WebSocket, close_code};
use bytes::Bytes;
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until, timeout};

use super::hub::{Client, ClientId, Hub, SlowJob};
use super::mailbox::SideJob;
use super::message::{ClientMessage, Reference};
use super::outbox::Outgoing;
use super::painter::is_slow;
use super::site::Site;
use super::stage::Stage;
use quadrille_base::error::{Error, Result};

/// Limit of messages; a page sends at most 60 cameras per second, their confirmations, and a few more.
pub(crate) const MESSAGES_PER_SECOND: f64 = 250.0;
const SEND_TIMEOUT: Duration = Duration::from_secs(10);
/// Time without messages, including answers to pings, after which the connection ends.
const SILENCE: Duration = Duration::from_secs(45);
/// Interval of pings, which also measure the round trip.
const PING: Duration = Duration::from_secs(5);
/// Reason for which pages load again.
pub(crate) const ANOTHER_SCENE: &str = "another scene is shown";
const FAREWELL: Duration = Duration::from_secs(1);

/// Code and text of the close frame.
type Ending = (u16, &'static str);

pub(crate) async fn run(socket: WebSocket, site: Arc<Site>, id: ClientId, wake: Arc<Notify>) {
    let (mut sink, stream) = socket.split();
    let hub = &site.hub;
    let (code, reason) = tokio::select! {
        ending = receive(stream, &site, id) => ending,
        ending = send(&mut sink, hub, id, &wake) => ending,
    };
    hub.leave(id);
    let farewell = async {
        if !reason.is_empty() {
            let again = reason == ANOTHER_SCENE;
            let bye = json!({"t": "bye", "reason": reason, "again": again}).to_string();
            // A failure is ignored, since the page may be gone.
            let _ = sink.send(Message::Text(bye.into())).await;
        }
        let _ = sink.send(Message::Close(Some(CloseFrame { code, reason: reason.into() }))).await;
    };
    let _ = timeout(FAREWELL, farewell).await;
}

/// Sends the waiting messages, and pings, until a send fails.
async fn send(
    sink: &mut SplitSink<WebSocket, Message>,
    hub: &Hub,
    id: ClientId,
    wake: &Notify,
) -> Ending {
    let mut next_ping = Instant::now();
    loop {
        let message = match hub.next_message(id) {
            Ok(Some(Outgoing::Text(text))) => Message::Text(text.into()),
            Ok(Some(Outgoing::Binary(bytes))) => Message::Binary(bytes),
            Ok(None) if next_ping <= Instant::now() => {
                next_ping = Instant::now() + PING;
                Message::Ping(stamp(hub.now()))
            }
            Ok(None) => {
                tokio::select! {
                    () = wake.notified() => {}
                    () = sleep_until(next_ping) => {}
                }
                continue;
            }
            Err(_) => {
                let overfull = (close_code::POLICY, "too many messages wait for this page");
                return hub.closing().map_or(overfull, |reason| (close_code::AWAY, reason));
            }
        };
        match timeout(SEND_TIMEOUT, sink.send(message)).await {
            Ok(Ok(())) => {}
            Ok(Err(_)) => return (close_code::NORMAL, ""),
            Err(_) => return (close_code::POLICY, "this page does not receive messages"),
        }
    }
}

/// Payload of a ping: its time, which the answer returns.
fn stamp(now: Duration) -> Bytes {
    Bytes::copy_from_slice(&u64::try_from(now.as_nanos()).unwrap_or(u64::MAX).to_le_bytes())
}

async fn receive(mut stream: SplitStream<WebSocket>, site: &Site, id: ClientId) -> Ending {
    let hub = &site.hub;
    let mut allowance = Allowance::new(hub.now());
    loop {
        let Ok(received) = timeout(SILENCE, stream.next()).await else {
            return (close_code::POLICY, "the page sent nothing for 45 seconds");
        };
        let message = match received {
            Some(Ok(message)) => message,
            Some(Err(error)) => return fault(error),
            None => return (close_code::NORMAL, ""),
        };
        let now = hub.now();
        if !allowance.takes(now) {
            return (close_code::POLICY, "more than 250 messages per second");
        }
        match message {
            Message::Text(text) => {
                if let Err((reference, error)) = handle(&text, site, id) {
                    hub.with(id, |client| client.send_error(reference, &error));
                }
            }
            Message::Binary(_) => {
                return (close_code::UNSUPPORTED, "binary messages are not supported");
            }
            Message::Pong(stamp) => {
                if let Ok(stamp) = <[u8; 8]>::try_from(&stamp[..]) {
                    let sent = Duration::from_nanos(u64::from_le_bytes(stamp));
                    // A forged stamp may lie in the future.
                    let trip = now.checked_sub(sent);
                    trip.and_then(|trip| hub.with(id, |client| client.link.round_trip(trip)));
                }
            }
            Message::Ping(_) => {}
            Message::Close(_) => return (close_code::NORMAL, ""),
        }
    }
}

/// Ending of a connection that cannot be read further.
fn fault(error: axum::Error) -> Ending {
    use tungstenite::Error;
    match error.into_inner().downcast_ref() {
        Some(Error::Capacity(_)) => (close_code::SIZE, "a message is longer than 16 KiB"),
        Some(Error::Utf8(_)) => (close_code::INVALID, "a text is not valid UTF-8"),
        Some(Error::Protocol(_)) => (close_code::PROTOCOL, "a frame breaks the protocol"),
        _ => (close_code::NORMAL, ""),
    }
}

/// Token bucket of one second's messages.
struct Allowance {
    left: f64,
    last: Duration,
}

impl Allowance {
    fn new(now: Duration) -> Self {
        Self { left: MESSAGES_PER_SECOND, last: now }
    }

    fn takes(&mut self, now: Duration) -> bool {
        let passed = now.saturating_sub(self.last).as_secs_f64();
        self.last = now;
        self.left = (self.left + passed * MESSAGES_PER_SECOND).min(MESSAGES_PER_SECOND) - 1.0;
        self.left >= 0.0
    }
}

fn handle(text: &str, site: &Site, id: ClientId) -> std::result::Result<(), (Reference, Error)> {
    let parsed = ClientMessage::parse(text, &site.limits);
    let message = parsed.map_err(|error| (reference_in(text), error))?;
    let reference = message.reference();
    let hub = &site.hub;
    let now = hub.now();
    if let ClientMessage::Scene { number } = message {
        hub.choose_number(number);
        return Ok(());
    }
    let stage = hub.stage();
    let handled = hub.with(id, |client| dispatch(message, client, site, &stage, now));
    handled.unwrap_or(Ok(())).map_err(|error| (reference, error))
}

fn dispatch(
    message: ClientMessage,
    client: &mut Client,
    site: &Site,
    stage: &Stage,
    now: Duration,
) -> Result<()> {
    match message {
        ClientMessage::Frame(request) => {
            client.sees(&request, now);
            client.moved(now);
            client.mailbox.frame(request);
        }
        ClientMessage::Still(request) => {
            client.sees(&request, now);
            client.outbox.drop_stills();
            client.pace.gesture_ended([request.w, request.h], client.link.rate());
            match is_slow(&request.show) {
                true => client.queue_slow(SlowJob::Still(Box::new(request))),
                false => client.mailbox.still(request),
            }
        }
        ClientMessage::Shown { seq } => {
            client.mailbox.shown(seq);
        }
        ClientMessage::Got { bytes } => client.outbox.got(bytes, now, &mut client.link),
        ClientMessage::Pace { scale, quality } => client.pace.choose(scale, quality),
        ClientMessage::Map(request) => client.queue_slow(SlowJob::Map(Box::new(request))),
        ClientMessage::Cancel { id } => client.cancel(id),
        ClientMessage::Probe(request) => return client.mailbox.side(SideJob::Probe(request)),
        ClientMessage::Measure { id } => return client.mailbox.side(SideJob::Measure { id }),
        ClientMessage::Save { id, seq, what } => {
            return client.mailbox.side(SideJob::Save { id, seq, what });
        }
        ClientMessage::Fly(request) => return client.mailbox.side(SideJob::Fly(request)),
        ClientMessage::Outlines(request) => {
            return client.mailbox.side(SideJob::Outlines(request));
        }
        ClientMessage::Film(request) => client.queue_slow(SlowJob::Film(Box::new(request))),
        ClientMessage::Flags(request) => {
            let commands = site.commands(request.shot.drawn()?.scene, stage);
            client.send(&commands.flags(&request, &site.look)?);
        }
        // Handled without the lock on the page, since it concerns all pages.
        ClientMessage::Scene { .. } => {}
    }
    Ok(())
}

/// Number of an invalid message, so that the error can refer to it.
fn reference_in(text: &str) -> Reference {
    let Ok(Value::Object(message)) = serde_json::from_str(text) else { return Reference::None };
    let number = |name| {
        let number = message.get(name).and_then(Value::as_u64);
        number.and_then(|number| u32::try_from(number).ok())
    };
    match (number("id"), number("seq")) {
        (Some(id), _) => Reference::Id(id),
        (None, Some(seq)) => Reference::Seq(seq),
        (None, None) => Reference::None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_may_send_as_many_messages_as_a_second_allows() {
        let ms = Duration::from_millis;
        let mut allowance = Allowance::new(ms(0));
        assert_eq!((0..300).filter(|_| allowance.takes(ms(0))).count(), 250);
        let mut steady = Allowance::new(ms(0));
        assert!((0..10_000).all(|n| steady.takes(ms(4 * n))));
    }

    #[test]
    fn the_number_of_a_broken_message_is_found() {
        assert_eq!(reference_in("{\"id\": 7, \"t\": 1}"), Reference::Id(7));
        assert_eq!(reference_in("{\"seq\": 8}"), Reference::Seq(8));
        assert_eq!(reference_in("{\"id\": -1}"), Reference::None);
        assert_eq!(reference_in("no JSON"), Reference::None);
    }
}
