//! The page's files, as parts of the program.
//!
//! A release build contains them. A debug build reads them from the source tree for each request, so
//! that a change of the page needs no build.

use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use rust_embed::Embed;

use super::error::ApiError;

#[derive(Embed)]
#[folder = "src/web/page"]
struct Assets;

/// The page itself.
const PAGE: &str = "index.html";

/// The endings of the page's files, with their types.
const KINDS: &[(&str, &str)] = &[
    (".html", "text/html; charset=utf-8"),
    (".css", "text/css; charset=utf-8"),
    (".js", "text/javascript; charset=utf-8"),
    (".svg", "image/svg+xml"),
    (".png", "image/png"),
    (".webmanifest", "application/manifest+json"),
];

/// The page may load and ask nothing but this server.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' \
                      blob: data:; connect-src 'self'; manifest-src 'self'; form-action 'none'; \
                      base-uri 'none'; frame-ancestors 'none'";

fn kind(path: &str) -> Option<&'static str> {
    KINDS.iter().find(|(ending, _)| path.ends_with(ending)).map(|(_, kind)| *kind)
}

/// The file at a path of the page, which has no slash at its start.
pub(super) fn respond(path: &str, headers: &HeaderMap) -> Response {
    let path = if path.is_empty() { PAGE } else { path };
    // Only a name of the list is looked up: a debug build would look for any path in the folder.
    let is_listed = Assets::iter().any(|listed| listed == path);
    let found = Assets::get(path).filter(|_| is_listed).zip(kind(path));
    let Some((file, kind)) = found else {
        return ApiError::missing("there is no such page").into_response();
    };
    let tag = format!("\"{:08x}\"", crc32fast::hash(&file.data));
    let fixed = [
        (header::ETAG, tag.as_str()),
        (header::CACHE_CONTROL, "no-cache"),
        (header::CONTENT_SECURITY_POLICY, POLICY),
    ];
    if headers.get(header::IF_NONE_MATCH).is_some_and(|known| known == tag.as_str()) {
        return (StatusCode::NOT_MODIFIED, fixed).into_response();
    }
    (fixed, [(header::CONTENT_TYPE, kind)], file.data.into_owned()).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The most bytes of all files together.
    const MOST_BYTES: usize = 400_000;

    fn files() -> impl Iterator<Item = (String, Vec<u8>)> {
        let bytes = |path: &str| Assets::get(path).expect("a listed file").data.into_owned();
        Assets::iter().map(move |path| (path.to_string(), bytes(&path)))
    }

    #[test]
    fn every_file_has_a_known_type_and_all_are_small() {
        for (path, _) in files() {
            assert!(kind(&path).is_some(), "{path}");
        }
        let bytes: usize = files().map(|(_, bytes)| bytes.len()).sum();
        assert!((1..MOST_BYTES).contains(&bytes), "{bytes} bytes");
    }

    /// A file that names another host would send a request there. Names of XML are no addresses.
    #[test]
    fn no_file_names_another_machine() {
        for (path, bytes) in files().filter(|(path, _)| !path.ends_with(".png")) {
            let text = String::from_utf8(bytes).expect("text");
            for (at, _) in text.match_indices("://") {
                assert!(text[at..].starts_with("://www.w3.org/"), "{path}: {:.60}", &text[at..]);
            }
        }
    }
}
