//! Cameras as text for scripts: JSON, flags of the command line, and a film's path.

use std::path::Path;

use serde_json::{Value, json};

use quadrille_base::error::{Error, Result};
use quadrille_base::lens::Projection;
use quadrille_base::shading::Profile;
use quadrille_scene::Camera;
use quadrille_scene::cameras::{ViewSpec, Views};

/// Characters besides letters and digits that need no quotes in a POSIX shell.
const PLAIN: &str = "@%+=:,./_-";

/// Largest difference of two pixel counts that a `camera_path.json` stores as one, relative to the sides.
const PIXEL_TOLERANCE: f64 = 1e-9;

/// A camera as JSON: its position, a target at distance 1, and its lens.
pub fn camera_json(camera: &Camera) -> Value {
    let eye = camera.eye();
    let forward = camera.view_from_world.row(2).transpose();
    let up = -camera.view_from_world.row(1).transpose();
    json!({
        "eye": eye.as_slice(),
        "target": (eye + forward).as_slice(),
        "up": up.as_slice(),
        "fov_degrees": camera.fov()[1].to_degrees(),
        "focal_px": camera.focal_px,
        "principal_px": camera.principal_px,
    })
}

/// Command-line flags that reproduce automatically chosen views drawn by `profile`; `None` if the views were fully specified.
pub fn reproducing_flags(views: &Views, profile: &Profile) -> Option<String> {
    let flags = views.completed.as_ref()?.flags();
    let near = views.cameras.first().map(|camera| camera.near(profile));
    let near = near.filter(|near| *near < profile.near).map(|near| format!(" --near {near}"));
    Some(flags + &near.unwrap_or_default())
}

/// The flags of a pinhole from an eye, a target and an up direction, a vertical field of view in degrees, and a width
/// and height in pixels. The camera that they describe equals [`Camera::look_at`] to the last bit.
pub fn look_at_flags(points: [[f64; 3]; 3], fov_degrees: f64, size: [u32; 2]) -> String {
    let [width, height] = size;
    let flags = ViewSpec::pinhole(points, fov_degrees, size).flags();
    format!("{flags} --width {width} --height {height}")
}

/// A word of a command line for a POSIX shell, in quotation marks if it needs them. A leading minus stays, so values of
/// flags follow an equals sign (`--view=-1`); [`shell_path`] is for files.
pub fn shell_quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || PLAIN.contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// A path as [`shell_quoted`], in the current folder by `./` if its name would be taken for a flag.
pub fn shell_path(path: &Path) -> String {
    let path = path.display().to_string();
    match path.starts_with('-') {
        true => shell_quoted(&format!("./{path}")),
        false => shell_quoted(&path),
    }
}

/// Formats the cameras of a film with `fps` frames per second as a `camera_path.json` of nerfstudio's viewer, which
/// [`cameras::load`](quadrille_scene::cameras::load) reads.
///
/// # Errors
/// [`Error::Argument`] without cameras, with a frame rate that is not above 0, and with cameras that the format cannot
/// hold: it has one picture size and, per camera, a vertical field of view of a pinhole with square pixels and a
/// centred principal point.
pub fn camera_path_json(cameras: &[Camera], fps: f64) -> Result<String> {
    let refused = |expected: &str, found: String| Err(Error::argument("path", expected, found));
    let Some(first) = cameras.first() else {
        return refused("at least one camera", "none".to_owned());
    };
    Error::refuse_if(!(fps.is_finite() && fps > 0.0), "fps", "a finite number above 0", fps)?;
    let size = [first.width, first.height];
    for camera in cameras {
        let name = &camera.name;
        let [width, height] = [camera.width, camera.height].map(f64::from);
        let are_equal = |a: f64, b: f64| (a - b).abs() <= PIXEL_TOLERANCE * width.max(height);
        let ([fx, fy], [cx, cy]) = (camera.focal_px, camera.principal_px);
        if !camera.projection.is_pinhole() {
            let found = format!("another projection of \"{name}\"");
            return refused("pinholes, the only lens of a camera_path.json", found);
        }
        if [camera.width, camera.height] != size {
            let expected = format!("pictures of {} x {} pixels", size[0], size[1]);
            return refused(&expected, format!("{width} x {height} of \"{name}\""));
        }
        if !are_equal(fx, fy) {
            let found = format!("focal lengths of {fx} and {fy} pixels of \"{name}\"");
            return refused("square pixels, as a camera_path.json has them", found);
        }
        if !are_equal(cx, width / 2.0) || !are_equal(cy, height / 2.0) {
            let expected =
                "principal points at the centre of the picture, as a camera_path.json has them";
            return refused(expected, format!("{cx},{cy} of \"{name}\""));
        }
    }
    let frames: Vec<Value> = cameras.iter().map(path_frame).collect();
    let path = json!({
        "camera_type": "perspective",
        "render_width": size[0],
        "render_height": size[1],
        "fps": fps,
        "seconds": cameras.len() as f64 / fps,
        "camera_path": frames,
    });
    Ok(format!("{path:#}\n"))
}

/// A camera as a `transforms.json` of one frame, which [`cameras::load`](quadrille_scene::cameras::load) reads; `None` for
/// projections that the format does not have.
pub fn transforms_json(camera: &Camera) -> Option<String> {
    let (model, distortion) = match camera.projection {
        Projection::Pinhole => ("PINHOLE", [0.0; 4]),
        Projection::Fisheye(lens) => ("OPENCV_FISHEYE", lens.coefficients()),
        Projection::Equirectangular => ("EQUIRECTANGULAR", [0.0; 4]),
        Projection::Distorted(_) | Projection::Orthographic => return None,
    };
    let [k1, k2, k3, k4] = distortion;
    let matrix = opengl_pose(camera);
    let transforms = json!({
        "camera_model": model,
        "w": camera.width,
        "h": camera.height,
        "fl_x": camera.focal_px[0],
        "fl_y": camera.focal_px[1],
        "cx": camera.principal_px[0],
        "cy": camera.principal_px[1],
        "k1": k1,
        "k2": k2,
        "k3": k3,
        "k4": k4,
        "frames": [{
            "file_path": camera.name,
            "transform_matrix": matrix.chunks_exact(4).collect::<Vec<_>>(),
        }],
    });
    Some(format!("{transforms:#}\n"))
}

/// Camera-to-world matrix of 4 x 4 in rows, in the axes of OpenGL: right, up and back.
fn opengl_pose(camera: &Camera) -> Vec<f64> {
    let rows = camera.view_from_world;
    let eye = camera.eye();
    let matrix = (0..3).flat_map(|r| [rows[(0, r)], -rows[(1, r)], -rows[(2, r)], eye[r]]);
    matrix.chain([0.0, 0.0, 0.0, 1.0]).collect()
}

fn path_frame(camera: &Camera) -> Value {
    json!({
        "camera_to_world": opengl_pose(camera),
        "fov": camera.fov()[1].to_degrees(),
        "aspect": f64::from(camera.width) / f64::from(camera.height),
    })
}

#[cfg(test)]
mod tests {
    use nalgebra::Vector3;
    use quadrille_base::lens::FisheyeLens;
    use quadrille_scene::Intrinsics;
    use quadrille_scene::cameras::load;

    use super::*;

    fn camera(fov_degrees: f64, eye: [f64; 3]) -> Camera {
        let lens = Intrinsics::from_vertical_fov(640, 360, fov_degrees.to_radians());
        let (eye, target) = (Vector3::from(eye), Vector3::new(0.3, -0.2, 0.1));
        Camera::look_at("key", lens, eye, target, Vector3::new(0.1, -1.0, 0.2)).unwrap()
    }

    #[test]
    fn a_path_is_read_back_as_the_same_cameras() {
        let eyes = [[3.0, -1.0, 2.0], [-40.0, 7.0, 0.1], [0.3, 900.0, 0.7]];
        let cameras: Vec<_> = [(50.0, eyes[0]), (0.7, eyes[1]), (151.3, eyes[2])]
            .map(|(fov, eye)| camera(fov, eye))
            .into();
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("camera_path.json");
        std::fs::write(&file, camera_path_json(&cameras, 29.97).unwrap()).unwrap();
        let read = load(&file).unwrap();
        assert_eq!(read.frame_rate, Some(29.97));
        assert_eq!(read.cameras.len(), cameras.len());
        for (camera, read) in cameras.iter().zip(&read.cameras) {
            assert_eq!([camera.width, camera.height], [read.width, read.height]);
            let off = (camera.view_from_world - read.view_from_world).abs().max();
            assert!(off < 1e-12, "{off}");
            let moved = (camera.translation_in_view - read.translation_in_view).norm();
            assert!(moved < 1e-12 * camera.eye().norm(), "{moved}");
            let fov = (camera.fov()[1] - read.fov()[1]).abs();
            assert!(fov < 1e-12, "{fov}");
            assert_eq!(camera.principal_px, read.principal_px);
        }
    }

    #[test]
    fn a_lens_is_read_back_from_its_transforms() {
        let plain = camera(50.0, [3.0, -1.0, 2.0]);
        let fisheye = FisheyeLens::new([0.1, -0.02, 0.003, 0.0]).unwrap();
        let mut shifted = plain.clone().with_projection(Projection::Fisheye(fisheye));
        shifted.principal_px = [300.25, 190.5];
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("view.json");
        let lenses =
            [plain.clone(), shifted, plain.clone().with_projection(Projection::Equirectangular)];
        for camera in lenses {
            std::fs::write(&file, transforms_json(&camera).unwrap()).unwrap();
            let read = load(&file).unwrap().cameras.remove(0);
            assert_eq!((read.projection, read.name), (camera.projection, camera.name));
            assert_eq!((read.focal_px, read.principal_px), (camera.focal_px, camera.principal_px));
            assert_eq!(read.view_from_world, camera.view_from_world);
            let moved = (camera.translation_in_view - read.translation_in_view).norm();
            assert!(moved < 1e-12, "{moved}");
        }
        assert!(transforms_json(&plain.with_projection(Projection::Orthographic)).is_none());
    }

    #[test]
    fn cameras_that_a_path_cannot_hold_are_refused() {
        let good = camera(50.0, [1.0, 2.0, 3.0]);
        let wide = good.resized(700, 360).unwrap();
        let mut tall = good.clone();
        tall.focal_px[1] *= 1.01;
        let mut shifted = good.clone();
        shifted.principal_px[0] += 0.5;
        let sphere = good.clone().with_projection(Projection::Equirectangular);
        for (other, expected) in [
            (wide.clone(), "pictures of 640 x 360 pixels"),
            (tall, "square pixels"),
            (shifted, "principal points at the centre"),
            (sphere, "pinholes"),
        ] {
            let error = camera_path_json(&[good.clone(), other], 30.0).unwrap_err();
            assert!(error.to_string().contains(expected), "{error}");
        }
        assert!(camera_path_json(&[], 30.0).is_err());
        for fps in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(camera_path_json(std::slice::from_ref(&good), fps).is_err(), "{fps}");
        }
    }

    #[test]
    fn a_shell_reads_quoted_words_as_they_are() {
        let words = [
            "plain-1.0/a_b",
            "",
            "two words",
            "it's",
            "\"$HOME\" `ls` \\ ;&|<>*?[]#~!{}()",
            "-n",
            "a\nb",
            "été",
        ];
        let quoted: Vec<_> = words.into_iter().map(shell_quoted).collect();
        assert_eq!((&*quoted[0], &*quoted[3]), ("plain-1.0/a_b", r"'it'\''s'"));
        let script = format!("for word in {}; do printf '%s\\0' \"$word\"; done", quoted.join(" "));
        let output = std::process::Command::new("sh").args(["-c", &script]).output().unwrap();
        let read = String::from_utf8(output.stdout).unwrap();
        let read: Vec<_> = read.split_terminator('\0').collect();
        assert_eq!(read, words);
        assert_eq!(shell_path("-a b.ply".as_ref()), "'./-a b.ply'");
        assert_eq!(shell_path("/data/b.ply".as_ref()), "/data/b.ply");
    }
}
