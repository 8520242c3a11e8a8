//! Other scenes that pages open.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use quadrille_base::{Error, Result};
use quadrille_view::{OpenScene, Show};
use serde_json::Value;

use super::client::{Options, PATIENCE, Received, Server, TOKEN, show_of, write_scene};

/// Opens the scenes of a folder, and remembers the files that it was sent.
#[derive(Debug, Clone)]
struct Opener {
    folder: PathBuf,
    sent: Arc<Mutex<Vec<PathBuf>>>,
}

impl Opener {
    fn again(&self) -> Option<Arc<dyn OpenScene>> {
        Some(Arc::new(self.clone()))
    }
}

impl OpenScene for Opener {
    fn names(&self) -> Vec<String> {
        vec!["other.ply".to_owned(), "broken.ply".to_owned()]
    }

    fn open(&self, name: &str) -> Result<Show> {
        match self.names().iter().any(|known| known == name) {
            true => show_of(&[&self.folder.join(name)], None, self.again()),
            false => Err(Error::argument("scene", "a scene of the folder", name)),
        }
    }

    fn open_file(&self, path: &Path) -> Result<Show> {
        self.sent.lock().unwrap().push(path.to_owned());
        show_of(&[path], None, self.again())
    }
}

fn started() -> (Server, Opener, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    write_scene(&folder.path().join("other.ply"), 500, 3);
    std::fs::write(folder.path().join("broken.ply"), "ply\nformat").unwrap();
    let opener = Opener { folder: folder.path().to_owned(), sent: Arc::default() };
    let server = Server::start(Options { opener: opener.again(), ..Options::default() });
    (server, opener, folder)
}

/// Status and body of a request for `/scene` with this name.
fn asked(server: &Server, method: &str, name: Option<&str>, body: &[u8]) -> (String, String) {
    let ascii = |c: char| match c.is_ascii() {
        true => c.to_string(),
        false => format!("\\u{:04x}", u32::from(c)),
    };
    let json = |name: &str| Value::from(name).to_string().chars().map(ascii).collect::<String>();
    let name = name.map_or(String::new(), |name| format!("scene-name: {}\r\n", json(name)));
    let head = format!(
        "{method} /scene HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\n{name}content-length: {}\r\n\r\n",
        body.len()
    );
    let answer = server.raw_bytes(&[head.as_bytes(), body].concat());
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
    (head.split(' ').nth(1).unwrap_or("").to_owned(), body.to_owned())
}

/// Waits until new pages show a scene: a server that changes it takes a moment.
fn shows(server: &Server, name: &str) {
    let start = Instant::now();
    let mut found = Value::Null;
    while start.elapsed() < PATIENCE {
        if let Ok(page) = server.try_page(&server.address.to_string(), TOKEN) {
            found = page.welcome["scenes"][0]["name"].clone();
            if found == name {
                return;
            }
        }
    }
    panic!("{found} is shown in place of {name}");
}

#[test]
fn a_page_opens_a_scene_of_the_list_and_all_pages_load_again() {
    let (server, _, _folder) = started();
    let mut page = server.page();
    assert_eq!(page.welcome["can_open"], true);
    let (status, list) = asked(&server, "GET", None, b"");
    assert_eq!((&*status, &*list), ("200", "[\"other.ply\",\"broken.ply\"]"));
    // A scene that cannot be read changes nothing.
    for name in ["broken.ply", "../first.ply", "none.ply", ""] {
        let (status, reason) = asked(&server, "POST", Some(name), b"");
        assert_eq!(status, "422", "{name}: {reason}");
        assert!(reason.contains("expected"), "{name}: {reason}");
    }
    shows(&server, "first.ply");
    let (status, reason) = asked(&server, "POST", Some("other.ply"), b"");
    assert_eq!(status, "200", "{reason}");
    let bye = page.text("bye");
    assert_eq!(bye["again"], true, "{bye}");
    assert!(matches!(page.next(), Received::Closed(1001)));
    shows(&server, "other.ply");
    // The next scene can be replaced too.
    assert_eq!(asked(&server, "POST", Some("other.ply"), b"").0, "200");
    shows(&server, "other.ply");
}

#[test]
fn a_file_that_a_page_sends_is_shown_and_removed_in_the_end() {
    let (server, opener, folder) = started();
    let file = std::fs::read(folder.path().join("other.ply")).unwrap();
    for name in ["", "..", "a/b.ply", "a\\b.ply", "a\nb.ply", &"x".repeat(300)] {
        let (status, reason) = asked(&server, "PUT", Some(name), &file);
        assert_eq!(status, "422", "{name}: {reason}");
    }
    assert_eq!(asked(&server, "PUT", None, &file).0, "400");
    assert!(opener.sent.lock().unwrap().is_empty());
    let (status, reason) = asked(&server, "PUT", Some("bad.ply"), &file[..100]);
    assert_eq!(status, "422", "{reason}");
    let bad = opener.sent.lock().unwrap()[0].clone();
    assert!(!bad.exists(), "{}", bad.display());
    shows(&server, "first.ply");
    for name in ["a scene \u{e9} $(x).ply", "last.ply"] {
        let (status, reason) = asked(&server, "PUT", Some(name), &file);
        assert_eq!(status, "200", "{reason}");
        shows(&server, name);
    }
    let sent = opener.sent.lock().unwrap().clone();
    let [first, last] = &sent[1..] else { panic!("{sent:?}") };
    assert!(!first.exists() && last.exists(), "the file of the shown scene alone is kept");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let folder = last.parent().unwrap().metadata().unwrap().permissions();
        assert_eq!(folder.mode() & 0o777, 0o700);
    }
    let root = last.parent().unwrap().parent().unwrap().to_owned();
    drop(server);
    assert!(!root.exists(), "{}", root.display());
}

#[test]
fn requests_without_the_token_and_servers_without_an_opener_open_nothing() {
    let (server, opener, _folder) = started();
    for method in ["GET", "POST", "PUT"] {
        for token in ["", "Authorization: Bearer 00\r\n"] {
            let head = format!(
                "{method} /scene HTTP/1.1\r\nHost: localhost\r\n{token}content-length: 5\r\n\r\nabcde"
            );
            assert!(server.raw(&head).starts_with("HTTP/1.1 403"), "{method} {token}");
        }
    }
    assert_eq!(asked(&server, "DELETE", Some("other.ply"), b"").0, "405");
    assert!(opener.sent.lock().unwrap().is_empty());
    shows(&server, "first.ply");
    let alone = Server::start(Options::default());
    assert_eq!(alone.page().welcome["can_open"], false);
    for method in ["GET", "POST", "PUT"] {
        assert_eq!(asked(&alone, method, Some("first.ply"), b"").0, "404", "{method}");
    }
}
