//! Meshes that stand among the splats of a scene.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Instant;

use super::input::MeshInput;
use super::look::LookSettings;
use super::settings::MeshSettings;
use crate::messages::{Messages, Silent};
use crate::rows::{DrawnMeshRow, MeshDrawRow, TimedMeshRow};
use quadrille_base::error::{Error, Result};
use quadrille_base::image::srgb::encode_srgb;
use quadrille_base::math::{SimdLevel, narrow};
use quadrille_base::raster::geometry::PixelRect;
use quadrille_base::raster::samples::SamplePattern;
use quadrille_base::task::Task;
use quadrille_base::units::milliseconds;
use quadrille_geometry::camera::MeshCamera;
use quadrille_geometry::grid::GridSource;
use quadrille_gpu::config::Config;
use quadrille_mesh::frame::{Cull, Faces, FrameSettings, VisibleFrame};
use quadrille_mesh::merge::MergeUnitKind;
use quadrille_mesh::shade::{Sampling, Textures};
use quadrille_mesh_pipeline::{DepthBuffer, MeshConfig, run_after};
use quadrille_render::convert::Change;
use quadrille_render::cpu::surfaces::{SurfaceFragment, Surfaces};
use quadrille_scene::Camera;
use quadrille_scene::transform::Similarity;

/// Transform from the world of a mesh to the world of a scene.
#[derive(Debug, Clone, PartialEq)]
pub struct MeshPlacement(pub Similarity);

impl MeshPlacement {
    /// Parses moves as `convert` takes them, each a name and a value, such as `scale 2 rotate 0,90,0 translate 0,1,0`. They
    /// are applied in the given order.
    ///
    /// # Errors
    /// [`Error::Argument`] for other names and values.
    pub fn parse(text: &str) -> Result<Self> {
        let mut placed = Similarity::identity();
        let mut words = text.split_whitespace();
        while let Some(name) = words.next() {
            let value = words.next().unwrap_or_default();
            let change = Change::parse(name, value)?;
            let moves = ["translate", "rotate", "scale", "flip-axes"];
            let action = match &change {
                Change::Action(action) if moves.contains(&name) => action.similarity(),
                _ => None,
            };
            let expected =
                "translate X,Y,Z, rotate X,Y,Z, scale FACTOR or flip-axes AXES without mirroring";
            let by = action
                .ok_or_else(|| Error::argument("move", expected, format!("{name} {value}")))?;
            placed = Similarity {
                rotation: by.rotation * placed.rotation,
                scale: by.scale * placed.scale,
                translation: by.rotation * placed.translation * by.scale + by.translation,
            };
        }
        Ok(Self(placed))
    }

    /// The camera as seen from the mesh, with distances in its units.
    fn seen_from(&self, camera: &Camera) -> Camera {
        let Similarity { rotation, scale, translation } = self.0;
        let view_from_mesh = camera.view_from_world * rotation.to_rotation_matrix().matrix();
        let eye = camera.view_from_world * translation + camera.translation_in_view;
        Camera {
            view_from_world: view_from_mesh,
            translation_in_view: eye / scale,
            near_limit: camera.near_limit.map(|limit| limit / scale),
            ..camera.clone()
        }
    }
}

impl Default for MeshPlacement {
    fn default() -> Self {
        Self(Similarity::identity())
    }
}

struct PlacedMesh {
    path: PathBuf,
    input: MeshInput,
    source: Box<dyn GridSource>,
    textures: Textures,
    placement: MeshPlacement,
}

impl PlacedMesh {
    /// The camera as seen from the mesh, and the settings of its frame.
    fn seen(
        &self,
        camera: &Camera,
        pattern: &'static SamplePattern,
        level: SimdLevel,
    ) -> (MeshCamera, FrameSettings) {
        let seen = self.placement.seen_from(camera);
        let near = self.input.near(&seen);
        let settings = FrameSettings {
            size: [camera.width, camera.height],
            pattern,
            faces: Faces::Material,
            cull: Cull::Quads,
            memory_bytes: self.input.memory().0,
            level,
        };
        (MeshCamera::new(seen, near).relative_to(self.source.origin()), settings)
    }
}

/// Meshes that stand among the splats of a scene, with their light.
pub struct PlacedMeshes {
    meshes: Vec<PlacedMesh>,
    look: LookSettings,
    pattern: &'static SamplePattern,
}

impl std::fmt::Debug for PlacedMeshes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PlacedMeshes").field("meshes", &self.meshes.len()).finish_non_exhaustive()
    }
}

impl PlacedMeshes {
    /// Reads the meshes `paths`, files or names of procedural meshes. The placement of a mesh has its index; meshes beyond
    /// the last placement stay where they are.
    ///
    /// # Errors
    /// [`Error::Argument`] for more placements than meshes and a number of samples other than 1, 2, 4 or 8; errors of the
    /// readers and of [`LookSettings::of`].
    pub fn load(
        paths: &[PathBuf],
        placements: &[MeshPlacement],
        samples: u32,
        look: &LookSettings,
        messages: &dyn Messages,
    ) -> Result<Self> {
        let (expected, found) =
            (format!("at most {}, the number of meshes", paths.len()), placements.len());
        Error::refuse_if(found > paths.len(), "transforms of meshes", expected, found)?;
        let is_possible = [1, 2, 4, 8].contains(&samples);
        Error::refuse_if(!is_possible, "samples of meshes", "1, 2, 4 or 8", samples)?;
        let all = placements.iter().cloned().chain(std::iter::repeat(MeshPlacement::default()));
        let mut meshes = Vec::new();
        for (path, placement) in paths.iter().zip(all) {
            let input = MeshSettings::default().load(path, messages)?;
            look.of(&input, None, messages)?;
            // One, since the settings have no list of areas.
            let source = input.sources()?.next().transpose()?;
            meshes.extend(source.map(|(_, source)| {
                let textures = Textures::new(source.textures(), source.materials());
                PlacedMesh { path: path.clone(), input, source, textures, placement }
            }));
        }
        let pattern = SamplePattern::standard(samples)?.shared();
        Ok(Self { meshes, look: look.clone(), pattern })
    }

    /// Files that the mesh files name.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        self.meshes.iter().flat_map(|mesh| mesh.input.files.iter().map(PathBuf::as_path))
    }

    /// Checks that meshes can be drawn in a view.
    ///
    /// # Errors
    /// [`Error::Argument`] if the camera is not a pinhole, or has a rolling shutter.
    pub fn check(camera: &Camera) -> Result<()> {
        let what = format_args!("view {:?}", camera.name);
        let found = "another projection";
        Error::refuse_if(!camera.projection.is_pinhole(), what, "a pinhole for meshes", found)?;
        let is_rolling = camera.rolling_shutter.is_some();
        Error::refuse_if(is_rolling, what, "a camera at rest for meshes", "a rolling shutter")
    }

    /// Draws the meshes in a view of the scene, without the splats. Their lit colours are encoded as sRGB and clamped to 0
    /// to 1, as in pictures of meshes; depths are in world units of the scene.
    ///
    /// # Errors
    /// [`Error::Argument`] if the camera is not a pinhole or a mesh takes too much memory; [`Error::Cancelled`].
    pub fn surfaces(&self, camera: &Camera, level: SimdLevel, task: &Task) -> Result<Surfaces> {
        let size = [camera.width, camera.height];
        let samples = self.pattern.count();
        self.drawn(camera, self.pattern, level, task, |fragments| {
            Surfaces::new(size, samples, fragments)
        })?
    }

    /// Draws the meshes and returns the depth of the nearest fragment of each pixel that hides all behind it, row by row;
    /// infinite where there is none. A pixel has one sample, whatever the samples of pictures.
    ///
    /// # Errors
    /// As for [`Self::surfaces`].
    pub fn depths(&self, camera: &Camera, level: SimdLevel, task: &Task) -> Result<Vec<f32>> {
        let mut depths = vec![f32::INFINITY; camera.width as usize * camera.height as usize];
        let pattern = SamplePattern::standard(1)?.shared();
        self.drawn(camera, pattern, level, task, |fragments| {
            let mut found = Vec::new();
            fragments([0..camera.width, 0..camera.height], &mut found);
            for fragment in found.iter().filter(|fragment| fragment.opacity == 1.0) {
                let [x, y] = fragment.pixel.map(|axis| axis as usize);
                let depth = &mut depths[y * camera.width as usize + x];
                *depth = depth.min(fragment.depth);
            }
        })?;
        Ok(depths)
    }

    /// Draws the meshes through the emulated pipeline, one sample per pixel, each behind the depths of the meshes before it.
    ///
    /// # Errors
    /// As for [`Self::surfaces`], and [`Error::Argument`] for a field of `config` that does not fit.
    pub fn timed(
        &self,
        camera: &Camera,
        config: &Config,
        level: SimdLevel,
        task: &Task,
    ) -> Result<MeshDrawRow> {
        Self::check(camera)?;
        let clock_mhz = config.gpu.clock_mhz;
        let config = MeshConfig { gpu: config.clone(), ..MeshConfig::default() };
        let pattern = SamplePattern::standard(1)?.shared();
        let mut rows = Vec::new();
        let mut drawn: Option<(DepthBuffer, f64)> = None;
        for mesh in &self.meshes {
            let begun = Instant::now();
            let (view, settings) = mesh.seen(camera, pattern, level);
            let near = view.near * mesh.placement.0.scale;
            let depths = drawn.map(|(depths, of)| depths.before_a_draw(narrow(near / of)));
            let (source, unit) = (mesh.source.as_ref(), MergeUnitKind::None);
            let outcome = run_after(depths, source, &view, &settings, &config, unit, task)?;
            let host_ms = milliseconds(begun.elapsed());
            let timed = TimedMeshRow::new(&outcome, clock_mhz, host_ms);
            drawn = Some((outcome.depths, near));
            rows.push(DrawnMeshRow { mesh: mesh.path.display().to_string(), timed });
        }
        Ok(MeshDrawRow::new(rows, clock_mhz))
    }

    /// Draws the meshes, and calls `take` with a function that adds the fragments in a range of columns and one of rows.
    fn drawn<R>(
        &self,
        camera: &Camera,
        pattern: &'static SamplePattern,
        level: SimdLevel,
        task: &Task,
        take: impl FnOnce(&(dyn Fn([Range<u32>; 2], &mut Vec<SurfaceFragment>) + Sync)) -> R,
    ) -> Result<R> {
        Self::check(camera)?;
        let mut frames = Vec::new();
        for mesh in &self.meshes {
            let (view, settings) = mesh.seen(camera, pattern, level);
            let source = mesh.source.as_ref();
            let visible = VisibleFrame::new(source, [&view; 2], &settings, task)?;
            let shading = visible.merged(source, MergeUnitKind::None);
            task.check()?;
            frames.push((mesh, view, visible, shading));
        }
        let mut shaded = Vec::new();
        for (mesh, view, visible, shading) in &frames {
            let look = self.look.of(&mesh.input, None, &Silent)?;
            let shader = look.shader(mesh.source.as_ref(), &mesh.textures, view);
            let colours = visible.shaded(&shader, shading, Sampling::default());
            task.check()?;
            shaded.push((mesh.placement.0.scale, colours));
        }
        Ok(take(&|[columns, rows], found| {
            let area = PixelRect {
                x0: columns.start.cast_signed(),
                y0: rows.start.cast_signed(),
                x1: columns.end.cast_signed(),
                y1: rows.end.cast_signed(),
            };
            for (scale, colours) in &shaded {
                colours.fragments(area, |fragment| {
                    found.push(SurfaceFragment {
                        pixel: fragment.pixel,
                        sample: fragment.sample,
                        depth: narrow(fragment.depth * scale),
                        colour: encode_srgb(fragment.colour),
                        opacity: fragment.opacity,
                    });
                });
            }
        }))
    }
}
