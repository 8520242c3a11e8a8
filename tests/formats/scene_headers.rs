//! Errors for false headers and for files that are not scenes.
use std::path::Path;

use quadrille::Scene;
use quadrille::{Error, SceneInput, load};

/// The properties of a splat of degree 0.
pub(crate) const PLAIN: &str =
    "x y z f_dc_0 f_dc_1 f_dc_2 opacity scale_0 scale_1 scale_2 rot_0 rot_1 rot_2 rot_3";

/// A file whose header has `count` splats in `format` with the properties `names`, followed by `body`.
pub(crate) fn file(format: &str, count: &str, names: &str, body: &[u8]) -> Vec<u8> {
    let mut text = format!("ply\nformat {format} 1.0\nelement vertex {count}\n");
    for name in names.split_whitespace() {
        text += &format!("property float {name}\n");
    }
    text += "end_header\n";
    [text.as_bytes(), body].concat()
}

fn read(file: &[u8]) -> Result<Scene, Error> {
    load(SceneInput::bytes(file).named(Path::new("false.ply")))
}

/// The text of the error, which must be [`Error::Malformed`].
fn refused(file: &[u8]) -> String {
    let error = read(file).expect_err("a refusal");
    assert!(matches!(error, Error::Malformed { .. }), "{error}");
    error.to_string()
}

#[test]
fn counts_beyond_the_file_are_refused_before_any_allocation() {
    for format in ["ascii", "binary_little_endian", "binary_big_endian"] {
        for count in ["2", "4294967296", "9223372036854775807", "18446744073709551615"] {
            let text = refused(&file(format, count, PLAIN, &[0; 60]));
            let says =
                text.contains("bytes to the end of the file") || text.contains("fits in memory");
            assert!(says || text.contains("row"), "{text}");
        }
        for count in ["18446744073709551616", "-1", "1e3", "NaN", "", "1 2", "0x10"] {
            let text = refused(&file(format, count, PLAIN, &[0; 60]));
            assert!(text.contains("header line 3"), "{text}");
        }
    }
    let text = refused(&file("binary_little_endian", "3", PLAIN, &[0; 100]));
    assert!(text.contains("at least 168 bytes (3 rows of 56 bytes)"), "{text}");
    assert!(text.contains("100 bytes to the end"), "{text}");
}

#[test]
fn false_counts_of_elements_before_the_splats_are_refused() {
    let with = |element: &str| {
        let splats = file("binary_little_endian", "1", PLAIN, &[0; 56]);
        let text = String::from_utf8(splats).unwrap();
        text.replacen("element vertex", &format!("{element}\nelement vertex"), 1).into_bytes()
    };
    refused(&with("element big 18446744073709551615\nproperty double a"));
    refused(&with("element big 4294967296\nproperty list uchar int a"));
    refused(&with(
        "element one 1\nproperty list float int a\nproperty list uint int b\nproperty double c",
    ));
    // Rows without properties have no bytes, so any number of them is valid.
    let scene = read(&with("element none 18446744073709551615")).unwrap();
    assert_eq!(scene.dropped.zero_rotation, 1);
}

#[test]
fn false_list_counts_are_refused() {
    let mut header = file("binary_little_endian", "1", PLAIN, b"");
    let end = header.len() - "end_header\n".len();
    header.splice(end..end, *b"property list uint double tail\n");
    for count in [1u32, 0x7fff_ffff, u32::MAX] {
        let body = [&[0u8; 56][..], &count.to_le_bytes(), &[0; 7]].concat();
        refused(&[&header[..], &body].concat());
    }
    let empty = [&header[..], &[0; 60]].concat();
    assert_eq!(read(&empty).unwrap().dropped.zero_rotation, 1);
}

#[test]
fn meshes_and_point_clouds_are_named_as_such() {
    let cloud = refused(&file("ascii", "1", "x y z", b"0 0 0\n"));
    assert!(cloud.contains("f_dc_0") && cloud.contains("looks like a point cloud"), "{cloud}");
    let mesh = "ply\nformat ascii 1.0\nelement vertex 0\nproperty float x\nproperty float y\n\
                property float z\nelement face 3\nproperty list uchar int vertex_indices\nend_header\n";
    assert!(refused(mesh.as_bytes()).contains("looks like a mesh"));
    assert!(refused(b"ply\nformat ascii 1.0\nend_header\n").contains("\"vertex\""));
}

#[test]
fn the_number_of_coefficients_makes_a_degree_or_an_error() {
    let rest = |count: usize| (0..count).map(|i| format!(" f_rest_{i}")).collect::<String>();
    for (count, degree) in [(0, 0), (9, 1), (24, 2), (45, 3), (72, 4)] {
        let names = format!("{PLAIN}{}", rest(count));
        let scene = read(&file("ascii", "0", &names, b"")).unwrap();
        assert_eq!(scene.splats.sh_degree(), degree);
    }
    for count in [1, 3, 8, 10, 44, 73, 105] {
        let text = refused(&file("ascii", "0", &format!("{PLAIN}{}", rest(count)), b""));
        assert!(text.contains(&format!("found {count} of them")), "{text}");
    }
    let gap = format!("{PLAIN}{} f_rest_9", rest(8));
    assert!(refused(&file("ascii", "0", &gap, b"")).contains("no f_rest_8"));
}

#[test]
fn poison_rows_are_counted_and_dropped() {
    let good = "1 2 3 0 0 0 0 0 0 0 1 0 0 0\n";
    let bad = [
        "nan 2 3 0 0 0 0 0 0 0 1 0 0 0\n",
        "1 2 3 0 0 0 0 -nan(ind) 0 0 1 0 0 0\n",
        "1 2 3 0 0 0 0 0 0 0 inf 0 0 0\n",
        "1 2 1e39 0 0 0 0 0 0 0 1 0 0 0\n",
        "1 2 3 -inf 0 0 0 0 0 0 1 0 0 0\n",
        "1 2 3 0 0 0 0 0 0 0 0 0 -0 0\n",
        "1 2 3 0 0 0 0 0 0 90 1 0 0 0\n",
    ];
    let body: String = bad.iter().flat_map(|bad| [good, bad]).collect();
    let scene = read(&file("ascii", "14", PLAIN, body.as_bytes())).unwrap();
    let d = scene.dropped;
    assert_eq!((d.nan, d.infinite, d.zero_rotation, d.scale_overflow), (2, 3, 1, 1));
    assert_eq!(scene.splats.len(), 7);
    assert!(scene.splats.iter().all(|s| s.mean == [1.0, 2.0, 3.0] && s.opacity == 0.5));
}

#[test]
fn text_rows_must_have_their_values() {
    for row in ["1 2 3", "1 2 3 0 0 0 0 0 0 0 1 0 0 0 9", "1 2 3 0 0 0 0 0,5 0 0 1 0 0 0", ""] {
        let body = format!("{row}\n{}", " ".repeat(60));
        let text = refused(&file("ascii", "1", PLAIN, body.as_bytes()));
        assert!(text.contains("row 0 of 1"), "{text}");
    }
}

#[test]
fn line_ends_of_the_header_leave_the_body_whole() {
    // The bytes of the first coordinate are line ends.
    let mut body = [0u8; 56];
    body[..4].copy_from_slice(b"\n\r\n\n");
    body[40] = 1;
    for end in ["\n", "\r\n", "\r"] {
        let header = file("binary_little_endian", "1", PLAIN, b"");
        let header = String::from_utf8(header).unwrap().replace('\n', end);
        let scene = read(&[header.as_bytes(), &body].concat()).unwrap();
        assert_eq!(scene.splats.splat(0).mean[0], f32::from_le_bytes(*b"\n\r\n\n"), "{end:?}");
    }
}
