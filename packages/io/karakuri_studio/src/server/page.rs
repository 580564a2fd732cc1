//! The page: files that were built into the program, or of a folder.
//!
//! The program has the files that were in `packages/web/studio/dist` when it was compiled, if any: without Node it compiles
//! all the same, and says what is missing.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use axum::extract::State;
use axum::http::{StatusCode, Uri, header};
use axum::response::{IntoResponse as _, Response};
use rust_embed::RustEmbed;

use super::shared::Shared;

/// Files that the build of the page left.
#[derive(RustEmbed)]
#[folder = "../../web/studio/dist"]
#[allow_missing = true]
struct Built;

/// First file of a page.
const INDEX: &str = "index.html";
/// What is said where there is no page.
const MISSING: &str = "This build of karakuri has no studio page: build it with `./dev build` (it needs Node 20 or npm's registry), then start again.\n";

/// Where the page's files are.
#[derive(Debug)]
pub(crate) enum Page {
    /// In the program.
    BuiltIn,
    /// In this folder.
    Folder(PathBuf),
    /// Nowhere.
    Missing,
}

impl Page {
    /// The page of a folder, or else the one in the program.
    pub(super) fn find(folder: Option<&Path>) -> Self {
        match folder.and_then(|folder| folder.canonicalize().ok()) {
            Some(folder) if folder.join(INDEX).is_file() => Self::Folder(folder),
            _ if Built::get(INDEX).is_some() => Self::BuiltIn,
            _ => Self::Missing,
        }
    }

    pub(super) fn is_missing(&self) -> bool {
        matches!(self, Self::Missing)
    }

    fn read(&self, name: &str) -> Option<Cow<'static, [u8]>> {
        match self {
            Self::BuiltIn => Built::get(name).map(|file| file.data),
            Self::Folder(folder) => {
                // A name, or a link, may lead out of the folder.
                let path = folder.join(name).canonicalize().ok()?;
                let inside = path.starts_with(folder);
                inside.then(|| std::fs::read(path).ok().map(Cow::Owned)).flatten()
            }
            Self::Missing => None,
        }
    }
}

pub(super) async fn serve(State(shared): State<Shared>, uri: Uri) -> Response {
    let name = uri.path().trim_start_matches('/');
    let name = if name.is_empty() { INDEX } else { name };
    if shared.page.is_missing() {
        let plain = [(header::CONTENT_TYPE, "text/plain; charset=utf-8")];
        return (StatusCode::NOT_FOUND, plain, MISSING).into_response();
    }
    let Some(bytes) = shared.page.read(name) else {
        return (StatusCode::NOT_FOUND, "there is no such file\n").into_response();
    };
    // Names below `assets/` have a hash of their content.
    let keep = name.starts_with("assets/");
    let cache = if keep { "public, max-age=31536000, immutable" } else { "no-cache" };
    let headers = [(header::CONTENT_TYPE, kind(name)), (header::CACHE_CONTROL, cache)];
    (headers, bytes.into_owned()).into_response()
}

fn kind(name: &str) -> &'static str {
    match name.rsplit_once('.').map(|(_, ending)| ending) {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("json" | "map") => "application/json",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("ico") => "image/x-icon",
        Some("woff2") => "font/woff2",
        Some("wasm") => "application/wasm",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_that_was_built_is_in_the_program() {
        let built = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web/studio/dist").join(INDEX);
        assert_eq!(Page::find(None).is_missing(), !built.is_file());
    }
}
