//! Exposures of pictures, as the reference trainer stores them beside its scene.
//!
//! With `train_test_exp`, the trainer of 3DGS learns an affine map of colours per picture, so that photographs of different
//! exposure fit one scene. `exposure.json` holds a matrix of three rows and four columns per picture name.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::json::{self, JsonNode};
use super::names::{file_safe, of_picture};
use quadrille_base::error::Result;
use quadrille_base::math::narrow;

/// Affine colour maps of an `exposure.json`, by picture name.
#[derive(Debug, Clone, PartialEq)]
pub struct Exposures {
    file: PathBuf,
    by_name: BTreeMap<String, [[f32; 4]; 3]>,
}

impl Exposures {
    /// Reads an `exposure.json`.
    ///
    /// # Errors
    /// [`Error::Read`](quadrille_base::error::Error::Read) if the file cannot be read, and
    /// [`Error::Malformed`](quadrille_base::error::Error::Malformed) if it is not an object of matrices with three rows
    /// of four finite numbers.
    pub fn load(path: impl AsRef<Path>) -> Result<Self> {
        const EXPECTED: &str = "an exposure.json: an object with a 3x4 matrix per picture";
        let path = path.as_ref();
        let value = json::parse_as(EXPECTED, path, &json::read_bounded(path)?)?;
        let root = JsonNode::root(path, &value);
        let members = value.as_object().ok_or_else(|| root.error(EXPECTED))?;
        let mut by_name = BTreeMap::new();
        for name in members.keys() {
            let rows: [[f64; 4]; 3] = root.member(name)?.rows(3..=3)?;
            by_name.insert(file_safe(name, 0), rows.map(|row| row.map(narrow)));
        }
        Ok(Self { file: path.to_owned(), by_name })
    }

    /// Path of the file that was read.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Exposure of a view: channel `k` of a colour `c` becomes `c[0] rows[0][k] + c[1] rows[1][k] + c[2] rows[2][k] +
    /// rows[k][3]`. An exposure with the view's name comes first. Since only some files have names with extensions, the
    /// next choice is the only exposure whose name is the same up to the extension.
    pub fn of(&self, view: &str) -> Option<&[[f32; 4]; 3]> {
        if let Some(exposure) = self.by_name.get(view) {
            return Some(exposure);
        }
        let mut alike =
            self.by_name.iter().filter(|(name, _)| of_picture(name) == of_picture(view));
        alike.next().map(|(_, exposure)| exposure).filter(|_| alike.next().is_none())
    }
}
