//! The lighthouse, the cottages, the pier and the boat.

use super::plan::{COTTAGES, FINE, LIGHTHOUSE};
use super::terrain;
use crate::synth::light::{Grain, Material, Occluder};
use crate::synth::part::Part;
use crate::synth::random::{Vec3, fractal, noise};
use crate::synth::surface::{
    Block, Disk, Ellipsoid, Frustum, Parallelogram, SurfaceSample, Triangle,
};

const TOWER_HEIGHT: f32 = 1.55;
const TOWER_RADII: [f32; 2] = [0.23, 0.15];
const PIER: [[f32; 2]; 2] = [[0.62, 1.45], [0.95, 3.1]];
const BOAT: [f32; 3] = [-0.85, 0.0, 3.5];
const WINDOW_LIGHT: [f32; 3] = [2.6, 1.35, 0.4];

pub(crate) fn all(occluders: &mut Vec<Occluder>) -> Vec<Part> {
    let mut parts = lighthouse(occluders);
    for (x, z, angle, width, roof) in COTTAGES {
        let facing = Vec3::new(f32::cos(angle), 0.0, f32::sin(angle));
        let base = Vec3::new(x, terrain::height(x, z) - 0.05, z);
        let block = Block { base, size: Vec3::new(width, 0.34, 0.42), facing };
        parts.extend(cottage(block, roof, width > 0.6));
        occluders.push(block.occluder());
    }
    parts.extend(pier());
    parts.extend(boat(Vec3::from(BOAT)));
    parts
}

fn lighthouse(occluders: &mut Vec<Occluder>) -> Vec<Part> {
    let [x, z] = LIGHTHOUSE;
    let base = Vec3::new(x, terrain::height(x, z) - 0.08, z);
    let at = |y: f32| base + Vec3::y() * (TOWER_HEIGHT + y);
    let cone = Frustum::new;
    occluders.push(Occluder::round(
        base + Vec3::y() * (TOWER_HEIGHT / 2.0),
        Vec3::new(0.22, 1.0, 0.22),
        1.0,
    ));
    let tower = cone(base, TOWER_HEIGHT, TOWER_RADII);
    let iron = Material::dull([0.06, 0.06, 0.07]);
    let red = Material::dull([0.5, 0.05, 0.035]);
    let deck = Disk::new(at(0.06), 0.21, 0.21);
    let lantern = cone(at(0.06), 0.25, [0.1, 0.1]);
    let knob = Ellipsoid::ball(at(0.48), 0.03);
    let halo = Ellipsoid::ball(at(0.18), 0.2);
    vec![
        Part::new(tower, FINE, move |sample, _| tower_paint(sample.position, base.y)),
        Part::new(cone(at(0.0), 0.06, [0.16, 0.21]), FINE, move |_, _| iron),
        Part::new(deck, FINE, move |_, _| iron),
        Part::new(cone(at(0.07), 0.035, [0.215, 0.215]), FINE, move |_, _| iron),
        Part::new(lantern, FINE, |sample, _| {
            let bar = (sample.position.x * 40.0).sin() > 0.85;
            Material::glowing([5.0, 3.2, 1.1])
                .mixed(Material::dull([0.05, 0.05, 0.05]), if bar { 0.8 } else { 0.0 })
        }),
        Part::new(cone(at(0.31), 0.16, [0.16, 0.01]), FINE, move |_, _| red),
        Part::new(knob, FINE, move |_, _| red),
        Part::new(halo, 0.22, |_, _| Material::glowing([1.5, 0.95, 0.42]).with_grain(Grain::Cloud)),
    ]
}

fn tower_paint(p: Vec3, foot: f32) -> Material {
    let t = (p.y - foot) / TOWER_HEIGHT;
    let red = (0.3..0.48).contains(&t) || (0.68..0.86).contains(&t);
    let worn = 1.0 - 0.2 * (1.0 - t) * (0.5 + fractal(p * 8.0, 2, 71));
    let front = (p.z - LIGHTHOUSE[1]) > 0.0 && (p.x - LIGHTHOUSE[0]).abs() < 0.035;
    if front && ((0.52..0.6).contains(&t) || (0.16..0.24).contains(&t)) {
        return Material::glowing(WINDOW_LIGHT);
    }
    let paint = if red { [0.55, 0.055, 0.04] } else { [0.8, 0.78, 0.74] };
    Material::dull(paint).shaded(worn)
}

fn cottage(block: Block, roof: [f32; 3], is_heated: bool) -> Vec<Part> {
    let [w, h, d] = block.edges();
    let walls = block
        .sides()
        .map(|side| Part::new(side, FINE, move |sample, _| wall(sample.position, side)));
    let mut parts = Vec::from(walls);
    let rise = Vec3::y() * 0.24;
    let eaves = block.base - w * 0.56 - d * 0.5 + h;
    let over = d * 0.08 - rise * 0.16;
    let slopes = [
        Parallelogram::new(eaves + d + over, w * 1.12, rise - d * 0.5 - over),
        Parallelogram::new(
            eaves - d * 0.08 - rise * 0.16 + w * 1.12,
            -w * 1.12,
            rise + d * 0.5 + d * 0.08 + rise * 0.16,
        ),
    ];
    for slope in slopes {
        parts.push(Part::new(slope, FINE, move |sample, _| {
            let p = sample.position;
            let course = ((p.y - block.base.y) * 110.0).sin() * 0.12;
            Material::dull(roof).shaded(1.0 + course + 0.35 * noise(p * 22.0, 73))
        }));
    }
    for (end, flip) in [(-0.5, 1.0), (0.5, -1.0)] {
        let gable = Triangle(Parallelogram::new(
            block.base + w * end - d * (0.5 * flip) + h,
            d * flip,
            d * (0.5 * flip) + rise,
        ));
        parts.push(Part::new(gable, FINE, |_, rng| {
            Material::dull([0.66, 0.6, 0.5]).shaded(rng.range(0.9, 1.05))
        }));
    }
    let chimney = Block {
        base: block.base + h + w * 0.25 - d * 0.12 + rise * 0.4,
        size: Vec3::new(0.07, 0.26, 0.07),
        facing: block.facing,
    };
    if is_heated {
        parts.extend(smoke(chimney.base + Vec3::y() * chimney.size.y));
    }
    for face in chimney.faces() {
        parts.push(Part::new(face, FINE, |_, rng| {
            Material::dull([0.3, 0.15, 0.11]).shaded(rng.range(0.8, 1.1))
        }));
    }
    parts
}

fn smoke(mouth: Vec3) -> impl Iterator<Item = Part> {
    (0..5_u8).map(move |i| {
        let age = f32::from(i);
        let puff = Ellipsoid::whole(
            mouth + Vec3::new(0.028 * age * age, 0.03 + 0.13 * age, 0.01 * age),
            Vec3::new(0.02, 0.04, 0.02) * (1.0 + 0.4 * age),
        );
        Part::new(puff, 1.6 - 0.28 * age, move |_, _| {
            Material { emission: Vec3::new(0.3, 0.22, 0.2), ..Material::dull([0.4, 0.36, 0.36]) }
                .with_grain(Grain::Cloud)
        })
    })
}

fn wall(p: Vec3, side: Parallelogram) -> Material {
    let across = (p - side.corner).dot(&side.u) / side.u.norm_squared();
    let up = (p - side.corner).dot(&side.v) / side.v.norm_squared();
    let long = side.u.norm() > 0.43;
    let window = (0.42..0.8).contains(&up)
        && ((0.12..0.32).contains(&across) || (0.68..0.88).contains(&across));
    if window {
        return Material::glowing(WINDOW_LIGHT);
    }
    if long && (0.43..0.57).contains(&across) && up < 0.72 {
        return Material::dull([0.12, 0.2, 0.24]);
    }
    Material::dull([0.7, 0.64, 0.54]).shaded(1.0 + 0.1 * noise(p * 12.0, 75))
}

fn pier() -> Vec<Part> {
    let [start, end] = PIER.map(|[x, z]| Vec3::new(x, 0.09, z));
    let run = end - start;
    let across = run.cross(&Vec3::y()).normalize() * 0.26;
    let deck = Parallelogram::new(start - across * 0.5, across, run);
    let mut parts = vec![Part::new(deck, FINE, move |sample, _| {
        let along = (sample.position - start).norm() / 0.07;
        let gap = if along.fract() < 0.2 { 0.6 } else { 1.0 };
        Material::dull([0.42, 0.28, 0.18])
            .shaded(gap * (0.85 + 0.4 * noise(Vec3::repeat(along.floor()), 77)))
    })];
    for post in 0..7_u8 {
        for side in [-0.5, 0.5] {
            let foot = start + run * (0.1 + 0.15 * f32::from(post)) + across * side;
            let pole = Frustum::new(foot - Vec3::y() * 0.25, 0.3, [0.022, 0.022]);
            parts.push(Part::new(pole, FINE, |_, _| Material::dull([0.14, 0.1, 0.07])));
        }
    }
    parts
}

fn boat(at: Vec3) -> Vec<Part> {
    let hull = Ellipsoid::whole(at + Vec3::y() * 0.03, Vec3::new(0.34, 0.12, 0.13));
    let mast = Frustum::new(at + Vec3::y() * 0.08, 0.8, [0.014, 0.01]);
    let sail = |u: [f32; 3], v: [f32; 3], foot: [f32; 3]| {
        Triangle(Parallelogram::new(at + Vec3::from(foot), Vec3::from(u), Vec3::from(v)))
    };
    let canvas = |sample: &SurfaceSample| {
        let glow = 0.32 + 0.08 * noise(sample.position * 9.0, 79);
        Material {
            emission: Vec3::new(1.0, 0.62, 0.36) * glow,
            ..Material::dull([0.75, 0.68, 0.58])
        }
    };
    vec![
        Part::new(hull, FINE, move |sample, _| {
            if sample.position.y > 0.11 {
                Material::dull([0.75, 0.72, 0.66])
            } else {
                Material::dull([0.08, 0.16, 0.26]).with_gloss(0.5)
            }
        }),
        Part::new(mast, FINE, |_, _| Material::dull([0.25, 0.16, 0.09])),
        Part::new(
            sail([-0.26, 0.03, 0.06], [0.0, 0.66, 0.0], [-0.02, 0.2, 0.0]),
            FINE,
            move |sample, _| canvas(sample),
        ),
        Part::new(
            sail([0.27, -0.04, 0.03], [0.0, 0.56, 0.0], [0.02, 0.2, 0.0]),
            FINE,
            move |sample, _| canvas(sample),
        ),
    ]
}
