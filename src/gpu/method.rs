//! Methods of rendering a view on the emulated GPU: pipeline variants, and the paper's other renderers.

use std::fmt;

use super::compute::outcome::ComputeMethod;
use super::config::Config;
use super::extension::OwnMethod;
use super::imitation::Imitation;
use super::tile_gpu::TileMethod;
use super::variant::Variant;
use super::warp::shader_blend::ShaderOrder;
use quadrille_base::error::{Error, Result};

const GSCORE: &str = "gscore";
const MULTI_PASS: &str = "multipass:";
const GROUPS: [&str; 3] = ["all", "paper", "multipass:N"];
const MOST_PASSES: u32 = 65_536;

/// Method of rendering a view on the emulated GPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// The graphics pipeline, with the additions of a variant.
    Pipeline(Variant),
    /// The conventional pipeline in this number of passes; stencil updates between them terminate pixels.
    MultiPass(u32),
    /// The conventional pipeline with additions imitated by the stencil test and the fragment shader.
    Imitated(Imitation),
    /// The conventional pipeline up to the shader cores, with blending in the fragment shader.
    InShader(ShaderOrder),
    /// A tile-based GPU.
    Tiles(TileMethod),
    /// A software renderer on the shader cores.
    Compute(ComputeMethod),
    /// The accelerator GSCore.
    Gscore,
    /// A method of another crate on the graphics pipeline.
    Own(OwnMethod),
}

impl Method {
    /// All methods that VR-Pipe compares, except multi-pass rendering, which needs a number of passes.
    pub fn paper() -> Vec<Self> {
        let software =
            [ComputeMethod::ORIENTED, ComputeMethod::ORIENTED_UNSTOPPED, ComputeMethod::SQUARE];
        let software = software.map(Self::Compute).into_iter();
        Self::defaults()
            .into_iter()
            .chain(Imitation::ALL.map(Self::Imitated))
            .chain(ShaderOrder::ALL.map(Self::InShader))
            .chain(software)
            .chain([Self::Gscore])
            .collect()
    }

    /// Default methods: the paper's pipeline variants, quad merging without tile-grid coalescing, and tile-grid coalescing
    /// alone.
    pub fn defaults() -> Vec<Self> {
        Variant::ALL.map(Self::Pipeline).to_vec()
    }

    /// Name of the method, as [`Method::parse`] takes it.
    pub fn name(self) -> String {
        self.to_string()
    }

    /// Parses the name of a method.
    ///
    /// # Errors
    /// [`Error::Argument`] for an unknown name; it lists the known names.
    pub fn parse(text: &str) -> Result<Self> {
        Self::parse_of(text, &Config::default())
    }

    /// Parses the name of a method, or of one that an extension of `config` adds.
    ///
    /// # Errors
    /// [`Error::Argument`] for an unknown name; it lists the known names.
    pub fn parse_of(text: &str, config: &Config) -> Result<Self> {
        let mut own = config.extensions.methods();
        if let Some(method) = own.find(|method| method.to_string() == text) {
            return Ok(Self::Own(method));
        }
        if let Some(passes) = text.strip_prefix(MULTI_PASS) {
            let number = passes.parse().ok().filter(|n| (1..=MOST_PASSES).contains(n));
            return number.map(Self::MultiPass).ok_or_else(|| {
                let expected =
                    format!("{MULTI_PASS}N for a number N of passes from 1 to {MOST_PASSES}");
                Error::argument("variant", expected, text)
            });
        }
        if let Some(imitation) = Imitation::parse(text) {
            return imitation.map(Self::Imitated);
        }
        if let Some(method) = ComputeMethod::parse(text)? {
            return Ok(Self::Compute(method));
        }
        if text == GSCORE {
            return Ok(Self::Gscore);
        }
        let mut orders = ShaderOrder::ALL.into_iter();
        if let Some(order) = orders.find(|order| order.name() == text) {
            return Ok(Self::InShader(order));
        }
        let mut tiles = TileMethod::ALL.iter();
        if let Some(method) = tiles.find(|method| method.name() == text) {
            return Ok(Self::Tiles(*method));
        }
        Variant::parse(text).map(Self::Pipeline).map_err(|error| match error {
            Error::Argument { what, expected, found } => {
                let orders = ShaderOrder::ALL.map(ShaderOrder::name).join(", ");
                let own: Vec<_> = config.extensions.methods().map(|m| m.to_string()).collect();
                let imitations = Imitation::ALL.map(|imitation| imitation.to_string()).join(", ");
                let tiles = TileMethod::ALL.iter().map(|method| method.name());
                let tiles: Vec<_> = tiles.collect();
                let others = format!(
                    "{MULTI_PASS}N, {imitations}, {orders}, {}, compute, compute-aabb, {GSCORE}, paper",
                    tiles.join(", ")
                );
                let others: Vec<_> = std::iter::once(others).chain(own.iter().cloned()).collect();
                let expected = format!("{expected}, or another method ({})", others.join(", "));
                let names = Self::paper().into_iter().map(Self::name);
                let names = names.chain(tiles.into_iter().chain(GROUPS).map(str::to_owned));
                let names: Vec<_> = names.chain(own).collect();
                Error::unknown_name(what, expected, &found, names.iter().map(String::as_str))
            }
            other => other,
        })
    }

    /// Parses a list of names without repetition; `all` stands for the pipeline variants, `paper` for [`Method::paper`].
    pub fn parse_all(names: &[String]) -> Result<Vec<Self>> {
        Self::parse_all_of(names, &Config::default())
    }

    /// As [`Method::parse_all`], with the methods that extensions of `config` add.
    pub fn parse_all_of(names: &[String], config: &Config) -> Result<Vec<Self>> {
        let mut methods = Vec::new();
        for name in names {
            let named = match name.trim() {
                "all" => Self::defaults(),
                "paper" => Self::paper(),
                name => vec![Self::parse_of(name, config)?],
            };
            for method in named {
                if !methods.contains(&method) {
                    methods.push(method);
                }
            }
        }
        Ok(methods)
    }

    /// Variant of the pipeline; `None` for other methods.
    pub fn variant(self) -> Option<Variant> {
        match self {
            Self::Pipeline(variant) => Some(variant),
            Self::Own(method) => Some(method.variant()),
            Self::Tiles(method) => Some(method.variant()),
            Self::MultiPass(_)
            | Self::Imitated(_)
            | Self::InShader(_)
            | Self::Compute(_)
            | Self::Gscore => None,
        }
    }

    /// Whether the method draws tile by tile on the chip.
    pub fn has_tiles(self) -> bool {
        matches!(self, Self::Tiles(_))
    }

    /// Whether a frame of a sequence depends on the frames before it. The software renderer starts every frame alike.
    pub fn keeps_frames(self) -> bool {
        !matches!(self, Self::Compute(_))
    }

    /// Whether the method draws with the stencil and depth tests of a view. Passes and imitated additions have tests of their
    /// own.
    pub fn has_tests(self) -> bool {
        self.is_pipeline() && !matches!(self, Self::Imitated(_) | Self::MultiPass(_))
    }

    /// Whether the method runs on the graphics pipeline.
    pub fn is_pipeline(self) -> bool {
        !matches!(self, Self::Compute(_) | Self::Gscore)
    }
}

impl From<Variant> for Method {
    fn from(variant: Variant) -> Self {
        Self::Pipeline(variant)
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pipeline(variant) => variant.fmt(f),
            Self::MultiPass(passes) => write!(f, "{MULTI_PASS}{passes}"),
            Self::Imitated(imitation) => imitation.fmt(f),
            Self::InShader(order) => f.write_str(order.name()),
            Self::Tiles(method) => f.write_str(method.name()),
            Self::Compute(method) => method.fmt(f),
            Self::Gscore => f.write_str(GSCORE),
            Self::Own(method) => method.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_method_is_told_all_methods_and_an_unknown_variant_the_variants() {
        let others = "multipass:N, imitated:het, imitated:qm, imitated:het+qm, shader-blend, interlock, tile-gpu, \
                      tile-gpu+het, tile-gpu+qm, tile-gpu+het+qm, framebuffer-fetch, compute, compute-aabb, gscore, \
                      paper";
        let of_methods = Method::parse("foo").unwrap_err().to_string();
        assert!(of_methods.contains("het+qm") && of_methods.contains(others));
        let of_variants = Variant::parse("foo").unwrap_err().to_string();
        assert!(of_variants.contains("het+qm") && !of_variants.contains("gscore"));
    }
}
