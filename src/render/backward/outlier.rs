//! Gradients of the splats for which f32 is too inaccurate, by the definition.

use super::gradients::{Gradients, PlaneGradient};
use super::plane_splat::{PlaneSplat, PoseGradient};
use super::scene::ScalarScene;
use crate::cpu::RasterSums;
use crate::cpu::channels::{ChannelSettings, ChannelValues};
use crate::preprocess::{SplatRows, SplatSource, ViewTransform};
use quadrille_base::Result;
use quadrille_scene::SplatSlices;

/// Differentiates the projection of drawn splat `number` of `sums`, by its axes or by its covariance; returns the gradients of
/// this splat alone.
pub(super) fn outlier_gradients(
    view: &ViewTransform,
    splats: &SplatRows<'_>,
    channels: &ChannelSettings<'_>,
    sums: &RasterSums,
    number: usize,
    is_by_covariance: bool,
) -> Result<(Gradients, PoseGradient)> {
    let at = sums.indices[number] as usize;
    let (slices, stored) = (splats.slices(), splats.stored());
    let slices = SplatSlices {
        means: &slices.means[at..=at],
        rotations: &slices.rotations[at..=at],
        scales: &slices.scales[at..=at],
        opacities: &slices.opacities[at..=at],
        sh: &slices.sh[at * stored..][..stored],
    };
    let values = match channels.values {
        ChannelValues::Rows { values, channels } => {
            ChannelValues::Rows { values: &values[at * channels..][..channels], channels }
        }
        other => other,
    };
    let channels = ChannelSettings { values, ..*channels };
    let mut scene = ScalarScene::new(slices, splats.sh_degree(), &channels)?;
    if is_by_covariance {
        scene.shapes = scene.shapes.as_covariances();
    }
    let splat = PlaneSplat::project(&scene, view, 0, None);
    let count = channels.channels();
    let by_channels: Vec<f64> =
        sums.channels[number * count..][..count].iter().copied().map(f64::from).collect();
    let [log, uu, uv, vv] = sums.shapes[number].map(f64::from);
    let [u_per_x, u_per_y, v_per_y] = splat.whitening(view);
    // Moments of the offsets in pixels.
    let yy = vv / (v_per_y * v_per_y);
    let xy = (uv / v_per_y + u_per_y * yy) / u_per_x;
    let xx = (uu + 2.0 * u_per_y * uv / v_per_y + u_per_y * u_per_y * yy) / (u_per_x * u_per_x);
    let plane = PlaneGradient {
        index: 0,
        mean2d: sums.means2d[number].map(f64::from),
        absolute_mean2d: [0.0; 2],
        conic: [-xx / 2.0, -xy, -yy / 2.0],
        opacity: log / splat.opacity,
    };
    let (mut gradients, mut pose) = (Gradients::zeros(&scene), PoseGradient::default());
    splat.add_gradients(&scene, view, &plane, &by_channels, &mut gradients, &mut pose);
    Ok((gradients, pose))
}
