//! What `mesh` draws: a file or a procedural scene, as it is or tessellated.

use std::path::{Path, PathBuf};

use nalgebra::Vector3;

use super::super::console::Verbosity;
use super::super::views::{Framing, Stand};
use super::options::{area, each_once, one_of};
use crate::error::{Error, Result};
use crate::mesh::draw::near_plane;
use crate::mesh::files::{BezierPatches, Material, Mesh, MeshFile, ShaderEffects, Texture, bounds};
use crate::mesh::grid::GridSource;
use crate::mesh::surface::catmull_clark::{DEFAULT_LEVELS, MAX_LEVELS};
use crate::mesh::surface::{
    HAIRS, HeightChannel, HeightMap, MAX_HAIRS, PICTURE_PX, ProceduralScene,
};
use crate::mesh::surface::{Surface, box_corners};
use crate::mesh::tessellate::{TessellateSettings, Tessellated};
use crate::mesh::triangles::Triangles;
use crate::scene::Camera;
use crate::scene::cameras::{DEFAULT_FOV_DEGREES, DEFAULT_SIDE_PX, FramingTarget};

/// Area of triangles where a surface has to be tessellated and no flag says how finely, in pixels.
const DEFAULT_AREA_PX: f64 = 10.0;
/// Up in the world of meshes: OBJ files mostly and glTF always have it so.
const UP: [f64; 3] = [0.0, 1.0, 0.0];
/// Direction of the made-up viewpoint: a little to the right and above of what OBJ files mostly and
/// glTF always have as the front, +z.
const TOWARDS_EYE: [f64; 3] = [0.4, 0.3, 0.87];

/// What is drawn.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Mesh")]
pub(super) struct MeshInputFlags {
    /// Take the mesh for the control cage of a Catmull-Clark surface and tessellate it into
    /// triangles of about this area in pixels, 0.5 for micropolygons [default of Bezier patches and
    /// procedural meshes: 10]
    #[arg(long = "tessellate", value_name = "AREA", value_delimiter = ',')]
    areas: Vec<f64>,
    /// Displace the tessellated surface along its normals by this picture: its alpha if it has any,
    /// else its brightness
    #[arg(long, value_name = "PICTURE", requires = "displace_by")]
    pub(super) displace: Option<PathBuf>,
    /// How far white displaces, in world units; black does not
    #[arg(long, value_name = "DISTANCE", allow_hyphen_values = true)]
    displace_by: Option<f32>,
    /// Picture of the colours of all materials
    #[arg(long, value_name = "PICTURE")]
    pub(super) texture: Option<PathBuf>,
    /// Picture of the tangent-space normals for all materials
    #[arg(long, value_name = "PICTURE")]
    pub(super) normal_map: Option<PathBuf>,
    /// Phong exponent of the highlight of all materials, 0 for none
    #[arg(long, value_name = "EXPONENT", value_parser = parse_shininess)]
    shininess: Option<f32>,
    /// Effects of the pixel shader of all materials; any of them disables the pixel merge unit
    #[arg(long, value_parser = one_of(EFFECTS), value_delimiter = ',')]
    shader_effects: Vec<SetEffect>,
    /// Draw an army: that many columns and rows of the tessellated figure
    #[arg(long, value_name = "COLUMNS,ROWS", value_parser = parse_army)]
    army: Option<[u16; 2]>,
    /// Steps of uniform subdivision of the control cage before patches are made of it: more make
    /// smaller patches that are nearer to the limit surface where it is irregular [default: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=i64::from(MAX_LEVELS)))]
    cage_steps: Option<u32>,
    /// Hairs of the furball [default: 6000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=i64::from(MAX_HAIRS)))]
    hairs: Option<u32>,
    /// Seed of procedural meshes and armies [default: 1]
    #[arg(long)]
    seed: Option<u64>,
    /// Distance of the near plane in world units [default: a thousandth of the distance to the
    /// middle of the mesh]
    #[arg(long, value_name = "DISTANCE")]
    near: Option<f64>,
}

type SetEffect = fn(&mut ShaderEffects);

const EFFECTS: &[(&str, &str, SetEffect)] = &[
    ("discard", "Discards fragments", |e| e.discards = true),
    ("depth", "Writes depth", |e| e.writes_depth = true),
    ("memory", "Writes to memory beside the colour buffer", |e| {
        e.writes_memory = true;
    }),
    ("alpha-to-coverage", "Turns alpha into coverage", |e| {
        e.alpha_to_coverage = true;
    }),
    ("primitive-id", "Reads the primitive's number", |e| {
        e.reads_primitive_id = true;
    }),
    ("coverage", "Reads the coverage", |e| {
        e.reads_coverage = true;
    }),
];

fn parse_shininess(text: &str) -> std::result::Result<f32, String> {
    let exponent = text.parse().ok().filter(|e| (0.0..=10_000.0).contains(e));
    exponent.ok_or_else(|| "expected a number from 0 to 10000".to_owned())
}

fn parse_army(text: &str) -> std::result::Result<[u16; 2], String> {
    let numbers: Option<Vec<u16>> = text
        .split(',')
        .map(|n| n.trim().parse().ok().filter(|&n| n > 0))
        .collect();
    numbers
        .and_then(|n| n.try_into().ok())
        .ok_or_else(|| "expected two numbers as in 6,5".to_owned())
}

pub(super) struct MeshInput {
    flags: MeshInputFlags,
    what: What,
    bounds: [[f32; 3]; 2],
    heights: Option<Texture>,
}

enum What {
    Polygons(Box<Mesh>),
    Patches(BezierPatches),
    Procedural(ProceduralScene),
}

/// The areas and what is drawn at each.
type Sources<'a> = Box<dyn Iterator<Item = Result<(Option<f64>, Box<dyn GridSource>)>> + 'a>;

impl MeshInputFlags {
    pub(super) fn areas(&self) -> &[f64] {
        &self.areas
    }

    pub(super) fn load(&self, path: &Path, verbosity: Verbosity) -> Result<MeshInput> {
        for &value in &self.areas {
            area(value)?;
        }
        each_once("--tessellate", &self.areas)?;
        let what = self.read(path, verbosity)?;
        self.warn_of_idle_flags(&what, verbosity);
        let needs_surface = [
            ("--displace", self.displace.is_some()),
            ("--army", self.army.is_some()),
        ];
        let is_surface = !matches!(what, What::Polygons(_)) || !self.areas.is_empty();
        if let Some((flag, _)) = needs_surface
            .iter()
            .find(|(_, is_set)| *is_set && !is_surface)
        {
            return Err(Error::argument(*flag, "--tessellate beside it", "none"));
        }
        let heights = self.displace.as_deref().map(Texture::read).transpose()?;
        let mut input = MeshInput {
            flags: self.clone(),
            what,
            bounds: [[0.0; 3]; 2],
            heights,
        };
        input.bounds = match &input.what {
            What::Polygons(mesh) if self.areas.is_empty() => bounds(&mesh.positions),
            _ => input.surface()?.bounds(),
        };
        Ok(input)
    }

    /// Warns of flags that change nothing, and of triangles taken for a control cage.
    fn warn_of_idle_flags(&self, what: &What, verbosity: Verbosity) {
        let has_polygons = matches!(what, What::Polygons(_));
        let is_cage = has_polygons && !self.areas.is_empty();
        let is_fur = matches!(what, What::Procedural(ProceduralScene::FurBall));
        let is_random = self.army.is_some() || matches!(what, What::Procedural(_));
        let (cages, files) = (
            "a control cage (--tessellate)",
            "meshes of files with materials",
        );
        let only = [
            ("--hairs", self.hairs.is_some() && !is_fur, "the furball"),
            (
                "--seed",
                self.seed.is_some() && !is_random,
                "procedural meshes and armies",
            ),
            ("--cage-steps", self.cage_steps.is_some() && !is_cage, cages),
            ("--texture", self.texture.is_some() && !has_polygons, files),
            (
                "--normal-map",
                self.normal_map.is_some() && !has_polygons,
                files,
            ),
            (
                "--shininess",
                self.shininess.is_some() && !has_polygons,
                files,
            ),
            (
                "--shader-effects",
                !self.shader_effects.is_empty() && !has_polygons,
                files,
            ),
        ];
        for (flag, is_idle, needs) in only {
            if is_idle {
                verbosity.warn(&format!("{flag} has no effect: it is for {needs}"));
            }
        }
        if let (What::Polygons(mesh), true) = (what, is_cage) {
            let count = |face: &usize| mesh.face(*face).len() == 3;
            let triangles = (0..mesh.faces()).filter(count).count();
            if 2 * triangles > mesh.faces() {
                let percent = 100 * triangles / mesh.faces();
                verbosity.warn(&format!(
                    "--tessellate takes the mesh for the control cage of a subdivision surface, but \
                     {percent} % of its faces are triangles: the surface may not be the one meant"
                ));
            }
        }
    }

    fn read(&self, path: &Path, verbosity: Verbosity) -> Result<What> {
        let name = path.to_str().unwrap_or_default();
        if let Ok(scene) = ProceduralScene::from_name(name) {
            return Ok(What::Procedural(scene));
        }
        let loaded = match MeshFile::load(path)? {
            MeshFile::Patches(patches) => return Ok(What::Patches(patches)),
            MeshFile::Polygons(loaded) => loaded,
        };
        for warning in &loaded.warnings {
            verbosity.warn(warning);
        }
        let mut mesh = loaded.mesh;
        if mesh.corners.is_empty()
            && path
                .extension()
                .is_some_and(|e| e.eq_ignore_ascii_case("ply"))
        {
            let expected = "at least one (a scene of splats is drawn by `quadrille render`)";
            return Err(Error::malformed(path, "faces", expected, "none"));
        }
        for material in &mut mesh.materials {
            material.shininess = self.shininess.unwrap_or(material.shininess);
            for effect in &self.shader_effects {
                effect(&mut material.effects);
            }
            if material.alpha_cutoff.is_some() {
                verbosity.warn(&format!(
                    "material {:?} discards where it is transparent: drawn opaque, and not merged \
                     by the pixel merge unit",
                    material.name
                ));
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
        Ok(What::Polygons(Box::new(mesh)))
    }
}

impl MeshInput {
    /// How it is looked at where flags say nothing.
    pub(super) fn framing(&self) -> Framing {
        if let What::Procedural(scene) = self.what {
            let seen = scene.viewpoint();
            let target = Vector3::from(seen.target);
            return Framing {
                subject: FramingTarget {
                    centre: target,
                    radius: (Vector3::from(seen.eye) - target).norm(),
                },
                stand: Stand::At(Vector3::from(seen.eye)),
                up: seen.up,
                fov_degrees: seen.vertical_fov.to_degrees(),
                size: PICTURE_PX,
            };
        }
        let (centre, radius) = self.ball();
        Framing {
            subject: FramingTarget { centre, radius },
            stand: Stand::ForPoints(Vector3::from(TOWARDS_EYE), self.points()),
            up: UP,
            fov_degrees: DEFAULT_FOV_DEGREES,
            size: DEFAULT_SIDE_PX,
        }
    }

    /// Points to be seen: all that the mesh is made of, or of an army its box.
    fn points(&self) -> Vec<[f32; 3]> {
        match &self.what {
            _ if self.flags.army.is_some() => box_corners(self.bounds).collect(),
            What::Polygons(mesh) => mesh.positions.clone(),
            What::Patches(patches) => patches.points.clone(),
            What::Procedural(_) => Vec::new(),
        }
    }

    /// A ball around everything.
    fn ball(&self) -> (Vector3<f64>, f64) {
        let [least, greatest] = self.bounds.map(|c| Vector3::from(c.map(f64::from)));
        let radius = (greatest - least).norm() / 2.0;
        let radius = if radius > 0.0 { radius } else { 1.0 };
        ((least + greatest) / 2.0, radius)
    }

    /// Distance of the near plane.
    pub(super) fn near(&self, camera: &Camera) -> Result<f64> {
        if let Some(near) = self.flags.near {
            if near > 0.0 && near.is_finite() {
                return Ok(near);
            }
            return Err(Error::argument(
                "--near",
                "a distance above 0",
                near.to_string(),
            ));
        }
        Ok(near_plane(camera, self.bounds))
    }

    /// What is drawn, at each area asked for.
    pub(super) fn sources(&self) -> Result<Sources<'_>> {
        let areas = match (&self.what, self.flags.areas.as_slice()) {
            (What::Polygons(mesh), []) => {
                let triangles: Box<dyn GridSource> = Box::new(Triangles::new(Mesh::clone(mesh)));
                return Ok(Box::new(std::iter::once(Ok((None, triangles)))));
            }
            (_, []) => &[DEFAULT_AREA_PX],
            (_, areas) => areas,
        };
        Ok(Box::new(areas.iter().map(|&area| {
            let settings = TessellateSettings {
                triangle_area_px: area,
                ..TessellateSettings::default()
            };
            let tessellated = Tessellated::new(self.surface()?, settings)?;
            let source: Box<dyn GridSource> = Box::new(tessellated);
            Ok((Some(area), source))
        })))
    }

    fn surface(&self) -> Result<Surface> {
        let flags = &self.flags;
        let seed = flags.seed.unwrap_or(1);
        let cage_steps = flags.cage_steps.unwrap_or(DEFAULT_LEVELS);
        let mut surface = match &self.what {
            What::Polygons(cage) => Surface::catmull_clark(cage, cage_steps)?,
            What::Patches(patches) => {
                Surface::bezier(&patches.points, &patches.patches, Material::default())?
            }
            What::Procedural(ProceduralScene::FurBall) => {
                Surface::fur_ball(seed, flags.hairs.unwrap_or(HAIRS))
            }
            What::Procedural(scene) => scene.surface(seed),
        };
        if let (Some(texture), Some(by)) = (&self.heights, flags.displace_by) {
            let has_alpha = texture.texels.iter().any(|t| t[3] != u8::MAX);
            let channel = if has_alpha {
                HeightChannel::Alpha
            } else {
                HeightChannel::Luminance
            };
            surface = surface.displaced(HeightMap::new(texture, channel)?, by, 0.0)?;
        }
        match flags.army {
            Some(ranks) => surface.army(ranks, seed),
            None => Ok(surface),
        }
    }
}
