//! Lights that a file places in the scene, in the units of glTF (`KHR_lights_punctual`).

/// Light without extent, which casts no shadow.
#[derive(Debug, Clone, PartialEq)]
pub struct PunctualLight {
    /// Name in the file; may be empty.
    pub name: String,
    /// Kind of the light, with its position or direction.
    pub kind: LightKind,
    /// Linear colour times intensity: illuminance in lux for directional lights, luminous intensity in candela for others.
    pub intensity: [f32; 3],
}

/// Kind of a light, with its geometry in world space.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LightKind {
    /// Parallel light from one direction, such as sunlight.
    Directional {
        /// Unit direction in which the light shines.
        direction: [f64; 3],
    },
    /// Light from a point, equally strong in all directions or within a cone.
    Point {
        /// Position of the light in world units.
        position: [f64; 3],
        /// Distance in world units beyond which nothing is lit; `None` for no limit.
        range: Option<f64>,
        /// Cone of a spot light; `None` for light in all directions.
        spot: Option<SpotCone>,
    },
}

/// Cone of a spot light.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SpotCone {
    /// Unit direction of the cone axis, away from the light.
    pub axis: [f64; 3],
    /// Angles in radians between axis and inner and outer cone, with full light inside and none outside.
    pub angles: [f64; 2],
}

impl SpotCone {
    /// Least difference of the cosines of both angles, as in the formula of `KHR_lights_punctual`.
    const LEAST_DIFFERENCE: f64 = 0.001;

    /// Scale and offset that map the cosine of the angle to the axis to the square root of the attenuation, unclamped.
    pub fn ramp(&self) -> [f64; 2] {
        let [inner, outer] = self.angles.map(f64::cos);
        let scale = 1.0 / (inner - outer).max(Self::LEAST_DIFFERENCE);
        [scale, -outer * scale]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cone_without_width_has_a_finite_ramp() {
        let cone = |inner, outer| SpotCone { axis: [0.0, 0.0, -1.0], angles: [inner, outer] };
        let [scale, offset] = cone(0.0, std::f64::consts::FRAC_PI_3).ramp();
        assert!((scale - 2.0).abs() < 1e-12 && (offset + 1.0).abs() < 1e-12);
        let [scale, offset] = cone(0.0, 0.0).ramp();
        assert!((scale - 1000.0).abs() < 1e-9 && (offset + 1000.0).abs() < 1e-9);
    }
}
