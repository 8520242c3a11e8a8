//! Hierarchy of nodes, and their placements in the world.

use std::collections::HashSet;

use nalgebra::{Matrix3, Vector3};

use super::accessor::BufferStore;
use super::json::{GltfDocument, Node};
use quadrille_base::error::Result;
use quadrille_base::math::narrow;

/// Tolerance for the last row of a node's matrix, which must be (0, 0, 0, 1).
const AFFINE_TOLERANCE: f64 = 1e-6;

/// Affine map from the space of a node to the world.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NodePlacement {
    linear: Matrix3<f64>,
    offset: Vector3<f64>,
}

impl NodePlacement {
    /// Returns the identity map, the placement of a root without a transform.
    pub fn identity() -> Self {
        Self { linear: Matrix3::identity(), offset: Vector3::zeros() }
    }

    /// Map from a node to its parent; `None` if its matrix is not affine.
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

    /// Returns the map of a column-major 4x4 matrix, or `None` if the matrix is not affine.
    pub fn of_matrix([a, b, c, x, d, e, f, y, g, h, i, z, k, l, m, w]: [f64; 16]) -> Option<Self> {
        [x, y, z, w - 1.0].iter().all(|v| v.abs() <= AFFINE_TOLERANCE).then_some(Self {
            linear: Matrix3::from_columns(&[[a, b, c], [d, e, f], [g, h, i]].map(Into::into)),
            offset: Vector3::new(k, l, m),
        })
    }

    /// Map that scales, then rotates by a quaternion (x, y, z, w), then translates.
    pub(super) fn scaled(
        [sx, sy, sz]: [f64; 3],
        [x, y, z, w]: [f64; 4],
        translation: [f64; 3],
    ) -> Self {
        // Written out, since quaternions in files may have any length and nalgebra's methods require unit length.
        let columns = [
            Vector3::new(1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y + z * w), 2.0 * (x * z - y * w))
                * sx,
            Vector3::new(2.0 * (x * y - z * w), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z + x * w))
                * sy,
            Vector3::new(2.0 * (x * z + y * w), 2.0 * (y * z - x * w), 1.0 - 2.0 * (x * x + y * y))
                * sz,
        ];
        Self { linear: Matrix3::from_columns(&columns), offset: translation.into() }
    }

    /// Returns the map that applies `inner` first.
    pub fn after(&self, inner: &Self) -> Self {
        Self {
            linear: self.linear * inner.linear,
            offset: self.linear * inner.offset + self.offset,
        }
    }

    /// Returns the weighted sum of maps, as skins blend the maps of joints.
    pub fn weighted<'a>(maps: impl Iterator<Item = (f64, &'a Self)>) -> Self {
        let mut sum = Self { linear: Matrix3::zeros(), offset: Vector3::zeros() };
        for (weight, map) in maps {
            sum.linear += map.linear * weight;
            sum.offset += map.offset * weight;
        }
        sum
    }

    /// Linear part and offset of the map.
    pub fn parts(&self) -> (Matrix3<f64>, Vector3<f64>) {
        (self.linear, self.offset)
    }

    /// Transforms a point to the world.
    pub fn point(&self, point: [f32; 3]) -> [f64; 3] {
        (self.linear * Vector3::from(point.map(f64::from)) + self.offset).into()
    }

    /// Returns a function that maps normals to the world. Its results are not normalised.
    ///
    /// The matrix of cofactors, with the sign that keeps normals on the front side, equals the inverse
    /// transpose up to a factor, and exists for singular matrices too.
    pub fn normals(&self) -> impl Fn([f32; 3]) -> [f32; 3] {
        let [a, b, c] = [0, 1, 2].map(|column| self.linear.column(column).into_owned());
        let sign = if self.mirrors() { -1.0 } else { 1.0 };
        let cofactors = Matrix3::from_columns(&[b.cross(&c), c.cross(&a), a.cross(&b)]) * sign;
        move |normal| {
            let turned = cofactors * Vector3::from(normal.map(f64::from));
            // Cofactors of extreme scales exceed the range of f32, so the components are normalised first.
            let largest = turned.amax();
            let factor = if largest > 0.0 { largest.recip() } else { 1.0 };
            turned.map(|v| narrow(v * factor)).into()
        }
    }

    /// True if the map is a reflection, which turns front faces into back faces.
    pub fn mirrors(&self) -> bool {
        let [a, b, c] = [0, 1, 2].map(|column| self.linear.column(column));
        a.cross(&b).dot(&c) < 0.0
    }
}

/// Node of the document's scene with its placement.
pub struct PlacedNode {
    /// Index of the node in the document.
    pub index: usize,
    /// Map of the node to the world.
    pub placement: NodePlacement,
    /// False if `KHR_node_visibility` hides the node or one of its ancestors.
    pub is_visible: bool,
}

/// The nodes of the document's scene in depth-first order, children in file order.
pub struct PlacedNodes {
    /// Placed nodes. Every index occurs once.
    pub nodes: Vec<PlacedNode>,
    /// Warning about nodes with several parents, if there are any.
    pub warning: Option<String>,
}

impl PlacedNodes {
    /// Walks the nodes from the roots of the scene, or of the document if it has no scene. A node with several
    /// parents is placed below the first parent that the walk reaches.
    ///
    /// # Errors
    /// [`Error::Malformed`](quadrille_base::error::Error::Malformed) for indices of missing nodes, for a root below itself,
    /// and for a projective matrix.
    pub fn of(document: &GltfDocument, store: &BufferStore<'_>) -> Result<Self> {
        match document.scene.or((!document.scenes.is_empty()).then_some(0)) {
            Some(scene) => {
                let roots = &store.get(&document.scenes, scene, "scenes")?.nodes;
                Self::below(roots, document, store)
            }
            None => Self::of_all(document, store),
        }
    }

    /// [`Self::of`] for all nodes of the document, in its scene or not.
    ///
    /// # Errors
    /// As for [`Self::of`].
    pub fn of_all(document: &GltfDocument, store: &BufferStore<'_>) -> Result<Self> {
        let nodes = &document.nodes;
        let children: HashSet<_> = nodes.iter().flat_map(|node| &node.children).copied().collect();
        let roots: Vec<_> = (0..nodes.len()).filter(|at| !children.contains(at)).collect();
        Self::below(&roots, document, store)
    }

    fn below(roots: &[usize], document: &GltfDocument, store: &BufferStore<'_>) -> Result<Self> {
        let nodes = &document.nodes;
        let mut is_reached = vec![false; nodes.len()];
        let mut parents = vec![None; nodes.len()];
        let mut open: Vec<_> = roots.iter().rev().copied().collect();
        while let Some(at) = open.pop() {
            let node = store.get(nodes, at, "nodes")?;
            if std::mem::replace(&mut is_reached[at], true) {
                continue;
            }
            for &child in &node.children {
                store.get(nodes, child, "nodes")?;
                parents[child].get_or_insert(at);
            }
            open.extend(node.children.iter().rev());
        }
        let mut placed = Vec::new();
        let roots_alone = roots.iter().rev().filter(|root| parents[**root].is_none());
        let identity = NodePlacement::identity();
        let mut open: Vec<_> = roots_alone.map(|root| (*root, identity, true)).collect();
        while let Some((at, outer, is_visible)) = open.pop() {
            // A parent may list a child twice.
            if !std::mem::replace(&mut is_reached[at], false) {
                continue;
            }
            let node = &nodes[at];
            let own = NodePlacement::of(node).ok_or_else(|| {
                store.malformed(format!("nodes[{at}].matrix"), "an affine map", "a projective one")
            })?;
            let placement = outer.after(&own);
            let is_visible = is_visible && node.extensions.visibility.visible;
            placed.push(PlacedNode { index: at, placement, is_visible });
            let children = node.children.iter().rev().filter(|child| parents[**child] == Some(at));
            open.extend(children.map(|child| (*child, placement, is_visible)));
        }
        if let Some(at) = is_reached.iter().position(|is_left| *is_left) {
            let expected = "a node that is not below itself";
            return Err(store.malformed(format!("nodes[{at}]"), expected, "a cycle of children"));
        }
        Ok(Self { warning: warning_of_claims(nodes, roots, &parents, &placed), nodes: placed })
    }
}

/// Warning about the first placed node that is listed more than once, as a child or as a root of the scene.
fn warning_of_claims(
    nodes: &[Node],
    roots: &[usize],
    parents: &[Option<usize>],
    placed: &[PlacedNode],
) -> Option<String> {
    let mut claims: Vec<_> = roots.iter().map(|root| (*root, None)).collect();
    for (at, node) in nodes.iter().enumerate() {
        claims.extend(node.children.iter().map(|child| (*child, Some(at))));
    }
    claims.sort_unstable();
    let placed: HashSet<_> = placed.iter().map(|node| node.index).collect();
    let mut several = claims
        .chunk_by(|a, b| a.0 == b.0)
        .filter(|claims| claims.len() > 1 && placed.contains(&claims[0].0));
    let first = several.next()?;
    let more = match several.count() {
        0 => String::new(),
        more => format!(" (and {more} more nodes likewise)"),
    };
    let of = |parent: Option<usize>, none: &str, some: &str| match parent {
        Some(parent) => format!("{some} nodes[{parent}]"),
        None => none.to_owned(),
    };
    let claims = [first[0], first[1]].map(|(_, by)| of(by, "a root of the scene", "a child of"));
    let [one, other] = claims;
    let at = first[0].0;
    let place = of(parents[at], "as a root", "below");
    Some(format!(
        "nodes[{at}] is {one} and {other}, although a glTF node has one place: it is placed {place}{more}"
    ))
}
