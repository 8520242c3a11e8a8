//! Admission by host, origin and token, and the limits of pages.

use std::time::{Duration, Instant};

use serde_json::Value;

use super::client::{Options, PATIENCE, Server, TOKEN, placed, request, show};

/// Status of an answer.
fn status(answer: &str) -> &str {
    answer.split(' ').nth(1).unwrap_or(answer)
}

#[test]
fn files_are_served_to_the_own_hosts_with_the_headers_that_keep_them_there() {
    let server = Server::start(Options::default());
    for path in [
        "/",
        "/view.js",
        "/camera.js",
        "/controls.js",
        "/overlay.js",
        "/panels.js",
        "/view.css",
        "/icon.svg",
    ] {
        let answer = server.raw(&format!("GET {path} HTTP/1.1\r\nHost: localhost:1\r\n\r\n"));
        assert_eq!(status(&answer), "200", "{path}");
        for header in [
            "x-content-type-options: nosniff",
            "referrer-policy: no-referrer",
            "cache-control: no-store",
            "cross-origin-opener-policy: same-origin",
            "cross-origin-resource-policy: same-origin",
            "content-security-policy: default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; \
             connect-src 'self' ws://localhost:1; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        ] {
            assert!(answer.contains(header), "{path}: {header}\n{answer}");
        }
    }
    assert_eq!(status(&server.raw("GET / HTTP/1.1\r\nHost: render.lab\r\n\r\n")), "200");
}

#[test]
fn only_loopback_pages_frame_a_viewer_that_admits_them() {
    let [framed, other] = [(); 2].map(|()| Server::start(Options::default()));
    framed.control.admit_frames();
    for (server, ancestors) in
        [(&framed, "http://localhost:* http://127.0.0.1:*"), (&other, "'none'")]
    {
        let answer = server.raw("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
        assert!(answer.contains(&format!("frame-ancestors {ancestors}\r\n")), "{answer}");
    }
}

#[test]
fn other_requests_are_refused() {
    let server = Server::start(Options::default());
    let long = "x".repeat(20_000);
    let many: String = (0..40).map(|n| format!("X-{n}: 1\r\n")).collect();
    for (request, expected) in [
        ("GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n", "403"),
        ("GET / HTTP/1.1\r\n\r\n", "403"),
        ("GET / HTTP/1.0\r\n\r\n", "403"),
        ("GET / HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n", "403"),
        ("GET http://localhost/ HTTP/1.1\r\nHost: evil.example\r\n\r\n", "403"),
        ("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n", "405"),
        ("HEAD / HTTP/1.1\r\nHost: localhost\r\n\r\n", "405"),
        ("OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n", "405"),
        ("GET /../Cargo.toml HTTP/1.1\r\nHost: localhost\r\n\r\n", "404"),
        ("GET /page/view.js HTTP/1.1\r\nHost: localhost\r\n\r\n", "404"),
        ("GET /%2e%2e/etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n", "404"),
        ("GET /status HTTP/1.1\r\nHost: localhost\r\n\r\n", "403"),
        ("GET /ws HTTP/1.1\r\nHost: localhost\r\n\r\n", "403"),
        (&format!("GET / HTTP/1.1\r\nHost: localhost\r\nX: {long}\r\n\r\n"), "431"),
        (&format!("GET / HTTP/1.1\r\nHost: localhost\r\n{many}\r\n"), "431"),
        ("NONSENSE\r\n\r\n", "400"),
    ] {
        let answer = server.raw(request);
        assert_eq!(status(&answer), expected, "{request:.80}\n{answer}");
    }
    let token = format!(
        "GET /ws HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost\r\nSec-WebSocket-Protocol: quadrille.v1, token.{TOKEN}\r\n\r\n"
    );
    assert_eq!(status(&server.raw(&token)), "400", "no upgrade");
}

#[test]
fn the_token_opens_a_page_as_long_as_there_is_a_place() {
    let server = Server::start(Options { viewers: Some(2), ..Options::default() });
    let free = || {
        let answer = server.raw(&format!(
            "GET /status HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\n\r\n"
        ));
        let body = answer.split("\r\n\r\n").nth(1).unwrap();
        let status: Value = serde_json::from_str(body).unwrap();
        assert_eq!((&status["version"], &status["protocol"]), (&"1.2.3".into(), &1.into()));
        status["free"].as_u64().unwrap()
    };
    assert_eq!(free(), 2);
    let own = server.address.to_string();
    let (wrong, other) = ("0".repeat(32), "localhost:1");
    assert_eq!(server.try_page(&own, &wrong).err(), Some(403));
    assert_eq!(server.try_page(other, TOKEN).err(), Some(403));
    let first = server.page();
    let _second = server.page();
    assert_eq!((free(), server.try_page(&own, TOKEN).err()), (0, Some(503)));
    drop(first);
    let start = Instant::now();
    while free() == 0 && start.elapsed() < PATIENCE {
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(free(), 1);
    let welcome = server.page().welcome;
    assert_eq!(welcome["views"].as_array().unwrap().len(), 3);
    assert_eq!(welcome["scenes"][0]["splats"], 2000);
    assert!(!welcome.to_string().contains(TOKEN));
}

#[test]
fn a_server_without_pages_ends_after_a_while() {
    let limit = Duration::from_millis(600);
    let server = Server::start(Options { idle_exit: Some(limit), ..Options::default() });
    let mut page = server.page();
    let start = Instant::now();
    while start.elapsed() < 2 * limit {
        page.send(&request("still", 1, &placed(0.0), [16, 16], &show()));
        page.picture(2, 1);
    }
    drop(page);
    assert!(server.ended().is_ok());
    assert!(start.elapsed() > 3 * limit, "{:?}", start.elapsed());
}
