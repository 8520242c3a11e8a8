//! Layout of splats in a PLY: the meaning of properties by their names.

use std::fmt::Display;
use std::path::Path;

use super::header::{Element, Header, PropertyKind};
use super::unused_columns;
use crate::activate;
use crate::assemble::{PLAIN_SLOTS, RowLayout};
use crate::column_names::{FILTER, FIRST_CONSTANT, PLAIN, THIRD_SCALE, sh_degree_of, slot};
use crate::encoding::{SceneEncoding, SplatModel};
use crate::scene_file::SceneFormat;
use crate::splats::rest_coefficients;
use crate::table::SplatTable;
use quadrille_base::error::{Error, Result};
use quadrille_base::shading::Profile;

pub(super) const NAME: SceneFormat = SceneFormat("PLY");

const LOSSES: &str = "none";

const ELEMENT: &str = "vertex";

#[derive(Debug)]
pub(crate) struct Layout<'a> {
    pub(crate) element: &'a Element,
    pub(crate) before: &'a [Element],
    /// Slot of each property of the element, if used.
    pub(crate) slots: Vec<Option<usize>>,
    pub(crate) row_layout: RowLayout,
    /// True if properties `red`, `green`, `blue` replace the constant SH coefficients.
    pub(crate) has_plain_colours: bool,
}

pub(super) const COLOURS: [&str; 3] = ["red", "green", "blue"];

impl<'a> Layout<'a> {
    pub(crate) fn of(header: &'a Header, path: &Path) -> Result<Self> {
        let elements = &header.elements;
        let Some(at) = elements.iter().position(|e| e.name == ELEMENT) else {
            let names: Vec<&str> = elements.iter().map(|e| e.name.as_str()).take(8).collect();
            return Err(Error::malformed(
                path,
                "header",
                "an element \"vertex\" with splats",
                format!("elements [{}]", names.join(", ")),
            ));
        };
        let element = &elements[at];
        let has_plain_colours = check_plain(header, element, path)?;
        let sh_degree = sh_degree(element, path)?;
        let rest = 3 * rest_coefficients(sh_degree);
        let slots: Vec<Option<usize>> =
            element.properties.iter().map(|property| slot(&property.name, rest)).collect();
        for (property, slot) in element.properties.iter().zip(&slots) {
            if slot.is_some() && matches!(property.kind, PropertyKind::List { .. }) {
                let place = format!("element \"{ELEMENT}\", property \"{}\"", property.name);
                return Err(Error::malformed(path, place, "one number per row", "a list"));
            }
        }
        let has = |slot| slots.contains(&Some(slot));
        let row_layout = RowLayout {
            rows: rows(element, path)?,
            sh_degree,
            encoding: activate::ValueEncoding::Raw,
            scales: if has(THIRD_SCALE) { 3 } else { 2 },
            filtered: has(PLAIN_SLOTS + rest),
        };
        Ok(Self { element, before: &elements[..at], slots, row_layout, has_plain_colours })
    }
}

impl Layout<'_> {
    /// Names of the properties that pictures do not use.
    fn unused(&self) -> Vec<String> {
        let is_colour = |name: &str| self.has_plain_colours && COLOURS.contains(&name);
        let unused = self.element.properties.iter().zip(&self.slots);
        let unused = unused.filter(|(own, slot)| slot.is_none() && !is_colour(&own.name));
        unused.map(|(own, _)| own.name.clone()).collect()
    }

    /// Encoding of a file with this layout and `header`.
    pub(super) fn encoding(&self, header: &Header) -> SceneEncoding {
        let mut encoding = SceneEncoding::new(header.encoding.in_words(), LOSSES);
        // Two scales are those of discs, whatever a comment says.
        let has_discs = self.row_layout.scales == 2;
        encoding.model = has_discs.then_some(SplatModel::Discs).or(model_in(&header.comments));
        encoding.unused_columns = self.unused();
        encoding.warnings = unused_columns::warnings(&encoding.unused_columns);
        encoding
    }
}

fn rows(element: &Element, path: &Path) -> Result<usize> {
    usize::try_from(element.count).ok().filter(|rows| *rows < usize::MAX / 4096).ok_or_else(|| {
        let found = format!("{} rows", element.count);
        wrong_element(path, "a number of rows that fits in memory", found)
    })
}

fn wrong_element(path: &Path, expected: impl Display, found: impl Display) -> Error {
    Error::malformed(path, format!("element \"{ELEMENT}\""), expected, found)
}

/// Refuses an element without the properties of splats. Returns true for RGB colours, as a nerfstudio exporter writes.
fn check_plain(header: &Header, element: &Element, path: &Path) -> Result<bool> {
    let has = |name: &str| element.properties.iter().any(|p| p.name == name);
    let missing: Vec<&str> = (0..PLAIN_SLOTS)
        .filter(|slot| *slot != THIRD_SCALE && !has(PLAIN[*slot]))
        .map(|slot| PLAIN[slot])
        .collect();
    let constants = &PLAIN[FIRST_CONSTANT..];
    let has_plain_colours = missing == constants && COLOURS.iter().all(|name| has(name));
    if missing.is_empty() || has_plain_colours {
        return Ok(has_plain_colours);
    }
    let faces = ["face", "tristrips"]
        .iter()
        .any(|name| header.element(name).is_some_and(|faces| faces.count > 0));
    let looks = match (has("x") && has("y") && has("z"), faces) {
        (true, true) => "; it looks like a mesh, which `quadrille mesh` draws",
        (true, false) => "; it looks like a point cloud",
        (false, _) => "",
    };
    let expected = "the properties of a splat (x y z f_dc_* opacity scale_* rot_*)";
    Err(wrong_element(path, expected, format!("none called {}{looks}", missing.join(", "))))
}

fn sh_degree(element: &Element, path: &Path) -> Result<u8> {
    sh_degree_of(element.properties.iter().map(|p| p.name.as_str()))
        .map_err(|(expected, found)| wrong_element(path, expected, found))
}

const PROFILE_COMMENT: &str = "profile ";

/// Comments for a file with these columns. They include the profile and antialiasing that the scene was trained for.
pub(super) fn comments_of<'a>(
    table: &SplatTable,
    names: impl Iterator<Item = &'a str>,
) -> Vec<String> {
    let lines = table.comments.iter().flat_map(|comment| comment.lines());
    let mut comments: Vec<String> = lines.map(str::to_owned).collect();
    if let Some(model) = table.encoding.model.filter(|model| model_in(&comments) != Some(*model)) {
        comments.push(match model {
            SplatModel::Plain => "antialiased 0".to_owned(),
            SplatModel::Antialiased => "antialiased 1".to_owned(),
            SplatModel::Discs => format!("SplatRenderMode: {}", model.name()),
        });
    }
    if let Some(profile) = table.profile_hint
        && profile_hint(names, &comments) != Some(profile)
    {
        comments.push(format!("{PROFILE_COMMENT}{profile}"));
    }
    comments
}

/// Name of the profile that a file was trained for; `None` if the file does not say.
///
/// Mip-Splatting writes a property `filter_3D`, and 2DGS two scales. Brush writes the comments `Exported from Brush` and
/// `SplatRenderMode: default` or `mip` (other programs use the second too, with `2dgs`), Postshot writes `antialiased 0` or
/// `1`; the last such comment counts. Antialiased training by an unknown program means the profile of the reference renderer
/// with antialiasing. A comment `profile NAME` takes precedence; this program writes it if nothing else states the profile.
pub(crate) fn profile_hint<'a>(
    names: impl Iterator<Item = &'a str>,
    comments: &[String],
) -> Option<&'static str> {
    let stated = comments.iter().rev().filter_map(|comment| comment.strip_prefix(PROFILE_COMMENT));
    if let Some(profile) = stated.filter_map(|name| Profile::named(name.trim()).ok()).next() {
        return Some(profile.name);
    }
    let (mut has_filter, mut has_scales) = (false, [false; 2]);
    for name in names {
        has_filter |= name == FILTER;
        has_scales[0] |= name == "scale_1";
        has_scales[1] |= name == "scale_2";
    }
    if has_filter {
        return Some("mip-splatting");
    }
    let is_brush = comments.iter().any(|c| c.to_ascii_lowercase().contains("from brush"));
    match model_in(comments) {
        _ if has_scales == [true, false] => Some("2dgs"),
        Some(SplatModel::Antialiased) if is_brush => Some("brush-aa"),
        Some(SplatModel::Discs) => Some("2dgs"),
        _ if is_brush => Some("brush"),
        Some(SplatModel::Antialiased) => Some("inria-aa"),
        Some(SplatModel::Plain) | None => None,
    }
}

/// Kind of Gaussians, as the last comment about it says; `None` without such a comment.
pub(super) fn model_in(comments: &[String]) -> Option<SplatModel> {
    comments.iter().filter_map(|c| model(c)).next_back()
}

fn model(comment: &str) -> Option<SplatModel> {
    let lower = comment.to_ascii_lowercase();
    let mut words = lower
        .split(|c: char| c.is_ascii_whitespace() || c == ':' || c == '=')
        .filter(|word| !word.is_empty());
    let value = |word: Option<&str>| match word {
        Some("mip" | "1" | "true") => Some(SplatModel::Antialiased),
        Some("default" | "0" | "false") => Some(SplatModel::Plain),
        Some("2dgs") => Some(SplatModel::Discs),
        _ => None,
    };
    match words.next()? {
        "splatrendermode" | "antialiased" => value(words.next()),
        _ => None,
    }
}
