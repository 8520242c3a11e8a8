//! Rolling shutter: pictures whose rows or columns are read one after another while the camera moves.

use nalgebra::{Matrix3, Rotation3, UnitQuaternion, Vector3};

use crate::choice;

choice! {
    /// Order in which a sensor reads its picture.
    pub enum ReadoutDirection {
        /// Row by row, from the top.
        TopToBottom = "top-to-bottom",
        /// Column by column, from the left.
        LeftToRight = "left-to-right",
        /// Row by row, from the bottom.
        BottomToTop = "bottom-to-top",
        /// Column by column, from the right.
        RightToLeft = "right-to-left",
    }
}

/// Number of times that the position of a point is corrected by the time at which that position is read (gsplat, 3DGUT).
const ITERATIONS: usize = 10;

/// Rotation and then translation of world space into view space.
type Pose = (Matrix3<f64>, Vector3<f64>);

/// Motion of a camera during the readout of its picture, from time 0 to 1, relative to its pose at time 1/2.
///
/// As in gsplat and 3DGUT, rotations follow a great circle of quaternions, and translations of world space into view space a
/// straight line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RollingShutter {
    direction: ReadoutDirection,
    /// Rotations of the view space at time 1/2 into those at times 0 and 1.
    turns: [UnitQuaternion<f64>; 2],
    /// Translations of world space into the view spaces at times 0 and 1.
    translations: [Vector3<f64>; 2],
    /// Whether positions are found as in gsplat.
    is_of_gsplat: bool,
}

impl RollingShutter {
    /// Returns the motion between the poses at times 0 and 1, and the pose at time 1/2.
    pub fn between(poses: [Pose; 2], direction: ReadoutDirection) -> (Self, Pose) {
        let turns = poses.map(|(turn, _)| {
            let turn = Rotation3::from_matrix_unchecked(turn);
            // The matrices of files are rotations up to rounding.
            UnitQuaternion::new_normalize(UnitQuaternion::from_rotation_matrix(&turn).into_inner())
        });
        let translations = poses.map(|(_, translation)| translation);
        let in_world = Self { direction, turns, translations, is_of_gsplat: false };
        let (turn, translation) = in_world.pose(0.5);
        let turns = turns.map(|of_pose| of_pose * turn.inverse());
        (Self { turns, ..in_world }, (turn.to_rotation_matrix().into_inner(), translation))
    }

    /// The motion with the positions of gsplat, which rounds them to whole rows or columns, and takes the pose at time 1 for
    /// points that are not seen at times 0 and 1. The moments of points multiply these steps, so that many footprints are too
    /// wide; in gsplat, they are only bounds with `with_eval3d`.
    #[must_use]
    pub fn of_gsplat(self) -> Self {
        Self { is_of_gsplat: true, ..self }
    }

    fn pose(&self, time: f64) -> (UnitQuaternion<f64>, Vector3<f64>) {
        let [start, end] = &self.turns;
        let turn = start.try_slerp(end, time, 0.0).unwrap_or(*start);
        (turn, self.translations[0].lerp(&self.translations[1], time))
    }

    /// Mean of the camera's centres at times 0 and 1, in the view space at time 1/2.
    pub fn mean_centre(&self) -> Vector3<f64> {
        let [start, end] = [0, 1].map(|i| self.turns[i].inverse() * self.translations[i]);
        self.pose(0.5).1 - (start + end) / 2.0
    }

    /// Position in the picture of a point in the view space at time 1/2. `project` returns the position of a point in the view
    /// space at another time, and whether it is seen; `top_left` and `size_px` are those of the picture.
    ///
    /// The point is projected at time 0, and ten times at the time at which its last position is read. It is seen if one of
    /// these positions is. In gsplat, it must be seen at time 0 or 1, and starts where it is.
    pub fn position(
        &self,
        point: [f64; 3],
        [top_left, size_px]: [[f64; 2]; 2],
        project: impl Fn([f64; 3]) -> ([f64; 2], bool),
    ) -> ([f64; 2], bool) {
        let in_world = Vector3::from(point) - self.pose(0.5).1;
        let at = |time: f64| {
            let (turn, translation) = self.pose(time);
            project((turn * in_world + translation).into())
        };
        let (mut position, mut is_seen) = at(0.0);
        if self.is_of_gsplat && !is_seen {
            (position, is_seen) = at(1.0);
            if !is_seen {
                return (position, false);
            }
        }
        for _ in 0..ITERATIONS {
            let from_corner = [0, 1].map(|i| position[i] - top_left[i]);
            let (next, is_next_seen) = at(self.time(from_corner, size_px));
            position = next;
            is_seen |= is_next_seen;
        }
        (position, is_seen)
    }

    /// Time from 0 to 1 at which a position is read, in pixels from the top left corner of the picture: the first row or column
    /// at time 0, the last one at time 1. In gsplat, times of positions beside the picture are beyond.
    fn time(&self, [x, y]: [f64; 2], [width, height]: [f64; 2]) -> f64 {
        let (from_first, side) = match self.direction {
            ReadoutDirection::TopToBottom => (y, height),
            ReadoutDirection::LeftToRight => (x, width),
            ReadoutDirection::BottomToTop => (height - y, height),
            ReadoutDirection::RightToLeft => (width - x, width),
        };
        // A single row is read at time 0.
        let lines = (side - 1.0).max(1.0);
        match self.is_of_gsplat {
            true => from_first.floor() / lines,
            false => ((from_first - 0.5) / lines).clamp(0.0, 1.0),
        }
    }
}
