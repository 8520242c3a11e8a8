//! Small files of every format that is read, which fuzzing starts from: `QUADRILLE_CORPUS` names a folder into which
//! they are written, in a folder per reader.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::camera_colmap::{CAMERAS_TXT, IMAGES_TXT, cameras_bin, images_bin};
use crate::camera_files::{INRIA, TRANSFORMS};
use crate::camera_paths::{nerfstudio_path, settings};
use crate::fuzz::readers;
use crate::support::packing::Packed;
use crate::support::shared;
use crate::{
    mesh_gltf, mesh_gltf_draco, mesh_gltf_extensions, mesh_gltf_lights, mesh_gltf_morphs,
    mesh_gltf_skins, packed_seeds,
};

/// Names, numbers and numbers of parameters of COLMAP's camera models.
const MODELS: [(&str, i32, usize); 18] = [
    ("SIMPLE_PINHOLE", 0, 3),
    ("PINHOLE", 1, 4),
    ("SIMPLE_RADIAL", 2, 4),
    ("RADIAL", 3, 5),
    ("OPENCV", 4, 8),
    ("OPENCV_FISHEYE", 5, 8),
    ("FULL_OPENCV", 6, 12),
    ("FOV", 7, 5),
    ("SIMPLE_RADIAL_FISHEYE", 8, 4),
    ("RADIAL_FISHEYE", 9, 5),
    ("THIN_PRISM_FISHEYE", 10, 12),
    ("RAD_TAN_THIN_PRISM_FISHEYE", 11, 16),
    ("SIMPLE_DIVISION", 12, 4),
    ("DIVISION", 13, 5),
    ("SIMPLE_FISHEYE", 14, 3),
    ("FISHEYE", 15, 4),
    ("EUCM", 16, 6),
    ("EQUIRECTANGULAR", 17, 2),
];

/// Camera models as text and as binary, with the picture's size first where it is a parameter, then small numbers.
fn models() -> Vec<(String, Vec<u8>, Vec<u8>)> {
    let model = |(name, number, count): (&str, i32, usize)| {
        let first = match (name, count) {
            ("EQUIRECTANGULAR", _) => vec![64.0, 32.0],
            (_, 3) => vec![60.0, 32.0, 16.0],
            ("SIMPLE_RADIAL" | "RADIAL", _) => vec![60.0, 32.0, 16.0],
            ("SIMPLE_RADIAL_FISHEYE" | "RADIAL_FISHEYE" | "SIMPLE_DIVISION", _) => {
                vec![60.0, 32.0, 16.0]
            }
            _ => vec![60.0, 61.0, 32.0, 16.0],
        };
        let rest = std::iter::repeat_n(0.01, count - first.len());
        let parameters: Vec<f64> = first.into_iter().chain(rest).collect();
        let words: Vec<String> = parameters.iter().map(f64::to_string).collect();
        let text = format!("7 {name} 64 32 {}\n", words.join(" "));
        let mut binary = 1_u64.to_le_bytes().to_vec();
        binary.extend(7_u32.to_le_bytes());
        binary.extend(number.to_le_bytes());
        binary.extend([64_u64, 32].iter().flat_map(|side| side.to_le_bytes()));
        binary.extend(parameters.iter().flat_map(|v| v.to_le_bytes()));
        (name.to_lowercase(), text.into_bytes(), binary)
    };
    MODELS.into_iter().map(model).collect()
}

/// The files of COLMAP models: an extension, a name, and the two files.
fn colmap_files() -> Vec<(&'static str, String, [Vec<u8>; 2])> {
    let images_txt = "1 1 0 0 0 1 2 3 7 a/b.jpg\n1.5 2.5 -1\n";
    let mut images = 1_u64.to_le_bytes().to_vec();
    images.extend(1_u32.to_le_bytes());
    let pose = [1.0, 0.0, 0.0, 0.0, 1.0, 2.0, 3.0_f64];
    images.extend(pose.iter().flat_map(|v| v.to_le_bytes()));
    images.extend(7_u32.to_le_bytes());
    images.extend(b"a/b.jpg\0");
    images.extend(0_u64.to_le_bytes());
    let small = ("two".to_owned(), [CAMERAS_TXT, IMAGES_TXT].map(|text| text.as_bytes().to_vec()));
    let mut files = vec![
        ("txt", small.0.clone(), small.1),
        ("bin", small.0, [cameras_bin(0.01), images_bin()]),
    ];
    for (name, text, binary) in models() {
        files.push(("txt", name.clone(), [text, images_txt.as_bytes().to_vec()]));
        files.push(("bin", name, [binary, images.clone()]));
    }
    files
}

/// Camera files in JSON, with names.
fn json_files() -> Vec<(&'static str, String)> {
    vec![
        ("inria", INRIA.to_owned()),
        ("transforms", TRANSFORMS.to_owned()),
        ("path", nerfstudio_path().to_string()),
        ("track", settings(1.0).to_string()),
        ("exposures", r#"{"a/b.jpg": [[0.5,0,0,0.1],[0,0.5,0,0],[0,0,0.5,0]]}"#.to_owned()),
    ]
}

/// Mesh files: a reader, a name, and bytes.
fn mesh_files() -> Vec<(&'static str, &'static str, Vec<u8>)> {
    let obj = "mtllib a.mtl\nv 0 0 0\nv 1 0 0 1 0 0\nv 1 1 0\nv 0 1 0\nvt 0 0\nvt 1\nvn 0 0 2\no square\nusemtl red\n\
        f 1/1/1 2//-1 -2/2 4\nf 1 2 \\\n  3 # 4\nt crease 2/1/0 0 1 2.5\nnewmtl red\nKd 1 0.5 0\nNs 20\nKs 1 1 1\nd 0.5\n";
    let ply = "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\n\
        property uchar red\nproperty uchar green\nproperty uchar blue\nelement face 1\nproperty uchar flags\n\
        property list uchar int vertex_indices\nproperty list uchar float texcoord\nend_header\n0 0 0 1 2 3\n\
        1 0 0 255 0 0\n1 1 0 0 9 9\n0 1 0 4 5 6\n7 4 0 1 2 3 8 0 0 1 0 1 1 0 1\n";
    let mut binary = b"ply\nformat binary_little_endian 1.0\nelement vertex 3\nproperty double x\nproperty float y\n\
        property float z\nelement face 1\nproperty list uchar uint vertex_index\nend_header\n"
        .to_vec();
    for (x, y) in [(0.0_f64, 0.0_f32), (1.0, 0.0), (1.0, 1.0)] {
        binary.extend(x.to_le_bytes().into_iter().chain(y.to_le_bytes()).chain([0; 4]));
    }
    binary.extend([3, 0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0]);
    let row = (1..=16).map(|n| n.to_string()).collect::<Vec<_>>().join(",");
    let points: String = (0..16).map(|n| format!("{},{},0.5\n", n % 4, n / 4)).collect();
    let bezier = format!("1\n{row}\n16\n{points}");
    let [sequential, edgebreaker] = mesh_gltf_draco::streams();
    let mut files = vec![
        ("mesh-obj", "square", obj.into()),
        ("mesh-ply", "text", ply.into()),
        ("mesh-ply", "binary", binary),
        ("mesh-bezier", "patch", bezier.into()),
        ("mesh-draco", "sequential", sequential),
        ("mesh-draco", "edgebreaker", edgebreaker),
    ];
    let square = mesh_gltf::document();
    let json = square.to_string();
    files.push(("mesh-gltf", "container", mesh_gltf::glb(0, &[(b"JSON", json.as_bytes())])));
    let documents = [
        ("square", square),
        ("instanced", mesh_gltf_extensions::instanced()),
        ("lit", mesh_gltf_lights::lit()),
        ("morphed", mesh_gltf_morphs::morphed(&serde_json::json!([0.5, -2.0]))),
        ("skinned", mesh_gltf_skins::skinned()),
    ];
    files.extend(documents.map(|(name, text)| ("mesh-gltf", name, text.to_string().into_bytes())));
    files
}

/// Small files of a reader that this module makes, by name.
pub(crate) fn seeds(reader: &str) -> BTreeMap<String, Vec<u8>> {
    let is_of = |name: &str| {
        let extension = name.split_once('.').map_or("", |(_, extension)| extension);
        extension == reader || reader == "folder" && ["sog", "ssog"].contains(&extension)
    };
    let Some((kind, format)) = reader.split_once('-') else {
        return packed_seeds::seeds().into_iter().filter(|(name, _)| is_of(name)).collect();
    };
    match (kind, format) {
        ("mesh", _) => {
            let files = mesh_files().into_iter().filter(|(of, ..)| *of == reader);
            files.map(|(_, name, bytes)| (name.to_owned(), bytes)).collect()
        }
        (_, "json") => {
            let files = json_files().into_iter();
            files.map(|(name, text)| (name.to_owned(), text.into_bytes())).collect()
        }
        _ => {
            let files = colmap_files().into_iter().filter(|(of, ..)| *of == format);
            files.map(|(_, name, files)| (name, files.join(readers::CUT))).collect()
        }
    }
}

/// Files of a reader that fuzzing found to have other errors than its other files, by name.
pub(crate) fn kept(reader: &str) -> BTreeMap<String, Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz/corpus");
    let Ok(bytes) = std::fs::read(folder.join(reader).with_added_extension("zip")) else {
        return BTreeMap::new();
    };
    Packed::open(&bytes).map_or(BTreeMap::new(), |zip| zip.parts.into_iter().collect())
}

/// Files from the field of up to `most` bytes, in the folders of cases beside the checkout: scenes, cameras and meshes of a
/// reader.
pub(crate) fn field(reader: &str, most: usize) -> Vec<Vec<u8>> {
    let (names, extension) = match reader.strip_prefix("mesh-") {
        Some(kind) => (["cases/meshes", "cases/meshes-2"], kind),
        None => {
            let extension = reader.strip_prefix("cameras-").unwrap_or(reader);
            (["cases/splats", "cases/splats-2"], extension)
        }
    };
    let mut folders: Vec<PathBuf> = names.iter().filter_map(|name| shared::path(name)).collect();
    let mut files = Vec::new();
    let is_model = ["cameras-txt", "cameras-bin"].contains(&reader);
    while let Some(folder) = folders.pop() {
        let mut entries: Vec<PathBuf> =
            std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        entries.sort();
        if is_model {
            let parts =
                ["cameras", "images"].map(|name| folder.join(name).with_extension(extension));
            let parts: Vec<_> = parts.iter().filter_map(|file| std::fs::read(file).ok()).collect();
            files.extend((parts.len() == 2).then(|| parts.join(readers::CUT)));
        }
        for path in entries {
            if path.is_dir() {
                folders.push(path);
            } else if !is_model && path.to_string_lossy().ends_with(&format!(".{extension}")) {
                files.push(std::fs::read(path).unwrap());
            }
        }
    }
    files.retain(|file| file.len() <= most);
    files
}

#[test]
fn files_to_fuzz_from_are_read() {
    let corpus = std::env::var_os("QUADRILLE_CORPUS").map(PathBuf::from);
    for reader in readers::READERS {
        let made = seeds(reader);
        assert!(!made.is_empty(), "{reader}");
        for (name, bytes) in made {
            assert!(readers::has_mark(reader, &bytes), "{reader} {name}");
            let read = readers::read(reader, &bytes);
            assert!(read.is_ok(), "{reader} {name}: {read:?}");
        }
        let Some(folder) = corpus.as_ref().map(|corpus| corpus.join(reader)) else { continue };
        std::fs::create_dir_all(&folder).unwrap();
        for (name, bytes) in seeds(reader).into_iter().chain(kept(reader)) {
            std::fs::write(folder.join(name), bytes).unwrap();
        }
    }
    readers::remove_files();
}
