//! Projections of cameras: the mapping of points in view space to the picture plane, and its derivatives.

mod distortion;
mod fisheye;
mod plane_point;
mod projection;
mod rolling_shutter;
mod unscented;

pub use distortion::{DistortedLens, DistortionModel};
pub use fisheye::FisheyeLens;
pub use plane_point::PlanePoint;
pub use projection::Projection;
pub use rolling_shutter::{ReadoutDirection, RollingShutter};
pub use unscented::{SIGMA_POINTS, moments, sigma_points};
