//! The lighthouse and the cottages.

use nalgebra::Vector3;

use super::plan::{COTTAGES, FINE, LIGHTHOUSE};
use super::terrain;
use crate::synth::chance::{fractal, noise};
use crate::synth::light::Occluder;
use crate::synth::material::{Grain, Material};
use crate::synth::part::Part;
use crate::synth::solids::Block;
use crate::synth::surface::{Disk, Ellipsoid, Frustum, Quad, Triangle};

/// Height and radii of the lighthouse's tower.
const TOWER_HEIGHT: f32 = 1.55;
const TOWER_RADII: [f32; 2] = [0.23, 0.15];
/// Light from windows.
const WINDOW_LIGHT: [f32; 3] = [2.6, 1.35, 0.4];

pub(crate) fn all(occluders: &mut Vec<Occluder>) -> Vec<Part> {
    let mut parts = lighthouse(occluders);
    for (x, z, angle, width, roof) in COTTAGES {
        let facing = Vector3::new(f32::cos(angle), 0.0, f32::sin(angle));
        let base = Vector3::new(x, terrain::height(x, z) - 0.05, z);
        let size = Vector3::new(width, 0.34, 0.42);
        let block = Block { base, size, facing };
        let hearth = if width > 0.6 {
            Hearth::Lit
        } else {
            Hearth::Cold
        };
        parts.extend(cottage(block, roof, hearth));
        occluders.push(block.occluder());
    }
    parts
}

fn lighthouse(occluders: &mut Vec<Occluder>) -> Vec<Part> {
    let [x, z] = LIGHTHOUSE;
    let base = Vector3::new(x, terrain::height(x, z) - 0.08, z);
    let at = |y: f32| base + Vector3::y() * (TOWER_HEIGHT + y);
    let cone = Frustum::new;
    occluders.push(Occluder::round(
        base + Vector3::y() * (TOWER_HEIGHT / 2.0),
        Vector3::new(0.22, 1.0, 0.22),
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
        Part::new(tower, FINE, move |patch, _| {
            tower_paint(patch.position, base.y)
        }),
        Part::new(cone(at(0.0), 0.06, [0.16, 0.21]), FINE, move |_, _| iron),
        Part::new(deck, FINE, move |_, _| iron),
        Part::new(cone(at(0.07), 0.035, [0.215, 0.215]), FINE, move |_, _| {
            iron
        }),
        Part::new(lantern, FINE, |patch, _| {
            let bar = (patch.position.x * 40.0).sin() > 0.85;
            Material::glowing([5.0, 3.2, 1.1]).shaded(1.0).mixed(
                Material::dull([0.05, 0.05, 0.05]),
                if bar { 0.8 } else { 0.0 },
            )
        }),
        Part::new(cone(at(0.31), 0.16, [0.16, 0.01]), FINE, move |_, _| red),
        Part::new(knob, FINE, move |_, _| red),
        Part::new(halo, 0.22, |_, _| {
            Material::glowing([1.5, 0.95, 0.42]).with_grain(Grain::Cloud)
        }),
    ]
}

/// Whitewash with two red bands and small windows, weathered towards the foot.
fn tower_paint(p: Vector3<f32>, foot: f32) -> Material {
    let t = (p.y - foot) / TOWER_HEIGHT;
    let red = (0.3..0.48).contains(&t) || (0.68..0.86).contains(&t);
    let worn = 1.0 - 0.2 * (1.0 - t) * (0.5 + fractal(p * 8.0, 2, 71));
    let front = (p.z - LIGHTHOUSE[1]) > 0.0 && (p.x - LIGHTHOUSE[0]).abs() < 0.035;
    if front && ((0.52..0.6).contains(&t) || (0.16..0.24).contains(&t)) {
        return Material::glowing(WINDOW_LIGHT);
    }
    let lime = Material::dull([0.8, 0.78, 0.74]);
    let paint = if red {
        Material::dull([0.55, 0.055, 0.04])
    } else {
        lime
    };
    paint.shaded(worn)
}

/// Whether smoke rises from the chimney.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Hearth {
    Lit,
    Cold,
}

/// Walls with lit windows, a pitched roof, gables and a chimney.
fn cottage(block: Block, roof: [f32; 3], hearth: Hearth) -> Vec<Part> {
    let [w, h, d] = block.edges();
    let mut parts: Vec<Part> = block
        .sides()
        .into_iter()
        .map(|side| Part::new(side, FINE, move |patch, _| wall(patch.position, side)))
        .collect();
    let rise = Vector3::y() * 0.24;
    let eaves = block.base - w * 0.56 - d * 0.5 + h;
    let over = d * 0.08 - rise * 0.16;
    let slopes = [
        Quad::new(eaves + d + over, w * 1.12, rise - d * 0.5 - over),
        Quad::new(
            eaves - d * 0.08 - rise * 0.16 + w * 1.12,
            -w * 1.12,
            rise + d * 0.5 + d * 0.08 + rise * 0.16,
        ),
    ];
    for slope in slopes {
        parts.push(Part::new(slope, FINE, move |patch, _| {
            let p = patch.position;
            let course = ((p.y - block.base.y) * 110.0).sin() * 0.12;
            Material::dull(roof).shaded(1.0 + course + 0.35 * noise(p * 22.0, 73))
        }));
    }
    for (end, flip) in [(-0.5, 1.0), (0.5, -1.0)] {
        let gable = Triangle(Quad::new(
            block.base + w * end - d * (0.5 * flip) + h,
            d * flip,
            d * (0.5 * flip) + rise,
        ));
        parts.push(gable_part(gable));
    }
    let chimney = Block {
        base: block.base + h + w * 0.25 - d * 0.12 + rise * 0.4,
        size: Vector3::new(0.07, 0.26, 0.07),
        facing: block.facing,
    };
    if hearth == Hearth::Lit {
        parts.extend(smoke(chimney.base + Vector3::y() * chimney.size.y));
    }
    for face in chimney.faces() {
        parts.push(Part::new(face, FINE, |_, dice| {
            Material::dull([0.3, 0.15, 0.11]).shaded(dice.range(0.8, 1.1))
        }));
    }
    parts
}

/// Smoke that rises from `mouth` and drifts away from the sun.
fn smoke(mouth: Vector3<f32>) -> impl Iterator<Item = Part> {
    (0..5_u8).map(move |i| {
        let age = f32::from(i);
        let puff = Ellipsoid::whole(
            mouth + Vector3::new(0.028 * age * age, 0.03 + 0.13 * age, 0.01 * age),
            Vector3::new(0.02, 0.04, 0.02) * (1.0 + 0.4 * age),
        );
        Part::new(puff, 1.6 - 0.28 * age, move |_, _| {
            Material {
                emission: Vector3::new(0.3, 0.22, 0.2),
                ..Material::dull([0.4, 0.36, 0.36])
            }
            .with_grain(Grain::Cloud)
        })
    })
}

/// The wall under the ridge of the roof.
fn gable_part(gable: Triangle) -> Part {
    Part::new(gable, FINE, |_, dice| {
        Material::dull([0.66, 0.6, 0.5]).shaded(dice.range(0.9, 1.05))
    })
}

/// Plaster with a door in the middle of the long walls and windows beside it.
fn wall(p: Vector3<f32>, side: Quad) -> Material {
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
    let plaster = Material::dull([0.7, 0.64, 0.54]);
    plaster.shaded(1.0 + 0.1 * noise(p * 12.0, 75))
}
