//! Checks of the descriptions of SOGs, versions 1 and 2.

use super::archive::Archive;
use super::meta::{Meta, Part};
use super::{CENTROIDS_PER_ROW, LOSSES, META, NAME};
use crate::encoding::SceneEncoding;
use crate::splats::{MAX_SPLATS, rest_coefficients};
use crate::table::{RawColumns, SplatTable};
use quadrille_base::error::{Error, Result};
use std::fmt::Display;

/// Maximum rows of a palette, since labels have 16 bits.
pub(super) const MAX_PALETTE: u64 = 65_536;

pub(super) fn described(archive: &Archive<'_>, meta: &Meta, raw: RawColumns) -> SplatTable {
    let version = meta.version.unwrap_or(1);
    let container = if archive.is_zip() { "zip" } else { "folder" };
    let compression = format!("lossless WebP in a {container}, version {version}");
    let mut encoding = SceneEncoding::new(compression, LOSSES);
    encoding.model = meta.model();
    SplatTable::of_raw(raw, archive.source().describe(NAME, encoding))
}

pub(super) fn parse<T: serde::de::DeserializeOwned>(
    archive: &Archive<'_>,
    bytes: &[u8],
    name: &str,
) -> Result<T> {
    serde_json::from_slice(bytes).map_err(|error| {
        let place = format!("{name}, line {}, column {}", error.line(), error.column());
        archive.source().malformed(place, "a description of a SOG", error.to_string())
    })
}

pub(super) struct SogFile {
    pub(super) meta: Meta,
    folder: String,
    /// True for version 1, which has ranges in place of codebooks.
    pub(super) is_v1: bool,
    pub(super) rows: usize,
    pub(super) sh_degree: u8,
    /// Name and content of the picture of centroids in version 1, whose width gives the SH degree.
    pub(super) centroids: Option<(String, Vec<u8>)>,
}

impl SogFile {
    /// Checks a description. The names of its files are relative to `folder`.
    pub(super) fn new(archive: &Archive<'_>, meta: Meta, folder: &str) -> Result<Self> {
        let mut file = Self {
            folder: folder.to_owned(),
            is_v1: meta.version.unwrap_or(1) == 1 && meta.count.is_none(),
            rows: 0,
            sh_degree: 0,
            centroids: None,
            meta,
        };
        let meta = &file.meta;
        if let Some(version) = meta.version.filter(|version| !(1..=2).contains(version)) {
            return Err(file.wrong(archive, "version", "1 or 2", version.to_string()));
        }
        let count = if file.is_v1 { meta.means.shape.first().copied() } else { meta.count };
        let missing = || file.wrong(archive, "count", "the number of splats", "none");
        let count = count.ok_or_else(missing)?;
        Error::check_limit("splats in a scene", MAX_SPLATS as u64, count)?;
        file.rows = quadrille_base::math::index(count);
        let Some(part) = &file.meta.sh_rest else { return Ok(file) };
        if part.count.is_some_and(|count| count > MAX_PALETTE) {
            return Err(file.wrong(archive, "shN.count", "at most 65536 rows", "more"));
        }
        match (file.is_v1, part.bands) {
            (false, Some(bands @ 1..=3)) => file.sh_degree = bands,
            (false, _) => {
                return Err(file.wrong(archive, "shN.bands", "1, 2 or 3", "another number"));
            }
            (true, _) => {
                let (name, bytes) = file.file(archive, part, 0)?;
                let name = name.to_owned();
                file.sh_degree = file.degree_of_centroids(archive, &name, &bytes)?;
                file.centroids = Some((name, bytes));
            }
        }
        Ok(file)
    }

    pub(super) fn wrong(
        &self,
        archive: &Archive<'_>,
        place: &str,
        expected: &str,
        found: impl Display,
    ) -> Error {
        archive.source().malformed(format!("{}{META}, \"{place}\"", self.folder), expected, found)
    }

    pub(super) fn file<'m>(
        &self,
        archive: &Archive<'_>,
        part: &'m Part,
        at: usize,
    ) -> Result<(&'m str, Vec<u8>)> {
        let name = part.files.get(at);
        let name =
            name.ok_or_else(|| self.wrong(archive, "files", "a picture of each kind", "none"))?;
        Ok((name, archive.read(&format!("{}{name}", self.folder))?))
    }

    /// SH degree in version 1, which follows from the width of the picture of centroids.
    fn degree_of_centroids(&self, archive: &Archive<'_>, name: &str, bytes: &[u8]) -> Result<u8> {
        let expected =
            "a width of 192, 512 or 960 pixels (64 palette rows of 3, 8 or 15 coefficients)";
        let decoder = image_webp::WebPDecoder::new(std::io::Cursor::new(bytes));
        let decoder = decoder.map_err(|e| self.wrong(archive, name, "a WebP", e.to_string()))?;
        let width = decoder.dimensions().0 as usize;
        (1..=3u8)
            .find(|degree| rest_coefficients(*degree) * CENTROIDS_PER_ROW == width)
            .ok_or_else(|| self.wrong(archive, name, expected, format!("{width} pixels")))
    }
}
