use super::*;
use crate::mesh::shade::testing::{
    TEXELS, noisy, plane_triangle, quad_inputs, shade_plane, vertex, view,
};

/// Texture levels that the cells of a quad of the plane would be filtered at.
fn levels(points_px: [[f32; 2]; 4], texels_a_px: f32) -> [f32; 4] {
    let scene = noisy();
    let vertices = plane_triangle(texels_a_px);
    let planes = TrianglePlanes::new(vertices.each_ref(), &view()).unwrap();
    let inputs = QuadInputs {
        points_px,
        ..quad_inputs(vertices.each_ref(), &planes)
    };
    let uvs = points_px.map(|p| {
        let at = planes.at(p[0].into(), p[1].into());
        at.mix(vertices.map(|v| v.uv))
    });
    let stencil = stencil(&inputs);
    let slopes = [0, 1].map(|k| stencil.apply(uvs.map(|uv| uv[k])));
    std::array::from_fn(|c| {
        let [dx, dy] = [0, 1].map(|d| [slopes[0][d][c], slopes[1][d][c]]);
        scene.textures.get(0).unwrap().level(dx, dy)
    })
}

#[test]
fn texture_levels_of_a_plane() {
    let centres = [
        [300.5, 200.5],
        [301.5, 200.5],
        [300.5, 201.5],
        [301.5, 201.5],
    ];
    for (texels, level) in [(1.0, 0.0), (4.0, 2.0), (3.0, 1.584_962_5), (0.25, -2.0)] {
        let found = levels(centres, texels);
        assert!(found.iter().all(|l| (l - level).abs() < 1e-3), "{found:?}");
        let [a, b, c, _] = centres;
        let one = [a, b, c, [301.062_5, 201.937_5]];
        let three = [[300.937_5, 200.062_5], [301.25, 200.875], c, one[3]];
        for (moved, limit) in [(one, 1e-3), (three, 2e-3)] {
            let corrected = levels(moved, texels);
            let off = corrected.map(|l| (l - level).abs());
            assert!(off.iter().all(|off| *off < limit), "{corrected:?}");
        }
    }
}

#[test]
fn coarse_cells_are_filtered_twice_as_wide() {
    let scene = noisy();
    let vertices = plane_triangle(2.0);
    let planes = TrianglePlanes::new(vertices.each_ref(), &view()).unwrap();
    let coarse = QuadInputs {
        points_px: [
            [301.0, 201.0],
            [303.0, 201.0],
            [301.0, 203.0],
            [303.0, 203.0],
        ],
        cell_px: 2,
        ..quad_inputs(vertices.each_ref(), &planes)
    };
    assert_eq!(stencil(&coarse), Stencil::PLAIN);
    let shader = scene.shader();
    let expected = scene
        .textures
        .get(0)
        .unwrap()
        .sample([602.0 / TEXELS as f32, 402.0 / TEXELS as f32], 2.0);
    // Base colour and light are those of the same place with a white texture.
    let shade = |base_texture| {
        let mut scene = noisy();
        scene.materials[0].shininess = 0.0;
        scene.materials[0].base_texture = base_texture;
        scene.shader().quad(&coarse)[0]
    };
    let (lit, textured) = (shade(None), shade(Some(0)));
    for c in 0..3 {
        let off = (textured[c] - lit[c] * expected[c]).abs();
        assert!(off < 1e-3, "{textured:?}");
    }
    assert!(shader.quad(&coarse)[0][0] >= textured[0]);
}

#[test]
fn sampling_points_of_cells() {
    let four = SamplePattern::standard(4).unwrap();
    let point = |cell, samples, centre| {
        sampling_point([3, 5], cell, &four, Sampling::Centroid, (samples, centre))
    };
    assert_eq!(point(0, 0b0001, false), [6.375, 10.125]);
    assert_eq!(point(3, 0b1000, false), [7.625, 11.875]);
    assert_eq!(point(1, 0b1000, true), [7.5, 10.5], "centre covered");
    assert_eq!(point(2, 0b1111, false), [6.5, 11.5], "full");
    assert_eq!(point(2, 0, false), [6.5, 11.5], "nothing covered");
    let centre = sampling_point([3, 5], 0, &four, Sampling::Centre, (1, false));
    assert_eq!(centre, [6.5, 10.5]);
    let coarse = SamplePattern::coarse(1).unwrap();
    let point = |samples| sampling_point([1, 1], 3, &coarse, Sampling::Centroid, (samples, false));
    assert_eq!(point(0b0100), [6.5, 7.5]);
    assert_eq!(point(0), [7.0, 7.0]);
}

#[test]
fn merged_triangles_of_a_plane_are_as_one() {
    let scene = noisy();
    let shader = scene.shader();
    let whole = shade_plane(&shader, 3.0);
    let [a, b, c] = plane_triangle(3.0);
    let uv = [0, 1].map(|k| (a.uv[k] + b.uv[k]) / 2.0);
    let middle = vertex([0, 1, 2].map(|k| (a.position[k] + b.position[k]) / 2.0), uv);
    let halves = [[&a, &middle, &c], [&middle, &b, &c]];
    let planes = halves.map(|v| TrianglePlanes::new(v, &view()).unwrap());
    let cell = |k: usize| TriangleRef {
        vertices: halves[k],
        planes: &planes[k],
    };
    let inputs = QuadInputs {
        cells: [cell(0), cell(1), cell(1), cell(0)],
        ..quad_inputs(halves[0], &planes[0])
    };
    let merged = shader.quad(&inputs);
    for (a, b) in whole.iter().flatten().zip(merged.iter().flatten()) {
        assert!((a - b).abs() < 2e-3, "{whole:?} {merged:?}");
    }
    let some = shader.quad(&QuadInputs {
        wanted: 0b0100,
        ..inputs
    });
    assert_eq!(some, [[0.0; 3], [0.0; 3], merged[2], [0.0; 3]]);
}

#[test]
fn far_beyond_the_horizon_colours_stay_in_range() {
    let scene = noisy();
    let shader = scene.shader();
    // Nearly edge on, far below the quad: its plane's horizon crosses the quad.
    let ground = [[0.0, 1.0, 20.0], [6.0, 1.0, 40.0], [-6.0, 1.0, 40.0]];
    let vertices = ground.map(|p| vertex(p, [p[0], p[2]]));
    let planes = TrianglePlanes::new(vertices.each_ref(), &view()).unwrap();
    for y in [179.0, 180.0, 179.5, -1e6] {
        let inputs = QuadInputs {
            points_px: [[300.0, y], [301.0, y], [300.0, y + 1.0], [301.0, y + 1.0]],
            ..quad_inputs(vertices.each_ref(), &planes)
        };
        let colours = shader.quad(&inputs);
        assert!(
            colours.iter().flatten().all(|c| (0.0..=1.0).contains(c)),
            "{colours:?}"
        );
    }
}
