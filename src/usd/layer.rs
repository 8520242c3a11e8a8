//! A layer: prims with attributes and metadata, as one file states them.

use std::collections::HashMap;
use std::fmt::Display;

/// An error of a layer, without its name.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) place: String,
    pub(crate) expected: String,
    pub(crate) found: String,
}

impl Fault {
    #[cold]
    pub(crate) fn new(place: impl Display, expected: impl Display, found: impl Display) -> Self {
        let [place, expected, found] = [place.to_string(), expected.to_string(), found.to_string()];
        Self { place, expected, found }
    }
}

/// Numbers of an array as they are stored.
#[derive(Debug, Clone)]
pub(crate) enum Numbers<'a> {
    F16(&'a [[u8; 2]]),
    F32(&'a [[u8; 4]]),
    Decoded(Vec<f32>),
}

/// Array of numbers, vectors or quaternions. Quaternions have the order x, y, z, w.
#[derive(Debug, Clone)]
pub(crate) struct NumberArray<'a> {
    pub(crate) width: usize,
    pub(crate) numbers: Numbers<'a>,
}

impl NumberArray<'_> {
    /// Number of elements.
    pub(crate) fn len(&self) -> usize {
        let numbers = match &self.numbers {
            Numbers::F16(numbers) => numbers.len(),
            Numbers::F32(numbers) => numbers.len(),
            Numbers::Decoded(numbers) => numbers.len(),
        };
        numbers / self.width.max(1)
    }

    /// Component `component` of element `at`. Panics if there is no such element.
    #[inline]
    pub(crate) fn get(&self, at: usize, component: usize) -> f32 {
        self.number(at * self.width + component)
    }

    #[inline]
    fn number(&self, at: usize) -> f32 {
        match &self.numbers {
            Numbers::F16(numbers) => half::f16::from_le_bytes(numbers[at]).to_f32(),
            Numbers::F32(numbers) => f32::from_le_bytes(numbers[at]),
            Numbers::Decoded(numbers) => numbers[at],
        }
    }
}

/// Target of a reference or a payload.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Arc {
    /// File of the layer; empty for the own one.
    pub(crate) asset: String,
    /// Path of the prim; empty for the default prim.
    pub(crate) path: String,
}

/// Value of an attribute or of metadata. Types that no splats need are `Other`.
#[derive(Debug, Clone)]
pub(crate) enum Value<'a> {
    /// Number or truth value.
    Number(f64),
    Text(String),
    Texts(Vec<String>),
    /// Components of a vector, a quaternion (x, y, z, w) or a matrix (by rows).
    Tuple(Vec<f64>),
    Array(NumberArray<'a>),
    Arcs(Vec<Arc>),
    /// A value that hides weaker ones.
    Blocked,
    Other,
}

#[derive(Debug, Default)]
pub(crate) struct Attribute<'a> {
    /// Value without a time.
    pub(crate) default: Option<Value<'a>>,
    /// Earliest of the values with a time.
    pub(crate) first: Option<(f64, Value<'a>)>,
    /// Number of values with a time.
    pub(crate) samples: usize,
}

impl<'a> Attribute<'a> {
    /// Adds a value at a time.
    pub(crate) fn add_sample(&mut self, time: f64, value: Value<'a>) {
        self.samples += 1;
        if self.first.as_ref().is_none_or(|(first, _)| time < *first) {
            self.first = Some((time, value));
        }
    }

    /// The earliest value, which hides the one without a time, as in the picture at the start of a stage.
    pub(crate) fn value(&self) -> Option<&Value<'a>> {
        self.first.as_ref().map(|(_, value)| value).or(self.default.as_ref())
    }
}

/// Kind of statement about a prim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Specifier {
    Def,
    #[default]
    Over,
    Class,
}

#[derive(Debug, Default)]
pub(crate) struct Prim<'a> {
    pub(crate) name: String,
    pub(crate) specifier: Specifier,
    pub(crate) type_name: String,
    pub(crate) metadata: HashMap<String, Value<'a>>,
    pub(crate) attributes: HashMap<String, Attribute<'a>>,
    /// Indices in the layer, in order.
    pub(crate) children: Vec<usize>,
}

/// Prims of a file. The first one is the root, with the metadata of the layer.
#[derive(Debug)]
pub(crate) struct Layer<'a> {
    pub(crate) prims: Vec<Prim<'a>>,
}

impl Layer<'_> {
    /// Index of the prim at an absolute path.
    pub(crate) fn find(&self, path: &str) -> Option<usize> {
        let names = path.strip_prefix('/')?.split('/').filter(|name| !name.is_empty());
        names.into_iter().try_fold(0, |at: usize, name| {
            let mut children = self.prims.get(at)?.children.iter().copied();
            children.find(|child| self.prims[*child].name == name)
        })
    }
}

impl<'a> Layer<'a> {
    /// Files of the sublayers, strongest first.
    pub(crate) fn sublayers(&self) -> Vec<String> {
        match self.prims[0].metadata.get("subLayers") {
            Some(Value::Texts(files)) => files.clone(),
            Some(Value::Arcs(arcs)) => arcs.iter().map(|arc| arc.asset.clone()).collect(),
            _ => Vec::new(),
        }
    }

    /// Files that the layer refers to.
    pub(crate) fn assets(&self) -> Vec<String> {
        let arcs = self.prims.iter().flat_map(|prim| {
            ["references", "payload"].into_iter().filter_map(|key| prim.metadata.get(key))
        });
        let arcs = arcs.flat_map(|value| match value {
            Value::Arcs(arcs) => &arcs[..],
            _ => &[],
        });
        let files = arcs.map(|arc| arc.asset.clone()).filter(|asset| !asset.is_empty());
        files.chain(self.sublayers()).collect()
    }

    /// Layer that borrows nothing.
    pub(crate) fn into_owned(self) -> Layer<'static> {
        let prims = self.prims.into_iter().map(|prim| Prim {
            name: prim.name,
            specifier: prim.specifier,
            type_name: prim.type_name,
            metadata: prim
                .metadata
                .into_iter()
                .map(|(key, value)| (key, value.into_owned()))
                .collect(),
            attributes: prim
                .attributes
                .into_iter()
                .map(|(key, own)| {
                    (
                        key,
                        Attribute {
                            default: own.default.map(Value::into_owned),
                            first: own.first.map(|(time, value)| (time, value.into_owned())),
                            samples: own.samples,
                        },
                    )
                })
                .collect(),
            children: prim.children,
        });
        Layer { prims: prims.collect() }
    }
}

impl Value<'_> {
    fn into_owned(self) -> Value<'static> {
        match self {
            Self::Array(array) => {
                let numbers = (0..array.len() * array.width).map(|at| array.number(at)).collect();
                Value::Array(NumberArray { width: array.width, numbers: Numbers::Decoded(numbers) })
            }
            Self::Number(number) => Value::Number(number),
            Self::Text(text) => Value::Text(text),
            Self::Texts(texts) => Value::Texts(texts),
            Self::Tuple(numbers) => Value::Tuple(numbers),
            Self::Arcs(arcs) => Value::Arcs(arcs),
            Self::Blocked => Value::Blocked,
            Self::Other => Value::Other,
        }
    }
}
