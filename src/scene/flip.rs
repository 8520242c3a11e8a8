//! Changes of axes, applied to positions, rotations and spherical harmonics.

use std::f64::consts::FRAC_PI_2;
use std::ops::Neg;

use nalgebra::{UnitQuaternion, Vector3};
use rayon::prelude::*;

use super::encoding::SplatAxes;
use super::table::RawColumns;
use super::transform::Similarity;
use quadrille_base::math::SH_SIGN_AXES;
use quadrille_base::{Result, Task};

impl RawColumns {
    /// Converts from `axes` to right, down, forward. The conversion is its own inverse, unless z is vertical in `axes`.
    pub fn flip_axes(&mut self, axes: SplatAxes, task: &Task) -> Result<()> {
        self.flip_positions_and_sh(axes);
        // A change of signs S turns a rotation R to S R S, whose axis has the signs of the cofactors.
        let [sx, sy, sz] = axes.signs();
        for (values, sign) in self.rotation[1..].iter_mut().zip([sy * sz, sx * sz, sx * sy]) {
            negate(values, sign);
        }
        if axes.has_vertical_z() {
            let quarter = UnitQuaternion::from_axis_angle(&Vector3::x_axis(), -FRAC_PI_2);
            self.transform(&Similarity { rotation: quarter, ..Similarity::identity() }, task)?;
        }
        Ok(())
    }

    /// Turns glTF axes (left, up, forward) to right, down, forward: half a turn around z.
    pub(crate) fn turn_from_gltf(&mut self) {
        self.flip_positions_and_sh(SplatAxes::LUF);
        // (0, 0, 0, 1) times (w, x, y, z) is (-z, -y, x, w).
        self.rotation.reverse();
        negate(&mut self.rotation[0], -1.0);
        negate(&mut self.rotation[1], -1.0);
    }

    pub(crate) fn turn_to_gltf(&mut self) {
        self.flip_positions_and_sh(SplatAxes::LUF);
        negate(&mut self.rotation[0], -1.0);
        negate(&mut self.rotation[1], -1.0);
        self.rotation.reverse();
    }

    fn flip_positions_and_sh(&mut self, axes: SplatAxes) {
        for (values, sign) in self.mean.iter_mut().zip(axes.signs()) {
            negate(values, sign);
        }
        let per_channel = self.rest_per_channel();
        self.sh_rest
            .par_iter_mut()
            .enumerate()
            .for_each(|(at, values)| negate(values, sh_sign(axes, at % per_channel)));
    }
}

/// Sign, 1 or -1, by which higher coefficient `k` is multiplied when the signs of axes change.
pub(crate) fn sh_sign(axes: SplatAxes, k: usize) -> f32 {
    let signs = SH_SIGN_AXES[k].iter().zip(axes.signs());
    signs.filter_map(|(is_odd, sign)| is_odd.then_some(sign)).product()
}

fn negate<T: Copy + Neg<Output = T>>(values: &mut [T], sign: f32) {
    if sign < 0.0 {
        values.iter_mut().for_each(|v| *v = -*v);
    }
}
