//! Actions on the splats of a table.

use std::path::Path;

use nalgebra::{Rotation3, UnitQuaternion, Vector3};

use super::condition::Condition;
use super::decimate::{Amount, decimate};
use super::floaters::outlier_factors;
use quadrille_base::math::narrow;
use quadrille_base::{Result, Task};
use quadrille_scene::morton::morton_order;
use quadrille_scene::table::RawColumns;
use quadrille_scene::transform::Similarity;
use quadrille_scene::{Camera, SplatAxes, SplatTable};

/// An operation on the splats of a table, in the raw values of its columns.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Action {
    /// Keeps splats whose centre is inside a box with this least and greatest corner.
    KeepBox([f64; 3], [f64; 3]),
    /// Keeps splats whose centre is inside a sphere with this centre and radius.
    KeepSphere([f64; 3], f64),
    /// Keeps splats for which a condition holds.
    Where(Condition),
    /// Lowers the degree of the spherical harmonics to at most this one.
    LimitSh(u8),
    /// Scales all splats around their own centres by a factor.
    ScaleSplats(f64),
    /// Drops rows with a non-finite number, except infinite opacity logits, or with a zero quaternion.
    DropNan,
    /// Moves all splats by an offset in world units.
    Translate([f64; 3]),
    /// Rotates all splats and their spherical harmonics around the origin, in degrees around x, then y, then z.
    Rotate([f64; 3]),
    /// Scales all splats around the origin by a factor.
    Scale(f64),
    /// Rotates, scales and moves all splats.
    Transform(Similarity),
    /// Converts from the given axes to right, down, forward.
    Axes(SplatAxes),
    /// Drops splats with a local outlier factor above this limit: the factor by which a splat's surroundings are sparser
    /// than the surroundings of its 16 nearest neighbours.
    DropFloaters(f64),
    /// Merges neighbouring splats until this number is left.
    Decimate(Amount),
    /// Sorts splats along a Morton curve of their centres.
    Morton,
}

impl Action {
    /// Applies the action; `path` names the input in errors. The content of `table` is unspecified after an error.
    ///
    /// # Errors
    /// [`Error::Malformed`](quadrille_base::error::Error::Malformed) for rows that an action cannot work with,
    /// [`Error::Argument`](quadrille_base::error::Error::Argument) for an unknown name in a condition and for a move beyond
    /// single precision, and [`Error::Cancelled`](quadrille_base::error::Error::Cancelled).
    pub fn apply(&self, table: &mut SplatTable, path: &Path, task: &Task) -> Result<()> {
        match self {
            Self::KeepBox(low, high) => {
                keep_centres(table, task, |centre| {
                    (0..3).all(|axis| (low[axis]..=high[axis]).contains(&centre[axis]))
                })?;
            }
            Self::KeepSphere(centre, radius) => {
                let centre = Vector3::from(*centre);
                keep_centres(table, task, |at| {
                    (Vector3::from(at) - centre).norm_squared() <= radius * radius
                })?;
            }
            Self::Where(condition) => {
                table.select(&condition.rows(table)?, task)?;
            }
            Self::LimitSh(degree) => {
                if table.sh_degree() > *degree {
                    change(table, path, task, |raw| {
                        raw.set_sh_degree(*degree);
                        Ok(())
                    })?;
                }
            }
            Self::ScaleSplats(factor) => {
                let step = narrow(factor.ln());
                change(table, path, task, |raw| {
                    raw.scale.iter_mut().flatten().for_each(|logarithm| *logarithm += step);
                    Ok(())
                })?;
            }
            Self::DropNan => {
                let rows = table.finite_rows(task)?;
                if rows.len() < table.rows() {
                    table.select(&rows, task)?;
                }
            }
            Self::Translate(_) | Self::Rotate(_) | Self::Scale(_) | Self::Transform(_) => {
                if let Some(by) = self.similarity() {
                    change(table, path, task, |raw| {
                        raw.transform(&by, task)?;
                        raw.check_range()
                    })?;
                    table.turn_directions(by.rotation.to_rotation_matrix().matrix(), by.scale)?;
                }
            }
            Self::Axes(axes) => {
                change(table, path, task, |raw| raw.flip_axes(*axes, task))?;
                table.turn_directions(&axes.matrix(), 1.0)?;
            }
            Self::DropFloaters(factor) => drop_floaters(table, *factor, path, task)?,
            Self::Decimate(amount) => decimate(table, *amount, path, task)?,
            Self::Morton => {
                table.select(&morton_order(&table.raw(path, task)?, task)?, task)?;
            }
        }
        Ok(())
    }

    /// Applies `actions` in order; the progress of `task` counts actions. `path` names the input in
    /// errors. The content of `table` is unspecified after an error.
    pub fn apply_all(
        actions: &[Self],
        table: &mut SplatTable,
        path: &Path,
        task: &Task,
    ) -> Result<()> {
        task.check()?;
        let steps = task.steps(actions.len() as u64);
        for action in actions {
            action.apply(table, path, task)?;
            steps.advance(1)?;
        }
        Ok(())
    }

    /// Whether the action changes the scene on purpose: a crop, a move or the removal of invalid rows. Other actions
    /// serve compression and may lose detail. A condition is a crop unless it reads attributes that affect drawing.
    pub fn is_intended(&self) -> bool {
        match self {
            Self::KeepBox(..)
            | Self::KeepSphere(..)
            | Self::DropNan
            | Self::ScaleSplats(_)
            | Self::Translate(_)
            | Self::Rotate(_)
            | Self::Scale(_)
            | Self::Transform(_)
            | Self::Axes(_) => true,
            Self::Where(condition) => condition.is_crop(),
            Self::LimitSh(_) | Self::DropFloaters(_) | Self::Decimate(_) | Self::Morton => false,
        }
    }

    /// Whether the range of the output format can be checked before the action: true for decimation and reordering.
    pub fn keeps_positions(&self) -> bool {
        matches!(self, Self::Decimate(_) | Self::Morton)
    }

    /// True if the action moves splats.
    pub(super) fn moves(&self) -> bool {
        self.turns() || matches!(self, Self::Translate(_) | Self::Scale(_))
    }

    /// True if the action mirrors the scene.
    pub(super) fn mirrors(&self) -> bool {
        self.similarity().is_none()
    }

    /// True if the action turns or mirrors the axes of the world.
    pub(super) fn turns(&self) -> bool {
        matches!(self, Self::Rotate(_) | Self::Axes(_) | Self::Transform(_))
    }

    /// Returns the camera with the same view after the action as `camera` has before; `None` if the action mirrors. `near` is
    /// the near plane of the views before, in world units: in a smaller world, the camera has a near plane of its own.
    pub fn moved(&self, camera: &Camera, near: f64) -> Option<Camera> {
        let by = self.similarity()?;
        let rotation = by.rotation.to_rotation_matrix();
        let view_from_world = camera.view_from_world * rotation.matrix().transpose();
        let translation = camera.translation_in_view * by.scale - view_from_world * by.translation;
        let of_profile = (by.scale < 1.0).then_some(near);
        Some(Camera {
            view_from_world,
            translation_in_view: translation,
            near_limit: camera.near_limit.or(of_profile).map(|limit| limit * by.scale),
            ..camera.clone()
        })
    }

    /// Transform of the world by the action; `None` if it mirrors.
    pub fn similarity(&self) -> Option<Similarity> {
        let mut by = Similarity::identity();
        match self {
            Self::Translate(offset) => by.translation = Vector3::from(*offset),
            Self::Scale(factor) => by.scale = *factor,
            Self::Transform(similarity) => by = *similarity,
            Self::Rotate(degrees) => {
                let [x, y, z] = degrees.map(f64::to_radians);
                by.rotation = UnitQuaternion::from_euler_angles(x, y, z);
            }
            Self::Axes(axes) => {
                let matrix = axes.matrix();
                let turn = (matrix.determinant() > 0.0).then(|| {
                    UnitQuaternion::from_rotation_matrix(&Rotation3::from_matrix_unchecked(matrix))
                });
                by.rotation = turn?;
            }
            _ => {}
        }
        Some(by)
    }
}

fn drop_floaters(table: &mut SplatTable, factor: f64, path: &Path, task: &Task) -> Result<()> {
    let found = outlier_factors(&table.raw(path, task)?, task)?;
    let kept = (0u32..).zip(found).filter(|(_, found)| f64::from(*found) <= factor);
    let kept: Vec<u32> = kept.map(|(row, _)| row).collect();
    if kept.len() < table.rows() {
        table.select(&kept, task)?;
    }
    Ok(())
}

fn change(
    table: &mut SplatTable,
    path: &Path,
    task: &Task,
    change: impl FnOnce(&mut RawColumns) -> Result<()>,
) -> Result<()> {
    let mut raw = table.raw(path, task)?;
    change(&mut raw)?;
    table.set_raw(raw);
    Ok(())
}

/// Keeps splats whose centre is `inside`; NaN centres are outside.
fn keep_centres(
    table: &mut SplatTable,
    task: &Task,
    inside: impl Fn([f64; 3]) -> bool,
) -> Result<()> {
    let columns = ["x", "y", "z"].map(|name| table.values(name));
    let centre = |row: usize| columns.map(|column| column.map_or(f64::NAN, |c| c.get(row)));
    let rows = u32::try_from(table.rows()).unwrap_or(u32::MAX);
    let rows: Vec<u32> = (0..rows).filter(|row| inside(centre(*row as usize))).collect();
    table.select(&rows, task)
}

#[cfg(test)]
#[path = "tests/action.rs"]
mod tests;
