//! Clients that break rules, do nothing, or do too much: nobody else notices, and memory stays bounded.

use std::io::{ErrorKind, Read, Write};
use std::time::{Duration, Instant};

use serde_json::json;
use tungstenite::Message;

use super::client::{Options, Page, Received, Server, placed, request, shot, show};

const SIZE: [u32; 2] = [320, 180];

/// Resident memory of this process in bytes.
fn resident_bytes() -> usize {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: usize = text.split(' ').nth(1).unwrap().parse().unwrap();
    pages * 4096
}

#[test]
fn the_newest_camera_wins() {
    let server = Server::start(Options { splats: Some(200_000), ..Options::default() });
    let mut page = server.page();
    for seq in 1..=60 {
        let turn = f64::from(seq) / 60.0;
        page.send(&request("frame", seq, &placed(turn), [980, 545], &show()));
    }
    page.send(&request("still", 61, &placed(1.0), [980, 545], &show()));
    let (mut frames, mut last) = (0, 0);
    loop {
        let Received::Picture(picture) = page.next() else { continue };
        if picture.kind != 1 {
            assert_eq!(picture.number, 61);
            break;
        }
        page.send(&json!({"t": "shown", "seq": picture.number}));
        assert!(picture.number > last, "{} after {last}", picture.number);
        (frames, last) = (frames + 1, picture.number);
    }
    // Frames wait for confirmations, the still does not.
    assert!(frames < 30, "{frames} of 60 frames were drawn");
    page.send(&request("frame", 62, &placed(1.1), SIZE, &show()));
    page.picture(1, 62);
}

/// Waits for the end of a connection; returns its code, which is lost where the rest of a flood meets a closed socket.
fn end(page: &mut Page) -> Option<u16> {
    loop {
        match page.socket.read() {
            Ok(Message::Close(frame)) => return frame.map(|frame| frame.code.into()),
            Ok(_) => {}
            Err(tungstenite::Error::Io(error)) => {
                let is_open = matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut);
                assert!(!is_open, "the connection stays open");
                return None;
            }
            Err(_) => return None,
        }
    }
}

#[test]
fn pages_that_break_rules_are_closed() {
    let server = Server::start(Options::default());
    let mut binary = server.page();
    binary.socket.send(Message::binary(vec![0; 10])).unwrap();
    assert_eq!(binary.closed(), 1003);
    let mut long = server.page();
    long.socket.send(Message::text("x".repeat(20_000))).unwrap();
    let code = end(&mut long);
    assert!(code.is_none_or(|code| code == 1009), "{code:?}");
    let mut flood = server.page();
    for _ in 0..1000 {
        if flood.socket.send(Message::text("{}")).is_err() {
            break;
        }
    }
    let code = end(&mut flood);
    assert!(code.is_none_or(|code| code == 1008), "{code:?}");
    let mut page = server.page();
    page.send(&request("still", 1, &placed(0.0), SIZE, &show()));
    page.picture(2, 1);
}

#[test]
fn slow_and_silent_clients_disturb_nobody() {
    let server = Server::start(Options { viewers: Some(16), ..Options::default() });
    // Connections that send their headers slowly, or nothing.
    let mut slow: Vec<_> = (0..20).map(|_| server.connect()).collect();
    for stream in &mut slow[..10] {
        stream.write_all(b"GET / HTTP/1.1\r\nHost: lo").unwrap();
    }
    // Pages that ask for many pictures and read none.
    let mut deaf: Vec<_> = (0..8).map(|_| server.page()).collect();
    for seq in 1..=40 {
        for page in &mut deaf {
            page.send(&request("still", seq, &placed(f64::from(seq)), [980, 545], &show()));
        }
    }
    let before = resident_bytes();
    let mut page = server.page();
    let start = Instant::now();
    for seq in 1..=20 {
        page.send(&request("frame", 2 * seq, &placed(f64::from(seq) / 9.0), SIZE, &show()));
        page.picture(1, 2 * seq);
        page.send(&request("still", 2 * seq + 1, &placed(f64::from(seq) / 9.0), SIZE, &show()));
        page.picture(2, 2 * seq + 1);
    }
    println!(
        "20 frames and stills beside 8 deaf pages and 20 slow connections: {:?}",
        start.elapsed()
    );
    let grown = resident_bytes().saturating_sub(before);
    assert!(grown < 200 << 20, "{grown} bytes more");
    // Connections with slow headers end after five seconds.
    let mut answer = Vec::new();
    slow[0].read_to_end(&mut answer).unwrap();
    assert!(start.elapsed() < Duration::from_secs(30));
}

#[test]
fn many_connections_leave_no_memory_behind() {
    let server = Server::start(Options::default());
    let ask = || server.raw("GET /icon.svg HTTP/1.1\r\nHost: localhost\r\n\r\n");
    for _ in 0..200 {
        ask();
    }
    let before = resident_bytes();
    for n in 0..2000 {
        if n % 4 == 0 {
            // A connection that sends nothing, and one that breaks off.
            drop(server.connect());
            server.connect().write_all(b"GET /").unwrap();
        } else {
            assert!(ask().starts_with("HTTP/1.1 200"));
        }
    }
    let grown = resident_bytes().saturating_sub(before);
    // Other tests run in this process at the same time.
    assert!(grown < 200 << 20, "{grown} bytes more");
}

#[test]
fn random_messages_are_answered_or_end_the_page_alone() {
    use rand::RngExt;
    let server = Server::start(Options::default());
    let mut random = rand::rng();
    let seed: Vec<String> = [
        request("still", 1, &placed(0.0), [64, 64], &show()),
        request("frame", 2, &json!({"view": 0}), [64, 64], &show()),
        json!({"t": "probe", "id": 3, "shot": shot(&placed(0.0), [64, 64]), "x": 1, "y": 1}),
        json!({"t": "pace", "scale": 0.5, "quality": 50}),
        json!({"t": "got", "bytes": 1000}),
        json!({"t": "shown", "seq": 1}),
        json!({"t": "save", "id": 4, "seq": 1, "what": "b"}),
        json!({"t": "cancel", "id": 9}),
        json!({"t": "fly", "id": 5, "shot": shot(&placed(0.0), SIZE), "keys": [{"view": 0, "seconds": 0}, {"view": 1, "seconds": 1e-9}], "fps": 1e-9}),
    ]
    .iter()
    .map(ToString::to_string)
    .collect();
    for _ in 0..10 {
        let mut page = server.page();
        for _ in 0..100 {
            let mut bytes = seed[random.random_range(0..seed.len())].clone().into_bytes();
            for _ in 0..random.random_range(0..4) {
                let at = random.random_range(0..bytes.len());
                bytes[at] = random.random_range(32..127);
            }
            let text = String::from_utf8(bytes).unwrap();
            if page.socket.send(Message::text(text)).is_err() {
                break;
            }
        }
    }
    let mut page = server.page();
    page.send(&request("still", 1, &placed(0.0), SIZE, &show()));
    page.picture(2, 1);
    assert!(matches!(server.end(), Err(quadrille_base::Error::Cancelled)));
}
