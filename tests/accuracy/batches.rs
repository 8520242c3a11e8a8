//! Drawing of scenes in batches.

use quadrille::{Camera, Error, Frame, Recipe, RenderSettings, Renderer, Splats, Synthetic, Task};
use quadrille_render::cpu::{DrawnView, KEPT_BYTES};
use quadrille_render::preprocess::{PixelBounds, ProjectedSplat};
use quadrille_scene::formats::EachBatch;

#[test]
fn pictures_of_batches_are_those_of_the_whole_scene() {
    let sizes = [size_of::<ProjectedSplat>(), size_of::<PixelBounds>(), size_of::<u32>()];
    assert_eq!(KEPT_BYTES, sizes.iter().sum::<usize>());
    let scene = Synthetic::new(Recipe::Room, 3, 10_001, 2).unwrap();
    let whole = scene.splats();
    let all: Vec<_> = whole.iter().collect();
    let cameras: Vec<Camera> = scene.cameras().iter().map(|c| c.resized(90, 50).unwrap()).collect();
    let settings = RenderSettings::default();
    for (batch, kept) in [(10_001, u64::MAX), (4096, u64::MAX), (777, 600_000)] {
        let mut passes = 0;
        let mut drawn = 0;
        let pass = |each: EachBatch<'_>| {
            passes += 1;
            let mut parts = all.chunks(batch);
            parts.try_for_each(|part| each(&Splats::from_splats(2, part.iter().copied())))
        };
        let each = |index: usize, frame: &Frame, (counts, ..): DrawnView| {
            let (expected, of_whole) =
                Renderer::default().render(&whole, &cameras[index], &settings);
            assert!(*frame == expected && counts == of_whole, "{batch}, view {index}");
            drawn += 1;
            Ok(())
        };
        let mut renderer = Renderer::default();
        renderer.render_batches(pass, &cameras, &settings, kept, &Task::NEVER, each).unwrap();
        assert_eq!(drawn, cameras.len());
        assert_eq!(passes > 1, kept < u64::MAX, "{passes} passes");
    }
    let pass = |each: EachBatch<'_>| each(&whole);
    let none = Renderer::default().render_batches(
        pass,
        &cameras,
        &settings,
        1000,
        &Task::NEVER,
        |_, _, _| Ok(()),
    );
    assert!(matches!(none, Err(Error::Limit { .. })));
}
