//! Input of `mesh`: a file or a procedural scene, as it is or tessellated.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use nalgebra::Vector3;

use super::assumptions::{AssumptionFlags, Drawn};
use super::options::{each_once, parse_area};
use crate::cli::choice::one_of;
use crate::cli::console::Verbosity;
use crate::cli::outputs::parse_numbers;
use crate::cli::usage::positive;
use quadrille_base::choice;
use quadrille_base::error::{Error, Result};
use quadrille_mesh::camera::MeshCamera;
use quadrille_mesh::files::{
    BezierPatches, FileCamera, Material, Mesh, MeshFile, ShaderEffects, Texture, bounds,
};
use quadrille_mesh::frame::FrameSettings;
use quadrille_mesh::grid::GridSource;
use quadrille_mesh::mean_area::tessellate_to_mean;
use quadrille_mesh::surface::catmull_clark::{DEFAULT_LEVELS, MAX_LEVELS};
use quadrille_mesh::surface::{HeightChannel, HeightMap, ProceduralScene, Surface};
use quadrille_mesh::tessellate::{TessellateSettings, Tessellated};
use quadrille_mesh::triangles::{Adjacency, Triangles};
use quadrille_mesh::upright::stands_along_z;

/// Default area of the triangles of Bezier patches and procedural meshes, in pixels.
const DEFAULT_AREA_PX: f64 = 10.0;

/// Flags about the mesh.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Mesh")]
pub(in crate::cli) struct MeshInputFlags {
    /// Take the mesh as the control cage of a Catmull-Clark surface, and tessellate it into triangles of
    /// about this area in pixels; 0.5 gives micropolygons [default: 10 for Bezier patches and
    /// procedural meshes]
    #[arg(long = "tessellate", value_name = "AREA", value_delimiter = ',', value_parser = parse_area)]
    pub(in crate::cli) areas: Vec<f64>,
    /// Displace the tessellated surface along its normals by the alpha of this picture or, without
    /// alpha, by its brightness
    #[arg(long, value_name = "PICTURE", requires = "displace_by")]
    pub(in crate::cli) displace: Option<PathBuf>,
    /// Displacement of white in world units; that of black is 0
    #[arg(long, value_name = "DISTANCE", allow_hyphen_values = true)]
    displace_by: Option<f32>,
    /// Picture with the colours of all materials
    #[arg(long, value_name = "PICTURE")]
    pub(in crate::cli) texture: Option<PathBuf>,
    /// Picture with the tangent-space normals of all materials
    #[arg(long, value_name = "PICTURE")]
    pub(in crate::cli) normal_map: Option<PathBuf>,
    /// Phong exponent of the highlight of all materials, 0 for none; without metalness and roughness
    #[arg(long, value_name = "EXPONENT", value_parser = parse_shininess)]
    shininess: Option<f32>,
    /// Take triangles for adjacent that share positions alone, so that merging crosses seams of the
    /// texture and hard edges; a GPU compares indices of the index buffer
    #[arg(long)]
    weld: bool,
    /// Effects of the pixel shader of all materials, separated by commas; any of them disables the
    /// pixel merge unit
    #[arg(long, value_name = "EFFECT", value_parser = one_of::<Effect>(), value_delimiter = ',')]
    shader_effects: Vec<Effect>,
    /// Draw an army: this many columns and rows of the tessellated figure
    #[arg(long, value_name = "COLUMNS,ROWS", value_parser = parse_army)]
    pub(super) army: Option<[u16; 2]>,
    /// Uniform subdivision steps of the control cage before it is divided into patches; more steps give
    /// smaller patches that are closer to the limit surface where it is irregular [default: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=i64::from(MAX_LEVELS)))]
    cage_steps: Option<u32>,
    /// Distance of the near plane in world units [default: a thousandth of the distance to the centre
    /// of the mesh]
    #[arg(long, value_name = "DISTANCE", value_parser = positive)]
    pub(super) near: Option<f64>,
    /// Side that the default view shows: an axis, as in -z [default: +z, the front in glTF and most OBJ
    /// and PLY files, or -y if +z is up; without glTF, what is longer than wide and the same on the left and
    /// on the right is shown in profile; another side or a higher view if that one is a sliver]
    #[arg(long, value_name = "AXIS", allow_hyphen_values = true, value_parser = parse_axis)]
    pub(super) front: Option<Vector3<f64>>,
    #[command(flatten)]
    assumptions: AssumptionFlags,
}

choice! {
    /// A value of `--shader-effects`.
    enum Effect {
        /// Discards fragments
        Discard = "discard",
        /// Writes depth
        Depth = "depth",
        /// Writes to memory besides the colour buffer
        Memory = "memory",
        /// Turns alpha into coverage
        AlphaToCoverage = "alpha-to-coverage",
        /// Reads the primitive id
        PrimitiveId = "primitive-id",
        /// Reads the coverage mask
        Coverage = "coverage",
    }
}

impl Effect {
    fn set(self, effects: &mut ShaderEffects) {
        *match self {
            Self::Discard => &mut effects.discards,
            Self::Depth => &mut effects.writes_depth,
            Self::Memory => &mut effects.writes_memory,
            Self::AlphaToCoverage => &mut effects.alpha_to_coverage,
            Self::PrimitiveId => &mut effects.reads_primitive_id,
            Self::Coverage => &mut effects.reads_coverage,
        } = true;
    }
}

/// Parses an axis with its sign.
fn parse_axis(text: &str) -> std::result::Result<Vector3<f64>, String> {
    let (sign, axis) = match text.strip_prefix('-') {
        Some(axis) => (-1.0, axis),
        None => (1.0, text.strip_prefix('+').unwrap_or(text)),
    };
    match axis {
        "x" => Ok(Vector3::x() * sign),
        "y" => Ok(Vector3::y() * sign),
        "z" => Ok(Vector3::z() * sign),
        _ => Err("expected +x, -x, +y, -y, +z or -z".to_owned()),
    }
}

fn parse_shininess(text: &str) -> std::result::Result<f32, String> {
    let exponent = text.parse().ok().filter(|e| (0.0..=10_000.0).contains(e));
    exponent.ok_or_else(|| "expected a number from 0 to 10000".to_owned())
}

fn parse_army(text: &str) -> std::result::Result<[u16; 2], String> {
    let ranks = parse_numbers(text).filter(|ranks| !ranks.contains(&0));
    ranks.ok_or_else(|| "expected two numbers as in 6,5".to_owned())
}

pub(in crate::cli) struct MeshInput {
    /// The file, or the name of a procedural scene.
    path: PathBuf,
    pub(super) flags: MeshInputFlags,
    pub(super) content: Content,
    pub(super) stands_along_z: bool,
    /// Whether the format states the directions of up and of the front.
    pub(super) has_stated_axes: bool,
    pub(super) cameras: Vec<FileCamera>,
    /// Files that the mesh file names.
    pub(in crate::cli) files: Vec<PathBuf>,
    pub(super) bounds: [[f32; 3]; 2],
    heights: Option<Texture>,
}

pub(super) enum Content {
    Polygons(Box<Mesh>),
    Patches(BezierPatches),
    Procedural(ProceduralScene),
}

impl Content {
    /// Positions of a file: vertices or control points.
    pub(super) fn points(&self) -> &[[f32; 3]] {
        match self {
            Self::Polygons(mesh) => &mesh.positions,
            Self::Patches(patches) => &patches.points,
            Self::Procedural(_) => &[],
        }
    }
}

/// Content of a mesh, whether its axes are stated, its cameras, and the files that it names.
type ReadMesh = (Content, bool, Vec<FileCamera>, Vec<PathBuf>);

/// Target areas of triangles, and the source of triangles for each.
type Sources<'a> = Box<dyn Iterator<Item = Result<(Option<f64>, Box<dyn GridSource>)>> + 'a>;

impl MeshInputFlags {
    /// All files that are read beside the mesh.
    pub(in crate::cli) fn files(&self) -> impl Iterator<Item = &Path> {
        let pictures = [&self.displace, &self.texture, &self.normal_map];
        pictures.into_iter().flatten().map(PathBuf::as_path)
    }

    pub(in crate::cli) fn load(&self, path: &Path, verbosity: Verbosity) -> Result<MeshInput> {
        each_once("--tessellate", &self.areas)?;
        let (content, has_stated_axes, cameras, files) = self.read(path, verbosity)?;
        self.warn_of_idle_flags(&content, verbosity);
        let is_surface = !matches!(content, Content::Polygons(_)) || !self.areas.is_empty();
        for (flag, is_set) in [
            ("--displace", self.displace.is_some()),
            ("--army", self.army.is_some()),
        ] {
            if is_set && !is_surface {
                return Err(Error::argument(flag, "--tessellate beside it", "none"));
            }
        }
        let heights = self.displace.as_deref().map(Texture::read).transpose()?;
        let stands_along_z = !has_stated_axes && stands_along_z(content.points());
        let mut input = MeshInput {
            path: path.to_path_buf(),
            flags: self.clone(),
            content,
            stands_along_z,
            has_stated_axes,
            cameras,
            files,
            bounds: [[0.0; 3]; 2],
            heights,
        };
        input.bounds = match &input.content {
            Content::Polygons(mesh) if self.areas.is_empty() => bounds(&mesh.positions),
            _ => input.surface()?.bounds(),
        };
        Ok(input)
    }

    /// Warns of flags without effect, and of a mesh of triangles that is taken as a control cage.
    fn warn_of_idle_flags(&self, content: &Content, verbosity: Verbosity) {
        let is_mesh = matches!(content, Content::Polygons(_));
        let is_cage = is_mesh && !self.areas.is_empty();
        let cages = "a control cage (--tessellate)";
        let files = "meshes of files with materials";
        let polygons = "polygons that are drawn as they are, without --tessellate";
        let has_effects = !self.shader_effects.is_empty();
        for (flag, is_set, applies, needed) in [
            ("--cage-steps", self.cage_steps.is_some(), is_cage, cages),
            ("--weld", self.weld, is_mesh && !is_cage, polygons),
            ("--texture", self.texture.is_some(), is_mesh, files),
            ("--normal-map", self.normal_map.is_some(), is_mesh, files),
            ("--shininess", self.shininess.is_some(), is_mesh, files),
            ("--shader-effects", has_effects, is_mesh, files),
        ] {
            if is_set && !applies {
                verbosity.warn(&format!("{flag} has no effect: it is for {needed}"));
            }
        }
        let drawn = Drawn {
            scene: match content {
                Content::Procedural(scene) => Some(*scene),
                _ => None,
            },
            is_army: self.army.is_some(),
            is_tessellated: !is_mesh || is_cage,
        };
        for (flag, needed) in self.assumptions.idle(drawn) {
            verbosity.warn(&format!("{flag} has no effect: it is for {needed}"));
        }
        if let (Content::Polygons(mesh), true) = (content, is_cage) {
            if !mesh.colours.is_empty() {
                verbosity
                    .warn("subdivision surfaces have no colours of vertices: they are left out");
            }
            let is_triangle = |face: &usize| mesh.face(*face).len() == 3;
            let triangles = (0..mesh.faces()).filter(is_triangle).count();
            if 2 * triangles > mesh.faces() {
                let percent = 100 * triangles / mesh.faces();
                verbosity.warn(&format!(
                    "--tessellate takes the mesh as the control cage of a subdivision surface, but \
                     {percent} % of its faces are triangles: the surface may not be the intended one"
                ));
            }
        }
    }

    /// Reads the mesh; returns also whether +y is known to be up, the cameras of the file, and the files that it
    /// names.
    fn read(&self, path: &Path, verbosity: Verbosity) -> Result<ReadMesh> {
        let name = path.to_str().unwrap_or_default();
        if let Ok(scene) = ProceduralScene::from_name(name) {
            return Ok((Content::Procedural(scene), true, Vec::new(), Vec::new()));
        }
        let loaded = match MeshFile::load(path)? {
            MeshFile::Patches(patches) => {
                return Ok((Content::Patches(patches), false, Vec::new(), Vec::new()));
            }
            MeshFile::Polygons(loaded) => loaded,
        };
        for warning in &loaded.warnings {
            verbosity.warn(warning);
        }
        let mut mesh = loaded.mesh;
        let is_ply = |e: &OsStr| e.eq_ignore_ascii_case("ply");
        if mesh.corners.is_empty() && path.extension().is_some_and(is_ply) {
            let expected = "at least one (a scene of splats is drawn by `quadrille render`)";
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
        let content = Content::Polygons(Box::new(mesh));
        Ok((
            content,
            loaded.has_stated_axes,
            loaded.cameras,
            loaded.files,
        ))
    }
}

impl MeshInput {
    /// The source of triangles for each requested area.
    pub(in crate::cli) fn sources(&self) -> Result<Sources<'_>> {
        let areas = match (&self.content, self.flags.areas.as_slice()) {
            (Content::Polygons(mesh), []) => {
                let adjacency = if self.flags.weld {
                    Adjacency::Position
                } else {
                    Adjacency::Vertex
                };
                let assumptions = &self.flags.assumptions;
                let order = assumptions.reorder.unwrap_or_default();
                let triangles = Triangles::new(Mesh::clone(mesh), adjacency)
                    .reordered(order, assumptions.seed());
                let triangles: Box<dyn GridSource> = Box::new(triangles);
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

    fn tessellation(&self, area: f64) -> TessellateSettings {
        let assumptions = &self.flags.assumptions;
        TessellateSettings {
            triangle_area_px: area,
            grid_order: assumptions.grid_order.unwrap_or_default(),
            seed: assumptions.seed(),
            ..TessellateSettings::default()
        }
    }

    /// The surface in triangles of this mean area in a frame.
    pub(super) fn tessellated_to_mean(
        &self,
        area: f64,
        view: &MeshCamera,
        frame: &FrameSettings,
    ) -> Result<Box<dyn GridSource>> {
        let source = tessellate_to_mean(&self.surface()?, self.tessellation(area), view, frame)?;
        Ok(Box::new(source))
    }

    fn surface(&self) -> Result<Surface> {
        let flags = &self.flags;
        let assumptions = &flags.assumptions;
        let seed = assumptions.seed();
        let cage_steps = flags.cage_steps.unwrap_or(DEFAULT_LEVELS);
        let mut surface = match &self.content {
            Content::Polygons(cage) => {
                let surface = Surface::catmull_clark(cage, cage_steps);
                surface.map_err(|error| error.in_file(&self.path, |what| what))?
            }
            Content::Patches(patches) => {
                // The format does not tell sides, and patches need not close a surface.
                let material = Material {
                    two_sided: true,
                    ..Material::default()
                };
                Surface::bezier(&patches.points, &patches.patches, material)?
            }
            Content::Procedural(ProceduralScene::FurBall) => {
                let (hairs, order) = assumptions.hairs();
                Surface::fur_ball(seed, hairs, order)
            }
            Content::Procedural(ProceduralScene::Frog) => {
                Surface::frog(assumptions.bumps.unwrap_or_default(), seed)
            }
            Content::Procedural(scene) => scene.surface(seed),
        };
        if let (Some(texture), Some(by)) = (&self.heights, flags.displace_by) {
            let has_alpha = texture.texels.iter().any(|t| t[3] != u8::MAX);
            let channel = if has_alpha {
                HeightChannel::Alpha
            } else {
                HeightChannel::Luminance
            };
            let heights = HeightMap::new(texture, channel)?.filtered(assumptions.height_filter());
            surface = surface.displaced(heights, by, 0.0)?;
        }
        match flags.army {
            Some(ranks) => surface.army(ranks, seed),
            None => Ok(surface),
        }
    }
}
