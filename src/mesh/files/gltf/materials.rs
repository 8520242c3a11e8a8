//! Materials and textures of glTF.
//!
//! The shading model has a highlight with a Phong exponent. A roughness r gives 2/r^4 - 2, the exponent
//! of an equally wide highlight (r^2 is the width of glTF's microfacet distribution), and at most
//! 10 000. Metalness, occlusion and textures of roughness are left out, with a warning.

use std::collections::HashMap;

use super::super::build::MeshBuilder;
use super::super::mesh::Material;
use super::super::texture::TextureReader;
use crate::error::Result;
use crate::scene::formats::gltf::{
    self as json, BufferStore, Document, Resolve, TextureInfo, read_uri,
};

/// Largest Phong exponent.
const MAX_SHININESS: f32 = 10_000.0;

/// Materials of a document, each read when a primitive first uses it.
pub(crate) struct Materials<'a> {
    document: &'a Document,
    store: &'a BufferStore<'a>,
    textures: TextureReader,
    known: HashMap<Option<usize>, u32>,
}

impl<'a> Materials<'a> {
    pub(super) fn new(document: &'a Document, store: &'a BufferStore<'a>) -> Self {
        Self {
            document,
            store,
            textures: TextureReader::default(),
            known: HashMap::new(),
        }
    }

    /// Returns the index in the mesh of the document's material `at`, or of the default for `None`.
    pub(super) fn index(
        &mut self,
        at: Option<usize>,
        builder: &mut MeshBuilder,
        resolve: &mut Resolve<'_>,
    ) -> Result<u32> {
        if let Some(&known) = self.known.get(&at) {
            return Ok(known);
        }
        let material = match at {
            Some(at) => {
                let material = self.store.get(&self.document.materials, at, "materials")?;
                self.read(material, at, builder, resolve)?
            }
            None => Material {
                base_colour: [1.0; 3],
                ..Material::default()
            },
        };
        let index = builder.material(material);
        self.known.insert(at, index);
        Ok(index)
    }

    fn read(
        &mut self,
        json: &json::Material,
        at: usize,
        builder: &mut MeshBuilder,
        resolve: &mut Resolve<'_>,
    ) -> Result<Material> {
        let rough = &json.pbr_metallic_roughness;
        let factors = rough.base_color_factor.unwrap_or([1.0; 4]);
        let [red, green, blue, alpha] = factors;
        let roughness = rough.roughness_factor.unwrap_or(1.0);
        let cutoff = json.alpha_cutoff.unwrap_or(0.5);
        let numbers = factors.iter().chain([&roughness, &cutoff]);
        let numbers = numbers.chain(&json.emissive_factor);
        if let Some(wrong) = numbers.copied().find(|v| !(v.is_finite() && *v >= 0.0)) {
            let place = format!("materials[{at}]");
            let expected = "factors and cutoff of 0 or more";
            return Err(self.store.malformed(place, expected, wrong.to_string()));
        }
        let mut material = Material {
            name: json.name.clone(),
            base_colour: [red, green, blue],
            shininess: shininess(roughness),
            two_sided: json.double_sided,
            ..Material::default()
        };
        match json.alpha_mode.as_deref() {
            Some("MASK") => {
                // glTF compares the cutoff with the texture's alpha times the factor.
                material.alpha_cutoff = Some((cutoff / alpha.max(f32::MIN_POSITIVE)).min(2.0));
                material.effects.discards = true;
            }
            Some("BLEND") => material.opacity = Some(alpha.min(1.0)),
            _ => {}
        }
        let mut texture = |info: &Option<TextureInfo>| match info {
            Some(info) => self.texture(info, builder, resolve),
            None => Ok(None),
        };
        material.base_texture = texture(&rough.base_color_texture)?;
        material.normal_texture = texture(&json.normal_texture)?;
        material.emission = json.emissive_factor;
        material.emission_texture = texture(&json.emissive_texture)?;
        warn_of_left_out(json, builder);
        Ok(material)
    }

    /// Returns the index in the mesh of a texture, or `None` if it cannot be read.
    fn texture(
        &mut self,
        info: &TextureInfo,
        builder: &mut MeshBuilder,
        resolve: &mut Resolve<'_>,
    ) -> Result<Option<u32>> {
        if info.tex_coord != 0 {
            builder.warn("textures use the first set of texture coordinates, not others");
        }
        if info.extensions.contains_key("KHR_texture_transform") {
            builder.warn("transforms of textures are left out");
        }
        let texture = self
            .store
            .get(&self.document.textures, info.index, "textures")?;
        if let Some(at) = texture.sampler {
            let sampler = self.store.get(&self.document.samplers, at, "samplers")?;
            if !sampler.is_plain() {
                builder.warn("textures repeat and are interpolated, whatever their samplers say");
            }
        }
        let Some(source) = texture.source else {
            let index = info.index;
            builder.warn(format!("textures[{index}] is left out: no PNG or JPEG"));
            return Ok(None);
        };
        let image = self.store.get(&self.document.images, source, "images")?;
        let name = match &image.uri {
            Some(uri) if !uri.starts_with("data:") => format!("images[{source}] {uri}"),
            _ => format!("images[{source}]"),
        };
        if let Some(view) = image.buffer_view {
            let (bytes, _) = self.store.view(view)?;
            return Ok(self.textures.get(&name, builder, || Ok(bytes)));
        }
        let content = || match &image.uri {
            Some(uri) => read_uri(uri, resolve),
            None => Err("neither a URI nor a buffer view".into()),
        };
        Ok(self.textures.get(&name, builder, content))
    }
}

/// Warns of properties of a material that do not affect the picture.
fn warn_of_left_out(json: &json::Material, builder: &mut MeshBuilder) {
    let rough = &json.pbr_metallic_roughness;
    if rough.metallic_roughness_texture.is_some() {
        builder.warn("textures of metalness and roughness are left out");
    } else if rough.metallic_factor.is_some_and(|factor| factor > 0.0) {
        builder.warn("metalness is left out");
    }
    if json.occlusion_texture.is_some() {
        builder.warn("textures of ambient occlusion are left out");
    }
}

fn shininess(roughness: f32) -> f32 {
    // A roughness of 0 gives infinity, which is clamped.
    (2.0 / roughness.powi(4) - 2.0).clamp(0.0, MAX_SHININESS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rough_surfaces_have_no_highlight() {
        assert_eq!(shininess(1.0), 0.0);
        assert_eq!(shininess(2.0), 0.0);
        assert_eq!(shininess(0.5), 30.0);
        assert_eq!(shininess(0.0), MAX_SHININESS);
    }
}
