//! Goldens: small pictures in `reference/`, which only the scalar oracle writes.
//!
//! They detect a change of both renderers at once, which no other test does. Rewrite them with
//! `QUADRILLE_WRITE_GOLDENS=1`.
use std::env;
use std::path::PathBuf;

use nalgebra::{Matrix3, Vector3};
use quadrille::RenderSettings;
use quadrille::Renderer;
use quadrille::render_reference;

use quadrille::Camera;
use quadrille::Intrinsics;
use quadrille::Profile;
use quadrille::SimdLevel;
use quadrille::Splat;
use quadrille::Splats;
use quadrille::StopRule;

use crate::support::pictures::Differences;
use crate::support::scenes::{self, Random};
use crate::support::tolerances::{bound, hold};

/// Environment variable that rewrites the goldens.
const WRITE_VARIABLE: &str = "QUADRILLE_WRITE_GOLDENS";

/// The input of a golden.
struct Golden {
    name: &'static str,
    splats: Splats,
    camera: Camera,
    profile: Profile,
}

/// A camera at the origin that looks along z, with a vertical field of view of 60 degrees.
fn plain_camera(width: u32, height: u32) -> Camera {
    let lens = Intrinsics::from_vertical_fov(width, height, 1.047);
    Camera::new("plain", lens, Matrix3::identity(), Vector3::zeros()).unwrap()
}

/// Overlapping red, green and blue discs, red nearest, that show order, blending and the alpha cap.
fn three_discs() -> Splats {
    let disc = |i: usize| {
        let mut sh = [[0.0; 3]; 25];
        sh[0] = std::array::from_fn(|c| if c == i { 1.7 } else { -1.7 });
        Splat {
            mean: [[-0.2, 0.0, 2.0], [0.2, 0.0, 2.1], [0.0, 0.3, 2.2]][i],
            scale: [0.2, 0.2, 0.01],
            rotation: [1.0, 0.0, 0.0, 0.0],
            opacity: [0.6, 1.0, 0.9][i],
            sh,
        }
    };
    Splats::from_splats(0, (0..3).map(disc))
}

/// Needles of 1:1000 like the hands of a clock, with view-dependent colours.
fn needles() -> Splats {
    let needle = |i: usize| {
        let half_turn = i as f32 / 12.0 * std::f32::consts::PI;
        let mut sh = [[0.0; 3]; 25];
        sh[0] = [0.8, 0.4, 0.0];
        sh[1 + i % 8] = [1.0, -0.5, 0.5];
        Splat {
            mean: [0.3 * half_turn.cos(), 0.3 * half_turn.sin(), 1.0 + i as f32 * 0.05],
            scale: [0.3, 0.0003, 0.0003],
            rotation: [(half_turn / 2.0).cos(), 0.0, 0.0, (half_turn / 2.0).sin()],
            opacity: 0.9,
            sh,
        }
    };
    Splats::from_splats(2, (0..12).map(needle))
}

/// A seeded random scene with all difficult kinds of splats.
fn storm(name: &'static str, seed: u64, size: [u32; 2], profile: Profile) -> Golden {
    let mut random = Random::new(seed);
    let camera = scenes::camera(&mut random, size[0], size[1]);
    Golden { name, splats: scenes::splats(&mut random, &camera, 600, 3), camera, profile }
}

fn goldens() -> Vec<Golden> {
    let plain = |name, splats, [width, height]: [u32; 2]| Golden {
        name,
        splats,
        camera: plain_camera(width, height),
        profile: Profile::default(),
    };
    let hardware = Profile { stop: StopRule::After(0.996), ..Profile::default() };
    vec![
        plain("three_discs", three_discs(), [32, 24]),
        plain("needles", needles(), [33, 31]),
        storm("storm_inria", 1, [32, 32], Profile::default()),
        storm("storm_gsplat_aa", 2, [40, 21], Profile::named("gsplat-aa").unwrap()),
        storm("storm_mip_splatting", 3, [24, 24], Profile::named("mip-splatting").unwrap()),
        storm("storm_hardware_stop", 4, [37, 19], hardware),
    ]
}

fn path(golden: &Golden) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("reference");
    folder.join(golden.name).with_extension("npy")
}

#[test]
fn both_renderers_draw_the_goldens() {
    let write = env::var_os(WRITE_VARIABLE).is_some_and(|v| v == "1");
    for golden in goldens() {
        let settings = |level| RenderSettings { profile: golden.profile, level };
        let (oracle, counts) =
            render_reference(&golden.splats, &golden.camera, &settings(SimdLevel::best()));
        assert!(counts.fragments_blended > 100, "{} shows little", golden.name);
        if write {
            quadrille::write_picture(path(&golden), &oracle).unwrap();
        }
        let expected = quadrille::read_picture(path(&golden)).unwrap();
        let differences = Differences::between(&oracle, &expected);
        assert_eq!(differences.undefined, 0, "{} is finite", golden.name);
        hold("golden of oracle", differences.max(), golden.name);
        for level in SimdLevel::all() {
            let (fast, _) =
                Renderer::default().render(&golden.splats, &golden.camera, &settings(level));
            let differences = Differences::between(&fast, &expected);
            let place = format!("{}, {}", golden.name, level.name());
            hold("max", differences.max(), &place);
            let strays = differences.strays(bound("golden of fast"));
            assert!(strays <= 1, "{place}: {strays} strays");
        }
    }
}
