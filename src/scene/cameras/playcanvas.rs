//! Camera tracks of the `PlayCanvas` tools: frame lists of splat-transform, and the settings of `SuperSplat`'s viewer.
//!
//! A frame list is `{frameRate, frames: [{position, target, fov, up}]}` with vertical fields of view. Settings hold
//! `animTracks` of keyframes. The viewer plays the first track: it interpolates position, target and field of view by a
//! looping cubic Hermite spline; the field of view is of the longer side. Without a track, `cameras` are views.
//!
//! Both use a world with y up, in which a trained scene is turned by 180 degrees about z.

use nalgebra::Vector3;

use super::camera_file::{CameraFile, NamedCamera, frame_name, view_name};
use super::camera_options::CameraOptions;
use super::framing::{DEFAULT_FOV_DEGREES, DEFAULT_SIDE_PX};
use super::hermite::{HermiteKeys, looped};
use super::json::JsonNode;
use crate::camera::{Camera, Intrinsics};
use quadrille_base::error::Result;
use quadrille_base::math::whole;

/// Frame rate of settings that state none.
const DEFAULT_FRAME_RATE: f64 = 30.0;

/// Limit of frames in a track: an hour at 30 frames per second.
const MAX_FRAMES: f64 = 108_000.0;

/// Up direction of cameras that state none.
const UP: [f64; 3] = [0.0, 1.0, 0.0];

struct Pose {
    position: [f64; 3],
    target: [f64; 3],
    up: [f64; 3],
    fov_degrees: f64,
}

/// Side of the picture that a field of view refers to.
#[derive(Clone, Copy)]
enum FovAxis {
    Vertical,
    Longer,
}

pub(super) fn is_track(root: &JsonNode) -> bool {
    let is_list = || {
        let mut frames = root.get("frames")?.items().ok()?;
        frames.next()?.get("position")
    };
    root.get("animTracks").is_some() || is_list().is_some()
}

pub(crate) fn read(root: &JsonNode, options: &CameraOptions) -> Result<CameraFile> {
    match root.get("frames") {
        Some(frames) => read_frames(root, &frames, options),
        None => read_settings(root, options),
    }
}

impl Pose {
    fn camera(&self, name: &str, axis: FovAxis, options: &CameraOptions) -> Result<Camera> {
        let [width, height] = options.fallback_size_px.unwrap_or(DEFAULT_SIDE_PX);
        let fov = self.fov_degrees.to_radians();
        let intrinsics = match axis {
            FovAxis::Longer if width > height => {
                let focal = f64::from(width) / (2.0 * (fov / 2.0).tan());
                Intrinsics {
                    focal_px: [focal; 2],
                    ..Intrinsics::from_vertical_fov(width, height, fov)
                }
            }
            _ => Intrinsics::from_vertical_fov(width, height, fov),
        };
        let turned = |[x, y, z]: [f64; 3]| Vector3::new(-x, -y, z);
        let [eye, target, up] = [self.position, self.target, self.up].map(turned);
        Camera::look_at(name, intrinsics, eye, target, up)
    }
}

fn file_of(
    root: &JsonNode,
    poses: impl Iterator<Item = Result<(String, String, Pose)>>,
    axis: FovAxis,
    options: &CameraOptions,
) -> Result<CameraFile> {
    let cameras = poses.map(|pose| {
        let (name, place, pose) = pose?;
        let camera = pose
            .camera(&name, axis, options)
            .map_err(|error| error.in_file(root.path, |what| format!("{place}: {what}")))?;
        Ok(NamedCamera { camera, in_file: name })
    });
    CameraFile::of_path(cameras)
}

fn read_frames(root: &JsonNode, frames: &JsonNode, options: &CameraOptions) -> Result<CameraFile> {
    let frames = frames.items()?;
    let count = frames.len();
    let mut lacks_intrinsics = false;
    let poses = frames.enumerate().map(|(index, frame)| {
        let fov = frame.get("fov").map(|fov| fov.degrees()).transpose()?;
        lacks_intrinsics |= fov.is_none();
        let fallback = options.fallback_fov_degrees;
        let pose = Pose {
            position: frame.member("position")?.numbers()?,
            target: frame.member("target")?.numbers()?,
            up: frame.get("up").map_or(Ok(UP), |up| up.numbers())?,
            fov_degrees: fov.or(fallback).unwrap_or(DEFAULT_FOV_DEGREES),
        };
        Ok((frame_name(index, count), frame.place.clone(), pose))
    });
    let mut file = file_of(root, poses, FovAxis::Vertical, options)?;
    file.lacks_intrinsics = lacks_intrinsics;
    file.frame_rate = root.get("frameRate").map(|rate| rate.above_0()).transpose()?;
    Ok(file)
}

fn read_settings(root: &JsonNode, options: &CameraOptions) -> Result<CameraFile> {
    let track = root.member("animTracks")?.items()?.next();
    let Some(track) = track else { return read_still_cameras(root, options) };
    let stated_rate = track.get("frameRate").map(|rate| rate.above_0()).transpose()?;
    let rate = stated_rate.unwrap_or(DEFAULT_FRAME_RATE);
    let keys = track_keys(root, &track, rate, stated_rate.is_none())?;
    let length = track.member("duration")?.above_0()? * rate;
    if length > MAX_FRAMES {
        return Err(track.error(&format!("a duration of at most {MAX_FRAMES} frames")));
    }
    // A last key at the very end of the track is a frame of its own, so the loop is then one frame longer.
    let is_closed = keys.times.last().is_some_and(|last| *last == length);
    let spline = looped(&keys, length + f64::from(u8::from(is_closed)));
    let count = whole_frames(length) + usize::from(is_closed);
    let poses = (0..count).map(|index| {
        let values = spline.at(index as f64);
        let pose = Pose {
            position: [values[0], values[1], values[2]],
            target: [values[3], values[4], values[5]],
            up: UP,
            fov_degrees: values[6],
        };
        Ok((frame_name(index, count), track.place.clone(), pose))
    });
    let mut file = file_of(root, poses, FovAxis::Longer, options)?;
    file.frame_rate = Some(rate);
    Ok(file)
}

fn whole_frames(length: f64) -> usize {
    whole::<usize>(length.round()).max(1)
}

/// Keyframes of a track: three coordinates of the position, three of the target, field of view. Times are in frames.
fn track_keys(
    root: &JsonNode,
    track: &JsonNode,
    rate: f64,
    in_seconds: bool,
) -> Result<HermiteKeys> {
    let keyframes = track.member("keyframes")?;
    let values = keyframes.member("values")?;
    let mut times = keyframes.member("times")?.all_numbers()?;
    if in_seconds {
        times.iter_mut().for_each(|time| *time *= rate);
    }
    let count = times.len();
    let is_ascending = times.windows(2).all(|pair| pair[0] < pair[1]);
    if count == 0 || !is_ascending {
        return Err(keyframes.error("ascending times of at least one keyframe"));
    }
    let column = |key: &str, width: usize| {
        let node = values.member(key)?;
        let numbers = node.all_numbers()?;
        match numbers.len() == count * width {
            true => Ok(numbers),
            false => Err(node.error(&format!("{} numbers", count * width))),
        }
    };
    let (positions, targets) = (column("position", 3)?, column("target", 3)?);
    let fovs = match (values.get("fov"), root.get("camera").and_then(|c| c.get("fov"))) {
        (None, Some(fov)) => vec![fov.degrees()?; count],
        _ => column("fov", 1)?,
    };
    if let Some(bad) = fovs.iter().find(|fov| !(**fov > 0.0 && **fov < 180.0)) {
        return Err(values.error(&format!("fields of view between 0 and 180 degrees, not {bad}")));
    }
    let points = (0..count).map(|i| {
        let (p, t) = (&positions[3 * i..], &targets[3 * i..]);
        vec![p[0], p[1], p[2], t[0], t[1], t[2], fovs[i]]
    });
    let smoothness = track.get("smoothness").map(|node| node.number());
    Ok(HermiteKeys {
        times,
        points: points.collect(),
        smoothness: smoothness.transpose()?.unwrap_or(0.0),
    })
}

fn read_still_cameras(root: &JsonNode, options: &CameraOptions) -> Result<CameraFile> {
    // Settings of version 1 have one camera, of version 2 a list.
    let listed = root.get("cameras").map(|cameras| cameras.items());
    let initial = listed.transpose()?.into_iter().flatten().map(|camera| camera.member("initial"));
    let first = root.get("camera").filter(|c| c.get("position").is_some());
    let poses = initial.chain(first.map(Ok)).enumerate().map(|(index, node)| {
        let node = node?;
        let pose = Pose {
            position: node.member("position")?.numbers()?,
            target: node.member("target")?.numbers()?,
            up: UP,
            fov_degrees: node.member("fov")?.degrees()?,
        };
        Ok((view_name(index), node.place.clone(), pose))
    });
    file_of(root, poses, FovAxis::Longer, options)
}
