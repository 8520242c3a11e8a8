//! The emulated fragment shader: lanes against the definition, survivors against the reference
//! renderer.
use nalgebra::{Matrix3, Vector3};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use quadrille::Camera;
use quadrille::Intrinsics;
use quadrille::Profile;
use quadrille::ProjectedSplat;
use quadrille::SimdLevel;
use quadrille::Splat;
use quadrille::Splats;
use quadrille::gpu::warp::exact_alpha::ExactAlpha;
use quadrille::gpu::warp::exact_alpha::NearCut;
use quadrille::gpu::warp::fragment::FragmentShader;
use quadrille::machine::packets::ColourQuad;
use quadrille::machine::packets::Quad;
use quadrille::machine::packets::WARP_QUADS;
use quadrille::raster::tiles::TILE_PX;
use quadrille::raster::tiles::TILE_QUADS;
use quadrille_base::shading::fragment_alpha;
use quadrille_render::preprocess::LOG2_ALPHA_CUT;
use quadrille_render::preprocess::ViewTransform;
use quadrille_render::preprocess::exact::ExactSplat;

use crate::support::scenes::{self, Random};

/// Values put into every field.
const POISON: [f32; 12] = [
    f32::NAN,
    f32::INFINITY,
    f32::NEG_INFINITY,
    f32::MAX,
    f32::MIN,
    f32::MIN_POSITIVE,
    1e-40,
    -1e-40,
    0.0,
    -0.0,
    1e20,
    -7.994_353_5,
];

/// Decides by a checkerboard: shows where it was asked.
struct ByColumn;

impl NearCut for ByColumn {
    fn alpha(&self, _: &ProjectedSplat, x: u32, y: u32) -> Option<f64> {
        (x + y).is_multiple_of(2).then_some(0.0039)
    }
}

/// The same number; any NaN counts as any other.
fn same(a: f32, b: f32) -> bool {
    a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan())
}

/// Differences of a warp's result from the definition, fragment by fragment.
fn complaint(
    shader: &FragmentShader<'_>,
    splats: &[ProjectedSplat],
    tile: [u32; 2],
    quads: &[Quad],
) -> Option<String> {
    let mut out = [ColourQuad::default(); WARP_QUADS];
    shader.shade(tile[0], tile[1], quads, &mut out);
    for (i, (quad, shaded)) in quads.iter().zip(&out).enumerate() {
        let splat = &splats[quad.primitive as usize];
        for lane in 0..4 {
            let x = tile[0] * TILE_PX + u32::from(quad.position) % TILE_QUADS * 2 + lane % 2;
            let y = tile[1] * TILE_PX + u32::from(quad.position) / TILE_QUADS * 2 + lane / 2;
            let covered = quad.mask >> lane & 1 == 1;
            let expected = shader.fragment(splat, x, y).filter(|_| covered);
            let alpha = expected.unwrap_or(0.0);
            let [r, g, b] = splat.colour.map(|c| alpha * c);
            let found = shaded.colour.map(|channel| channel[lane as usize]);
            let agree = found.iter().zip([r, g, b, alpha]).all(|(f, e)| same(*f, e));
            if !agree || (shaded.mask >> lane & 1 == 1) != expected.is_some() {
                return Some(format!("quad {i}, lane {lane}: {found:?}, not {expected:?}"));
            }
        }
        if shaded.mask & !quad.mask != 0 {
            return Some(format!("quad {i}: mask {:#x}", shaded.mask));
        }
    }
    let empty = |q: &ColourQuad| q.mask == 0 && q.colour[3] == [0.0; 4];
    (!out[quads.len()..].iter().all(empty)).then(|| "filled too many places".to_owned())
}

/// A splat whose footprint is some pixels wide, in a picture of 64 x 64.
fn splat() -> impl Strategy<Value = ProjectedSplat> {
    (
        (-40.0..40.0_f32, -40.0..40.0_f32),
        (0.01..1.5_f32, -1.0..1.0_f32, 0.01..1.5_f32),
        -7.994_353_5..0.0_f32,
        prop::array::uniform3(0.0..3.0_f32),
    )
        .prop_map(|((mx, my), (u_per_x, u_per_y, v_per_y), log2_opacity, colour)| {
            ProjectedSplat {
                u_at_centre: u_per_y * my - u_per_x * mx,
                v_at_centre: -v_per_y * my,
                u_per_x,
                u_per_y,
                v_per_y,
                log2_opacity,
                colour,
                x_per_u: 1.0 / u_per_x,
                leftmost_y: my,
                rightmost_y: my,
                mean_px: [mx, my],
                depth: 1.0,
                index: 0,
            }
        })
}

/// Lifts the splats of odd masks so that they meet the cut at their quad's top left pixel.
fn lift_to_the_cut(splats: &mut [ProjectedSplat], tile: [u32; 2], quads: &[Quad]) {
    for quad in quads.iter().filter(|q| q.mask & 1 == 1) {
        let splat = &mut splats[quad.primitive as usize];
        let place =
            [u32::from(quad.position) % TILE_QUADS * 2, u32::from(quad.position) / TILE_QUADS * 2];
        let x = (tile[0] * TILE_PX + place[0]) as f32 - 31.5;
        let y = (tile[1] * TILE_PX + place[1]) as f32 - 31.0;
        let u = splat.u_at_centre - splat.u_per_y * y + splat.u_per_x * x;
        let v = splat.v_at_centre + splat.v_per_y * y;
        splat.log2_opacity = LOG2_ALPHA_CUT + u * u + v * v;
    }
}

/// Centred on a pixel, so that only there alpha is the opacity itself.
#[test]
fn opacities_at_the_cut() {
    let lens = Intrinsics::from_vertical_fov(33, 31, 1.0);
    let camera = Camera::new("plain", lens, Matrix3::identity(), Vector3::zeros()).unwrap();
    let (profile, cut) = (Profile::default(), 1.0_f32 / 255.0);
    let mut sh = [[0.0; 3]; 25];
    sh[0] = [1.0; 3];
    let splat = |opacity: f32| Splat {
        mean: [0.0, 0.0, 2.0],
        scale: [0.1; 3],
        rotation: [1.0, 0.0, 0.0, 0.0],
        opacity,
        sh,
    };
    let view = ViewTransform::new(&Splats::from_splats(0, []), &camera, &profile);
    for (opacity, expected) in [(cut.next_down(), 0), (cut, 1), (cut.next_up(), 1)] {
        let splats = Splats::from_splats(0, [splat(opacity)]);
        let exact = ExactAlpha { splats: &splats, view: view.clone(), cap: profile.alpha_cap };
        // As drawn at the cut itself: f32 could not tell.
        let at_cut = Splats::from_splats(0, [splat(cut)]);
        let drawn = &drawn(&at_cut, &camera, &profile)[..1];
        for level in SimdLevel::all() {
            let shader = FragmentShader::new(drawn, [33, 31], 0.99, level, Some(&exact));
            let kept = shaded_fragments(&shader, &view, 0);
            let count = kept.iter().filter(|k| **k).count();
            assert_eq!(count, expected, "{opacity:e} on {}", level.name());
            assert_eq!(kept[15 * 33 + 16], expected == 1);
        }
    }
}

const SPLATS: usize = 12;

fn quads() -> impl Strategy<Value = Vec<Quad>> {
    let quad = (0..SPLATS as u32, 0..64_u8, 0..16_u8).prop_map(|(splat, position, mask)| Quad {
        primitive: splat,
        position,
        mask,
    });
    prop::collection::vec(quad, 0..=WARP_QUADS)
}

fn all_levels_agree(
    splats: &[ProjectedSplat],
    tile: [u32; 2],
    quads: &[Quad],
) -> Result<(), TestCaseError> {
    for level in SimdLevel::all() {
        for near_cut in [None, Some(&ByColumn as &dyn NearCut)] {
            let shader = FragmentShader::new(splats, [64, 63], 0.99, level, near_cut);
            let complaint = complaint(&shader, splats, tile, quads);
            prop_assert!(complaint.is_none(), "{}: {complaint:?}", level.name());
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        // The same cases on every run.
        rng_seed: RngSeed::Fixed(1),
        ..ProptestConfig::with_cases(2000)
    })]

    #[test]
    fn lanes_are_the_definition_bit_for_bit(
        mut splats in prop::collection::vec(splat(), SPLATS),
        tile in prop::array::uniform2(0..4_u32),
        quads in quads(),
    ) {
        all_levels_agree(&splats, tile, &quads)?;
        lift_to_the_cut(&mut splats, tile, &quads);
        all_levels_agree(&splats, tile, &quads)?;
    }

    #[test]
    fn poison_is_the_definition_too(
        mut splats in prop::collection::vec(splat(), SPLATS),
        poisons in prop::collection::vec((0..SPLATS, 0..9_usize, 0..POISON.len()), 1..30),
        tile in prop::array::uniform2(0..4_u32),
        quads in quads(),
    ) {
        for (index, field, value) in poisons {
            let fields: &mut [f32; 16] = bytemuck::cast_mut(&mut splats[index]);
            fields[field] = POISON[value];
        }
        all_levels_agree(&splats, tile, &quads)?;
    }
}

/// Every pixel of the picture in which the reference renderer would blend the splat.
fn reference_fragments(view: &ViewTransform, splat: &ExactSplat, cap: f64) -> Vec<bool> {
    let (width, height) = (view.width, view.height);
    let mut blended = vec![false; width as usize * height as usize];
    let Some(bounds) = splat.bounds(view) else {
        return blended;
    };
    let [xx, xy, yy] = splat.covariance.map(|c| c / splat.determinant);
    let half_size = view.half_size_px();
    let centre = [0, 1].map(|axis| splat.mean_from_centre_px[axis] + half_size[axis]);
    for y in bounds.y0..=bounds.y1 {
        for x in bounds.x0..=bounds.x1 {
            let d = [f64::from(x) + 0.5 - centre[0], f64::from(y) + 0.5 - centre[1]];
            let at = usize::from(y) * width as usize + usize::from(x);
            blended[at] = fragment_alpha([yy, -xy, xx], d, splat.opacity, cap).is_some();
        }
    }
    blended
}

/// Every pixel of the picture in which the shader keeps splat `slot`'s fragment.
fn shaded_fragments(shader: &FragmentShader<'_>, view: &ViewTransform, slot: u32) -> Vec<bool> {
    let (width, height) = (view.width, view.height);
    let mut kept = vec![false; width as usize * height as usize];
    let mut out = [ColourQuad::default(); WARP_QUADS];
    for tile_y in 0..height.div_ceil(TILE_PX) {
        for tile_x in 0..width.div_ceil(TILE_PX) {
            for row in 0..TILE_QUADS as u8 {
                let quads: [Quad; WARP_QUADS] = std::array::from_fn(|column| Quad {
                    primitive: slot,
                    position: row * TILE_QUADS as u8 + column as u8,
                    mask: 15,
                });
                shader.shade(tile_x, tile_y, &quads, &mut out);
                for (column, shaded) in (0..).zip(&out) {
                    for lane in 0..4 {
                        let x = tile_x * TILE_PX + column * 2 + lane % 2;
                        let y = tile_y * TILE_PX + u32::from(row) * 2 + lane / 2;
                        if x < width && y < height {
                            kept[(y * width + x) as usize] = shaded.mask >> lane & 1 == 1;
                        }
                    }
                }
            }
        }
    }
    kept
}

/// A scene's splats as they are drawn.
fn drawn(splats: &Splats, camera: &Camera, profile: &Profile) -> Vec<ProjectedSplat> {
    let view = ViewTransform::new(splats, camera, profile);
    let projected = (0..).zip(splats.iter()).filter_map(|(index, splat)| {
        let exact = ExactSplat::project(&view, 0, &splat)?;
        Some(exact.to_projected(index))
    });
    projected.collect()
}

#[test]
fn survivors_are_those_of_the_reference() {
    let mut asked = 0_u64;
    let (mut fragments, mut wrong_without) = (0_u64, 0_u64);
    for seed in 0..28 {
        let mut random = Random::new(seed);
        let profiles = Profile::ALL.into_iter().filter(|profile| !profile.is_disc);
        let profile = profiles.cycle().nth(seed as usize).unwrap();
        let (width, height) = random.one_of(&[(64, 48), (1, 1), (33, 31), (100, 70)]);
        let camera = scenes::camera(&mut random, width, height);
        let splats = scenes::splats(&mut random, &camera, 400, 1);
        let view = ViewTransform::new(&splats, &camera, &profile);
        let drawn = drawn(&splats, &camera, &profile);
        let exact = ExactAlpha { splats: &splats, view: view.clone(), cap: profile.alpha_cap };
        let levels = SimdLevel::all();
        let level = levels[seed as usize % levels.len()];
        let new = |near_cut| {
            FragmentShader::new(&drawn, [width, height], profile.alpha_cap, level, near_cut)
        };
        let (with, without) = (new(Some(&exact)), new(None));
        for (slot, splat) in (0..).zip(&drawn) {
            let scene_splat = splats.splat(splat.index as usize);
            let reference = ExactSplat::project(&view, 0, &scene_splat)
                .map(|e| reference_fragments(&view, &e, profile.alpha_cap));
            let Some(reference) = reference else {
                continue;
            };
            let found = shaded_fragments(&with, &view, slot);
            let place = format!("seed {seed}, slot {slot}, {splat:?}");
            assert!(found == reference, "{place}");
            fragments += reference.iter().filter(|b| **b).count() as u64;
            let plain = shaded_fragments(&without, &view, slot);
            wrong_without += plain.iter().zip(&reference).filter(|(a, b)| a != b).count() as u64;
            asked += plain.len() as u64;
        }
    }
    println!("{fragments} fragments of {asked} pixels; {wrong_without} would be wrong in f32");
}
