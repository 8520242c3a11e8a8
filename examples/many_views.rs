//! Draws all cameras of a scene into the same memory, with depth and identifiers beside the colours.
//!
//! ```text
//! cargo run --release --example many_views
//! ```

use std::fmt::Write as _;
use std::path::Path;

use quadrille::{
    Frame, Layer, LayerSettings, Recipe, RenderSettings, Renderer, Result, Synthetic, Task,
};

/// Writes a picture per camera to a folder; returns a line about each.
pub(crate) fn run(folder: &Path) -> Result<String> {
    // Or `quadrille::load("scene.ply")?.splats` and `quadrille::load_cameras("cameras.json")?.cameras`.
    let scene = Synthetic::new(Recipe::Object, 1, 4000, 0)?;
    let splats = scene.splats();
    let layers = LayerSettings { layers: vec![Layer::Depth, Layer::Id], is_distance: false };
    let settings = RenderSettings::default();
    // The renderer and the frame keep their memory from one camera to the next.
    let (mut renderer, mut frame) = (Renderer::default(), Frame::new(0, 0));
    let mut page = String::new();
    for camera in scene.cameras() {
        let camera = camera.resized(160, 90)?;
        let (pictures, counts, times) = renderer.render_layers(
            &mut frame,
            &splats,
            &camera,
            &settings,
            &layers,
            &Task::NEVER,
        )?;
        quadrille::write_picture(folder.join(format!("{}.png", camera.name)), &frame)?;
        // Depths are floats and identifiers whole numbers; pixels without a splat have depth 0.
        let depths = pictures[0].plane(0).iter().filter(|depth| **depth > 0.0);
        let nearest = depths.copied().fold(f32::INFINITY, f32::min);
        let mut ids = pictures[1].whole_plane(0).unwrap_or_default().to_vec();
        ids.sort_unstable();
        ids.dedup();
        let _ = writeln!(
            page,
            "{}: {} splats in view, {} of them in front, the nearest at {nearest:.3}, {:.1?}",
            camera.name,
            counts.splats_in_frustum,
            ids.len(),
            times.total
        );
    }
    Ok(page)
}

#[allow(clippy::print_stdout, reason = "what the example is for")]
fn main() -> Result<()> {
    print!("{}", run(&std::env::temp_dir())?);
    Ok(())
}
