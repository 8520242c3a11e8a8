//! Surfaces on which splats lie. Each maps the unit square to its points, uniformly by area.

use std::f32::consts::{PI, TAU};

use super::light::Occluder;
use super::random::{Rng, Vec3};

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct SurfaceSample {
    pub(crate) position: Vec3,
    pub(crate) normal: Vec3,
    /// Unit tangent, such as the direction of grain or planks.
    pub(crate) along: Vec3,
    /// Distance between splats at this point, relative to the rest of the surface.
    pub(crate) stretch: f32,
}

pub(crate) trait SampledSurface: Send + Sync {
    /// Area in square units, divided by the square of the stretch.
    fn area(&self) -> f32;
    /// Returns the point at `uv`, both in 0 to 1. Surfaces that reject points draw others with `rng`.
    fn at(&self, uv: [f32; 2], rng: &mut Rng) -> SurfaceSample;
}

/// Parallelogram whose normal is `u x v`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Parallelogram {
    pub(crate) corner: Vec3,
    pub(crate) u: Vec3,
    pub(crate) v: Vec3,
}

impl Parallelogram {
    pub(crate) fn new(corner: Vec3, u: Vec3, v: Vec3) -> Self {
        Self { corner, u, v }
    }
}

impl SampledSurface for Parallelogram {
    fn area(&self) -> f32 {
        self.u.cross(&self.v).norm()
    }

    fn at(&self, [u, v]: [f32; 2], _: &mut Rng) -> SurfaceSample {
        SurfaceSample {
            position: self.corner + self.u * u + self.v * v,
            normal: self.u.cross(&self.v).normalize(),
            along: self.u.normalize(),
            stretch: 1.0,
        }
    }
}

/// Half of a parallelogram, with the same normal.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Triangle(pub(crate) Parallelogram);

impl SampledSurface for Triangle {
    fn area(&self) -> f32 {
        self.0.area() / 2.0
    }

    fn at(&self, [u, v]: [f32; 2], rng: &mut Rng) -> SurfaceSample {
        let is_beyond = u + v > 1.0;
        self.0.at([u, v].map(|t| if is_beyond { 1.0 - t } else { t }), rng)
    }
}

/// Ellipsoid with axes along x, y and z, or its part above a height.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ellipsoid {
    pub(crate) centre: Vec3,
    pub(crate) radii: Vec3,
    /// Share of the height omitted at the bottom, 0 to 1.
    pub(crate) cut: f32,
}

impl Ellipsoid {
    pub(crate) fn whole(centre: Vec3, radii: Vec3) -> Self {
        Self { centre, radii, cut: 0.0 }
    }

    pub(crate) fn ball(centre: Vec3, radius: f32) -> Self {
        Self::whole(centre, Vec3::repeat(radius))
    }
}

impl SampledSurface for Ellipsoid {
    fn area(&self) -> f32 {
        // Knud Thomsen's formula, accurate to 1.1 %.
        let [a, b, c] = [self.radii.x, self.radii.y, self.radii.z].map(|r| r.powf(1.6075));
        let mean = (a * b + a * c + b * c) / 3.0;
        4.0 * PI * mean.powf(1.0 / 1.6075) * (1.0 - self.cut)
    }

    fn at(&self, [u, v]: [f32; 2], _: &mut Rng) -> SurfaceSample {
        let y = 1.0 - 2.0 * v * (1.0 - self.cut);
        let r = (1.0 - y * y).max(0.0).sqrt();
        let (sin, cos) = (u * TAU).sin_cos();
        let unit = Vec3::new(r * cos, y, r * sin);
        let normal = unit.component_div(&self.radii).normalize();
        SurfaceSample {
            position: self.centre + unit.component_mul(&self.radii),
            normal,
            along: perpendicular(normal),
            stretch: 1.0,
        }
    }
}

/// Side of an upright cone or truncated cone, without ends.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Frustum {
    pub(crate) base: Vec3,
    pub(crate) height: f32,
    pub(crate) radii: [f32; 2],
}

impl Frustum {
    pub(crate) fn new(base: Vec3, height: f32, radii: [f32; 2]) -> Self {
        Self { base, height, radii }
    }
}

impl SampledSurface for Frustum {
    fn area(&self) -> f32 {
        let [a, b] = self.radii;
        PI * (a + b) * self.height.hypot(a - b)
    }

    fn at(&self, [u, v]: [f32; 2], _: &mut Rng) -> SurfaceSample {
        let [a, b] = self.radii;
        // The square of the radius is uniform, since rings of equal area have to be equally likely.
        let radius = (a * a + (b * b - a * a) * v).max(0.0).sqrt();
        let t = if (a - b).abs() < 1e-6 { v } else { (radius - a) / (b - a) };
        let (sin, cos) = (u * TAU).sin_cos();
        let out = Vec3::new(cos, 0.0, sin);
        let up_slope = (out * (b - a) + Vec3::y() * self.height).normalize();
        SurfaceSample {
            position: self.base + out * radius + Vec3::y() * (self.height * t),
            normal: (out * self.height + Vec3::y() * (a - b)).normalize(),
            along: up_slope,
            stretch: 1.0,
        }
    }
}

/// Horizontal disk that faces up; splats beyond `even_radius` grow with the distance from its centre.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Disk {
    pub(crate) centre: Vec3,
    pub(crate) even_radius: f32,
    pub(crate) radius: f32,
}

impl Disk {
    pub(crate) fn new(centre: Vec3, even_radius: f32, radius: f32) -> Self {
        Self { centre, even_radius, radius }
    }

    fn areas(&self) -> [f32; 2] {
        let even = PI * self.even_radius * self.even_radius;
        [even, 2.0 * even * (self.radius / self.even_radius).ln()]
    }
}

impl SampledSurface for Disk {
    fn area(&self) -> f32 {
        self.areas().iter().sum()
    }

    fn at(&self, [u, v]: [f32; 2], _: &mut Rng) -> SurfaceSample {
        let [even, grown] = self.areas();
        let reached = v * (even + grown);
        let r = if reached < even {
            self.even_radius * (reached / even).sqrt()
        } else {
            self.even_radius * ((reached - even) / (2.0 * even)).exp()
        };
        let (sin, cos) = (u * TAU).sin_cos();
        SurfaceSample {
            position: self.centre + Vec3::new(r * cos, 0.0, r * sin),
            normal: Vec3::y(),
            along: Vec3::x(),
            stretch: (r / self.even_radius).max(1.0),
        }
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Block {
    pub(crate) base: Vec3,
    pub(crate) size: Vec3,
    /// Horizontal unit direction of the width.
    pub(crate) facing: Vec3,
}

impl Block {
    pub(crate) fn straight(base: [f32; 3], size: [f32; 3]) -> Self {
        Self { base: Vec3::from(base), size: Vec3::from(size), facing: Vec3::x() }
    }

    pub(crate) fn edges(&self) -> [Vec3; 3] {
        let depth = self.facing.cross(&Vec3::y());
        [self.facing * self.size.x, Vec3::y() * self.size.y, depth * self.size.z]
    }

    pub(crate) fn sides(&self) -> [Parallelogram; 4] {
        let [w, h, d] = self.edges();
        let corner = self.base - w / 2.0 - d / 2.0;
        [
            Parallelogram::new(corner + d, w, h),
            Parallelogram::new(corner + w, -w, h),
            Parallelogram::new(corner, d, h),
            Parallelogram::new(corner + w + d, -d, h),
        ]
    }

    pub(crate) fn faces(self) -> impl Iterator<Item = Parallelogram> {
        let [w, h, d] = self.edges();
        let top = Parallelogram::new(self.base - w / 2.0 - d / 2.0 + h, d, w);
        self.sides().into_iter().chain([top])
    }

    pub(crate) fn occluder(&self) -> Occluder {
        let [w, _, d] = self.edges();
        let half = (w.abs() + d.abs()) / 2.0;
        Occluder {
            centre: self.base + Vec3::y() * (self.size.y / 2.0),
            radii: Vec3::new(half.x, self.size.y / 2.0, half.z) * 1.15,
            // A corner of a cube is the square root of 3 half edges from the centre.
            own: 1.6,
            strength: 1.0,
        }
    }
}

pub(crate) fn perpendicular(n: Vec3) -> Vec3 {
    n.cross(&Vec3::ith(n.iamin(), 1.0)).normalize()
}
