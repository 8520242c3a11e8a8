//! Pictures as bytes of red, green and blue.

use rayon::prelude::*;

use quadrille_base::image::{Frame, from_8_bit, to_8_bit};

pub(crate) fn frame_of(rgb: &[u8], [width, height]: [u32; 2]) -> Frame {
    let pixels = rgb.chunks_exact(3).map(|pixel| {
        let [r, g, b] = [pixel[0], pixel[1], pixel[2]].map(from_8_bit);
        [r, g, b, 1.0]
    });
    Frame::from_pixels(width, height, pixels.collect())
}

/// 8-bit colours over a background, as in the PNG of `render`.
pub(crate) fn rgb_over(frame: &Frame, background: [f32; 3]) -> Vec<u8> {
    let mut rgb = vec![0; frame.pixels().len() * 3];
    let width = frame.width().max(1) as usize;
    rgb.par_chunks_mut(3 * width).zip(frame.pixels().par_chunks(width)).for_each(
        |(bytes, pixels)| {
            for (bytes, &[r, g, b, a]) in bytes.chunks_exact_mut(3).zip(pixels) {
                let t = 1.0 - a;
                let [r, g, b] =
                    [r + t * background[0], g + t * background[1], b + t * background[2]];
                bytes.copy_from_slice(&[r, g, b].map(to_8_bit));
            }
        },
    );
    rgb
}

/// Left part of `a` beside the right part of `b`, both `width` pixels wide.
pub(crate) fn split(mut a: Vec<u8>, b: &[u8], width: u32, share: f64) -> Vec<u8> {
    let line = width as usize * 3;
    let column = quadrille_base::math::whole::<usize>((f64::from(width) * share).round());
    for (a, b) in a.chunks_exact_mut(line).zip(b.chunks_exact(line)) {
        a[3 * column..].copy_from_slice(&b[3 * column..]);
    }
    a
}

#[cfg(test)]
mod tests {
    use quadrille_base::image::files;

    use super::*;

    #[test]
    fn colours_over_a_background_are_those_of_a_png() {
        let pixels = (0..64_u8)
            .map(|n| {
                let n = f32::from(n);
                [n / 40.0 - 0.2, n / 64.0, 0.3, n / 63.0]
            })
            .collect();
        let frame = Frame::from_pixels(16, 4, pixels);
        let background = [0.1, 0.9, 0.5];
        let mut png = Vec::new();
        files::write_to(&mut png, files::PictureFormat::Png, &frame.over(background)).unwrap();
        let read = files::decode(&png, "picture.png".as_ref()).unwrap();
        let read: Vec<u8> =
            (read.pixels().iter()).flat_map(|&[r, g, b, _]| [r, g, b].map(to_8_bit)).collect();
        assert_eq!(rgb_over(&frame, background), read);
    }

    #[test]
    fn a_split_takes_columns_of_both() {
        let (a, b) = (vec![1; 24], vec![2; 24]);
        let row = |share| split(a.clone(), &b, 4, share)[12..].to_vec();
        assert_eq!(row(0.25), [1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2]);
        assert_eq!((row(0.0), row(1.0)), (vec![2; 12], vec![1; 12]));
    }
}
