//! HTTP: the accept loop with its limits, admission, the files of the page, and the upgrade to WebSockets.
//!
//! `axum::serve` sets no timer, so a client that sends its headers slowly would hold a connection for ever. The loop here
//! gives each connection a limit of time, of headers and of memory.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::ws::WebSocketUpgrade;
use axum::extract::{FromRequestParts, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::response::Response;
use axum::{Extension, Router};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use serde_json::json;
use tokio::net::{TcpListener, TcpStream};

use super::admission::SUBPROTOCOL;
use super::message::{MAX_TEXT_BYTES, PROTOCOL};
use super::openings::Wanted;
use super::places::{Place, Places};
use super::session;
use super::site::Site;

const HEADER_TIMEOUT: Duration = Duration::from_secs(5);
/// Number of headers, and memory for them. A browser sends about 15.
const MAX_HEADERS: usize = 32;
const MAX_HEADER_BYTES: usize = 16 << 10;
/// Bytes that a WebSocket holds for a slow reader.
const WRITE_BUFFER_BYTES: usize = 4 << 20;
/// Interval between checks of the server's task.
const POLL: Duration = Duration::from_millis(50);
/// Pause after a failed accept, for example without a free file descriptor.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

const FILES: [(&str, &str, &str); 9] = [
    ("/", "text/html; charset=utf-8", include_str!("page/index.html")),
    ("/view.js", "text/javascript", include_str!("page/view.js")),
    ("/camera.js", "text/javascript", include_str!("page/camera.js")),
    ("/controls.js", "text/javascript", include_str!("page/controls.js")),
    ("/filters.js", "text/javascript", include_str!("page/filters.js")),
    ("/overlay.js", "text/javascript", include_str!("page/overlay.js")),
    ("/panels.js", "text/javascript", include_str!("page/panels.js")),
    ("/view.css", "text/css", include_str!("page/view.css")),
    ("/icon.svg", "image/svg+xml", include_str!("page/icon.svg")),
];

pub(crate) async fn listen(
    listener: &TcpListener,
    site: Arc<Site>,
    mut ends: impl FnMut() -> bool,
) {
    let router = Router::new().fallback(handle).with_state(Arc::clone(&site));
    let places = Places::default();
    let mut poll = tokio::time::interval(POLL);
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = poll.tick() => {
                if ends() {
                    return;
                }
                continue;
            }
        };
        let Ok((stream, _)) = accepted else {
            tokio::time::sleep(ACCEPT_PAUSE).await;
            continue;
        };
        let place = Arc::new(places.place());
        let number = place.number();
        let connection = connection(stream, router.clone().layer(Extension(place)));
        places.seat(number, tokio::spawn(connection).abort_handle());
    }
}

async fn connection(stream: TcpStream, router: Router) {
    // Frames and parts are whole writes: waiting for more bytes would only delay them.
    let _ = stream.set_nodelay(true);
    let service = TowerToHyperService::new(router);
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_TIMEOUT)
        .max_headers(MAX_HEADERS)
        .max_buf_size(MAX_HEADER_BYTES)
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades();
    // Errors of a client that breaks off or violates the protocol need no report.
    let _ = connection.await;
}

async fn handle(
    State(site): State<Arc<Site>>,
    Extension(place): Extension<Arc<Place>>,
    request: Request,
) -> Response {
    let (mut parts, body) = request.into_parts();
    let Some(host) = site.admission.host(&parts.headers).map(str::to_owned) else {
        return plain(StatusCode::FORBIDDEN, "This server does not answer to this host.\n");
    };
    if parts.uri.path() == "/scene" {
        return scene(&site, &place, &parts, body).await;
    }
    if parts.method != Method::GET {
        return plain(StatusCode::METHOD_NOT_ALLOWED, "Only GET is supported.\n");
    }
    match parts.uri.path() {
        "/status" => status(&site, &place, &parts.headers),
        "/ws" => {
            if !site.admission.admits_socket(&parts.headers, &host) {
                return plain(StatusCode::FORBIDDEN, "The token or the origin is wrong.\n");
            }
            place.keep();
            match WebSocketUpgrade::from_request_parts(&mut parts, &site).await {
                Ok(upgrade) => open(upgrade, site),
                Err(_) => plain(StatusCode::BAD_REQUEST, "This is the address of a WebSocket.\n"),
            }
        }
        path => match FILES.iter().find(|(name, ..)| *name == path) {
            Some((_, kind, content)) => {
                file(kind, content, &host, site.admission.frame_ancestors())
            }
            None => plain(StatusCode::NOT_FOUND, "There is no such page.\n"),
        },
    }
}

fn open(upgrade: WebSocketUpgrade, site: Arc<Site>) -> Response {
    let Some((id, wake)) = site.hub.join() else {
        return plain(
            StatusCode::SERVICE_UNAVAILABLE,
            "The largest number of pages is open already.\n",
        );
    };
    let stage = site.hub.stage();
    let mut welcome = site.welcome.clone();
    welcome["generation"] = stage.generation.into();
    welcome["scenes"] = stage.json();
    welcome["number"] = stage.number.into();
    let (cam, status) = site.hub.greeting();
    (welcome["cam"], welcome["status"]) = (cam, status.into());
    site.hub.with(id, |client| client.send(&welcome));
    let failed = Arc::clone(&site.hub);
    upgrade
        .protocols([SUBPROTOCOL])
        .max_message_size(MAX_TEXT_BYTES)
        .max_frame_size(MAX_TEXT_BYTES)
        .write_buffer_size(0)
        .max_write_buffer_size(WRITE_BUFFER_BYTES)
        .on_failed_upgrade(move |_| failed.leave(id))
        .on_upgrade(move |socket| session::run(socket, site, id, wake))
}

/// Answers the request that a page sends before it opens a WebSocket, since browsers do not tell why one fails.
fn status(site: &Site, place: &Place, headers: &HeaderMap) -> Response {
    if !site.admission.admits_bearer(headers) {
        return plain(StatusCode::FORBIDDEN, "The token is wrong.\n");
    }
    place.keep();
    let status = json!({
        "version": site.version,
        "protocol": PROTOCOL,
        "free": site.hub.free(),
    });
    answer(StatusCode::OK, "application/json", status.to_string())
}

/// The scenes that pages can open: GET lists their names, POST opens the one of a name, and PUT the file that it sends. The
/// header `scene-name` states the name as JSON in ASCII.
async fn scene(site: &Site, place: &Place, parts: &Parts, body: Body) -> Response {
    if !site.admission.admits_bearer(&parts.headers) {
        return plain(StatusCode::FORBIDDEN, "The token is wrong.\n");
    }
    let Some(openings) = &site.openings else {
        return plain(StatusCode::NOT_FOUND, "This server opens no other scenes.\n");
    };
    place.keep();
    let stated = parts.headers.get("scene-name").and_then(|name| name.to_str().ok());
    let name: Option<String> = stated.and_then(|name| serde_json::from_str(name).ok());
    let opened = match (&parts.method, name) {
        (&Method::GET, _) => {
            let names = json!(openings.names()).to_string();
            return answer(StatusCode::OK, "application/json", names);
        }
        (&Method::POST, Some(name)) => openings.open(Wanted::Named(name)).await,
        (&Method::PUT, Some(name)) => openings.receive(&name, body).await,
        (&Method::POST | &Method::PUT, None) => {
            return plain(StatusCode::BAD_REQUEST, "The header scene-name is missing or wrong.\n");
        }
        _ => {
            return plain(
                StatusCode::METHOD_NOT_ALLOWED,
                "Only GET, POST and PUT are supported.\n",
            );
        }
    };
    match opened {
        Ok(()) => answer(StatusCode::OK, "text/plain; charset=utf-8", ""),
        Err(error) => {
            let text = format!("{error}\n");
            answer(StatusCode::UNPROCESSABLE_ENTITY, "text/plain; charset=utf-8", text)
        }
    }
}

fn file(kind: &str, content: &'static str, host: &str, frame_ancestors: &str) -> Response {
    let mut response = answer(StatusCode::OK, kind, content);
    let policy = format!(
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self' ws://{host}; \
         base-uri 'none'; form-action 'none'; frame-ancestors {frame_ancestors}"
    );
    // The host is one of the admitted names, which are valid in a header.
    if let Ok(policy) = policy.parse() {
        response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    response
}

fn plain(status: StatusCode, text: &'static str) -> Response {
    answer(status, "text/plain; charset=utf-8", text)
}

/// Creates an answer with the headers that keep it within this page.
fn answer(status: StatusCode, kind: &str, body: impl Into<Body>) -> Response {
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_TYPE, kind),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-store"),
        // An idle connection would occupy one of few places.
        (header::CONNECTION, "close"),
    ] {
        if let Ok(value) = value.parse() {
            headers.insert(name, value);
        }
    }
    for name in ["cross-origin-opener-policy", "cross-origin-resource-policy"] {
        headers.insert(name, header::HeaderValue::from_static("same-origin"));
    }
    response
}
