//! Messages to one page: texts first, then frames, then parts of larger pictures as far as the link has room.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use bytes::Bytes;

use super::header::{HEADER_BYTES, Header, Kind, LAST_PART};
use super::pace::Link;

/// Length of a part; on a slow link, a new camera waits for one part, 50 ms at 5 Mbit/s.
const PART_BYTES: usize = 32 << 10;
/// Limit of waiting texts: a page that reads nothing is closed.
const MAX_TEXT_BYTES: usize = 4 << 20;
/// Limit of waiting parts: two stills and a map of the largest size, and a film.
const MAX_PART_BYTES: usize = 128 << 20;

#[derive(Debug, Clone)]
pub(crate) struct Picture {
    pub(crate) header: Header,
    pub(crate) bytes: Bytes,
}

#[derive(Debug, PartialEq)]
pub(crate) enum Outgoing {
    Text(String),
    Binary(Bytes),
}

#[derive(Debug, Default)]
pub(crate) struct Outbox {
    texts: VecDeque<String>,
    /// Newest unsent text of each kind of state.
    states: BTreeMap<&'static str, String>,
    frames: VecDeque<Picture>,
    /// Pictures in parts, and the bytes sent of the first.
    parts: VecDeque<Picture>,
    sent_of_first: usize,
    /// Bytes of pictures since the connection began: sent, and confirmed.
    sent: u64,
    confirmed: u64,
    /// Unconfirmed messages: total bytes up to their ends, length, and time of sending.
    under_way: VecDeque<(u64, usize, Duration)>,
}

impl Outbox {
    pub(crate) fn text(&mut self, text: String) {
        self.texts.push_back(text);
    }

    /// Queues a text that replaces the waiting one of its kind: a slow page needs only the newest state.
    pub(crate) fn state(&mut self, kind: &'static str, text: String) {
        self.states.insert(kind, text);
    }

    pub(crate) fn frame(&mut self, picture: Picture) {
        self.frames.push_back(picture);
    }

    pub(crate) fn in_parts(&mut self, picture: Picture) {
        self.parts.push_back(picture);
    }

    /// Whether more messages wait than a page that reads its messages can cause.
    pub(crate) fn is_overfull(&self) -> bool {
        let texts: usize = self.texts.iter().map(String::len).sum();
        let parts: usize = self.parts.iter().map(|picture| picture.bytes.len()).sum();
        texts > MAX_TEXT_BYTES || parts > MAX_PART_BYTES
    }

    /// Drops unsent parts of stills when their camera is no longer the newest.
    pub(crate) fn drop_stills(&mut self) {
        let is_still = |picture: &Picture| {
            matches!(picture.header.kind, Kind::StillA | Kind::StillB | Kind::Difference)
        };
        if self.parts.front().is_some_and(is_still) {
            self.sent_of_first = 0;
        }
        self.parts.retain(|picture| !is_still(picture));
    }

    /// Returns the next message at time `now`; parts wait until the link has room.
    pub(crate) fn next(&mut self, now: Duration, link: &Link) -> Option<Outgoing> {
        let state = |(_, text)| text;
        if let Some(text) = self.texts.pop_front().or_else(|| self.states.pop_first().map(state)) {
            return Some(Outgoing::Text(text));
        }
        if let Some(picture) = self.frames.pop_front() {
            let length = picture.bytes.len();
            self.departs(length, now);
            let flags = picture.header.flags | LAST_PART;
            return Some(Outgoing::Binary(message(&picture, flags, 0, length)));
        }
        if self.sent - self.confirmed >= link.window_bytes() {
            return None;
        }
        let picture = self.parts.front()?;
        let begin = self.sent_of_first;
        let end = (begin + PART_BYTES).min(picture.bytes.len());
        let is_last = end == picture.bytes.len();
        let flags = picture.header.flags | if is_last { LAST_PART } else { 0 };
        let part = message(picture, flags, begin, end);
        self.sent_of_first = if is_last { 0 } else { end };
        if is_last {
            self.parts.pop_front();
        }
        self.departs(end - begin, now);
        Some(Outgoing::Binary(part))
    }

    fn departs(&mut self, length: usize, now: Duration) {
        self.sent += length as u64;
        self.under_way.push_back((self.sent, length, now));
    }

    pub(crate) fn got(&mut self, bytes: u64, now: Duration, link: &mut Link) {
        self.confirmed = bytes.clamp(self.confirmed, self.sent);
        while let Some(&(end, length, sent)) = self.under_way.front()
            && end <= self.confirmed
        {
            self.under_way.pop_front();
            link.confirmed(length, sent, now);
        }
    }
}

fn message(picture: &Picture, flags: u16, begin: usize, end: usize) -> Bytes {
    let header = Header {
        flags,
        bytes: quadrille_base::math::fit(picture.bytes.len()),
        offset: quadrille_base::math::fit(begin),
        ..picture.header
    };
    let mut message = Vec::with_capacity(HEADER_BYTES + end - begin);
    message.extend_from_slice(&header.to_bytes());
    message.extend_from_slice(&picture.bytes[begin..end]);
    message.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::header::Codec;

    fn picture(kind: Kind, number: u32, length: usize) -> Picture {
        let header = Header {
            kind,
            codec: Codec::WebP,
            flags: 0,
            number,
            generation: 0,
            size: [16, 16],
            render_us: 0,
            encode_us: 0,
            bytes: 0,
            offset: 0,
        };
        let bytes = (0..length).map(quadrille_base::math::low::<u8>).collect::<Vec<_>>().into();
        Picture { header, bytes }
    }

    /// Kind, last-part flag, number, offset and payload of a message.
    fn part(message: &Outgoing) -> (u8, u16, u32, u32, Vec<u8>) {
        let Outgoing::Binary(bytes) = message else {
            panic!("expected a picture, found {message:?}");
        };
        let word = |at: usize| {
            u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
        };
        let flags = u16::from_le_bytes([bytes[2], bytes[3]]);
        (bytes[0], flags & LAST_PART, word(4), word(28), bytes[HEADER_BYTES..].to_vec())
    }

    #[test]
    fn texts_and_frames_overtake_parts() {
        let (mut outbox, mut link) = (Outbox::default(), Link::default());
        let now = Duration::ZERO;
        outbox.in_parts(picture(Kind::Map, 1, 40_000));
        let first = part(&outbox.next(now, &link).unwrap());
        assert_eq!((first.0, first.1, first.4.len()), (5, 0, PART_BYTES));
        outbox.frame(picture(Kind::Frame, 2, 50_000));
        outbox.text("{}".to_owned());
        assert_eq!(outbox.next(now, &link), Some(Outgoing::Text("{}".to_owned())));
        let frame = part(&outbox.next(now, &link).unwrap());
        assert_eq!((frame.0, frame.1, frame.4.len()), (1, 1, 50_000));
        // The link is full until the page confirms a frame.
        assert_eq!(outbox.next(now, &link), None);
        let arrived = 50_000 + PART_BYTES as u64;
        outbox.got(arrived, now, &mut link);
        let last = part(&outbox.next(now, &link).unwrap());
        assert_eq!((last.1, last.3 as usize), (1, PART_BYTES));
        assert_eq!([first.4, last.4].concat(), picture(Kind::Map, 1, 40_000).bytes);
        assert_eq!(outbox.next(now, &link), None);
    }

    #[test]
    fn the_newest_state_of_a_kind_replaces_the_waiting_one() {
        let (mut outbox, link) = (Outbox::default(), Link::default());
        for step in 0..3 {
            outbox.state("status", format!("status {step}"));
            outbox.state("scene", format!("scene {step}"));
        }
        outbox.text("welcome".to_owned());
        let sent = std::iter::from_fn(|| outbox.next(Duration::ZERO, &link));
        let expected = ["welcome", "scene 2", "status 2"];
        assert!(sent.eq(expected.map(|text| Outgoing::Text(text.to_owned()))));
    }

    #[test]
    fn parts_wait_for_confirmations() {
        let (mut outbox, mut link) = (Outbox::default(), Link::default());
        outbox.in_parts(picture(Kind::File, 1, 10 * PART_BYTES));
        let sent = |outbox: &mut Outbox, link: &Link| {
            std::iter::from_fn(|| outbox.next(Duration::ZERO, link)).count()
        };
        assert_eq!(sent(&mut outbox, &link), 2);
        outbox.got(PART_BYTES as u64 - 1, Duration::from_millis(1), &mut link);
        assert_eq!(sent(&mut outbox, &link), 1);
        // Confirmations of bytes that were not sent, or go back, change nothing.
        outbox.got(u64::MAX, Duration::from_millis(2), &mut link);
        outbox.got(0, Duration::from_millis(2), &mut link);
        assert_eq!(sent(&mut outbox, &link), 2);
        assert!(link.rate().is_some());
    }

    #[test]
    fn a_new_camera_drops_what_is_left_of_stills() {
        let (mut outbox, link) = (Outbox::default(), Link::default());
        outbox.in_parts(picture(Kind::StillA, 1, 2 * PART_BYTES));
        outbox.in_parts(picture(Kind::File, 9, 10));
        outbox.in_parts(picture(Kind::StillB, 1, 10));
        outbox.next(Duration::ZERO, &link);
        outbox.drop_stills();
        let next = part(&outbox.next(Duration::ZERO, &link).unwrap());
        assert_eq!((next.0, next.1, next.2, next.3), (6, 1, 9, 0));
        assert_eq!(outbox.next(Duration::ZERO, &link), None);
        for _ in 0..3 {
            assert!(!outbox.is_overfull());
            outbox.text("x".repeat(MAX_TEXT_BYTES / 2));
        }
        assert!(outbox.is_overfull());
    }
}
