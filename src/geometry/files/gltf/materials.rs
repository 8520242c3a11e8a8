//! Materials and textures of glTF: metallic-roughness or specular-glossiness, normal, occlusion and emission.

use std::collections::HashMap;

use super::super::build::MeshBuilder;
use super::super::folder::ReadFirst;
use super::super::material::{Material, Microfacets, Sampler, TextureFilter, UvMap, Wrap};
use super::super::texture::{TextureReader, TextureUse};
use super::json::{self, Scenery, TextureInfo};
use super::texture_mapping::{MaterialMappings, textures};
use quadrille_base::error::Result;
use quadrille_scene::formats::gltf::{BufferStore, named_extension, read_uri};

const CLAMP: u32 = 33071;
const MIRROR: u32 = 33648;
const REPEAT: u32 = 10497;
const NEAREST: u32 = 9728;
const LINEAR: u32 = 9729;
const NEAREST_NEAREST: u32 = 9984;
const LINEAR_NEAREST: u32 = 9985;
const NEAREST_LINEAR: u32 = 9986;
const LINEAR_LINEAR: u32 = 9987;

/// Cache of materials, each of which is read when a primitive first uses it.
pub(crate) struct Materials<'a> {
    scenery: &'a Scenery,
    store: &'a BufferStore<'a>,
    textures: TextureReader,
    known: HashMap<Option<usize>, u32>,
}

impl<'a> Materials<'a> {
    pub(super) fn new(scenery: &'a Scenery, store: &'a BufferStore<'a>) -> Self {
        Self { scenery, store, textures: TextureReader::default(), known: HashMap::new() }
    }

    pub(super) fn index(
        &mut self,
        at: Option<usize>,
        builder: &mut MeshBuilder,
        files: &mut ReadFirst<'_>,
    ) -> Result<u32> {
        if let Some(&known) = self.known.get(&at) {
            return Ok(known);
        }
        let material = match at {
            Some(at) => {
                let material = self.store.get(&self.scenery.materials, at, "materials")?;
                self.read(material, at, builder, files)?
            }
            None => Material {
                base_colour: [1.0; 3],
                microfacets: Some(Microfacets::Metallic {
                    metalness: 1.0,
                    roughness: 1.0,
                    texture: None,
                }),
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
        files: &mut ReadFirst<'_>,
    ) -> Result<Material> {
        let name = match json.name.as_str() {
            "" => format!("materials[{at}]"),
            name => name.to_owned(),
        };
        let mappings = MaterialMappings::of(json);
        let mut texture = |(slot, info): (&str, Option<&TextureInfo>)| match info {
            Some(info) => match mappings.place(info) {
                Some(place) => self.texture(info, place, builder, files),
                None => {
                    builder.warn(format!(
                        "{slot} of material {name:?} is left out: the material has three sets of texture coordinates, or \
                         another transform of the same set has no inverse"
                    ));
                    Ok(None)
                }
            },
            None => Ok(None),
        };
        let [colour, reflection, normal, emission, occlusion] = textures(json);
        let base_texture = texture(colour)?;
        let reflection_texture = texture(reflection)?;
        let normal_texture = texture(normal)?;
        let emission_texture = texture(emission)?;
        let occlusion_texture = texture(occlusion)?;
        let ([red, green, blue, alpha], facets) = self.reflection(json, at, reflection_texture)?;
        let strength = json.extensions.emissive_strength.as_ref();
        let strength = strength.and_then(|extension| extension.emissive_strength);
        let emission = json.emissive_factor.map(|v| v * strength.unwrap_or(1.0));
        let occlusion = json.occlusion_texture.as_ref().and_then(|t| t.strength);
        let [occlusion] = self.factors(at, [occlusion.unwrap_or(1.0)])?;
        let [cutoff] = self.factors(at, [json.alpha_cutoff.unwrap_or(0.5)])?;
        let scale = json.normal_texture.as_ref().and_then(|t| t.scale);
        let mut material = Material {
            name,
            base_colour: [red, green, blue],
            base_texture,
            normal_texture,
            normal_scale: scale.unwrap_or(1.0),
            emission: self.factors(at, emission)?,
            emission_texture,
            occlusion_texture,
            occlusion_strength: occlusion.min(1.0),
            microfacets: Some(facets),
            is_unlit: json.extensions.unlit.is_some(),
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
        Ok(material)
    }

    fn reflection(
        &self,
        json: &json::Material,
        at: usize,
        texture: Option<u32>,
    ) -> Result<([f32; 4], Microfacets)> {
        let Some(glossy) = &json.extensions.specular_glossiness else {
            let rough = &json.pbr_metallic_roughness;
            let [metalness, roughness] = self.factors(
                at,
                [rough.metallic_factor, rough.roughness_factor].map(|v| v.unwrap_or(1.0)),
            )?;
            let facets = Microfacets::Metallic {
                metalness: metalness.min(1.0),
                roughness: roughness.min(1.0),
                texture,
            };
            return Ok((self.factors(at, rough.base_color_factor.unwrap_or([1.0; 4]))?, facets));
        };
        let specular = self.factors(at, glossy.specular_factor.unwrap_or([1.0; 3]))?;
        let [glossiness] = self.factors(at, [glossy.glossiness_factor.unwrap_or(1.0)])?;
        let facets = Microfacets::Specular {
            colour: specular.map(|v| v.min(1.0)),
            glossiness: glossiness.min(1.0),
            texture,
        };
        Ok((self.factors(at, glossy.diffuse_factor.unwrap_or([1.0; 4]))?, facets))
    }

    fn factors<const N: usize>(&self, at: usize, factors: [f32; N]) -> Result<[f32; N]> {
        match factors.into_iter().find(|v| !(v.is_finite() && *v >= 0.0)) {
            None => Ok(factors),
            Some(wrong) => {
                let (place, expected) =
                    (format!("materials[{at}]"), "factors and cutoff of 0 or more");
                Err(self.store.malformed(place, expected, wrong.to_string()))
            }
        }
    }

    /// Index of a texture in the mesh; `None` if it cannot be read.
    fn texture(
        &mut self,
        info: &TextureInfo,
        (uv_map, has_second_uvs): (UvMap, bool),
        builder: &mut MeshBuilder,
        files: &mut ReadFirst<'_>,
    ) -> Result<Option<u32>> {
        let texture = self.store.get(&self.scenery.textures, info.index, "textures")?;
        let sampler = match texture.sampler {
            Some(at) => sampler(self.store.get(&self.scenery.samplers, at, "samplers")?, builder),
            None => Sampler::default(),
        };
        let of = TextureUse { sampler, uv_map, has_second_uvs, ..TextureUse::default() };
        let Some(source) = texture.extensions.webp.source.or(texture.source) else {
            let index = info.index;
            let others = texture.extensions.others.keys();
            let others: Vec<_> = others.map(|name| named_extension(name)).collect();
            let found = match others.is_empty() {
                true => "no image".to_owned(),
                false => format!("no PNG, JPEG or WebP beside {}", others.join(" and ")),
            };
            builder.warn(format!("textures[{index}] is left out: {found}"));
            return Ok(None);
        };
        let image = self.store.get(&self.scenery.images, source, "images")?;
        let name = match &image.uri {
            Some(uri) if !uri.starts_with("data:") => format!("images[{source}] {uri}"),
            _ => format!("images[{source}]"),
        };
        if let Some(view) = image.buffer_view {
            let (bytes, _) = self.store.view(view)?;
            return Ok(self.textures.get(&name, of, builder, || Ok(bytes)));
        }
        let content = || match &image.uri {
            Some(uri) => read_uri(uri, &mut |name| files(&[name])),
            None => Err("neither a URI nor a buffer view".into()),
        };
        Ok(self.textures.get(&name, of, builder, content))
    }
}

/// Sampler with wrapping and filters. Undefined constants give the default, with a warning.
fn sampler(json: &json::Sampler, builder: &mut MeshBuilder) -> Sampler {
    use TextureFilter::{Linear, Nearest};
    let mut known = true;
    let mut wrap = |number: Option<u32>| match number {
        None | Some(REPEAT) => Wrap::Repeat,
        Some(CLAMP) => Wrap::Clamp,
        Some(MIRROR) => Wrap::Mirror,
        Some(_) => {
            known = false;
            Wrap::Repeat
        }
    };
    let wrap = [json.wrap_s, json.wrap_t].map(&mut wrap);
    let magnify = match json.mag_filter {
        Some(NEAREST) => Nearest,
        other => {
            known &= matches!(other, None | Some(LINEAR));
            Linear
        }
    };
    let (minify, levels) = match json.min_filter {
        Some(NEAREST) => (Nearest, None),
        Some(LINEAR) => (Linear, None),
        Some(NEAREST_NEAREST) => (Nearest, Some(Nearest)),
        Some(LINEAR_NEAREST) => (Linear, Some(Nearest)),
        Some(NEAREST_LINEAR) => (Nearest, Some(Linear)),
        other => {
            known &= matches!(other, None | Some(LINEAR_LINEAR));
            (Linear, Some(Linear))
        }
    };
    if !known {
        builder.warn(
            "samplers with unknown filter or wrap codes repeat and interpolate their textures",
        );
    }
    Sampler { wrap, magnify, minify, levels }
}
