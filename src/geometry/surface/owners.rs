//! Ownership of the sides and corners that patches share.

use std::collections::HashMap;
use std::hash::Hash;

/// Patch that evaluates a side or a corner for all patches that share it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Owner {
    /// Lowest index of a patch with the side or corner.
    pub patch: u32,
    /// Index of the side or corner in that patch, 0 to 3.
    pub part: u8,
    /// True if the side of the owner has the opposite direction; false for corners.
    pub is_reversed: bool,
    /// True if the surface is smooth there, so that the normals of the owner apply too.
    pub is_smooth: bool,
    /// True if the side is degenerate: both of its corners are the same point. False for corners.
    pub is_point: bool,
}

/// Owners of all sides and corners. Patches beyond the tables own all of their sides and corners.
#[derive(Debug, Default)]
pub(super) struct Owners {
    pub(super) sides: Vec<[Owner; 4]>,
    pub(super) corners: Vec<[Owner; 4]>,
}

/// Keys of the sides and corners of a patch. Adjacent patches have equal keys.
pub(super) struct PatchKeys<S, C> {
    /// Key of each side, equal for both directions, and whether the side runs against the direction of the key.
    pub(super) sides: [(S, bool); 4],
    pub(super) smooth_sides: [bool; 4],
    pub(super) point_sides: [bool; 4],
    pub(super) corners: [C; 4],
    pub(super) smooth_corners: [bool; 4],
}

impl<C: Ord + Copy> PatchKeys<[C; 2], C> {
    /// Keys of a smooth patch whose corners identify its sides.
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
