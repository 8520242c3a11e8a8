//! Keys of jobs and of their rows.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::configuration::label;
use quadrille_scene::Camera;

/// A view and the size of its picture.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ViewKey {
    /// Name of the view.
    pub name: String,
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
}

impl ViewKey {
    /// View of a camera.
    pub fn of(camera: &Camera) -> Self {
        Self { name: camera.name.clone(), width: camera.width, height: camera.height }
    }
}

/// Key of a view of a scene in one configuration.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct JobKey {
    /// Name of the scene in the suite.
    pub scene: String,
    /// Seed of a procedural scene.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// View of the scene.
    pub view: ViewKey,
    /// Number of the frame, from 0, in a sequence that keeps the caches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frame: Option<usize>,
    /// Name of the configuration, if the suite gives it one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub configuration: Option<String>,
    /// Preset that the configuration is based on.
    #[serde(default)]
    pub preset: String,
    /// Fields whose values differ from the preset, as TOML.
    #[serde(default)]
    pub changed: BTreeMap<String, String>,
}

impl JobKey {
    /// Returns the name of the configuration or, without one, its preset followed by its changes.
    pub fn configuration_label(&self) -> String {
        label(self.configuration.as_deref(), &self.preset, &self.changed)
    }
}

impl fmt::Display for JobKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ", self.scene)?;
        if let Some(seed) = self.seed {
            write!(f, "seed {seed} ")?;
        }
        let ViewKey { name, width, height } = &self.view;
        write!(f, "{name} {width}x{height}, {}", self.configuration_label())
    }
}

/// Key of a mesh run in a study: all views of a mesh at one point of each axis.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct MeshRunKey {
    /// Name of the study.
    pub study: String,
    /// Name of the mesh.
    pub mesh: String,
    /// Name of the version of the mesh, if it is not the default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    /// Name of the point on each axis of the study.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub settings: BTreeMap<String, String>,
}

impl MeshRunKey {
    /// Name of the mesh, with its version.
    pub fn mesh_name(&self) -> String {
        match &self.variant {
            None => self.mesh.clone(),
            Some(variant) => format!("{} ({variant})", self.mesh),
        }
    }
}

impl fmt::Display for MeshRunKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.study, self.mesh_name())?;
        self.settings.values().try_for_each(|point| write!(f, ", {point}"))
    }
}

/// Key of a run in its suite. Results with the same key, fingerprint and method must have equal numbers.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum RunKey {
    /// A view of a scene of splats.
    View(JobKey),
    /// All views of a mesh at one point of its study.
    Mesh(MeshRunKey),
}

impl fmt::Display for RunKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::View(key) => key.fmt(f),
            Self::Mesh(key) => key.fmt(f),
        }
    }
}

/// 64-bit FNV-1a hash: the same on every machine and in every version.
pub struct Fnv1a(pub u64);

impl Default for Fnv1a {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv1a {
    /// Hash of a text, as 16 hexadecimal digits.
    pub(super) fn of(text: fmt::Arguments<'_>) -> String {
        let mut hash = Self::default();
        // Writing to a hash cannot fail.
        let _ = hash.write_fmt(text);
        hash.text()
    }

    /// Formats the hash as 16 hexadecimal digits.
    pub(super) fn text(&self) -> String {
        format!("{:016x}", self.0)
    }

    /// Adds the content of a file.
    pub fn add_file(&mut self, path: &Path) -> io::Result<()> {
        io::copy(&mut File::open(path)?, self).map(drop)
    }
}

impl Write for Fnv1a {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
