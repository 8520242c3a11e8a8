//! Columns of a PLY that no picture uses, and values that look as if they had another meaning.

use crate::activation::sigmoid;
use crate::splats::Splats;
use quadrille_base::math::narrow;

/// Columns that trainers of other methods write, the method, and what the picture lacks without them. A name stands for all
/// columns that begin with it.
const METHODS: [(&[&str], &str, &str); 4] = [
    (
        &["trbf_center", "trbf_scale", "motion_", "omega_"],
        "Spacetime Gaussians",
        "splats neither move nor fade with time",
    ),
    (&["t", "scale_t", "rot_r_"], "4D Gaussians", "splats of all times are drawn at once"),
    (&["velocity_"], "moving Gaussians", "splats do not move with time"),
    (
        &["base_color_", "roughness", "metallic", "incidents_"],
        "relightable Gaussians",
        "the colours of the training's light are drawn",
    ),
];

/// Least number of splats whose opacities show what they are: fewer may lie from 0 to 1 by chance.
pub(super) const LEAST_ROWS: usize = 100;

/// Warnings about columns of methods whose pictures differ from splats without these columns, one for each method.
pub(super) fn warnings(unused: &[String]) -> Vec<String> {
    let of_method = |(marks, method, effect): &(&[&str], &str, &str)| {
        let is_mark = |name: &&String| {
            let begins = |mark: &&str| mark.ends_with('_') && name.starts_with(*mark);
            marks.iter().any(|mark| name == mark || begins(mark))
        };
        let names: Vec<&str> = unused.iter().filter(is_mark).map(String::as_str).collect();
        (!names.is_empty())
            .then(|| format!("columns of {method} are not drawn ({}): {effect}", names.join(", ")))
    };
    METHODS.iter().filter_map(of_method).collect()
}

/// Whether stored opacities are all from 0 to 1, as if they were no logits.
pub(super) fn may_be_linear(opacities: &[f32]) -> bool {
    opacities.len() >= LEAST_ROWS && opacities.iter().all(|v| (0.0..=1.0).contains(v))
}

/// [`may_be_linear`] for splats, whose opacities are those of logits.
pub(super) fn were_linear(splats: &Splats) -> bool {
    splats.len() >= LEAST_ROWS && all_were_linear(splats)
}

/// Whether the logits of any number of splats are from 0 to 1.
pub(super) fn all_were_linear(splats: &Splats) -> bool {
    let [least, most] = [0.0, 1.0].map(|logit| narrow(sigmoid(logit)));
    splats.iter().all(|splat| (least..=most).contains(&splat.opacity))
}

/// Warning about stored opacities that are all from 0 to 1.
pub(super) fn linear_warning() -> String {
    "all its opacities are from 0 to 1: they may be opacities already, and are drawn as logits, as trainers store them"
        .to_owned()
}
