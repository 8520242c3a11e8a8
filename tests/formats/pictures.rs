//! Pictures in files: every bit kept, layouts of other writers, hostile files.

use std::path::Path;

use proptest::prelude::*;
use quadrille::{
    Error, Fault, Frame, PictureFormat, Protocol, Task, compare, decode_picture as decode,
    encode_picture, heat_picture, read_picture as read, scaled_difference, write_picture as write,
};
use quadrille_base::image::files::{JpegQuality, write_bands, write_to};
use quadrille_base::image::{from_8_bit, to_8_bit};

use crate::support::shared;

const FORMATS: [PictureFormat; 3] = [PictureFormat::Png, PictureFormat::Exr, PictureFormat::Npy];

fn named() -> &'static Path {
    Path::new("test picture")
}

/// Values of every kind a picture holds: in range, outside it, exact in 8 bits and not.
fn ramp(width: u32, height: u32, alpha: f32) -> Frame {
    let pixels = (0..width * height).map(|i| {
        let i = f32::from(u16::try_from(i).unwrap());
        [i * 0.07 - 0.3, i / 255.0, 1.5 - i * 0.01, alpha]
    });
    Frame::from_pixels(width, height, pixels.collect())
}

fn encoded(format: PictureFormat, frame: &Frame) -> Vec<u8> {
    let mut bytes = Vec::new();
    encode_picture(&mut bytes, format, frame).unwrap();
    bytes
}

fn npy(version: u8, header: &str, elements: &[u8]) -> Vec<u8> {
    let length = u32::try_from(header.len()).unwrap().to_le_bytes();
    let length = &length[..if version == 1 { 2 } else { 4 }];
    let preamble = [&b"\x93NUMPY"[..], &[version, 0], length].concat();
    [&preamble, header.as_bytes(), elements].concat()
}

fn npy_error(header: &str, elements: &[u8]) -> String {
    let error = decode(&npy(1, header, elements), named()).unwrap_err();
    assert_eq!(error.fault(), Fault::Input);
    error.to_string()
}

#[test]
fn float_formats_keep_every_bit() {
    let mut frame = ramp(7, 5, 0.4);
    frame.pixels_mut()[3] = [f32::INFINITY, -0.0, 1.0e-42, 3.0e38];
    for format in [PictureFormat::Exr, PictureFormat::Npy] {
        let back = decode(&encoded(format, &frame), named()).unwrap();
        assert_eq!(back, frame, "{format:?}");
    }
}

#[test]
fn npy_is_laid_out_as_numpy_does_it() {
    let bytes = encoded(PictureFormat::Npy, &ramp(3, 2, 1.0));
    let start =
        b"\x93NUMPY\x01\x00\x76\x00{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3, 4), }";
    assert!(bytes.starts_with(start));
    assert_eq!(bytes[127], b'\n');
    assert_eq!(bytes.len(), 128 + 2 * 3 * 4 * 4);
    assert_eq!(bytes[128..132], (-0.3_f32).to_le_bytes(), "top left red");
}

#[test]
fn npy_of_other_layouts() {
    let expected = ramp(3, 2, 1.0);
    let at = |y: usize, x: usize, c: usize| expected.pixels()[y * 3 + x][c];
    let c_order: Vec<f32> = (0..18).map(|i| at(i / 9, i / 3 % 3, i % 3)).collect();
    let f_order: Vec<f32> = (0..18).map(|i| at(i % 2, i / 2 % 3, i / 6)).collect();
    let big: Vec<u8> = c_order.iter().flat_map(|v| v.to_be_bytes()).collect();
    let little: Vec<u8> = f_order.iter().flat_map(|v| v.to_le_bytes()).collect();
    let double = |v: &f32| f64::from(*v).to_le_bytes();
    let double: Vec<u8> = c_order.iter().flat_map(double).collect();
    let header = |descr: &str, fortran: &str| {
        format!("{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': (2, 3, 3)}}")
    };
    for (version, header, elements) in [
        (1, header(">f4", "False"), &big),
        (2, header("<f4", "True"), &little),
        (3, header("<f8", "False"), &double),
    ] {
        let frame = decode(&npy(version, &header, elements), named()).unwrap();
        assert_eq!(frame, expected, "{header}");
    }
    let bytes: Vec<u8> = (0..18).collect();
    let frame = decode(&npy(1, &header("|u1", "False"), &bytes), named()).unwrap();
    assert_eq!(frame.pixels()[5], [15, 16, 17, 255].map(from_8_bit));
}

#[test]
fn npy_headers_have_any_order_quotes_and_blanks() {
    let header = "{\"shape\":(1L,1,3),\"fortran_order\":True,\"descr\":\">f8\"}";
    let elements = [0.25, 0.5, 0.75].map(f64::to_be_bytes);
    let frame = decode(&npy(1, header, elements.as_flattened()), named()).unwrap();
    assert_eq!(frame.pixels(), [[0.25, 0.5, 0.75, 1.0]]);
}

#[test]
fn syntax_errors_of_npy_headers_name_the_byte() {
    for (header, at, expected) in [
        ("", 0, "'{'"),
        ("{'descr'", 8, "':'"),
        ("{'descr': [('a', '<f4')]}", 10, "one element type in quotes"),
        ("{'descr': '<f4", 11, "a closing quote"),
        ("{'shape': (1, -2)}", 14, "a length below 2^64"),
        ("{'shape': (99999999999999999999,)}", 11, "a length below 2^64"),
        ("{'fortran_order': 1}", 18, "True or False"),
        ("{'size': 1}", 8, "the key descr, fortran_order or shape"),
        ("{'shape': ()} x", 13, "nothing but blanks after '}'"),
        ("{'shape': ()}", 13, "the keys descr, fortran_order and shape"),
    ] {
        let error = npy_error(header, b"");
        let expected = format!("byte {at} of the NPY header's text: expected {expected}, found");
        assert!(error.contains(&expected), "{error}");
    }
}

#[test]
fn false_npy_headers_are_refused_before_any_allocation() {
    let cases = [
        ("(2, 3, 4)", "expected 96 bytes, found 5 bytes"),
        ("(65535, 4000, 4)", "expected 4194240000 bytes"),
        ("(65535, 65535, 4)", "pixels: expected at most 268435456"),
        ("(18446744073709551615, 1, 4)", "pixels per side: expected at most 65535"),
        ("(0, 3, 4)", "at least 1 x 1 pixels, found 3 x 0"),
        ("(2, 3, 5)", "height x width x 3 or 4, found [2, 3, 5]"),
        ("(2, 3)", "height x width x 3 or 4"),
        ("()", "height x width x 3 or 4"),
    ];
    for (shape, expected) in cases {
        let header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}}}");
        let error = npy_error(&header, b"12345");
        assert!(error.contains(expected), "{error}");
    }
    let complex = "{'descr': '<c8', 'fortran_order': False, 'shape': (1, 1, 4)}";
    let error = npy_error(complex, b"");
    assert!(error.contains("found <c8"), "{error}");
    let long = [&b"\x93NUMPY\x02\x00\xff\xff\xff\xff"[..], b"{}"].concat();
    assert!(decode(&long, named()).is_err());
    assert!(decode(b"\x93NUMPY\x04\x00\x00\x00", named()).is_err());
}

#[test]
fn png_rounds_clamps_and_drops_a_full_alpha() {
    let frame = ramp(16, 16, 1.0);
    let bytes = encoded(PictureFormat::Png, &frame);
    assert_eq!(bytes[25], 2, "colour type RGB in the header chunk");
    let back = decode(&bytes, named()).unwrap();
    for (back, frame) in back.pixels().iter().zip(frame.pixels()) {
        assert_eq!(*back, frame.map(|v| from_8_bit(to_8_bit(v))));
    }
}

#[test]
fn png_holds_straight_alpha() {
    let pixels = vec![[0.25, 0.5, 0.0, 0.5], [0.7, 0.7, 0.7, 0.0], [f32::NAN; 4]];
    let bytes = encoded(PictureFormat::Png, &Frame::from_pixels(3, 1, pixels));
    assert_eq!(bytes[25], 6, "colour type RGBA in the header chunk");
    let back = decode(&bytes, named()).unwrap();
    let a = from_8_bit(128);
    // 0.25 / 0.5 rounds to 128 of 255.
    assert_eq!(back.pixels(), [[a * a, a, 0.0, a], [0.0; 4], [0.0; 4]]);
}

#[test]
fn png_of_16_bits_and_of_grey() {
    use image::{ExtendedColorType, ImageEncoder, codecs::png::PngEncoder};
    let written = |bytes: &[u8], kind| {
        let mut file = Vec::new();
        let encoder = PngEncoder::new(&mut file);
        encoder.write_image(bytes, 1, 1, kind).unwrap();
        decode(&file, named()).unwrap().pixels()[0]
    };
    let native = [1_u16, 2, 65535].map(u16::to_ne_bytes);
    let expected = [1.0 / 65535.0, 2.0 / 65535.0, 1.0, 1.0];
    let rgb = written(native.as_flattened(), ExtendedColorType::Rgb16);
    assert_eq!(rgb, expected);
    let grey = [51, 51, 51, 255].map(from_8_bit);
    assert_eq!(written(&[51], ExtendedColorType::L8), grey);
}

#[test]
fn a_small_file_cannot_claim_a_large_picture() {
    // The sizes of the header chunk, in a file whose checksums are then wrong or right: either way
    // an error, and no allocation of 3 GiB.
    let mut bytes = encoded(PictureFormat::Png, &ramp(4, 4, 1.0));
    bytes[16..24].copy_from_slice(&[0, 0, 0x40, 0, 0, 0, 0x40, 0]);
    assert_eq!(decode(&bytes, named()).unwrap_err().fault(), Fault::Input);
}

#[test]
fn truncated_anywhere_is_an_error() {
    for format in FORMATS {
        let bytes = encoded(format, &ramp(6, 3, 0.5));
        // What ends a PNG adds nothing to the picture: the decoder may do without it.
        let needed = bytes.len() - if format == PictureFormat::Png { 16 } else { 0 };
        for length in 0..bytes.len() {
            let decoded = decode(&bytes[..length], named());
            assert!(decoded.is_err() || length >= needed, "{format:?} {length}");
        }
    }
}

#[test]
fn every_single_flipped_bit_is_survived() {
    for format in FORMATS {
        let mut bytes = encoded(format, &ramp(6, 3, 0.5));
        for bit in 0..bytes.len() * 8 {
            bytes[bit / 8] ^= 1 << (bit % 8);
            let _ = decode(&bytes, named());
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
    }
}

#[test]
fn unknown_content_and_names() {
    let error = decode(b"GIF89a a picture", named()).unwrap_err();
    assert!(error.to_string().contains("found GIF, which is not read"), "{error}");
    let error = decode(b"GI a text", named()).unwrap_err();
    assert!(error.to_string().contains("[47, 49"), "{error}");
    let error = decode(b"\xff\xd8\xff\xe0 a JPEG", named()).unwrap_err();
    assert!(error.to_string().contains("JPEG: expected"), "{error}");
    let error = decode(b"", named()).unwrap_err();
    assert!(error.to_string().ends_with("an empty file"), "{error}");
    for (name, frame) in [
        ("out.tiff", ramp(1, 1, 1.0)),
        // JPEG has no alpha, and a side of WebP has at most 16,383 pixels.
        ("out.jpg", ramp(1, 1, 0.5)),
        ("out.webp", Frame::new(16_384, 1)),
        ("out.png", Frame::new(0, 3)),
        ("out.png", Frame::new(65_536, 1)),
    ] {
        let error = write(Path::new(name), &frame).unwrap_err();
        assert_eq!(error.fault(), Fault::Argument);
    }
    assert_eq!(PictureFormat::of_name(Path::new("a.b/X.PNG")), Some(PictureFormat::Png));
    assert_eq!(PictureFormat::of_name(Path::new("png")), None);
}

#[test]
fn files_by_name() {
    let folder = tempfile::tempdir().unwrap();
    for (format, name) in FORMATS.into_iter().zip(["a.png", "a.exr", "a.npy"]) {
        let path = folder.path().join(name);
        assert_eq!(PictureFormat::of_name(&path), Some(format));
        write(&path, &ramp(5, 4, 1.0)).unwrap();
        assert_eq!(read(&path).unwrap().width(), 5);
        // The content decides, whatever the name.
        let other = folder.path().join("other");
        std::fs::copy(&path, &other).unwrap();
        assert_eq!(read(&other).unwrap().width(), 5);
    }
    let absent = read(folder.path().join("absent.png")).unwrap_err();
    assert!(matches!(absent, Error::Read { .. }));
    assert!(matches!(read(folder.path()), Err(Error::Read { .. })));
}

/// Float reference pictures made by another program, where the folder beside this project has them.
#[test]
fn reference_pictures_of_another_writer() {
    let Some(folder) = shared::path("scenes/reference") else {
        return;
    };
    for path in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if PictureFormat::of_name(&path) == Some(PictureFormat::Npy) {
            let frame = read(&path).unwrap();
            assert_eq!(frame.width(), 320, "{}", path.display());
        }
    }
}

#[test]
fn every_8_bit_value_survives_the_round_trip() {
    for value in 0..=u8::MAX {
        assert_eq!(to_8_bit(from_8_bit(value)), value);
    }
}

#[test]
fn poison_is_rounded_into_the_8_bit_range() {
    assert_eq!(to_8_bit(f32::NAN), 0);
    assert_eq!(to_8_bit(f32::INFINITY), 255);
    assert_eq!(to_8_bit(f32::NEG_INFINITY), 0);
    assert_eq!(to_8_bit(-0.0), 0);
    assert_eq!(to_8_bit(1.0e-40), 0);
    assert_eq!(to_8_bit(0.5), 128, "127.5 rounds away from zero");
}

#[test]
fn the_lightness_of_heat_rises_throughout() {
    let errors: Vec<f32> = (0..=100_u8).map(|i| f32::from(i) / 100.0).collect();
    let picture = heat_picture([101, 1], &errors);
    let luma = |[r, g, b, _]: &[f32; 4]| 0.2126 * r + 0.7152 * g + 0.0722 * b;
    let steps: Vec<f32> = picture.pixels().iter().map(luma).collect();
    assert!(steps.windows(2).all(|pair| pair[0] < pair[1]), "{steps:?}");
}

#[test]
fn the_ends_of_heat_and_poison() {
    let (black, cream) = ([0.0, 0.0, 0.02, 1.0], [0.99, 0.99, 0.76, 1.0]);
    let picture = heat_picture([4, 1], &[0.0, 1.0, 7.0, f32::NAN]);
    assert_eq!(picture.pixels(), [black, cream, cream, cream]);
}

#[test]
fn differences_are_scaled_and_clamped() {
    let a = Frame::from_pixels(2, 1, vec![[0.5, 0.25, 0.0, 1.0], [f32::NAN, 0.0, 0.0, 0.0]]);
    let b = Frame::from_pixels(2, 1, vec![[0.5, 0.2578125, 1.0, 0.0], [0.0; 4]]);
    let shown = scaled_difference(&a, &b, 64.0).unwrap();
    assert_eq!(shown.pixels()[0], [0.0, 0.5, 1.0, 1.0]);
    assert_eq!(shown.pixels()[1], [1.0, 0.0, 0.0, 1.0], "NaN is visible");
    assert_eq!(scaled_difference(&b, &a, 64.0).unwrap(), shown);
    assert!(scaled_difference(&a, &Frame::new(1, 2), 1.0).is_err());
}

proptest! {
    #[test]
    fn npy_round_trip(width in 1_u32..9, height in 1_u32..9, seed in any::<u32>()) {
        let pixels = (0..width * height).map(|i| {
            [0, 1, 2, 3].map(|c| f32::from_bits(seed.wrapping_mul(i * 4 + c + 1)))
        });
        let frame = Frame::from_pixels(width, height, pixels.collect());
        let back = decode(&encoded(PictureFormat::Npy, &frame), named()).unwrap();
        let bits = |f: &Frame| f.pixels().iter().map(|p| p.map(f32::to_bits)).collect::<Vec<_>>();
        prop_assert_eq!(bits(&back), bits(&frame));
    }

    #[test]
    fn damage_never_panics(
        format in prop::sample::select(FORMATS.to_vec()),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..20),
        keep in any::<prop::sample::Index>(),
        cut in any::<bool>(),
    ) {
        let mut bytes = encoded(format, &ramp(6, 3, 0.5));
        for (at, value) in damage {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        if cut {
            bytes.truncate(keep.index(bytes.len()));
        }
        let _ = decode(&bytes, named());
    }

    #[test]
    fn any_npy_header_never_panics(header in "[ {}()'\":,0-9a-zA-Z<>|_\\-]{0,80}") {
        let _ = decode(&npy(1, &header, b"0123456789"), named());
    }
}

/// A photograph decodes to the colours of the picture, a picture in WebP to the colours of the PNG.
#[test]
fn pictures_to_look_at_hold_the_colours() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let frame = ramp(40, 24, 1.0);
    write(path("a.png"), &frame).unwrap();
    let png = read(path("a.png")).unwrap();
    let mut sizes = Vec::new();
    for (quality, most) in [(100, 1.5), (90, 6.0), (30, 20.0)] {
        let format = PictureFormat::Jpeg(JpegQuality::new(quality).unwrap());
        let mut bytes = Vec::new();
        write_to(&mut bytes, format, &frame).unwrap();
        let seen = decode(&bytes, named()).unwrap();
        let pixels = seen.pixels().iter().zip(png.pixels());
        let apart = pixels.flat_map(|(a, b)| (0..4).map(move |c| (a[c] - b[c]) * 255.0));
        let squares: f32 = apart.map(|v| v * v).sum();
        let rms = (squares / (4.0 * 40.0 * 24.0)).sqrt();
        assert!(rms <= most, "quality {quality}: {rms}");
        // Frame header: marker, length, precision, size, three components of 1 x 1 samples (ITU T.81, B.2.2).
        let frame = bytes.windows(2).position(|m| m == [0xff, 0xc0]).unwrap();
        assert_eq!([11, 14, 17].map(|at| bytes[frame + at]), [0x11; 3]);
        sizes.push(bytes.len());
    }
    assert!(sizes.is_sorted_by(|a, b| a > b), "{sizes:?}");
    write(path("a.jpeg"), &frame).unwrap();
    assert_eq!(std::fs::metadata(path("a.jpeg")).unwrap().len(), sizes[1] as u64);
    assert_eq!(JpegQuality::new(0), None);
    assert_eq!(JpegQuality::new(101), None);
    for (alpha, channels) in [(1.0, 3), (0.5, 4)] {
        let frame = ramp(5, 4, alpha);
        write(path("a.webp"), &frame).unwrap();
        write(path("a.png"), &frame).unwrap();
        let file = std::io::BufReader::new(std::fs::File::open(path("a.webp")).unwrap());
        let mut decoder = image_webp::WebPDecoder::new(file).unwrap();
        let mut seen = vec![0; decoder.output_buffer_size().unwrap()];
        decoder.read_image(&mut seen).unwrap();
        assert_eq!((decoder.dimensions(), seen.len()), ((5, 4), 20 * channels));
        let png = image::open(path("a.png")).unwrap();
        assert_eq!(seen, png.into_bytes());
    }
}

/// Bands from the top make up the same picture as the whole: of an NPY file all bytes, of a PNG all pixels.
#[test]
fn bands_make_up_the_picture() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let frame = ramp(40, 24, 1.0);
    let bands = |name: &str, format, rows: &[usize]| {
        let mut left = frame.pixels();
        write_bands(&path(name), format, [40, 24], &Task::NEVER, |write| {
            rows.iter().try_for_each(|rows| {
                let (band, rest) = left.split_at(rows * 40);
                left = rest;
                write(&Frame::from_pixels(40, u32::try_from(*rows).unwrap(), band.to_vec()))
            })
        })
    };
    bands("bands.npy", PictureFormat::Npy, &[16, 7, 1]).unwrap();
    write(path("whole.npy"), &frame).unwrap();
    let [bytes, whole] = ["bands.npy", "whole.npy"].map(|name| std::fs::read(path(name)).unwrap());
    assert!(bytes == whole);
    bands("bands.png", PictureFormat::Png, &[16, 8]).unwrap();
    write(path("whole.png"), &frame).unwrap();
    assert_eq!(read(path("bands.png")).unwrap(), read(path("whole.png")).unwrap());
    assert!(std::fs::read(path("bands.png")).unwrap().windows(4).any(|name| name == b"sRGB"));
    // A picture that lacks rows is not left behind, nor is one of a format without bands.
    assert!(bands("short.png", PictureFormat::Png, &[16]).is_err());
    assert!(bands("short.npy", PictureFormat::Npy, &[16]).is_err());
    assert!(bands("short.exr", PictureFormat::Exr, &[24]).is_err());
    let failed =
        write_bands(&path("short.npy"), PictureFormat::Npy, [40, 24], &Task::NEVER, |_| {
            Err::<(), _>(Error::Cancelled)
        });
    assert!(matches!(failed, Err(Error::Cancelled)));
    // Cancelled between bands, the picture is not an error of writing.
    let task = Task::new();
    let cancelled = write_bands(&path("short.npy"), PictureFormat::Npy, [40, 24], &task, |write| {
        task.cancel();
        write(&frame)
    });
    assert!(matches!(cancelled, Err(Error::Cancelled)), "{cancelled:?}");
    assert!(["short.png", "short.exr", "short.npy"].iter().all(|name| !path(name).exists()));
}

/// Pictures of many writers against their decoding by Pillow: JPEG of halved chroma differs by the filter that
/// enlarges it.
#[test]
fn pictures_of_other_writers_are_as_in_another_reader() {
    let Some(folder) = shared::path("cases/splats/30-compare-formats") else {
        return;
    };
    let open = |name: &str| read(folder.join(name));
    for (name, least_db) in [
        ("bit1.png", f64::INFINITY),
        ("gray.png", f64::INFINITY),
        ("la.png", f64::INFINITY),
        ("pal.png", f64::INFINITY),
        ("gray.jpg", f64::INFINITY),
        ("cmyk.jpg", f64::INFINITY),
        ("j95_444.jpg", 74.0),
        ("jprog.jpg", 52.0),
        ("j95.jpg", 52.0),
        ("exif6.jpg", 52.0),
    ] {
        // Pillow turns no picture by itself.
        let stored = quadrille_base::image::files::read_photo(&folder.join(name)).unwrap();
        let expected = open(&format!("pil_{}.npy", name.replace('.', "_"))).unwrap();
        let found = compare(&stored.stored, &expected, Protocol::default()).unwrap();
        let psnr = found.psnr_db.unwrap_or(f64::INFINITY);
        assert!(psnr >= least_db, "{name}: {psnr}");
    }
    let turned = open("exif6.jpg").unwrap();
    assert_eq!([turned.width(), turned.height()], [48, 64]);
    let reference = open("ref.png").unwrap();
    for name in ["p16.png", "p16half.png"] {
        let found = compare(&open(name).unwrap(), &reference, Protocol::default()).unwrap();
        assert_eq!(found.psnr_db, None, "{name}: {found:?}");
    }
    assert_eq!(open("small.png").unwrap().width(), 32);
    for name in ["x.bmp", "x.tif", "x.webp"] {
        let error = open(name).unwrap_err().to_string();
        assert!(error.contains("expected a picture: PNG, JPEG"), "{error}");
    }
}
