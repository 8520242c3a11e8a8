//! Facts about a mesh that need no picture.

use std::path::Path;

use nalgebra::Vector3;
use serde::Serialize;

use super::input::{Content, MeshInput};
use super::settings::MeshSettings;
use super::views::views_of_mesh;
use crate::messages::{Silent, Warnings};
use quadrille_base::error::Result;
use quadrille_geometry::files::{Material, Mesh, NONE};
use quadrille_scene::cameras::ViewSpec;

/// What a mesh file contains.
#[derive(Debug, Clone, Serialize)]
pub struct MeshFacts {
    /// Number of faces, or of patches of a Bezier surface.
    pub faces: usize,
    /// Number of triangles of the faces; 0 for patches.
    pub triangles: usize,
    /// Number of distinct positions that faces use, or of control points.
    pub vertices: usize,
    /// Number of distinct positions that no face uses.
    pub unused_vertices: usize,
    /// Number of draws.
    pub draws: usize,
    /// Box around the mesh in world units.
    pub bounds: BoxFacts,
    /// Whether the file has normals, texture coordinates and colours, at all corners or at some.
    pub attributes: AttributeFacts,
    /// Materials in the order of the file, with the number of their faces.
    pub materials: Vec<MaterialFacts>,
    /// Width and height of each texture, in texels.
    pub textures: Vec<[u32; 2]>,
    /// Names of the cameras of the file.
    pub cameras: Vec<String>,
    /// Number of lights of the file.
    pub lights: usize,
    /// Axis that points up in the default view: "+y" or "+z".
    pub up: &'static str,
    /// True if the format states the up axis.
    pub up_is_stated: bool,
    /// Flags of `mesh` for the default view.
    pub view: String,
    /// Warnings about parts of the file that are left out or drawn differently.
    pub warnings: Vec<String>,
}

/// A box in world units.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct BoxFacts {
    /// Least coordinates.
    pub min: [f64; 3],
    /// Greatest coordinates.
    pub max: [f64; 3],
}

/// Share of the corners of faces with an attribute, 0 to 1.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct AttributeFacts {
    /// Share with a normal.
    pub normals: f64,
    /// Share with a texture coordinate.
    pub texture_coordinates: f64,
    /// Share with a colour.
    pub colours: f64,
}

/// A material and its use.
#[derive(Debug, Clone, Serialize)]
pub struct MaterialFacts {
    /// Name in the file; may be empty.
    pub name: String,
    /// Number of faces with the material.
    pub faces: usize,
    /// Linear base colour.
    pub base_colour: [f32; 3],
    /// "opaque", "test" for an alpha test, or "blend".
    pub alpha: &'static str,
    /// True if back faces are drawn.
    pub two_sided: bool,
    /// Index into the textures of the base colour.
    pub base_texture: Option<u32>,
}

impl MaterialFacts {
    fn of(material: &Material, faces: usize) -> Self {
        let alpha = match (material.is_blended(), material.tested_alpha()) {
            (true, _) => "blend",
            (false, Some(_)) => "test",
            (false, None) => "opaque",
        };
        Self {
            name: material.name.clone(),
            faces,
            base_colour: material.base_colour,
            alpha,
            two_sided: material.two_sided,
            base_texture: material.base_texture,
        }
    }
}

impl MeshFacts {
    /// Reads the mesh in `path`.
    ///
    /// # Errors
    /// Errors of [`MeshSettings::load`].
    pub fn of(path: &Path) -> Result<Self> {
        let warnings = Warnings::default();
        let input = MeshSettings::default().load(path, &warnings)?;
        let view = default_view(&input)?;
        let origin = Vector3::from(input.origin());
        let [min, max] = input.bounds.map(|c| (Vector3::from(c.map(f64::from)) + origin).into());
        let mut facts = Self {
            faces: 0,
            triangles: 0,
            vertices: input.content.points().len(),
            unused_vertices: input.unused_vertices,
            draws: 1,
            bounds: BoxFacts { min, max },
            attributes: AttributeFacts::default(),
            materials: Vec::new(),
            textures: Vec::new(),
            cameras: input.cameras().iter().map(|camera| camera.name.clone()).collect(),
            lights: input.lights().len(),
            up: if input.stands_along_z { "+z" } else { "+y" },
            up_is_stated: input.has_stated_axes,
            view,
            warnings: warnings.into_texts(),
        };
        match &input.content {
            Content::Polygons(mesh) => facts.count(mesh),
            Content::Patches(patches) => facts.faces = patches.patches.len(),
            Content::Procedural(_) => {}
        }
        Ok(facts)
    }

    fn count(&mut self, mesh: &Mesh) {
        self.faces = mesh.faces();
        self.triangles = mesh.corners.len() - 2 * mesh.faces();
        self.draws = mesh.draws.len();
        let corners = mesh.corners.len().max(1) as f64;
        let share = |count: usize| count as f64 / corners;
        self.attributes = AttributeFacts {
            normals: share(mesh.corners.iter().filter(|c| c.normal != NONE).count()),
            texture_coordinates: share(mesh.corners.iter().filter(|c| c.uv != NONE).count()),
            colours: share(mesh.corners.iter().filter(|c| c.colour != NONE).count()),
        };
        let mut faces = vec![0; mesh.materials.len()];
        mesh.face_materials.iter().for_each(|material| faces[*material as usize] += 1);
        let materials = mesh.materials.iter().zip(faces);
        self.materials =
            materials.map(|(material, faces)| MaterialFacts::of(material, faces)).collect();
        self.textures = mesh.textures.iter().map(|t| [t.width, t.height]).collect();
    }
}

/// Flags of the default view, which reproduce it.
fn default_view(input: &MeshInput) -> Result<String> {
    let spec = ViewSpec::default();
    let framing = input.framing(None, &Silent);
    let views = views_of_mesh(&spec, input, &Silent)?;
    let eye = views.cameras[0].eye();
    let points = [eye, framing.subject.centre, Vector3::from(framing.up)];
    Ok(spec.placed(points, &framing).flags())
}
