//! Animated PNG as another decoder reads it.

use std::io::Cursor;

use image::AnimationDecoder;
use image::codecs::png::PngDecoder;
use quadrille_base::image::film::{FilmFacts, FilmFormat, FilmWriter, FrameRate};
use quadrille_base::image::{Frame, files};

/// A film of 3 x 2 pixels with a frame per value of red.
fn film(reds: &[f32]) -> Vec<u8> {
    let frames = u32::try_from(reds.len()).unwrap();
    let facts = FilmFacts { size: [3, 2], frames, rate: FrameRate::of(25.0).unwrap() };
    let mut film = Vec::new();
    let mut writer = FilmWriter::begin(FilmFormat::Apng, &mut film, facts).unwrap();
    for &red in reds {
        let frame = Frame::from_pixels(3, 2, vec![[red, 0.25, 0.0, 1.0]; 6]);
        writer.push(&FilmFormat::Apng.prepare(&frame, None).unwrap()).unwrap();
    }
    writer.finish().unwrap();
    film
}

/// A picture file of several frames would be compared by the first one only.
#[test]
fn only_a_film_of_one_frame_is_a_picture() {
    let named = "still.png".as_ref();
    let error = files::decode(&film(&[0.0, 1.0]), named).unwrap_err().to_string();
    assert!(error.starts_with("still.png: PNG: expected a single picture"), "{error}");
    assert!(error.ends_with("found an animated PNG of 2 frames"), "{error}");
    let still = files::decode(&film(&[1.0]), named).unwrap();
    assert_eq!((still.width(), still.height(), still.pixels()[0][0]), (3, 2, 1.0));
}

#[test]
fn frames_and_times_come_back() {
    let film = film(&[0.0, 0.5, 1.0]);
    let decoder = PngDecoder::new(Cursor::new(&film)).unwrap();
    assert!(decoder.is_apng().unwrap());
    let decoded = decoder.apng().unwrap().into_frames().collect_frames().unwrap();
    assert_eq!(decoded.len(), 3);
    for (decoded, red) in decoded.iter().zip([0, 128, 255]) {
        assert_eq!(decoded.delay().numer_denom_ms(), (40, 1));
        assert!(decoded.buffer().pixels().all(|p| p.0 == [red, 64, 0, 255]));
    }
}
