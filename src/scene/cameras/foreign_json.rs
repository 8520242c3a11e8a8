//! Camera files of other programs in JSON, so that errors can name them and a way out.

use super::json::JsonNode;
use quadrille_base::error::Error;

/// Error for JSON of another program, with a way out; `None` if it is of no known kind.
pub(super) fn of_json(root: &JsonNode) -> Option<Error> {
    let first = root.items().ok().and_then(|mut items| items.next());
    let has = |node: &JsonNode, keys: &[&str]| keys.iter().all(|key| node.get(key).is_some());
    let found = if first.is_some_and(|first| has(&first, &["cameras", "shots"])) {
        "a reconstruction of OpenSfM (export it by `opensfm export_colmap`)"
    } else if has(root, &["sfm_data_version"]) || has(root, &["views", "intrinsics", "extrinsics"])
    {
        "an sfm_data.json of OpenMVG (export it by `openMVG_main_openMVG2Colmap`)"
    } else if has(root, &["views", "intrinsics", "poses"]) {
        "cameras of Meshroom (export them as COLMAP, by its node ExportColmap)"
    } else if has(root, &["keyframes"]) {
        "keyframes of a path without its frames (render the path to frames: nerfstudio's viewer writes them as camera_path)"
    } else {
        return None;
    };
    let expected = "a camera file: cameras.json, transforms.json or a COLMAP model";
    Some(Error::malformed(root.path, "format", expected, found))
}
