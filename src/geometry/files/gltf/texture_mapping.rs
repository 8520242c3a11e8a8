//! Mapping of a glTF texture to a primitive: a set of texture coordinates, moved by `KHR_texture_transform`.

use super::super::material::UvMap;
use super::json::{Material, TextureInfo};

/// Set of texture coordinates, and transform. A mesh has one texture coordinate per corner, which the first texture of a
/// material places; further textures have maps from this one, or are left out if they have another set.
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

    pub(super) fn of_material(material: &Material) -> Self {
        textures(material).into_iter().find_map(|(_, info)| info).map(Self::of).unwrap_or_default()
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
