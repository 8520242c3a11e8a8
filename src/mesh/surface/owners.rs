//! Who evaluates the sides and corners of patches: the patch of lowest number that has them.

use std::collections::HashMap;
use std::hash::Hash;

use super::{CornerOwner, SideOwner};

/// The owners of all sides and corners of a surface.
#[derive(Debug, Clone, Default)]
pub(super) struct Owners {
    sides: Vec<[SideOwner; 4]>,
    corners: Vec<[CornerOwner; 4]>,
}

/// What names the sides and corners of a patch: equal where patches meet.
pub(super) struct PatchNames<S, C> {
    /// Each side's name, the same for both directions, and whether it runs against its name.
    pub(super) sides: [(S, bool); 4],
    /// Whether the surface is smooth across each side.
    pub(super) smooth_sides: [bool; 4],
    /// Whether each side is one point.
    pub(super) point_sides: [bool; 4],
    /// Each corner's name.
    pub(super) corners: [C; 4],
    /// Whether the surface is smooth at each corner.
    pub(super) smooth_corners: [bool; 4],
}

impl Owners {
    /// The owners among patches that are named in order.
    pub(super) fn new<S: Hash + Eq, C: Hash + Eq>(
        patches: impl IntoIterator<Item = PatchNames<S, C>>,
    ) -> Self {
        let mut first_side: HashMap<S, (u32, u8, bool)> = HashMap::new();
        let mut first_corner: HashMap<C, (u32, u8)> = HashMap::new();
        let mut owners = Self::default();
        for (number, names) in (0u32..).zip(patches) {
            let mut side: u8 = 0;
            owners.sides.push(names.sides.map(|(name, against)| {
                let first = first_side.entry(name).or_insert((number, side, against));
                let at = usize::from(side);
                side += 1;
                SideOwner {
                    patch: first.0,
                    side: first.1,
                    is_reversed: first.2 != against,
                    is_smooth: names.smooth_sides[at],
                    is_point: names.point_sides[at],
                }
            }));
            let mut corner: u8 = 0;
            owners.corners.push(names.corners.map(|name| {
                let first = first_corner.entry(name).or_insert((number, corner));
                let is_smooth = names.smooth_corners[usize::from(corner)];
                corner += 1;
                CornerOwner {
                    patch: first.0,
                    corner: first.1,
                    is_smooth,
                }
            }));
        }
        owners
    }

    /// The owner of a side.
    pub(super) fn side(&self, patch: usize, side: usize) -> SideOwner {
        self.sides[patch][side]
    }

    /// The owner of a corner.
    pub(super) fn corner(&self, patch: usize, corner: usize) -> CornerOwner {
        self.corners[patch][corner]
    }
}

/// A side's name from its ends in walking order, and whether it runs against its name.
pub(super) fn side_name<T: Ord + Copy>(from: T, to: T) -> ([T; 2], bool) {
    if from <= to {
        ([from, to], false)
    } else {
        ([to, from], true)
    }
}
