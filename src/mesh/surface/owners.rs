//! Ownership of the sides and corners of patches: the patch of lowest number that has them.

use std::collections::HashMap;
use std::hash::Hash;

/// The patch that evaluates a side or a corner of another patch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Owner {
    /// The patch of lowest number that has the side or corner.
    pub patch: u32,
    /// Which of its sides or corners it is, 0 to 3.
    pub part: u8,
    /// Whether the owner's side runs the other way; `false` of corners.
    pub is_reversed: bool,
    /// Whether the surface is smooth there, so that the owner's normals hold too.
    pub is_smooth: bool,
    /// Whether the whole side is one point, that of its corners; `false` of corners.
    pub is_point: bool,
}

/// The owners of all sides and corners; patches beyond the tables share nothing and own their
/// sides and corners themselves.
#[derive(Debug, Default)]
pub(super) struct Owners {
    pub(super) sides: Vec<[Owner; 4]>,
    pub(super) corners: Vec<[Owner; 4]>,
}

/// Keys of the sides and corners of a patch: equal where patches meet.
pub(super) struct PatchKeys<S, C> {
    /// Each side's key, the same for both directions, and whether the side runs against its key.
    pub(super) sides: [(S, bool); 4],
    pub(super) smooth_sides: [bool; 4],
    pub(super) point_sides: [bool; 4],
    pub(super) corners: [C; 4],
    pub(super) smooth_corners: [bool; 4],
}

impl<C: Ord + Copy> PatchKeys<[C; 2], C> {
    /// A patch whose sides are told by their corners, smooth everywhere.
    pub(super) fn smooth(corners: [C; 4]) -> Self {
        let side = |s: usize| {
            let [from, to] = [corners[s], corners[(s + 1) % 4]];
            ([from.min(to), from.max(to)], from > to)
        };
        Self {
            sides: std::array::from_fn(side),
            smooth_sides: [true; 4],
            point_sides: [false; 4],
            corners,
            smooth_corners: [true; 4],
        }
    }
}

impl Owners {
    /// The owners among patches whose keys come in the order of the patches.
    pub(super) fn new<S: Hash + Eq, C: Hash + Eq>(
        patches: impl IntoIterator<Item = PatchKeys<S, C>>,
    ) -> Self {
        let mut first_side: HashMap<S, (u32, u8, bool)> = HashMap::new();
        let mut first_corner: HashMap<C, (u32, u8)> = HashMap::new();
        let mut owners = Self::default();
        for (number, keys) in (0u32..).zip(patches) {
            let mut sides = 0_u8..;
            owners.sides.push(keys.sides.map(|(key, against)| {
                let at = sides.next().unwrap_or(0);
                let first = first_side.entry(key).or_insert((number, at, against));
                Owner {
                    patch: first.0,
                    part: first.1,
                    is_reversed: first.2 != against,
                    is_smooth: keys.smooth_sides[usize::from(at)],
                    is_point: keys.point_sides[usize::from(at)],
                }
            }));
            let mut corners = 0_u8..;
            owners.corners.push(keys.corners.map(|key| {
                let at = corners.next().unwrap_or(0);
                let first = first_corner.entry(key).or_insert((number, at));
                Owner {
                    patch: first.0,
                    part: first.1,
                    is_reversed: false,
                    is_smooth: keys.smooth_corners[usize::from(at)],
                    is_point: false,
                }
            }));
        }
        owners
    }
}
