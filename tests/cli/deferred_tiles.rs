//! Shading by the size of tiles, with the pixel grid and with adaptive grids: bin spread, and means over tiles.

use std::collections::HashMap;

use serde_json::Value;

use crate::support::program::Place;
use crate::support::shared;

/// Least medians of a medium blur, in pixels: motion, and circle of confusion.
const MEDIUM_PX: [f64; 2] = [15.0, 7.5];

/// Executions of the shader per pixel with one grid.
#[derive(Debug, Clone, Copy)]
struct Executions {
    /// Executions of `sds` over executions with a depth prepass, with tiles of 128 pixels.
    excess: f64,
    /// Of `sds` with tiles of 32 pixels, and with one tile for the whole screen.
    tiles: [f64; 2],
}

impl Executions {
    /// Executions that small tiles add.
    fn spread(&self) -> f64 {
        self.tiles[0] - self.tiles[1]
    }

    fn growth(&self) -> f64 {
        self.tiles[0] / self.tiles[1]
    }
}

/// What `deferred` measures of a view.
#[derive(Debug)]
struct Measured {
    medians_px: [f64; 2],
    /// With the pixel grid.
    pixel: Executions,
    adaptive: Executions,
}

impl Measured {
    fn new(place: &Place, view: &[&str]) -> Self {
        let flags = [
            "--method",
            "sds,cached-decoupled+z",
            "--memo",
            "unbounded",
            "--tile",
            "32,128,whole",
            "--grid",
            "pixel,adaptive",
            "--json",
        ];
        let document = place.document(&[&["deferred"], view, &flags].concat());
        let rows = document["rows"].as_array().unwrap();
        let key = |row: &Value| {
            let text = |name: &str| row[name].as_str().unwrap_or_default().to_owned();
            (text("pipeline"), text("grid"), row["tile_px"].as_u64())
        };
        let per_pixel: HashMap<_, _> = rows
            .iter()
            .map(|row| (key(row), row["shading"]["per_pixel"].as_f64().unwrap()))
            .collect();
        let with = |grid: &str| {
            let of =
                |pipeline: &str, tile| per_pixel[&(pipeline.to_owned(), grid.to_owned(), tile)];
            Executions {
                excess: of("sds", Some(128)) - of("cached-decoupled+z", None),
                tiles: [of("sds", Some(32)), of("sds", None)],
            }
        };
        let median = |name: &str| rows[0]["blur"][name]["median"].as_f64().unwrap();
        Self {
            medians_px: [median("motion_px"), median("coc_px")],
            pixel: with("pixel"),
            adaptive: with("adaptive"),
        }
    }

    fn growth_of_adaptive_over_pixel(&self) -> f64 {
        self.adaptive.growth() / self.pixel.growth()
    }
}

/// The adaptive grid largely avoids bin spread in executions per pixel; relative to its own whole screen it
/// grows about as much as the pixel grid.
#[test]
fn adaptive_grids_avoid_most_bin_spread_in_medium_blur() {
    let place = Place::new();
    let gallery = shared::path("cases/meshes/public/vr-gallery.glb");
    let truck = shared::path("cases/meshes/public/truck.obj");
    let mut views = vec![(
        vec!["arcade", "--tessellate", "200", "--spin", "0,1,0,8"],
        ["--coc-px", "4", "--width", "320", "--height", "180"],
    )];
    if let Some(gallery) = &gallery {
        let place = ["--eye", "2,2,5", "--target", "0,1.8,0", "--focus", "3"];
        let motion = ["--camera-move", "0.38,0,0.1"];
        views.push((
            [&[gallery.to_str().unwrap()], &place[..], &motion].concat(),
            ["--coc-px", "16", "--width", "480", "--height", "270"],
        ));
    }
    if let Some(truck) = &truck {
        let place = ["--eye", "0.35,0.1,0.9", "--target", "0.3,0,0", "--focus", "3"];
        let motion = ["--up", "0,1,0", "--spin", "0,1,0,6"];
        views.push((
            [&[truck.to_str().unwrap()], &place[..], &motion].concat(),
            ["--coc-px", "2", "--width", "640", "--height", "360"],
        ));
    }
    for (view, size) in views {
        let found = Measured::new(&place, &[&view[..], &size].concat());
        let is_medium = (0..2).all(|k| found.medians_px[k] >= MEDIUM_PX[k]);
        assert!(is_medium, "{view:?}: {found:?}");
        let (pixel, adaptive) = (found.pixel, found.adaptive);
        assert!(pixel.excess > 0.1 && pixel.spread() > 0.5, "{view:?}: {found:?}");
        let most = (0.4 * pixel.excess).min(0.1);
        assert!(adaptive.excess <= most, "{view:?}: {found:?}");
        assert!(adaptive.spread() <= 0.4 * pixel.spread(), "{view:?}: {found:?}");
        let growth = found.growth_of_adaptive_over_pixel();
        assert!(growth <= 1.15, "{view:?}: {growth} {found:?}");
    }
}

#[test]
fn adaptive_grids_grow_less_where_sharp_and_blurred_surfaces_meet() {
    let place = Place::new();
    let column = ["--eye", "2.2,22.3,1.5", "--target", "9,22.3,1.5"];
    let blur = ["--coc-px", "2", "--focus", "6.8"];
    let size = ["--width", "480", "--height", "270"];
    let mesh = ["arcade", "--tessellate", "200"];
    let found = Measured::new(&place, &[&mesh[..], &column, &blur, &size].concat());
    let growth = found.growth_of_adaptive_over_pixel();
    assert!(growth <= 0.75, "{growth} {found:?}");
}

/// Tiles that show only the background are not sorted, and do not lower the mean over the others.
#[test]
fn passes_of_the_sort_are_a_mean_over_tiles_with_samples() {
    let place = Place::new();
    let mesh = ["deferred", "plane", "--tessellate", "60", "--json"];
    let size = ["--width", "96", "--height", "64", "--tile", "8"];
    let sort = |view: &[&str]| {
        let document = place.document(&[&mesh[..], &size, view].concat());
        document["rows"][0]["sort"].clone()
    };
    let far = sort(&["--eye", "0,5,3", "--target", "0,0,0"]);
    let tiles = far["tiles"].as_u64().unwrap();
    assert!(0 < tiles && tiles < 96 / 2, "{far}");
    // The keys of a sample are at least one digit of its primitive and one of its place.
    assert!(far["passes_mean"].as_f64() >= Some(1.0), "{far}");
    let beside = sort(&["--eye", "0,5,3", "--target", "0,10,6"]);
    assert_eq!((beside["tiles"].as_u64(), beside["passes_mean"].as_f64()), (Some(0), Some(0.0)));
}
