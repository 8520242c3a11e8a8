//! ARCADE: a vaulted hall with four rows of columns, for measurements of occlusion, motion and defocus
//! on a full screen. It stands for the indoor scenes of "A Sort-based Deferred Shading Architecture for
//! Decoupled Sampling" (section 6), which are not published. All sizes, in metres, are assumptions.
//!
//! Parts that meet overlap, so that nothing shines through between them.

mod forms;
mod textures;

use super::instances::Rng;
use crate::files::{Material, bounds};
use crate::surface::owners::{Owners, PatchKeys};
use crate::surface::patches::{Geometry, PatchMaterials, Surface, SurfacePoint};
use forms::{Form, Profile};

const HALL_LENGTH: f32 = 48.0;
const HALF_WIDTH: f32 = 9.0;
const ROWS: [f32; 4] = [-6.0, -3.0, 3.0, 6.0];
const COLUMNS: u16 = 12;
const BAY: f32 = 4.0;
const COLUMN_HEIGHT: f32 = 2.55;
const SPRINGING: f32 = 4.2;
const ARCH_RADIUS: f32 = 1.6;
const ARCH_THICKNESS: f32 = 0.5;
/// Position of the axis in x, and radius, of each vault.
const VAULTS: [[f32; 2]; 5] = [[-7.5, 1.5], [-4.5, 1.5], [0.0, 3.0], [4.5, 1.5], [7.5, 1.5]];
const OVERLAP: f32 = 0.2;
const BALLS: u16 = 24;

const FLOOR_TILE: f32 = 4.0;
const MASONRY_TILE: f32 = 1.6;
const STONE_TILE: f32 = 2.0;

const FLOOR: u32 = 0;
const WALL: u32 = 1;
const PLASTER: u32 = 2;
const COLUMN: u32 = 3;
const FIRST_BALL: u32 = 4;
const BALL_COLOURS: [[f32; 3]; 4] =
    [[0.75, 0.12, 0.08], [0.1, 0.25, 0.7], [0.8, 0.55, 0.1], [0.12, 0.5, 0.2]];

#[derive(Debug)]
struct Sheet {
    form: Form,
    counts: [u16; 2],
    tile: f32,
    material: u32,
    draw: u32,
    first: usize,
}

impl Sheet {
    fn patches(&self) -> usize {
        let [columns, rows] = self.counts.map(usize::from);
        columns * rows
    }

    fn parameters(&self, patch: usize, u: f32, v: f32) -> [f32; 2] {
        let columns = usize::from(self.counts[0]);
        let own = patch - self.first;
        let [s, t] = [(own % columns) as f32 + u, (own / columns) as f32 + v];
        [s / f32::from(self.counts[0]), t / f32::from(self.counts[1])]
    }
}

#[derive(Debug, Default)]
struct Arcade {
    sheets: Vec<Sheet>,
    draw: u32,
}

/// Creates ARCADE; the seed places the balls.
pub(super) fn arcade(seed: u64) -> Surface {
    let mut arcade = Arcade::default();
    arcade.hall();
    arcade.next_draw();
    arcade.arches();
    arcade.next_draw();
    arcade.columns();
    for number in 0..BALLS {
        arcade.next_draw();
        arcade.ball(seed, number);
    }
    let patches = arcade.sheets.last().map_or(0, |s| s.first + s.patches());
    let parts = arcade.sheets.iter();
    let parts = parts.flat_map(|s| std::iter::repeat_n([s.material, s.draw], s.patches()));
    let materials = PatchMaterials {
        materials: materials(),
        textures: textures::textures(),
        parts: parts.collect(),
    };
    let owners = Owners::new(arcade.keys());
    Surface::new(arcade, patches, owners, materials)
}

fn materials() -> Vec<Material> {
    let material = |name: &str, base_colour, texture, shininess| Material {
        name: name.to_owned(),
        base_colour,
        base_texture: texture,
        shininess,
        ..Material::default()
    };
    let mut materials = vec![
        material("floor", [0.75, 0.72, 0.66], Some(0), 80.0),
        material("masonry", [0.78, 0.66, 0.5], Some(1), 0.0),
        material("plaster", [0.85, 0.8, 0.7], Some(2), 0.0),
        material("column", [0.8, 0.74, 0.68], Some(2), 20.0),
    ];
    let balls = (0..).zip(BALL_COLOURS).map(|(number, colour)| {
        // Balls of every second colour are checkered.
        material("ball", colour, (number % 2 == 0).then_some(0), 120.0)
    });
    materials.extend(balls);
    materials
}

impl Arcade {
    fn next_draw(&mut self) {
        self.draw += 1;
    }

    fn add(&mut self, form: Form, counts: [u16; 2], tile: f32, material: u32) {
        let first = self.sheets.last().map_or(0, |s| s.first + s.patches());
        self.sheets.push(Sheet { form, counts, tile, material, draw: self.draw, first });
    }

    fn flat(&mut self, corner: [f32; 3], sides: [[f32; 3]; 2], counts: [u16; 2], material: u32) {
        let tile = match material {
            FLOOR => FLOOR_TILE,
            WALL => MASONRY_TILE,
            _ => STONE_TILE,
        };
        self.add(Form::Flat { corner, sides }, counts, tile, material);
    }

    fn hall(&mut self) {
        let [half, length] = [HALF_WIDTH + OVERLAP, HALL_LENGTH + 2.0 * OVERLAP];
        let floor = [[2.0 * half, 0.0, 0.0], [0.0, length, 0.0]];
        self.flat([-half, -OVERLAP, 0.0], floor, [9, 24], FLOOR);
        let up = [0.0, 0.0, SPRINGING + 2.0 * OVERLAP];
        for (x, along) in [(-HALF_WIDTH, length), (HALF_WIDTH, -length)] {
            let y = if along > 0.0 { -OVERLAP } else { length - OVERLAP };
            // The wall at +x runs backwards, so that both face the hall.
            self.flat([x, y, -OVERLAP], [[0.0, along, 0.0], up], [24, 2], WALL);
        }
        let up = [0.0, 0.0, SPRINGING + 4.0];
        for (y, across) in [(0.0, -2.0 * half), (HALL_LENGTH, 2.0 * half)] {
            let x = if across > 0.0 { -half } else { half };
            self.flat([x, y, -OVERLAP], [[across, 0.0, 0.0], up], [9, 4], WALL);
        }
        for [x, radius] in VAULTS {
            let form = Form::Barrel { axis: 1, start: [x, -OVERLAP, SPRINGING], length, radius };
            self.add(form, [24, 6], STONE_TILE, PLASTER);
        }
    }

    fn arches(&mut self) {
        let top = SPRINGING + OVERLAP / 2.0;
        for x in ROWS {
            for number in 0..COLUMNS - 1 {
                self.arch(x, BAY * (f32::from(number) + 1.0), top);
            }
            for (from, to) in [(0.0, BAY / 2.0), (HALL_LENGTH - BAY / 2.0, HALL_LENGTH)] {
                self.beam(x, [from, to], top, true);
            }
        }
    }

    /// Adds an arch between two columns, with the wall above it.
    fn arch(&mut self, x: f32, middle: f32, top: f32) {
        let half = ARCH_THICKNESS / 2.0;
        for facing in [-1.0, 1.0] {
            let form = Form::Spandrel {
                centre: [x + facing * half, middle, COLUMN_HEIGHT],
                radius: ARCH_RADIUS,
                top,
                facing,
            };
            self.add(form, [4, 1], MASONRY_TILE, WALL);
        }
        let form = Form::Barrel {
            axis: 0,
            start: [x - half, middle, COLUMN_HEIGHT],
            length: ARCH_THICKNESS,
            radius: ARCH_RADIUS,
        };
        self.add(form, [4, 1], MASONRY_TILE, WALL);
        let [from, to] = [middle - BAY / 2.0, middle + BAY / 2.0];
        self.beam(x, [from, middle - ARCH_RADIUS], top, false);
        self.beam(x, [middle + ARCH_RADIUS, to], top, false);
    }

    /// Adds a plane wall above the columns, with an underside if it `spans` a gap.
    fn beam(&mut self, x: f32, [from, to]: [f32; 2], top: f32, spans: bool) {
        let half = ARCH_THICKNESS / 2.0;
        let up = [0.0, 0.0, top - COLUMN_HEIGHT];
        let along = [0.0, to - from, 0.0];
        let back = [0.0, from - to, 0.0];
        self.flat([x + half, from, COLUMN_HEIGHT], [along, up], [1, 1], WALL);
        self.flat([x - half, to, COLUMN_HEIGHT], [back, up], [1, 1], WALL);
        if spans {
            let across = [ARCH_THICKNESS, 0.0, 0.0];
            self.flat([x - half, from, COLUMN_HEIGHT], [along, across], [1, 1], WALL);
        }
    }

    fn columns(&mut self) {
        let profile = |at_foot, slope, bulge, flare| Profile { at_foot, slope, bulge, flare };
        // Lower end, upper end and profile of the base, the shaft and the capital.
        let parts = [
            ([0.1, 0.36], profile(0.44, -0.11, 0.05, 0.0)),
            ([0.34, 2.07], profile(0.33, -0.05, 0.02, 0.0)),
            ([2.05, 2.42], profile(0.28, 0.0, 0.0, 0.16)),
        ];
        for x in ROWS {
            for number in 0..COLUMNS {
                let y = BAY * (f32::from(number) + 0.5);
                self.slab([x, y], 0.5, [-OVERLAP, 0.12], true);
                for ([low, high], profile) in parts {
                    let form = Form::Turned { foot: [x, y, low], height: high - low, profile };
                    self.add(form, [4, 1], STONE_TILE, COLUMN);
                }
                self.slab([x, y], 0.46, [2.4, COLUMN_HEIGHT + 0.02], false);
            }
        }
    }

    fn slab(&mut self, [x, y]: [f32; 2], half: f32, [low, high]: [f32; 2], has_upper: bool) {
        let up = [0.0, 0.0, high - low];
        for [dx, dy] in [[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]] {
            // The side faces (dx, dy) and extends to the left of that direction.
            let corner = [x + half * (dx + dy), y + half * (dy - dx), low];
            self.flat(corner, [[-2.0 * half * dy, 2.0 * half * dx, 0.0], up], [1, 1], COLUMN);
        }
        let [a, b] = [[2.0 * half, 0.0, 0.0], [0.0, 2.0 * half, 0.0]];
        let (z, sides) = if has_upper { (high, [a, b]) } else { (low, [b, a]) };
        self.flat([x - half, y - half, z], sides, [1, 1], COLUMN);
    }

    fn ball(&mut self, seed: u64, number: u16) {
        let mut rng = Rng::new(seed, number.into());
        let radius = rng.range(0.25, 0.5);
        let is_high = number % 3 == 2;
        // Balls lie along the axes of the vaults beside the nave, or on the sides of the nave.
        let x = match number % 4 {
            0 => rng.range(4.0, 5.0),
            1 => rng.range(-5.0, -4.0),
            2 => rng.range(2.0, 2.2),
            _ => rng.range(-2.2, -2.0),
        };
        let y = BAY * (f32::from(number) + 1.0) / 2.2 + rng.range(-0.3, 0.3);
        let z = if is_high { rng.range(3.2, 3.8) } else { radius };
        let material = FIRST_BALL + u32::from(number) % 4;
        let [i, j, k] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        for axes in [[i, j], [j, i], [j, k], [k, j], [k, i], [i, k]] {
            self.add(Form::BallFace { centre: [x, y, z], radius, axes }, [1, 1], radius, material);
        }
    }

    fn keys(&self) -> impl Iterator<Item = PatchKeys<[Corner; 2], Corner>> {
        (0_u32..).zip(&self.sheets).flat_map(|(number, sheet)| {
            let [columns, rows] = sheet.counts;
            let corner = move |x: u16, y: u16| {
                let x = if sheet.form.is_closed() { x % columns } else { x };
                (number, y, x)
            };
            (0..rows).flat_map(move |y| (0..columns).map(move |x| (x, y))).map(move |(x, y)| {
                let corners = [(0, 0), (1, 0), (1, 1), (0, 1)];
                PatchKeys::smooth(corners.map(|(dx, dy)| corner(x + dx, y + dy)))
            })
        })
    }

    fn sheet(&self, patch: usize) -> &Sheet {
        &self.sheets[self.sheets.partition_point(|sheet| sheet.first <= patch).saturating_sub(1)]
    }
}

type Corner = (u32, u16, u16);

impl Geometry for Arcade {
    fn point(&self, patch: usize, u: f32, v: f32) -> SurfacePoint {
        let sheet = self.sheet(patch);
        let [s, t] = sheet.parameters(patch, u, v);
        let (position, normal) = sheet.form.point(s, t);
        SurfacePoint { position, normal }
    }

    fn uv(&self, patch: usize, u: f32, v: f32) -> [f32; 2] {
        let sheet = self.sheet(patch);
        let [s, t] = sheet.parameters(patch, u, v);
        let [across, up] = sheet.form.lengths().map(|length| length / sheet.tile);
        [s * across, (1.0 - t) * up]
    }

    fn patch_bounds(&self, patch: usize) -> [[f32; 3]; 2] {
        let sheet = self.sheet(patch);
        let steps = [0.0, 0.25, 0.5, 0.75, 1.0];
        let points = steps.into_iter().flat_map(|u| {
            steps.map(|v| {
                let [s, t] = sheet.parameters(patch, u, v);
                sheet.form.point(s, t).0
            })
        });
        let [least, greatest] = bounds(points);
        let beyond = sheet.form.bulge();
        [least.map(|x| x - beyond), greatest.map(|x| x + beyond)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patches_stay_in_their_boxes() {
        let surface = arcade(1);
        for patch in (0..surface.patches()).step_by(3) {
            let [least, greatest] = surface.patch_bounds(patch);
            for k in 0..100_u8 {
                let [u, v] = [f32::from(k % 10) / 9.0, f32::from(k / 10) / 9.0];
                let p = surface.position(patch, u, v);
                let is_inside = (0..3).all(|a| least[a] <= p[a] && p[a] <= greatest[a]);
                assert!(is_inside, "{patch}: {p:?} in {least:?} {greatest:?}");
            }
        }
    }

    #[test]
    fn normals_are_those_of_all_forms() {
        let surface = arcade(2);
        for patch in 0..surface.patches() {
            let at = |u: f32, v: f32| surface.position(patch, u, v);
            let minus = |a: [f32; 3], b: [f32; 3]| [0, 1, 2].map(|k| a[k] - b[k]);
            let du = minus(at(0.32, 0.6), at(0.28, 0.6));
            let dv = minus(at(0.3, 0.62), at(0.3, 0.58));
            let expected = crate::surface::patches::cross(du, dv);
            let expected = crate::surface::patches::unit(expected);
            let normal = surface.point(patch, 0.3, 0.6).normal;
            let along: f32 = (0..3).map(|k| expected[k] * normal[k]).sum();
            assert!(along > 0.99, "{patch}: {normal:?}, {expected:?}");
        }
    }

    #[test]
    fn columns_balls_and_draws_are_as_described() {
        let surface = arcade(1);
        assert_eq!(surface.draw(surface.patches() - 1), 2 + u32::from(BALLS));
        let mut sheets = Arcade::default();
        sheets.columns();
        let turned = sheets.sheets.iter().filter(|s| s.form.is_closed());
        assert_eq!(turned.count(), 3 * 48);
    }
}
