//! The flags that say how to draw, checked. `render` and `sim` share most of them.

use super::Verbosity;
use super::frames::Backend;
use crate::error::{Error, Result};
use crate::math::SimdLevel;
use crate::shading::{Profile, StopRule};

/// How to draw, apart from where to look, whatever draws.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Rendering")]
pub(super) struct SharedFlags {
    /// What shows where nothing covers a pixel: R,G,B from 0 to 1, or "transparent" [default:
    /// 0,0,0 for .png, transparent for .exr and .npy]
    #[arg(long, value_name = "R,G,B|transparent", value_parser = parse_background)]
    pub(super) background: Option<Background>,
    /// The renderer to agree with: inria, inria-aa, gsplat, gsplat-aa, mip-splatting, brush or
    /// brush-aa [default: what the scene's file says it was trained for, else inria]
    #[arg(long, value_name = "NAME")]
    profile: Option<String>,
    #[command(flatten)]
    host: HostFlags,
}

/// What of the host to use.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct HostFlags {
    /// Threads; 0 for one a core
    #[arg(long, value_name = "N", default_value_t = 0)]
    threads: usize,
    /// Vector instructions: auto, avx512, avx2, sse4.2, sse2, neon
    #[arg(long, value_name = "LEVEL", default_value = "auto")]
    simd: String,
}

impl HostFlags {
    /// Checks them.
    ///
    /// # Errors
    /// [`Error::Caller`] about what this machine has not.
    pub(super) fn check(&self) -> Result<Settings> {
        check_threads(self.threads)?;
        Ok(Settings {
            level: SimdLevel::named(&self.simd)?,
            threads: self.threads,
        })
    }
}

/// How `render` draws, apart from where to look.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Rendering")]
pub(super) struct RenderFlags {
    #[command(flatten)]
    pub(super) shared: SharedFlags,
    /// When a pixel takes no more fragments, instead of the profile's rule: none, inria[:T],
    /// gsplat[:T] (before transmittance falls below T, or to it), hw[:ALPHA] (after ALPHA is
    /// reached)
    #[arg(long, value_name = "RULE")]
    stop: Option<String>,
    /// The renderer: the fast one; the scalar one in double precision that defines it; or the
    /// emulated graphics pipeline's baseline, whose colour buffer holds 16-bit floats and which no
    /// stop rule applies to (`sim` says more)
    #[arg(long, value_enum, default_value_t = Backend::Cpu)]
    pub(super) backend: Backend,
}

/// Checked flags.
#[derive(Debug, Clone, Copy)]
pub(super) struct Settings {
    pub(super) level: SimdLevel,
    threads: usize,
}

/// What shows where nothing covers a pixel.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Background {
    /// Nothing: the picture keeps its alpha.
    Transparent,
    /// A colour: red, green, blue.
    Opaque([f32; 3]),
}

/// Most threads that may be asked for.
const MAX_THREADS: usize = 4096;

impl SharedFlags {
    /// Checks what can be checked before the scene is read.
    pub(super) fn check(&self) -> Result<Settings> {
        if let Some(name) = &self.profile {
            named_profile(name)?;
        }
        self.host.check()
    }

    /// The profile: the flag's, else the scene's, else the default.
    pub(super) fn profile(
        &self,
        hint: Option<&'static str>,
        verbosity: Verbosity,
    ) -> Result<Profile> {
        match (&self.profile, hint) {
            (Some(name), _) => named_profile(name),
            (None, Some(name)) => {
                verbosity.remark(&format!(
                    "the scene was trained for profile {name}; --profile overrides"
                ));
                named_profile(name)
            }
            (None, None) => Ok(Profile::default()),
        }
    }
}

impl RenderFlags {
    /// Checks what can be checked before the scene is read.
    pub(super) fn check(&self) -> Result<Settings> {
        self.stop_rule()?;
        if self.backend == Backend::Gpu && self.stop.is_some() {
            return Err(Error::caller(
                "--stop",
                "--backend cpu or reference beside it",
                "--backend gpu, which no stop rule applies to",
            ));
        }
        self.shared.check()
    }

    /// The profile, as [`SharedFlags::profile`], with the flag's stop rule.
    pub(super) fn profile(
        &self,
        hint: Option<&'static str>,
        verbosity: Verbosity,
    ) -> Result<Profile> {
        let mut profile = self.shared.profile(hint, verbosity)?;
        if let Some(rule) = self.stop_rule()? {
            profile.stop = rule;
        }
        Ok(profile)
    }

    fn stop_rule(&self) -> Result<Option<StopRule>> {
        let parse = |text: &String| {
            StopRule::parse(text).ok_or_else(|| {
                Error::caller(
                    "--stop",
                    "none, inria[:T], gsplat[:T] or hw[:ALPHA] with T and ALPHA between 0 and 1",
                    text,
                )
            })
        };
        self.stop.as_ref().map(parse).transpose()
    }
}

impl Settings {
    /// A pool of the threads asked for.
    pub(super) fn pool(&self) -> Result<rayon::ThreadPool> {
        thread_pool(self.threads)
    }
}

fn check_threads(threads: usize) -> Result<()> {
    if threads > MAX_THREADS {
        let expected = format!("0 to {MAX_THREADS}");
        return Err(Error::caller("--threads", expected, threads.to_string()));
    }
    Ok(())
}

/// A pool of as many threads; 0 for one a core.
pub(super) fn thread_pool(threads: usize) -> Result<rayon::ThreadPool> {
    check_threads(threads)?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.map_err(|e| {
        Error::caller(
            "--threads",
            "as many threads as the system allows",
            e.to_string(),
        )
    })
}

/// The profile called `name`, as `--profile` takes it.
pub(super) fn named_profile(name: &str) -> Result<Profile> {
    Profile::named(name).ok_or_else(|| {
        let names = Profile::ALL.map(|p| p.name).join(", ");
        Error::caller("--profile", format!("one of {names}"), name)
    })
}

pub(super) fn parse_background(text: &str) -> std::result::Result<Background, String> {
    if text == "transparent" {
        return Ok(Background::Transparent);
    }
    let channels: Option<Vec<f32>> = text
        .split(',')
        .map(|c| c.trim().parse().ok().filter(|c: &f32| c.is_finite()))
        .collect();
    let rgb = channels.and_then(|c| <[f32; 3]>::try_from(c).ok());
    rgb.map(Background::Opaque)
        .ok_or_else(|| "expected three numbers as in 0.1,0.2,0.3, or transparent".to_owned())
}
