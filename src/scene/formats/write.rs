//! Writing of scenes: output formats, their options, and the losses of each.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::{dot_splat, gltf, ply, sog, spz, usd};
use crate::chunk_order::improved_chunk_order;
use crate::encoding::SplatModel;
use crate::morton::improved_order;
use crate::table::{RawColumns, SplatTable, profile_of_model};
use quadrille_base::output::{check_folder, write_folder, write_whole_if};
use quadrille_base::shading::SplatOrder;
use quadrille_base::{Error, Result, Task};
use quadrille_usd::UsdEncoding;

/// Format in which scenes are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum OutputFormat {
    /// PLY as trainers write it. Rows that were read from a PLY are written byte for byte.
    Ply,
    /// Compressed PLY of SuperSplat: chunks of 256 splats, four words per splat.
    CompressedPly,
    /// SPZ of version 3 (gzip).
    Spz3,
    /// SPZ of version 4 (zstd).
    Spz4,
    /// SOG of version 2 as a zip.
    Sog,
    /// SOG of version 2 as a folder: a `meta.json` and the pictures beside it.
    SogFolder,
    /// Streamed SOG, with levels of detail, as a zip.
    StreamedSog,
    /// Streamed SOG as a folder: a `lod-meta.json` and folders of SOGs beside it.
    StreamedSogFolder,
    /// `.splat`: 32 bytes per splat, without spherical harmonics.
    DotSplat,
    /// GLB with `KHR_gaussian_splatting`.
    Glb,
    /// USD (`ParticleField3DGaussianSplat`) in text.
    Usda,
    /// USD as a binary layer.
    Usdc,
    /// USD as a package of a binary layer.
    Usdz,
}

/// Options of writing. An [`OutputFormat`] converts to options with the defaults.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct WriteOptions<'a> {
    /// Format of the file.
    pub format: OutputFormat,
    /// Level of compression of SPZ, from 1 (fastest) to 22 for version 4 or 9 for version 3 (fewest bytes). The default
    /// takes under a second for a million splats.
    pub compression_level: Option<u8>,
    /// Task that can cancel the writing, which leaves the file as it was.
    pub task: &'a Task,
}

impl From<OutputFormat> for WriteOptions<'_> {
    fn from(format: OutputFormat) -> Self {
        Self { format, compression_level: None, task: &Task::NEVER }
    }
}

impl<'a> WriteOptions<'a> {
    /// Options with the default compression level, and a task that is never cancelled.
    pub fn new(format: OutputFormat) -> Self {
        Self::from(format)
    }

    /// Sets the level of compression; `None` is the default of the format.
    #[must_use]
    pub fn compression_level(self, compression_level: Option<u8>) -> Self {
        Self { compression_level, ..self }
    }

    /// Sets the task that can cancel the writing.
    #[must_use]
    pub fn task(self, task: &'a Task) -> Self {
        Self { task, ..self }
    }

    /// Checks the compression level against the format.
    ///
    /// # Errors
    /// [`Error::Argument`] for a level that the format does not have.
    pub fn check(self) -> Result<()> {
        let (format, Some(level)) = (self.format, self.compression_level) else { return Ok(()) };
        let most = match format {
            OutputFormat::Spz4 => 22,
            OutputFormat::Spz3 => 9,
            _ => {
                let found = format!("{level} for the format {}", format.name());
                return Err(Error::argument(
                    "compression level",
                    "no level, since only SPZ has levels",
                    found,
                ));
            }
        };
        match (1..=most).contains(&level) {
            true => Ok(()),
            false => Err(Error::argument(
                "compression level",
                format!("1 to {most} for the format {}", format.name()),
                level,
            )),
        }
    }
}

/// Formats with their option names and extensions; the first matching extension wins. A folder has no extension.
const OUTPUTS: [(OutputFormat, &str, &str); 13] = [
    (OutputFormat::CompressedPly, "compressed-ply", ".compressed.ply"),
    (OutputFormat::Ply, "ply", ".ply"),
    (OutputFormat::Spz4, "spz4", ".spz"),
    (OutputFormat::Spz3, "spz3", ".spz"),
    (OutputFormat::Sog, "sog", ".sog"),
    (OutputFormat::StreamedSog, "streamed-sog", ".ssog"),
    (OutputFormat::DotSplat, "splat", ".splat"),
    (OutputFormat::Glb, "glb", ".glb"),
    (OutputFormat::Usdz, "usdz", ".usdz"),
    (OutputFormat::Usdc, "usdc", ".usdc"),
    (OutputFormat::Usda, "usda", ".usda"),
    (OutputFormat::SogFolder, "sog-folder", ""),
    (OutputFormat::StreamedSogFolder, "streamed-sog-folder", ""),
];

const FOLDERS: [(OutputFormat, &str); 2] =
    [(OutputFormat::SogFolder, sog::META), (OutputFormat::StreamedSogFolder, sog::LOD_META)];

impl OutputFormat {
    /// Format by the file name of `path`: `.ply`, `.compressed.ply`, `.spz` (version 4), `.sog`, `.ssog` (streamed SOG),
    /// `.splat`, `.glb`, `.usdz`, `.usdc` or `.usda`, or the `meta.json` or `lod-meta.json` of a SOG or streamed SOG in a folder.
    pub fn of_name(path: &Path) -> Option<Self> {
        let mut folders = FOLDERS.into_iter();
        let is_named = |meta: &str| path.file_name().is_some_and(|name| name == meta);
        if let Some((format, _)) = folders.find(|(_, meta)| is_named(meta)) {
            return Some(format);
        }
        let name = path.to_string_lossy().to_ascii_lowercase();
        let has = |(_, _, extension): &&(Self, &str, &str)| {
            !extension.is_empty() && name.ends_with(extension)
        };
        OUTPUTS.iter().find(has).map(|(format, _, _)| *format)
    }

    /// All formats, in the order of messages.
    pub fn all() -> impl Iterator<Item = Self> {
        OUTPUTS.into_iter().map(|(format, _, _)| format)
    }

    /// File that readers of the output `path` open first: `path` itself, or the description in the folder of a SOG.
    pub fn main_file(self, path: &Path) -> PathBuf {
        match self.description() {
            Some(meta) => folder_of(path, meta).join(meta),
            None => path.to_owned(),
        }
    }

    /// Checks that the output `path` can be replaced: a folder of a SOG may exist if it holds only files of a SOG.
    ///
    /// # Errors
    /// [`Error::Write`] for a folder that holds other files.
    pub fn check_replaceable(self, path: &Path) -> Result<()> {
        match self {
            Self::SogFolder => check_folder(folder_of(path, sog::META), is_sog_part),
            Self::StreamedSogFolder => {
                check_folder(folder_of(path, sog::LOD_META), sog::is_streamed_part)
            }
            _ => Ok(()),
        }
    }

    /// True if the output is a folder.
    pub fn is_folder(self) -> bool {
        self.description().is_some()
    }

    fn description(self) -> Option<&'static str> {
        let mut folders = FOLDERS.into_iter();
        folders.find_map(|(format, meta)| (format == self).then_some(meta))
    }

    /// True if files can hold several levels of detail.
    pub fn has_levels(self) -> bool {
        matches!(self, Self::StreamedSog | Self::StreamedSogFolder)
    }

    /// Extension of files, with its dot; empty for a folder.
    pub fn extension(self) -> &'static str {
        let is_self = |(format, _, _): &&(Self, &str, &str)| *format == self;
        OUTPUTS.iter().find(is_self).map_or("", |(_, _, end)| end)
    }

    /// Name of the format in options, by which [`Self::named`] finds it.
    pub fn name(self) -> &'static str {
        let is_self = |(format, _, _): &&(Self, &str, &str)| *format == self;
        OUTPUTS.iter().find(is_self).map_or("", |(_, name, _)| name)
    }

    /// Returns the format called `name`.
    ///
    /// # Errors
    /// [`Error::Argument`] for an unknown name; it lists the known ones.
    pub fn named(name: &str) -> Result<Self> {
        // Extensions are names too; of several formats with an extension, it means the first one.
        let is_named = |(_, known, extension): &&(Self, &str, &str)| {
            *known == name || extension.strip_prefix('.') == Some(name)
        };
        let found = OUTPUTS.iter().find(is_named);
        found.map(|(format, _, _)| *format).ok_or_else(|| {
            let known = OUTPUTS.map(|(_, name, _)| name);
            Error::unknown_name("format", format!("one of {}", known.join(", ")), name, known)
        })
    }

    /// Highest degree of spherical harmonics that files can hold, 0 to 4.
    pub fn max_sh_degree(self) -> u8 {
        match self {
            Self::Ply | Self::Spz3 | Self::Spz4 | Self::Usda | Self::Usdc | Self::Usdz => 4,
            Self::CompressedPly | Self::Glb => 3,
            Self::Sog | Self::SogFolder | Self::StreamedSog | Self::StreamedSogFolder => 3,
            Self::DotSplat => 0,
        }
    }

    fn has_double_bounds(self) -> bool {
        matches!(self, Self::Sog | Self::SogFolder) || self.has_levels()
    }

    /// Order in which rows of `raw` are written; `None` if they keep their order.
    pub fn order(self, raw: &RawColumns, task: &Task) -> Result<Option<Vec<u32>>> {
        match self {
            Self::CompressedPly => improved_chunk_order(raw, task),
            Self::Sog | Self::SogFolder => improved_order(raw, task),
            Self::StreamedSog | Self::StreamedSogFolder => sog::streamed_order(raw, task).map(Some),
            _ => Ok(None),
        }
    }

    /// Warnings about content of `table` that the format cannot hold, one sentence each.
    pub fn losses(self, table: &SplatTable) -> Vec<String> {
        let mut losses = Vec::new();
        let is_usd = matches!(self, Self::Usda | Self::Usdc | Self::Usdz);
        let keeps_order = self == Self::Glb || is_usd;
        if table.encoding.order == Some(SplatOrder::Distance) && !keeps_order {
            losses.push(
                "the order by distance, which the scene states, is left out: draw the output with --order distance"
                    .to_owned(),
            );
        }
        if self == Self::Ply {
            return losses;
        }
        let degree = table.sh_degree();
        if degree > self.max_sh_degree() {
            losses.push(format!("spherical harmonics of degree {degree} are left out"));
        }
        let is_kept = |name: &&str| *name == "nx" || *name == "ny" || *name == "nz";
        let others: Vec<&str> = table.other_names().filter(|name| !is_kept(name)).collect();
        if !others.is_empty() {
            losses.push(format!("columns {} are left out", others.join(", ")));
        }
        if table.origin() != [0.0; 3] && !self.has_double_bounds() {
            let sentence = "positions in double precision are rounded to single precision, which does not resolve the \
                            splats (move the scene to the origin with --translate)";
            losses.push(sentence.to_owned());
        }
        let model = table.model();
        let has_flag_only = matches!(self, Self::Spz3 | Self::Spz4);
        let has_no_model = is_usd || matches!(self, Self::DotSplat | Self::Glb);
        let keeps_model = !has_flag_only && !has_no_model;
        let kept = match self {
            Self::Ply | Self::CompressedPly => table.profile_hint,
            _ if has_no_model => None,
            _ => profile_of_model(model.filter(|m| keeps_model || *m != SplatModel::Discs)),
        };
        if let Some(profile) = table.profile_hint.filter(|hint| Some(*hint) != kept) {
            losses.push(format!(
                "the profile {profile}, for which the scene was trained, is left out: draw the output with --profile \
                 {profile}"
            ));
        }
        if model == Some(SplatModel::Discs) && !keeps_model {
            losses.push(
                "the model 2dgs, which the scene was trained as, is left out: readers take its discs for flat 3D Gaussians"
                    .to_owned(),
            );
        }
        losses.extend(self.clamped(table));
        losses
    }
}

/// Folder of a SOG: `path` itself, or its parent if `path` ends in the description `meta`.
fn folder_of<'a>(path: &'a Path, meta: &str) -> &'a Path {
    match path.parent() {
        Some(folder) if path.file_name().is_some_and(|name| name == meta) => folder,
        _ => path,
    }
}

fn is_sog_part(name: &str) -> bool {
    sog::FILES.contains(&name)
}

/// Writes `table` to the file `path`, whole or not at all. The folder of a SOG may exist if it holds only files of a SOG.
///
/// # Errors
/// [`Error::Malformed`] for splats that the format cannot hold: rows that are not finite, positions beyond its range,
/// spherical harmonics above its degree (except `.splat`, which omits them); [`Error::Write`]; [`Error::Cancelled`].
pub fn write_table<'a>(
    path: &Path,
    table: &SplatTable,
    options: impl Into<WriteOptions<'a>>,
) -> Result<()> {
    write_levels_if(path, &[table], options.into(), |_| Ok(true)).map(drop)
}

/// Writes the levels of detail of a scene, finest first, like [`write_table`]. `accept` receives the temporary path of
/// the complete new file or folder; the file `path` is replaced only if it returns true, which is also the result.
///
/// # Errors
/// Errors of [`write_table`], [`WriteOptions::check`] and `accept`, and [`Error::Argument`] unless there is one level, or
/// several for a format that [has them](OutputFormat::has_levels).
pub fn write_levels_if(
    path: &Path,
    levels: &[&SplatTable],
    options: WriteOptions<'_>,
    accept: impl FnOnce(&Path) -> Result<bool>,
) -> Result<bool> {
    quadrille_base::span!("encode");
    options.check()?;
    let WriteOptions { format, compression_level: level, task } = options;
    let table = match levels {
        [table] => table,
        [table, ..] if format.has_levels() => table,
        _ => {
            let found = format!("{} for the format {}", levels.len(), format.name());
            let expected = "one, or several in a streamed SOG (.ssog)";
            return Err(Error::argument("levels of detail", expected, found));
        }
    };
    for table in levels {
        format.check(table, path, task)?;
    }
    let bytes = match format {
        OutputFormat::Ply => {
            let write = |out: &mut dyn Write| ply::write_table(table, out);
            return write_whole_if(path, task, write, accept);
        }
        OutputFormat::CompressedPly => {
            let mut bytes = Vec::new();
            ply::write_compressed(table, path, &mut bytes, task)?;
            bytes
        }
        OutputFormat::Spz3 => spz::write(table, 3, level, path, task)?,
        OutputFormat::Spz4 => spz::write(table, 4, level, path, task)?,
        OutputFormat::Sog => sog::write(table, path, task)?,
        OutputFormat::SogFolder => {
            let files = sog::write_files(table, path, task)?;
            return write_folder(folder_of(path, sog::META), &files, is_sog_part, task, accept);
        }
        OutputFormat::StreamedSog => {
            let files = sog::write_streamed_files(levels, &sog::SIZES, path, task)?;
            sog::zip(&files).map_err(|e| Error::write(path, e))?
        }
        OutputFormat::StreamedSogFolder => {
            let files = sog::write_streamed_files(levels, &sog::SIZES, path, task)?;
            let folder = folder_of(path, sog::LOD_META);
            return write_folder(folder, &files, sog::is_streamed_part, task, accept);
        }
        OutputFormat::DotSplat => dot_splat::write(table, path, task)?,
        OutputFormat::Glb => gltf::write(table, path, task)?,
        OutputFormat::Usda => usd::write(table, UsdEncoding::Text, path, task)?,
        OutputFormat::Usdc => usd::write(table, UsdEncoding::Binary, path, task)?,
        OutputFormat::Usdz => usd::write(table, UsdEncoding::Package, path, task)?,
    };
    let write = |out: &mut dyn Write| -> io::Result<()> { out.write_all(&bytes) };
    write_whole_if(path, task, write, accept)
}
