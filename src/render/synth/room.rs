//! `room`: a living room in afternoon light, with many surfaces that are near and hide each other.

use super::light::{Grain, Light, Material, Occluder};
use super::part::{BuiltScene, Part, cameras};
use super::random::{Rng, Vec3, fractal, noise};
use super::surface::{Block, Ellipsoid, Frustum, Parallelogram, SampledSurface};

/// Width, height and depth in metres; the origin is the centre of the floor.
const SIZE: [f32; 3] = [6.0, 2.6, 5.0];
/// Layers behind a wall: depth in metres, and density relative to the wall.
const LAYERS: [(f32, f32); 4] = [(0.0, 1.0), (0.05, 0.6), (0.14, 0.4), (0.3, 0.3)];
const BOOKS: u64 = 60;

pub(crate) fn build(seed: u64) -> BuiltScene {
    let mut parts = walls();
    let mut occluders = Vec::new();
    for (block, material) in furniture() {
        occluders.push(block.occluder());
        parts.extend(covered(block, material, 1.0));
    }
    parts.extend(books(seed));
    parts.extend(round_things(&mut occluders));
    BuiltScene {
        parts,
        light: Light {
            to_sun: Vec3::new(-0.62, 0.7, 0.35).normalize(),
            sun: Vec3::new(1.5, 1.3, 1.0),
            sky: [Vec3::new(0.5, 0.5, 0.52), Vec3::new(0.42, 0.4, 0.38), Vec3::new(0.3, 0.25, 0.2)],
            exposure: 1.2,
            occluders,
            ground: None,
        },
        cameras: cameras(
            60.0,
            &[
                ("door", [1.9, 1.5, 2.2], [-1.0, 0.8, -1.2]),
                ("sofa", [-2.2, 1.3, 1.9], [0.9, 0.7, -1.5]),
                ("window", [-2.3, 1.7, -2.0], [1.0, 0.7, 1.0]),
                ("table", [0.9, 1.2, 1.3], [0.0, 0.5, -0.2]),
            ],
        ),
    }
}

/// Floor, ceiling and walls that face inwards, with layers behind: trained scenes have splats there, seen through gaps.
fn walls() -> Vec<Part> {
    let [x, y, z] = [Vec3::x() * SIZE[0], Vec3::y() * SIZE[1], Vec3::z() * SIZE[2]];
    let low = -(x + z) / 2.0;
    let quad = Parallelogram::new;
    let ceiling: PaintAt = |_| Material::dull([0.75, 0.73, 0.7]);
    let faces: [(Parallelogram, f32, PaintAt); 6] = [
        (quad(low, z, x), 1.0, floor),
        (quad(low + y, x, z), 0.6, ceiling),
        (quad(low, x, y), 0.7, wall_paint),
        (quad(low + z + x, -x, y), 0.7, wall_paint),
        (quad(low + z, -z, y), 0.7, wall_paint),
        (quad(low + x, z, y), 0.7, wall_paint),
    ];
    let mut parts = Vec::new();
    for (face, density, paint) in faces {
        let outward = -face.u.cross(&face.v).normalize();
        for (depth, share) in LAYERS {
            let corner = face.corner + outward * depth;
            parts.push(Part::new(
                Parallelogram { corner, ..face },
                density * share,
                move |sample, _| paint(sample.position),
            ));
        }
    }
    parts
}

type PaintAt = fn(Vec3) -> Material;

fn floor(p: Vec3) -> Material {
    let rug = Vec3::new(p.x, 0.0, p.z + 0.2).norm();
    if rug < 1.35 {
        let ring = (rug * 9.0).sin() > 0.0;
        let weave = 0.9 + 0.1 * noise(p * 40.0, 3);
        let wool = if ring { [0.5, 0.12, 0.08] } else { [0.55, 0.45, 0.3] };
        return Material::dull(wool).shaded(weave);
    }
    let plank = (p.x / 0.18).floor();
    let tone = 0.8 + 0.25 * noise(Vec3::new(plank * 7.3, (p.z / 1.1).floor() * 3.1, 0.0), 1);
    let grain = 1.0 + 0.2 * fractal(Vec3::new(p.x * 40.0, 0.0, p.z * 3.0), 2, 2);
    let gap = if (p.x / 0.18).fract().abs() < 0.05 { 0.4 } else { 1.0 };
    Material::dull([0.45, 0.27, 0.13]).shaded(tone * grain * gap).with_gloss(0.5)
}

fn wall_paint(p: Vec3) -> Material {
    let [w, _, d] = SIZE;
    let plaster = Material::dull([0.55, 0.58, 0.5]).shaded(1.0 + 0.05 * noise(p * 6.0, 4));
    if p.y < 0.1 {
        return Material::dull([0.7, 0.68, 0.64]);
    }
    if p.x < -w / 2.0 + 0.01 && p.z.abs() < 1.1 && (0.8..2.2).contains(&p.y) {
        let bar = (p.z / 0.55).fract().abs() < 0.08 || (p.y - 1.5).abs() < 0.03;
        return if bar {
            Material::dull([0.8, 0.8, 0.78])
        } else {
            Material::glowing([1.3, 1.5, 1.9])
        };
    }
    if p.z < -d / 2.0 + 0.01 && (1.2..2.0).contains(&p.y) {
        let (frame, at) = ((p.x / 1.2).floor(), (p.x / 1.2).rem_euclid(1.0));
        if (0.2..0.8).contains(&at) {
            let hue = noise(p * 3.0 + Vec3::repeat(frame), 5);
            return Material::dull([0.4 + 0.3 * hue, 0.3, 0.4 - 0.3 * hue]);
        }
    }
    plaster
}

fn furniture() -> Vec<(Block, Material)> {
    let linen = Material::dull([0.18, 0.28, 0.36]);
    let cushion = Material::dull([0.6, 0.38, 0.1]);
    let oak = Material::dull([0.4, 0.24, 0.12]).with_gloss(0.4);
    let white = Material::dull([0.72, 0.7, 0.66]);
    let block = Block::straight;
    let mut all = vec![
        (block([-1.0, 0.1, -1.9], [2.4, 0.35, 0.95]), linen),
        (block([-1.0, 0.45, -2.25], [2.4, 0.5, 0.25]), linen),
        (block([-2.1, 0.1, -1.9], [0.25, 0.6, 0.95]), linen),
        (block([0.1, 0.1, -1.9], [0.25, 0.6, 0.95]), linen),
        (block([-1.6, 0.45, -2.0], [0.5, 0.4, 0.2]), cushion),
        (block([-0.3, 0.45, -2.0], [0.5, 0.4, 0.2]), cushion),
        (block([0.0, 0.38, -0.2], [1.3, 0.05, 0.7]), oak),
        (block([2.7, 0.0, -0.6], [0.4, 2.1, 0.04]), white),
        (block([2.7, 0.0, 1.6], [0.4, 2.1, 0.04]), white),
    ];
    for x in [-0.58, 0.58] {
        for z in [-0.48, 0.08] {
            all.push((block([x, 0.0, z], [0.06, 0.38, 0.06]), oak));
        }
    }
    for shelf in 0..5_u8 {
        all.push((block([2.7, f32::from(shelf) * 0.5 + 0.05, 0.5], [0.4, 0.03, 2.2]), white));
    }
    all
}

fn covered(block: Block, material: Material, density: f32) -> impl Iterator<Item = Part> {
    block.faces().map(move |face| {
        Part::new(face, density, move |sample, _| {
            material.shaded(1.0 + 0.12 * fractal(sample.position * 14.0, 2, 9))
        })
    })
}

fn books(seed: u64) -> impl Iterator<Item = Part> {
    (0..BOOKS).flat_map(move |index| {
        let mut rng = Rng::new(seed ^ 0xb00c, index);
        let (shelf, slot) = (index / 15, index % 15);
        let height = rng.range(0.25, 0.4);
        let base =
            [2.72, shelf as f32 * 0.5 + 0.08, -0.5 + slot as f32 * 0.13 + rng.range(0.0, 0.02)];
        let hue = Vec3::new(rng.unit(), rng.unit(), rng.unit()).map(|c| 0.05 + 0.5 * c * c);
        let block = Block::straight(base, [0.22, height, rng.range(0.06, 0.11)]);
        covered(block, Material::dull(hue.into()), 1.3)
    })
}

fn round_things(occluders: &mut Vec<Occluder>) -> Vec<Part> {
    let thing = |surface: Box<dyn SampledSurface>, material: Material| Part {
        surface,
        density: 1.4,
        paint: Box::new(move |_, rng: &mut Rng| material.shaded(rng.range(0.85, 1.1))),
    };
    let at = Vec3::new;
    let cone = |base, height, radii| Box::new(Frustum::new(base, height, radii));
    let ball = |centre, radius| Box::new(Ellipsoid::ball(centre, radius));
    let brass = Material::dull([0.5, 0.36, 0.12]).with_gloss(1.0);
    let shade =
        Material { emission: Vec3::new(1.1, 0.75, 0.4), ..Material::dull([0.7, 0.6, 0.45]) };
    let clay = Material::dull([0.5, 0.2, 0.1]);
    let leaf = Material::dull([0.05, 0.22, 0.05]).with_grain(Grain::Foliage);
    let bowl = Material::dull([0.7, 0.72, 0.75]).with_gloss(1.0);
    let orange = Material::dull([0.8, 0.3, 0.02]).with_gloss(0.6);
    let mut parts = vec![
        thing(cone(at(0.8, 0.0, -2.1), 1.4, [0.02, 0.02]), brass),
        thing(cone(at(0.8, 1.35, -2.1), 0.3, [0.24, 0.14]), shade),
        thing(cone(at(-2.5, 0.0, 1.2), 0.4, [0.17, 0.24]), clay),
    ];
    for (dx, y, r) in [(0.0, 0.9, 0.42), (0.15, 1.25, 0.32), (-0.12, 1.4, 0.25)] {
        let centre = at(-2.5 + dx, y, 1.2);
        parts.push(thing(ball(centre, r), leaf));
        occluders.push(Occluder::round(centre, Vec3::repeat(r), 0.7));
    }
    parts.push(thing(cone(at(0.1, 0.43, -0.2), 0.09, [0.08, 0.18]), bowl));
    for (dx, dz) in [(0.0, 0.06), (0.07, -0.04), (-0.07, -0.03)] {
        parts.push(thing(ball(at(0.1 + dx, 0.53, -0.2 + dz), 0.055), orange));
    }
    parts
}
