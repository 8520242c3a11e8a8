//! Mapping of a glTF texture to a primitive: a set of texture coordinates, moved by `KHR_texture_transform`.

use super::super::material::UvMap;
use super::json::{Material, TextureInfo};

/// Set of texture coordinates, and transform.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct TextureMapping {
    set: usize,
    map: UvMap,
}

impl TextureMapping {
    pub(super) fn of(info: &TextureInfo) -> Self {
        let Some(transform) = &info.extensions.transform else {
            return Self { set: info.tex_coord, ..Self::default() };
        };
        let ([scale_u, scale_v], [u, v]) = (transform.scale, transform.offset);
        // Counter-clockwise as seen in the picture, whose v points down. The matrix printed in the specification turns
        // clockwise; Blender, Babylon.js and three.js follow its words and test model (KhronosGroup/glTF, issue 1563).
        let (sin, cos) = transform.rotation.sin_cos();
        Self {
            set: transform.tex_coord.unwrap_or(info.tex_coord),
            map: UvMap([[cos * scale_u, sin * scale_v, u], [-sin * scale_u, cos * scale_v, v]]),
        }
    }

    pub(super) fn attribute(&self) -> String {
        format!("TEXCOORD_{}", self.set)
    }

    pub(super) fn place(&self, uv: [f32; 2]) -> [f32; 2] {
        self.map.point(uv)
    }

    /// Map from the coordinates that `first` has placed; `None` for another set, or if `first` has no inverse.
    pub(super) fn relative_to(&self, first: &Self) -> Option<UvMap> {
        self.map.after_inverse_of(&first.map).filter(|_| self.set == first.set)
    }
}

/// Mappings of a material. A mesh has two texture coordinates per corner, each of which the first texture of a material in its
/// set places; further textures have maps from these, or are left out if they have a third set.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct MaterialMappings {
    first: TextureMapping,
    second: Option<TextureMapping>,
}

impl MaterialMappings {
    pub(super) fn of(material: &Material) -> Self {
        let infos = textures(material).into_iter().filter_map(|(_, info)| info);
        let mut mappings = infos.map(TextureMapping::of);
        let first = mappings.next().unwrap_or_default();
        Self { first, second: mappings.find(|mapping| mapping.set != first.set) }
    }

    /// The mapping of the first set, and of the second if there is one.
    pub(super) fn sets(&self) -> impl Iterator<Item = TextureMapping> {
        [self.first].into_iter().chain(self.second)
    }

    /// Map of a texture from the coordinates of the mesh, and whether these are the second set; `None` for a third set, and if
    /// the first texture of the set has a transform without an inverse.
    pub(super) fn place(&self, texture: &TextureInfo) -> Option<(UvMap, bool)> {
        let mapping = TextureMapping::of(texture);
        let first = mapping.relative_to(&self.first).map(|map| (map, false));
        first.or_else(|| Some((mapping.relative_to(self.second.as_ref()?)?, true)))
    }
}

/// Textures of a material with their names, most visible first: colour, reflection, normals, emission, occlusion.
pub(super) fn textures(material: &Material) -> [(&'static str, Option<&TextureInfo>); 5] {
    let [colour, reflection] = match &material.extensions.specular_glossiness {
        Some(glossy) => [
            ("diffuseTexture", &glossy.diffuse_texture),
            ("specularGlossinessTexture", &glossy.specular_glossiness_texture),
        ],
        None => {
            let rough = &material.pbr_metallic_roughness;
            [
                ("baseColorTexture", &rough.base_color_texture),
                ("metallicRoughnessTexture", &rough.metallic_roughness_texture),
            ]
        }
    };
    [
        colour,
        reflection,
        ("normalTexture", &material.normal_texture),
        ("emissiveTexture", &material.emissive_texture),
        ("occlusionTexture", &material.occlusion_texture),
    ]
    .map(|(name, info)| (name, info.as_ref()))
}
