//! Who may ask: the checks of every request before anything else happens.
//!
//! - `Host` must be a name of this server: its address, a public address that the user gave, or a name
//!   of the loopback. A page of another site whose name was pointed at this machine (DNS rebinding)
//!   sends its own name.
//! - `Origin`, if present, must be the page itself, so no other site's page can send commands.
//! - The token, if the server has one, must be in the cookie or the `Authorization` header. The
//!   page's address may have it once, in its query; the answer puts it into a cookie.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::error::ApiError;

/// The name of the cookie with the token, before the port: a browser gives the cookies of a host to
/// the servers at all its ports.
const COOKIE: &str = "outflank_token_";
/// The allowed lengths of a token.
const TOKEN_LENGTHS: std::ops::RangeInclusive<usize> = 12..=128;

/// A secret that every request must have.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(Box<str>);

/// A text that is no token.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a token has {} to {} letters, digits, `-` and `_`", TOKEN_LENGTHS.start(), TOKEN_LENGTHS.end())]
pub struct TokenError;

impl FromStr for Token {
    type Err = TokenError;

    fn from_str(text: &str) -> Result<Token, TokenError> {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        let fits = TOKEN_LENGTHS.contains(&text.len()) && text.bytes().all(plain);
        fits.then(|| Token(text.into())).ok_or(TokenError)
    }
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(..)")
    }
}

impl Token {
    /// Whether a text is this token. The time does not depend on where they differ.
    fn is(&self, text: &str) -> bool {
        let pairs = self.0.bytes().zip(text.bytes());
        text.len() == self.0.len() && pairs.fold(0, |differ, (a, b)| differ | (a ^ b)) == 0
    }
}

/// What requests are checked against.
#[derive(Debug)]
pub(super) struct Guard {
    /// The host as given on the command line.
    pub host: String,
    /// The port at which the server listens.
    pub port: u16,
    /// Whether the server listens at the loopback only.
    pub is_loopback: bool,
    /// Addresses at which others, such as a proxy, serve the page.
    pub public: Vec<PublicUrl>,
    /// The secret, if there is one.
    pub token: Option<Token>,
}

impl Guard {
    /// Whether `Host` names this server. At other addresses than the loopback any address will do,
    /// since a machine may have several, and the machine's own name; another name must be the one
    /// that was given. A client on this machine may come through a tunnel, so that it names the
    /// loopback with another port.
    fn knows(&self, host: &str, is_local: bool) -> bool {
        if self.public.iter().any(|url| url.is_host(host)) {
            return true;
        }
        let (name, port) = match host.rsplit_once(':') {
            Some((name, port)) if !port.ends_with(']') => (name, port.parse().ok()),
            _ => (host, Some(80)),
        };
        let bare = name.trim_start_matches('[').trim_end_matches(']');
        let is_same = |own: &str| bare.eq_ignore_ascii_case(own);
        let names_loopback = match bare.parse::<IpAddr>() {
            Ok(address) => address.is_loopback(),
            Err(_) => is_same("localhost"),
        };
        if names_loopback {
            return port.is_some() && (is_local || port == Some(self.port));
        }
        let is_own = match bare.parse::<IpAddr>() {
            Ok(_) => !self.is_loopback,
            Err(_) => {
                is_same(&self.host)
                    || !self.is_loopback && machine_name().is_some_and(|own| is_same(&own))
            }
        };
        is_own && port == Some(self.port)
    }

    /// The name of this server's cookie.
    fn cookie(&self) -> String {
        format!("{COOKIE}{}", self.port)
    }

    fn check(
        &self,
        headers: &HeaderMap,
        query: Option<&str>,
        is_local: bool,
    ) -> Result<(), ApiError> {
        let forbidden = |error: &str| ApiError::new(StatusCode::FORBIDDEN, error);
        let text = |name: HeaderName| headers.get(name).map(|value| value.to_str().unwrap_or(""));
        let host = text(header::HOST).unwrap_or_default();
        // Of two names a proxy may have checked the other one.
        let hosts = headers.get_all(header::HOST).iter().count();
        if hosts > 1 || !self.knows(host, is_local) {
            return Err(forbidden("the request names another host")
                .at("Host")
                .allowing(format!("{}:{}, or an address of --public", self.host, self.port)));
        }
        let public = self.public.iter().find(|url| url.is_host(host));
        let own = public.map_or_else(|| format!("http://{host}"), |url| url.0.to_string());
        if text(header::ORIGIN).is_some_and(|origin| !origin.eq_ignore_ascii_case(&own)) {
            return Err(forbidden("the request comes from another site's page")
                .at("Origin")
                .allowing(own));
        }
        let Some(token) = &self.token else { return Ok(()) };
        let bearer = text(header::AUTHORIZATION).and_then(|value| value.strip_prefix("Bearer "));
        let cookies = text(header::COOKIE).unwrap_or_default().split(';');
        let cookie = cookies.filter_map(|pair| pair.trim().split_once('='));
        let own = self.cookie();
        let cookie = cookie.filter(|(name, _)| *name == own).map(|(_, value)| value);
        let given = bearer.into_iter().chain(cookie).chain(token_of(query));
        if given.into_iter().any(|given| token.is(given)) {
            return Ok(());
        }
        Err(ApiError::new(StatusCode::UNAUTHORIZED, "the token is missing or wrong")
            .at("Authorization")
            .allowing("Bearer TOKEN, or the address with ?token=TOKEN that the program printed"))
    }
}

/// An address at which others serve the page, such as `https://othello.example`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PublicUrl(Box<str>);

/// A text that is no public address.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "allowed: http:// or https://, a name, and perhaps a port, such as https://othello.example"
)]
pub struct PublicUrlError;

impl FromStr for PublicUrl {
    type Err = PublicUrlError;

    fn from_str(text: &str) -> Result<PublicUrl, PublicUrlError> {
        let text = text.trim_end_matches('/');
        let host = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
        let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b".-:[]_".contains(&byte);
        let host = host.filter(|host| !host.is_empty() && host.bytes().all(is_part));
        host.map(|_| PublicUrl(text.to_ascii_lowercase().into())).ok_or(PublicUrlError)
    }
}

impl PublicUrl {
    fn is_host(&self, host: &str) -> bool {
        self.0.split_once("://").is_some_and(|(_, own)| own.eq_ignore_ascii_case(host))
    }
}

/// The name of this machine in its network.
fn machine_name() -> Option<String> {
    let name = rustix::system::uname().nodename().to_str().ok()?.to_string();
    Some(name).filter(|name| !name.is_empty())
}

/// Whether a connection comes from this machine.
#[derive(Clone, Copy, Debug)]
pub(super) struct IsLocal(pub bool);

/// The token in the query of an address.
fn token_of(query: Option<&str>) -> Option<&str> {
    query?.split('&').find_map(|pair| pair.strip_prefix("token="))
}

/// Checks a request, lets it pass, and adds headers to the answer.
pub(super) async fn check(
    State(guard): State<Arc<Guard>>,
    request: Request,
    next: Next,
) -> Response {
    let query = request.uri().query().map(str::to_string);
    let is_local = request.extensions().get::<IsLocal>().is_some_and(|local| local.0);
    if let Err(error) = guard.check(request.headers(), query.as_deref(), is_local) {
        let mut refused = with_safe_headers(error.into_response());
        // A client that may not ask holds no connection either.
        refused.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
        return refused;
    }
    let is_page = request.method() == Method::GET && request.uri().path() == "/";
    let own = |given: &&str| is_page && guard.token.as_ref().is_some_and(|token| token.is(given));
    let response = match token_of(query.as_deref()).filter(own) {
        // The address in the browser should not keep the token.
        Some(token) => {
            let cookie = format!("{}={token}; Path=/; HttpOnly; SameSite=Strict", guard.cookie());
            let fields = [(header::SET_COOKIE, cookie), (header::LOCATION, "/".into())];
            (StatusCode::SEE_OTHER, fields).into_response()
        }
        None => next.run(request).await,
    };
    with_safe_headers(response)
}

/// The answer with the headers that keep other sites from using it.
fn with_safe_headers(mut response: Response) -> Response {
    for (name, value) in [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_FRAME_OPTIONS, "DENY"),
    ] {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guard(host: &str, token: Option<&str>) -> Guard {
        let token = token.map(|text| text.parse().expect("a token"));
        let public = vec!["https://othello.example/".parse().expect("an address")];
        Guard {
            host: host.into(),
            port: 8484,
            is_loopback: host.starts_with("127."),
            public,
            token,
        }
    }

    #[test]
    fn only_the_server_s_own_names_are_known() {
        let local = guard("127.0.0.1", None);
        for (host, known) in [
            ("127.0.0.1:8484", true),
            ("localhost:8484", true),
            ("LOCALHOST:8484", true),
            ("[::1]:8484", true),
            ("127.0.0.1", false),
            ("127.0.0.1:80", false),
            ("evil.example:8484", false),
            ("localhost.evil.example:8484", false),
            ("192.168.0.7:8484", false),
            ("", false),
        ] {
            assert_eq!(local.knows(host, false), known, "{host}");
        }
        let open = guard("desk.lan", Some("0123456789ab"));
        for (host, known) in [
            ("desk.lan:8484", true),
            ("192.168.0.7:8484", true),
            ("localhost:8484", true),
            ("localhost:9000", false),
            ("evil.example:8484", false),
        ] {
            assert_eq!(open.knows(host, false), known, "{host}");
        }
    }

    #[test]
    fn tunnels_and_proxies_have_names_of_their_own() {
        let local = guard("127.0.0.1", None);
        for host in ["localhost:9000", "127.0.0.1:80", "[::1]:9000"] {
            assert!(local.knows(host, true) && !local.knows(host, false), "{host}");
        }
        assert!(!local.knows("evil.example:8484", true) && !local.knows("localhost:x", true));
        let own = machine_name().expect("a name");
        let open = guard("0.0.0.0", Some("0123456789ab"));
        assert!(
            open.knows(&format!("{own}:8484"), false)
                && !local.knows(&format!("{own}:8484"), false)
        );
        let asks = |host: &str, origin: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::HOST, host.parse().expect("a value"));
            headers.insert(header::ORIGIN, origin.parse().expect("a value"));
            local.check(&headers, None, true).is_ok()
        };
        assert!(asks("othello.example", "https://othello.example"));
        assert!(asks("localhost:9000", "http://localhost:9000"));
        assert!(!asks("othello.example", "http://othello.example"));
        assert!(!asks("othello.example", "https://evil.example"));
        for bad in ["othello.example", "ftp://a", "https://", "https://a/b", "https://a b"] {
            assert_eq!(bad.parse::<PublicUrl>(), Err(PublicUrlError), "{bad}");
        }
    }

    #[test]
    fn tokens_are_compared_whole() {
        let token: Token = "0123456789ab".parse().expect("a token");
        assert!(token.is("0123456789ab"));
        for wrong in ["", "0123456789a", "0123456789abc", "1123456789ab", "0123456789aB"] {
            assert!(!token.is(wrong), "{wrong}");
        }
        for bad in ["short", "with blank in it", "ümlaut-123456"] {
            assert_eq!(bad.parse::<Token>(), Err(TokenError));
        }
        assert_eq!(format!("{token:?}"), "Token(..)");
    }
}
