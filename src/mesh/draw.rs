//! Drawing of a mesh in one call.

use nalgebra::Vector3;

use super::frame::{Cull, Faces, FrameSettings, MEMORY_BYTES, VisibleFrame};
use super::merge::MergeUnitKind;
use super::result::MeshResult;
use super::shade::{Sampling, ShadeSettings, Shader, Textures};
use quadrille_base::image::Frame;
use quadrille_base::math::SimdLevel;
use quadrille_base::raster::samples::SamplePattern;
use quadrille_base::{Error, Result, Task};
use quadrille_geometry::camera::MeshCamera;
use quadrille_geometry::files::Mesh;
use quadrille_geometry::grid::GridSource;
use quadrille_geometry::triangles::{Adjacency, Triangles};
use quadrille_scene::Camera;

/// Near plane distance as a share of the distance to the mesh's middle.
const NEAR_SHARE: f64 = 1e-3;

/// Settings of [`draw_mesh`].
#[derive(Debug, Clone)]
pub struct MeshDrawSettings {
    /// Samples per pixel: 1, 2, 4, 8 or 16.
    pub samples: u32,
    /// Merging unit between the depth test and the shader.
    pub unit: MergeUnitKind,
    /// Sides of triangles that are drawn.
    pub faces: Faces,
    /// Granularity of depth culling before shading.
    pub cull: Cull,
    /// Vertex property that adjacent triangles share along their common edge.
    pub adjacency: Adjacency,
    /// Point at which shading inputs are sampled.
    pub sampling: Sampling,
    /// Albedo, lighting and exposure of the shader.
    pub shade: ShadeSettings,
    /// Background colour in sRGB; `None` keeps premultiplied alpha.
    pub background: Option<[f32; 3]>,
    /// Near plane distance in world units; `None` for a thousandth of the distance to the middle of the mesh.
    pub near: Option<f64>,
    /// Task whose cancellation ends the drawing with an error.
    pub task: Task,
}

impl Default for MeshDrawSettings {
    /// Four samples per pixel, no merging, an early depth test, a black background.
    fn default() -> Self {
        Self {
            samples: 4,
            unit: MergeUnitKind::None,
            faces: Faces::Material,
            cull: Cull::Quads,
            adjacency: Adjacency::Vertex,
            sampling: Sampling::Centre,
            shade: ShadeSettings::default(),
            background: Some([0.0; 3]),
            near: None,
            task: Task::NEVER,
        }
    }
}

/// Draws the triangles of a mesh on all cores; returns the picture and the counts. A mesh with lights is lit only by them.
///
/// # Errors
/// [`Error::Argument`] if the number of samples is not 1, 2, 4, 8 or 16 or the near plane is not in front of the camera;
/// [`Error::Limit`] for 2^31 quads or more; [`Error::Cancelled`].
///
/// # Examples
///
/// ```
/// use std::path::Path;
///
/// use nalgebra::{Matrix3, Vector3};
/// use quadrille_mesh::draw::{MeshDrawSettings, draw_mesh};
/// use quadrille_mesh::merge::{MergeUnitKind, QfmSettings};
/// use quadrille_scene::{Camera, Intrinsics};
///
/// // `quadrille_geometry::files::load(path)` reads a file; here the text of one stands in its place.
/// let text = b"v -1 -1 3\nv 1 -1 3\nv 1 1 3\nv -1 1 3\nf 4 3 2 1\n";
/// let no_files = &mut |name: &str| unreachable!("{name}");
/// let mesh = quadrille_geometry::files::parse(text, Path::new("square.obj"), no_files)?.mesh;
///
/// let lens = Intrinsics::from_vertical_fov(16, 12, 1.0);
/// let camera = Camera::new("front", lens, Matrix3::identity(), Vector3::zeros())?;
/// let settings = MeshDrawSettings {
///     // The published 32 entries suffice for micropolygons; these triangles are large.
///     unit: MergeUnitKind::Qfm(QfmSettings {
///         entries: None,
///         ..QfmSettings::default()
///     }),
///     ..MeshDrawSettings::default()
/// };
/// let (picture, counts) = draw_mesh(&mesh, &camera, &settings)?;
/// assert_eq!((picture.width(), picture.height()), (16, 12));
/// assert!(counts.pixels_covered > 0);
/// // Quads along the diagonal of the square are shaded once, not once per triangle.
/// assert!(counts.quads_merged() > 0);
/// # Ok::<(), quadrille_base::Error>(())
/// ```
pub fn draw_mesh(
    mesh: &Mesh,
    camera: &Camera,
    settings: &MeshDrawSettings,
) -> Result<(Frame, MeshResult)> {
    let task = &settings.task;
    let source = Triangles::new(mesh, settings.adjacency, task)?;
    let near = match settings.near {
        None => near_plane(&camera.relative_to(mesh.origin), source.bounds()),
        Some(near) if near > 0.0 && near.is_finite() => near,
        Some(near) => {
            return Err(Error::argument("near", "a distance above 0", near));
        }
    };
    let view = MeshCamera::new(camera.clone(), near).relative_to(mesh.origin);
    let frame = FrameSettings {
        size: [camera.width, camera.height],
        pattern: SamplePattern::standard(settings.samples)?.shared(),
        faces: settings.faces,
        cull: settings.cull,
        memory_bytes: MEMORY_BYTES,
        level: SimdLevel::best(),
    };
    let visible = VisibleFrame::new(&source, [&view, &view], &frame, task)?;
    let shading = visible.merged(&source, settings.unit);
    task.check()?;
    let textures = Textures::new(source.textures(), source.materials());
    let mut shader = Shader::new(source.materials(), &textures, &view, settings.shade);
    if !mesh.lights.is_empty() {
        shader = shader.lit_by(&mesh.lights);
    }
    let picture = visible.picture(&shader, &shading, settings.sampling, settings.background);
    task.check()?;
    Ok((picture, MeshResult::of(&visible, &shading)))
}

/// Near plane distance for a scene with the bounding box `bounds`: a thousandth of the distance to its middle.
pub fn near_plane(camera: &Camera, bounds: [[f32; 3]; 2]) -> f64 {
    let [least, most] = bounds.map(|corner| Vector3::from(corner.map(f64::from)));
    let (centre, radius) = ((least + most) / 2.0, (most - least).norm() / 2.0);
    let radius = if radius > 0.0 { radius } else { 1.0 };
    let distance = (camera.view_from_world * centre + camera.translation_in_view).norm();
    NEAR_SHARE * distance.max(radius * NEAR_SHARE)
}
