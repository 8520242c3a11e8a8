//! The hierarchy of nodes: which mesh stands where.

use super::accessor::Store;
use super::json::{Document, Node};
use crate::error::Result;

/// Farthest that the last row of a node's matrix may be from (0, 0, 0, 1).
const AFFINE_TOLERANCE: f64 = 1e-6;

/// An affine map: columns of a matrix, and what is added.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Placement {
    columns: [[f64; 3]; 3],
    offset: [f64; 3],
}

/// A mesh in the world.
pub(crate) struct Instance {
    /// Index of the node that places it.
    pub(crate) node: usize,
    /// Index of the mesh.
    pub(crate) mesh: usize,
    /// From the mesh to the world.
    pub(crate) placement: Placement,
}

impl Placement {
    const IDENTITY: Self = Self {
        columns: [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
        offset: [0.0; 3],
    };

    /// That of a node in its parent, if its matrix is affine.
    fn of(node: &Node) -> Option<Self> {
        if let Some([a, b, c, x, d, e, f, y, g, h, i, z, k, l, m, w]) = node.matrix {
            let last = [x, y, z, w - 1.0];
            return last
                .iter()
                .all(|v| v.abs() <= AFFINE_TOLERANCE)
                .then_some(Self {
                    columns: [[a, b, c], [d, e, f], [g, h, i]],
                    offset: [k, l, m],
                });
        }
        let [x, y, z, w] = node.rotation.unwrap_or([0.0, 0.0, 0.0, 1.0]);
        let [sx, sy, sz] = node.scale.unwrap_or([1.0; 3]);
        let columns = [
            [
                1.0 - 2.0 * (y * y + z * z),
                2.0 * (x * y + z * w),
                2.0 * (x * z - y * w),
            ],
            [
                2.0 * (x * y - z * w),
                1.0 - 2.0 * (x * x + z * z),
                2.0 * (y * z + x * w),
            ],
            [
                2.0 * (x * z + y * w),
                2.0 * (y * z - x * w),
                1.0 - 2.0 * (x * x + y * y),
            ],
        ];
        let [cx, cy, cz] = columns;
        Some(Self {
            columns: [cx.map(|v| v * sx), cy.map(|v| v * sy), cz.map(|v| v * sz)],
            offset: node.translation.unwrap_or([0.0; 3]),
        })
    }

    fn linear(&self, [x, y, z]: [f64; 3]) -> [f64; 3] {
        let [a, b, c] = self.columns;
        std::array::from_fn(|row| a[row] * x + b[row] * y + c[row] * z)
    }

    /// `self` after `inner`.
    fn after(&self, inner: &Self) -> Self {
        Self {
            columns: inner.columns.map(|column| self.linear(column)),
            offset: self.point_f64(inner.offset),
        }
    }

    fn point_f64(&self, point: [f64; 3]) -> [f64; 3] {
        let linear = self.linear(point);
        std::array::from_fn(|row| linear[row] + self.offset[row])
    }

    /// A point in the world.
    #[allow(clippy::cast_possible_truncation, reason = "rounding is the point")]
    pub(crate) fn point(&self, point: [f32; 3]) -> [f32; 3] {
        if *self == Self::IDENTITY {
            return point;
        }
        self.point_f64(point.map(f64::from)).map(|v| v as f32)
    }

    /// The matrix of cofactors, with the sign that keeps normals on the side that is in front: the
    /// inverse transpose but for a factor, which exists for singular matrices too.
    fn cofactors(&self) -> [[f64; 3]; 3] {
        let [a, b, c] = self.columns;
        let sign = if self.mirrors() { -1.0 } else { 1.0 };
        [cross(b, c), cross(c, a), cross(a, b)].map(|column| column.map(|v| v * sign))
    }

    /// A function that turns normals into the world, without their length.
    #[allow(clippy::cast_possible_truncation, reason = "rounding is the point")]
    pub(crate) fn normals(&self) -> impl Fn([f32; 3]) -> [f32; 3] {
        let turn = Self {
            columns: self.cofactors(),
            offset: [0.0; 3],
        };
        move |normal| {
            let turned = turn.linear(normal.map(f64::from));
            // Scales differ widely: the length must fit f32 before it is taken.
            let largest = turned.iter().fold(0.0f64, |most, v| most.max(v.abs()));
            let factor = if largest > 0.0 { largest.recip() } else { 1.0 };
            turned.map(|v| (v * factor) as f32)
        }
    }

    /// Whether front faces turn into back faces.
    pub(crate) fn mirrors(&self) -> bool {
        let [a, b, c] = self.columns;
        let normal = cross(a, b);
        normal[0] * c[0] + normal[1] * c[1] + normal[2] * c[2] < 0.0
    }
}

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}

/// The meshes of the document's scene, in the order of a walk that takes children in file order.
///
/// # Errors
/// For nodes that have several parents, are roots with a parent or have a matrix that is not
/// affine: each node stands for one place, so the walk ends.
pub(crate) fn instances(document: &Document, store: &Store<'_>) -> Result<Vec<Instance>> {
    let nodes = &document.nodes;
    let mut taken = vec![false; nodes.len()];
    for node in nodes {
        for &child in &node.children {
            take(&mut taken, child, store)?;
        }
    }
    let roots = match document
        .scene
        .or((!document.scenes.is_empty()).then_some(0))
    {
        Some(scene) => store.get(&document.scenes, scene, "scenes")?.nodes.clone(),
        None => (0..nodes.len()).filter(|node| !taken[*node]).collect(),
    };
    for &root in &roots {
        take(&mut taken, root, store)?;
    }
    let mut instances = Vec::new();
    let mut open: Vec<(usize, Placement)> = Vec::new();
    open.extend(roots.iter().rev().map(|root| (*root, Placement::IDENTITY)));
    while let Some((at, parent)) = open.pop() {
        let node = store.get(nodes, at, "nodes")?;
        let own = Placement::of(node).ok_or_else(|| {
            store.wrong(format!("nodes[{at}].matrix"), "an affine map", "another")
        })?;
        let placement = parent.after(&own);
        if let Some(mesh) = node.mesh {
            instances.push(Instance {
                node: at,
                mesh,
                placement,
            });
        }
        open.extend(node.children.iter().rev().map(|child| (*child, placement)));
    }
    Ok(instances)
}

/// Marks a node as the child of another, or as a root.
fn take(taken: &mut [bool], node: usize, store: &Store<'_>) -> Result<()> {
    store.get(taken, node, "nodes")?;
    if std::mem::replace(&mut taken[node], true) {
        let place = format!("nodes[{node}]");
        return Err(store.wrong(place, "a node of one parent, or a root", "more"));
    }
    Ok(())
}
