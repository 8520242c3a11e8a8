//! Assumptions that the papers leave open: orders, areas and displacement, each with its effect.

use quadrille::geometry::camera::MeshCamera;
use quadrille::geometry::files::Texture;
use quadrille::geometry::grid::GridSource;
use quadrille::geometry::reorder::TriangleOrder;
use quadrille::geometry::surface::{
    Bumps, HairOrder, HeightChannel, HeightFilter, HeightMap, ProceduralScene, Surface,
};
use quadrille::geometry::tessellate::{GridOrder, TessellateSettings, Tessellated};
use quadrille::geometry::triangles::{Adjacency, Triangles};
use quadrille::mesh::frame::{Cull, DrawnArea, Faces, FrameSettings, VisibleFrame};
use quadrille::mesh::mean_area::tessellate_to_mean;
use quadrille::mesh::merge::{MergeUnitKind, QfmSettings};
use quadrille::mesh::result::MeshResult;
use quadrille::mesh_pipeline::MeshConfig;

use crate::support::mesh::{mesh, pattern, settings, view};

/// A quarter of the sides of the paper's pictures.
const SIZE: [u32; 2] = [432, 270];

fn frame_settings(faces: Faces) -> FrameSettings {
    FrameSettings { size: SIZE, faces, ..settings(pattern(16), Cull::Quads) }
}

fn scene_view(scene: ProceduralScene) -> MeshCamera {
    let camera = scene.viewpoint().camera("scene", SIZE[0], SIZE[1]).unwrap();
    MeshCamera::new(camera, 0.005)
}

fn tessellated(surface: Surface, grid_order: GridOrder) -> Tessellated {
    let settings = TessellateSettings { grid_order, ..TessellateSettings::default() };
    Tessellated::new(surface, settings).unwrap()
}

fn qfm(entries: Option<u32>) -> MergeUnitKind {
    MergeUnitKind::Qfm(QfmSettings { entries, ..QfmSettings::default() })
}

fn counts(
    source: &dyn GridSource,
    view: &MeshCamera,
    settings: &FrameSettings,
    unit: MergeUnitKind,
) -> MeshResult {
    let visible =
        VisibleFrame::new(source, [view, view], settings, &quadrille::Task::NEVER).unwrap();
    MeshResult::of(&visible, &visible.merged(source, unit))
}

/// The queues between stages that exchange beats hold beats, as documented.
#[test]
fn queues_are_documented_in_the_unit_that_they_hold() {
    let fields = MeshConfig::default().fields();
    for name in ["prop.queue", "zrop.queue", "qfm.queue", "pmu.queue"] {
        let field = fields.iter().find(|field| field.name == name).unwrap();
        assert!(
            field.meaning.trim().starts_with("Capacity of the input queue, in beats"),
            "{name}: {}",
            field.meaning
        );
    }
}

/// A small buffer finds fewer merges where neighbours come later. At random, more than two pieces of a quad
/// wait at once, and even an unbounded buffer, which compares the two most recent ones, misses many.
#[test]
fn the_order_inside_a_grid_decides_how_many_merges_a_small_buffer_finds() {
    let scene = ProceduralScene::Plane;
    let (view, settings) = (scene_view(scene), frame_settings(Faces::Material));
    let orders = [GridOrder::Rows, GridOrder::Rings, GridOrder::Random];
    let shaded = |entries| {
        orders.map(|order| {
            let source = tessellated(scene.surface(1), order);
            let found = counts(&source, &view, &settings, qfm(entries));
            (found.triangles, found.merging.rasterized, found.quads_shaded)
        })
    };
    let [small, unbounded] = [Some(32), None].map(shaded);
    for found in [small, unbounded] {
        assert!(
            found
                .iter()
                .all(|(triangles, quads, _)| (*triangles, *quads) == (found[0].0, found[0].1))
        );
    }
    let [rows, rings, random] = small.map(|(_, _, shaded)| shaded);
    assert!(10 * rings > 12 * rows && random > 3 * rings, "{small:?}");
    let [rows, rings, random] = unbounded.map(|(_, _, shaded)| shaded);
    assert!(100 * rings < 105 * rows && random > 2 * rows, "{unbounded:?}");
}

#[test]
fn an_area_is_an_upper_bound_or_a_mean() {
    for scene in [ProceduralScene::SineWave, ProceduralScene::FurBall] {
        let (view, frame) = (scene_view(scene), frame_settings(Faces::Material));
        let mean = |source: &Tessellated| {
            let area = DrawnArea::measure(source, &view, &frame);
            let counted = counts(source, &view, &frame, MergeUnitKind::None);
            assert_eq!(area.mean_px(), counted.mean_area_px);
            area.mean_px().unwrap()
        };
        let settings =
            TessellateSettings { triangle_area_px: 2.0, ..TessellateSettings::default() };
        let surface = scene.surface(1);
        let bound = mean(&Tessellated::new(surface.clone(), settings).unwrap());
        assert!(bound < 2.0, "{bound}");
        let source = tessellate_to_mean(&surface, settings, &view, &frame).unwrap();
        assert!((mean(&source) / 2.0 - 1.0).abs() < 0.03, "{}", mean(&source));
    }
    // Nothing in view: nothing to measure.
    let scene = ProceduralScene::Plane;
    let mut away = scene_view(scene);
    away.camera.translation_in_view.z -= 100.0;
    let settings = TessellateSettings::default();
    let frame = frame_settings(Faces::Material);
    let source = tessellate_to_mean(&scene.surface(1), settings, &away, &frame).unwrap();
    assert_eq!(DrawnArea::measure(&source, &away, &frame).mean_px(), None);
}

/// Hairs that come late behind others are culled before they are shaded.
#[test]
fn hairs_from_front_to_back_are_shaded_less() {
    let scene = ProceduralScene::FurBall;
    let (view, settings) = (scene_view(scene), frame_settings(Faces::Material));
    let orders = [HairOrder::FrontToBack, HairOrder::Random, HairOrder::BackToFront];
    let found = orders.map(|order| {
        let source = tessellated(Surface::fur_ball(1, 3000, order), GridOrder::Rows);
        let found = counts(&source, &view, &settings, qfm(Some(32)));
        (found.triangles, found.quads_shaded)
    });
    assert!(found.iter().all(|(triangles, _)| *triangles == found[0].0));
    let [front, random, back] = found.map(|(_, shaded)| shaded);
    assert!(front < random && random < back, "{found:?}");
    assert_ne!(
        Surface::fur_ball(1, 9, HairOrder::Random).position(8, 0.5, 0.5),
        Surface::fur_ball(2, 9, HairOrder::Random).position(8, 0.5, 0.5)
    );
}

#[test]
fn heights_are_interpolated_as_asked() {
    let texels = [0, 255, 51, 102].map(|alpha| [0, 0, 0, alpha]).to_vec();
    let texture = Texture { width: 4, height: 1, texels, ..Texture::default() };
    let map = HeightMap::new(&texture, HeightChannel::Alpha).unwrap();
    let at = |filter, u: f32| map.clone().filtered(filter).at([u, 0.5]);
    let close = |a: f32, b: f32| (a - b).abs() < 1e-5;
    // Centres of texels are at odd eighths.
    assert!(close(at(HeightFilter::Nearest, 0.375), 1.0));
    assert!(close(at(HeightFilter::Nearest, 0.26), 1.0));
    assert!(close(at(HeightFilter::Nearest, 0.24), 0.0));
    assert!(close(at(HeightFilter::Linear, 0.375), 1.0));
    assert!(close(at(HeightFilter::Linear, 0.25), 0.5));
    assert!(close(at(HeightFilter::Linear, 0.0), 0.2));
    assert!(close(at(HeightFilter::Spline, 0.375), (4.0 + 0.2) / 6.0));
    assert!(close(map.at([0.375, 0.5]), at(HeightFilter::Spline, 0.375)));
}

/// FROG meets each of the four rules of merging (QFM, section 3.1) hundreds of times: fragments have no
/// entry at their position, one that covers a sample of theirs, one that faces the other way, or one
/// that shares no edge.
#[test]
fn every_rule_bars_hundreds_of_merges_of_the_frog() {
    let scene = ProceduralScene::Frog;
    let (view, settings) = (scene_view(scene), frame_settings(Faces::Both));
    let source = tessellated(scene.surface(1), GridOrder::Rows);
    let found = counts(&source, &view, &settings, qfm(Some(32))).merging.qfm.unwrap();
    let elsewhere = found.alone - found.facing_away;
    let by_rule = [elsewhere, found.overlapping, found.facing_away, found.apart];
    assert!(by_rule.iter().all(|&barred| barred > 300), "{by_rule:?}");
    // Without bumps the skin hides no part of its own grid.
    let smooth = Bumps { height: 0.0, ..Bumps::default() };
    let source = tessellated(Surface::frog(smooth, 1), GridOrder::Rows);
    let smooth = counts(&source, &view, &settings, qfm(Some(32)));
    let barred = smooth.merging.qfm.unwrap();
    assert!(20 * barred.overlapping < found.overlapping, "{barred:?}");
}

/// The mesh of a sheet, drawn in three orders: the triangles are the same, the merges are not.
#[test]
fn the_order_of_a_meshs_triangles_decides_how_many_are_merged() {
    const SIDE: u32 = 60;
    let corners = (0..(SIDE + 1) * (SIDE + 1)).map(|k| {
        let [x, y] = [k % (SIDE + 1), k / (SIDE + 1)].map(|v| v as f32 / 20.0 - 1.5);
        [x, y, 4.0]
    });
    let faces = (0..SIDE * SIDE).map(|k| {
        let at = k / SIDE * (SIDE + 1) + k % SIDE;
        vec![at, at + SIDE + 1, at + SIDE + 2, at + 1]
    });
    let mut sheet = mesh(corners.collect(), &faces.collect::<Vec<_>>());
    sheet.materials[0].two_sided = true;
    let (view, settings) = (view(), settings(pattern(4), Cull::Quads));
    let orders = [TriangleOrder::Random, TriangleOrder::File, TriangleOrder::VertexCache];
    let found = orders.map(|order| {
        let source = Triangles::new(sheet.clone(), Adjacency::Vertex, &quadrille::Task::NEVER)
            .unwrap()
            .reordered(order, 1);
        let found = counts(&source, &view, &settings, qfm(Some(32)));
        (found.merging.rasterized, found.quads_shaded)
    });
    let [random, file, cache] = found.map(|(_, shaded)| shaded);
    assert!(found.iter().all(|(quads, _)| *quads == found[0].0), "{found:?}");
    assert!(2 * file < random && 2 * cache < random, "{found:?}");
}
