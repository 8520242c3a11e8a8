use super::*;

/// A texture whose texel (x, y) is `texel(x, y)`, grey.
fn grey(width: u32, height: u32, texel: impl Fn(u32, u32) -> u8) -> Texture {
    let places = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
    Texture {
        width,
        height,
        texels: places
            .map(|(x, y)| texel(x, y))
            .map(|c| [c, c, c, 255])
            .collect(),
    }
}

fn raw(texture: &Texture) -> Pyramid {
    Pyramid::new(texture, Role::Raw).unwrap()
}

#[test]
fn levels_for_known_scales() {
    let pyramid = raw(&grey(256, 64, |_, _| 0));
    assert_eq!(pyramid.levels.len(), 9);
    let texels = |x: f32, y: f32| [x / 256.0, y / 64.0];
    // Texels a pixel, and log2 of them.
    for (scale, level) in [(1.0, 0.0), (2.0, 1.0), (4.0, 2.0), (0.5, -1.0), (64.0, 6.0)] {
        let straight = pyramid.level(texels(scale, 0.0), texels(0.0, scale));
        let turned = pyramid.level(texels(0.6 * scale, 0.8 * scale), texels(0.0, 0.1));
        assert!((straight - level).abs() < 1e-5, "{straight} for {level}");
        assert!((turned - level).abs() < 1e-5, "{turned} for {level}");
    }
    assert!(pyramid.level([0.0; 2], [0.0; 2]) < 0.0);
}

#[test]
fn fine_checks_become_grey_in_linear_light() {
    let checks = grey(64, 64, |x, y| if (x + y) % 2 == 0 { 255 } else { 0 });
    let pyramid = Pyramid::new(&checks, Role::Colour).unwrap();
    for level in [1.0, 2.5, 6.0, 100.0, f32::INFINITY] {
        let [r, g, b, a] = pyramid.sample([0.3, 0.8], level);
        assert!([r, g, b].iter().all(|c| (c - 0.5).abs() < 1e-4), "{r}");
        assert!((a - 1.0).abs() < 1e-5);
    }
    // Exactly at a texel's centre.
    assert!((pyramid.sample([0.5 / 64.0; 2], 0.0)[0] - 1.0).abs() < 1e-5);
    assert!(pyramid.sample([1.5 / 64.0, 0.5 / 64.0], f32::NAN)[0].abs() < 1e-5);
}

#[test]
fn any_size_keeps_its_mean() {
    for (width, height) in [(1, 1), (7, 5), (13, 1), (1, 6), (100, 37), (3, 2)] {
        let noise = |x: u32, y: u32| {
            (x * 7919 + y * 104_729 + 13)
                .wrapping_mul(0x9e37_79b9)
                .to_be_bytes()[0]
        };
        let texture = grey(width, height, noise);
        let sum: f64 = texture.texels.iter().map(|t| f64::from(t[0]) / 255.0).sum();
        let mean = sum / f64::from(width * height);
        let pyramid = raw(&texture);
        let [found, ..] = pyramid.sample([0.2, 0.9], 1e9);
        assert!((f64::from(found) - mean).abs() < 1e-3, "{width} x {height}");
        let log2 = width.max(height).ilog2() as usize;
        assert_eq!(pyramid.levels.len(), log2 + 1, "{width} x {height}");
        // A linear ramp of levels: half way is the mean of both.
        let at = |level| f64::from(pyramid.sample([0.37, 0.61], level)[0]);
        if log2 > 0 {
            assert!((at(0.5) - (at(0.0) + at(1.0)) / 2.0).abs() < 1e-5);
        }
    }
}

#[test]
fn bilinear_by_its_definition() {
    let texture = grey(5, 3, |x, y| u8::try_from(x * 40 + y * 17).unwrap());
    let pyramid = raw(&texture);
    for k in 0..400_u16 {
        let uv = [f32::from(k) * 0.013 - 2.6, 1.7 - f32::from(k) * 0.011];
        let (x, y) = (uv[0] * 5.0 - 0.5, uv[1] * 3.0 - 0.5);
        let texel = |x: f32, y: f32| (x.rem_euclid(5.0) * 40.0 + y.rem_euclid(3.0) * 17.0) / 255.0;
        let (fx, fy) = (x - x.floor(), y - y.floor());
        let row = |y: f32| (1.0 - fx) * texel(x.floor(), y) + fx * texel(x.floor() + 1.0, y);
        let expected = (1.0 - fy) * row(y.floor()) + fy * row(y.floor() + 1.0);
        let [found, ..] = pyramid.sample(uv, 0.0);
        assert!(
            (found - expected).abs() < 1e-4,
            "{uv:?}: {found} {expected}"
        );
    }
}

#[test]
fn poison_and_far_away_do_no_harm() {
    let pyramid = raw(&grey(4, 4, |x, _| if x == 0 { 0 } else { 200 }));
    for v in [
        f32::NAN,
        f32::INFINITY,
        f32::NEG_INFINITY,
        1e30,
        -3e9,
        -1e-9,
    ] {
        let colour = pyramid.sample([v, -v], 0.7);
        assert!(
            colour.iter().all(|c| (0.0..=1.0).contains(c)),
            "{v}: {colour:?}"
        );
    }
}

#[test]
fn roles_follow_from_materials_and_bad_textures_are_left_out() {
    let texture = grey(1, 1, |_, _| 128);
    let broken = Texture {
        width: 2,
        ..texture.clone()
    };
    let material = Material {
        base_texture: Some(0),
        normal_texture: Some(1),
        ..Material::default()
    };
    let textures = Textures::new(&[texture.clone(), texture, broken], &[material]);
    let of = |index: u32| textures.get(index).map(|t| t.sample([0.5; 2], 0.0)[0]);
    assert!((of(0).unwrap() - 0.215_86).abs() < 1e-4, "decoded");
    assert!((of(1).unwrap() - 128.0 / 255.0).abs() < 1e-5, "as it is");
    assert!(of(2).is_none() && of(3).is_none());
}
