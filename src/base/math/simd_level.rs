//! Levels of vector instructions, selected once per run.

use fearless_simd::{Level, dispatch};

use crate::error::{Error, Result};

/// A level of vector instructions of this machine, from [`Self::best`], [`Self::all`] or [`Self::named`].
#[derive(Debug, Clone, Copy)]
pub struct SimdLevel(Level);

impl SimdLevel {
    /// The widest level of this machine.
    pub fn best() -> Self {
        Self(Level::new())
    }

    /// Every level of this machine, widest first.
    pub fn all() -> Vec<Self> {
        let best = Level::new();
        #[cfg(target_arch = "x86_64")]
        let levels = [
            best.as_avx512().map(Level::Avx512),
            best.as_avx2().map(Level::Avx2),
            best.as_sse4_2().map(Level::Sse4_2),
            best.as_sse2().map(Level::Sse2),
        ];
        #[cfg(not(target_arch = "x86_64"))]
        let levels = [Some(best)];
        levels.into_iter().flatten().map(Self).collect()
    }

    /// The level called `name` (see [`SimdLevel::name`]), or the widest one for `auto`.
    ///
    /// # Errors
    /// [`Error::Argument`] when this machine has no such level; it lists those it has.
    pub fn named(name: &str) -> Result<Self> {
        if name == "auto" {
            return Ok(Self::best());
        }
        let all = Self::all();
        all.iter().copied().find(|l| l.name() == name).ok_or_else(|| {
            let names: Vec<_> = all.iter().map(|l| l.name()).collect();
            let expected = format!("auto or a level of this machine ({})", names.join(", "));
            Error::unknown_name("SIMD level", expected, name, names)
        })
    }

    /// The level's name in options and results: `avx512`, `avx2`, `sse4.2`, `sse2`, `neon` or `scalar`.
    pub fn name(self) -> &'static str {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Level::Avx512(_) => "avx512",
            #[cfg(target_arch = "x86_64")]
            Level::Avx2(_) => "avx2",
            #[cfg(target_arch = "x86_64")]
            Level::Sse4_2(_) => "sse4.2",
            #[cfg(target_arch = "x86_64")]
            Level::Sse2(_) => "sse2",
            #[cfg(target_arch = "aarch64")]
            Level::Neon(_) => "neon",
            #[allow(unreachable_patterns, reason = "some targets have no other level")]
            _ => "scalar",
        }
    }

    /// Runs `f`, compiled for this level as far as it is inlined: plain loops over arrays use vectors of the level's width.
    /// No multiply-add is fused, so every level gives the same bits.
    #[inline(always)]
    pub fn run<R>(self, f: impl FnOnce() -> R) -> R {
        dispatch!(self.0, _simd => f())
    }

    /// Level of `fearless_simd` for the hot code of splat frames.
    #[inline(always)]
    pub fn frame_level(self) -> Level {
        self.0
    }

    /// Level of `fearless_simd` for all other code. SSE2 replaces SSE4.2, where few machines stop.
    #[inline(always)]
    pub fn level(self) -> Level {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            level @ Level::Sse4_2(_) => level.as_sse2().map_or(level, Level::Sse2),
            level => level,
        }
    }
}

impl Default for SimdLevel {
    fn default() -> Self {
        Self::best()
    }
}
