//! Conifers and broad-leaved trees in autumn colours.

use super::{plan, terrain};
use crate::synth::light::{Grain, Material, Occluder};
use crate::synth::part::Part;
use crate::synth::random::{Rng, Vec3, fractal, step};
use crate::synth::surface::{Ellipsoid, Frustum};

const TRIES: u64 = 700;
const SPACING: f32 = 0.26;
const TIERS: u8 = 4;

pub(crate) fn all(seed: u64, occluders: &mut Vec<Occluder>) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut taken: Vec<Vec3> = Vec::new();
    for index in 0..TRIES {
        let mut rng = Rng::new(seed ^ 0x7e5, index);
        let (x, z) = (rng.range(-4.2, 4.2), rng.range(-3.4, 3.4));
        let foot = Vec3::new(x, terrain::height(x, z), z);
        let wooded = fractal(foot * 0.8, 2, 61) + 0.3;
        let grows = (0.2..1.75).contains(&foot.y)
            && terrain::normal(x, z).y > 0.58
            && wooded > rng.range(-0.25, 0.35)
            && !plan::keeps_clear(x, z)
            && taken.iter().all(|t| (t - foot).norm() > SPACING);
        if !grows {
            continue;
        }
        taken.push(foot);
        let is_conifer = rng.unit() < step(0.25, 0.95, foot.y) * 0.75 + 0.2;
        let tree = if is_conifer { conifer } else { broadleaf };
        parts.extend(tree(foot, &mut rng, occluders));
    }
    parts
}

fn conifer(foot: Vec3, rng: &mut Rng, occluders: &mut Vec<Occluder>) -> Vec<Part> {
    let height = rng.range(0.5, 0.85);
    let girth = height * rng.range(0.2, 0.26);
    let green = Material::dull([0.035, 0.11, 0.045])
        .mixed(Material::dull([0.09, 0.14, 0.03]), rng.unit())
        .with_grain(Grain::Foliage);
    occluders.push(Occluder::round(
        foot + Vec3::y() * (0.5 * height),
        Vec3::new(girth * 0.8, 0.5 * height, girth * 0.8),
        0.85,
    ));
    let mut parts = vec![trunk(foot, height * 0.3, 0.025)];
    for tier in 0..TIERS {
        let t = f32::from(tier) / f32::from(TIERS);
        let cone = Frustum::new(
            foot + Vec3::y() * (height * (0.15 + 0.82 * t)),
            height * 0.34,
            [girth * (1.0 - 0.8 * t), 0.01],
        );
        parts.push(Part::new(cone, 3.6, move |sample, _| {
            let up = (sample.position.y - foot.y) / height;
            green.shaded(0.65 + 0.7 * up)
        }));
    }
    parts
}

fn broadleaf(foot: Vec3, rng: &mut Rng, occluders: &mut Vec<Occluder>) -> Vec<Part> {
    let height = rng.range(0.28, 0.46);
    let hues = [
        [0.16, 0.24, 0.04],
        [0.34, 0.26, 0.035],
        [0.46, 0.17, 0.03],
        [0.1, 0.2, 0.05],
        [0.5, 0.3, 0.04],
    ];
    let pick = hues
        .iter()
        .enumerate()
        .find(|(i, _)| rng.unit() * 5.0 < (*i as f32 + 1.0))
        .map_or(hues[0], |(_, hue)| *hue);
    let leaves = Material::dull(pick).with_grain(Grain::Foliage);
    let mut parts = vec![trunk(foot, height * 0.6, 0.03)];
    for blob in 0..3_u8 {
        let out = rng.direction().component_mul(&Vec3::new(0.4, 0.2, 0.4)) * height;
        let size = height * if blob == 0 { 0.48 } else { rng.range(0.26, 0.38) };
        let crown = foot + Vec3::y() * (height * 0.85);
        let centre = if blob == 0 { crown } else { crown + out };
        let radii = Vec3::new(1.0, 0.85, 1.0) * size;
        occluders.push(Occluder::round(centre, radii, 0.7));
        parts.push(Part::new(Ellipsoid::whole(centre, radii), 3.2, move |sample, _| {
            let up = (sample.position.y - centre.y) / size;
            leaves.shaded(0.85 + 0.25 * up)
        }));
    }
    parts
}

fn trunk(foot: Vec3, height: f32, radius: f32) -> Part {
    let pole = Frustum::new(foot - Vec3::y() * 0.03, height + 0.03, [radius, radius * 0.7]);
    Part::new(pole, 1.2, |_, rng| Material::dull([0.13, 0.085, 0.06]).shaded(rng.range(0.7, 1.2)))
}
