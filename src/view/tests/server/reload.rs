//! Scenes whose files change.

use super::client::{Options, Server, placed, request, show, write_scene};

#[test]
fn a_changed_file_is_shown_and_a_broken_one_is_not() {
    let server = Server::start(Options { watch: true, ..Options::default() });
    let mut page = server.page();
    let file = server.folder.path().join("first.ply");
    page.send(&request("still", 1, &placed(0.0), [64, 64], &show()));
    let old = page.picture(2, 1);
    assert_eq!(old.generation, 0);
    write_scene(&file, 3000, 9);
    let scene = page.text("scene");
    assert_eq!((&scene["generation"], &scene["warning"]), (&1.into(), &().into()));
    assert_eq!(scene["scenes"][0]["splats"], 3000);
    page.send(&request("still", 2, &placed(0.0), [64, 64], &show()));
    let new = page.picture(2, 2);
    assert_eq!(new.generation, 1);
    assert!(new.rgb() != old.rgb());
    // A truncated file does not replace the scene.
    let bytes = std::fs::read(&file).unwrap();
    std::fs::write(&file, &bytes[..bytes.len() / 2]).unwrap();
    let scene = page.text("scene");
    assert_eq!(scene["generation"], 1);
    assert!(scene["warning"].as_str().unwrap().contains("first.ply"), "{scene}");
    page.send(&request("still", 3, &placed(0.0), [64, 64], &show()));
    assert!(page.picture(2, 3).rgb() == new.rgb());
}
