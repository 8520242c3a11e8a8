//! `view`: its address, its flags and its end. The server itself is tested in its member.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::support::program::Place;

/// A running viewer, and its address as it printed it.
struct Viewer {
    program: Child,
    printed: Value,
}

impl Viewer {
    fn start(place: &Place, arguments: &[&str]) -> Self {
        let island = format!("{}/scenes/island.ply", env!("CARGO_MANIFEST_DIR"));
        Self::of(place, &island, arguments)
    }

    fn of(place: &Place, scene: &str, arguments: &[&str]) -> Self {
        let mut program = Command::new(env!("CARGO_BIN_EXE_quadrille"));
        let program = program.args(["view", scene, "--json"]);
        let port: &[&str] = match arguments.contains(&"--port") {
            true => &[],
            false => &["--port", "0"],
        };
        let program = program.args(port).args(arguments).current_dir(place.path("."));
        let mut program = program.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut text = String::new();
        let mut lines = BufReader::new(program.stdout.take().unwrap()).lines();
        while let Some(Ok(line)) = lines.next() {
            text += &line;
            if line == "}" {
                break;
            }
        }
        if text.is_empty() {
            let mut reason = String::new();
            program.stderr.take().unwrap().read_to_string(&mut reason).unwrap();
            panic!("no address: {reason}");
        }
        let printed = serde_json::from_str(&text).unwrap();
        Self { program, printed }
    }

    fn token(&self) -> String {
        let url = self.printed["url"].as_str().unwrap();
        url.split_once("#t=").unwrap().1.to_owned()
    }

    /// Status of an answer to a request with a token.
    fn status(&self, token: &str) -> String {
        let port = self.printed["port"].as_u64().unwrap();
        let mut stream = TcpStream::connect(("127.0.0.1", u16::try_from(port).unwrap())).unwrap();
        let request = format!(
            "GET /status HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer.split(' ').nth(1).unwrap().to_owned()
    }

    /// Interrupts it; returns its exit code and what it wrote to stderr.
    fn end(mut self) -> (Option<i32>, String) {
        let id = self.program.id().to_string();
        let sent = Command::new("kill").args(["-INT", &id]).status().unwrap();
        assert!(sent.success());
        let mut messages = String::new();
        self.program.stderr.take().unwrap().read_to_string(&mut messages).unwrap();
        (self.program.wait().unwrap().code(), messages)
    }
}

#[test]
fn the_printed_address_opens_the_viewer_until_an_interrupt() {
    let place = Place::new();
    let viewer = Viewer::start(&place, &[]);
    let url = viewer.printed["url"].as_str().unwrap();
    let port = viewer.printed["port"].as_u64().unwrap();
    assert!(url.starts_with(&format!("http://localhost:{port}/#t=")), "{url}");
    assert_eq!(
        (viewer.status(&viewer.token()), viewer.status("0")),
        ("200".to_owned(), "403".to_owned())
    );
    let (code, messages) = viewer.end();
    assert_eq!((code, messages.contains("error")), (Some(130), false), "{messages}");
}

#[test]
fn a_token_file_is_made_once_and_read_by_its_owner_alone() {
    let place = Place::new();
    let first = Viewer::start(&place, &["--token-file", "token"]);
    let token = first.token();
    first.end();
    let file = place.path("token");
    let mode = std::fs::metadata(&file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let second = Viewer::start(&place, &["--token-file", "token"]);
    assert_eq!(second.token(), token);
    second.end();
    std::fs::set_permissions(&file, PermissionsExt::from_mode(0o644)).unwrap();
    let island = format!("{}/scenes/island.ply", env!("CARGO_MANIFEST_DIR"));
    let open = ["view", &island, "--token-file", "token"];
    place.expect_error(
        3,
        &open,
        &["token: permissions: expected 600, found 644 (chmod 600 changes it)"],
    );
    std::fs::set_permissions(&file, PermissionsExt::from_mode(0o600)).unwrap();
    std::fs::write(&file, "short\n").unwrap();
    place.expect_error(
        3,
        &open,
        &["token: token: expected 32 hexadecimal digits in lower case, found 5 characters"],
    );
}

#[test]
fn wrong_flags_are_refused_before_the_scene_is_read() {
    let place = Place::new();
    for (arguments, message) in [
        (&["view", "no.ply", "--bind", "0.0.0.0"][..], "--bind 0.0.0.0 needs --host-name NAME"),
        (
            &["view", "no.ply", "--host-name", "lab:80"],
            "expected a name such as render.lab, without a port",
        ),
        (&["view", "no.ply", "--background", "transparent"], "--background: expected a colour"),
        (&["view", "no.ply", "--viewers", "0"], "from 1 to 16"),
        (&["view", "-"], "standard input"),
    ] {
        place.expect_error(2, arguments, &[message]);
    }
    place.expect_error(3, &["view", "no.ply"], &["no.ply: cannot read"]);
}

#[test]
fn a_sequence_is_not_watched() {
    let place = Place::new();
    let island = format!("{}/scenes/island.ply", env!("CARGO_MANIFEST_DIR"));
    for number in 1..=2 {
        std::fs::copy(&island, place.path(&format!("t_{number}.ply"))).unwrap();
    }
    place.expect_error(2, &["view", "t_*.ply", "--watch"], &["--watch", "a sequence"]);
    Viewer::of(&place, "t_*.ply", &["--no-open"]).end();
}

#[test]
fn a_taken_port_is_passed_over_and_ten_taken_ones_are_named() {
    let place = Place::new();
    let first = Viewer::start(&place, &[]);
    let port = first.printed["port"].as_u64().unwrap();
    let again = Viewer::start(&place, &["--port", &port.to_string()]);
    let next = again.printed["port"].as_u64().unwrap();
    assert!((port + 1..port + 10).contains(&next), "{next} after {port}");
    again.end();
    first.end();
}

#[test]
fn a_mesh_is_shown_and_its_commands_draw_it() {
    let place = Place::new();
    std::fs::write(place.path("square.obj"), "v -1 -1 0\nv 1 -1 0\nv 1 1 0\nv -1 1 0\nf 1 2 3 4\n")
        .unwrap();
    let viewer = Viewer::of(&place, "square.obj", &[]);
    assert_eq!(viewer.status(&viewer.token()), "200");
    viewer.end();
    let procedural = Viewer::of(&place, "frog", &[]);
    procedural.end();
    // A PLY file with faces and without splats.
    let text = "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\n\
                element face 1\nproperty list uchar int vertex_indices\nend_header\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n";
    std::fs::write(place.path("triangle.ply"), text).unwrap();
    Viewer::of(&place, "triangle.ply", &[]).end();
    std::fs::write(place.path("broken.obj"), "v 0 0\n").unwrap();
    place.expect_error(3, &["view", "broken.obj"], &["broken.obj"]);
}
