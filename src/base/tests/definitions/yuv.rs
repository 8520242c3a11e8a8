//! Y'CbCr against the equations of the standard.

use quadrille_base::image::Frame;
use quadrille_base::image::film::FilmFormat;

fn planes(frame: &Frame) -> Vec<u8> {
    FilmFormat::Y4m.prepare(frame, None).unwrap()
}

fn frame(width: u32, height: u32, pixel: impl Fn(u32, u32) -> [f32; 3]) -> Frame {
    let pixels = (0..height).flat_map(|y| (0..width).map(move |x| (x, y))).map(|(x, y)| {
        let [r, g, b] = pixel(x, y);
        [r, g, b, 1.0]
    });
    Frame::from_pixels(width, height, pixels.collect())
}

/// BT.709-6, 3.5 and 4.6, in f64.
fn expected([r, g, b]: [f64; 3]) -> [f64; 3] {
    let y = 0.2126 * r + 0.7152 * g + 0.0722 * b;
    [16.0 + 219.0 * y, 128.0 + 224.0 * (b - y) / 1.8556, 128.0 + 224.0 * (r - y) / 1.5748]
}

#[test]
fn colours_are_those_of_the_standard() {
    for r in 0..6_u8 {
        for g in 0..6_u8 {
            for b in 0..6_u8 {
                let rgb = [r, g, b].map(|c| f32::from(c) / 5.0);
                let planes = planes(&frame(2, 2, |_, _| rgb));
                let exact = expected(rgb.map(f64::from));
                for (code, exact) in [planes[0], planes[4], planes[5]].into_iter().zip(exact) {
                    assert!((f64::from(code) - exact).abs() < 0.51, "{rgb:?}: {code} {exact}");
                }
            }
        }
    }
    assert_eq!(planes(&frame(1, 1, |_, _| [1.0; 3])), [235, 128, 128]);
    assert_eq!(planes(&frame(1, 1, |_, _| [0.0; 3])), [16, 128, 128]);
}

#[test]
fn odd_sides_round_chroma_up_and_the_filter_is_1_2_1() {
    let planes =
        planes(&frame(5, 3, |x, y| if x == 1 && y == 0 { [0.0, 0.0, 1.0] } else { [0.0; 3] }));
    assert_eq!(planes.len(), 15 + 2 * 6);
    // A blue pixel at column 1 gives a quarter of a row, an eighth of the samples beside it.
    let eighth = 128.0 + 224.0 * (1.0 - 0.0722) / 1.8556 / 8.0;
    let cb = &planes[15..21];
    assert!((f64::from(cb[0]) - eighth).abs() < 0.51 && cb[0] == cb[1], "{cb:?}");
    assert_eq!(cb[2..], [128; 4]);
}
