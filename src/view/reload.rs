//! The reloading thread: looks at the files of the scenes, and reads changed files again.

use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use super::hub::Hub;
use super::source::SceneFilters;
use super::stage::LoadedScene;
use quadrille_base::error::{Error, Result};
use quadrille_base::image::available_bytes;

const LOOK: Duration = Duration::from_millis(500);
/// Time that a changed file must rest before it is read: trainers write for seconds.
const REST: Duration = Duration::from_secs(1);

/// Metadata that identifies a file's content without reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    length: u64,
    modified: Option<SystemTime>,
    node: u64,
}

fn stamp(path: &Path) -> Option<Stamp> {
    let found = std::fs::metadata(path).ok()?;
    Some(Stamp { length: found.len(), modified: found.modified().ok(), node: node(&found) })
}

/// Inode, which changes when a file is replaced.
#[cfg(unix)]
fn node(found: &Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(found)
}

#[cfg(not(unix))]
fn node(_: &Metadata) -> u64 {
    0
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Watched {
    /// Stamp of the content in memory, or of unreadable content; `None` of a file that is gone.
    read: Option<Stamp>,
    /// Another stamp, and the time at which it was first seen.
    changed: Option<(Option<Stamp>, Instant)>,
}

/// What happened to a file since the last look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Event {
    /// Nothing that has rested.
    None,
    /// The file has changed and rested, so that it must be read.
    Changed,
    /// The file is gone for longer than a replacement takes.
    Gone,
}

impl Watched {
    fn look(&mut self, found: Option<Stamp>, now: Instant) -> Event {
        if found == self.read {
            self.changed = None;
            return Event::None;
        }
        match self.changed {
            Some((stamp, since)) if stamp == found => {
                if now.duration_since(since) < REST {
                    return Event::None;
                }
                self.read = found;
                self.changed = None;
                if found.is_some() { Event::Changed } else { Event::Gone }
            }
            _ => {
                self.changed = Some((found, now));
                Event::None
            }
        }
    }
}

/// Refuses to reload a scene that does not fit beside the one in memory, which pages still see.
pub(crate) fn check_memory(scene: &LoadedScene) -> Result<()> {
    let Ok(splats) = scene.splats() else { return Ok(()) };
    let (needed, available) = (splats.size_bytes() as u64, available_bytes());
    match available.filter(|available| *available < needed) {
        None => Ok(()),
        Some(available) => {
            let expected = format!("{needed} bytes of free memory to read it again");
            let found = format!("{available} bytes; the scene stays as it was");
            Err(Error::argument(scene.name.clone(), expected, found))
        }
    }
}

/// `files` are the paths of the scenes.
pub(crate) fn run(hub: &Hub, files: &[PathBuf]) {
    let watch = |file: &PathBuf| Watched { read: stamp(file), changed: None };
    let mut watched: Vec<Watched> = files.iter().map(watch).collect();
    while !hub.is_closing() {
        std::thread::sleep(LOOK);
        for (index, file) in files.iter().enumerate() {
            match watched[index].look(stamp(file), Instant::now()) {
                Event::None => {}
                Event::Changed => reload(hub, index),
                Event::Gone => {
                    let path = file.display();
                    hub.warn(&format!("{path}: the file is gone; its scene stays as it was"));
                }
            }
        }
    }
}

fn reload(hub: &Hub, index: usize) {
    let scene = Arc::clone(&hub.stage().scenes[index]);
    match check_memory(&scene).and_then(|()| scene.read_again(&SceneFilters::default())) {
        Ok(read) => {
            hub.replace(index, read, Some("The scene was read again."));
        }
        Err(error) => hub.warn(&error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_once_it_rests() {
        let start = Instant::now();
        let at = |ms| start + Duration::from_millis(ms);
        let of = |length| Some(Stamp { length, modified: None, node: 1 });
        let mut file = Watched { read: of(1), changed: None };
        for (time, found, event) in [
            (0, of(1), Event::None),
            (500, of(2), Event::None),
            // The file grows.
            (1000, of(3), Event::None),
            (1500, of(3), Event::None),
            (2000, of(3), Event::Changed),
            (2500, of(3), Event::None),
            // The file is missing while another one takes its place.
            (3000, None, Event::None),
            (3500, of(4), Event::None),
            (4500, of(4), Event::Changed),
            // The file is gone, which is told once, and comes back.
            (5000, None, Event::None),
            (6000, None, Event::Gone),
            (8000, None, Event::None),
            (8500, of(4), Event::None),
            (9500, of(4), Event::Changed),
            // The file changes back before it has rested.
            (10_000, of(5), Event::None),
            (10_500, of(4), Event::None),
            (12_000, of(4), Event::None),
        ] {
            assert_eq!(file.look(found, at(time)), event, "{time} ms");
        }
    }
}
