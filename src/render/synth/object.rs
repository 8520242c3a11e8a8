//! `object`: a vase of flowers on a round table top.

use super::light::{Grain, Light, Material, Occluder};
use super::part::{BuiltScene, Part, cameras};
use super::random::{Rng, Vec3, fractal};
use super::surface::{Disk, Ellipsoid, Frustum, perpendicular};

const PROFILE: [(f32, f32); 6] =
    [(0.0, 0.22), (0.12, 0.34), (0.38, 0.42), (0.66, 0.30), (0.84, 0.15), (0.96, 0.2)];
const TABLE_RADIUS: f32 = 1.6;
const FLOWERS: u64 = 17;
const PETALS: u16 = 9;

pub(crate) fn build(seed: u64) -> BuiltScene {
    let disk = Disk::new(Vec3::zeros(), TABLE_RADIUS, TABLE_RADIUS);
    let rim = Frustum::new(Vec3::new(0.0, -0.08, 0.0), 0.08, [TABLE_RADIUS; 2]);
    let mut parts = vec![
        Part::new(disk, 0.8, |sample, _| wood(sample.position)),
        Part::new(rim, 0.8, |sample, _| wood(sample.position).shaded(0.7)),
    ];
    parts.extend(vase());
    let mut occluders =
        vec![Occluder::round(Vec3::new(0.0, 0.45, 0.0), Vec3::new(0.42, 0.55, 0.42), 1.0)];
    for index in 0..FLOWERS {
        let mut rng = Rng::new(seed ^ 0xf10e, index);
        parts.extend(flower(&mut rng, index, &mut occluders));
    }
    BuiltScene {
        parts,
        light: Light {
            to_sun: Vec3::new(-0.55, 0.72, 0.42).normalize(),
            sun: Vec3::new(2.4, 2.1, 1.7),
            sky: [
                Vec3::new(0.5, 0.55, 0.65),
                Vec3::new(0.35, 0.33, 0.32),
                Vec3::new(0.2, 0.14, 0.1),
            ],
            exposure: 1.1,
            occluders,
            ground: None,
        },
        cameras: cameras(
            36.0,
            &[
                ("front", [1.4, 1.9, 4.2], [0.0, 0.75, 0.0]),
                ("left", [-4.0, 1.5, 1.9], [0.0, 0.75, 0.0]),
                ("above", [0.8, 4.4, 2.2], [0.0, 0.5, 0.0]),
                ("near", [0.7, 1.9, 1.9], [0.0, 1.2, 0.0]),
                ("back", [-1.6, 2.2, -4.0], [0.0, 0.75, 0.0]),
            ],
        ),
    }
}

fn wood(p: Vec3) -> Material {
    let wave = fractal(p.component_mul(&Vec3::new(1.2, 1.0, 5.0)), 3, 7);
    let rings = ((p.x + 0.35 * wave) * 26.0).sin() * 0.5 + 0.5;
    let dark = Material::dull([0.22, 0.1, 0.045]);
    dark.mixed(Material::dull([0.42, 0.22, 0.1]), rings * 0.8 + 0.2 * wave).with_gloss(0.5)
}

fn vase() -> impl Iterator<Item = Part> {
    PROFILE.windows(2).map(|pair| {
        let [(low, r0), (high, r1)] = [pair[0], pair[1]];
        let side = Frustum::new(Vec3::new(0.0, low, 0.0), high - low, [r0, r1]);
        Part::new(side, 1.6, |sample, _| {
            let p = sample.position;
            let wave = (p.x.atan2(p.z) * 9.0).sin() * 0.05;
            let white = (p.y - 0.4 + wave).abs() < 0.035 || (p.y - 0.85).abs() < 0.015;
            let glaze = if white {
                Material::dull([0.8, 0.78, 0.72])
            } else {
                Material::dull([0.03, 0.11, 0.32])
            };
            glaze.with_gloss(1.0)
        })
    })
}

fn flower(rng: &mut Rng, index: u64, occluders: &mut Vec<Occluder>) -> Vec<Part> {
    let angle = index as f32 * 2.399_963 + rng.range(-0.3, 0.3);
    let lean = 0.15 + 0.55 * (index as f32 / FLOWERS as f32).sqrt();
    let out = Vec3::new(angle.cos(), 0.0, angle.sin());
    let head = out * lean + Vec3::y() * (1.62 - 0.75 * lean * lean + rng.range(-0.08, 0.08));
    let hues = [[0.75, 0.06, 0.08], [0.85, 0.4, 0.03], [0.78, 0.62, 0.6], [0.45, 0.08, 0.4]];
    let hue =
        Material::dull(hues[usize::from(rng.unit() < 0.4) + 2 * usize::from(rng.unit() < 0.4)]);
    let up = (out * lean * 1.6 + Vec3::y()).normalize();
    let mut parts = vec![stem(head, out * 0.1), heart(head)];
    for petal in 0..PETALS {
        let turn = std::f32::consts::TAU * f32::from(petal) / f32::from(PETALS);
        let side = perpendicular(up);
        let away = side * turn.cos() + up.cross(&side) * turn.sin();
        let blade = Ellipsoid::whole(
            head + away * 0.1 + up * 0.02,
            Vec3::repeat(0.035) + away.abs() * 0.045,
        );
        parts.push(Part::new(blade, 2.5, move |sample, rng| {
            let tip = (sample.position - head).norm() * 5.0;
            hue.shaded(0.6 + 0.4 * tip + rng.range(-0.08, 0.08))
        }));
    }
    occluders.push(Occluder::round(head, Vec3::repeat(0.15), 0.8));
    parts
}

fn heart(head: Vec3) -> Part {
    let ball = Ellipsoid::ball(head, 0.055);
    Part::new(ball, 2.5, |_, rng| Material::dull([0.6, 0.36, 0.03]).shaded(rng.range(0.5, 1.1)))
}

fn stem(head: Vec3, foot: Vec3) -> Part {
    let foot = foot + Vec3::y() * 0.85;
    let spindle =
        Ellipsoid::whole((foot + head) / 2.0, (head - foot).abs() / 2.0 + Vec3::repeat(0.03));
    Part::new(spindle, 0.7, |_, rng| {
        Material::dull([0.06, 0.2, 0.04]).with_grain(Grain::Foliage).shaded(rng.range(0.6, 1.3))
    })
}
