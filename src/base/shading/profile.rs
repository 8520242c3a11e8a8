//! Profiles: the constants in which renderers of the same scene differ.

use std::fmt;

use crate::choice;
use crate::error::{Error, Result};

/// Alpha below which a fragment is skipped: one step of an 8-bit channel (3DGS reference rasterizer).
pub const ALPHA_CUT: f64 = 1.0 / 255.0;

/// Clamp of a ray's slopes x/z and y/z for the linearised projection.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum JacobianClamp {
    /// Clamps to this multiple of the tangent of half the field of view, on both sides of the axis.
    FovTangent(f64),
    /// Clamps to the edges relative to the principal point, plus this multiple of the tangent of half the field of view.
    EdgePlusTangent(f64),
    /// Clamps to the picture's edges, plus this fraction of its width and height.
    EdgePlusSide(f64),
}

/// Compensation of opacity for the low-pass filter, given the determinants of the 2D covariance before (`det`) and after
/// (`det'`) the filter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum OpacityFactor {
    /// No compensation.
    None,
    /// Factor `sqrt(max(floor, det / det'))`.
    Determinants {
        /// Lower bound of `det / det'`.
        floor: f64,
    },
}

choice! {
    /// Number by which splats are sorted, the least first.
    pub enum SplatOrder {
        /// Depth of the centre along the view, as trainers sort.
        Depth = "z",
        /// Distance of the centre from the camera, the default of `KHR_gaussian_splatting`.
        Distance = "distance",
    }
}

/// Rule for when a pixel accepts no more fragments.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum StopRule {
    /// Blend every fragment above the alpha cut.
    Never,
    /// Stop before a fragment that would leave a transmittance below this.
    Before(f64),
    /// Stop before a fragment that would leave a transmittance at or below this.
    BeforeOrAt(f64),
    /// Stop after a fragment that raises the accumulated alpha to this or above.
    After(f64),
}

impl StopRule {
    /// The transmittance at which a pixel stops; `None` for [`Self::Never`].
    pub fn threshold(self) -> Option<f64> {
        match self {
            Self::Never => None,
            Self::Before(threshold) | Self::BeforeOrAt(threshold) => Some(threshold),
            Self::After(opacity) => Some(1.0 - opacity),
        }
    }

    /// Whether a fragment that leaves the transmittance `left` stops its pixel, before it is blended or after.
    pub fn is_reached(self, left: f64) -> bool {
        match self {
            Self::Never => false,
            Self::Before(threshold) => left < threshold,
            Self::BeforeOrAt(threshold) => left <= threshold,
            Self::After(opacity) => 1.0 - left >= opacity,
        }
    }
}

/// A named set of the constants in which renderers differ.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Profile {
    /// Name in flags and outputs.
    pub name: &'static str,
    /// Depth in view space at or below which a splat is culled, in world units.
    pub near: f64,
    /// Whether a view that was chosen for a scene may lower the near plane, so that it cuts nothing off a small scene. False
    /// if the user names the near plane.
    pub is_near_limited: bool,
    /// Depth in view space above which a splat is culled, in world units; infinite for renderers without a far plane.
    pub far: f64,
    /// A splat is skipped if both half-widths of the box around its footprint, rounded up to whole pixels, are at most this
    /// radius. At 0, every splat is drawn.
    pub least_radius_px: f64,
    /// Clamp of the projection's Jacobian.
    pub jacobian_clamp: JacobianClamp,
    /// Variance added to both diagonal entries of the 2D covariance, in square pixels.
    pub low_pass_px2: f64,
    /// Compensation of opacity for the low-pass filter.
    pub opacity_factor: OpacityFactor,
    /// Largest alpha of a fragment.
    pub alpha_cap: f64,
    /// Rule by which a pixel stops accepting fragments.
    pub stop: StopRule,
    /// Whether splats are flat discs, whose falloff is taken where the ray of a pixel meets them (2DGS). Otherwise they are
    /// ellipsoids, whose covariance is projected.
    pub is_disc: bool,
    /// Whether the footprint of a splat comes from the projections of seven of its points (unscented transform), in place of
    /// the derivative of the projection at its centre.
    pub is_unscented: bool,
    /// Order of splats in pictures by pinholes and orthographic cameras; `None` for the order that the scene's file states, else
    /// by depth. Fisheyes have the order by distance unless this is the order by depth, with which splats beside and behind
    /// them are culled, as in gsplat. Panoramas have the order by distance.
    pub order: Option<SplatOrder>,
}

const INRIA: Profile = Profile {
    name: "inria",
    near: 0.2,
    is_near_limited: true,
    far: f64::INFINITY,
    least_radius_px: 0.0,
    jacobian_clamp: JacobianClamp::FovTangent(1.3),
    low_pass_px2: 0.3,
    opacity_factor: OpacityFactor::None,
    alpha_cap: 0.99,
    stop: StopRule::Before(1e-4),
    is_disc: false,
    is_unscented: false,
    order: None,
};

const LEAST_RATIO: f64 = 2.5e-5;

/// gsplat 1.6, the state of its main branch in 2026.
const GSPLAT: Profile = Profile {
    name: "gsplat",
    near: 0.01,
    far: 1e10,
    jacobian_clamp: JacobianClamp::EdgePlusTangent(0.3),
    stop: StopRule::BeforeOrAt(1e-4),
    ..INRIA
};

/// gsplat 1.5.3, the newest release in 2026. Releases 1.0 to 1.4 cap alpha at the same value.
const GSPLAT_1_5: Profile = Profile { name: "gsplat-1.5", alpha_cap: 0.999, ..GSPLAT };

/// Brush's near plane is not documented; 0.01 is the value of its ancestor gsplat (assumption).
const BRUSH: Profile = Profile {
    name: "brush",
    far: f64::INFINITY,
    jacobian_clamp: JacobianClamp::EdgePlusSide(0.15),
    alpha_cap: 0.999,
    ..GSPLAT
};

/// The published rasterizer of 2D Gaussian splatting.
const DISCS: Profile = Profile { name: "2dgs", is_disc: true, ..INRIA };

impl Profile {
    /// Every profile; the first is the default.
    pub const ALL: [Self; 12] = [
        INRIA,
        Self {
            name: "inria-aa",
            opacity_factor: OpacityFactor::Determinants { floor: LEAST_RATIO },
            ..INRIA
        },
        GSPLAT,
        Self {
            name: "gsplat-aa",
            opacity_factor: OpacityFactor::Determinants { floor: LEAST_RATIO },
            ..GSPLAT
        },
        GSPLAT_1_5,
        Self {
            name: "gsplat-1.5-aa",
            opacity_factor: OpacityFactor::Determinants { floor: 0.0 },
            ..GSPLAT_1_5
        },
        Self {
            name: "mip-splatting",
            low_pass_px2: 0.1,
            opacity_factor: OpacityFactor::Determinants { floor: 0.0 },
            ..INRIA
        },
        BRUSH,
        Self {
            name: "brush-aa",
            opacity_factor: OpacityFactor::Determinants { floor: 0.0 },
            ..BRUSH
        },
        DISCS,
        Self { name: "gsplat-2dgs", is_disc: true, ..GSPLAT_1_5 },
        Self { name: "gsplat-ut", is_unscented: true, ..GSPLAT },
    ];

    /// The profile with the near plane at `near`, in world units, also for views that were chosen for a scene.
    #[must_use]
    pub fn with_near(self, near: f64) -> Self {
        Self { near, is_near_limited: false, ..self }
    }

    /// The profile for splats among surfaces, which cut the blend at their depth: in the order by depth, whatever the scene's
    /// file states.
    ///
    /// # Errors
    /// [`Error::Argument`] for the order by distance.
    pub fn among_surfaces(self) -> Result<Self> {
        let is_distance = self.order == Some(SplatOrder::Distance);
        Error::refuse_if(is_distance, "order", "the order z among surfaces", "distance")?;
        Ok(Self { order: Some(SplatOrder::Depth), ..self })
    }

    /// The profile for code that draws ellipsoids only: the default profile, with the same near plane, in place of a profile
    /// of discs; and then a warning about their pictures.
    #[must_use]
    pub fn of_ellipsoids(self) -> (Self, Option<&'static str>) {
        if !self.is_disc {
            return (self, None);
        }
        let warning = "the scene was trained as 2D Gaussians (2DGS), which are drawn as flat 3D Gaussians: the picture \
                       differs from that of the training, most where splats are seen from the side";
        let Self { near, is_near_limited, order, .. } = self;
        (Self { near, is_near_limited, order, ..INRIA }, Some(warning))
    }

    /// Chooses the profile for code that draws ellipsoids only: `named`, else the profile that the scene's file names, else
    /// the default. A file's profile of discs is replaced, with the warning of [`Self::of_ellipsoids`].
    ///
    /// # Errors
    /// [`Error::Argument`] if `named` is a profile of discs, or for an unknown name in the file.
    pub fn for_ellipsoids(
        named: Option<Self>,
        of_file: Option<&str>,
    ) -> Result<(Self, Option<&'static str>)> {
        match (named, of_file) {
            (Some(profile), _) => profile.refuse_discs().map(|()| (profile, None)),
            (None, Some(name)) => Self::named(name).map(Self::of_ellipsoids),
            (None, None) => Ok((Self::default(), None)),
        }
    }

    /// Refuses profiles of discs.
    ///
    /// # Errors
    /// [`Error::Argument`].
    pub fn refuse_discs(&self) -> Result<()> {
        let expected = "a profile of ellipsoids, such as inria";
        Error::refuse_if(self.is_disc, "profile", expected, self.name)
    }

    /// Refuses profiles whose footprints have no gradients: discs, and footprints from points.
    ///
    /// # Errors
    /// [`Error::Argument`].
    pub fn require_derivative(&self) -> Result<()> {
        self.refuse_discs()?;
        let expected = "a profile with gradients, such as gsplat";
        Error::refuse_if(self.is_unscented, "profile", expected, self.name)
    }

    /// The profile called `name`. `splatfacto`, which draws like gsplat 1.4 by default, is an alias of `gsplat-1.5`.
    pub fn named(name: &str) -> Result<Self> {
        let own = if name == "splatfacto" { GSPLAT_1_5.name } else { name };
        Self::ALL.into_iter().find(|p| p.name == own).ok_or_else(|| {
            let names = Self::ALL.map(|p| p.name);
            Error::unknown_name("profile", format!("one of {}", names.join(", ")), name, names)
        })
    }
}

impl Default for Profile {
    fn default() -> Self {
        INRIA
    }
}

impl StopRule {
    /// Parses `none`, `inria`, `inria:T`, `gsplat`, `gsplat:T`, `hw` or `hw:ALPHA`.
    pub fn parse(text: &str) -> Option<Self> {
        let (rule, threshold) = match text.split_once(':') {
            Some((rule, number)) => {
                (rule, Some(number.parse::<f64>().ok().filter(|t| *t > 0.0 && *t < 1.0)?))
            }
            None => (text, None),
        };
        match rule {
            "none" if threshold.is_none() => Some(Self::Never),
            "inria" => Some(Self::Before(threshold.unwrap_or(1e-4))),
            "gsplat" => Some(Self::BeforeOrAt(threshold.unwrap_or(1e-4))),
            "hw" => Some(Self::After(threshold.unwrap_or(0.996))),
            _ => None,
        }
    }
}

impl fmt::Display for StopRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Never => f.write_str("none"),
            Self::Before(threshold) => write!(f, "inria:{threshold}"),
            Self::BeforeOrAt(threshold) => write!(f, "gsplat:{threshold}"),
            Self::After(opacity) => write!(f, "hw:{opacity}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stop_rule_is_parsed_as_it_is_written() {
        for text in ["none", "inria:0.0001", "gsplat:0.25", "hw:0.996"] {
            assert_eq!(StopRule::parse(text).unwrap().to_string(), text);
        }
        assert_eq!(StopRule::parse("hw").unwrap().to_string(), "hw:0.996");
    }

    #[test]
    fn splatfacto_draws_as_a_release_of_gsplat() {
        let named = Profile::named("splatfacto").unwrap();
        assert_eq!(named, Profile::named("gsplat-1.5").unwrap());
        assert!(Profile::named("splatfact").is_err());
    }
}
