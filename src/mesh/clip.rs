//! Clipping of triangles in homogeneous picture coordinates.

use quadrille_geometry::camera::HomogeneousPoint;

/// Clips a triangle to the near plane and to a guard band: columns and rows within `guard_px` pixels of
/// the origin. Returns the corners of a convex polygon (Sutherland and Hodgman), or none if nothing is left.
pub fn clip(corners: [HomogeneousPoint; 3], near: f64, guard_px: f64) -> Vec<HomogeneousPoint> {
    let planes: [&dyn Fn(&HomogeneousPoint) -> f64; 5] = [
        &|p| p.z - near,
        &|p| guard_px * p.z + p.xz,
        &|p| guard_px * p.z - p.xz,
        &|p| guard_px * p.z + p.yz,
        &|p| guard_px * p.z - p.yz,
    ];
    let mut polygon = corners.to_vec();
    for inside in planes {
        let mut kept = Vec::with_capacity(polygon.len() + 1);
        for (k, to) in polygon.iter().enumerate() {
            let from = &polygon[(k + polygon.len() - 1) % polygon.len()];
            let (at_from, at_to) = (inside(from), inside(to));
            if (at_from >= 0.0) != (at_to >= 0.0) {
                // Interpolated from the inner end, so that both triangles of a shared edge are cut at the same point.
                let (p, q, s) = if at_from >= 0.0 {
                    (from, to, at_from / (at_from - at_to))
                } else {
                    (to, from, at_to / (at_to - at_from))
                };
                let mix = |a: f64, b: f64| a + (b - a) * s;
                kept.push(HomogeneousPoint {
                    xz: mix(p.xz, q.xz),
                    yz: mix(p.yz, q.yz),
                    z: mix(p.z, q.z).max(near),
                });
            }
            if at_to >= 0.0 {
                kept.push(*to);
            }
        }
        polygon = kept;
    }
    polygon
}
