use serde::Deserialize;

/// Largest coordinate in world units; a double resolves 1.2e-7 of a unit there.
const MAX_COORDINATE: f64 = 1e9;
const FOV_DEGREES: [f64; 2] = [0.1, 175.0];
const MAX_KEY_SECONDS: f64 = 600.0;

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(try_from = "RawCamera")]
pub(crate) enum CameraRequest {
    Listed(usize),
    Placed(Placed),
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Placed {
    pub(crate) eye: [f64; 3],
    pub(crate) target: [f64; 3],
    pub(crate) up: [f64; 3],
    /// Vertical field of view.
    pub(crate) fov_degrees: f64,
    /// Index of the listed view whose intrinsics replace the field of view.
    pub(crate) lens: Option<usize>,
}

impl Placed {
    /// Eye, target and up direction.
    pub(crate) fn points(&self) -> [[f64; 3]; 3] {
        [self.eye, self.target, self.up]
    }
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(try_from = "RawCamera")]
pub(crate) struct Key {
    pub(crate) cam: CameraRequest,
    /// Time since the previous key.
    pub(crate) seconds: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawCamera {
    view: Option<usize>,
    eye: Option<[f64; 3]>,
    target: Option<[f64; 3]>,
    up: Option<[f64; 3]>,
    fov_degrees: Option<f64>,
    lens: Option<usize>,
    seconds: Option<f64>,
}

impl RawCamera {
    fn camera(&self) -> std::result::Result<CameraRequest, String> {
        match (self.view, self.eye, self.target, self.up, self.fov_degrees) {
            (Some(view), None, None, None, None) if self.lens.is_none() => {
                Ok(CameraRequest::Listed(view))
            }
            (None, Some(eye), Some(target), Some(up), Some(fov_degrees)) => {
                let mut coordinates = [eye, target, up].into_iter().flatten();
                if !coordinates.all(|c| c.is_finite() && c.abs() <= MAX_COORDINATE) {
                    return Err(format!("expected coordinates within {MAX_COORDINATE:e}"));
                }
                // A lens has a field of view of its own, of up to 340 degrees.
                let is_own = self.lens.is_none();
                if is_own && !(FOV_DEGREES[0]..=FOV_DEGREES[1]).contains(&fov_degrees) {
                    let [least, most] = FOV_DEGREES;
                    return Err(format!("expected a field of view from {least} to {most} degrees"));
                }
                Ok(CameraRequest::Placed(Placed { eye, target, up, fov_degrees, lens: self.lens }))
            }
            _ => {
                Err("expected a camera: a view, or eye, target, up, fov_degrees and lens"
                    .to_owned())
            }
        }
    }
}

impl TryFrom<RawCamera> for CameraRequest {
    type Error = String;

    fn try_from(raw: RawCamera) -> std::result::Result<Self, String> {
        match raw.seconds {
            None => raw.camera(),
            Some(_) => Err("expected a camera without seconds, which keys have".to_owned()),
        }
    }
}

impl TryFrom<RawCamera> for Key {
    type Error = String;

    fn try_from(raw: RawCamera) -> std::result::Result<Self, String> {
        let seconds = raw.seconds.filter(|s| (0.0..=MAX_KEY_SECONDS).contains(s));
        let expected = || format!("expected seconds from 0 to {MAX_KEY_SECONDS}");
        Ok(Self { cam: raw.camera()?, seconds: seconds.ok_or_else(expected)? })
    }
}
