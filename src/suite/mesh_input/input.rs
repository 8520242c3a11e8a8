//! Loaded meshes: a file or a procedural scene, drawn as it is or tessellated.

use std::path::{Path, PathBuf};

use super::settings::MeshSettings;
use crate::messages::Messages;
use quadrille_base::bytes::Bytes;
use quadrille_base::error::{Error, Result};
use quadrille_base::task::Task;
use quadrille_base::words::did_you_mean;
use quadrille_geometry::camera::MeshCamera;
use quadrille_geometry::files::{
    BezierPatches, FileCamera, Material, Mesh, MeshFile, NONE, Smoothing, Texture, bounds, rims,
};
use quadrille_geometry::grid::GridSource;
use quadrille_geometry::reorder::TriangleOrder;
use quadrille_geometry::surface::catmull_clark::DEFAULT_LEVELS;
use quadrille_geometry::surface::{
    Bumps, HAIRS, HeightChannel, HeightMap, ProceduralScene, Surface,
};
use quadrille_geometry::tessellate::{GridOrder, TessellateSettings, Tessellated};
use quadrille_geometry::triangles::{Adjacency, Triangles};
use quadrille_geometry::upright::stands_along_z;
use quadrille_mesh::frame::FrameSettings;
use quadrille_mesh::mean_area::tessellate_to_mean;

const DEFAULT_AREA_PX: f64 = 10.0;

/// A loaded mesh with the settings that it was loaded by.
#[derive(Debug)]
pub struct MeshInput {
    /// The file, or the name of a procedural scene.
    path: PathBuf,
    pub(super) settings: MeshSettings,
    pub(super) content: Content,
    pub(super) stands_along_z: bool,
    /// Whether the format states the directions of up and front.
    pub(super) has_stated_axes: bool,
    /// Number of vertices of the file that no face uses.
    pub(super) unused_vertices: usize,
    pub(super) cameras: Vec<FileCamera>,
    /// Files that the mesh file names.
    pub files: Vec<PathBuf>,
    pub(super) bounds: [[f32; 3]; 2],
    heights: Option<Texture>,
}

#[derive(Debug)]
pub(super) enum Content {
    Polygons(Box<Mesh>),
    Patches(BezierPatches),
    Procedural(ProceduralScene),
}

impl Content {
    fn origin(&self) -> [f64; 3] {
        match self {
            Self::Polygons(mesh) => mesh.origin,
            Self::Patches(patches) => patches.origin,
            Self::Procedural(_) => [0.0; 3],
        }
    }

    pub(super) fn points(&self) -> &[[f32; 3]] {
        match self {
            Self::Polygons(mesh) => &mesh.positions,
            Self::Patches(patches) => &patches.points,
            Self::Procedural(_) => &[],
        }
    }
}

/// Content of a file, or a procedural scene.
struct ReadMesh {
    content: Content,
    unused_vertices: usize,
    has_stated_axes: bool,
    cameras: Vec<FileCamera>,
    files: Vec<PathBuf>,
}

impl ReadMesh {
    /// Content without cameras and further files.
    fn alone(content: Content, has_stated_axes: bool) -> Self {
        let (cameras, files) = (Vec::new(), Vec::new());
        Self { content, unused_vertices: 0, has_stated_axes, cameras, files }
    }
}

/// Iterator over target areas in pixels (`None` for an untessellated mesh), each with its source of triangles.
type Sources<'a> = Box<dyn Iterator<Item = Result<(Option<f64>, Box<dyn GridSource>)>> + 'a>;

impl MeshSettings {
    /// Reads the mesh `path`, a file or the name of a procedural scene.
    pub fn load(&self, path: &Path, messages: &dyn Messages) -> Result<MeshInput> {
        self.check()?;
        let ReadMesh { content, unused_vertices, has_stated_axes, cameras, files } =
            self.read(path, messages)?;
        self.warn_of_idle(&content, messages);
        let is_surface = !matches!(content, Content::Polygons(_)) || !self.tessellate.is_empty();
        let of_surfaces = [("displace", self.displace.is_some()), ("army", self.army.is_some())];
        match of_surfaces.iter().find(|(_, is_set)| *is_set) {
            Some((setting, _)) if !is_surface => {
                return Err(Error::needs(setting, "tessellate"));
            }
            _ => {}
        }
        let heights = self.displace.as_deref().map(Texture::read).transpose()?;
        let stands_along_z = !has_stated_axes && {
            let rims = || match &content {
                Content::Polygons(mesh) => rims(mesh),
                _ => Vec::new(),
            };
            stands_along_z(content.points(), rims)
        };
        let mut input = MeshInput {
            path: path.to_path_buf(),
            settings: self.clone(),
            content,
            stands_along_z,
            has_stated_axes,
            unused_vertices,
            cameras,
            files,
            bounds: [[0.0; 3]; 2],
            heights,
        };
        input.bounds = match &input.content {
            Content::Polygons(mesh) if self.tessellate.is_empty() => bounds(&mesh.positions),
            _ => input.surface()?.bounds(),
        };
        Ok(input)
    }

    /// Settings, each with its name, whether it is given, whether it affects this mesh, and its purpose.
    fn uses(&self, content: &Content) -> [(&'static str, bool, bool, &'static str); 13] {
        let is_mesh = matches!(content, Content::Polygons(_));
        let is_cage = is_mesh && !self.tessellate.is_empty();
        let is_tessellated = !is_mesh || is_cage;
        let has_no_normals = matches!(content, Content::Polygons(mesh)
            if !is_cage && mesh.corners.iter().any(|corner| corner.normal == NONE));
        let scene = if let Content::Procedural(scene) = content { Some(*scene) } else { None };
        let is_fur = scene == Some(ProceduralScene::FurBall);
        let is_frog = scene == Some(ProceduralScene::Frog);
        let is_random = self.army.is_some()
            || scene.is_some()
            || is_tessellated && self.grid_order == Some(GridOrder::Random)
            || self.reorder == Some(TriangleOrder::Random);
        let cages = "a control cage, which is tessellated";
        let files = "meshes of files with materials";
        let polygons = "polygons that are drawn as they are, without tessellation";
        let surfaces = "tessellated surfaces";
        let normals = "polygons without normals, without tessellation";
        [
            ("cage_steps", self.cage_steps.is_some(), is_cage, cages),
            ("weld", self.weld, is_mesh && !is_cage, polygons),
            ("crease", self.crease.is_some(), has_no_normals, normals),
            ("texture", self.texture.is_some(), is_mesh, files),
            ("normal_map", self.normal_map.is_some(), is_mesh, files),
            ("shininess", self.shininess.is_some(), is_mesh, files),
            ("shader_effects", !self.shader_effects.is_empty(), is_mesh, files),
            ("hairs", self.hairs.is_some(), is_fur, "the furball"),
            ("hair_order", self.hair_order.is_some(), is_fur, "the furball"),
            ("bumps", self.bumps.is_some(), is_frog, "the frog"),
            ("seed", self.seed.is_some(), is_random, "procedural meshes, armies and random orders"),
            ("reorder", self.reorder.is_some(), !is_tessellated, polygons),
            ("grid_order", self.grid_order.is_some(), is_tessellated, surfaces),
        ]
    }

    fn warn_of_idle(&self, content: &Content, messages: &dyn Messages) {
        for (setting, is_set, applies, needed) in self.uses(content) {
            if is_set && !applies {
                messages.idle(setting, needed);
            }
        }
        let Content::Polygons(mesh) = content else { return };
        if self.tessellate.is_empty() {
            return;
        }
        if !mesh.colours.is_empty() {
            messages
                .warn("the colours of vertices are left out, since subdivision surfaces have none");
        }
        if !mesh.second_uvs.is_empty() {
            messages.warn(
                "the second set of texture coordinates is left out, since subdivision surfaces have one: textures that \
                 name it have the coordinates of the first set",
            );
        }
        let is_triangle = |face: &usize| mesh.face(*face).len() == 3;
        let triangles = (0..mesh.faces()).filter(is_triangle).count();
        if 2 * triangles > mesh.faces() {
            let percent = 100 * triangles / mesh.faces();
            messages.warn(&format!(
                "a tessellated mesh is the control cage of a subdivision surface, but {percent} % of its faces are \
                 triangles: the surface may not be the intended one"
            ));
        }
    }

    /// Reads the mesh in `path`.
    fn read(&self, path: &Path, messages: &dyn Messages) -> Result<ReadMesh> {
        let name = path.to_str().unwrap_or_default();
        if let Ok(scene) = ProceduralScene::from_name(name) {
            return Ok(ReadMesh::alone(Content::Procedural(scene), true));
        }
        let loaded = MeshFile::load(path, self.memory().0);
        let loaded = match loaded.map_err(|error| with_names(error, name))? {
            MeshFile::Patches(patches) => {
                return Ok(ReadMesh::alone(Content::Patches(patches), false));
            }
            MeshFile::Polygons(loaded) => loaded,
        };
        for warning in &loaded.warnings {
            messages.warn(warning);
        }
        let mut mesh = loaded.mesh;
        if let Some(degrees) = self.crease {
            mesh.smoothing = Smoothing::Crease(degrees);
        }
        // A document of glTF may be an empty scene; the other formats hold one object.
        let has =
            |extension: &str| path.extension().is_some_and(|e| e.eq_ignore_ascii_case(extension));
        if mesh.corners.is_empty() && (has("ply") || has("obj")) {
            let expected =
                "at least one: points and lines are not drawn (splats are, by `quadrille render`)";
            return Err(Error::malformed(path, "faces", expected, "none"));
        }
        for material in &mut mesh.materials {
            if let Some(exponent) = self.shininess {
                (material.shininess, material.microfacets) = (exponent, None);
            }
            for effect in &self.shader_effects {
                effect.set(&mut material.effects);
            }
        }
        let mut add = |picture: &Option<PathBuf>, set: fn(&mut Material, u32)| -> Result<()> {
            if let Some(picture) = picture {
                let index = u32::try_from(mesh.textures.len()).unwrap_or(u32::MAX);
                mesh.textures.push(Texture::read(picture)?);
                mesh.materials.iter_mut().for_each(|m| set(m, index));
            }
            Ok(())
        };
        add(&self.texture, |m, index| {
            m.base_texture = Some(index);
            m.base_colour = [1.0; 3];
        })?;
        add(&self.normal_map, |m, index| m.normal_texture = Some(index))?;
        Ok(ReadMesh {
            content: Content::Polygons(Box::new(mesh)),
            unused_vertices: loaded.unused_positions,
            has_stated_axes: loaded.has_stated_axes,
            cameras: loaded.cameras,
            files: loaded.files,
        })
    }
}

fn with_names(error: Error, name: &str) -> Error {
    let is_missing = |reason: &std::io::Error| reason.kind() == std::io::ErrorKind::NotFound;
    match &error {
        Error::Read { path, reason } if is_missing(reason) && path.extension().is_none() => {
            let names = ProceduralScene::ALL.map(ProceduralScene::name);
            let expected = format!("a file, or a procedural mesh: {}", names.join(", "));
            let found = format!("no file of this name{}", did_you_mean(name, names));
            Error::malformed(path, "mesh", expected, found)
        }
        _ => error,
    }
}

impl MeshInput {
    /// Returns the source of triangles for each requested area, or of the mesh as it is.
    ///
    /// # Errors
    /// [`Error::Malformed`] for a mesh that is not a control cage, [`Error::Limit`] for too many triangles.
    pub fn sources(&self) -> Result<Sources<'_>> {
        let areas = match (&self.content, self.settings.tessellate.as_slice()) {
            (Content::Polygons(mesh), []) => {
                let adjacency =
                    if self.settings.weld { Adjacency::Position } else { Adjacency::Vertex };
                let order = self.settings.reorder.unwrap_or_default();
                let triangles = Triangles::new(Mesh::clone(mesh), adjacency, &Task::NEVER)?;
                let triangles: Box<dyn GridSource> =
                    Box::new(triangles.reordered(order, self.seed()));
                return Ok(Box::new(std::iter::once(Ok((None, triangles)))));
            }
            (_, []) => &[DEFAULT_AREA_PX],
            (_, areas) => areas,
        };
        Ok(Box::new(areas.iter().map(|&area| {
            let tessellated = Tessellated::new(self.surface()?, self.tessellation(area))?;
            let source: Box<dyn GridSource> = Box::new(tessellated);
            Ok((Some(area), source))
        })))
    }

    /// Limit on the memory of a frame.
    pub fn memory(&self) -> Bytes {
        self.settings.memory()
    }

    /// Origin in the world of the positions of all sources.
    pub fn origin(&self) -> [f64; 3] {
        self.content.origin()
    }

    fn tessellation(&self, area: f64) -> TessellateSettings {
        TessellateSettings {
            triangle_area_px: area,
            grid_order: self.settings.grid_order.unwrap_or_default(),
            seed: self.seed(),
            ..TessellateSettings::default()
        }
    }

    fn seed(&self) -> u64 {
        self.settings.seed.unwrap_or(1)
    }

    /// Tessellates the surface so that the triangles drawn in `view` have the mean area `area`, in pixels.
    pub fn tessellated_to_mean(
        &self,
        area: f64,
        view: &MeshCamera,
        frame: &FrameSettings,
    ) -> Result<Box<dyn GridSource>> {
        let source = tessellate_to_mean(&self.surface()?, self.tessellation(area), view, frame)?;
        Ok(Box::new(source))
    }

    fn surface(&self) -> Result<Surface> {
        let settings = &self.settings;
        let seed = self.seed();
        let cage_steps = settings.cage_steps.unwrap_or(DEFAULT_LEVELS);
        let mut surface = match &self.content {
            Content::Polygons(cage) => Surface::catmull_clark(cage, cage_steps)
                .map_err(|error| error.in_file(&self.path, |what| what))?,
            Content::Patches(patches) => {
                // The format has no front sides, and patches need not form a closed surface: draw both sides.
                let material = Material { two_sided: true, ..Material::default() };
                Surface::bezier(&patches.points, &patches.patches, material)?
                    .with_origin(patches.origin)
            }
            Content::Procedural(ProceduralScene::FurBall) => {
                let order = settings.hair_order.unwrap_or_default();
                Surface::fur_ball(seed, settings.hairs.unwrap_or(HAIRS), order)
            }
            Content::Procedural(ProceduralScene::Frog) => {
                let bumps = settings.bumps.map(|[frequency, height]| Bumps { frequency, height });
                Surface::frog(bumps.unwrap_or_default(), seed)
            }
            Content::Procedural(scene) => scene.surface(seed),
        };
        if let (Some(texture), Some(by)) = (&self.heights, settings.displace_by) {
            let has_alpha = texture.texels.iter().any(|t| t[3] != u8::MAX);
            let channel = if has_alpha { HeightChannel::Alpha } else { HeightChannel::Luminance };
            let filter = settings.displace_filter.unwrap_or_default();
            let heights = HeightMap::new(texture, channel)?.filtered(filter);
            surface = surface.displaced(heights, by, 0.0)?;
        }
        match settings.army {
            Some(ranks) => surface.army(ranks, seed),
            None => Ok(surface),
        }
    }
}
