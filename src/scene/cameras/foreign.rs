//! Camera files of other programs that are not JSON, so that errors can name them and a way out.

/// Bytes examined for the words of a format.
const EXAMINED_BYTES: usize = 4096;

/// Describes the content of a file that is not JSON, with a way out; `None` if it is of no known kind.
pub(super) fn of_content(bytes: &[u8]) -> Option<&'static str> {
    let start = String::from_utf8_lossy(&bytes[..bytes.len().min(EXAMINED_BYTES)]);
    let has = |word: &str| start.contains(word);
    let is_table = start.starts_with("#name,") || start.starts_with("#cameras ");
    if has("<document") && has("<chunk") {
        return Some(
            "cameras of Metashape (export them as COLMAP, or convert them by `ns-process-data metashape`)",
        );
    }
    if has("<BlocksExchange") {
        return Some(
            "a BlocksExchange of ContextCapture or Metashape (export the cameras as COLMAP)",
        );
    }
    if is_table && (has(",x,y,") || has(",X,Y,")) {
        return Some(
            "a table of RealityCapture (export the registration as COLMAP, or convert it by `ns-process-data realitycapture`)",
        );
    }
    if start.starts_with("# Bundle file") {
        return Some(
            "a Bundler file (export the cameras as COLMAP from the program that wrote it)",
        );
    }
    if bytes.starts_with(b"\x93NUMPY") {
        return Some(
            "an array of numpy, as poses_bounds.npy of LLFF (use the COLMAP model it was made from)",
        );
    }
    if bytes.starts_with(b"PK\x03\x04") && has(".npy") {
        return Some(
            "arrays of numpy, as cameras_sphere.npz of NeuS (use the COLMAP model or the transforms.json of the data set)",
        );
    }
    numbers_per_line(&start).and_then(|count| match count {
        12 => Some(
            "12 numbers per line, as poses of KITTI, which have no intrinsics (write a transforms.json with transform_matrix and fl_x, w, h)",
        ),
        8 => Some(
            "8 numbers per line, as a trajectory of TUM, which has no intrinsics (write a transforms.json with transform_matrix and fl_x, w, h)",
        ),
        _ => None,
    })
}

/// Numbers per line, if the first line that is no comment consists of several numbers.
fn numbers_per_line(text: &str) -> Option<usize> {
    let line = text.lines().find(|line| !line.trim().is_empty() && !line.starts_with('#'))?;
    let words = line.split_ascii_whitespace();
    words.clone().all(|word| word.parse::<f64>().is_ok()).then(|| words.count())
}
