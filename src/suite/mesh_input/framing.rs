//! The default view of a mesh, and the cameras and lights of its file.

use nalgebra::Vector3;

use super::input::{Content, MeshInput};
use super::settings::AxisDirection;
use crate::messages::Messages;
use quadrille_geometry::files::{Corner, FileCamera, Mesh, PunctualLight};
use quadrille_geometry::front::MeshOrientation;
use quadrille_geometry::surface::{PICTURE_PX, box_corners};
use quadrille_mesh::draw::near_plane;
use quadrille_scene::Camera;
use quadrille_scene::cameras::{
    DEFAULT_FOV_DEGREES, DEFAULT_SIDE_PX, EyeRule, Framing, FramingTarget, LEAST_EXTENT,
};

const SAMPLES: usize = 4096;

pub(super) fn sampled_faces(mesh: &Mesh) -> impl Iterator<Item = usize> {
    (0..mesh.faces()).step_by(mesh.faces().div_ceil(SAMPLES).max(1))
}

/// Half the sum of the cross products of a face's edges: its normal, with its area as length.
pub(super) fn area_vector(mesh: &Mesh, face: usize) -> Vector3<f64> {
    let corners = mesh.face(face);
    let place =
        |corner: &Corner| Vector3::from(mesh.positions[corner.position as usize].map(f64::from));
    let first = place(&corners[0]);
    let fans = corners[1..].windows(2);
    let areas = fans.map(|pair| (place(&pair[0]) - first).cross(&(place(&pair[1]) - first)));
    areas.sum::<Vector3<f64>>() / 2.0
}

impl MeshInput {
    /// Returns the default view for the `given` up direction or, without one, for the up axis that the mesh suggests.
    pub fn framing(&self, given: Option<[f64; 3]>, messages: &dyn Messages) -> Framing {
        let orientation = self.orientation(given);
        if given.is_none() && self.stands_along_z {
            messages.warn(
                "the mesh stands along z: +z is taken as up (an up direction of 0,1,0 chooses +y)",
            );
        } else if given.is_none() && !self.has_stated_axes {
            messages.remark("+y is taken as up (an up direction of 0,0,1 chooses +z)");
        }
        if let Content::Procedural(scene) = self.content {
            let viewpoint = scene.viewpoint();
            let [eye, centre] = [viewpoint.eye, viewpoint.target].map(Vector3::from);
            return Framing {
                subject: FramingTarget { centre, radius: (eye - centre).norm() },
                eye: EyeRule::At(eye),
                up: viewpoint.up,
                fov_degrees: viewpoint.vertical_fov.to_degrees(),
                size: PICTURE_PX,
            };
        }
        let (centre, radius) = self.bounding_sphere();
        let points = self.points();
        let towards = match self.front() {
            Some(_) => orientation.towards_front(),
            None => {
                // The ranks of an army are not the left and right sides of one object.
                let is_stated = self.has_stated_axes || self.settings.army.is_some();
                let towards = orientation.towards_viewer(&points, is_stated);
                orientation.towards_fronts(towards, &self.face_areas())
            }
        };
        Framing {
            subject: FramingTarget { centre, radius },
            eye: EyeRule::ForPoints { direction: towards, points, origin: self.origin() },
            up: orientation.up.into(),
            fov_degrees: DEFAULT_FOV_DEGREES,
            size: DEFAULT_SIDE_PX,
        }
    }

    pub(super) fn orientation(&self, given: Option<[f64; 3]>) -> MeshOrientation {
        let is_z_up = match given {
            Some([_, y, z]) => z.abs() > y.abs(),
            None => self.stands_along_z,
        };
        let mut orientation =
            if is_z_up { MeshOrientation::z_up() } else { MeshOrientation::y_up() };
        // The front must be perpendicular to up: a view from above or below would have no up direction.
        if let Some(front) = self.front().filter(|f| f.dot(&orientation.up) == 0.0) {
            orientation.front = front;
        }
        orientation
    }

    fn front(&self) -> Option<Vector3<f64>> {
        self.settings.front.map(AxisDirection::vector)
    }

    /// Cameras of the file.
    pub fn cameras(&self) -> &[FileCamera] {
        &self.cameras
    }

    /// Lights of the file.
    pub fn lights(&self) -> &[PunctualLight] {
        match &self.content {
            Content::Polygons(mesh) => &mesh.lights,
            _ => &[],
        }
    }

    /// Points that the default view shows: all vertices, or the corners of an army's bounding box.
    fn points(&self) -> Vec<[f32; 3]> {
        match &self.content {
            _ if self.settings.army.is_some() => box_corners(self.bounds).collect(),
            content => content.points().to_vec(),
        }
    }

    /// Area vectors of evenly spaced faces as drawn, and whether their backs are drawn too.
    fn face_areas(&self) -> Vec<(Vector3<f64>, bool)> {
        let Content::Polygons(mesh) = &self.content else { return Vec::new() };
        if !self.settings.tessellate.is_empty() {
            return Vec::new();
        }
        let area = |face| {
            (area_vector(mesh, face), mesh.materials[mesh.face_materials[face] as usize].two_sided)
        };
        sampled_faces(mesh).map(area).collect()
    }

    fn bounding_sphere(&self) -> (Vector3<f64>, f64) {
        let [least, greatest] = self.bounds.map(|c| Vector3::from(c.map(f64::from)));
        let radius = (greatest - least).norm() / 2.0;
        let radius = if radius >= LEAST_EXTENT { radius } else { 1.0 };
        let middle = (least + greatest) / 2.0;
        (middle + Vector3::from(self.origin()), radius)
    }

    /// Centre of the bounding box in world coordinates.
    pub fn centre(&self) -> Vector3<f64> {
        self.bounding_sphere().0
    }

    /// Distance of the near plane in world units: from the settings, else from the file's camera of the same view,
    /// else a fraction of the mesh's distance.
    pub fn near(&self, camera: &Camera) -> f64 {
        let is_it = |file: &&FileCamera| {
            file.name == camera.name && (camera.eye() - Vector3::from(file.eye)).amax() < 1e-9
        };
        let stated = self.cameras.iter().find(is_it).map(|file| file.near);
        let stated = self.settings.near.or(stated);
        stated.unwrap_or_else(|| near_plane(&camera.relative_to(self.origin()), self.bounds))
    }
}
