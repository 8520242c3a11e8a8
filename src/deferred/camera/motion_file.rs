//! Motion files in JSON:
//!
//! ```json
//! {"camera": {"move": [0, 0, 0.5], "turn": [2, 0, 0]},
//!  "draws": [{"draws": "3..7", "move": [0.1, 0, 0], "spin": [0, 1, 0, 15]}]}
//! ```
//!
//! All keys but `draws` in an entry are optional. A range of draws excludes its end, as in selections of views; a single
//! number is one draw, and a range without an end is open.

use std::fs::File;
use std::io::Read;
use std::ops::Range;
use std::path::Path;

use nalgebra::Vector3;
use serde::Deserialize;

use super::motion::{CameraMotion, RigidMotion, SceneMotion};
use quadrille_base::error::{Error, Result};
use quadrille_scene::Camera;

const MAX_BYTES: u64 = 1 << 24;

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Document {
    camera: CameraEntry,
    draws: Vec<DrawsEntry>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct CameraEntry {
    /// Displacement to the right, down and forward, in world units.
    #[serde(rename = "move")]
    displacement: [f64; 3],
    /// Turn to the right, up, and clockwise about the view axis, in degrees.
    turn: [f64; 3],
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct DrawsEntry {
    draws: String,
    #[serde(default, rename = "move")]
    displacement: [f64; 3],
    /// Rotation axis, followed by the angle in degrees.
    spin: Option<[f64; 4]>,
}

/// Motion of the camera and of draws, as read from a file.
#[derive(Debug, Clone, PartialEq)]
pub struct MotionFile {
    /// Displacement of the camera along its own axes, and turn in degrees, as in [`CameraMotion::in_view`].
    camera: [[f64; 3]; 2],
    /// Ranges of draws with displacement, and rotation axis times angle in radians.
    draws: Vec<(Range<u32>, [Vector3<f64>; 2])>,
}

impl MotionFile {
    /// Reads a file of at most 16 MiB.
    ///
    /// # Errors
    /// [`Error::Read`] for a file that cannot be read; [`Error::Malformed`], with the location, for content that does not
    /// follow the format; [`Error::Limit`] for a longer file.
    pub fn load(path: &Path) -> Result<Self> {
        let mut bytes = Vec::new();
        File::open(path)
            .and_then(|file| file.take(MAX_BYTES + 1).read_to_end(&mut bytes))
            .map_err(|reason| Error::read(path, reason))?;
        Error::check_limit(format!("bytes of {}", path.display()), MAX_BYTES, bytes.len() as u64)?;
        Self::parse(&bytes, path)
    }

    /// Parses the content of a file; `path` is for messages only.
    pub fn parse(bytes: &[u8], path: &Path) -> Result<Self> {
        let document: Document = serde_json::from_slice(bytes).map_err(|error| {
            let place = format!("line {}, column {}", error.line(), error.column());
            let expected = r#"{"camera": {"move", "turn"}, "draws": [{"draws", "move", "spin"}]}"#;
            Error::malformed(path, place, expected, message(&error))
        })?;
        let mut draws = Vec::new();
        for (number, entry) in document.draws.iter().enumerate() {
            let place = |key: &str| format!("draws[{number}].{key}");
            let Some(range) = range(&entry.draws) else {
                let expected = "draws as in \"3\", \"3..7\" or \"3..\"";
                let found = format!("{:?}", entry.draws);
                return Err(Error::malformed(path, place("draws"), expected, found));
            };
            let rotation = match entry.spin {
                None => Vector3::zeros(),
                Some([x, y, z, degrees]) => {
                    let axis = Vector3::new(x, y, z).try_normalize(0.0);
                    let axis = axis.filter(|axis| axis.iter().all(|c| c.is_finite()));
                    let Some(axis) = axis else {
                        let expected = "an axis with a direction, and degrees";
                        let found = format!("{:?}", entry.spin.unwrap_or_default());
                        return Err(Error::malformed(path, place("spin"), expected, found));
                    };
                    axis * degrees.to_radians()
                }
            };
            draws.push((range, [entry.displacement.into(), rotation]));
        }
        let camera = document.camera;
        Ok(Self { camera: [camera.displacement, camera.turn], draws })
    }

    /// Motion of the camera of a view.
    pub fn camera_motion(&self, camera: &Camera) -> CameraMotion {
        let [displacement, turn] = self.camera;
        CameraMotion::in_view(camera, displacement, turn)
    }

    /// Motion of the draws, which rotate about axes through `centre`.
    pub fn draw_motions(&self, centre: Vector3<f64>) -> Vec<(Range<u32>, RigidMotion)> {
        let motions = self.draws.iter().map(|(range, [displacement, rotation])| {
            let motion = RigidMotion { displacement: *displacement, rotation: *rotation, centre };
            (range.clone(), motion)
        });
        motions.collect()
    }

    /// Motion of a view of a scene, with rotation axes of draws through `centre`.
    pub fn motion(&self, camera: &Camera, centre: Vector3<f64>) -> SceneMotion {
        SceneMotion { camera: self.camera_motion(camera), draws: self.draw_motions(centre) }
    }
}

fn range(text: &str) -> Option<Range<u32>> {
    let Some((from, to)) = text.split_once("..") else {
        let draw: u32 = text.parse().ok()?;
        return Some(draw..draw.checked_add(1)?);
    };
    let from = if from.is_empty() { 0 } else { from.parse().ok()? };
    let to = if to.is_empty() { u32::MAX } else { to.parse().ok()? };
    (from < to).then_some(from..to)
}

/// Message of a JSON error without line and column, which the caller puts in front.
fn message(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    text.strip_suffix(&place).unwrap_or(&text).to_owned()
}

#[cfg(test)]
mod tests {
    use std::f64::consts::FRAC_PI_2;

    use super::*;
    use quadrille_scene::Intrinsics;

    fn parse(text: &str) -> Result<MotionFile> {
        MotionFile::parse(text.as_bytes(), Path::new("motion.json"))
    }

    #[test]
    fn motions_are_read() {
        let file = parse(
            r#"{"camera": {"move": [0, 0, 0.5], "turn": [2, 0, 0]},
                "draws": [{"draws": "3..7", "spin": [0, 0, 2, 90]}, {"draws": "1", "move": [1, 2, 3]},
                          {"draws": "9.."}]}"#,
        );
        let file = file.unwrap();
        let lens = Intrinsics::from_vertical_fov(64, 36, 1.0);
        let camera = Camera::new("a", lens, nalgebra::Matrix3::identity(), Vector3::zeros());
        let camera = camera.unwrap();
        let centre = Vector3::new(1.0, 0.0, 0.0);
        let motion = file.motion(&camera, centre);
        let expected = CameraMotion::in_view(&camera, [0.0, 0.0, 0.5], [2.0, 0.0, 0.0]);
        assert_eq!(motion.camera, expected);
        let spun = motion.of(6);
        assert_eq!((spun.rotation, spun.centre), (Vector3::new(0.0, 0.0, FRAC_PI_2), centre));
        assert_eq!(motion.of(1).displacement, Vector3::new(1.0, 2.0, 3.0));
        assert!(motion.of(0).is_none() && motion.of(7).is_none());
        assert_eq!(motion.draws[2].0, 9..u32::MAX);
        motion.validate().unwrap();
        assert!(parse("{}").unwrap().draws.is_empty());
    }

    #[test]
    fn errors_name_file_place_and_finding() {
        for (text, place, found) in [
            ("", "line 1, column 0", "EOF"),
            (r#"{"camera": {"moves": []}}"#, "line 1", "unknown field `moves`"),
            (r#"{"draws": [{"move": [1, 2, 3]}]}"#, "line 1", "missing field `draws`"),
            (r#"{"camera": {"turn": [1, 2]}}"#, "line 1", "invalid length 2"),
            (r#"{"camera": {"turn": [1, 2, 1e999]}}"#, "line 1", "number out of range"),
            (r#"{"draws": [{"draws": "1"}, {"draws": "7..3"}]}"#, "draws[1].draws", "\"7..3\""),
            (r#"{"draws": [{"draws": "-1"}]}"#, "draws[0].draws", "\"-1\""),
            (r#"{"draws": [{"draws": "4294967295"}]}"#, "draws[0].draws", "4294967295"),
            (r#"{"draws": [{"draws": "1", "spin": [0, 0, 0, 5]}]}"#, "draws[0].spin", "[0.0"),
        ] {
            let error = parse(text).unwrap_err().to_string();
            assert!(error.starts_with(&format!("motion.json: {place}")), "{error}");
            assert!(error.contains("expected") && error.contains(found), "{error}");
        }
        let missing = MotionFile::load(Path::new("no-such-file.json")).unwrap_err();
        assert!(matches!(missing, Error::Read { .. }), "{missing}");
    }
}
