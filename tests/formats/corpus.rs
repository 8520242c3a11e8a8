//! Small files of every format that is read, which fuzzing starts from: `QUADRILLE_CORPUS` names a folder into which
//! they are written, in a folder per run of a target of `tests/fuzz`.

use std::path::PathBuf;

use quadrille::load_cameras;

use crate::camera_colmap::{CAMERAS_TXT, IMAGES_TXT, cameras_bin, images_bin};
use crate::camera_files::{INRIA, TRANSFORMS};
use crate::camera_paths::{nerfstudio_path, settings};
use crate::packed_hostile::try_load;
use crate::packed_mutations::seeds;

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

#[test]
fn files_to_fuzz_from_are_read() {
    let temporary = tempfile::tempdir().unwrap();
    let named = std::env::var_os("QUADRILLE_CORPUS").map(PathBuf::from);
    let corpus = named.unwrap_or_else(|| temporary.path().join("corpus"));
    let write = |run: &str, name: &str, bytes: &[u8]| {
        let folder = corpus.join(run);
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join(name), bytes).unwrap();
    };
    for (name, bytes) in seeds() {
        assert!(try_load(&bytes, &name), "{name}");
        let (_, extension) = name.split_once('.').unwrap();
        write(extension, &name, &bytes);
        if extension == "sog" || extension == "ssog" {
            write("folder", &name, &bytes);
        }
    }
    for (name, text) in json_files() {
        let path = temporary.path().join("cameras.json");
        std::fs::write(&path, &text).unwrap();
        assert_eq!(load_cameras(&path).is_ok(), name != "exposures", "{name}");
        write("cameras-json", name, text.as_bytes());
    }
    for (extension, name, files) in colmap_files() {
        let folder = temporary.path().join(extension);
        std::fs::create_dir_all(&folder).unwrap();
        for (stem, bytes) in ["cameras", "images"].into_iter().zip(&files) {
            std::fs::write(folder.join(stem).with_extension(extension), bytes).unwrap();
        }
        let loaded = load_cameras(&folder);
        assert!(loaded.is_ok(), "{extension} {name}: {loaded:?}");
        // The target of cameras cuts its bytes here.
        write(&format!("cameras-{extension}"), &name, &files.join(&b"\n---\n"[..]));
    }
    let runs = std::fs::read_dir(&corpus).unwrap().count();
    assert_eq!(runs, 12, "a folder for each run of tests/fuzz/run.sh");
}
