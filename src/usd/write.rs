//! Writing of a stage with one prim of splats: as text, as a binary layer of version 0.8, or as a package.
//!
//! The prim keeps the axes of trained scenes (y down, z forward), and its transform turns them to y up and z back, so that the
//! numbers of the file are those of the scene.

use std::collections::HashMap;
use std::fmt::Write;
use std::path::Path;

use crate::compression::{pack, pack_integers};
use crate::crate_types::{
    DOUBLE, FLOAT, INT, MATRIX4D, QUATF, SPECIFIER, TOKEN, TOKEN_LIST_OP, TOKEN_VECTOR,
    VARIABILITY, VEC3F,
};
use crate::{BINARY_MARK, package};
use quadrille_base::{Error, Result, Task};

const PRIM: &str = "Splats";
const TYPE: &str = "ParticleField3DGaussianSplat";
const COLOUR_SPACE: &str = "srgb_rec709_display";
/// Standard deviations from centres to the extent of the prim (schema of the kernel).
const EXTENT: f32 = 3.0;
/// Name of the layer in a package.
const PACKED_NAME: &str = "splats.usdc";

/// Form of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UsdEncoding {
    /// Text (`.usda`).
    Text,
    /// Binary (`.usdc`).
    Binary,
    /// Package with a binary layer (`.usdz`).
    Package,
}

/// Splats by row, in the axes of trained scenes.
pub struct WrittenSplats<'a> {
    /// Number of splats.
    pub rows: usize,
    /// Degree of the spherical harmonics.
    pub sh_degree: u8,
    /// True if splats are blended in the order of their distance from the camera, not of their depth.
    pub is_by_distance: bool,
    /// Centre.
    pub position: &'a dyn Fn(usize) -> [f32; 3],
    /// Unit quaternion w, x, y, z.
    pub orientation: &'a dyn Fn(usize) -> [f32; 4],
    /// Standard deviations.
    pub scale: &'a dyn Fn(usize) -> [f32; 3],
    /// Opacity from 0 to 1.
    pub opacity: &'a dyn Fn(usize) -> f32,
    /// Coefficient of a splat for red, green and blue.
    pub coefficient: &'a dyn Fn(usize, usize) -> [f32; 3],
}

enum Content<'a> {
    Token(&'static str),
    Tokens(&'static str),
    Integer(u8),
    /// Diagonal of a matrix.
    Diagonal([i8; 4]),
    /// Elements of 1, 3 or 4 numbers.
    Array(usize, usize, Box<dyn Fn(usize) -> [f32; 4] + 'a>),
}

struct Property<'a> {
    name: &'static str,
    type_name: &'static str,
    content: Content<'a>,
}

impl WrittenSplats<'_> {
    fn extent(&self) -> [[f32; 4]; 2] {
        let mut bounds = [[f32::INFINITY; 4], [f32::NEG_INFINITY; 4]];
        for row in 0..self.rows {
            let (centre, scale) = ((self.position)(row), (self.scale)(row));
            let reach = EXTENT * scale.into_iter().fold(0.0, f32::max);
            for (axis, centre) in centre.into_iter().enumerate() {
                bounds[0][axis] = bounds[0][axis].min(centre - reach);
                bounds[1][axis] = bounds[1][axis].max(centre + reach);
            }
        }
        if self.rows == 0 { [[0.0; 4]; 2] } else { bounds }
    }

    /// Properties in the order of their names.
    fn properties(&self) -> Vec<Property<'_>> {
        let rows = self.rows;
        let per_splat = usize::from(self.sh_degree + 1).pow(2);
        let extent = self.extent();
        let three = |[x, y, z]: [f32; 3]| [x, y, z, 0.0];
        let sorting = if self.is_by_distance { "cameraDistance" } else { "zDepth" };
        let property = |name, type_name, content| Property { name, type_name, content };
        let array = |width, count, element| Content::Array(width, count, element);
        vec![
            property("colorSpace:name", "token", Content::Token(COLOUR_SPACE)),
            property("extent", "float3[]", array(3, 2, Box::new(move |at| extent[at]))),
            property(
                "opacities",
                "float[]",
                array(1, rows, Box::new(|row| [(self.opacity)(row); 4])),
            ),
            property(
                "orientations",
                "quatf[]",
                array(4, rows, Box::new(|row| (self.orientation)(row))),
            ),
            property(
                "positions",
                "point3f[]",
                array(3, rows, Box::new(move |row| three((self.position)(row)))),
            ),
            property("projectionModeHint", "token", Content::Token("perspective")),
            property(
                "radiance:sphericalHarmonicsCoefficients",
                "float3[]",
                array(
                    3,
                    rows * per_splat,
                    Box::new(move |at| three((self.coefficient)(at / per_splat, at % per_splat))),
                ),
            ),
            property("radiance:sphericalHarmonicsDegree", "int", Content::Integer(self.sh_degree)),
            property(
                "scales",
                "float3[]",
                array(3, rows, Box::new(move |row| three((self.scale)(row)))),
            ),
            property("sortingModeHint", "token", Content::Token(sorting)),
            property("xformOp:transform", "matrix4d", Content::Diagonal([1, -1, -1, 1])),
            property("xformOpOrder", "token[]", Content::Tokens("xformOp:transform")),
        ]
    }
}

impl Property<'_> {
    fn is_uniform(&self) -> bool {
        matches!(self.content, Content::Token(_) | Content::Tokens(_) | Content::Integer(_))
    }
}

/// Bytes of a file with the splats of `source`; `path` names it in errors.
///
/// # Errors
/// [`Error::Cancelled`]; [`Error::Malformed`] for a package above 4 GiB, its limit.
pub fn write(
    source: &WrittenSplats<'_>,
    encoding: UsdEncoding,
    path: &Path,
    task: &Task,
) -> Result<Vec<u8>> {
    match encoding {
        UsdEncoding::Text => text(source, task),
        UsdEncoding::Binary => CrateWriter::default().layer(source, task),
        UsdEncoding::Package => {
            let layer = CrateWriter::default().layer(source, task)?;
            if u32::try_from(layer.len()).is_err() {
                let expected = "at most 4 GiB, the limit of USDZ (.usdc has none)";
                return Err(Error::malformed(
                    path,
                    "size",
                    expected,
                    format!("{} bytes", layer.len()),
                ));
            }
            package::pack(PACKED_NAME, &layer).map_err(|error| Error::write(path, error))
        }
    }
}

fn text(source: &WrittenSplats<'_>, task: &Task) -> Result<Vec<u8>> {
    let mut text = format!(
        "#usda 1.0\n(\n    defaultPrim = \"{PRIM}\"\n    metersPerUnit = 1\n    upAxis = \"Y\"\n)\n\ndef {TYPE} \"{PRIM}\" (\n    \
         prepend apiSchemas = [\"ColorSpaceAPI\"]\n)\n{{\n"
    );
    for property in source.properties() {
        let uniform = if property.is_uniform() { "uniform " } else { "" };
        // Writing to a string cannot fail.
        let _ = write!(text, "    {uniform}{} {} = ", property.type_name, property.name);
        let _ = match &property.content {
            Content::Token(token) => write!(text, "\"{token}\""),
            Content::Tokens(token) => write!(text, "[\"{token}\"]"),
            Content::Integer(number) => write!(text, "{number}"),
            Content::Diagonal([a, b, c, d]) => {
                write!(text, "( ({a}, 0, 0, 0), (0, {b}, 0, 0), (0, 0, {c}, 0), (0, 0, 0, {d}) )")
            }
            Content::Array(width, count, element) => {
                text.push('[');
                for at in 0..*count {
                    task.check()?;
                    text.push_str(if at == 0 { "" } else { ", " });
                    let numbers = &element(at)[..*width];
                    let _ = match numbers {
                        [a] => write!(text, "{a:?}"),
                        [a, b, c] => write!(text, "({a:?}, {b:?}, {c:?})"),
                        _ => write!(
                            text,
                            "({:?}, {:?}, {:?}, {:?})",
                            numbers[0], numbers[1], numbers[2], numbers[3]
                        ),
                    };
                }
                text.push(']');
                Ok(())
            }
        };
        text.push('\n');
    }
    text.push_str("}\n");
    Ok(text.into_bytes())
}

/// Bits of a word that holds a value: an array, and a value inside the word.
const ARRAY: u64 = 1 << 63;
const INLINED: u64 = 1 << 62;

/// Codes of `SdfSpecType`.
const ATTRIBUTE: i32 = 1;
const PRIM_SPEC: i32 = 6;
const ROOT: i32 = 7;

/// A binary layer and its tables.
#[derive(Default)]
struct CrateWriter {
    bytes: Vec<u8>,
    tokens: Vec<&'static str>,
    token_indices: HashMap<&'static str, u8>,
    /// Tokens of names, and values.
    fields: (Vec<i32>, Vec<u8>),
    field_sets: Vec<i32>,
    /// Token of the name, which is negative for properties, first field set, and type of each path.
    specs: Vec<[i32; 3]>,
}

impl CrateWriter {
    fn layer(mut self, source: &WrittenSplats<'_>, task: &Task) -> Result<Vec<u8>> {
        // The head is written last.
        self.bytes.resize(88, 0);
        // A name of index 0 could not be negative.
        self.token("");
        let properties = source.properties();
        let up = [self.inlined_token(PRIM), self.inlined_token("Y")];
        let children = self.token_vector(&[PRIM]);
        let metre = INLINED | word(DOUBLE, &1.0_f32.to_le_bytes());
        self.spec(
            0,
            ROOT,
            &[
                ("defaultPrim", up[0]),
                ("metersPerUnit", metre),
                ("primChildren", children),
                ("upAxis", up[1]),
            ],
        );
        let names: Vec<&str> = properties.iter().map(|property| property.name).collect();
        let names = self.token_vector(&names);
        let schemas = {
            // One list, of prepended items.
            let at = self.aligned();
            self.bytes.push(1 << 5);
            self.token_list(&["ColorSpaceAPI"]);
            word(TOKEN_LIST_OP, &at.to_le_bytes())
        };
        let type_name = self.inlined_token(TYPE);
        let name = i32::from(self.token(PRIM));
        self.spec(
            name,
            PRIM_SPEC,
            &[
                ("specifier", INLINED | word(SPECIFIER, &[0])),
                ("typeName", type_name),
                ("apiSchemas", schemas),
                ("properties", names),
            ],
        );
        for property in &properties {
            let value = self.value(&property.content, task)?;
            let type_name = self.inlined_token(property.type_name);
            let variability = INLINED | word(VARIABILITY, &[property.is_uniform().into()]);
            let name = i32::from(self.token(property.name));
            self.spec(
                -name,
                ATTRIBUTE,
                &[("typeName", type_name), ("variability", variability), ("default", value)],
            );
        }
        self.finish();
        Ok(self.bytes)
    }

    fn token(&mut self, token: &'static str) -> u8 {
        // The tokens of one prim are a few dozen.
        let next = u8::try_from(self.tokens.len()).unwrap_or(u8::MAX);
        *self.token_indices.entry(token).or_insert_with(|| {
            self.tokens.push(token);
            next
        })
    }

    fn inlined_token(&mut self, token: &'static str) -> u64 {
        INLINED | word(TOKEN, &[self.token(token)])
    }

    /// Position of the next value. Readers map arrays that are aligned.
    fn aligned(&mut self) -> u64 {
        self.bytes.resize(self.bytes.len().next_multiple_of(16), 0);
        self.bytes.len() as u64
    }

    fn token_list(&mut self, tokens: &[&'static str]) {
        self.bytes.extend((tokens.len() as u64).to_le_bytes());
        for token in tokens {
            let index = u32::from(self.token(token));
            self.bytes.extend(index.to_le_bytes());
        }
    }

    fn token_vector(&mut self, tokens: &[&'static str]) -> u64 {
        let at = self.aligned();
        self.token_list(tokens);
        word(TOKEN_VECTOR, &at.to_le_bytes())
    }

    fn value(&mut self, content: &Content<'_>, task: &Task) -> Result<u64> {
        Ok(match content {
            Content::Token(token) => self.inlined_token(token),
            Content::Integer(number) => INLINED | word(INT, &[*number]),
            Content::Diagonal(numbers) => INLINED | word(MATRIX4D, &numbers.map(i8::cast_unsigned)),
            Content::Tokens(token) => {
                let at = self.aligned();
                self.token_list(&[token]);
                ARRAY | word(TOKEN, &at.to_le_bytes())
            }
            Content::Array(width, count, element) => {
                let kind = [FLOAT, 0, VEC3F, QUATF][width - 1];
                let at = if *count == 0 { 0 } else { self.aligned() };
                if *count > 0 {
                    self.bytes.extend((*count as u64).to_le_bytes());
                    self.bytes.reserve(4 * count * width);
                }
                for row in 0..*count {
                    task.check()?;
                    let mut numbers = element(row);
                    // The real part of a quaternion is stored last.
                    if *width == 4 {
                        numbers.rotate_left(1);
                    }
                    self.bytes.extend(numbers[..*width].iter().flat_map(|v| v.to_le_bytes()));
                }
                ARRAY | word(kind, &at.to_le_bytes())
            }
        })
    }

    fn spec(&mut self, name: i32, kind: i32, fields: &[(&'static str, u64)]) {
        let count = |len: usize| i32::try_from(len).unwrap_or(i32::MAX);
        self.specs.push([name, count(self.field_sets.len()), kind]);
        for (name, value) in fields {
            let name = i32::from(self.token(name));
            self.field_sets.push(count(self.fields.0.len()));
            self.fields.0.push(name);
            self.fields.1.extend(value.to_le_bytes());
        }
        self.field_sets.push(-1);
    }

    fn finish(&mut self) {
        let sized = |bytes: Vec<u8>| [&(bytes.len() as u64).to_le_bytes()[..], &bytes].concat();
        let counted = |count: usize, parts: &[Vec<u8>]| {
            [&(count as u64).to_le_bytes()[..], &parts.concat()].concat()
        };
        let tokens: Vec<u8> =
            self.tokens.iter().flat_map(|token| [token.as_bytes(), &[0]].concat()).collect();
        let size = (tokens.len() as u64).to_le_bytes().to_vec();
        let count = self.specs.len();
        let column = |at: usize| {
            sized(pack_integers(&self.specs.iter().map(|spec| spec[at]).collect::<Vec<_>>()))
        };
        let indices: Vec<i32> = (0..).take(count).collect();
        // The root and the prim have a child each; properties follow each other.
        let jumps: Vec<i32> = (1..=count)
            .map(|at| {
                if at <= 2 {
                    -1
                } else if at < count {
                    0
                } else {
                    -2
                }
            })
            .collect();
        let paths = [sized(pack_integers(&indices)), column(0), sized(pack_integers(&jumps))];
        let specs = [sized(pack_integers(&indices)), column(1), column(2)];
        let fields = [sized(pack_integers(&self.fields.0)), sized(pack(&self.fields.1))];
        let sections: [(&str, Vec<u8>); 6] = [
            ("TOKENS", counted(self.tokens.len(), &[size, sized(pack(&tokens))])),
            ("STRINGS", counted(0, &[])),
            ("FIELDS", counted(self.fields.0.len(), &fields)),
            (
                "FIELDSETS",
                counted(self.field_sets.len(), &[sized(pack_integers(&self.field_sets))]),
            ),
            ("PATHS", counted(count, &[counted(count, &paths)])),
            ("SPECS", counted(count, &specs)),
        ];
        let mut contents = (sections.len() as u64).to_le_bytes().to_vec();
        for (name, section) in sections {
            let mut padded = [0; 16];
            padded[..name.len()].copy_from_slice(name.as_bytes());
            contents.extend(padded);
            contents.extend((self.bytes.len() as u64).to_le_bytes());
            contents.extend((section.len() as u64).to_le_bytes());
            self.bytes.extend(section);
        }
        let at = (self.bytes.len() as u64).to_le_bytes();
        self.bytes.extend(contents);
        self.bytes[..8].copy_from_slice(BINARY_MARK);
        self.bytes[8..16].copy_from_slice(&[0, 8, 0, 0, 0, 0, 0, 0]);
        self.bytes[16..24].copy_from_slice(&at);
    }
}

/// Word with a type and the first bytes of a content or position.
fn word(kind: u8, content: &[u8]) -> u64 {
    let mut bytes = [0; 8];
    let len = content.len().min(6);
    bytes[..len].copy_from_slice(&content[..len]);
    bytes[6] = kind;
    u64::from_le_bytes(bytes)
}
