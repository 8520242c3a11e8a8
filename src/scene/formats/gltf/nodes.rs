//! Hierarchy of nodes, and their placements in the world.

use nalgebra::{Matrix3, Vector3};

use super::accessor::BufferStore;
use super::json::{Document, Node};
use quadrille_base::error::Result;
use quadrille_base::math::narrow;

/// Largest deviation of the last row of a node's matrix from (0, 0, 0, 1).
const AFFINE_TOLERANCE: f64 = 1e-6;

/// An affine map into the world.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Placement {
    linear: Matrix3<f64>,
    offset: Vector3<f64>,
}

impl Placement {
    /// Creates the placement that leaves points where they are.
    pub fn identity() -> Self {
        Self {
            linear: Matrix3::identity(),
            offset: Vector3::zeros(),
        }
    }

    /// Returns the map from a node to its parent, or `None` if its matrix is not affine.
    fn of(node: &Node) -> Option<Self> {
        if let Some(matrix) = node.matrix {
            return Self::of_matrix(matrix);
        }
        Some(Self::scaled(
            node.scale.unwrap_or([1.0; 3]),
            node.rotation.unwrap_or([0.0, 0.0, 0.0, 1.0]),
            node.translation.unwrap_or([0.0; 3]),
        ))
    }

    /// Returns the map of a matrix, column by column, or `None` if it is not affine.
    pub fn of_matrix([a, b, c, x, d, e, f, y, g, h, i, z, k, l, m, w]: [f64; 16]) -> Option<Self> {
        let last = [x, y, z, w - 1.0];
        let is_affine = last.iter().all(|v| v.abs() <= AFFINE_TOLERANCE);
        is_affine.then_some(Self {
            linear: Matrix3::from_columns(&[[a, b, c], [d, e, f], [g, h, i]].map(Into::into)),
            offset: Vector3::new(k, l, m),
        })
    }

    /// Returns the map that scales, then rotates by a quaternion (x, y, z, w), then moves.
    pub(super) fn scaled(
        [sx, sy, sz]: [f64; 3],
        [x, y, z, w]: [f64; 4],
        translation: [f64; 3],
    ) -> Self {
        // Quaternions in files may have any length, so that methods of unit quaternions do not apply.
        let columns = [
            Vector3::new(
                1.0 - 2.0 * (y * y + z * z),
                2.0 * (x * y + z * w),
                2.0 * (x * z - y * w),
            ) * sx,
            Vector3::new(
                2.0 * (x * y - z * w),
                1.0 - 2.0 * (x * x + z * z),
                2.0 * (y * z + x * w),
            ) * sy,
            Vector3::new(
                2.0 * (x * z + y * w),
                2.0 * (y * z - x * w),
                1.0 - 2.0 * (x * x + y * y),
            ) * sz,
        ];
        Self {
            linear: Matrix3::from_columns(&columns),
            offset: translation.into(),
        }
    }

    /// Returns the map that applies `inner` first.
    pub fn after(&self, inner: &Self) -> Self {
        Self {
            linear: self.linear * inner.linear,
            offset: self.linear * inner.offset + self.offset,
        }
    }

    /// Returns the sum of maps times their weights.
    pub fn weighted<'a>(maps: impl Iterator<Item = (f64, &'a Self)>) -> Self {
        let mut sum = Self {
            linear: Matrix3::zeros(),
            offset: Vector3::zeros(),
        };
        for (weight, map) in maps {
            sum.linear += map.linear * weight;
            sum.offset += map.offset * weight;
        }
        sum
    }

    /// The linear map and the offset.
    pub fn parts(&self) -> (Matrix3<f64>, Vector3<f64>) {
        (self.linear, self.offset)
    }

    /// Transforms a point to the world.
    pub fn point(&self, point: [f32; 3]) -> [f64; 3] {
        (self.linear * Vector3::from(point.map(f64::from)) + self.offset).into()
    }

    /// Returns a function that maps normals to the world, at any length.
    ///
    /// The matrix of cofactors, with the sign that keeps normals on the front side, equals the inverse
    /// transpose up to a factor, and exists for singular matrices too.
    pub fn normals(&self) -> impl Fn([f32; 3]) -> [f32; 3] {
        let [a, b, c] = [0, 1, 2].map(|column| self.linear.column(column).into_owned());
        let sign = if self.mirrors() { -1.0 } else { 1.0 };
        let cofactors = Matrix3::from_columns(&[b.cross(&c), c.cross(&a), a.cross(&b)]) * sign;
        move |normal| {
            let turned = cofactors * Vector3::from(normal.map(f64::from));
            // Scales differ widely, so the components are brought into the range of f32 first.
            let largest = turned.amax();
            let factor = if largest > 0.0 { largest.recip() } else { 1.0 };
            turned.map(|v| narrow(v * factor)).into()
        }
    }

    /// Whether the map turns front faces into back faces.
    pub fn mirrors(&self) -> bool {
        let [a, b, c] = [0, 1, 2].map(|column| self.linear.column(column));
        a.cross(&b).dot(&c) < 0.0
    }
}

/// Returns the nodes of the document's scene and their maps to the world, in depth-first order, children
/// in file order.
pub fn placed_nodes(
    document: &Document,
    store: &BufferStore<'_>,
) -> Result<Vec<(usize, Placement)>> {
    let nodes = &document.nodes;
    let mut taken = vec![false; nodes.len()];
    for node in nodes {
        for &child in &node.children {
            take(&mut taken, child, store)?;
        }
    }
    let first = (!document.scenes.is_empty()).then_some(0);
    let roots = match document.scene.or(first) {
        Some(scene) => store.get(&document.scenes, scene, "scenes")?.nodes.clone(),
        None => (0..nodes.len()).filter(|node| !taken[*node]).collect(),
    };
    for &root in &roots {
        take(&mut taken, root, store)?;
    }
    let mut placed = Vec::new();
    let identity = Placement::identity();
    let mut open: Vec<_> = roots.iter().rev().map(|root| (*root, identity)).collect();
    while let Some((at, parent)) = open.pop() {
        let node = store.get(nodes, at, "nodes")?;
        let own = Placement::of(node).ok_or_else(|| {
            store.malformed(
                format!("nodes[{at}].matrix"),
                "an affine map",
                "a projective one",
            )
        })?;
        let placement = parent.after(&own);
        placed.push((at, placement));
        open.extend(node.children.iter().rev().map(|child| (*child, placement)));
    }
    Ok(placed)
}

/// Marks a node as a child or a root; it may be either of these only once.
fn take(taken: &mut [bool], node: usize, store: &BufferStore<'_>) -> Result<()> {
    store.get(taken, node, "nodes")?;
    if std::mem::replace(&mut taken[node], true) {
        let place = format!("nodes[{node}]");
        return Err(store.malformed(place, "a node of one parent, or a root", "several"));
    }
    Ok(())
}
