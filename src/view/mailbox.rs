//! Requests of one page that wait for the render thread: the newest camera wins.
//!
//! A pure state machine over times that the caller gives, so that tests run it on a simulated clock.

use std::collections::VecDeque;
use std::time::Duration;

use super::message::{FlyRequest, OutlinesRequest, PictureRequest, ProbeRequest, Saved};
use quadrille_base::{Error, Result, Task};

/// Maximum number of frames between the start of rendering and their display. With 80 ms of latency and 20 Mbit/s, 1, 2 and
/// 3 gave 5.7, 7.7 and 7.5 frames per second (measured): a third frame only waits in buffers.
const MAX_IN_FLIGHT: usize = 2;
/// Time after which an unconfirmed frame counts as shown.
const LOST: Duration = Duration::from_secs(2);
/// Maximum number of waiting requests besides pictures.
const MAX_WAITING: usize = 64;

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum SideJob {
    Probe(ProbeRequest),
    Measure { id: u32 },
    Save { id: u32, seq: u32, what: Saved },
    Fly(FlyRequest),
    Outlines(OutlinesRequest),
}

#[derive(Debug, Clone)]
pub(crate) enum DrawJob {
    Frame(PictureRequest),
    /// A still, and the task that a later camera cancels.
    Still(PictureRequest, Task),
    Side(SideJob),
}

#[derive(Debug, Default)]
pub(crate) struct Mailbox {
    frame: Option<PictureRequest>,
    still: Option<PictureRequest>,
    side: VecDeque<SideJob>,
    /// Number and start of rendering of each frame in flight.
    in_flight: Vec<(u32, Duration)>,
    running_still: Option<Task>,
}

impl Mailbox {
    /// Receives a frame request, which replaces the waiting one and ends stills of older cameras.
    pub(crate) fn frame(&mut self, request: PictureRequest) {
        self.frame = Some(request);
        self.still = None;
        self.stop_still();
    }

    /// Receives a still request, which replaces the waiting or current one.
    pub(crate) fn still(&mut self, request: PictureRequest) {
        self.still = Some(request);
        self.stop_still();
    }

    pub(crate) fn side(&mut self, job: SideJob) -> Result<()> {
        if self.side.len() >= MAX_WAITING {
            return Err(Error::Limit {
                what: "waiting requests".to_owned(),
                limit: MAX_WAITING as u64,
                found: MAX_WAITING as u64 + 1,
            });
        }
        self.side.push_back(job);
        Ok(())
    }

    /// Receives the confirmation that frame `seq` is on the screen; earlier ones were shown or replaced.
    pub(crate) fn shown(&mut self, seq: u32) {
        self.in_flight.retain(|(other, _)| *other > seq);
    }

    pub(crate) fn abandoned(&mut self, seq: u32) {
        self.in_flight.retain(|(other, _)| *other != seq);
    }

    pub(crate) fn still_ended(&mut self) {
        self.running_still = None;
    }

    /// Next job by priority: a frame, a probe, a still, another request.
    pub(crate) fn take(&mut self, now: Duration) -> Option<DrawJob> {
        self.in_flight.retain(|(_, since)| now.saturating_sub(*since) < LOST);
        if self.in_flight.len() < MAX_IN_FLIGHT
            && let Some(request) = self.frame.take()
        {
            self.in_flight.push((request.seq, now));
            return Some(DrawJob::Frame(request));
        }
        let probe = self.side.iter().position(|job| matches!(job, SideJob::Probe(_)));
        if let Some(job) = probe.and_then(|index| self.side.remove(index)) {
            return Some(DrawJob::Side(job));
        }
        if let Some(request) = self.still.take() {
            let task = Task::new();
            self.running_still = Some(task.clone());
            return Some(DrawJob::Still(request, task));
        }
        self.side.pop_front().map(DrawJob::Side)
    }

    /// Time at which a waiting frame can be taken if confirmations do not come.
    pub(crate) fn wakes_at(&self) -> Option<Duration> {
        let oldest = self.in_flight.iter().map(|(_, since)| *since).min();
        self.frame.as_ref().and(oldest).map(|since| since + LOST)
    }

    pub(crate) fn stop_still(&mut self) {
        if let Some(task) = self.running_still.take() {
            task.cancel();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::camera_request::CameraRequest;
    use crate::message::Shot;
    use crate::source::{Drawn, Mode, RendererName, SceneFilters, Show, Source};

    fn request(seq: u32) -> PictureRequest {
        let a = Source::Drawn(Drawn {
            scene: 0,
            profile: None,
            renderer: RendererName::Cpu,
            layer: None,
            background: None,
            filters: SceneFilters::default(),
        });
        PictureRequest {
            seq,
            cam: CameraRequest::Listed(0),
            w: 64,
            h: 64,
            show: Show { a, b: None, mode: Mode::Single, split: 0.5, gain: 1.0 },
        }
    }

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    fn seq(job: Option<DrawJob>) -> Option<(char, u32)> {
        match job? {
            DrawJob::Frame(request) => Some(('f', request.seq)),
            DrawJob::Still(request, _) => Some(('s', request.seq)),
            DrawJob::Side(SideJob::Measure { id }) => Some(('m', id)),
            DrawJob::Side(SideJob::Probe(probe)) => Some(('p', probe.id)),
            DrawJob::Side(_) => None,
        }
    }

    fn probe(id: u32) -> SideJob {
        let shot = Shot { cam: CameraRequest::Listed(0), w: 64, h: 64, source: request(1).show.a };
        SideJob::Probe(ProbeRequest { id, shot, x: 0, y: 0 })
    }

    #[test]
    fn the_newest_camera_replaces_older_ones() {
        let mut mailbox = Mailbox::default();
        mailbox.frame(request(1));
        mailbox.still(request(2));
        mailbox.frame(request(3));
        assert_eq!(seq(mailbox.take(ms(0))), Some(('f', 3)));
        assert_eq!(seq(mailbox.take(ms(0))), None);
    }

    #[test]
    fn two_frames_are_in_flight_until_they_are_shown_or_lost() {
        let mut mailbox = Mailbox::default();
        for n in 1..=3 {
            mailbox.frame(request(n));
            let expected = (n < 3).then_some(('f', n));
            assert_eq!(seq(mailbox.take(ms(u64::from(n)))), expected);
        }
        assert_eq!(mailbox.wakes_at(), Some(ms(2001)));
        mailbox.shown(1);
        assert_eq!(seq(mailbox.take(ms(4))), Some(('f', 3)));
        mailbox.frame(request(4));
        assert_eq!(seq(mailbox.take(ms(5))), None);
        assert_eq!(seq(mailbox.take(ms(2001))), None);
        assert_eq!(seq(mailbox.take(ms(2002))), Some(('f', 4)));
        assert_eq!(mailbox.wakes_at(), None);
        // A confirmation of a later frame confirms all earlier ones.
        mailbox.shown(4);
        mailbox.frame(request(5));
        assert_eq!(seq(mailbox.take(ms(2003))), Some(('f', 5)));
        mailbox.abandoned(5);
        mailbox.frame(request(6));
        mailbox.frame(request(7));
        assert_eq!(seq(mailbox.take(ms(2004))), Some(('f', 7)));
    }

    #[test]
    fn a_new_camera_stops_the_still_that_is_drawn() {
        let mut mailbox = Mailbox::default();
        mailbox.still(request(1));
        let Some(DrawJob::Still(_, first)) = mailbox.take(ms(0)) else {
            panic!("expected a still");
        };
        mailbox.frame(request(2));
        assert!(first.is_cancelled());
        mailbox.still(request(3));
        assert_eq!(seq(mailbox.take(ms(1))), Some(('f', 2)));
        let Some(DrawJob::Still(_, second)) = mailbox.take(ms(1)) else {
            panic!("expected a still");
        };
        mailbox.still_ended();
        mailbox.still(request(4));
        assert!(!second.is_cancelled(), "it had ended");
    }

    #[test]
    fn frames_come_first_then_probes_stills_and_the_rest() {
        let mut mailbox = Mailbox::default();
        mailbox.side(SideJob::Measure { id: 1 }).unwrap();
        mailbox.side(probe(2)).unwrap();
        mailbox.frame(request(3));
        mailbox.still(request(4));
        let order: Vec<_> = std::iter::from_fn(|| seq(mailbox.take(ms(0)))).collect();
        assert_eq!(order, [('f', 3), ('p', 2), ('s', 4), ('m', 1)]);
        for _ in 0..MAX_WAITING {
            mailbox.side(probe(1)).unwrap();
        }
        assert!(matches!(mailbox.side(probe(1)), Err(Error::Limit { .. })));
    }
}
