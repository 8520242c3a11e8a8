//! One subject as a mesh and as splats: the splats that a mesh becomes, and what the units that merge
//! quads of a mesh, and those that merge quads of splats, make of them.
use std::path::Path;
use std::process::Command;

use nalgebra::Vector3;
use quadrille::ColourFormat;
use quadrille::Frame;
use quadrille::Intrinsics;
use quadrille::PlyWriter;
use quadrille::Profile;
use quadrille::Protocol;
use quadrille::SimdLevel;
use quadrille::Splats;
use quadrille::Task;
use quadrille::geometry::camera::MeshCamera;
use quadrille::geometry::files::Corner;
use quadrille::geometry::files::Material;
use quadrille::geometry::files::Mesh;
use quadrille::geometry::files::NONE;
use quadrille::geometry::grid::GridSource;
use quadrille::geometry::triangles::{Adjacency, Triangles};
use quadrille::gpu::config::Config;
use quadrille::gpu::variant::Variant;
use quadrille::gpu::view::PreparedView;
use quadrille::gpu::wiring::Simulator;
use quadrille::gpu::wiring::Watch;
use quadrille::{Camera, SceneInput, load};

use quadrille::mesh::merge::MergeUnitKind;
use quadrille::mesh::merge::PmuSettings;
use quadrille::mesh::merge::QfmSettings;
use quadrille::mesh::shade::ShadeSettings;
use quadrille::mesh::shade::Shader;
use quadrille::mesh::shade::Textures;
use quadrille::raster::samples::SamplePattern;
use quadrille::suite::versus::SPLAT_SHADER;
use quadrille::suite::versus::SplatQuads;
use quadrille::suite::versus::SplatVersion;
use quadrille::suite::versus::SplatsMerged;
use quadrille::suite::versus::splats_of;
use quadrille_base::math::SH_C0;

/// Patches along an edge of the cube.
const SIDE: u32 = 8;
/// Its triangles.
const TRIANGLES: usize = 6 * 2 * (SIDE * SIDE) as usize;

/// Positions and triangles of the cube from -1 to 1, each face cut into patches of two triangles.
fn cube() -> (Vec<[f32; 3]>, Vec<[u32; 3]>) {
    let (mut positions, mut triangles) = (Vec::new(), Vec::new());
    for face in 0..6 {
        let (axis, sign) = (face % 3, if face < 3 { 1.0 } else { -1.0 });
        let first = u32::try_from(positions.len()).unwrap();
        for row in 0..=SIDE {
            for column in 0..=SIDE {
                let mut p = [sign; 3];
                // Turned round on the far sides, so that all faces look outward.
                p[(axis + 1) % 3] = sign * (2.0 * column as f32 / SIDE as f32 - 1.0);
                p[(axis + 2) % 3] = 2.0 * row as f32 / SIDE as f32 - 1.0;
                positions.push(p);
            }
        }
        for k in 0..SIDE * SIDE {
            let a = first + k / SIDE * (SIDE + 1) + k % SIDE;
            let (b, c, d) = (a + 1, a + SIDE + 1, a + SIDE + 2);
            triangles.extend([[a, b, d], [a, d, c]]);
        }
    }
    (positions, triangles)
}

fn mesh() -> Mesh {
    let (positions, triangles) = cube();
    let corner = |&position: &u32| Corner { position, uv: NONE, normal: NONE, colour: NONE };
    let count = u32::try_from(triangles.len()).unwrap();
    Mesh {
        positions,
        corners: triangles.iter().flatten().map(corner).collect(),
        face_starts: (0..=count).map(|f| 3 * f).collect(),
        face_materials: vec![0; triangles.len()],
        draws: std::iter::once(0..count).collect(),
        materials: vec![Material::default()],
        ..Mesh::default()
    }
}

fn view() -> MeshCamera {
    let lens = Intrinsics::from_vertical_fov(141, 105, 0.9);
    let (eye, up) = (Vector3::new(1.9, 2.1, 3.0), Vector3::y());
    let camera = Camera::look_at("v", lens, eye, Vector3::zeros(), up).unwrap();
    MeshCamera::new(camera, 0.05)
}

fn version() -> SplatVersion {
    let source = Triangles::new(mesh(), Adjacency::Vertex, &quadrille::Task::NEVER).unwrap();
    let textures = Textures::new(source.textures(), source.materials());
    let view = view();
    let shader = Shader::new(source.materials(), &textures, &view, ShadeSettings::default());
    splats_of(&source, &view, &shader, &Task::NEVER).unwrap()
}

/// PSNR; infinite when both are the same.
fn psnr(a: &Frame, b: &Frame) -> f64 {
    let compared = quadrille::compare(a, b, Protocol::Float).unwrap();
    compared.psnr_db.unwrap_or(f64::INFINITY)
}

#[test]
fn a_mesh_becomes_a_splat_a_triangle_and_survives_a_file() {
    let version = version();
    assert_eq!((version.splats.len(), version.dropped), (TRIANGLES, 0));
    let mut writer = PlyWriter::new(Vec::new(), TRIANGLES as u64, 0, &[]).unwrap();
    for splat in &version.splats {
        writer.push(splat).unwrap();
    }
    let bytes = writer.finish().unwrap();
    let scene = load(SceneInput::bytes(&bytes).named(Path::new("cube.ply"))).unwrap();
    assert_eq!((scene.splats.len(), scene.dropped.total()), (TRIANGLES, 0));
    for splat in scene.splats.iter() {
        // On the cube, flat against the side that it lies on.
        let on: Vec<usize> = (0..3).filter(|&k| (splat.mean[k].abs() - 1.0).abs() < 1e-6).collect();
        assert_eq!(on.len(), 1, "{:?}", splat.mean);
        assert!(splat.mean.iter().all(|v| v.abs() <= 1.0 + 1e-6));
        let [long, short, thin] = splat.scale;
        assert!(long < 0.4 && long >= short && short > 10.0 * thin && thin > 0.0);
        let [w, x, y, z] = splat.rotation.map(f64::from);
        let turn = nalgebra::UnitQuaternion::new_normalize(nalgebra::Quaternion::new(w, x, y, z));
        assert!((turn * Vector3::z())[on[0]].abs() > 0.9999);
        assert!((0.9..0.99).contains(&splat.opacity));
        let colour = splat.sh[0].map(|c| 0.5 + f64::from(c) * SH_C0);
        assert!(colour.iter().all(|c| (-1e-6..1.0 + 1e-6).contains(c)));
    }
}

/// The splats of the cube through a unit, at a number of samples.
fn through(prepared: &PreparedView<'_>, samples: u32, unit: MergeUnitKind) -> SplatsMerged {
    let pattern = SamplePattern::standard(samples).unwrap().shared();
    let quads = SplatQuads::new(prepared.draw(), pattern, SimdLevel::best(), &Task::NEVER).unwrap();
    quads.merged(prepared.draw(), prepared.shader(), unit, &Task::NEVER).unwrap()
}

#[test]
fn units_of_meshes_merge_within_splats_alone() {
    let splats = Splats::from_splats(0, version().splats);
    let profile = Profile::default();
    let prepared = PreparedView::new(
        &splats,
        &view().camera,
        &profile,
        SimdLevel::best(),
        &quadrille::Task::NEVER,
    )
    .unwrap();
    let unbounded = QfmSettings { entries: None, ..QfmSettings::default() };
    for samples in [1, 4, 16] {
        let none = through(&prepared, samples, MergeUnitKind::None);
        assert_eq!((none.saved(), none.between_splats), (0, 0));
        let bounded = through(&prepared, samples, MergeUnitKind::Qfm(QfmSettings::default()));
        let unbounded = through(&prepared, samples, MergeUnitKind::Qfm(unbounded));
        let pmu = through(&prepared, samples, MergeUnitKind::Pmu(PmuSettings::default()));
        for outcome in [&bounded, &unbounded, &pmu] {
            assert_eq!(outcome.quads, none.quads);
            assert_eq!(outcome.between_splats, 0);
        }
        assert!(bounded.saved() > 0 && unbounded.saved() >= bounded.saved());
        // Quads of other splats lie at the same positions, so merging has candidates.
        let qfm = unbounded.qfm.unwrap();
        assert!(qfm.apart > 1000 && qfm.overlapping > 1000, "{qfm:?}");
        // With one sample no shading pixel is partially covered. The unit keeps the order at each
        // sample.
        assert_eq!(pmu.saved() > 0, samples > 1);
        assert!(psnr(&pmu.picture, &none.picture).is_infinite());
        // Full quads overtake partial ones of nearer splats.
        let db = psnr(&unbounded.picture, &none.picture);
        assert!((20.0..90.0).contains(&db), "{db}");
        assert!(psnr(&bounded.picture, &none.picture) >= db);
    }
    assert!(SPLAT_SHADER.any());
}

#[test]
fn quad_merging_of_splats_is_exact_and_the_order_is_the_pipelines() {
    let splats = Splats::from_splats(0, version().splats);
    let profile = Profile::default();
    let prepared = PreparedView::new(
        &splats,
        &view().camera,
        &profile,
        SimdLevel::best(),
        &quadrille::Task::NEVER,
    )
    .unwrap();
    let mut config = Config::default();
    config.crop.format = ColourFormat::Rgba32F;
    let variants = [Variant::BASELINE, Variant::QM];
    let runs = prepared.run_all(&Simulator::all(&config, &variants, Watch::default()).unwrap());
    let [without, with] = [&runs[0].outcome, &runs[1].outcome];
    let none = through(&prepared, 1, MergeUnitKind::None);
    assert_eq!(none.quads, without.quads.rasterized);
    assert!(none.picture == without.framebuffer.frame());
    assert!(with.quads.blended < without.quads.blended);
    assert!(psnr(&with.framebuffer.frame(), &without.framebuffer.frame()) > 100.0);
}

#[test]
fn the_command_compares() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (positions, triangles) = cube();
    let vertices = positions.iter().map(|[x, y, z]| format!("v {x} {y} {z}\n"));
    let faces = triangles.iter().map(|t| {
        let [a, b, c] = t.map(|v| v + 1);
        format!("f {a} {b} {c}\n")
    });
    let text: String = vertices.chain(faces).collect();
    std::fs::write(path("cube.obj"), text).unwrap();
    let quadrille = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_quadrille"));
        let size = ["--width", "120", "--height", "90"];
        let cube = path("cube.obj");
        let arguments = arguments.iter().chain(&size);
        command.args(["mesh", &cube]).args(arguments).output().unwrap()
    };
    let ply = path("cube.ply");
    let written = quadrille(&["--to-splats", &ply]);
    assert!(written.status.success(), "{written:?}");
    let compared = quadrille(&["--versus", &ply, "--msaa", "4", "--json"]);
    assert!(compared.status.success(), "{compared:?}");
    let document: serde_json::Value = serde_json::from_slice(&compared.stdout).unwrap();
    let rows = document["rows"].as_array().unwrap();
    let of = |subject: &str, unit: &str, samples: u64| {
        let is = |r: &&serde_json::Value| {
            r["subject"] == subject && r["unit"] == unit && r["samples"] == samples
        };
        rows.iter().find(is).unwrap()
    };
    for samples in [1, 4] {
        assert!(of("mesh", "qfm", samples)["saved"].as_u64() > Some(0));
        let splats = of("splats", "qfm", samples);
        assert!(splats["saved"].as_u64() > Some(0));
        assert_eq!(splats["saved_between_splats"], 0);
        assert_eq!(of("splats", "pmu", samples)["saved"], 0);
    }
    assert!(of("splats", "pmu-forced", 4)["saved"].as_u64() > Some(0));
    assert!(of("splats", "qm", 1)["saved"].as_u64() > Some(0));
    assert!(document["splats_vs_mesh_psnr_db"].as_f64() > Some(20.0));
    let refused = quadrille(&["--versus", &ply, "--method", "qfm"]);
    assert!(!refused.status.success());
    let refused = quadrille(&["--versus", &ply, "--orbit", "2"]);
    assert!(!refused.status.success());
}
