//! Messages of pages in the protocol, version 1.
//!
//! A page sends JSON texts of at most [`MAX_TEXT_BYTES`] without unknown fields. Every value is checked here, so that the
//! rest of the server sees valid requests alone; indices of views and scenes are checked where their number is known.

use serde::Deserialize;

use super::camera_request::{CameraRequest, Key};
use super::source::{Drawn, MAX_GAIN, RendererName, Show, Source, VariantName};
use quadrille_base::error::{Error, Result};

pub(crate) const PROTOCOL: u32 = 1;
pub(crate) const MAX_TEXT_BYTES: usize = 16 << 10;
pub(crate) const SIDES_PX: [u32; 2] = [16, 8192];
const MAX_KEYS: usize = 64;
const FRAMES_PER_SECOND: [f64; 2] = [1.0, 240.0];
/// Limit of the frames of a path; an answer takes 600 bytes per frame.
const MAX_PATH_FRAMES: f64 = 5000.0;

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(tag = "t", rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum ClientMessage {
    /// Requests a picture while the camera moves; it may be smaller and lossy.
    Frame(PictureRequest),
    /// Requests a picture of full size without loss.
    Still(PictureRequest),
    Shown {
        seq: u32,
    },
    /// Reports the bytes of pictures that arrived since the connection began.
    Got {
        bytes: u64,
    },
    Pace {
        scale: Chosen,
        quality: Chosen,
    },
    /// Requests a map of the emulated pipeline.
    Map(MapRequest),
    /// Ends a map or a slow still.
    Cancel {
        id: u32,
    },
    /// Requests the splats of a pixel.
    Probe(ProbeRequest),
    /// Requests metrics of the two pictures of the last still.
    Measure {
        id: u32,
    },
    /// Requests a camera as commands and as a file.
    Flags(FlagsRequest),
    /// Requests the cameras of a path through keys.
    Fly(FlyRequest),
    /// Requests the film of a path.
    Film(FlyRequest),
    /// Chooses a scene of the sequence for all pages.
    Scene {
        number: usize,
    },
    /// Requests the outlines of the splats that are seen.
    Outlines(OutlinesRequest),
    /// Requests a picture of the last still as a PNG.
    Save {
        id: u32,
        seq: u32,
        what: Saved,
    },
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PictureRequest {
    pub(crate) seq: u32,
    pub(crate) cam: CameraRequest,
    pub(crate) w: u32,
    pub(crate) h: u32,
    pub(crate) show: Show,
}

/// What a page shows: a source, seen by a camera, in a size. Its map, its pixels and its commands are requested by it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Shot {
    pub(crate) cam: CameraRequest,
    pub(crate) w: u32,
    pub(crate) h: u32,
    pub(crate) source: Source,
}

impl Shot {
    pub(crate) fn size(&self) -> [u32; 2] {
        [self.w, self.h]
    }

    /// The drawn source.
    ///
    /// # Errors
    /// [`Error::Argument`] for a photo.
    pub(crate) fn drawn(&self) -> Result<Drawn> {
        match &self.source {
            Source::Drawn(drawn) => Ok(drawn.clone()),
            Source::Photo => {
                let expected = "a drawn picture, which has splats and a command";
                Err(Error::argument("source", expected, "a photo"))
            }
        }
    }

    /// The same shot of the fast renderer without a layer and a background: maps are those of the scene and the profile.
    pub(crate) fn of_scene(&self) -> Self {
        let source = self.drawn().map_or(Source::Photo, |drawn| {
            let (renderer, layer, background) = (RendererName::Cpu, None, None);
            Source::Drawn(Drawn { renderer, layer, background, ..drawn })
        });
        Self { source, ..self.clone() }
    }
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MapRequest {
    pub(crate) id: u32,
    pub(crate) shot: Shot,
    pub(crate) map: String,
    pub(crate) variant: VariantName,
    /// Whether the map survives a move of the camera.
    pub(crate) pinned: bool,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ProbeRequest {
    pub(crate) id: u32,
    pub(crate) shot: Shot,
    pub(crate) x: u32,
    pub(crate) y: u32,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FlagsRequest {
    pub(crate) id: u32,
    pub(crate) shot: Shot,
    /// Variant of the pipeline whose maps the simulating command writes.
    pub(crate) map: Option<VariantName>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OutlinesRequest {
    pub(crate) id: u32,
    pub(crate) shot: Shot,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FlyRequest {
    pub(crate) id: u32,
    /// What the film shows; its camera is that of the first key.
    pub(crate) shot: Shot,
    pub(crate) keys: Vec<Key>,
    pub(crate) fps: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Saved {
    A,
    B,
    Difference,
    Map,
}

#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(try_from = "RawChosen")]
pub(crate) enum Chosen {
    Auto,
    Fixed(f64),
}

#[derive(Deserialize)]
#[serde(untagged)]
enum RawChosen {
    Word(String),
    Number(f64),
}

impl TryFrom<RawChosen> for Chosen {
    type Error = String;

    fn try_from(raw: RawChosen) -> std::result::Result<Self, String> {
        match raw {
            RawChosen::Number(value) if value > 0.0 && value <= 100.0 => Ok(Self::Fixed(value)),
            RawChosen::Word(word) if word == "auto" => Ok(Self::Auto),
            _ => Err("expected \"auto\" or a number above 0".to_owned()),
        }
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    pub(crate) scenes: usize,
    /// Number of scenes of the sequence; 0 without one.
    pub(crate) numbers: usize,
    pub(crate) views: usize,
    pub(crate) max_pixels: u64,
}

impl ClientMessage {
    pub(crate) fn parse(text: &str, limits: &Limits) -> Result<Self> {
        let expected = "a request that this server knows";
        let broken = |error: serde_json::Error| Error::argument("message", expected, error);
        let message: Self = serde_json::from_str(text).map_err(broken)?;
        message.check(limits)?;
        Ok(message)
    }

    /// Number by which answers refer to the message.
    pub(crate) fn reference(&self) -> Reference {
        match self {
            Self::Frame(request) | Self::Still(request) => Reference::Seq(request.seq),
            Self::Map(MapRequest { id, .. })
            | Self::Probe(ProbeRequest { id, .. })
            | Self::Flags(FlagsRequest { id, .. })
            | Self::Outlines(OutlinesRequest { id, .. })
            | Self::Fly(FlyRequest { id, .. })
            | Self::Film(FlyRequest { id, .. })
            | Self::Cancel { id }
            | Self::Measure { id }
            | Self::Save { id, .. } => Reference::Id(*id),
            Self::Shown { .. } | Self::Got { .. } | Self::Pace { .. } | Self::Scene { .. } => {
                Reference::None
            }
        }
    }

    fn check(&self, limits: &Limits) -> Result<()> {
        match self {
            Self::Frame(request) | Self::Still(request) => {
                limits.check_size([request.w, request.h])?;
                limits.check_camera(&request.cam)?;
                let show = &request.show;
                if !(0.0..=1.0).contains(&show.split) || !(0.0..=MAX_GAIN).contains(&show.gain) {
                    let expected = format!("a split from 0 to 1 and a gain up to {MAX_GAIN}");
                    let found = format!("{} and {}", show.split, show.gain);
                    return Err(Error::argument("show", expected, found));
                }
                let mut sources = [Some(&show.a), show.b.as_ref()].into_iter().flatten();
                sources.try_for_each(|source| limits.check_source(source, &request.cam))
            }
            Self::Map(request) => limits.check_shot(&request.shot),
            Self::Flags(request) => limits.check_shot(&request.shot),
            Self::Outlines(request) => limits.check_shot(&request.shot),
            Self::Scene { number } => limits.check_index("number", Some(*number), limits.numbers),
            Self::Probe(request) => {
                limits.check_shot(&request.shot)?;
                let [w, h] = request.shot.size();
                if request.x >= w || request.y >= h {
                    let expected = format!("a pixel of {w} x {h}");
                    let found = format!("{}, {}", request.x, request.y);
                    return Err(Error::argument("pixel", expected, found));
                }
                Ok(())
            }
            Self::Fly(request) | Self::Film(request) => {
                limits.check_shot(&request.shot)?;
                let count = request.keys.len();
                let expected = format_args!("2 to {MAX_KEYS} keys");
                Error::refuse_if(!(2..=MAX_KEYS).contains(&count), "keys", expected, count)?;
                let [least, most] = FRAMES_PER_SECOND;
                if !(least..=most).contains(&request.fps) {
                    let expected = format!("{least} to {most} frames per second");
                    return Err(Error::argument("fps", expected, request.fps));
                }
                let seconds: f64 = request.keys.iter().skip(1).map(|key| key.seconds).sum();
                let frames = (seconds * request.fps).ceil();
                let expected = format_args!("a path of at most {MAX_PATH_FRAMES} frames");
                Error::refuse_if(frames > MAX_PATH_FRAMES, "keys", expected, frames)?;
                let mut cameras = request.keys.iter().map(|key| &key.cam);
                cameras.try_for_each(|camera| limits.check_camera(camera))
            }
            _ => Ok(()),
        }
    }
}

impl Limits {
    fn check_shot(&self, shot: &Shot) -> Result<()> {
        self.check_size(shot.size())?;
        self.check_camera(&shot.cam)?;
        self.check_source(&shot.source, &shot.cam)
    }

    fn check_size(&self, size: [u32; 2]) -> Result<()> {
        let [least, most] = SIDES_PX;
        let are_sides = size.iter().all(|side| (least..=most).contains(side));
        let pixels = u64::from(size[0]) * u64::from(size[1]);
        if are_sides && pixels <= self.max_pixels {
            return Ok(());
        }
        let expected = format!("sides of {least} to {most} and at most {} pixels", self.max_pixels);
        Err(Error::argument("size", expected, format!("{} x {}", size[0], size[1])))
    }

    fn check_camera(&self, camera: &CameraRequest) -> Result<()> {
        let view = match camera {
            CameraRequest::Listed(view) => Some(*view),
            CameraRequest::Placed(placed) => placed.lens,
        };
        self.check_index("view", view, self.views)
    }

    fn check_source(&self, source: &Source, camera: &CameraRequest) -> Result<()> {
        match (source, camera) {
            (Source::Drawn(drawn), _) => self.check_index("scene", Some(drawn.scene), self.scenes),
            (Source::Photo, CameraRequest::Listed(_)) => Ok(()),
            (Source::Photo, CameraRequest::Placed(_)) => {
                let expected = "a listed view, which the photo shows";
                Err(Error::argument("source", expected, "another camera"))
            }
        }
    }

    fn check_index(&self, what: &str, index: Option<usize>, count: usize) -> Result<()> {
        match index.filter(|&index| index >= count) {
            None => Ok(()),
            Some(index) => Err(Error::argument(what, format!("an index below {count}"), index)),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reference {
    None,
    Seq(u32),
    Id(u32),
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    const LIMITS: Limits = Limits { scenes: 1, numbers: 3, views: 4, max_pixels: 2_100_000 };

    fn placed() -> Value {
        json!({"eye": [0, 0, -3], "target": [0, 0, 0], "up": [0, -1, 0], "fov_degrees": 50.0, "lens": null})
    }

    fn show() -> Value {
        json!({"a": {"scene": 0, "profile": null, "renderer": "cpu", "layer": null, "background": null, "filters": {}}, "b": null, "mode": "single", "split": 0.5, "gain": 4})
    }

    fn shot() -> Value {
        json!({"cam": {"view": 0}, "w": 16, "h": 16, "source": show()["a"]})
    }

    fn still(changes: &[(&str, Value)]) -> Value {
        let mut message =
            json!({"t": "still", "seq": 1, "cam": placed(), "w": 640, "h": 360, "show": show()});
        for (pointer, value) in changes {
            match message.pointer_mut(pointer) {
                Some(place) => *place = value.clone(),
                None => match pointer.rsplit_once('/') {
                    Some((parent, name)) => {
                        message.pointer_mut(parent).unwrap()[name] = value.clone();
                    }
                    None => panic!("{pointer} is no pointer"),
                },
            }
        }
        message
    }

    #[test]
    fn requests_are_read_and_wrong_ones_name_their_fault() {
        let good = [
            still(&[]),
            still(&[("/cam", json!({"view": 3}))]),
            still(&[("/cam/lens", json!(0))]),
            still(&[("/cam/lens", json!(0)), ("/cam/fov_degrees", json!(180))]),
            still(&[("/show/a/layer", json!("count"))]),
            still(&[("/show/a/renderer", json!("emulated:het+qm"))]),
            still(&[("/show/a/profile", json!("gsplat"))]),
            still(&[("/show/a/background", json!([1, 0.5, 0]))]),
            still(&[(
                "/show/a/filters",
                json!({"opacity_min": 0.5, "keep_box": [-1, -1, -1, 1, 1, 1], "sh_degree": 0}),
            )]),
            json!({"t": "pace", "scale": "auto", "quality": 50}),
            json!({"t": "got", "bytes": 1_u64 << 40}),
            json!({"t": "map", "id": 1, "shot": shot(), "map": "shaded", "variant": "het+qm", "pinned": false}),
            json!({"t": "flags", "id": 1, "shot": shot(), "map": null}),
            json!({"t": "outlines", "id": 1, "shot": shot()}),
            json!({"t": "scene", "number": 2}),
            json!({"t": "fly", "id": 1, "shot": shot(), "keys": [{"view": 0, "seconds": 0}, {"view": 1, "seconds": 2.5}], "fps": 30}),
        ];
        for message in good {
            let read = ClientMessage::parse(&message.to_string(), &LIMITS);
            assert!(read.is_ok(), "{message}: {read:?}");
        }
        let wrong = [
            (still(&[("/more", json!(1))]), "unknown field `more`"),
            (still(&[("/cam/more", json!(1))]), "seq"),
            (still(&[("/cam", json!({"view": 4}))]), "an index below 4"),
            (still(&[("/cam/lens", json!(9))]), "an index below 4"),
            (still(&[("/cam/eye", json!([1e10, 0, 0]))]), "coordinates within 1e9"),
            (still(&[("/cam/fov_degrees", json!(0))]), "field of view from 0.1 to 175"),
            (still(&[("/w", json!(15))]), "sides of 16 to 8192"),
            (still(&[("/w", json!(8192)), ("/h", json!(8192))]), "at most 2100000 pixels"),
            (still(&[("/show/a/scene", json!(1))]), "an index below 1"),
            (still(&[("/show/a/layer", json!("id"))]), "layers depth"),
            (still(&[("/show/a/profile", json!("no"))]), "inria"),
            (still(&[("/show/a/background", json!([1, 2, 0]))]), "numbers from 0 to 1"),
            (still(&[("/show/a/filters", json!({"more": 1}))]), "unknown field `more`"),
            (still(&[("/show/a/filters/condition", json!("opacity >"))]), "where"),
            (
                still(&[("/show/a/filters/keep_box", json!([1, 0, 0, 0, 0, 0]))]),
                "least corner first",
            ),
            (
                still(&[("/show/a/filters/keep_sphere", json!([0, 0, 0, -1]))]),
                "a radius of at least 0",
            ),
            (still(&[("/show/a/filters/sh_degree", json!(5))]), "a degree from 0 to 4"),
            (still(&[("/show/a/filters/splat_scale", json!(0))]), "splat-scale"),
            (still(&[("/show/a/renderer", json!("emulated:no"))]), "a variant"),
            (still(&[("/show/a", json!({"photo": true}))]), "a listed view"),
            (still(&[("/show/gain", json!(1e6))]), "a gain up to 1000"),
            (still(&[("/seq", json!(-1))]), "invalid value"),
            (json!({"t": "other"}), "unknown variant"),
            (json!({"t": "scene", "number": 3}), "an index below 3"),
            (
                json!({"t": "map", "id": 1, "shot": {"cam": {"view": 0}, "w": 16, "h": 16, "source": {"scene": 7}}, "map": "shaded", "variant": "qm", "pinned": false}),
                "an index below 1",
            ),
            (json!({"t": "probe", "id": 1, "shot": shot(), "x": 16, "y": 0}), "a pixel of 16 x 16"),
            (json!({"t": "pace", "scale": "most", "quality": 50}), "\"auto\""),
            (
                json!({"t": "fly", "id": 1, "shot": shot(), "keys": [{"view": 0, "seconds": 0}], "fps": 30}),
                "2 to 64 keys",
            ),
            (
                json!({"t": "fly", "id": 1, "shot": shot(), "keys": [{"view": 0}, {"view": 1}], "fps": 30}),
                "seconds from 0",
            ),
            (
                json!({"t": "fly", "id": 1, "shot": shot(), "keys": [{"view": 0, "seconds": 0}, {"view": 1, "seconds": 100}], "fps": 60}),
                "at most 5000 frames",
            ),
            (
                json!({"t": "fly", "id": 1, "shot": shot(), "keys": [{"view": 0, "seconds": 0}, {"view": 1, "seconds": 1}], "fps": 1e-9}),
                "1 to 240 frames",
            ),
        ];
        for (message, fault) in wrong {
            let read = ClientMessage::parse(&message.to_string(), &LIMITS);
            let error = read.expect_err(&message.to_string()).to_string();
            let is_named = error.contains(fault) || fault == "seq";
            assert!(is_named, "{message}: {error}");
        }
    }

    proptest! {
        #[test]
        fn no_text_panics(text in ".{0,400}") {
            let _ = ClientMessage::parse(&text, &LIMITS);
        }

        #[test]
        fn no_change_of_a_message_panics(at in 0_usize..300, to in any::<char>()) {
            let mut text: Vec<char> = still(&[]).to_string().chars().collect();
            let at = at % text.len();
            text[at] = to;
            let _ = ClientMessage::parse(&text.into_iter().collect::<String>(), &LIMITS);
        }
    }
}
