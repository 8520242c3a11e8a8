//! Tests of the module `names`.

use super::*;

#[test]
fn names_of_views_lose_the_extension_of_a_picture_only() {
    for (path, name, last) in [
        ("00001.jpg", "00001", "00001"),
        ("00001.JPEG", "00001", "00001"),
        ("scan.v2", "scan.v2", "scan.v2"),
        ("scan.v2.png", "scan.v2", "scan.v2"),
        ("2024.05.01", "2024.05.01", "2024.05.01"),
        ("cam0/1.tiff", "cam0/1", "1"),
        (r"images\sub dir\IMG 0001.JPG", r"images\sub dir\IMG 0001", "IMG 0001"),
        ("./train/r_0", "./train/r_0", "r_0"),
        (".png", ".png", ".png"),
        ("a/.png", "a/.png", ".png"),
        ("", "", ""),
    ] {
        assert_eq!(of_picture(path), name);
        assert_eq!(of_last_component(path), last);
    }
    assert_eq!(view_of_picture("00001.jpg.png"), "00001");
    assert_eq!(view_of_picture("rig1/cam1/0000.jpg"), "rig1_cam1_0000");
}
