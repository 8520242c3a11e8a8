//! A stage: the prims that a root layer, its sublayers, references and payloads make together.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use nalgebra::Matrix4;
use quadrille_base::{Error, Result, Task};

use crate::layer::{Arc, Fault, Layer, Prim, Specifier, Value};
use crate::transform::local_transform;
use crate::{BINARY_MARK, TEXT_MARK, crate_reader, package, text_reader};

/// Layers of a stage, statements about one prim, and prims inside each other (assumed: bounds for files that refer to each
/// other without end).
const MAX_LAYERS: usize = 1024;
const MAX_OPINIONS: usize = 256;
const MAX_DEPTH: usize = 100;
/// Statements about the prims of a stage that any file may have; larger files may have one per byte.
const MIN_OPINIONS: usize = 1 << 16;

/// Arcs of composition that are not followed, by the metadata that states them.
const OTHER_ARCS: [(&str, &str); 3] = [
    ("variantSetNames", "variants"),
    ("inheritPaths", "inherited prims"),
    ("specializes", "specialized prims"),
];

/// Statement about a prim in `layer`, which belongs to the stack of layer `root`.
#[derive(Clone, Copy, PartialEq)]
struct Opinion {
    root: usize,
    layer: usize,
    prim: usize,
}

/// Layers of a file or package.
pub struct UsdStage<'a> {
    pub(crate) path: &'a Path,
    pub(crate) bytes: usize,
    names: Vec<String>,
    layers: Vec<Layer<'a>>,
    /// Each layer with its sublayers, strongest first.
    stacks: Vec<Vec<usize>>,
    pub(crate) warnings: BTreeSet<String>,
}

/// A prim of the stage with all statements about it, strongest first.
pub(crate) struct Composed<'s, 'a> {
    stage: &'s UsdStage<'a>,
    opinions: Vec<Opinion>,
    pub(crate) path: String,
    /// Map to the world, for column vectors.
    pub(crate) to_world: Matrix4<f64>,
    /// Reason why the prim is not drawn.
    pub(crate) left_out: Option<&'static str>,
    /// Purpose by itself or the prims above.
    purpose: Option<String>,
    depth: usize,
}

fn read_layer<'b>(bytes: &'b [u8], task: &Task) -> Option<Result<Layer<'b>, Fault>> {
    if bytes.starts_with(BINARY_MARK) {
        Some(crate_reader::read(bytes))
    } else {
        bytes.starts_with(TEXT_MARK).then(|| text_reader::read(bytes, task))
    }
}

/// Name of `asset`, which `layer` refers to, inside the package or folder. `None` if it is outside.
fn beside(layer: &str, asset: &str) -> Option<String> {
    let folder = layer.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    if asset.starts_with('/') || asset.contains([':', '\\']) {
        return None;
    }
    for part in asset.split('/').filter(|part| !part.is_empty() && *part != ".") {
        match part {
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

impl<'a> UsdStage<'a> {
    /// Opens a layer or package with all layers that it refers to. `read_beside` reads a file beside `path` by its relative
    /// name. A layer that is missing is a warning, as in other programs.
    ///
    /// # Errors
    /// [`Error::Malformed`], which names the layer and the place in it; [`Error::Limit`] for too many layers.
    pub fn open(
        bytes: &'a [u8],
        path: &'a Path,
        read_beside: &mut dyn FnMut(&str) -> Result<Vec<u8>>,
        task: &Task,
    ) -> Result<Self> {
        let malformed =
            |fault: Fault| Error::malformed(path, fault.place, fault.expected, fault.found);
        let package = package::is_package(bytes).then(|| package::files(bytes)).transpose();
        let package = package.map_err(malformed)?;
        let own = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let root = package.as_ref().map_or(own, |(first, _)| first.clone());
        let mut stage = Self {
            path,
            bytes: bytes.len(),
            names: vec![root],
            layers: Vec::new(),
            stacks: Vec::new(),
            warnings: BTreeSet::new(),
        };
        while let Some(name) = stage.names.get(stage.layers.len()).cloned() {
            let read = match (&package, stage.layers.len()) {
                (Some((_, files)), _) => {
                    files.get(&name).and_then(|range| read_layer(&bytes[range.clone()], task))
                }
                (None, 0) => read_layer(bytes, task),
                (None, _) => read_beside(&name).ok().and_then(|bytes| {
                    stage.bytes += bytes.len();
                    Some(read_layer(&bytes, task)?.map(Layer::into_owned))
                }),
            };
            // A text that is read no further has a fault that does not matter.
            task.check()?;
            let layer = match read {
                Some(layer) => layer.map_err(|mut fault| {
                    if stage.names.len() > 1 || package.is_some() {
                        fault.place = format!("{name}, {}", fault.place);
                    }
                    malformed(fault)
                })?,
                None if stage.layers.is_empty() => {
                    return Err(Error::malformed(
                        path,
                        "format",
                        "a layer of USD",
                        "other content",
                    ));
                }
                None => {
                    stage.warnings.insert(format!(
                        "it refers to {name}, which is missing or no layer of USD and is left out"
                    ));
                    Layer { prims: vec![Prim::default()] }
                }
            };
            for asset in layer.assets() {
                match beside(&name, &asset) {
                    Some(asset) if stage.names.contains(&asset) => {}
                    Some(asset) => stage.names.push(asset),
                    None => {
                        stage.warnings.insert(format!(
                            "it refers to {asset}, which is outside and is left out"
                        ));
                    }
                }
            }
            Error::check_limit("layers of a stage", MAX_LAYERS as u64, stage.names.len() as u64)?;
            stage.layers.push(layer);
        }
        for at in 0..stage.layers.len() {
            let mut stack = Vec::new();
            stage.add_to_stack(at, &mut stack);
            stage.stacks.push(stack);
        }
        Ok(stage)
    }

    fn add_to_stack(&self, at: usize, stack: &mut Vec<usize>) {
        if stack.contains(&at) {
            return;
        }
        stack.push(at);
        for asset in self.layers[at].sublayers() {
            if let Some(at) = self.layer_beside(at, &asset) {
                self.add_to_stack(at, stack);
            }
        }
    }

    fn layer_beside(&self, at: usize, asset: &str) -> Option<usize> {
        let name = beside(&self.names[at], asset)?;
        self.names.iter().position(|own| *own == name)
    }

    /// Layer and path of the prim that `arc` of `own` leads to; an empty path if the layer has no default prim.
    fn target(&self, own: Opinion, arc: &Arc) -> Option<(usize, String)> {
        let root = match arc.asset.is_empty() {
            true => own.root,
            false => self.layer_beside(own.layer, &arc.asset)?,
        };
        let path = match (&arc.path[..], self.layers[root].prims[0].metadata.get("defaultPrim")) {
            ("", Some(Value::Text(name))) => format!("/{}", name.trim_start_matches('/')),
            (path, _) => path.to_owned(),
        };
        Some((root, path))
    }

    /// Adds statements that references and payloads lead to.
    fn follow_arcs(&self, opinions: &mut Vec<Opinion>, warnings: &mut BTreeSet<String>) {
        let mut at = 0;
        while let Some(own) = opinions.get(at).copied() {
            at += 1;
            let metadata = &self.layers[own.layer].prims[own.prim].metadata;
            let arcs = ["references", "payload"].into_iter().filter_map(|key| metadata.get(key));
            let arcs = arcs.flat_map(|value| match value {
                Value::Arcs(arcs) => &arcs[..],
                _ => &[],
            });
            for (root, path) in arcs.take(MAX_OPINIONS).filter_map(|arc| self.target(own, arc)) {
                let mut is_missing = self.layers[root].prims.len() > 1;
                for layer in self.stacks[root].iter().copied() {
                    let Some(prim) = self.layers[layer].find(&path).filter(|prim| *prim > 0) else {
                        continue;
                    };
                    is_missing = false;
                    let found = Opinion { root, layer, prim };
                    if !opinions.contains(&found) && opinions.len() < MAX_OPINIONS {
                        opinions.push(found);
                    }
                }
                if is_missing {
                    let layer = &self.names[root];
                    warnings.insert(format!(
                        "it refers to the prim \"{path}\" of {layer}, which is missing and is left out"
                    ));
                }
            }
        }
    }

    /// Metadata of the root layer.
    pub(crate) fn metadata(&self, key: &str) -> Option<&Value<'a>> {
        self.stacks[0].iter().find_map(|layer| self.layers[*layer].prims[0].metadata.get(key))
    }

    /// Visits all prims that are defined, in order, with those that are not drawn.
    ///
    /// # Errors
    /// [`Error::Malformed`] for a transform that is not known; [`Error::Limit`] for too many prims.
    pub(crate) fn visit<'s>(
        &'s self,
        warnings: &mut BTreeSet<String>,
        visit: &mut dyn FnMut(&Composed<'s, 'a>, &mut BTreeSet<String>) -> Result<()>,
    ) -> Result<()> {
        let opinions =
            self.stacks[0].iter().map(|layer| Opinion { root: 0, layer: *layer, prim: 0 });
        let mut open = vec![Composed {
            stage: self,
            opinions: opinions.collect(),
            path: String::new(),
            to_world: Matrix4::identity(),
            left_out: None,
            purpose: None,
            depth: 0,
        }];
        let (mut opinions, most) = (0_u64, self.bytes.max(MIN_OPINIONS) as u64);
        while let Some(prim) = open.pop() {
            Error::check_limit("prims inside each other", MAX_DEPTH as u64, prim.depth as u64)?;
            visit(&prim, warnings)?;
            let children: Vec<_> = prim.children(warnings)?;
            opinions += children.iter().map(|child| child.opinions.len() as u64).sum::<u64>();
            Error::check_limit("prims in a stage of this size", most, opinions)?;
            open.extend(children.into_iter().rev());
        }
        Ok(())
    }
}

impl<'s, 'a> Composed<'s, 'a> {
    fn statements(&self) -> impl Iterator<Item = &'s Prim<'a>> {
        let stage = self.stage;
        self.opinions.iter().map(move |own| &stage.layers[own.layer].prims[own.prim])
    }

    pub(crate) fn type_name(&self) -> &'s str {
        let mut names = self.statements().map(|prim| &prim.type_name[..]);
        names.find(|name| !name.is_empty()).unwrap_or_default()
    }

    /// True if a list of metadata contains `text`.
    pub(crate) fn lists(&self, key: &str, text: &str) -> bool {
        self.statements().any(|prim| match prim.metadata.get(key) {
            Some(Value::Texts(texts)) => texts.iter().any(|own| own == text),
            _ => false,
        })
    }

    /// Value of an attribute, and the number of its values with a time.
    pub(crate) fn sampled(&self, name: &str) -> Option<(&'s Value<'a>, usize)> {
        let mut attributes = self.statements().filter_map(|prim| prim.attributes.get(name));
        let found = attributes.find_map(|attribute| Some((attribute.value()?, attribute.samples)));
        found.filter(|(value, _)| !matches!(value, Value::Blocked))
    }

    pub(crate) fn value(&self, name: &str) -> Option<&'s Value<'a>> {
        self.sampled(name).map(|(value, _)| value)
    }

    pub(crate) fn text(&self, name: &str) -> Option<&'s str> {
        match self.value(name) {
            Some(Value::Text(text)) => Some(text),
            _ => None,
        }
    }

    fn children(&self, warnings: &mut BTreeSet<String>) -> Result<Vec<Self>> {
        let mut places: HashMap<&str, usize> = HashMap::new();
        let mut children: Vec<(&str, Vec<Opinion>)> = Vec::new();
        for (own, prim) in self.opinions.iter().zip(self.statements()) {
            for child in prim.children.iter().copied() {
                let name = &self.stage.layers[own.layer].prims[child].name[..];
                let place = *places.entry(name).or_insert_with(|| {
                    children.push((name, Vec::new()));
                    children.len() - 1
                });
                children[place].1.push(Opinion { prim: child, ..*own });
            }
        }
        let mut composed = Vec::new();
        for (name, mut opinions) in children {
            self.stage.follow_arcs(&mut opinions, warnings);
            let child = Self {
                stage: self.stage,
                opinions,
                path: format!("{}/{name}", self.path),
                to_world: self.to_world,
                left_out: self.left_out,
                purpose: self.purpose.clone(),
                depth: self.depth + 1,
            };
            let own =
                child.statements().map(|prim| prim.specifier).find(|own| *own != Specifier::Over);
            if own == Some(Specifier::Def) {
                composed.push(child.placed(self, warnings)?);
            }
        }
        Ok(composed)
    }

    /// Places the prim below its parent.
    fn placed(mut self, parent: &Self, warnings: &mut BTreeSet<String>) -> Result<Self> {
        for (key, arcs) in OTHER_ARCS {
            if self.statements().any(|prim| prim.metadata.contains_key(key)) {
                warnings.insert(format!("{arcs} are not read, and {} has some", self.path));
            }
        }
        let local = local_transform(|name| self.value(name)).map_err(|operation| {
            let expected = "operations of transforms with values that make affine maps";
            Error::malformed(self.stage.path, format!("prim {}", self.path), expected, operation)
        })?;
        self.to_world = if local.resets { local.matrix } else { self.to_world * local.matrix };
        let purpose = self.text("purpose").map(str::to_owned);
        self.purpose = purpose.or(self.purpose);
        let is_active = self.statements().find_map(|prim| match prim.metadata.get("active") {
            Some(Value::Number(active)) => Some(*active != 0.0),
            _ => None,
        });
        self.left_out = self.left_out.or(if is_active == Some(false) {
            Some("inactive")
        } else if self.text("visibility") == Some("invisible") {
            Some("invisible")
        } else if parent.type_name() == "PointInstancer" {
            Some("prototypes of a PointInstancer, which is not read")
        } else {
            match self.purpose.as_deref() {
                Some("guide") => Some("of purpose guide"),
                Some("proxy") => Some("of purpose proxy"),
                _ => None,
            }
        });
        Ok(self)
    }
}
