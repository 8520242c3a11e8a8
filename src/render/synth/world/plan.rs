//! Plan of the island: direction of the sun and positions of buildings.

/// Direction to the sun, not of unit length.
pub(super) const TO_SUN: [f32; 3] = [-0.72, 0.2, -0.56];

pub(super) const LIGHTHOUSE: [f32; 2] = [3.1, 0.25];
/// Per cottage: x, z, angle of its width in radians, width, and roof colour.
pub(super) const COTTAGES: [(f32, f32, f32, f32, [f32; 3]); 5] = [
    (-0.55, 1.25, 0.25, 0.62, [0.5, 0.14, 0.07]),
    (0.55, 0.85, -0.3, 0.7, [0.4, 0.11, 0.06]),
    (1.65, 0.75, 0.15, 0.55, [0.2, 0.15, 0.16]),
    (-0.1, 0.25, 0.1, 0.55, [0.45, 0.19, 0.08]),
    (2.45, 0.75, -0.5, 0.42, [0.46, 0.13, 0.07]),
];
/// Density of splats on buildings and boats, relative to land.
pub(super) const FINE: f32 = 15.0;

pub(super) fn keeps_clear(x: f32, z: f32) -> bool {
    let near = |[a, b]: [f32; 2], r: f32| (x - a).hypot(z - b) < r;
    let cottage = COTTAGES.iter().any(|c| near([c.0, c.1], 0.55));
    // Lines of sight from the bay to the doors and to the tower.
    let front = (-1.0..2.9).contains(&x) && z > 0.9;
    cottage || front || near(LIGHTHOUSE, 0.75)
}
