//! Check of the extensions that the objects of a document use.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, de::DeserializeSeed};

use super::super::build::MeshBuilder;
use super::draco::DRACO;
use quadrille_base::error::Result;
use quadrille_scene::formats::gltf::GltfDocument;

const READ: [&str; 10] = [
    DRACO,
    "KHR_mesh_quantization",
    "KHR_node_visibility",
    "KHR_texture_transform",
    "KHR_lights_punctual",
    "KHR_materials_unlit",
    "KHR_materials_emissive_strength",
    "KHR_materials_pbrSpecularGlossiness",
    "EXT_mesh_gpu_instancing",
    "EXT_texture_webp",
];
/// Extensions without effect on a picture of the document at rest: metadata, sound, physics, interaction,
/// coarser levels of detail, and alternatives to other content.
const WITHOUT_EFFECT: [&str; 23] = [
    "AGI_articulations",
    "AGI_stk_metadata",
    "EXT_feature_metadata",
    "EXT_instance_features",
    "EXT_mesh_features",
    "EXT_mesh_manifold",
    "EXT_structural_metadata",
    "KHR_animation_pointer",
    "KHR_audio_emitter",
    "KHR_implicit_shapes",
    "KHR_interactivity",
    "KHR_materials_variants",
    "KHR_node_hoverability",
    "KHR_node_selectability",
    "KHR_physics_rigid_bodies",
    "KHR_xmp",
    "KHR_xmp_json_ld",
    "MSFT_audio_emitter",
    "MSFT_lod",
    "MSFT_packing_normalRoughnessMetallic",
    "MSFT_packing_occlusionRoughnessMetallic",
    "VRMC_node_constraint",
    "VRMC_springBone",
];
/// Extensions with data in another encoding, often beside plain data. Readers report them only if there is no plain data.
const ENCODINGS: [&str; 5] = [
    "EXT_meshopt_compression",
    "EXT_texture_avif",
    "KHR_meshopt_compression",
    "KHR_texture_basisu",
    "MSFT_texture_dds",
];
/// Prefix of extensions that affect colours alone; a document may require any of them.
const MATERIAL_PREFIX: &str = "KHR_materials_";

/// Refuses required extensions that are not read, except of materials. Warns of others that may change the picture.
pub(super) fn check(
    document: &GltfDocument,
    uses: &ExtensionUses,
    builder: &mut MeshBuilder,
    path: &Path,
) -> Result<()> {
    let is_read = |name: &str| READ.contains(&name) || WITHOUT_EFFECT.contains(&name);
    document.check_required(|name| is_read(name) || name.starts_with(MATERIAL_PREFIX), path)?;
    let listed = document.extensions_used.iter().filter(|name| !uses.0.contains_key(*name));
    let listed = listed.map(|name| (name, "extensionsUsed"));
    for (name, place) in uses.0.iter().map(|(name, place)| (name, place.as_str())).chain(listed) {
        if !is_read(name) && !ENCODINGS.contains(&name.as_str()) {
            builder.warn(format!("extension {name:?} of {place} is left out"));
        }
    }
    Ok(())
}

/// Extensions of the objects of a document by name, each with the place of its first use.
pub(super) struct ExtensionUses(BTreeMap<String, String>);

impl<'de> Deserialize<'de> for ExtensionUses {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let mut uses = BTreeMap::new();
        let document = JsonValue { place: Place::Document, is_extensions: false, uses: &mut uses };
        document.deserialize(deserializer)?;
        Ok(Self(uses))
    }
}

/// Place of a value in a document, formatted only if an extension is found.
#[derive(Clone, Copy)]
enum Place<'p> {
    Document,
    Member(&'p Place<'p>, &'p str),
    Item(&'p Place<'p>, u64),
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Document => formatter.write_str("the document"),
            Self::Member(Place::Document, name) => formatter.write_str(name),
            Self::Member(object, name) => write!(formatter, "{object}.{name}"),
            Self::Item(array, at) => write!(formatter, "{array}[{at}]"),
        }
    }
}

struct JsonValue<'u> {
    place: Place<'u>,
    is_extensions: bool,
    uses: &'u mut BTreeMap<String, String>,
}

impl<'de> DeserializeSeed<'de> for JsonValue<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, value: D) -> std::result::Result<(), D::Error> {
        value.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for JsonValue<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_bool<E>(self, _: bool) -> std::result::Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> std::result::Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> std::result::Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> std::result::Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> std::result::Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> std::result::Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> std::result::Result<(), A::Error> {
        for at in 0.. {
            let item = JsonValue {
                place: Place::Item(&self.place, at),
                is_extensions: false,
                uses: self.uses,
            };
            if items.next_element_seed(item)?.is_none() {
                break;
            }
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> std::result::Result<(), A::Error> {
        while let Some(name) = members.next_key::<String>()? {
            // Applications may write anything into their extras.
            if name == "extras" {
                members.next_value::<IgnoredAny>()?;
                continue;
            }
            if self.is_extensions && !self.uses.contains_key(&name) {
                self.uses.insert(name.clone(), self.place.to_string());
            }
            let is_extensions = !self.is_extensions && name == "extensions";
            let member = Place::Member(&self.place, &name);
            members.next_value_seed(JsonValue {
                place: if is_extensions { self.place } else { member },
                is_extensions,
                uses: self.uses,
            })?;
        }
        Ok(())
    }
}
