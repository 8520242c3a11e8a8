//! Surfaces that splats lie on. Each maps the unit square to itself, uniformly by area.

use std::f32::consts::{PI, TAU};

use nalgebra::Vector3;

use super::chance::Dice;

/// A point of a surface.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Patch {
    pub(crate) position: Vector3<f32>,
    /// Outward unit normal.
    pub(crate) normal: Vector3<f32>,
    /// A unit direction along the surface: that of grain, planks or needles.
    pub(crate) along: Vector3<f32>,
    /// Distance between splats here, relative to the rest of the surface.
    pub(crate) stretch: f32,
}

/// A surface of finite area.
pub(crate) trait Surface: Send + Sync {
    /// Area in square units, each part divided by the square of its stretch.
    fn area(&self) -> f32;
    /// The point at `uv`, both in 0 to 1. Surfaces that reject points draw others with `dice`.
    fn at(&self, uv: [f32; 2], dice: &mut Dice) -> Patch;
}

/// A parallelogram; its normal is `u x v`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Quad {
    pub(crate) corner: Vector3<f32>,
    pub(crate) u: Vector3<f32>,
    pub(crate) v: Vector3<f32>,
}

impl Quad {
    pub(crate) fn new(corner: Vector3<f32>, u: Vector3<f32>, v: Vector3<f32>) -> Self {
        Self { corner, u, v }
    }
}

impl Surface for Quad {
    fn area(&self) -> f32 {
        self.u.cross(&self.v).norm()
    }

    fn at(&self, [u, v]: [f32; 2], _: &mut Dice) -> Patch {
        Patch {
            position: self.corner + self.u * u + self.v * v,
            normal: self.u.cross(&self.v).normalize(),
            along: self.u.normalize(),
            stretch: 1.0,
        }
    }
}

/// A triangle; its normal is `u x v`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Triangle(pub(crate) Quad);

impl Surface for Triangle {
    fn area(&self) -> f32 {
        self.0.area() / 2.0
    }

    fn at(&self, [u, v]: [f32; 2], dice: &mut Dice) -> Patch {
        let folded = if u + v > 1.0 {
            [1.0 - u, 1.0 - v]
        } else {
            [u, v]
        };
        self.0.at(folded, dice)
    }
}

/// An ellipsoid with axes along x, y and z, or its part above a height.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ellipsoid {
    pub(crate) centre: Vector3<f32>,
    pub(crate) radii: Vector3<f32>,
    /// Share of the height left out at the bottom, 0 to 1.
    pub(crate) cut: f32,
}

impl Ellipsoid {
    pub(crate) fn whole(centre: Vector3<f32>, radii: Vector3<f32>) -> Self {
        let cut = 0.0;
        Self { centre, radii, cut }
    }

    pub(crate) fn ball(centre: Vector3<f32>, radius: f32) -> Self {
        Self::whole(centre, Vector3::repeat(radius))
    }
}

impl Surface for Ellipsoid {
    fn area(&self) -> f32 {
        // Knud Thomsen's formula, within 1.1 %.
        let [a, b, c] = [self.radii.x, self.radii.y, self.radii.z].map(|r| r.powf(1.6075));
        let mean = (a * b + a * c + b * c) / 3.0;
        4.0 * PI * mean.powf(1.0 / 1.6075) * (1.0 - self.cut)
    }

    fn at(&self, [u, v]: [f32; 2], _: &mut Dice) -> Patch {
        let y = 1.0 - 2.0 * v * (1.0 - self.cut);
        let r = (1.0 - y * y).max(0.0).sqrt();
        let (sin, cos) = (u * TAU).sin_cos();
        let unit = Vector3::new(r * cos, y, r * sin);
        let normal = unit.component_div(&self.radii).normalize();
        Patch {
            position: self.centre + unit.component_mul(&self.radii),
            normal,
            along: perpendicular(normal),
            stretch: 1.0,
        }
    }
}

/// The side of an upright cone, cut or whole, without its ends.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Frustum {
    /// Middle of the lower end.
    pub(crate) base: Vector3<f32>,
    pub(crate) height: f32,
    /// Radii of the lower and the upper end.
    pub(crate) radii: [f32; 2],
}

impl Frustum {
    pub(crate) fn new(base: Vector3<f32>, height: f32, radii: [f32; 2]) -> Self {
        Self {
            base,
            height,
            radii,
        }
    }
}

impl Surface for Frustum {
    fn area(&self) -> f32 {
        let [a, b] = self.radii;
        PI * (a + b) * self.height.hypot(a - b)
    }

    fn at(&self, [u, v]: [f32; 2], _: &mut Dice) -> Patch {
        let [a, b] = self.radii;
        // Rings of equal area: the square of the radius is uniform.
        let radius = (a * a + (b * b - a * a) * v).max(0.0).sqrt();
        let t = if (a - b).abs() < 1e-6 {
            v
        } else {
            (radius - a) / (b - a)
        };
        let (sin, cos) = (u * TAU).sin_cos();
        let out = Vector3::new(cos, 0.0, sin);
        let up_slope = (out * (b - a) + Vector3::y() * self.height).normalize();
        Patch {
            position: self.base + out * radius + Vector3::y() * (self.height * t),
            normal: (out * self.height + Vector3::y() * (a - b)).normalize(),
            along: up_slope,
            stretch: 1.0,
        }
    }
}

/// A level disk that faces up, or a ring, whose splats grow in proportion to the distance from its
/// centre beyond `even_radius`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Disk {
    pub(crate) centre: Vector3<f32>,
    pub(crate) even_radius: f32,
    pub(crate) radius: f32,
}

impl Disk {
    pub(crate) fn new(centre: Vector3<f32>, even_radius: f32, radius: f32) -> Self {
        Self {
            centre,
            even_radius,
            radius,
        }
    }

    fn areas(&self) -> [f32; 2] {
        let even = PI * self.even_radius * self.even_radius;
        [even, 2.0 * even * (self.radius / self.even_radius).ln()]
    }
}

impl Surface for Disk {
    fn area(&self) -> f32 {
        self.areas().iter().sum()
    }

    fn at(&self, [u, v]: [f32; 2], _: &mut Dice) -> Patch {
        let [even, grown] = self.areas();
        let reached = v * (even + grown);
        let r = if reached < even {
            self.even_radius * (reached / even).sqrt()
        } else {
            self.even_radius * ((reached - even) / (2.0 * even)).exp()
        };
        let (sin, cos) = (u * TAU).sin_cos();
        Patch {
            position: self.centre + Vector3::new(r * cos, 0.0, r * sin),
            normal: Vector3::y(),
            along: Vector3::x(),
            stretch: (r / self.even_radius).max(1.0),
        }
    }
}

/// A unit vector at a right angle to the unit vector `n`.
pub(crate) fn perpendicular(n: Vector3<f32>) -> Vector3<f32> {
    n.cross(&Vector3::ith(n.iamin(), 1.0)).normalize()
}
