//! The up axis of public meshes of both conventions, whose pictures were looked at.

use quadrille::Task;
use quadrille::geometry::files::{load, rims};
use quadrille::geometry::upright::stands_along_z;

use crate::support::shared;

/// Meshes that stand along +z. All others of the folders stand along +y or lie alike along both, except `toy_z.obj`: its back
/// supports it along +y as its feet do along +z, and such a mesh stays with +y.
const Z_UP: [&str; 15] = [
    "meshes/osd_shapes/bilinear_nonplanar.obj",
    "meshes/osd_shapes/catmark_bishop.obj",
    "meshes/osd_shapes/catmark_car.obj",
    "meshes/osd_shapes/catmark_fvar_bound0.obj",
    "meshes/osd_shapes/catmark_fvar_bound1.obj",
    "meshes/osd_shapes/catmark_fvar_bound2.obj",
    "meshes/osd_shapes/catmark_fvar_bound3.obj",
    "meshes/osd_shapes/catmark_fvar_project0.obj",
    "meshes/osd_shapes/catmark_nonman_bareverts.obj",
    "meshes/osd_shapes/catmark_pawn.obj",
    "meshes/osd_shapes/catmark_pyramid.obj",
    "meshes/osd_shapes/catmark_pyramid_creases0.obj",
    "meshes/osd_shapes/catmark_pyramid_creases1.obj",
    "meshes/osd_shapes/catmark_pyramid_creases2.obj",
    "meshes/osd_shapes/catmark_rook.obj",
];

#[test]
fn public_meshes_stand_on_their_feet() {
    let mut files = Vec::new();
    for name in ["cases/meshes-2/90-up", "meshes"] {
        let Some(folder) = shared::path(name) else { return };
        files.extend(shared::files_below(&folder, &["obj", "ply"]));
    }
    assert!(files.len() > 130, "{}", files.len());
    let mut wrong = String::new();
    for path in files {
        let loaded = load(&path, &Task::NEVER);
        let Some(mesh) = loaded.ok().map(|loaded| loaded.mesh).filter(|mesh| mesh.faces() > 0)
        else {
            continue;
        };
        let stands = |points: &[[f32; 3]]| stands_along_z(points, || rims(&mesh));
        let is_z_up = Z_UP.iter().any(|name| path.ends_with(name));
        if stands(&mesh.positions) != is_z_up {
            wrong += &format!("{}: +z {}\n", path.display(), !is_z_up);
        }
        // Turned so that it stands along +y, it does.
        let turned: Vec<_> = mesh.positions.iter().map(|[x, y, z]| [*x, *z, -y]).collect();
        if is_z_up && stands(&turned) {
            wrong += &format!("{}, turned to +y: +z\n", path.display());
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}
