//! The page's files, as parts of the program.

use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};

use super::error::ApiError;

/// A file of the page.
struct Asset {
    path: &'static str,
    kind: &'static str,
    bytes: &'static [u8],
}

macro_rules! assets {
    ($($path:literal $kind:ident,)*) => {
        &[$(Asset {
            path: $path,
            kind: $kind,
            bytes: include_bytes!(concat!("page/", $path)),
        },)*]
    };
}

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const JS: &str = "text/javascript; charset=utf-8";
const SVG: &str = "image/svg+xml";

/// Every file in `page/`. The first is the page itself.
const ASSETS: &[Asset] = assets! {
    "index.html" HTML,
    "style.css" CSS,
    "icon.svg" SVG,
    "main.js" JS,
};

/// The page may load and ask nothing but this server.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' \
                      blob:; connect-src 'self'; form-action 'none'; base-uri 'none'; \
                      frame-ancestors 'none'";

/// The file at a path of the page, which has no slash at its start.
pub(super) fn respond(path: &str, headers: &HeaderMap) -> Response {
    let path = if path.is_empty() { ASSETS[0].path } else { path };
    let Some(asset) = ASSETS.iter().find(|asset| asset.path == path) else {
        return ApiError::missing("there is no such page").into_response();
    };
    let tag = format!("\"{:08x}\"", crc32fast::hash(asset.bytes));
    let fixed = [
        (header::ETAG, tag.as_str()),
        (header::CACHE_CONTROL, "no-cache"),
        (header::CONTENT_SECURITY_POLICY, POLICY),
    ];
    if headers.get(header::IF_NONE_MATCH).is_some_and(|known| known == tag.as_str()) {
        return (StatusCode::NOT_MODIFIED, fixed).into_response();
    }
    (fixed, [(header::CONTENT_TYPE, asset.kind)], asset.bytes).into_response()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::*;

    /// The most bytes of all files together.
    const MOST_BYTES: usize = 300_000;

    #[test]
    fn every_file_of_the_folder_is_served_and_all_are_small() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/web/page");
        let files = std::fs::read_dir(folder).expect("the folder");
        let names = files.map(|file| file.expect("a file").file_name().into_string());
        let found: BTreeSet<String> = names.map(|name| name.expect("plain text")).collect();
        let served: BTreeSet<String> =
            ASSETS.iter().map(|asset| asset.path.to_string()).collect();
        assert_eq!(found, served);
        let bytes: usize = ASSETS.iter().map(|asset| asset.bytes.len()).sum();
        assert!(bytes < MOST_BYTES, "{bytes} bytes");
    }

    /// A file that names another host would send a request there. Names of XML are no addresses.
    #[test]
    fn no_file_names_another_machine() {
        for asset in ASSETS {
            let text = std::str::from_utf8(asset.bytes).expect("text");
            for (_, address) in text.match_indices("://").map(|(at, _)| text.split_at(at)) {
                assert!(address.starts_with("://www.w3.org/"), "{}: {address:.60}", asset.path);
            }
        }
    }
}
