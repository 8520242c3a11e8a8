//! Animated PNG as another decoder reads it.

use std::io::Cursor;

use image::AnimationDecoder;
use image::codecs::png::PngDecoder;
use quadrille_base::image::Frame;
use quadrille_base::image::film::{FilmFacts, FilmFormat, FilmWriter, FrameRate};

#[test]
fn frames_and_times_come_back() {
    let frames: Vec<Frame> = [0.0, 0.5, 1.0]
        .map(|v: f32| Frame::from_pixels(3, 2, vec![[v, 0.25, 0.0, 1.0]; 6]))
        .to_vec();
    let facts = FilmFacts { size: [3, 2], frames: 3, rate: FrameRate::of(25.0).unwrap() };
    let mut film = Vec::new();
    let mut writer = FilmWriter::begin(FilmFormat::Apng, &mut film, facts).unwrap();
    for frame in &frames {
        writer.push(&FilmFormat::Apng.prepare(frame, None).unwrap()).unwrap();
    }
    writer.finish().unwrap();
    let decoder = PngDecoder::new(Cursor::new(&film)).unwrap();
    assert!(decoder.is_apng().unwrap());
    let decoded = decoder.apng().unwrap().into_frames().collect_frames().unwrap();
    assert_eq!(decoded.len(), 3);
    for (decoded, red) in decoded.iter().zip([0, 128, 255]) {
        assert_eq!(decoded.delay().numer_denom_ms(), (40, 1));
        assert!(decoded.buffer().pixels().all(|p| p.0 == [red, 64, 0, 255]));
    }
}
