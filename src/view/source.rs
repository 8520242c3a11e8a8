//! Sources of pictures, and ways to show two of them.

use std::sync::Arc;

use serde::Deserialize;

use quadrille_base::image::Layer;
use quadrille_base::shading::Profile;
use quadrille_gpu::variant::Variant;
use quadrille_render::convert::{Change, Step};

pub(crate) const MAX_GAIN: f64 = 1000.0;

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Show {
    pub(crate) a: Source,
    pub(crate) b: Option<Source>,
    pub(crate) mode: Mode,
    /// Share of the width for picture A.
    pub(crate) split: f64,
    pub(crate) gain: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Mode {
    Single,
    Split,
    Difference,
}

impl Show {
    pub(crate) fn second(&self) -> Option<&Source> {
        self.b.as_ref().filter(|_| self.mode != Mode::Single)
    }

    pub(crate) fn sources(&self) -> impl Iterator<Item = &Source> {
        [Some(&self.a), self.second()].into_iter().flatten()
    }
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(try_from = "RawSource")]
pub(crate) enum Source {
    Photo,
    Drawn(Drawn),
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Drawn {
    pub(crate) scene: usize,
    /// Profile in place of the scene's.
    pub(crate) profile: Option<Profile>,
    pub(crate) renderer: RendererName,
    /// Layer shown as colours in place of the picture.
    pub(crate) layer: Option<Layer>,
    /// Opaque colour behind the scene in sRGB, in place of the server's.
    pub(crate) background: Option<[f32; 3]>,
    pub(crate) filters: SceneFilters,
}

/// Filters that a page adds to the server's own, in this order.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(try_from = "RawFilters")]
pub(crate) struct SceneFilters(pub(crate) Arc<[Step]>);

impl SceneFilters {
    /// Words of the command line, without quotes.
    pub(crate) fn words(&self) -> Vec<String> {
        self.0.iter().map(|step| step.text.clone()).collect()
    }
}

/// Filters by the controls of a page.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawFilters {
    /// Least opacity, 0 to 1.
    opacity_min: Option<f64>,
    /// Largest standard deviation, in world units.
    scale_max: Option<f64>,
    condition: Option<String>,
    /// Least and greatest corner.
    keep_box: Option<[f64; 6]>,
    /// Centre and radius.
    keep_sphere: Option<[f64; 4]>,
    sh_degree: Option<u8>,
    splat_scale: Option<f64>,
}

impl TryFrom<RawFilters> for SceneFilters {
    type Error = String;

    fn try_from(raw: RawFilters) -> std::result::Result<Self, String> {
        let listed =
            |numbers: &[f64]| numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
        let given = [
            ("keep-box", raw.keep_box.map(|corners| listed(&corners))),
            ("keep-sphere", raw.keep_sphere.map(|sphere| listed(&sphere))),
            ("where", raw.opacity_min.map(|least| format!("opacity >= {least}"))),
            ("where", raw.scale_max.map(|most| format!("scale_max <= {most}"))),
            ("where", raw.condition),
            ("sh", raw.sh_degree.map(|degree| degree.to_string())),
            ("splat-scale", raw.splat_scale.map(|factor| factor.to_string())),
        ];
        let steps = given.into_iter().filter_map(|(name, value)| Some((name, value?)));
        let steps = steps.map(|(name, value)| {
            let change = Change::parse(name, &value).map_err(|error| error.to_string())?;
            Ok(Step { input: None, text: format!("--{name}={value}"), change })
        });
        Ok(Self(steps.collect::<std::result::Result<_, String>>()?))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RendererName {
    /// The fast SIMD renderer.
    Cpu,
    /// The scalar renderer, which defines the picture.
    Reference,
    Emulated(Variant),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct VariantName(pub(crate) Variant);

impl TryFrom<String> for VariantName {
    type Error = String;

    fn try_from(name: String) -> std::result::Result<Self, String> {
        let variant = Variant::ALL.into_iter().find(|variant| variant.to_string() == name);
        variant.map(Self).ok_or_else(|| "expected a variant of the pipeline".to_owned())
    }
}

pub(crate) const LAYERS: [Layer; 4] = [Layer::Depth, Layer::Normal, Layer::Alpha, Layer::Count];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawSource {
    scene: Option<usize>,
    profile: Option<String>,
    renderer: Option<String>,
    layer: Option<String>,
    background: Option<[f32; 3]>,
    #[serde(default)]
    filters: SceneFilters,
    photo: Option<bool>,
}

impl TryFrom<RawSource> for Source {
    type Error = String;

    fn try_from(raw: RawSource) -> std::result::Result<Self, String> {
        if raw.photo == Some(true) {
            let is_alone = raw.scene.is_none() && raw.renderer.is_none();
            return match is_alone && raw.profile.is_none() && raw.layer.is_none() {
                true => Ok(Self::Photo),
                false => Err("expected a photo or a scene, not both".to_owned()),
            };
        }
        let profile = raw.profile.map(|name| Profile::named(&name)).transpose();
        let layer = match raw.layer.as_deref() {
            None => None,
            Some(name) => {
                let layer = LAYERS.into_iter().find(|layer| layer.name() == name);
                Some(layer.ok_or("expected one of the layers depth, normal, alpha and count")?)
            }
        };
        let renderer = match raw.renderer.as_deref() {
            None | Some("cpu") => RendererName::Cpu,
            Some("reference") => RendererName::Reference,
            Some(name) => {
                let variant = name.strip_prefix("emulated:");
                let variant = variant.ok_or("expected cpu, reference or emulated:VARIANT")?;
                RendererName::Emulated(VariantName::try_from(variant.to_owned())?.0)
            }
        };
        let is_colour = |colour: &[f32; 3]| colour.iter().all(|c| (0.0..=1.0).contains(c));
        if !raw.background.as_ref().is_none_or(is_colour) {
            return Err("expected a background of three numbers from 0 to 1".to_owned());
        }
        if layer.is_some() && renderer != RendererName::Cpu {
            return Err("expected the renderer cpu, which draws layers".to_owned());
        }
        Ok(Self::Drawn(Drawn {
            scene: raw.scene.ok_or("expected a scene")?,
            profile: profile.map_err(|error| error.to_string())?,
            renderer,
            layer,
            background: raw.background,
            filters: raw.filters,
        }))
    }
}
