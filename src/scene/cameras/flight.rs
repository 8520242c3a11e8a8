//! Flights: camera paths that are generated from the cameras of a scene.
//!
//! Spiral and ellipse follow the paths of mip-NeRF 360 (`camera_utils.py`) as gsplat's viewer scripts use
//! them (`examples/datasets/traj.py`), without their normalisation of the scene: the middle, the up
//! direction and the axes come from the cameras. The interpolated path goes through the cameras themselves.

use std::str::FromStr;

use nalgebra::{Matrix2, Matrix3, Vector2, Vector3};

use super::camera_file::frame_name;
use crate::camera::{Camera, Intrinsics};
use quadrille_base::error::{Error, Result};
use quadrille_base::math::order::quantile;
use quadrille_base::math::spline::CubicSpline;
use quadrille_base::math::whole;

const SPIRAL_TURNS: f64 = 2.0;
/// Oscillations along the line of sight per turn.
const SPIRAL_DEPTH_RATE: f64 = 0.5;
/// Share of the cameras inside the radii of a spiral or an ellipse.
const RADIUS_SHARE: f64 = 0.9;
/// Distance from the eye of the points of orientation, in extents of the cameras. It weighs turning against moving.
const TURN_WEIGHT: f64 = 0.1;
/// Smallest eigenvalue of the normal equations of [`focus`], per camera, below which lines of sight count as parallel.
const LEAST_CONVERGENCE: f64 = 1e-6;

/// Leading elements of [`Pose::point`] that are coordinates of its three points.
const PLACES: usize = 9;
/// Limit on frames, which wrong times or rates exceed: an hour at 27 frames per second.
const MAX_FRAMES: f64 = 100_000.0;
/// Tolerance, in frames, for the rounded time of the last key.
const FRAME_SLACK: f64 = 1e-6;

/// Shape of a generated camera path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flight {
    /// Two turns around the mean camera, towards the point that the cameras look at; for scenes that were
    /// taken from one side.
    Spiral,
    /// An ellipse around the point that the cameras look at, at their mean height; for scenes that were
    /// taken from all sides.
    Ellipse,
    /// A cubic spline through the cameras in their order.
    Interpolate,
}

impl Flight {
    const ALL: [(&str, Self); 3] =
        [("spiral", Self::Spiral), ("ellipse", Self::Ellipse), ("interpolate", Self::Interpolate)];
}

impl FromStr for Flight {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        let found = Self::ALL.into_iter().find(|(own, _)| *own == name);
        found.map(|(_, flight)| flight).ok_or_else(|| {
            let names = Self::ALL.map(|(own, _)| own);
            Error::unknown_name("path", format!("one of {}", names.join(", ")), name, names)
        })
    }
}

/// Generates `count` cameras named `frame_0000` onwards from at least two `keys`, with the picture size and lens of the
/// first. [`Flight::Interpolate`] also interpolates focal lengths and principal points.
///
/// # Errors
/// [`Error::Argument`] when there are fewer than two cameras or frames, cameras with pictures of
/// different sizes, or cameras that define no such path: all at one place, or with parallel lines of sight.
pub fn fly(flight: Flight, keys: &[Camera], count: usize) -> Result<Vec<Camera>> {
    let poses = poses(keys)?;
    Error::refuse_if(count < 2, "frames", "2 or more", count)?;
    let frames = match flight {
        Flight::Spiral => spiral(&poses, count)?,
        Flight::Ellipse => ellipse(&poses, count)?,
        Flight::Interpolate => interpolated(&poses, count)?,
    };
    cameras(keys, &frames)
}

/// Generates cameras like [`fly`], on a cubic spline through `keys`. The number of a key is the time in seconds since the
/// previous key; the first number is ignored. Frames follow at `fps` per second from the first key to the last one.
///
/// # Errors
/// Errors of [`fly`], and [`Error::Argument`] if a time or `fps` is not finite and above 0, or for over 100,000 frames.
pub fn fly_keys(keys: &[(Camera, f64)], fps: f64) -> Result<Vec<Camera>> {
    let (key_cameras, seconds): (Vec<Camera>, Vec<f64>) = keys.iter().cloned().unzip();
    let poses = poses(&key_cameras)?;
    let above_0 = |what: String, number: f64| {
        let is_good = number.is_finite() && number > 0.0;
        let error = || Error::argument(what, "a finite number above 0", number);
        is_good.then_some(number).ok_or_else(error)
    };
    let (mut times, mut end) = (vec![0.0], 0.0);
    for (key, seconds) in seconds.into_iter().enumerate().skip(1) {
        end += above_0(format!("seconds of key {key}"), seconds)?;
        times.push(end);
    }
    let count = (end * above_0("fps".to_owned(), fps)? + FRAME_SLACK).floor() + 1.0;
    if count > MAX_FRAMES {
        return Err(no_path(&format!("at most {MAX_FRAMES} frames"), &count.to_string()));
    }
    let reach = reach(&poses);
    let spline = CubicSpline::through(times, poses.iter().map(|pose| pose.point(reach)).collect());
    let frames = (0..whole(count)).map(|index: u32| Pose::at(&spline, f64::from(index) / fps));
    cameras(&key_cameras, &frames.collect::<Vec<_>>())
}

/// Poses of the keys, after a check that there are two or more with pictures of one size.
fn poses(keys: &[Camera]) -> Result<Vec<Pose>> {
    let [first, _, ..] = keys else {
        let found = format!("{}", keys.len());
        return Err(Error::argument(
            "path",
            "at least two cameras in the camera file (--cameras names the file, --view chooses cameras; --orbit N needs none)",
            found,
        ));
    };
    let size = [first.width, first.height];
    if let Some(other) = keys.iter().find(|key| [key.width, key.height] != size) {
        let expected = format!("cameras with pictures of {} x {} pixels", size[0], size[1]);
        let found = format!("{} x {} of \"{}\"", other.width, other.height, other.name);
        return Err(Error::argument("path", expected, found));
    }
    Ok(keys.iter().map(Pose::of).collect())
}

/// Cameras of the frames, with the picture size and projection of the first key and the lowest limit of near planes.
fn cameras(keys: &[Camera], frames: &[Pose]) -> Result<Vec<Camera>> {
    let first = &keys[0];
    let near_limit = keys.iter().filter_map(|key| key.near_limit).reduce(f64::min);
    let named = frames.iter().enumerate().map(|(index, pose)| {
        let name = frame_name(index, frames.len());
        let lens = Intrinsics {
            width: first.width,
            height: first.height,
            focal_px: pose.focal_px,
            principal_px: pose.principal_px,
        };
        let pinhole = Camera::look_at(name, lens, pose.eye, pose.eye + pose.forward, pose.up)?;
        Ok(Camera { near_limit, ..pinhole.with_projection(first.projection) })
    });
    named.collect()
}

#[derive(Debug, Clone, Copy)]
struct Pose {
    eye: Vector3<f64>,
    forward: Vector3<f64>,
    up: Vector3<f64>,
    focal_px: [f64; 2],
    principal_px: [f64; 2],
}

impl Pose {
    fn of(camera: &Camera) -> Self {
        Self {
            eye: camera.eye(),
            forward: camera.view_from_world.row(2).transpose(),
            up: -camera.view_from_world.row(1).transpose(),
            focal_px: camera.focal_px,
            principal_px: camera.principal_px,
        }
    }

    /// Numbers to interpolate: the eye, points at the distance `reach` ahead of it and above it, and the lens.
    fn point(&self, reach: f64) -> Vec<f64> {
        let (ahead, above) = (self.eye + self.forward * reach, self.eye + self.up * reach);
        let places = [self.eye, ahead, above].map(<[f64; 3]>::from);
        [&places.concat()[..], &self.focal_px, &self.principal_px].concat()
    }

    /// Pose at a time of a spline through [`Self::point`]s. Its directions are not normalised.
    fn at(spline: &CubicSpline, time: f64) -> Self {
        let v = spline.at(time);
        let place = |i: usize| Vector3::new(v[3 * i], v[3 * i + 1], v[3 * i + 2]);
        Self {
            eye: place(0),
            forward: place(1) - place(0),
            up: place(2) - place(0),
            focal_px: [v[9], v[10]],
            principal_px: [v[11], v[12]],
        }
    }
}

fn mean(poses: &[Pose], of: fn(&Pose) -> Vector3<f64>) -> Vector3<f64> {
    poses.iter().map(of).sum::<Vector3<f64>>() / poses.len() as f64
}

fn no_path(expected: &str, found: &str) -> Error {
    Error::argument("path", expected, found)
}

/// Point nearest to all lines of sight, by least squares.
fn focus(poses: &[Pose]) -> Result<Vector3<f64>> {
    let (mut system, mut right) = (Matrix3::zeros(), Vector3::zeros());
    for pose in poses {
        let across = Matrix3::identity() - pose.forward * pose.forward.transpose();
        system += across;
        right += across * pose.eye;
    }
    let least = (system / poses.len() as f64).symmetric_eigenvalues().min();
    let inverse = system.try_inverse().filter(|_| least > LEAST_CONVERGENCE).ok_or_else(|| {
        no_path("cameras that look towards a common point", "parallel lines of sight")
    })?;
    Ok(inverse * right)
}

/// Radius along `axis` that contains [`RADIUS_SHARE`] of the cameras.
fn radius(poses: &[Pose], centre: Vector3<f64>, axis: Vector3<f64>) -> f64 {
    let distances = poses.iter().map(|p| (p.eye - centre).dot(&axis).abs());
    quantile(&mut distances.collect::<Vec<_>>(), RADIUS_SHARE)
}

fn spiral(poses: &[Pose], count: usize) -> Result<Vec<Pose>> {
    let (eye, up) = (mean(poses, |p| p.eye), mean(poses, |p| p.up));
    let expected = "cameras that look in one direction for a spiral";
    let found = "opposite directions";
    let forward = mean(poses, |p| p.forward).try_normalize(1e-9);
    let forward = forward.ok_or_else(|| no_path(expected, found))?;
    let right = forward.cross(&up).try_normalize(1e-9).ok_or_else(|| no_path(expected, found))?;
    let above = right.cross(&forward);
    let depth = (focus(poses)? - eye).dot(&forward);
    if depth <= 0.0 {
        let expected = "cameras whose lines of sight meet in front of them";
        return Err(no_path(expected, "lines that meet behind them"));
    }
    let target = eye + forward * depth;
    let radii = [right, above, forward].map(|axis| radius(poses, eye, axis));
    let frames = (0..count).map(|index| {
        let angle = std::f64::consts::TAU * SPIRAL_TURNS * index as f64 / count as f64;
        let along = (angle * SPIRAL_DEPTH_RATE).sin();
        let offset = right * (radii[0] * angle.cos())
            + above * (radii[1] * angle.sin())
            + forward * (radii[2] * along);
        let eye = eye + offset;
        Pose { eye, forward: target - eye, up, ..poses[0] }
    });
    Ok(frames.collect())
}

fn ellipse(poses: &[Pose], count: usize) -> Result<Vec<Pose>> {
    let up = mean(poses, |p| p.up)
        .try_normalize(1e-9)
        .ok_or_else(|| no_path("cameras with a common up direction", "opposite directions"))?;
    let focus = focus(poses)?;
    let height = (mean(poses, |p| p.eye) - focus).dot(&up);
    let centre = focus + up * height;
    let axes = main_axes(poses, up);
    let radii = axes.map(|axis| radius(poses, centre, axis));
    if radii.iter().any(|radius| *radius <= 0.0) {
        return Err(no_path("cameras around their common subject", "a line of cameras"));
    }
    let frames = (0..count).map(|index| {
        let angle = std::f64::consts::TAU * index as f64 / count as f64;
        let eye = centre + axes[0] * (radii[0] * angle.cos()) + axes[1] * (radii[1] * angle.sin());
        Pose { eye, forward: focus - eye, up, ..poses[0] }
    });
    Ok(frames.collect())
}

/// Principal axes of the eyes in the plane across `up`, longer first. The largest component of the first is positive.
fn main_axes(poses: &[Pose], up: Vector3<f64>) -> [Vector3<f64>; 2] {
    let x = up.cross(&Vector3::ith(up.iamin(), 1.0)).normalize();
    let y = up.cross(&x);
    let middle = mean(poses, |p| p.eye);
    let spread: Matrix2<f64> = poses
        .iter()
        .map(|p| Vector2::new((p.eye - middle).dot(&x), (p.eye - middle).dot(&y)))
        .map(|p| p * p.transpose())
        .sum();
    // The angle of the first principal axis of a symmetric 2x2 matrix.
    let angle = (2.0 * spread[(0, 1)]).atan2(spread[(0, 0)] - spread[(1, 1)]) / 2.0;
    let first = x * angle.cos() + y * angle.sin();
    let outwards = |axis: Vector3<f64>| axis * axis[axis.iamax()].signum();
    let first = outwards(first);
    [first, up.cross(&first)]
}

/// Distance from the eye of the points that represent orientation in an interpolation.
fn reach(poses: &[Pose]) -> f64 {
    let middle = mean(poses, |p| p.eye);
    let extent = poses.iter().map(|p| (p.eye - middle).norm()).fold(0.0, f64::max);
    TURN_WEIGHT * if extent > 0.0 { extent } else { 1.0 }
}

fn interpolated(poses: &[Pose], count: usize) -> Result<Vec<Pose>> {
    let reach = reach(poses);
    let mut points: Vec<Vec<f64>> = Vec::new();
    let mut times: Vec<f64> = Vec::new();
    for pose in poses {
        let point = pose.point(reach);
        // Time is the distance travelled, so that the speed is even.
        let moved = points.last().map(|last| {
            last.iter().zip(&point).take(PLACES).map(|(a, b)| (b - a) * (b - a)).sum::<f64>().sqrt()
        });
        if moved == Some(0.0) {
            continue;
        }
        times.push(times.last().unwrap_or(&0.0) + moved.unwrap_or(0.0));
        points.push(point);
    }
    let Some(end) = times.last().copied().filter(|_| times.len() > 1) else {
        return Err(no_path("cameras with different poses", "cameras with the same pose"));
    };
    let spline = CubicSpline::through(times, points);
    Ok((0..count).map(|index| Pose::at(&spline, end * index as f64 / (count - 1) as f64)).collect())
}
