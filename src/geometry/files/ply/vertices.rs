//! Columns of the element `vertex`, and of colours in any element.

use std::path::Path;

use quadrille_base::error::{Error, Result};
use quadrille_base::math::narrow;
use quadrille_scene::formats::ply::{Element, PlyRow, PropertyKind, Scalar};

/// Names of texture coordinates, in order of preference.
const UVS: [[&str; 2]; 3] = [["s", "t"], ["u", "v"], ["texture_u", "texture_v"]];
/// Names of colour channels, in order of preference.
const COLOURS: [[&str; 3]; 3] =
    [["red", "green", "blue"], ["diffuse_red", "diffuse_green", "diffuse_blue"], ["r", "g", "b"]];
const ALPHA: &str = "alpha";

pub(super) struct VertexColumns {
    position: [usize; 3],
    normal: Option<[usize; 3]>,
    uv: Option<[usize; 2]>,
    colour: Option<ColourColumns>,
}

/// Columns of a colour, and factors that scale 8 or 16 bits to 0 to 1.
#[derive(Clone, Copy)]
pub(super) struct ColourColumns {
    channels: [(usize, f32); 3],
    alpha: Option<(usize, f32)>,
}

impl ColourColumns {
    pub(super) fn of(element: &Element) -> Option<Self> {
        let column = |name: &str| {
            let at = element.properties.iter().position(|p| p.name == name)?;
            let PropertyKind::Scalar(scalar) = element.properties[at].kind else { return None };
            // Numbers of other types are scaled to 0 to 1 once their largest value is known.
            let most = match scalar {
                Scalar::U8 => f32::from(u8::MAX),
                Scalar::U16 => f32::from(u16::MAX),
                _ => 1.0,
            };
            Some((at, 1.0 / most))
        };
        let of = |names: &[&str; 3]| {
            let [red, green, blue] = names.map(column);
            Some([red?, green?, blue?])
        };
        Some(Self { channels: COLOURS.iter().find_map(of)?, alpha: column(ALPHA) })
    }

    pub(super) fn columns(&self) -> impl Iterator<Item = usize> {
        self.channels.into_iter().chain(self.alpha).map(|(at, _)| at)
    }

    /// Colour of a row, with alpha, in sRGB, as scanners and editors write it.
    pub(super) fn value(&self, row: &PlyRow) -> [f32; 4] {
        let scaled = |(at, scale): (usize, f32)| narrow(number(row, at)) * scale;
        let [r, g, b] = self.channels.map(scaled);
        [r, g, b, self.alpha.map_or(1.0, scaled)]
    }
}

impl VertexColumns {
    pub(super) fn of(element: &Element, path: &Path) -> Result<Self> {
        let scalar = |name: &str| {
            let at = element.properties.iter().position(|p| p.name == name)?;
            matches!(element.properties[at].kind, PropertyKind::Scalar(_)).then_some(at)
        };
        let mut position = [0; 3];
        for (at, name) in position.iter_mut().zip(["x", "y", "z"]) {
            *at = scalar(name).ok_or_else(|| {
                let expected = format!("a property \"{name}\" of one number");
                Error::malformed(path, "element \"vertex\"", expected, "none")
            })?;
        }
        Ok(Self {
            position,
            normal: all(["nx", "ny", "nz"].map(scalar)),
            uv: UVS.iter().find_map(|names| all(names.map(scalar))),
            colour: ColourColumns::of(element),
        })
    }

    pub(super) fn has_single_positions(&self, element: &Element) -> bool {
        let is_single =
            |at: usize| matches!(element.properties[at].kind, PropertyKind::Scalar(Scalar::F32));
        self.position.into_iter().any(is_single)
    }

    pub(super) fn columns(&self) -> impl Iterator<Item = usize> {
        let normal = self.normal.into_iter().flatten();
        let uv = self.uv.into_iter().flatten();
        let colour = self.colour.iter().flat_map(ColourColumns::columns);
        self.position.into_iter().chain(normal).chain(uv).chain(colour)
    }

    pub(super) fn values(&self, row: &PlyRow) -> VertexValues {
        let position = self.position.map(|at| number(row, at));
        let normal = self.normal.map(|at| numbers(row, at));
        let uv = self.uv.map(|at| numbers(row, at));
        (position, normal, uv, self.colour.map(|of| of.value(row)))
    }
}

pub(super) type VertexValues = ([f64; 3], Option<[f32; 3]>, Option<[f32; 2]>, Option<[f32; 4]>);

fn all<const N: usize>(columns: [Option<usize>; N]) -> Option<[usize; N]> {
    let mut found = [0; N];
    for (slot, column) in found.iter_mut().zip(columns) {
        *slot = column?;
    }
    Some(found)
}

fn numbers<const N: usize>(row: &PlyRow, at: [usize; N]) -> [f32; N] {
    at.map(|at| narrow(number(row, at)))
}

fn number(row: &PlyRow, at: usize) -> f64 {
    row.property(at).first().copied().unwrap_or_default()
}
