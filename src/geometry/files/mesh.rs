//! Polygon meshes with materials and textures, as files store them.
//!
//! Positions, texture coordinates and normals have separate indices, so that a seam of the texture
//! does not cut the surface: faces that share positions are adjacent.

use std::borrow::Borrow;
use std::ops::Range;
use std::path::PathBuf;

use super::camera::FileCamera;
use super::light::PunctualLight;
use super::material::{Material, Texture};

/// Index in a [`Corner`] for an attribute that the file lacks.
pub const NONE: u32 = u32::MAX;

/// Corner of a face, as indices of its attributes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Corner {
    /// Index into [`Mesh::positions`].
    pub position: u32,
    /// Index into [`Mesh::uvs`], or [`NONE`].
    pub uv: u32,
    /// Index into [`Mesh::normals`], or [`NONE`].
    pub normal: u32,
    /// Index into [`Mesh::colours`], or [`NONE`] for white.
    pub colour: u32,
}

/// Sharp edge in the control cage of a subdivision surface.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Crease {
    /// Indices of the positions at the ends of the edge.
    pub positions: [u32; 2],
    /// Number of subdivision steps for which the edge stays sharp; may be infinite.
    pub sharpness: f32,
}

/// Polygon mesh with materials, textures and lights.
///
/// Readers guarantee valid indices, finite coordinates, at least three corners per face, and at least one material.
#[derive(Debug, Clone, Default)]
pub struct Mesh {
    /// Point of the world that `positions`, but not lights, are relative to: zero, unless they lie far from zero.
    pub origin: [f64; 3],
    /// Positions relative to the origin, in world units.
    pub positions: Vec<[f32; 3]>,
    /// Unit normals, which corners refer to by index.
    pub normals: Vec<[f32; 3]>,
    /// Texture coordinates; (0, 0) is the top left corner of a texture, and v points down.
    pub uvs: Vec<[f32; 2]>,
    /// Second set of texture coordinates, as many as `uvs`; empty if no texture has it.
    pub second_uvs: Vec<[f32; 2]>,
    /// Linear vertex colours with alpha, each 0 or more, which multiply the colour of the material.
    pub colours: Vec<[f32; 4]>,
    /// Corners of all faces, face by face, counter-clockwise as seen from the front.
    pub corners: Vec<Corner>,
    /// Index of each face's first corner in `corners`; one more entry ends the last face.
    pub face_starts: Vec<u32>,
    /// Index into `materials` of each face.
    pub face_materials: Vec<u32>,
    /// Faces of each draw, in order and without gaps.
    pub draws: Vec<Range<u32>>,
    /// Materials, at least one.
    pub materials: Vec<Material>,
    /// Textures, which materials refer to by index.
    pub textures: Vec<Texture>,
    /// Sharp edges of a control cage.
    pub creases: Vec<Crease>,
    /// Sharp vertices of a control cage: index of the position, and sharpness.
    pub sharp_corners: Vec<(u32, f32)>,
    /// Lights that the file places in the scene.
    pub lights: Vec<PunctualLight>,
    /// Rule for the normals of corners that have none.
    pub smoothing: Smoothing,
}

/// Steps of f32 per extent of a face below which rounding is visible (assumed: each corner moves by up to a 32nd of it).
const LEAST_FACE_STEPS: f32 = 16.0;
/// Number of faces that are examined, evenly spaced.
const FACE_SAMPLES: usize = 1 << 16;
/// Share of the faces above which coarse steps are reported (assumed). Meshes have a few faces without area.
const LEAST_COARSE_SHARE: f64 = 0.01;

/// Largest angle in degrees between faces that share normals, in files without normals and smoothing groups (assumed).
pub const DEFAULT_CREASE: f64 = 60.0;

/// Rule for the normals of corners that have none: the edges that are smooth. At each position, all faces that are
/// connected across smooth edges share a normal; without hard edges, all faces around a position share one.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Smoothing {
    /// All edges are smooth.
    #[default]
    Everywhere,
    /// Edges at which the surface turns by at most this angle, in degrees, are smooth.
    Crease(f64),
    /// Edges between faces of the same smoothing group are smooth.
    Groups {
        /// Group of each face: 0 for a flat face, [`NONE`] where the file states none.
        groups: Vec<u32>,
        /// Largest angle in degrees at smooth edges between faces without a stated group.
        crease: f64,
    },
}

impl Mesh {
    /// Number of faces over all draws.
    pub fn faces(&self) -> usize {
        self.face_materials.len()
    }

    /// Removes the positions that no face uses, and creases and sharp corners at them, from a mesh with faces. Returns their
    /// number. They would otherwise count in the box of the mesh, and thus in its view and its axes.
    pub(super) fn drop_unused_positions(&mut self) -> usize {
        if self.corners.is_empty() {
            return 0;
        }
        let mut indices = vec![NONE; self.positions.len()];
        for corner in &self.corners {
            indices[corner.position as usize] = 0;
        }
        let mut kept = 0;
        for index in indices.iter_mut().filter(|index| **index != NONE) {
            *index = kept;
            kept += 1;
        }
        let unused = self.positions.len() - kept as usize;
        if unused > 0 {
            let mut at = indices.iter();
            self.positions.retain(|_| at.next() != Some(&NONE));
            let moved = |position: u32| indices[position as usize];
            for corner in &mut self.corners {
                corner.position = moved(corner.position);
            }
            for crease in &mut self.creases {
                crease.positions = crease.positions.map(moved);
            }
            self.creases.retain(|crease| !crease.positions.contains(&NONE));
            self.sharp_corners.iter_mut().for_each(|(position, _)| *position = moved(*position));
            self.sharp_corners.retain(|(position, _)| *position != NONE);
        }
        unused
    }

    /// Number of faces with a texture and a corner without texture coordinates.
    pub(super) fn faces_without_texture_coordinates(&self) -> usize {
        let is_textured: Vec<bool> = self.materials.iter().map(Material::has_textures).collect();
        if !is_textured.contains(&true) {
            return 0;
        }
        let lacks_uv = |face: &usize| self.face(*face).iter().any(|corner| corner.uv == NONE);
        let faces = 0..self.faces();
        faces.filter(|at| is_textured[self.face_materials[*at] as usize]).filter(lacks_uv).count()
    }

    /// Finds the faces for which the steps of f32 are coarse; `None` if they are few.
    pub(super) fn coarse_faces(&self) -> Option<CoarseFaces> {
        let sampled = (0..self.faces()).step_by(self.faces().div_ceil(FACE_SAMPLES).max(1));
        let faces: Vec<[f32; 2]> = sampled.map(|face| self.extent_and_step(face)).collect();
        let mut extents: Vec<f32> = faces.iter().map(|[extent, _]| *extent).collect();
        extents.retain(|extent| *extent > 0.0);
        if extents.is_empty() {
            return None;
        }
        let middle = extents.len() / 2;
        let typical = *extents.select_nth_unstable_by(middle, f32::total_cmp).1;
        // The corners of a face without extent are one point in the file or were rounded to one, so that its size is unknown.
        let is_coarse = |[extent, step]: &[f32; 2]| {
            LEAST_FACE_STEPS * step > if *extent > 0.0 { *extent } else { typical }
        };
        let steps = faces.iter().filter(|face| is_coarse(face)).map(|[_, step]| *step);
        let count = steps.clone().count();
        let found = CoarseFaces {
            share: count as f64 / faces.len() as f64,
            largest_step: steps.fold(0.0, f32::max),
        };
        (found.share > LEAST_COARSE_SHARE).then_some(found)
    }

    /// Longest side of the box around a face, and step of f32 at its farthest coordinate.
    fn extent_and_step(&self, face: usize) -> [f32; 2] {
        let positions = self.face(face).iter().map(|c| self.positions[c.position as usize]);
        let [least, most] = bounds(positions);
        let largest = |of: fn([f32; 2]) -> f32| {
            [0, 1, 2].map(|k| of([least[k], most[k]])).into_iter().fold(0.0, f32::max)
        };
        let farthest = largest(|[least, most]| most.max(-least));
        [largest(|[least, most]| most - least), farthest.next_up() - farthest]
    }

    /// Returns the corners of the face with this index.
    pub fn face(&self, face: usize) -> &[Corner] {
        &self.corners[self.face_starts[face] as usize..self.face_starts[face + 1] as usize]
    }
}

/// Faces for which the steps of f32 are coarse.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct CoarseFaces {
    share: f64,
    largest_step: f32,
}

impl CoarseFaces {
    pub(super) fn warning(&self) -> String {
        let share = 100.0 * self.share;
        format!(
            "positions far from the middle of the mesh are rounded to steps of up to {:.2e}, which changes the shape of \
             {share:.0} % of the faces: draw parts that are far from each other as separate files",
            self.largest_step
        )
    }
}

/// Returns the least and the greatest corner of the box around `points`; without points, both are zero.
pub fn bounds<P: Borrow<[f32; 3]>>(points: impl IntoIterator<Item = P>) -> [[f32; 3]; 2] {
    let around = points.into_iter().map(|p| [*p.borrow(); 2]).reduce(|[a, b], [p, q]| {
        let axes = [0, 1, 2];
        [axes.map(|k| a[k].min(p[k])), axes.map(|k| b[k].max(q[k]))]
    });
    around.unwrap_or_default()
}

/// Mesh of a file, with the cameras and the warnings of its reader.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Loaded {
    /// Mesh in which equal positions are merged, so that faces are adjacent across seams.
    pub mesh: Mesh,
    /// Cameras that the file places in the scene.
    pub cameras: Vec<FileCamera>,
    /// Number of positions that no face uses. They are not part of the mesh.
    pub unused_positions: usize,
    /// True if the format states that +y is up and +z is the front, as glTF does; OBJ and PLY do not.
    pub has_stated_axes: bool,
    /// Warnings about parts of the file that are left out or drawn differently, one sentence each; at most about 100.
    pub warnings: Vec<String>,
    /// Files that the mesh names and that were requested, such as materials, textures and buffers. They include files
    /// that could not be read, since the mesh changes when such a file appears.
    pub files: Vec<PathBuf>,
}
