//! Content of a scene file, and its format.

use std::fmt;

use super::encoding::SceneEncoding;
use super::origin::{Resolution, SAMPLES};
use super::splats::{Splat, Splats};
use quadrille_base::shading::Profile;

/// Splats of a scene file with its metadata and warnings.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Scene {
    /// Valid splats of the file, activated.
    pub splats: Splats,
    /// Counts of invalid rows, which were dropped.
    pub dropped: Dropped,
    /// Name of the profile that the scene was trained for, if the file says so.
    pub profile_hint: Option<&'static str>,
    /// Format that the file was read as.
    pub format: SceneFormat,
    /// Comments of the file, in order.
    pub comments: Vec<String>,
    /// Size of the file in bytes; for a format of several files, the total size.
    pub file_bytes: u64,
    /// Storage format of the splats in the file.
    pub encoding: SceneEncoding,
}

impl Scene {
    /// Profile that the scene was trained for, or the default profile if the file does not say.
    pub fn profile(&self) -> Profile {
        profile_of_hint(self.profile_hint)
    }

    /// The scene of other splats, with the metadata of this one.
    #[must_use]
    pub fn with_splats(&self, splats: Splats) -> Self {
        Self { splats, comments: self.comments.clone(), encoding: self.encoding.clone(), ..*self }
    }

    pub(super) fn warn_of_rounding(&mut self) {
        if self.splats.origin() == [0.0; 3] {
            self.encoding.warnings.extend(rounding_warning(self.splats.sampled(SAMPLES)));
        }
    }

    pub(super) fn new(
        format: SceneFormat,
        file_bytes: usize,
        encoding: SceneEncoding,
        (splats, dropped): (Splats, Dropped),
    ) -> Self {
        Self {
            splats,
            dropped,
            profile_hint: None,
            format,
            comments: Vec::new(),
            file_bytes: file_bytes as u64,
            encoding,
        }
    }
}

impl From<Splats> for Scene {
    /// A scene in memory, of no file.
    fn from(splats: Splats) -> Self {
        let encoding = SceneEncoding::new("none", "none");
        Self::new(SceneFormat("memory"), 0, encoding, (splats, Dropped::default()))
    }
}

pub(super) fn rounding_warning(splats: impl Iterator<Item = Splat>) -> Option<String> {
    let found = Resolution::of(splats.map(|splat| {
        (splat.mean.map(f64::from), f64::from(splat.scale.into_iter().fold(0.0, f32::max)))
    }));
    found.and_then(|found| found.warning())
}

pub(super) fn profile_of_hint(name: Option<&'static str>) -> Profile {
    name.map(Profile::named).and_then(Result::ok).unwrap_or_default()
}

/// Format of scene files that can be read or at least recognised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SceneFormat(pub(super) &'static str);

impl SceneFormat {
    /// Name of the format in outputs and errors, such as `PLY` or `.splat`.
    pub fn name(self) -> &'static str {
        self.0
    }
}

/// Counts of the invalid rows of a file, by the first reason that applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
#[non_exhaustive]
pub struct Dropped {
    /// A value is not a number.
    pub nan: u64,
    /// A value is infinite.
    pub infinite: u64,
    /// The rotation quaternion is zero.
    pub zero_rotation: u64,
    /// A scale overflows f32 when activated.
    pub scale_overflow: u64,
    /// An opacity that the format stores is beyond 0 to 1.
    pub opacity_range: u64,
}

impl Dropped {
    /// Number of invalid rows over all reasons.
    pub fn total(&self) -> u64 {
        self.by_reason().iter().map(|(_, count)| count).sum()
    }

    /// Warning about invalid rows; `None` if there are none.
    pub fn warning(&self) -> Option<String> {
        let total = self.total();
        (total > 0).then(|| {
            format!("rows without a valid splat were dropped: {total}; `quadrille info` shows the reasons")
        })
    }

    /// Each reason in words, with its count.
    pub fn by_reason(&self) -> [(&'static str, u64); 5] {
        [
            ("not a number", self.nan),
            ("infinite", self.infinite),
            ("zero rotation", self.zero_rotation),
            ("scale overflow", self.scale_overflow),
            ("opacity beyond 0 to 1", self.opacity_range),
        ]
    }

    pub(super) fn plus(self, other: Self) -> Self {
        Self {
            nan: self.nan + other.nan,
            infinite: self.infinite + other.infinite,
            zero_rotation: self.zero_rotation + other.zero_rotation,
            scale_overflow: self.scale_overflow + other.scale_overflow,
            opacity_range: self.opacity_range + other.opacity_range,
        }
    }
}

/// Formats counts as in `3 rows: 2 not a number, 1 infinite`.
impl fmt::Display for Dropped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let total = self.total();
        write!(f, "{total} row{}", if total == 1 { "" } else { "s" })?;
        let reasons = self.by_reason().into_iter().filter(|(_, count)| *count > 0);
        for (i, (reason, count)) in reasons.enumerate() {
            write!(f, "{} {count} {reason}", if i == 0 { ":" } else { "," })?;
        }
        Ok(())
    }
}
