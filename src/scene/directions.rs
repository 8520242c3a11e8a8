//! Columns besides those of splats whose numbers are directions in the world, such as normals and velocities.

use nalgebra::{Matrix3, Vector3};

use super::raw_values::{beyond_range, is_in_range};
use super::table::{ColumnValues, SplatTable};
use quadrille_base::Result;
use quadrille_base::math::narrow;

/// Triples of names of unit directions: normals.
const DIRECTIONS: [[&str; 3]; 3] = [
    ["nx", "ny", "nz"],
    ["normal_x", "normal_y", "normal_z"],
    ["normal_0", "normal_1", "normal_2"],
];

/// Triples of names of lengths per time.
const LENGTHS: [[&str; 3]; 3] = [
    ["velocity_x", "velocity_y", "velocity_z"],
    ["velocity_0", "velocity_1", "velocity_2"],
    ["vx", "vy", "vz"],
];

/// Prefix of the coefficients of a motion by powers of time, three per power (Spacetime Gaussians).
const MOTION: &str = "motion_";
/// Number of powers of time that are looked for.
const MAX_POWERS: usize = 8;

/// Prefixes of columns that depend on the axes of the world and are not turned: rotations over time of Spacetime Gaussians
/// and 4DGS, and light by direction of Relightable 3DGS.
const NOT_TURNED: [&str; 3] = ["omega_", "rot_r_", "incidents_rest_"];

impl SplatTable {
    /// Turns normals by `turn`, and motions and velocities by `turn` and `scale`. Time scales (`scale_t`) do not change.
    ///
    /// # Errors
    /// [`Error::Argument`](quadrille_base::Error::Argument) for lengths beyond single precision, after which the table is
    /// inconsistent.
    pub fn turn_directions(&mut self, turn: &Matrix3<f64>, scale: f64) -> Result<()> {
        if *turn != Matrix3::identity() {
            for names in DIRECTIONS {
                self.map_vectors(names, turn)?;
            }
        }
        let map = turn * scale;
        if map == Matrix3::identity() {
            return Ok(());
        }
        for names in LENGTHS {
            self.map_vectors(names, &map)?;
        }
        for power in 0..MAX_POWERS {
            let names = [0, 1, 2].map(|axis| format!("{MOTION}{}", 3 * power + axis));
            self.map_vectors(names.each_ref().map(String::as_str), &map)?;
        }
        Ok(())
    }

    /// Names of columns that depend on the axes of the world and are not turned with the splats.
    pub fn names_not_turned(&self) -> impl Iterator<Item = &str> {
        self.names().filter(|name| NOT_TURNED.iter().any(|prefix| name.starts_with(prefix)))
    }

    /// Applies `map` to the vectors in three columns, if the table has them.
    fn map_vectors(&mut self, names: [&str; 3], map: &Matrix3<f64>) -> Result<()> {
        let at = names.map(|name| self.columns.iter().position(|column| column.name == name));
        let [Some(x), Some(y), Some(z)] = at else { return Ok(()) };
        let (mut first_beyond, mut count) = (None, 0);
        for row in 0..self.rows() {
            let vector = Vector3::from([x, y, z].map(|at| self.columns[at].values.get(row)));
            let mapped = map * vector;
            let is_beyond = |axis: &usize| vector[*axis].is_finite() && !is_in_range(mapped[*axis]);
            if let Some(axis) = (0..3).find(is_beyond) {
                first_beyond = first_beyond.or(Some((names[axis], mapped[axis], row)));
                count += 1;
            }
            for (at, value) in [x, y, z].into_iter().zip(&mapped) {
                match &mut self.columns[at].values {
                    ColumnValues::F32(values) => values[row] = narrow(*value),
                    ColumnValues::Other(_, values) => values[row] = *value,
                }
            }
        }
        match first_beyond {
            Some((name, value, row)) => Err(beyond_range(name, value, row, [count, self.rows()])),
            None => Ok(()),
        }
    }
}
