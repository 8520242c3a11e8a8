//! Descriptions of SOG, of version 1 (without a number) and 2.

use serde::Deserialize;

use crate::encoding::SplatModel;

/// Content of a `meta.json`. Members that only one version has are checked where they are read.
#[derive(Debug, Deserialize)]
pub(super) struct Meta {
    pub(super) version: Option<u32>,
    pub(super) count: Option<u64>,
    /// `3dgs`, `antialiased` or `2dgs`.
    #[serde(default)]
    pub(super) model: Option<String>,
    /// Older form of the model `antialiased`.
    #[serde(default)]
    pub(super) antialias: Option<bool>,
    pub(super) means: Part,
    pub(super) scales: Part,
    pub(super) quats: Part,
    pub(super) sh0: Part,
    #[serde(rename = "shN")]
    pub(super) sh_rest: Option<Part>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Part {
    #[serde(default)]
    pub(super) shape: Vec<u64>,
    #[serde(default)]
    pub(super) mins: Numbers,
    #[serde(default)]
    pub(super) maxs: Numbers,
    #[serde(default)]
    pub(super) codebook: Vec<f64>,
    pub(super) count: Option<u64>,
    /// SH degree of the higher coefficients, 1 to 3.
    pub(super) bands: Option<u8>,
    pub(super) files: Vec<String>,
}

#[derive(Debug, Deserialize, Default)]
#[serde(untagged)]
pub(super) enum Numbers {
    #[default]
    None,
    One(f64),
    Several(Vec<f64>),
}

impl Numbers {
    /// Element `at` of a list; a single number applies to every index.
    pub(super) fn get(&self, at: usize) -> Option<f64> {
        match self {
            Self::None => None,
            Self::One(value) => Some(*value),
            Self::Several(values) => values.get(at).copied(),
        }
    }
}

impl Meta {
    /// Model of the splats; an unknown name counts as [`SplatModel::Plain`].
    pub(super) fn model(&self) -> Option<SplatModel> {
        match self.model.as_deref() {
            Some(name) => Some(name.parse().unwrap_or(SplatModel::Plain)),
            None => self.antialias.map(SplatModel::of_flag),
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct LodMeta {
    pub(super) lod_levels: u32,
    #[serde(default)]
    pub(super) environment: Option<String>,
    /// Paths of the descriptions of SOGs, which ranges of the tree refer to by index.
    pub(super) filenames: Vec<String>,
    pub(super) tree: LodNode,
}

#[derive(Debug, Deserialize)]
pub(super) struct LodNode {
    #[serde(default)]
    pub(super) children: Option<Vec<LodNode>>,
    #[serde(default)]
    pub(super) lods: std::collections::BTreeMap<String, LodRange>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
pub(super) struct LodRange {
    pub(super) file: usize,
    pub(super) offset: usize,
    pub(super) count: usize,
}
