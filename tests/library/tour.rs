//! Each task of the library's users in at most 15 lines.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use quadrille::convert::Action;
use quadrille::deferred::camera::{lens::Lens, motion::SceneMotion, shutter::ShutterView};
use quadrille::geometry::camera::MeshCamera;
use quadrille::geometry::files::Mesh;
use quadrille::geometry::triangles::{Adjacency, Triangles};
use quadrille::mesh::frame::{Cull, Faces, FrameSettings, MEMORY_BYTES};
use quadrille::mesh::merge::{MergeUnitKind, PmuSettings, QfmSettings};
use quadrille::mesh_pipeline::{self, MeshConfig};
use quadrille::nalgebra::{Matrix3, Vector3};
use quadrille::raster::samples::SamplePattern;
use quadrille::suite::{Configuration, RunOptions, RunRow, Suite};
use quadrille::{
    Camera, Config, DeferredDrawSettings, Error, Frame, Intrinsics, Layer, LayerSettings,
    MeshDrawSettings, Method, OutputFormat, Protocol, Recipe, RenderSettings, Renderer, Result,
    SceneInput, SimdLevel, Simulation, SplatSlices, SplatTable, Splats, Synthetic, Task,
};

fn vase() -> Synthetic {
    Synthetic::new(Recipe::Object, 1, 2000, 0).unwrap()
}

/// A table of the splats of [`vase`].
fn table() -> SplatTable {
    SplatTable::from_slices(&vase().splats().to_arrays().as_slices()).unwrap()
}

#[test]
fn load_render_write() -> Result<()> {
    let folder = tempfile::tempdir().unwrap();
    let (file, picture) = (folder.path().join("a.ply"), folder.path().join("a.png"));
    quadrille::write_table(&file, &table(), OutputFormat::Ply)?;

    let scene = quadrille::load(&file)?;
    let camera = vase().cameras()[0].resized(64, 36)?;
    let (frame, _) = quadrille::render(&scene.splats, &camera, &RenderSettings::default());
    quadrille::write_picture(&picture, &frame)?;
    assert_eq!(quadrille::read_picture(&picture)?.width(), 64);
    Ok(())
}

#[test]
fn many_cameras_with_progress_and_cancel() {
    let (scene, seen) = (vase(), Arc::new(AtomicU64::new(0)));
    let into = Arc::clone(&seen);
    let task = Task::new().on_progress(move |done, _| into.store(done, Ordering::Relaxed));
    let cameras = vec![scene.cameras()[0].resized(64, 36).unwrap(); 5];
    let (splats, settings) = (scene.splats(), RenderSettings::default());
    let each = |index: usize, _: &Frame| {
        if index == 2 {
            task.cancel();
        }
        Ok(())
    };
    let result = Renderer::default().render_many(&splats, &cameras, &settings, &task, each);
    assert!(matches!(result, Err(Error::Cancelled)));
    assert_eq!(seen.load(Ordering::Relaxed), 3);
}

#[test]
fn depth_normals_and_identifiers() -> Result<()> {
    let (scene, settings, task) = (vase(), RenderSettings::default(), Task::NEVER);
    let (splats, camera) = (scene.splats(), scene.cameras()[0].resized(64, 36)?);
    let mut frame = Frame::new(64, 36);
    let layers = vec![Layer::Depth, Layer::Normal, Layer::Id];
    let layers = LayerSettings { layers, is_distance: false };
    let mut renderer = Renderer::default();
    let drawn = renderer.render_layers(&mut frame, &splats, &camera, &settings, &layers, &task)?;
    assert!(drawn.0[0].plane(0).iter().any(|depth| *depth > 0.0));
    assert!(drawn.0[0].whole_plane(0).is_none() && drawn.0[1].whole_plane(0).is_none());
    assert!((drawn.0[2].whole_plane(0).unwrap().iter()).any(|id| *id < 2000));
    Ok(())
}

#[test]
fn splats_from_slices_and_back() -> Result<()> {
    let slices = SplatSlices {
        means: &[[0.0, 0.0, 1.0], [1.0, 0.0, 2.0]],
        scales: &[[0.1; 3], [0.2; 3]],
        rotations: &[[1.0, 0.0, 0.0, 0.0]; 2],
        opacities: &[0.5, 0.75],
        sh: &[[0.0, 0.5, 1.0]; 2],
    };
    let splats = Splats::from_slices(&slices)?;
    let arrays = splats.to_arrays();
    assert_eq!(arrays.means, slices.means);
    assert_eq!(Splats::from_slices(&arrays.as_slices())?, splats);
    Ok(())
}

#[test]
fn slices_saved_as_spz_and_sog() -> Result<()> {
    let (folder, arrays) = (tempfile::tempdir().unwrap(), vase().splats().to_arrays());
    for (name, format) in [("a.spz", OutputFormat::Spz4), ("a.sog", OutputFormat::Sog)] {
        let path = folder.path().join(name);
        quadrille::write_table(&path, &SplatTable::from_slices(&arrays.as_slices())?, format)?;
        let scene = quadrille::load(SceneInput::bytes(&std::fs::read(&path).unwrap()))?;
        assert_eq!(scene.splats.len(), 2000);
    }
    Ok(())
}

#[test]
fn convert_with_actions() -> Result<()> {
    let mut table = table();
    let actions = [Action::LimitSh(0), Action::DropFloaters(8.0), Action::Morton];
    Action::apply_all(&actions, &mut table, Path::new("vase"), &Task::NEVER)?;
    assert_eq!(table.sh_degree(), 0);
    Ok(())
}

#[test]
fn simulate_with_any_method_and_compare_pictures() -> Result<()> {
    let (scene, splats) = (vase(), vase().splats());
    let camera = scene.cameras()[0].resized(64, 36)?;
    let names = "baseline het+qm multipass:3 interlock compute gscore";
    let methods = Method::parse_all(&names.split(' ').map(str::to_owned).collect::<Vec<_>>())?;
    // Or `quadrille::load("scene.ply")?.profile()`.
    let profile = quadrille::Profile::named("gsplat")?;
    let simulation = Simulation::new(Config::default(), methods).with_profile(profile);
    let outcomes = quadrille::simulate(&splats, &camera, &simulation)?;
    assert_eq!(outcomes.len(), 6);
    let (a, b) = (outcomes[0].frame(), outcomes[4].frame());
    let difference = quadrille::compare(&a, &b, Protocol::Float)?;
    assert!(difference.psnr_db.is_none_or(|db| db > 30.0));
    Ok(())
}

#[test]
fn compare_two_folders() -> Result<()> {
    let (renders, photos) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    for folder in [&renders, &photos] {
        quadrille::write_picture(folder.path().join("0.png"), &Frame::new(64, 36))?;
    }

    for entry in std::fs::read_dir(renders.path()).unwrap() {
        let (render, name) = entry.map(|e| (e.path(), e.file_name())).unwrap();
        let render = quadrille::read_picture(&render)?;
        let photo = quadrille::read_picture(photos.path().join(name))?;
        let difference = quadrille::compare(&render, &photo, Protocol::Inria)?;
        assert_eq!(difference.psnr_db, None, "equal pictures");
    }
    Ok(())
}

#[test]
fn bytes_need_no_path() {
    let error = quadrille::load(SceneInput::bytes(b"ply\nnonsense")).unwrap_err();
    assert!(error.to_string().starts_with("<bytes>: "), "{error}");
    let splat = quadrille::SceneFormat::of_extension("splat").unwrap();
    assert_eq!(
        quadrille::load(SceneInput::bytes(&[0x3f; 64]).format(splat)).unwrap().splats.len(),
        2
    );
    let cameras = quadrille::load_cameras_bytes(b"[]", &quadrille::CameraOptions::default());
    assert!(cameras.unwrap_err().to_string().starts_with("<bytes>: "));
}

/// A square in front of the camera.
fn square() -> Mesh {
    let text = b"v -1 -1 3\nv 1 -1 3\nv 1 1 3\nv -1 1 3\nf 4 3 2 1\n";
    let no_files = &mut |name: &str| unreachable!("{name}");
    let loaded = quadrille::geometry::files::parse(text, Path::new("square.obj"), no_files);
    loaded.unwrap().mesh
}

/// A camera at the origin that looks along z.
fn front() -> Camera {
    let lens = Intrinsics::from_vertical_fov(64, 48, 1.0);
    Camera::new("front", lens, Matrix3::identity(), Vector3::zeros()).unwrap()
}

#[test]
fn draw_a_mesh() -> Result<()> {
    // Or `quadrille::load_mesh("bunny.obj".as_ref(), &quadrille::Task::NEVER)?.mesh`.
    let mesh = square();
    let settings = MeshDrawSettings {
        samples: 8,
        unit: MergeUnitKind::Pmu(PmuSettings::default()),
        ..MeshDrawSettings::default()
    };
    let (picture, counts) = quadrille::draw_mesh(&mesh, &front(), &settings)?;
    assert!(picture.width() == 64 && counts.pixels_covered > 0);
    Ok(())
}

#[test]
fn a_mesh_in_cycles() -> Result<()> {
    let source = Triangles::new(square(), Adjacency::Vertex, &quadrille::Task::NEVER).unwrap();
    let (view, config) = (MeshCamera::new(front(), 0.1), MeshConfig::default());
    let settings = FrameSettings {
        size: [64, 48],
        pattern: SamplePattern::standard(4)?.shared(),
        faces: Faces::Material,
        cull: Cull::Quads,
        memory_bytes: MEMORY_BYTES,
        level: SimdLevel::best(),
    };
    let unit = MergeUnitKind::Qfm(QfmSettings::default());
    let timed = mesh_pipeline::run(&source, &view, &settings, &config, unit, &Task::NEVER)?;
    assert!(timed.cycles > 0);
    Ok(())
}

#[test]
fn a_deferred_frame() -> Result<()> {
    let source = Triangles::new(square(), Adjacency::Vertex, &quadrille::Task::NEVER).unwrap();
    let lens = Lens::from_blur_at_infinity(4.0, front().focal_px[0], 2.0)?;
    let view = ShutterView::new(&front(), 0.05, lens, SceneMotion::NONE)?;
    let frame = quadrille::draw_deferred(&source, &view, &DeferredDrawSettings::default())?;
    assert!(frame.pipelines[0].picture.is_some() && frame.blur.coc_px.median > 0.0);
    Ok(())
}

#[test]
fn run_a_suite_and_read_its_rows() -> Result<()> {
    let text = "method = ['baseline', 'het']\n[matrix]\ntc.bins = [8, 32]\n[[scene]]\n\
                name = 'vase'\nrecipe = 'object'\nsplats = 500\nviews = '0'\nwidth = 48";
    let suite = Suite::parse(text, Path::new("suite.toml"))?;
    let (task, bases) = (Task::new(), [Configuration::default()]);
    let plan = suite.plan(&bases, quadrille::PROGRAM, &task, &mut |_| {})?;
    let options = RunOptions { task: &task, ..RunOptions::default() };
    let (rows, _) = RunRow::split(plan.run(&options, &mut |_| {})?);
    assert_eq!((rows.len(), rows[0].methods[1].name.as_str()), (2, "het"));
    assert!(rows[0].methods[1].cycles <= rows[0].methods[0].cycles);
    Ok(())
}
