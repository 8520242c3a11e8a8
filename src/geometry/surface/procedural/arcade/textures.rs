//! Textures of ARCADE: a floor of two kinds of tiles, masonry, and rough stone.

use crate::files::Texture;
use quadrille_base::math::whole;

const SIDE: u32 = 256;
const TILES: u32 = 4;
const COURSES: u32 = 4;
const JOINT: u32 = 3;

pub(super) fn textures() -> Vec<Texture> {
    vec![texture(floor), texture(masonry), texture(stone)]
}

fn texture(grey: fn(u32, u32) -> f32) -> Texture {
    let texel = |k: u32| {
        let (x, y) = (k % SIDE, k / SIDE);
        let value = whole::<u8>(grey(x, y).clamp(0.0, 255.0));
        [value, value, value, u8::MAX]
    };
    Texture {
        width: SIDE,
        height: SIDE,
        texels: (0..SIDE * SIDE).map(texel).collect(),
        ..Texture::default()
    }
}

fn floor(x: u32, y: u32) -> f32 {
    let side = SIDE / TILES;
    let [column, row] = [x / side, y / side];
    if x % side < JOINT || y % side < JOINT {
        return 70.0;
    }
    let shade = if (column + row).is_multiple_of(2) { 215.0 } else { 90.0 };
    shade + 14.0 * cloud(x, y, 16) + 8.0 * hash(column, row, 1)
}

fn masonry(x: u32, y: u32) -> f32 {
    let height = SIDE / COURSES;
    let course = y / height;
    // Every second course is offset by half a stone.
    let x = x + if course.is_multiple_of(2) { 0 } else { height };
    let stone = x / (2 * height) % (SIDE / (2 * height));
    if x % (2 * height) < JOINT || y % height < JOINT {
        return 140.0;
    }
    190.0 + 22.0 * hash(stone, course, 2) + 10.0 * cloud(x % SIDE, y, 8)
}

fn stone(x: u32, y: u32) -> f32 {
    205.0 + 16.0 * cloud(x, y, 32) + 9.0 * cloud(x, y, 8)
}

/// Smooth periodic noise, -1 to 1, with knots `cell` texels apart.
fn cloud(x: u32, y: u32, cell: u32) -> f32 {
    let cells = SIDE / cell;
    let [column, row] = [x / cell, y / cell];
    let smooth = |at: u32| {
        let t = (at % cell) as f32 / cell as f32;
        t * t * (3.0 - 2.0 * t)
    };
    let knot = |dx: u32, dy: u32| hash((column + dx) % cells, (row + dy) % cells, cell);
    let [s, t] = [smooth(x), smooth(y)];
    let mix = |a: f32, b: f32, t: f32| a + (b - a) * t;
    mix(mix(knot(0, 0), knot(1, 0), s), mix(knot(0, 1), knot(1, 1), s), t)
}

fn hash(x: u32, y: u32, kind: u32) -> f32 {
    let mut bits =
        x.wrapping_mul(0x9e37_79b1) ^ y.wrapping_mul(0x85eb_ca77) ^ kind.wrapping_mul(0xc2b2_ae3d);
    bits = (bits ^ (bits >> 15)).wrapping_mul(0x2c1b_3c6d);
    bits = (bits ^ (bits >> 12)).wrapping_mul(0x297a_2d39);
    (bits >> 16) as f32 / 32768.0 - 1.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn textures_have_contrast_and_repeat() {
        for texture in textures() {
            let greys = texture.texels.iter().map(|t| t[0]);
            let (least, most) = greys.fold((255, 0), |(a, b), g| (g.min(a), g.max(b)));
            assert!(most - least > 30, "{least} to {most}");
        }
        assert!((cloud(SIDE - 1, 0, 32) - cloud(0, 0, 32)).abs() < 0.2);
    }
}
