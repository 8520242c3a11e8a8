//! Automatic exposure for the lights of a mesh file.

use std::f32::consts::PI;

use nalgebra::Vector3;

use super::framing::{area_vector, sampled_faces};
use super::input::{Content, MeshInput};
use super::look::MAX_STOPS;
use crate::messages::Messages;
use quadrille_geometry::files::Mesh;
use quadrille_mesh::shade::illuminance;

/// Percentile of the lit faces' illuminance at which a white surface becomes white (assumed).
const WHITE_PERCENT: usize = 90;
/// Largest correction in stops that is not applied: such lights are taken as authored (assumed).
const NEAR_STOPS: f32 = 2.0;
/// Exposures are rounded to this many steps per stop, so that their flags are short.
const STEPS: f32 = 10.0;

impl MeshInput {
    /// Returns the exposure in stops at which a white matt surface appears white at the 90th percentile of the faces'
    /// illuminance; 0 if that is within two stops. Files state lights in lux and candela, and a sun is 15 stops brighter
    /// than a lamp.
    pub(super) fn exposure(&self, messages: &dyn Messages) -> f32 {
        let Content::Polygons(mesh) = &self.content else { return 0.0 };
        let Some(lux) = typical_illuminance(mesh) else {
            messages.warn("the lights of the file reach no part of the mesh (headlight and sky are other choices)");
            return 0.0;
        };
        // A white surface reflects 1 / pi of the illuminance into each direction.
        let stops = ((PI / lux).log2().clamp(-MAX_STOPS, MAX_STOPS) * STEPS).round() / STEPS;
        if stops.abs() <= NEAR_STOPS {
            return 0.0;
        }
        messages.warn(&format!(
            "nine in ten lit faces have at most {lux:.3} lux from the lights of the file: the picture is drawn with an \
             exposure of {stops:.1} stops"
        ));
        stops
    }
}

/// 90th percentile of the illuminance of lit faces in lux; `None` without a lit face.
fn typical_illuminance(mesh: &Mesh) -> Option<f32> {
    let mut lux: Vec<f32> =
        sampled_faces(mesh).map(|face| lit(mesh, face)).filter(|lux| *lux > 0.0).collect();
    lux.sort_by(f32::total_cmp);
    lux.get(lux.len() * WHITE_PERCENT / 100).copied()
}

fn lit(mesh: &Mesh, face: usize) -> f32 {
    let Some(normal) = area_vector(mesh, face).try_normalize(0.0) else { return 0.0 };
    let places = mesh.face(face).iter().map(|corner| mesh.positions[corner.position as usize]);
    let sum: Vector3<f64> = places.map(|p| Vector3::from(p.map(f64::from))).sum();
    let middle = sum / mesh.face(face).len() as f64 + Vector3::from(mesh.origin);
    let of_side = |normal: Vector3<f64>| illuminance(&mesh.lights, middle.into(), normal.into());
    let front = of_side(normal);
    match mesh.materials[mesh.face_materials[face] as usize].two_sided {
        true => front.max(of_side(-normal)),
        false => front,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use quadrille_geometry::files::{LightKind, PunctualLight, parse};

    fn square(light: LightKind, intensity: f32) -> Mesh {
        let text = b"v -1 0 1\nv 1 0 1\nv 1 0 -1\nv -1 0 -1\nf 1 2 3\nf 1 3 4\n";
        let no_files = &mut |name: &str| unreachable!("{name}");
        let mut mesh = parse(text, std::path::Path::new("square.obj"), no_files).unwrap().mesh;
        mesh.lights.push(PunctualLight {
            name: String::new(),
            kind: light,
            intensity: [intensity; 3],
        });
        mesh
    }

    #[test]
    fn illuminance_falls_with_angle_and_distance() {
        let sun = |direction: [f64; 3]| LightKind::Directional { direction };
        let close = |mesh: &Mesh, lux: f32| {
            let found = typical_illuminance(mesh).unwrap();
            assert!((found / lux - 1.0).abs() < 1e-3, "{found}, not {lux}");
        };
        close(&square(sun([0.0, -1.0, 0.0]), 50_000.0), 50_000.0);
        close(&square(sun([0.6, -0.8, 0.0]), 50_000.0), 40_000.0);
        // An open sheet is lit from below as well.
        close(&square(sun([0.0, 1.0, 0.0]), 10.0), 10.0);
        let lamp = LightKind::Point { position: [0.0, 100.0, 0.0], range: None, spot: None };
        close(&square(lamp, 54_351.0), 5.4351);
        assert_eq!(typical_illuminance(&square(sun([1.0, 0.0, 0.0]), 1.0)), None);
    }
}
