//! Requests of other users of the machine and of other pages, at the level of bytes: each is answered by its status or by
//! an error, and the server lives.

use std::cell::Cell;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::json;
use tungstenite::Message;
use tungstenite::protocol::frame::Frame;
use tungstenite::protocol::frame::coding::{Data, OpCode};

use super::client::{Options, Received, Server, TOKEN, placed, request, shot, show};

const SIZE: [u32; 2] = [64, 48];

/// Status of an answer; nothing where the connection was closed without one.
fn status(answer: &str) -> &str {
    answer.split(' ').nth(1).unwrap_or("")
}

fn lives(server: &Server) {
    let mut page = server.page();
    page.send(&request("still", 1, &placed(0.0), SIZE, &show()));
    page.picture(2, 1);
}

#[test]
fn paths_beside_the_page_and_other_methods_are_refused() {
    let server = Server::start(Options::default());
    for path in [
        "/..",
        "/../",
        "/..%2fetc/passwd",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/%00",
        "/view.js%00",
        "//",
        "//view.js",
        "/./view.js",
        "/view.js/",
        "/View.js",
        "/\\..\\view.js",
        "/page/index.html",
        "/index.html",
        "/ws/",
        "/status/",
        "/.git/config",
        "/cameras.json",
    ] {
        let answer = server.raw(&format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n"));
        let found = status(&answer);
        assert!(["404", "400"].contains(&found), "{path}: {answer}");
    }
    for method in ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "HEAD", "PROPFIND"] {
        let answer = server.raw(&format!("{method} / HTTP/1.1\r\nHost: localhost\r\n\r\n"));
        assert_eq!(status(&answer), "405", "{method}: {answer}");
    }
    let connect = server.raw("CONNECT localhost:80 HTTP/1.1\r\nHost: localhost\r\n\r\n");
    assert!(["405", "400"].contains(&status(&connect)), "{connect}");
    for host in ["", "evil.example", "localhost:99999", "localhost:", "127.0.0.2"] {
        let answer = server.raw(&format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n"));
        assert!(["403", "400"].contains(&status(&answer)), "{host}: {answer}");
    }
    lives(&server);
}

#[test]
fn malformed_requests_are_answered_once_and_closed() {
    let server = Server::start(Options::default());
    let long = "x".repeat(20_000);
    for (request, expected) in [
        (format!("GET /{long} HTTP/1.1\r\nHost: localhost\r\n\r\n"), "431"),
        (format!("GET / HTTP/1.1\r\nHost: localhost\r\nX: {long}{long}{long}\r\n\r\n"), "431"),
        ("\u{16}\u{3}\u{1}\u{0}\u{5}hello\r\n\r\n".to_owned(), "400"),
        ("GET / HTTP/9.9\r\nHost: localhost\r\n\r\n".to_owned(), "400"),
        ("GET / HTTP/1.1\r\nHost: localhost\r\nNo colon\r\n\r\n".to_owned(), "400"),
    ] {
        let answer = server.raw(&request);
        assert_eq!(status(&answer), expected, "{request:.60}\n{answer:.200}");
    }
    // Two lengths of a body, of which a proxy could take the other one: a second request in it gets no answer.
    let smuggled = "GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n\
                    GET /status HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let answer = server.raw(smuggled);
    assert_eq!(answer.matches("HTTP/1.1 ").count(), 1, "{answer:.300}");
    lives(&server);
}

#[test]
fn sockets_without_the_own_origin_and_token_are_refused() {
    let server = Server::start(Options::default());
    let own = server.address.to_string();
    let port = server.address.port();
    for origin in
        ["evil.example", "localhost:1", &format!("localhost:{port}"), &format!("[::1]:{port}")]
    {
        assert_eq!(server.try_page(origin, TOKEN).err(), Some(403), "{origin}");
    }
    for token in ["", "0", &TOKEN[1..], &TOKEN.to_uppercase(), &TOKEN.replace('f', "e")] {
        assert_eq!(server.try_page(&own, token).err(), Some(403), "{token}");
    }
    let upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
                   Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n";
    let protocols = format!("Sec-WebSocket-Protocol: quadrille.v1, token.{TOKEN}\r\n");
    for headers in [
        protocols.clone(),
        format!("{protocols}Origin: null\r\n"),
        format!("Origin: http://{own}\r\n"),
        format!("Origin: http://{own}\r\nSec-WebSocket-Protocol: quadrille.v1\r\n"),
    ] {
        let answer =
            server.raw(&format!("GET /ws HTTP/1.1\r\nHost: {own}\r\n{upgrade}{headers}\r\n"));
        assert_eq!(status(&answer), "403", "{headers}\n{answer}");
    }
    lives(&server);
}

/// The end of a page that sent `frames` by hand, or that it lives.
fn after(server: &Server, frames: &[Frame]) -> bool {
    let mut page = server.page();
    for frame in frames {
        if page.socket.send(Message::Frame(frame.clone())).is_err() {
            return false;
        }
    }
    let mut request = request("still", 1, &placed(0.0), SIZE, &show());
    request["seq"] = 77.into();
    if page.socket.send(Message::text(request.to_string())).is_err() {
        return false;
    }
    loop {
        match page.socket.read() {
            Ok(Message::Binary(_)) => return true,
            Ok(Message::Close(_)) | Err(_) => return false,
            Ok(_) => {}
        }
    }
}

fn frame(opcode: OpCode, is_final: bool, payload: &[u8]) -> Frame {
    Frame::message(payload.to_vec(), opcode, is_final)
}

#[test]
fn frames_that_break_the_protocol_end_their_page_alone() {
    let server = Server::start(Options::default());
    let text = OpCode::Data(Data::Text);
    let unfinished = vec![frame(text, false, b"{"); 2];
    assert!(!after(&server, &unfinished), "a text inside a text");
    assert!(!after(&server, &[frame(text, true, &[0xff, 0xfe])]), "bad UTF-8");
    assert!(!after(&server, &[frame(OpCode::Data(Data::Binary), true, &[0; 100])]), "binary");
    assert!(!after(&server, &[frame(OpCode::Data(Data::Continue), true, b"x")]), "no start");
    let half = "x".repeat(9 << 10);
    let parts = [
        frame(text, false, half.as_bytes()),
        frame(OpCode::Data(Data::Continue), true, half.as_bytes()),
    ];
    assert!(!after(&server, &parts), "18 KB in two frames");
    // Frames without a mask, which a proxy could take for another protocol.
    let mut page = server.page();
    page.socket.get_mut().write_all(&[0x81, 2, b'{', b'}']).unwrap();
    assert_eq!(page.closed(), 1002, "no mask");
    // 100 pings are answered.
    let mut page = server.page();
    for _ in 0..100 {
        page.socket.send(Message::Ping(vec![0; 100].into())).unwrap();
    }
    page.send(&request("still", 1, &placed(0.0), SIZE, &show()));
    page.picture(2, 1);
    lives(&server);
}

#[test]
fn crafted_messages_are_answered_by_an_error() {
    let server = Server::start(Options::default());
    let mut page = server.page();
    let still = |pointer: &str, value: &str| {
        let mut message = request("still", 1, &placed(0.0), SIZE, &show());
        *message.pointer_mut(pointer).unwrap() = "MARK".into();
        message.to_string().replace("\"MARK\"", value)
    };
    let deep = format!("{}1{}", "[".repeat(7000), "]".repeat(7000));
    let point = |x: &str| format!("[{x},0,0]");
    let mut messages = Vec::new();
    for number in ["NaN", "Infinity", "1e400", "-1e400", "1e308", "\"1\"", "null", "[]", "{}"] {
        messages.push(still("/cam/eye", &point(number)));
        messages.push(still("/cam/target", &point(number)));
        messages.push(still("/cam/fov_degrees", number));
    }
    for side in ["0", "-1", "15", "8193", "4294967296", "1e9", "16.5", "null"] {
        messages.push(still("/w", side));
        messages.push(still("/h", side));
    }
    messages.extend([
        still("/cam/eye", "[0,0,0]"),
        still("/cam/up", "[0,0,0]"),
        still("/cam/up", "[1e-320,0,0]"),
        still("/cam/lens", "99"),
        still("/cam/lens", "-1"),
        still("/show/gain", "1e308"),
        still("/show/split", "-0.1"),
        still("/show/a/scene", "1"),
        still("/show/a/scene", "18446744073709551616"),
        still("/show/a/profile", "\"no\""),
        still("/seq", "4294967296"),
        deep.clone(),
        format!("{{\"t\":{deep}}}"),
        String::new(),
        "null".to_owned(),
        "[]".to_owned(),
        "{\"t\":\"still\",\"t\":\"frame\"}".to_owned(),
        json!({"t": "got", "bytes": -1}).to_string(),
        json!({"t": "shown", "seq": 1e300}).to_string(),
        json!({"t": "map", "id": 1, "shot": shot(&placed(0.0), SIZE), "map": "no", "variant": "qm", "pinned": true})
            .to_string(),
        json!({"t": "probe", "id": 1, "shot": shot(&placed(0.0), SIZE), "x": 64, "y": 0}).to_string(),
        json!({"t": "fly", "id": 1, "shot": shot(&placed(0.0), SIZE), "keys": [{"view": 0, "seconds": 0}, {"view": 1, "seconds": 1e308}], "fps": 30})
            .to_string(),
    ]);
    messages.push(json!({"t": "got", "bytes": u64::MAX}).to_string());
    for message in &messages {
        page.socket.send(Message::text(message.clone())).unwrap();
    }
    page.send(&request("still", 5, &placed(0.0), SIZE, &show()));
    // A page whose messages come fast is told of the last errors alone, so they are not counted.
    let errors = Cell::new(0);
    let picture = page.wait(|received| match received {
        Received::Picture(picture) if picture.kind == 2 => Some(picture.number),
        Received::Text(text) => {
            errors.set(errors.get() + u32::from(text["t"] == "error"));
            None
        }
        _ => None,
    });
    assert_eq!(picture, 5, "no wrong message gives a picture");
    assert!(errors.get() > 0);
    lives(&server);
}

#[test]
fn a_map_of_an_unknown_kind_is_refused_before_the_run() {
    let server = Server::start(Options { splats: Some(200_000), ..Options::default() });
    let mut page = server.page();
    for (map, variant) in [("no", "het+qm"), ("merged", "baseline"), ("late", "qm")] {
        let shot = shot(&placed(0.0), [640, 480]);
        page.send(&json!({"t": "map", "id": 3, "shot": shot, "map": map, "variant": variant, "pinned": true}));
        let first = page.wait(|received| match received {
            Received::Text(text) => Some(text.clone()),
            _ => None,
        });
        assert_eq!(first["t"], "error", "{first}");
        assert!(first["expected"].as_str().unwrap().contains("shaded"), "{first}");
    }
}

/// Whether the server has closed a connection.
fn is_closed(stream: &mut TcpStream) -> bool {
    stream.set_read_timeout(Some(Duration::from_millis(1))).unwrap();
    let read = stream.read(&mut [0; 16]);
    matches!(read, Ok(0)) || read.is_err_and(|e| e.kind() == std::io::ErrorKind::ConnectionReset)
}

#[test]
fn idle_connections_keep_no_page_out_and_end_none() {
    let server = Server::start(Options::default());
    let mut open = server.page();
    let mut idle: Vec<TcpStream> = (0..200).map(|_| server.connect()).collect();
    let bodies: Vec<TcpStream> = (0..20)
        .map(|_| {
            let mut stream = server.connect();
            let post = "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n";
            stream.write_all(post.as_bytes()).unwrap();
            stream
        })
        .collect();
    // A new page opens within the time that headers have.
    let start = Instant::now();
    let answer = server.raw("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    assert_eq!(status(&answer), "200");
    let mut page = server.page();
    page.send(&request("still", 1, &placed(0.0), SIZE, &show()));
    page.picture(2, 1);
    assert!(start.elapsed() < Duration::from_secs(4), "{:?}", start.elapsed());
    // The page that was open before is none of the connections that gave way.
    open.send(&request("still", 1, &placed(0.0), SIZE, &show()));
    open.picture(2, 1);
    let ended = idle.iter_mut().filter_map(|stream| is_closed(stream).then_some(())).count();
    assert!(ended >= 200 - 64, "{ended} idle connections ended");
    drop((idle, bodies));
}
