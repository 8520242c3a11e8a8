//! The readers of files that others made: any bytes are a value that keeps its promises, or a typed error. The target of
//! libFuzzer and the test `formats fuzz` call them.

use std::path::{Component, Path, PathBuf};
use std::sync::LazyLock;

use quadrille_base::Error;
use quadrille_geometry::files::{BezierPatches, Loaded, parse};
use quadrille_scene::cameras::{Exposures, load as load_cameras};
use quadrille_scene::formats::ply::Header;
use quadrille_scene::{MAX_SIDE_PX, Scene, SceneInput, load};

use super::packing::Packed;

/// All readers: extensions of scenes, `folder` (a SOG or a streamed SOG that is unzipped, as an LCC and an LCC2 are), and the formats of cameras and
/// meshes.
pub(crate) const READERS: [&str; 22] = [
    "ply",
    "compressed.ply",
    "spz",
    "sog",
    "ssog",
    "folder",
    "glb",
    "usda",
    "usdc",
    "usdz",
    "lcc",
    "lcc2",
    "ksplat",
    "splat",
    "cameras-json",
    "cameras-txt",
    "cameras-bin",
    "mesh-obj",
    "mesh-ply",
    "mesh-gltf",
    "mesh-draco",
    "mesh-bezier",
];

/// Line between the two files of a COLMAP model.
pub(crate) const CUT: &[u8] = b"\n---\n";

/// A temporary folder of the process.
static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| {
    let folder = std::env::temp_dir().join(format!("quadrille-fuzz-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("temporary folder");
    folder
});

/// Removes the files that the readers of this process were given.
pub(crate) fn remove_files() {
    let _ = std::fs::remove_dir_all(&*FOLDER);
}

/// Reads `bytes` and checks the value.
///
/// # Errors
/// The error of the reader.
///
/// # Panics
/// For a value that breaks a promise.
pub(crate) fn read(reader: &str, bytes: &[u8]) -> Result<(), Error> {
    match reader.split_once('-') {
        Some(("cameras", kind)) => read_cameras(kind, bytes),
        Some(("mesh", "bezier")) => BezierPatches::parse(bytes, Path::new("fuzz")).map(drop),
        Some(("mesh", "draco")) => read_draco(bytes),
        Some(("mesh", kind)) => read_mesh(kind, bytes),
        _ => read_scene(reader, bytes),
    }
}

/// Whether `bytes` begin as files of the reader do; files of other formats belong to the runs of these.
pub(crate) fn has_mark(reader: &str, bytes: &[u8]) -> bool {
    let marks: &[&[u8]] = match reader {
        "ply" | "compressed.ply" | "mesh-ply" => &[b"ply"],
        "spz" => &[b"\x1f\x8b", b"NGSP"],
        "sog" | "ssog" | "folder" | "usdz" | "lcc" | "lcc2" => &[b"PK"],
        "usda" => &[b"#usda"],
        "usdc" => &[b"PXR-USDC"],
        "glb" | "mesh-gltf" => &[b"glTF", b"{"],
        _ => &[b""],
    };
    marks.iter().any(|mark| bytes.starts_with(mark))
}

fn read_scene(extension: &str, bytes: &[u8]) -> Result<(), Error> {
    let name = format!("fuzz.{extension}");
    let path = Path::new(&name);
    let scene = match extension {
        "folder" | "lcc" | "lcc2" => load_unzipped(bytes),
        _ => load(SceneInput::bytes(bytes).named(path)),
    };
    // A header may be right where the body is no scene; then the body is walked.
    if let Ok(header) = Header::parse(bytes, path) {
        let _ = header.check_body(bytes, path);
    }
    for splat in scene?.splats.iter() {
        let finite = splat.mean.iter().chain(&splat.scale).chain(splat.sh.as_flattened());
        assert!(finite.copied().all(f32::is_finite), "{splat:?}");
        assert!((0.0..=1.0).contains(&splat.opacity), "{splat:?}");
        let norm2: f32 = splat.rotation.iter().map(|q| q * q).sum();
        assert!((norm2 - 1.0).abs() < 1e-5, "{splat:?}");
    }
    Ok(())
}

/// Writes the files of a zip into a folder, and loads that.
fn load_unzipped(bytes: &[u8]) -> Result<Scene, Error> {
    let parts = Packed::open(bytes).map_or(Vec::new(), |packed| packed.parts);
    let folder = FOLDER.join("unzipped");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("temporary folder");
    for (name, bytes) in &parts {
        let is_inside = |part| matches!(part, Component::Normal(_));
        if !Path::new(name).components().all(is_inside) {
            continue;
        }
        let path = folder.join(name);
        if let Some(folder) = path.parent() {
            let _ = std::fs::create_dir_all(folder);
        }
        let _ = std::fs::write(path, bytes);
    }
    load(folder)
}

/// Reads a camera file, or a COLMAP model whose two files [`CUT`] separates; and exposures.
fn read_cameras(kind: &str, bytes: &[u8]) -> Result<(), Error> {
    let folder = FOLDER.join(kind);
    std::fs::create_dir_all(&folder).expect("temporary folder");
    let cut = bytes.windows(CUT.len()).position(|window| window == CUT);
    let mut file = match cut {
        Some(at) if kind != "json" => {
            let files = [&bytes[..at], &bytes[at + CUT.len()..]];
            for (name, bytes) in ["cameras", "images"].into_iter().zip(files) {
                let path = folder.join(name).with_extension(kind);
                std::fs::write(path, bytes).expect("temporary file");
            }
            load_cameras(folder)?
        }
        _ => {
            let path = folder.join("cameras.json");
            std::fs::write(&path, bytes).expect("temporary file");
            if Exposures::load(&path).is_ok() {
                return Ok(());
            }
            load_cameras(path)?
        }
    };
    let count = file.cameras.len();
    for camera in &file.cameras {
        let sides = [camera.width, camera.height];
        assert!(sides.iter().all(|side| (1..=MAX_SIDE_PX).contains(side)), "{camera:?}");
        let is_length = |v: &f64| v.is_finite() && *v > 0.0;
        assert!(camera.focal_px.iter().all(is_length), "{camera:?}");
        let place = camera.principal_px.iter().chain(&camera.translation_in_view);
        assert!(place.copied().all(f64::is_finite), "{camera:?}");
        // Rotations of files are rounded.
        assert!(camera.view_from_world.is_special_orthogonal(2e-3), "{camera:?}");
    }
    // A part of a split is an error, or has views.
    if file.select("test:nerfstudio").is_ok() {
        assert!((1..=count).contains(&file.cameras.len()));
    }
    Ok(())
}

/// Reads a mesh. Files that an OBJ names hold what stands from the first material on, and those of a glTF hold the document.
fn read_mesh(extension: &str, bytes: &[u8]) -> Result<(), Error> {
    let mark = b"newmtl";
    let cut = bytes.windows(mark.len()).position(|window| window == mark);
    let (mesh, named) = match extension {
        "obj" => bytes.split_at(cut.unwrap_or(bytes.len())),
        _ => (bytes, bytes),
    };
    let name = format!("fuzz.{extension}");
    check_mesh(&parse(mesh, Path::new(&name), &mut |_| Ok(named.to_vec()))?);
    Ok(())
}

/// Reads a Draco stream by way of a document of 16 vertices and 18 triangles.
fn read_draco(bytes: &[u8]) -> Result<(), Error> {
    let length = bytes.len();
    let document = format!(
        r#"{{"asset": {{"version": "2.0"}}, "nodes": [{{"mesh": 0}}], "meshes": [{{"primitives": [{{
            "attributes": {{"POSITION": 0, "TEXCOORD_0": 1}}, "indices": 2,
            "extensions": {{"KHR_draco_mesh_compression": {{
                "bufferView": 0, "attributes": {{"POSITION": 2, "TEXCOORD_0": 1}}
            }}}}
        }}]}}], "accessors": [
            {{"componentType": 5126, "count": 16, "type": "VEC3"}},
            {{"componentType": 5126, "count": 16, "type": "VEC2"}},
            {{"componentType": 5125, "count": 54, "type": "SCALAR"}}
        ], "bufferViews": [{{"buffer": 0, "byteLength": {length}}}],
        "buffers": [{{"uri": "stream", "byteLength": {length}}}]}}"#
    );
    let path = Path::new("fuzz.gltf");
    let loaded = parse(document.as_bytes(), path, &mut |_| Ok(bytes.to_vec()))?;
    assert_eq!(loaded.mesh.faces(), 18);
    check_mesh(&loaded);
    Ok(())
}

fn check_mesh(Loaded { mesh, .. }: &Loaded) {
    assert!((0..mesh.faces()).all(|face| mesh.face(face).len() >= 3));
    let vertices = mesh.positions.len();
    assert!(mesh.corners.iter().all(|corner| (corner.position as usize) < vertices));
    assert!(mesh.positions.iter().flatten().all(|x| x.is_finite()));
    assert!(mesh.normals.iter().flatten().all(|x| x.is_finite()));
    assert!(mesh.face_materials.iter().all(|m| (*m as usize) < mesh.materials.len()));
}
