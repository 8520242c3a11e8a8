//! Admission of requests, by the host that they name, by their origin, and by the token.
//!
//! The server may show private scenes, and other users of its machine and pages of other sites in the owner's browser can
//! reach a loopback port. A request must name this server as its host, so that a foreign name that resolves to this
//! machine (DNS rebinding) opens nothing; a WebSocket must come from this server's own page, since browsers let every page
//! open one; and both need the token, which only the printed address has.

use std::sync::atomic::{AtomicBool, Ordering};

use axum::http::HeaderMap;
use axum::http::header::{HOST, ORIGIN, SEC_WEBSOCKET_PROTOCOL};

pub(crate) const SUBPROTOCOL: &str = "quadrille.v1";
/// Prefix of the subprotocol with the token: a page cannot set headers of a WebSocket.
const TOKEN_PREFIX: &str = "token.";
const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];
/// Hexadecimal digits of a token of 128 bits.
pub(crate) const TOKEN_DIGITS: usize = 32;

/// Sources of pages that may frame the viewer's page: those of notebooks, which have any loopback port.
const LOOPBACK_PAGES: &str = "http://localhost:* http://127.0.0.1:*";

#[derive(Debug)]
pub(crate) struct Admission {
    token: String,
    /// Names of this server besides its loopback names.
    names: Vec<String>,
    is_framed: AtomicBool,
}

impl Admission {
    pub(crate) fn new(token: String, names: Vec<String>) -> Self {
        Self { token, names, is_framed: AtomicBool::new(false) }
    }

    /// Lets loopback pages frame the viewer's page from now on. A frame needs the token as well, and its content is closed
    /// to the page around it.
    pub(crate) fn admit_frames(&self) {
        // The flag guards no other memory.
        self.is_framed.store(true, Ordering::Relaxed);
    }

    /// Value of `frame-ancestors` in the policy of the page.
    pub(crate) fn frame_ancestors(&self) -> &'static str {
        if self.is_framed.load(Ordering::Relaxed) { LOOPBACK_PAGES } else { "'none'" }
    }

    /// Host of a request, with its port; `None` if it is not this server, or not a single host.
    pub(crate) fn host<'a>(&self, headers: &'a HeaderMap) -> Option<&'a str> {
        let host = single(headers, HOST.as_str())?;
        let name = match host.rsplit_once(':') {
            Some((name, port)) if !port.ends_with(']') => {
                let is_port = port.len() <= 5 && port.bytes().all(|b| b.is_ascii_digit());
                port.parse::<u16>().ok().filter(|_| is_port)?;
                name
            }
            _ => host,
        };
        let own = self.names.iter().map(String::as_str);
        let mut names = LOOPBACK.into_iter().chain(own);
        names.any(|own| own.eq_ignore_ascii_case(name)).then_some(host)
    }

    /// Whether a WebSocket request that names `host` comes from this server's page and has the token.
    pub(crate) fn admits_socket(&self, headers: &HeaderMap, host: &str) -> bool {
        let is_own_page = single(headers, ORIGIN.as_str()).is_some_and(|origin| {
            let from = origin.strip_prefix("http://");
            from.or_else(|| origin.strip_prefix("https://"))
                .is_some_and(|from| from.eq_ignore_ascii_case(host))
        });
        let Some(protocols) = single(headers, SEC_WEBSOCKET_PROTOCOL.as_str()) else {
            return false;
        };
        let mut offered = protocols.split(',').map(str::trim);
        let is_version = offered.clone().any(|protocol| protocol == SUBPROTOCOL);
        let token = offered.find_map(|protocol| protocol.strip_prefix(TOKEN_PREFIX));
        is_own_page && is_version && token.is_some_and(|token| self.is_token(token))
    }

    pub(crate) fn admits_bearer(&self, headers: &HeaderMap) -> bool {
        let value = single(headers, "authorization");
        let token = value.and_then(|value| value.strip_prefix("Bearer "));
        token.is_some_and(|token| self.is_token(token))
    }

    /// Compares tokens in constant time, so that the duration reveals nothing.
    fn is_token(&self, token: &str) -> bool {
        let [own, given] = [self.token.as_bytes(), token.as_bytes()];
        let pairs = own.iter().zip(given);
        let differences = pairs.fold(0, |differences, (a, b)| differences | (a ^ b));
        own.len() == given.len() && std::hint::black_box(differences) == 0
    }
}

pub(crate) fn is_well_formed(token: &str) -> bool {
    let is_digit = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
    token.len() == TOKEN_DIGITS && token.bytes().all(is_digit)
}

/// Value of a header that occurs once, as text.
fn single<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (Some(value), None) => value.to_str().ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use axum::http::{HeaderName, HeaderValue};

    use super::*;

    const TOKEN: &str = "0123456789abcdef0123456789abcdef";

    fn admission() -> Admission {
        Admission::new(TOKEN.to_owned(), vec!["render.lab".to_owned()])
    }

    fn headers(given: &[(&str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in given {
            let name: HeaderName = name.parse().expect(name);
            headers.append(name, HeaderValue::from_str(value).expect(value));
        }
        headers
    }

    #[test]
    fn only_names_of_this_server_are_hosts() {
        for host in [
            "localhost",
            "LOCALHOST",
            "localhost:8490",
            "127.0.0.1",
            "127.0.0.1:1",
            "127.0.0.1:65535",
            "[::1]",
            "[::1]:8490",
            "render.lab",
            "Render.Lab:80",
        ] {
            let headers = headers(&[("host", host)]);
            assert_eq!(admission().host(&headers), Some(host));
        }
        for host in [
            "",
            "evil.example",
            "localhost.evil.example",
            "evil.example:8490",
            "127.0.0.1.evil.example",
            "127.0.0.2",
            "0.0.0.0",
            "0x7f000001",
            "2130706433",
            "127.1",
            "[::]",
            "::1",
            "[::ffff:127.0.0.1]",
            "localhost:",
            "localhost:84900",
            "localhost:+80",
            "localhost:80:80",
            "localhost:8490/",
            "user@localhost",
            "localhost ",
            " localhost",
            "localhost,evil.example",
            "xlocalhost",
            "lab",
            "a.render.lab",
            "render.lab.",
        ] {
            let headers = headers(&[("host", host)]);
            assert_eq!(admission().host(&headers), None, "{host:?}");
        }
        let two = headers(&[("host", "localhost"), ("host", "evil.example")]);
        assert_eq!(admission().host(&two), None);
        assert_eq!(admission().host(&HeaderMap::new()), None);
    }

    #[test]
    fn a_socket_comes_from_the_own_page_with_the_token() {
        let protocols = format!("quadrille.v1, token.{TOKEN}");
        let good = [("origin", "http://localhost:8490"), ("sec-websocket-protocol", &*protocols)];
        assert!(admission().admits_socket(&headers(&good), "localhost:8490"));
        let swapped = format!("token.{TOKEN},quadrille.v1");
        let tls = [("origin", "https://render.lab"), ("sec-websocket-protocol", &*swapped)];
        assert!(admission().admits_socket(&headers(&tls), "render.lab"));
        for origin in [
            "http://evil.example",
            "http://localhost",
            "http://localhost:8491",
            "http://127.0.0.1:8490",
            "null",
            "file://",
            "http://localhost:8490.evil.example",
            "http://localhost:8490/",
            "ftp://localhost:8490",
            "http://evil.example#http://localhost:8490",
            "localhost:8490",
            "",
        ] {
            let given = [("origin", origin), ("sec-websocket-protocol", &*protocols)];
            assert!(!admission().admits_socket(&headers(&given), "localhost:8490"), "{origin:?}");
        }
        let short = format!("quadrille.v1, token.{}", &TOKEN[1..]);
        let long = format!("quadrille.v1, token.{TOKEN}0");
        let other = "quadrille.v1, token.0123456789abcdef0123456789abcdee";
        let upper = format!("quadrille.v1, token.{}", TOKEN.to_uppercase());
        let only_token = format!("token.{TOKEN}");
        let second = format!("quadrille.v1, token.0, token.{TOKEN}");
        for protocols in [
            "",
            "quadrille.v1",
            "quadrille.v1, token.",
            &only_token,
            &short,
            &long,
            other,
            &upper,
            &second,
            &format!("quadrille.v2, token.{TOKEN}"),
            &format!("quadrille.v1; token.{TOKEN}"),
        ] {
            let given = [good[0], ("sec-websocket-protocol", protocols)];
            assert!(
                !admission().admits_socket(&headers(&given), "localhost:8490"),
                "{protocols:?}"
            );
        }
        let twice = [good[0], good[0], good[1]];
        assert!(!admission().admits_socket(&headers(&twice), "localhost:8490"));
        assert!(!admission().admits_socket(&headers(&good[1..]), "localhost:8490"));
    }

    #[test]
    fn a_bearer_has_the_token() {
        let good = format!("Bearer {TOKEN}");
        assert!(admission().admits_bearer(&headers(&[("authorization", &good)])));
        for value in
            ["", "Bearer", "Bearer ", TOKEN, "Basic 0123", &good[..38], &good.to_lowercase()]
        {
            assert!(!admission().admits_bearer(&headers(&[("authorization", value)])), "{value:?}");
        }
        assert!(!admission().admits_bearer(&HeaderMap::new()));
        assert!(is_well_formed(TOKEN) && !is_well_formed(&TOKEN.to_uppercase()));
    }
}
