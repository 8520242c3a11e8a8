//! Films of a path of cameras: the file that the copied command writes.

use std::io::{Error as IoError, Write};
use std::sync::Arc;
use std::time::Instant;

use serde_json::{Value, json};

use super::encode::Uncoded;
use super::header::{Codec, Kind};
use super::hub::{ClientId, Hub};
use super::look::Look;
use super::message::FlyRequest;
use super::outbox::Picture;
use super::painter::Painter;
use super::sequence::{FilmScenes, Sequence};
use super::stage::{ListedView, Stage, camera_of, page_camera};
use quadrille_base::image::film::{FilmFacts, FilmFormat, FilmWriter, FrameRate};
use quadrille_base::{Error, Result, Task};
use quadrille_scene::Camera;
use quadrille_scene::cameras::{CameraOptions, PictureSize, fly_keys, load_bytes};
use quadrille_suite::report::cameras::camera_path_json;

/// Largest film that is sent to a page (assumed; half an hour on a link of 300 kbit/s).
const MAX_BYTES: usize = 64 << 20;

/// Format of films: MP4, or animated PNG in a build without it. Browsers play both.
pub(crate) fn format() -> FilmFormat {
    match FilmFormat::Mp4.is_built() {
        true => FilmFormat::Mp4,
        false => FilmFormat::Apng,
    }
}

/// Extension of the files of films.
pub(crate) fn extension() -> &'static str {
    match format() {
        FilmFormat::Mp4 => "mp4",
        FilmFormat::Apng => "apng",
        FilmFormat::Y4m => "y4m",
    }
}

/// A path through keys: the text of its file, and its cameras as `--path` reads them from it.
pub(crate) struct FlownPath {
    pub(crate) text: String,
    pub(crate) cameras: Vec<Camera>,
}

impl FlownPath {
    pub(crate) fn new(request: &FlyRequest, views: &[ListedView]) -> Result<Self> {
        let size = request.shot.size();
        let keys = request.keys.iter();
        let keys = keys.map(|key| Ok((camera_of(&key.cam, size, views)?, key.seconds)));
        let flown = fly_keys(&keys.collect::<Result<Vec<_>>>()?, request.fps)?;
        let text = camera_path_json(&flown, request.fps)?;
        let read = load_bytes(text.as_bytes(), &CameraOptions::default())?.cameras;
        let [width, height] = size;
        let sized = PictureSize { width: Some(width), height: Some(height), scale: None };
        // The near plane is that of the picture, which the command states.
        let near_limit = flown.first().and_then(|camera| camera.near_limit);
        let cameras = read.iter().map(|camera| Ok(Camera { near_limit, ..sized.apply(camera)? }));
        Ok(Self { text, cameras: cameras.collect::<Result<_>>()? })
    }

    /// Cameras for a page that plays the path.
    pub(crate) fn for_page(&self) -> Vec<Value> {
        self.cameras.iter().map(|camera| page_camera(camera, 1.0)).collect()
    }
}

/// Draws the film of a path, and sends its file to the page.
pub(crate) fn send_film(
    hub: &Hub,
    id: ClientId,
    request: &FlyRequest,
    stage: Arc<Stage>,
    sequence: Option<&Sequence>,
    look: &Arc<Look>,
    task: &Task,
) -> Result<()> {
    let progress = |done: f64| {
        let message = json!({"t": "progress", "id": request.id, "done": done});
        hub.with(id, |client| client.send(&message));
    };
    progress(0.0);
    let (drawn, path) = (request.shot.drawn()?, FlownPath::new(request, &look.views)?);
    let mut painter = Painter::new(Arc::clone(look));
    let frames = u32::try_from(path.cameras.len()).unwrap_or(u32::MAX);
    let rate = FrameRate::of(request.fps).ok_or_else(|| {
        Error::argument("fps", "a rate of films, such as 24, 30 or 60", request.fps)
    })?;
    let facts = FilmFacts { size: request.shot.size(), frames, rate };
    let failed = |reason: IoError| Error::write("film".as_ref(), reason);
    let mut file = Bounded(Vec::new());
    let mut writer = FilmWriter::begin(format(), &mut file, facts).map_err(failed)?;
    let generation = stage.generation;
    let mut scenes = FilmScenes::new(sequence, drawn.scene, path.cameras.len(), stage);
    for (frame, (done, camera)) in (1_u32..).zip(&path.cameras).enumerate() {
        let (picture, background) = painter.frame(&drawn, camera, scenes.of_frame(frame)?, task)?;
        let prepared = format().prepare(picture, Some(background)).map_err(failed)?;
        writer.push(&prepared).map_err(failed)?;
        progress(f64::from(done) / f64::from(frames));
    }
    writer.finish().map_err(failed)?;
    let picture = file_of(request.id, generation, facts.size, file.0);
    hub.with(id, |client| client.outbox.in_parts(picture));
    Ok(())
}

fn file_of(number: u32, generation: u32, size: [u32; 2], bytes: Vec<u8>) -> Picture {
    let (flags, render_us, rgb) = (0, 0, &[][..]);
    let file = Uncoded { kind: Kind::File, number, generation, flags, render_us, size, rgb };
    file.picture(Codec::Film, bytes.into(), Instant::now())
}

/// Bytes of a file in memory, up to [`MAX_BYTES`].
struct Bounded(Vec<u8>);

impl Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if self.0.len() + bytes.len() > MAX_BYTES {
            let reason = format!("it is longer than {MAX_BYTES} bytes, the limit of a page");
            return Err(IoError::other(reason));
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
