//! Configuration of the mesh path: the emulated GPU, and the units that only the mesh path has.

use serde::{Deserialize, Serialize};

use super::cores::PixelShaderSpec;
use super::grids::GridsSpec;
use super::quads::QuadsSpec;
use quadrille_base::error::{Error, Result};
use quadrille_gpu::config::Config;
use quadrille_gpu::optional_parts as parts;
use quadrille_gpu::unused_fields::{UnusedField, unused};
use quadrille_machine::overlay::{ASSIGNMENT, as_toml, overlaid, parsed};
use quadrille_machine::{Field, OptionalPart};
use quadrille_mesh::merge::MergeUnitKind;
use quadrille_mesh::merge::pmu::PmuSpec;
use quadrille_mesh::merge::qfm::QfmSpec;

macro_rules! config {
    ($($(#[$doc:meta])* $field:ident: $spec:ty),+ $(,)?) => {
        /// Specifications of all units.
        #[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
        #[serde(default, deny_unknown_fields)]
        pub struct MeshConfig {
            /// Configuration of the emulated GPU.
            pub gpu: Config,
            $($(#[$doc])* pub $field: $spec,)+
        }

        impl MeshConfig {
            const OWN: &[&str] = &[$(stringify!($field)),+];

            /// Checks every field of every unit.
            pub fn validate(&self) -> Result<()> {
                self.gpu.validate()?;
                $(self.$field.validate()?;)+
                Ok(())
            }

            /// Describes every field of every unit.
            pub fn fields(&self) -> Vec<Field> {
                [self.gpu.fields(), $(self.$field.fields()),+].concat()
            }
        }
    };
}

config! {
    /// Timing of tessellation and vertex shading.
    grids: GridsSpec,
    /// Timing of the conversion of raster tiles to quads.
    quads: QuadsSpec,
    /// Timing of quad-fragment merging. Its sizes are settings of a run.
    qfm: QfmSpec,
    /// Timing of pixel merging. Its sizes are settings of a run.
    pmu: PmuSpec,
    /// Instructions and latency of the pixel shader.
    pixel_shader: PixelShaderSpec,
}

impl MeshConfig {
    /// Returns the configuration with the values of a TOML text, whose tables are units. `from` names the text in errors.
    pub fn overlaid(&self, text: &str, from: &str) -> Result<Self> {
        let all = parsed(text, from)?;
        let fields = self.fields();
        let units = fields.iter().filter_map(|field| field.name.split('.').next());
        let mut units: Vec<_> = units.collect();
        units.dedup();
        if let Some(unknown) = all.keys().find(|unit| !units.contains(&unit.as_str())) {
            let expected = format!("a table named after a unit ({})", units.join(", "));
            return Err(Error::unknown_name(from, expected, unknown, units));
        }
        let (own, gpu): (toml::Table, toml::Table) =
            all.into_iter().partition(|(unit, _)| Self::OWN.contains(&unit.as_str()));
        let mut config: Self = overlaid(self, &own.to_string(), from)?;
        config.gpu = config.gpu.overlaid(&gpu.to_string(), from)?;
        config.validate()?;
        Ok(config)
    }

    /// Returns the configuration with one assignment `unit.field=value`.
    pub fn with(&self, assignment: &str) -> Result<Self> {
        self.overlaid(&as_toml(assignment)?, ASSIGNMENT)
    }

    /// Fields that differ from `base` but that no timed draw of a mesh with merging units of these kinds reads. Without a
    /// kind, no draw is timed.
    pub fn unused_by(&self, timed: &[MergeUnitKind], base: &Self) -> Vec<UnusedField> {
        let has_qfm = timed.iter().any(|kind| matches!(kind, MergeUnitKind::Qfm(_)));
        let has_pmu = timed.iter().any(|kind| matches!(kind, MergeUnitKind::Pmu(_)));
        let is_in = |part: &OptionalPart| match *part {
            parts::SECOND_GPC => self.gpu.gpu.gpcs > 1,
            parts::PIPELINE | parts::BLENDING_IN_CROP => true,
            _ => false,
        };
        let lacks = |field: &Field| match field.name.split('.').next() {
            _ if timed.is_empty() => Some("cycles (--cycles)"),
            Some("qfm") => (!has_qfm).then_some("quad-fragment merging"),
            Some("pmu") => (!has_pmu).then_some("pixel merging"),
            _ => field.only_if.filter(|part| !is_in(part)).map(|part| part.name),
        };
        unused([self.fields(), base.fields()], lacks)
    }
}
