//! The flags that say what `sim` emulates, checked.

use super::gpu_options::GpuFlags;
use crate::error::Result;
use crate::gpu::variant::Variant;

/// What to emulate.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Emulation")]
pub(super) struct EmulationFlags {
    /// Which pipelines, separated by commas or by repeating the flag: baseline, qm, het, het+qm,
    /// tgc, other switches joined by + (tgc, qru, qm, het), or all
    #[arg(
        long = "variant",
        value_name = "VARIANT",
        value_delimiter = ',',
        default_value = "all"
    )]
    variants: Vec<String>,
    #[command(flatten)]
    pub(super) gpu: GpuFlags,
}

impl EmulationFlags {
    /// The variants, each once, in the order given.
    ///
    /// # Errors
    /// [`Error::Caller`] about a name that is none.
    pub(super) fn variants(&self) -> Result<Vec<Variant>> {
        let mut variants = Vec::new();
        for name in &self.variants {
            let named = match name.trim() {
                "all" => Variant::ALL.to_vec(),
                name => vec![Variant::parse(name)?],
            };
            for variant in named {
                if !variants.contains(&variant) {
                    variants.push(variant);
                }
            }
        }
        Ok(variants)
    }
}
