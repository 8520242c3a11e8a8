//! Names of the files that a mesh consists of: one rule for all formats.
use std::fs;
use std::path::{Path, PathBuf};

use image::{Rgb, RgbImage};
use quadrille::geometry::files::{Loaded, load};
use serde_json::json;

use super::mesh_gltf::{document, set};

/// A folder with pictures of different reds, and a picture outside it.
struct Pictures(tempfile::TempDir);

impl Pictures {
    fn new() -> Self {
        let pictures = Self(tempfile::tempdir().unwrap());
        for (name, red) in [
            ("mesh/wall.png", 10),
            ("mesh/maps/Brick Wall.PNG", 20),
            ("mesh/maps/ROOF.png", 30),
            ("mesh/maps/roof.png", 40),
            ("mesh/50%25.png", 50),
            ("mesh/Stra\u{df}e.png", 60),
            ("outside.png", 70),
        ] {
            let path = pictures.0.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            RgbImage::from_pixel(1, 1, Rgb([red, 0, 0])).save(path).unwrap();
        }
        pictures
    }

    fn mesh(&self, name: &str) -> PathBuf {
        self.0.path().join("mesh").join(name)
    }

    /// Loads meshes of three formats, each with the texture `name`.
    fn load(&self, name: &str) -> Vec<Loaded> {
        let library = format!("newmtl m\nmap_Kd {name}\n");
        fs::write(self.mesh("a.mtl"), library).unwrap();
        let obj = "mtllib a.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nusemtl m\nf 1/1 2/1 3/1\n";
        let ply = format!(
            "ply\nformat ascii 1.0\ncomment TextureFile {name}\nelement vertex 3\nproperty float x\nproperty float y\n\
             property float z\nproperty float s\nproperty float t\nelement face 1\n\
             property list uchar int vertex_indices\nend_header\n0 0 0 0 0\n1 0 0 0 0\n0 1 0 0 0\n3 0 1 2\n"
        );
        let mut gltf = document();
        let material = json!({"pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}});
        set(&mut gltf, "/materials", json!([material]));
        set(&mut gltf, "/meshes/0/primitives/0/material", json!(0));
        set(&mut gltf, "/textures", json!([{"source": 0}]));
        set(&mut gltf, "/images", json!([{"uri": name}]));
        let files = [("a.obj", obj), ("a.ply", &ply), ("a.gltf", &gltf.to_string())];
        let loaded = files.map(|(file, text)| {
            fs::write(self.mesh(file), text).unwrap();
            load(&self.mesh(file), &quadrille::Task::NEVER).unwrap()
        });
        loaded.into()
    }
}

fn red(loaded: &Loaded) -> Option<u8> {
    let texture = loaded.mesh.textures.first()?;
    Some(texture.texels[0][0])
}

// Other systems do not tell names apart that differ in case.
#[cfg(target_os = "linux")]
#[test]
fn names_that_no_file_has_mean_a_file_of_the_folder() {
    let pictures = Pictures::new();
    for (name, expected, meant) in [
        ("wall.png", 10, None),
        ("./maps/roof.png", 40, None),
        ("maps\\roof.png", 40, Some("maps/roof.png")),
        ("maps/brick wall.png", 20, Some("maps/Brick Wall.PNG")),
        ("MAPS\\brick%20wall.png", 20, Some("maps/Brick Wall.PNG")),
        // Of two files that differ in case alone, the one that is written so, else the first.
        ("Maps/ROOF.png", 30, Some("maps/ROOF.png")),
        ("Maps/Roof.png", 30, Some("maps/ROOF.png")),
        ("C:\\Users\\me\\Pictures\\Wall.png", 10, Some("wall.png")),
        ("C:\\work\\maps\\Roof.png", 30, Some("maps/ROOF.png")),
        ("maps/old/roof.png", 40, Some("maps/roof.png")),
        ("/home/me/textures/WALL.PNG", 10, Some("wall.png")),
        ("../elsewhere/wall.png", 10, Some("wall.png")),
        ("maps/../wall.PNG", 10, Some("wall.png")),
        ("none/wall.png", 10, Some("wall.png")),
        ("file:///C:/me/wall.png", 10, Some("wall.png")),
        ("50%25.png", 50, None),
        ("STRA\u{df}E.png", 60, Some("Stra\u{df}e.png")),
    ] {
        for loaded in pictures.load(name) {
            assert_eq!(red(&loaded), Some(expected), "{name}: {:?}", loaded.warnings);
            let warning = match (&loaded.warnings[..], meant) {
                ([], None) => continue,
                ([warning], Some(_)) => warning,
                (other, _) => panic!("{name}: {other:?}"),
            };
            let last = name.rsplit(['/', '\\']).next().unwrap();
            let last = last.replace("%20", " ");
            assert!(
                warning.replace("%20", " ").contains(&last)
                    && warning.contains(&format!("{:?} is read", meant.unwrap())),
                "{name}: {warning}"
            );
        }
    }
}

#[test]
fn no_name_reads_a_file_outside_the_folder() {
    let pictures = Pictures::new();
    let outside = pictures.0.path().join("outside.png");
    let absolute = outside.to_str().unwrap().to_owned();
    let mut names = vec![absolute, "../outside.png".to_owned(), "..\\OUTSIDE.png".to_owned()];
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(&outside, pictures.mesh("linked.png")).unwrap();
        std::os::unix::fs::symlink(pictures.0.path(), pictures.mesh("up")).unwrap();
        names.extend(
            ["linked.png", "Linked.png", "up/outside.png", "UP\\outside.png"].map(str::to_owned),
        );
    }
    names
        .extend(["maps", "none.png", "/", "..", "%00.png", "http://a/none.png"].map(str::to_owned));
    for name in names {
        for loaded in pictures.load(&name) {
            assert_eq!(red(&loaded), None, "{name}: {:?}", loaded.warnings);
            let warnings = &loaded.warnings;
            assert!(
                matches!(&warnings[..], [one] if one.contains("is left out")),
                "{name}: {warnings:?}"
            );
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn libraries_and_buffers_follow_the_same_rule() {
    let pictures = Pictures::new();
    fs::create_dir(pictures.mesh("Lib")).unwrap();
    fs::write(pictures.mesh("Lib/a.mtl"), "newmtl m\nmap_Kd ..\\MAPS\\roof.png\n").unwrap();
    let obj = "mtllib lib\\A.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nusemtl m\nf 1/1 2/1 3/1\n";
    fs::write(pictures.mesh("a.obj"), obj).unwrap();
    let loaded = load(&pictures.mesh("a.obj"), &quadrille::Task::NEVER).unwrap();
    assert_eq!(red(&loaded), Some(40), "{:?}", loaded.warnings);
    assert_eq!(loaded.warnings.len(), 2, "{:?}", loaded.warnings);
    assert!(loaded.files.contains(&pictures.mesh("Lib/a.mtl")));
    assert!(loaded.files.contains(&pictures.mesh("maps/roof.png")));

    // Beside the library, whatever its name begins with.
    fs::copy(pictures.mesh("maps/roof.png"), pictures.mesh("Lib/tin.png")).unwrap();
    fs::write(pictures.mesh("Lib/a.mtl"), "newmtl m\nmap_Kd /home/me/tin.png\n").unwrap();
    let loaded = load(&pictures.mesh("a.obj"), &quadrille::Task::NEVER).unwrap();
    assert_eq!(red(&loaded), Some(40), "{:?}", loaded.warnings);

    let mut gltf = document();
    fs::write(pictures.mesh("Data.bin"), [0; 108]).unwrap();
    set(&mut gltf, "/buffers/0/uri", json!("D:\\export\\data.BIN"));
    fs::write(pictures.mesh("a.gltf"), gltf.to_string()).unwrap();
    let warnings =
        load(Path::new(&pictures.mesh("a.gltf")), &quadrille::Task::NEVER).unwrap().warnings;
    assert!(matches!(&warnings[..], [one] if one.contains("\"Data.bin\" is read")), "{warnings:?}");
}
