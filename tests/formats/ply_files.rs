//! A PLY writer with all variations of the format, for tests of the reader.

use proptest::prelude::*;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};

/// A splat as a file stores it.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    pub(crate) mean: [f32; 3],
    pub(crate) scale: [f32; 3],
    pub(crate) rotation: [f32; 4],
    pub(crate) opacity: f32,
    pub(crate) dc: [f32; 3],
    pub(crate) rest: Vec<f32>,
    pub(crate) filter: f32,
}

/// Encoding of the body.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Body {
    Ascii,
    Little,
    Big,
}

/// Type of a property.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Type {
    Float,
    Double,
    Byte,
    /// A list with u8 counts and i16 items.
    List,
}

/// Content of a file besides splats.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Extra {
    /// A property of the splats.
    Property(Type),
    /// An element before or after the splats, with or without a list.
    Element { before: bool, list: bool, rows: u8 },
}

/// Variations between files of the same scene.
#[derive(Debug, Clone)]
pub(crate) struct Layout {
    pub(crate) degree: u8,
    pub(crate) body: Body,
    pub(crate) line_end: &'static str,
    pub(crate) normals: bool,
    /// Without `scale_2`.
    pub(crate) flat: bool,
    pub(crate) filtered: bool,
    /// Types of the properties, repeated as needed.
    pub(crate) types: Vec<Type>,
    pub(crate) extras: Vec<Extra>,
    /// Seed of the property order and of the values of extras.
    pub(crate) seed: u64,
}

impl Extra {
    pub(crate) fn any() -> impl Strategy<Value = Self> {
        let kind = prop_oneof![Just(Type::Float), Just(Type::Byte), Just(Type::List)];
        prop_oneof![
            kind.prop_map(Self::Property),
            (any::<bool>(), any::<bool>(), 0u8..5).prop_map(|(before, list, rows)| Self::Element {
                before,
                list,
                rows
            }),
        ]
    }
}

/// The output and its encoding.
struct Out {
    bytes: Vec<u8>,
    body: Body,
    line_end: &'static str,
}

impl Out {
    fn line(&mut self, text: &str) {
        self.bytes.extend(text.as_bytes());
        self.bytes.extend(self.line_end.as_bytes());
    }

    fn raw(&mut self, little: &[u8], text: &str) {
        match self.body {
            Body::Ascii => self.bytes.extend(format!("{text} ").as_bytes()),
            Body::Little => self.bytes.extend(little),
            Body::Big => self.bytes.extend(little.iter().rev()),
        }
    }

    fn number(&mut self, value: f32, kind: Type) {
        match kind {
            Type::Double => self.raw(&f64::from(value).to_le_bytes(), &format!("{value:e}")),
            _ => self.raw(&value.to_le_bytes(), &format!("{value}")),
        }
    }

    fn byte(&mut self, value: u8) {
        self.raw(&[value], &value.to_string());
    }

    fn list(&mut self, rng: &mut rand_pcg::Pcg64) {
        let items: u8 = rng.random_range(0..4);
        self.byte(items);
        for _ in 0..items {
            let item: i16 = rng.random();
            self.raw(&item.to_le_bytes(), &item.to_string());
        }
    }

    fn end_row(&mut self) {
        if self.body == Body::Ascii {
            let line_end = self.line_end;
            self.bytes.extend(line_end.as_bytes());
        }
    }
}

impl Layout {
    /// Number of `f_rest` properties.
    pub(crate) fn rest(&self) -> usize {
        3 * ((usize::from(self.degree) + 1).pow(2) - 1)
    }

    /// Names, types and sources of the properties, shuffled.
    fn columns(&self, rng: &mut rand_pcg::Pcg64) -> Vec<(String, Type)> {
        let mut names: Vec<String> =
            ["x", "y", "z", "opacity", "scale_0", "scale_1"].map(String::from).to_vec();
        let numbered = |stem: &str, count| (0..count).map(move |i| format!("{stem}_{i}")).collect();
        let groups: [Vec<String>; 3] =
            [numbered("rot", 4), numbered("f_dc", 3), numbered("f_rest", self.rest())];
        names.extend(groups.into_iter().flatten());
        let optional = [
            (!self.flat, "scale_2"),
            (self.filtered, "filter_3D"),
            (self.normals, "nx"),
            (self.normals, "ny"),
            (self.normals, "nz"),
        ];
        names.extend(optional.iter().filter(|(on, _)| *on).map(|(_, n)| (*n).to_owned()));
        let types = self.types.iter().cycle().copied();
        let mut columns: Vec<(String, Type)> = names.into_iter().zip(types).collect();
        for (i, extra) in self.extras.iter().enumerate() {
            if let Extra::Property(kind) = extra {
                columns.push((format!("extra_{i}"), *kind));
            }
        }
        columns.shuffle(rng);
        columns
    }

    /// The file.
    pub(crate) fn write(&self, rows: &[Row]) -> Vec<u8> {
        let mut rng = rand_pcg::Pcg64::seed_from_u64(self.seed);
        let columns = self.columns(&mut rng);
        let mut out = Out { bytes: Vec::new(), body: self.body, line_end: self.line_end };
        out.line("ply");
        out.line(match self.body {
            Body::Ascii => "format ascii 1.0",
            Body::Little => "format binary_little_endian 1.0",
            Body::Big => "format binary_big_endian 1.0",
        });
        out.line("comment end_header");
        self.declare_elements(&mut out, true);
        out.line(&format!("element  vertex\t{} ", rows.len()));
        for (name, kind) in &columns {
            out.line(&match kind {
                Type::Float => format!("property float {name}"),
                Type::Double => format!("property float64 {name}"),
                Type::Byte => format!("property uint8 {name}"),
                Type::List => format!("property list uchar short {name}"),
            });
        }
        self.declare_elements(&mut out, false);
        out.line("obj_info made by a test");
        out.line("end_header");
        self.write_elements(&mut out, true, &mut rng);
        for row in rows {
            for (name, kind) in &columns {
                match kind {
                    Type::List => out.list(&mut rng),
                    Type::Byte => out.byte(rng.random()),
                    kind => out.number(value(row, name).unwrap_or_else(|| rng.random()), *kind),
                }
            }
            out.end_row();
        }
        self.write_elements(&mut out, false, &mut rng);
        out.bytes
    }

    fn elements(&self, side: bool) -> impl Iterator<Item = (usize, bool, u8)> + '_ {
        self.extras.iter().enumerate().filter_map(move |(i, extra)| match extra {
            Extra::Element { before, list, rows } if *before == side => Some((i, *list, *rows)),
            _ => None,
        })
    }

    fn declare_elements(&self, out: &mut Out, side: bool) {
        for (i, list, rows) in self.elements(side) {
            out.line(&format!("element other_{i} {rows}"));
            out.line("property double a");
            if list {
                out.line("property list uchar int16 b");
            }
        }
    }

    fn write_elements(&self, out: &mut Out, side: bool, rng: &mut rand_pcg::Pcg64) {
        for (_, list, rows) in self.elements(side) {
            for _ in 0..rows {
                out.number(rng.random(), Type::Double);
                if list {
                    out.list(rng);
                }
                out.end_row();
            }
        }
    }
}

/// The value of the property called `name`.
fn value(row: &Row, name: &str) -> Option<f32> {
    let numbered = |stem: &str| name.strip_prefix(stem).and_then(|n| n.parse::<usize>().ok());
    match name {
        "x" => Some(row.mean[0]),
        "y" => Some(row.mean[1]),
        "z" => Some(row.mean[2]),
        "opacity" => Some(row.opacity),
        "filter_3D" => Some(row.filter),
        _ => None,
    }
    .or_else(|| numbered("scale_").map(|i| row.scale[i]))
    .or_else(|| numbered("rot_").map(|i| row.rotation[i]))
    .or_else(|| numbered("f_dc_").map(|i| row.dc[i]))
    .or_else(|| numbered("f_rest_").map(|i| row.rest[i]))
}
