//! Flags that several commands share: the host, rendering, and the emulated GPU.

use std::path::{Path, PathBuf};

use super::outputs::{Background, parse_background};
use super::session::{HostFlags, Session};
use quadrille_base::error::{Error, Result};
use quadrille_base::parse::positive;
use quadrille_base::shading::{Profile, SplatOrder, StopRule};
use quadrille_base::text_file::read_text;
use quadrille_gpu::config::{Config, PRESETS};
use quadrille_gpu::method::Method;
use quadrille_machine::overlay::ASSIGNMENT;
use quadrille_mesh_pipeline::MeshConfig;
use quadrille_suite::merging_runs::MergingSettings;
use quadrille_suite::{Configuration, check_distinct, swept, unused_warning};

/// Flag for the near plane.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(super) struct NearFlag {
    /// Depth in world units below which splats are left out, instead of the profile's depth or, in a view that the program
    /// chose, a tenth of the distance to the content if this is smaller
    #[arg(long, value_name = "Z", value_parser = positive)]
    pub(super) near: Option<f64>,
}

/// Flags for the near plane and the order of splats.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(super) struct DepthFlags {
    #[command(flatten)]
    pub(super) near: NearFlag,
    /// Order in which splats are blended: z, by depth along the view, as trainers sort, or distance, by distance from the
    /// camera, which panoramas always have. A fisheye draws only splats before it with z, as gsplat does [default: the order
    /// that the scene file states, else z; for fisheyes distance]
    #[arg(long, value_name = "z|distance")]
    pub(super) order: Option<SplatOrder>,
}

impl DepthFlags {
    pub(super) fn applied(self, profile: Profile) -> Profile {
        let profile = self.near.near.map_or(profile, |near| profile.with_near(near));
        Profile { order: self.order.or(profile.order), ..profile }
    }
}

/// Flags for rules that replace the rules of the profile.
#[derive(Debug, Clone, Copy, clap::Args)]
#[command(next_help_heading = "Rendering")]
pub(super) struct RuleFlags {
    /// Rule that ends the blending of a pixel, instead of the profile's rule: none; inria[:T], before
    /// the transmittance falls below T; gsplat[:T], before it falls to T; hw[:ALPHA], once the
    /// accumulated alpha has reached ALPHA. Example: --stop hw:0.996
    #[arg(long, value_name = "RULE", value_parser = parse_stop)]
    pub(super) stop: Option<StopRule>,
    #[command(flatten)]
    pub(super) depth: DepthFlags,
}

impl RuleFlags {
    #[cfg(feature = "view")]
    pub(super) fn words(self) -> Vec<String> {
        self.stop.map(|stop| format!("--stop={stop}")).into_iter().collect()
    }

    pub(super) fn applied(self, profile: Profile) -> Profile {
        let profile = self.depth.applied(profile);
        Profile { stop: self.stop.unwrap_or(profile.stop), ..profile }
    }
}

fn parse_stop(text: &str) -> std::result::Result<StopRule, String> {
    let expected =
        "expected none, inria[:T], gsplat[:T] or hw[:ALPHA] with T and ALPHA between 0 and 1";
    StopRule::parse(text).ok_or_else(|| expected.to_owned())
}

/// Flags for rendering that `render`, `view` and `sim` share.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Rendering")]
pub(super) struct DrawFlags {
    /// Background colour, R,G,B from 0 to 1, or "transparent" [default: 0,0,0 for .png, transparent
    /// for .exr and .npy]
    #[arg(long, value_name = "R,G,B|transparent", allow_hyphen_values = true, value_parser = parse_background)]
    pub(super) background: Option<Background>,
    /// Renderer whose constants to use: inria, inria-aa, gsplat (1.6), gsplat-aa, gsplat-1.5,
    /// gsplat-1.5-aa, gsplat-ut, mip-splatting, brush, brush-aa, 2dgs or gsplat-2dgs [default: the profile that the scene
    /// file names, else inria]
    #[arg(long, value_name = "NAME", value_parser = Profile::named)]
    profile: Option<Profile>,
    #[command(flatten)]
    pub(super) host: HostFlags,
}

impl DrawFlags {
    #[cfg(feature = "view")]
    pub(super) fn profile_words(&self) -> Vec<String> {
        self.profile.map(|profile| format!("--profile={}", profile.name)).into_iter().collect()
    }

    #[cfg(feature = "view")]
    pub(super) fn background_words(&self) -> Vec<String> {
        let flag = match self.background {
            None => None,
            Some(Background::Transparent) => Some("--background=transparent".to_owned()),
            Some(Background::Opaque([r, g, b])) => Some(format!("--background={r},{g},{b}")),
        };
        flag.into_iter().collect()
    }

    /// Returns the profile of the flag, else the one that the scene names (`hint`), else the default.
    pub(super) fn profile(&self, hint: Option<&'static str>, session: &Session) -> Result<Profile> {
        match (self.profile, hint) {
            (Some(profile), _) => Ok(profile),
            (None, Some(name)) => {
                session.remark(&format!(
                    "the scene was trained for profile {name}; --profile overrides it"
                ));
                Profile::named(name)
            }
            (None, None) => Ok(Profile::default()),
        }
    }

    /// [`Self::profile`] for commands that draw ellipsoids only.
    pub(super) fn profile_of_ellipsoids(
        &self,
        hint: Option<&'static str>,
        session: &Session,
    ) -> Result<Profile> {
        let (profile, warning) = Profile::for_ellipsoids(self.profile, hint)?;
        let Some(warning) = warning else { return self.profile(hint, session) };
        session.warn(warning);
        Ok(profile)
    }
}

/// Flags for the configuration of the emulated GPU.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Emulated GPU")]
pub(super) struct GpuFlags {
    /// Configuration to start from: vr-pipe (the GPU simulated in the paper), orin (Jetson AGX Orin), orin-30w (in its mode
    /// of 30 W), ampere-gpc (one graphics processing cluster of a GA102), rtx-a6000 (a whole GA102), h100 and h200 (their shader
    /// cores), emerald-example (vr-pipe with a slower raster) or measured-rop (vr-pipe with an H200's relative rates of
    /// tests and shading); for sim and bench also several, separated by commas
    #[arg(long, value_name = "NAME", default_value = PRESETS[0].name)]
    pub(super) preset: String,
    /// TOML file with values that replace values of the preset: the output of --config-dump or a part of it;
    /// "-" reads standard input; for sim and bench, each of several files is a configuration of its own
    #[arg(long, value_name = "FILE.toml")]
    config: Vec<PathBuf>,
    /// Set one field, after the preset and the file, as in tc.bins=64; may be repeated. For sim and bench,
    /// several values (tc.bins=8,16,32) are a sweep: every combination is run. --config-dump of sim and
    /// mesh lists all fields
    #[arg(long, value_name = "unit.field=value")]
    set: Vec<String>,
}

impl GpuFlags {
    /// Returns the configuration: the preset, overlaid by the file, then by the assignments of `--set`.
    pub(super) fn config(&self) -> Result<Config> {
        self.overlaid(self.preset()?, Config::overlaid, Config::with)
    }

    /// Returns every combination of presets, files and `--set` values.
    pub(super) fn configurations(&self, session: &Session) -> Result<Vec<Configuration>> {
        let mut configurations = Vec::new();
        for preset in self.preset.split(',').map(str::trim) {
            let config = session.base().extended(preset).map_err(|e| e.about("--preset"))?;
            let base = Configuration::new(preset, config)?;
            if self.config.is_empty() {
                configurations.push(base.clone());
            }
            for path in &self.config {
                let name = path.display().to_string();
                let config = base.config.overlaid(&read_text(path, "a configuration")?, &name)?;
                configurations.push(Configuration {
                    name: (self.config.len() > 1).then_some(name),
                    ..Configuration::new(preset, config)?
                });
            }
        }
        for assignment in &self.set {
            let all = swept(&configurations, assignment);
            configurations = all.map_err(|e| about_set(e, assignment))?;
        }
        check_distinct(&configurations)?;
        Ok(configurations)
    }

    pub(super) fn words(&self) -> Vec<String> {
        let mut words = vec!["--preset".to_owned(), self.preset.clone()];
        for path in &self.config {
            words.extend(["--config".to_owned(), path.display().to_string()]);
        }
        for assignment in &self.set {
            words.extend(["--set".to_owned(), assignment.clone()]);
        }
        words
    }

    pub(super) fn is_given(&self) -> bool {
        let has_changes = !self.set.is_empty() || !self.config.is_empty();
        has_changes || self.preset != PRESETS[0].name
    }

    /// Warns of fields that differ from their preset and that no run of `methods` reads. `read` names the units and fields that
    /// other parts of the call read.
    pub(super) fn warn_of_unused(
        configurations: &[Configuration],
        methods: &[Method],
        read: &[&str],
        session: &Session,
    ) -> Result<()> {
        let mut named = Vec::new();
        for configuration in configurations {
            let preset = session.base().extended(&configuration.preset)?;
            for field in configuration.config.unused_by(methods, &preset) {
                let is_of = |part: &&str| {
                    field
                        .name
                        .strip_prefix(*part)
                        .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
                };
                if read.iter().any(is_of) || named.contains(&field) {
                    continue;
                }
                session.warn(&unused_warning(&field));
                named.push(field);
            }
        }
        Ok(())
    }

    pub(super) fn mesh_config(&self) -> Result<MeshConfig> {
        self.overlaid(self.mesh_preset()?, MeshConfig::overlaid, MeshConfig::with)
    }

    fn mesh_preset(&self) -> Result<MeshConfig> {
        Ok(MeshConfig { gpu: self.preset()?, ..MeshConfig::default() })
    }

    /// [`Self::warn_of_unused`] for frames of meshes, of which only timed ones read the configuration.
    pub(super) fn warn_of_unused_mesh(
        &self,
        frames: &MergingSettings,
        session: &Session,
    ) -> Result<()> {
        if !frames.cycles && self.preset != PRESETS[0].name {
            session.warn(&format!("--preset {} has no effect without --cycles", self.preset));
        }
        let unused = frames.unused_fields(&self.mesh_preset()?)?;
        unused.iter().for_each(|field| session.warn(&unused_warning(field)));
        Ok(())
    }

    pub(super) fn files(&self) -> impl Iterator<Item = &Path> {
        self.config.iter().map(PathBuf::as_path)
    }

    fn preset(&self) -> Result<Config> {
        Config::preset(&self.preset).map_err(|e| e.about("--preset"))
    }

    fn overlaid<T>(
        &self,
        mut config: T,
        overlaid: fn(&T, &str, &str) -> Result<T>,
        with: fn(&T, &str) -> Result<T>,
    ) -> Result<T> {
        if let [_, second, ..] = self.config.as_slice() {
            let expected = "one file";
            return Err(Error::argument(
                "--config",
                expected,
                format!("{} as a second one", second.display()),
            ));
        }
        if let Some(path) = self.config.first() {
            config = overlaid(
                &config,
                &read_text(path, "a configuration")?,
                &path.display().to_string(),
            )?;
        }
        for assignment in &self.set {
            config = with(&config, assignment).map_err(|e| about_set(e, assignment))?;
        }
        Ok(config)
    }
}

/// Names the flag in an error about an assignment. An error about a field stays unchanged.
fn about_set(error: Error, assignment: &str) -> Error {
    match &error {
        Error::Argument { what, .. } if what.starts_with(ASSIGNMENT) => {
            let flag = format!("--set {assignment}{}", &what[ASSIGNMENT.len()..]);
            error.about(&flag)
        }
        _ => error,
    }
}

/// Flags for the methods to emulate, and the emulated GPU.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Emulation")]
pub(super) struct EmulationFlags {
    /// Methods to run, separated by commas. Variants of the pipeline: baseline, qm (quad merging), het
    /// (early termination), het+qm, tgc (tile-grid coalescing), qru (quad reordering), other combinations
    /// joined by +, or all, with qru and het+qru. Software on the shader cores: compute (tile lists by oriented box) or
    /// compute-aabb (by square), with the profile's stop rule or, as in compute:none and compute:hw,
    /// without a stop rule or with the hardware's. Blending in the fragment shader: shader-blend (without order)
    /// or interlock (in critical sections). A tile-based GPU: tile-gpu, tile-gpu+het, tile-gpu+qm, tile-gpu+het+qm, or
    /// framebuffer-fetch (blending in the shader from the tile). imitated:het, imitated:qm or imitated:het+qm: additions imitated by
    /// stencil test and shader. gscore: an accelerator. paper: all of these but the tile-based GPU.
    /// multipass:N: the baseline in N passes, with a stencil update between two passes that terminates
    /// pixels
    #[arg(
        long = "method",
        aliases = ["variant", "unit"],
        value_name = "METHOD",
        value_delimiter = ',',
        default_value = "baseline,qm,het,het+qm,tgc"
    )]
    pub(super) methods: Vec<String>,
    #[command(flatten)]
    pub(super) gpu: GpuFlags,
}

pub(super) fn named_methods(names: &[String], session: &Session) -> Result<Vec<Method>> {
    Method::parse_all_of(names, session.base()).map_err(|e| e.about("--method"))
}
