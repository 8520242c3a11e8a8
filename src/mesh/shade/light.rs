//! Light that reaches the points of a surface: directed light from several sources, and ambient light.
//!
//! Strengths of directed light are irradiance over pi: the colour of a matt white surface that faces
//! the light. There are no shadows and no light from other surfaces.

use std::f64::consts::PI;

use nalgebra::Vector3;

use super::lanes::{Lanes, NO_LENGTH, Vectors, dot, normalized};
use super::points::SurfacePoints;
use quadrille_base::image::srgb::luminance;
use quadrille_base::math::narrow;
use quadrille_geometry::camera::MeshCamera;
use quadrille_geometry::files::{LightKind, PunctualLight};

/// Light of a scene that defines no lights.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub enum Lighting {
    /// Three lights that move with the camera, and a little ambient light.
    #[default]
    Headlight,
    /// A sky above, ground below and a sun, all fixed in the scene.
    Sky {
        /// Direction of the zenith.
        up: [f32; 3],
    },
}

/// Lights of [`Lighting::Headlight`]: direction towards the light in view space (x right, y down, z forward) and
/// colour. They move with the camera, so that every view of every scene is lit. All are assumptions: a key light from
/// the upper left, a fill light from the right, and a light from behind and above that emphasises outlines.
const HEADLIGHTS: [([f64; 3], [f32; 3]); 3] = [
    ([-0.45, -0.65, -0.6], [0.80, 0.77, 0.72]),
    ([0.85, -0.1, -0.5], [0.16, 0.19, 0.24]),
    ([0.2, -0.7, 0.7], [0.18, 0.18, 0.20]),
];
const HEADLIGHT_AMBIENT: [f32; 3] = [0.06, 0.065, 0.075];
/// Radiance of the sky and the ground of [`Lighting::Sky`]: assumptions.
const SKY: [f32; 3] = [0.30, 0.36, 0.45];
const GROUND: [f32; 3] = [0.12, 0.11, 0.10];
/// Colour of the sun, and the cosine of its angle from the zenith: assumptions.
const SUN: [f32; 3] = [0.75, 0.71, 0.64];
const SUN_HEIGHT: f64 = 0.7;
/// Minimum width of the horizon in reflections, as the sine of an angle: an assumption.
const HORIZON: f32 = 0.02;

#[derive(Debug, Clone, Copy)]
enum Source {
    Directional {
        towards: [f32; 3],
        colour: [f32; 3],
        has_highlight: bool,
    },
    Point {
        from_eye: [f32; 3],
        /// Intensity over pi.
        intensity: [f32; 3],
        /// Inverse of the range; 0 without a range.
        inverse_range: f32,
        /// Axis of the cone, with scale and offset of its angular falloff.
        spot: Option<([f32; 3], [f32; 2])>,
    },
}

#[derive(Debug, Clone, Copy)]
pub(super) struct IncomingLight {
    pub(super) towards: Vectors,
    pub(super) colour: Vectors,
    pub(super) has_highlight: bool,
}

#[derive(Debug, Clone, Copy)]
enum Ambient {
    Uniform([f32; 3]),
    /// Sky radiance around the unit vector `up`, ground radiance below.
    Hemispheres {
        up: [f32; 3],
    },
}

#[derive(Debug, Clone)]
pub(super) struct Lights {
    sources: Vec<Source>,
    ambient: Ambient,
}

impl Lights {
    pub(super) fn new(lighting: Lighting, view: &MeshCamera) -> Self {
        match lighting {
            Lighting::Headlight => Self::headlight(view),
            Lighting::Sky { up } => Self::sky(up),
        }
    }

    fn headlight(view: &MeshCamera) -> Self {
        let world_from_view = view.camera.view_from_world.transpose();
        let source = |(at, (direction, colour)): (usize, ([f64; 3], _))| Source::Directional {
            towards: (world_from_view * Vector3::from(direction).normalize()).map(narrow).into(),
            colour,
            has_highlight: at == 0,
        };
        Self {
            sources: HEADLIGHTS.into_iter().enumerate().map(source).collect(),
            ambient: Ambient::Uniform(HEADLIGHT_AMBIENT),
        }
    }

    fn sky(up: [f32; 3]) -> Self {
        let zenith = Vector3::from(up.map(f64::from)).try_normalize(0.0).unwrap_or_else(Vector3::y);
        // The sun is in the direction between front and left, where the front of a scene is +z if +y is up,
        // and -y if +z is up.
        let front = if zenith.y.abs() > zenith.z.abs() { Vector3::z() } else { -Vector3::y() };
        let left = front.cross(&zenith);
        let across = (front + left) - zenith * zenith.dot(&(front + left));
        let across = across.try_normalize(0.0).unwrap_or_default();
        let sun = zenith * SUN_HEIGHT + across * (1.0 - SUN_HEIGHT * SUN_HEIGHT).sqrt();
        Self {
            sources: vec![Source::Directional {
                towards: sun.map(narrow).into(),
                colour: SUN,
                has_highlight: true,
            }],
            ambient: Ambient::Hemispheres { up: zenith.map(narrow).into() },
        }
    }

    pub(super) fn punctual(lights: &[PunctualLight], eye: [f64; 3]) -> Self {
        let inverse_pi = narrow(PI.recip());
        let source = |light: &PunctualLight| {
            let intensity = light.intensity.map(|v| v * inverse_pi);
            match light.kind {
                LightKind::Directional { direction } => Source::Directional {
                    towards: direction.map(|v| narrow(-v)),
                    colour: intensity,
                    has_highlight: true,
                },
                LightKind::Point { position, range, spot } => Source::Point {
                    from_eye: std::array::from_fn(|k| narrow(position[k] - eye[k])),
                    intensity,
                    inverse_range: range.map_or(0.0, |range| narrow(range.recip())),
                    spot: spot.map(|cone| (cone.axis.map(narrow), cone.ramp().map(narrow))),
                },
            }
        };
        Self { sources: lights.iter().map(source).collect(), ambient: Ambient::Uniform([0.0; 3]) }
    }

    #[inline]
    pub(super) fn incoming<'a>(
        &'a self,
        points: &'a SurfacePoints,
    ) -> impl Iterator<Item = IncomingLight> + 'a {
        self.sources.iter().map(|source| source.at(&points.to_eye))
    }

    /// Ambient irradiance over pi for unit normals. It is exact for two uniform hemispheres: the sky has (1 + cos) / 2.
    #[inline]
    pub(super) fn ambient(&self, normal: &Vectors) -> Vectors {
        match self.ambient {
            Ambient::Uniform(colour) => colour.map(|c| [c; 4]),
            Ambient::Hemispheres { up } => mixed(&dot(normal, &up.map(|c| [c; 4]))),
        }
    }

    /// Mean ambient radiance around the unit directions `reflected`, for microfacets of the widths `alpha`.
    /// Between hemispheres, `alpha` is the width of the horizon (an approximation: exact for a mirror and,
    /// like the irradiance, linear in the height at width 1).
    #[inline]
    pub(super) fn reflected(&self, reflected: &Vectors, alpha: &Lanes) -> Vectors {
        match self.ambient {
            Ambient::Uniform(colour) => colour.map(|c| [c; 4]),
            Ambient::Hemispheres { up } => {
                let height = dot(reflected, &up.map(|c| [c; 4]));
                mixed(&std::array::from_fn(|k| height[k] / alpha[k].max(HORIZON)))
            }
        }
    }
}

/// Radiance interpolated between ground (height -1 or less) and sky (1 or more).
fn mixed(height: &Lanes) -> Vectors {
    let share = height.map(|h| (0.5 + 0.5 * h).clamp(0.0, 1.0));
    [0, 1, 2].map(|c| share.map(|s| GROUND[c] + s * (SKY[c] - GROUND[c])))
}

impl Source {
    #[inline]
    fn at(&self, to_eye: &Vectors) -> IncomingLight {
        match *self {
            Self::Directional { towards, colour, has_highlight } => IncomingLight {
                towards: towards.map(|v| [v; 4]),
                colour: colour.map(|v| [v; 4]),
                has_highlight,
            },
            Self::Point { from_eye, intensity, inverse_range, spot } => {
                let way = [0, 1, 2].map(|c| to_eye[c].map(|v| v + from_eye[c]));
                let squared = dot(&way, &way);
                let towards = normalized(&way);
                let mut share: Lanes =
                    std::array::from_fn(|k| attenuation(squared[k], inverse_range));
                if let Some((axis, [scale, offset])) = spot {
                    let along = dot(&towards, &axis.map(|v| [-v; 4]));
                    for (share, along) in share.iter_mut().zip(along) {
                        let angular = (along * scale + offset).clamp(0.0, 1.0);
                        *share *= angular * angular;
                    }
                }
                IncomingLight {
                    towards,
                    colour: intensity.map(|v| share.map(|s| v * s)),
                    has_highlight: true,
                }
            }
        }
    }
}

/// Illuminance in lux, weighted as luminance, of a surface with a unit normal at a point in world space.
pub fn illuminance(lights: &[PunctualLight], point: [f64; 3], normal: [f64; 3]) -> f32 {
    let here = [[0.0; 4]; 3];
    let normal = normal.map(|c| [narrow(c); 4]);
    let incoming = Lights::punctual(lights, point).sources;
    let incoming = incoming.iter().map(|source| {
        let light = source.at(&here);
        luminance(light.colour.map(|lanes| lanes[0])) * dot(&light.towards, &normal)[0].max(0.0)
    });
    // The sources hold irradiance over pi, as the radiance of a white surface.
    incoming.sum::<f32>() * narrow(PI)
}

/// Illuminance of a 1 cd light at a squared distance, faded out towards its range as `KHR_lights_punctual`
/// recommends; 0 beyond the range and at distance 0.
#[inline]
fn attenuation(squared: f32, inverse_range: f32) -> f32 {
    if squared <= NO_LENGTH {
        return 0.0;
    }
    let share = squared * inverse_range * inverse_range;
    (1.0 - share * share).clamp(0.0, 1.0) / squared
}
