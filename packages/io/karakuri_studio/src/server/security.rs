//! Who may talk to the studio.
//!
//! Browsers let any page open a WebSocket to this machine, and a name server may point any name at it: each request's
//! `Host`, and its `Origin` if it has one, must be the studio's own. A secret of 128 bits, which only the printed address has,
//! does the rest.

use std::fmt;
use std::net::IpAddr;
use std::path::Path;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use subtle::ConstantTimeEq as _;

use super::shared::Shared;

/// Least length of a token from a file: 128 bits in hexadecimal digits.
const TOKEN_LENGTH: usize = 32;
/// What the page may load: itself, and nothing of others.
const POLICY: &str = "default-src 'self'; connect-src 'self'; img-src 'self' data: blob:; style-src 'self' 'unsafe-inline'; \
                      object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Secret of an address.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

/// Why there is no token.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TokenError {
    /// The system has no random numbers.
    #[error(
        "the system gives no random numbers: {0}; write a token into a file and name it with `--token-file`"
    )]
    Random(getrandom::Error),
    /// The file cannot be read.
    #[error("cannot read the token: {0}")]
    File(#[from] karakuri_files::LoadError),
    /// The token is short or has odd characters.
    #[error(
        "the token has {length} characters; write at least {TOKEN_LENGTH} of letters, digits, `-` and `_`, as `openssl rand -hex 16` does"
    )]
    Weak {
        /// Number of characters.
        length: usize,
    },
}

impl Token {
    /// A token of 128 random bits.
    ///
    /// # Errors
    /// When the system has no random numbers.
    pub fn random() -> Result<Self, TokenError> {
        let mut bytes = [0; TOKEN_LENGTH / 2];
        getrandom::fill(&mut bytes).map_err(TokenError::Random)?;
        Ok(Self(crate::assets::hexadecimal(&bytes)))
    }

    /// The token that is the content of a file.
    ///
    /// # Errors
    /// When the file cannot be read, or its token could be guessed.
    pub fn read(path: &Path) -> Result<Self, TokenError> {
        let text = karakuri_files::read_text(path)?;
        let token = text.trim();
        let is_plain = token.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c));
        if token.len() < TOKEN_LENGTH || !is_plain {
            return Err(TokenError::Weak { length: token.len() });
        }
        Ok(Self(token.to_owned()))
    }
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Logs are read by others.
        f.write_str("Token(..)")
    }
}

/// The secret, and the hosts that the studio is.
#[derive(Debug)]
pub(crate) struct Guard {
    token: Token,
    hosts: Vec<String>,
    /// Whether it listens elsewhere, where its names are not known.
    any_host: bool,
}

impl Guard {
    pub(super) fn new(token: Token, address: Option<IpAddr>, port: u16) -> Self {
        let mut hosts: Vec<String> =
            ["127.0.0.1", "localhost", "[::1]"].map(|host| format!("{host}:{port}")).to_vec();
        match address {
            Some(IpAddr::V6(address)) => hosts.push(format!("[{address}]:{port}")),
            Some(address) => hosts.push(format!("{address}:{port}")),
            None => {}
        }
        Self { token, hosts, any_host: address.is_some_and(|address| !address.is_loopback()) }
    }

    /// Whether a token is the secret, in a time that says nothing of where they differ.
    pub(crate) fn knows(&self, token: &str) -> bool {
        self.token.0.as_bytes().ct_eq(token.as_bytes()).into()
    }

    /// Why a request is refused.
    fn objection(&self, headers: &HeaderMap) -> Option<&'static str> {
        let text = |name: HeaderName| headers.get(name).map(HeaderValue::to_str);
        let Some(Ok(host)) = text(header::HOST) else { return Some("the request has no host") };
        if !self.any_host && !self.hosts.iter().any(|known| known.eq_ignore_ascii_case(host)) {
            return Some("the studio is no host of that name; open the address that it printed");
        }
        // The page is served at the host it asks; programs that are no browsers send no origin.
        let own = [format!("http://{host}"), format!("https://{host}")];
        match text(header::ORIGIN) {
            None => None,
            Some(Ok(origin)) if own.iter().any(|own| own.eq_ignore_ascii_case(origin)) => None,
            Some(_) => Some("pages of other origins are not let in"),
        }
    }
}

/// Refuses requests of strangers, and tells browsers what the answer is not.
pub(super) async fn check(State(shared): State<Shared>, request: Request, next: Next) -> Response {
    let mut response = match shared.guard.objection(request.headers()) {
        Some(objection) => (StatusCode::FORBIDDEN, format!("{objection}\n")).into_response(),
        None => next.run(request).await,
    };
    let headers = response.headers_mut();
    let mut set = |name, value| headers.insert(name, HeaderValue::from_static(value));
    set(header::CONTENT_SECURITY_POLICY, POLICY);
    set(header::X_CONTENT_TYPE_OPTIONS, "nosniff");
    set(header::REFERRER_POLICY, "no-referrer");
    set(HeaderName::from_static("cross-origin-resource-policy"), "same-origin");
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guard(address: Option<IpAddr>) -> Guard {
        Guard::new(Token("0123456789abcdef0123456789abcdef".to_owned()), address, 8080)
    }

    fn headers(host: &str, origin: Option<&str>) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, host.parse().unwrap());
        if let Some(origin) = origin {
            headers.insert(header::ORIGIN, origin.parse().unwrap());
        }
        headers
    }

    #[test]
    fn only_its_own_hosts_and_origins_are_let_in() {
        let guard = guard(None);
        let let_in =
            |host: &str, origin: Option<&str>| guard.objection(&headers(host, origin)).is_none();
        for host in ["127.0.0.1:8080", "localhost:8080", "[::1]:8080", "LOCALHOST:8080"] {
            assert!(let_in(host, None), "{host}");
            assert!(let_in(host, Some(&format!("http://{host}"))), "{host}");
        }
        for host in
            ["evil.example:8080", "127.0.0.1", "127.0.0.1:80", "127.0.0.1.evil.example:8080"]
        {
            assert!(!let_in(host, None), "{host}");
        }
        for origin in
            ["http://evil.example", "null", "http://127.0.0.1:8081", "http://localhost:8080"]
        {
            assert!(!let_in("127.0.0.1:8080", Some(origin)), "{origin}");
        }
        assert!(guard.objection(&HeaderMap::new()).is_some());
    }

    #[test]
    fn tokens_are_random_and_compared_whole() {
        let token = Token::random().unwrap();
        assert_eq!(token.0.len(), TOKEN_LENGTH);
        assert_ne!(token, Token::random().unwrap());
        assert_eq!(format!("{token:?}"), "Token(..)");
        let guard = guard(None);
        assert!(guard.knows("0123456789abcdef0123456789abcdef"));
        for wrong in ["", "0123456789abcdef0123456789abcdee", "0123456789abcdef0123456789abcdef0"] {
            assert!(!guard.knows(wrong));
        }
    }

    #[test]
    fn weak_tokens_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("token");
        std::fs::write(&file, "secret\n").unwrap();
        let error = Token::read(&file).unwrap_err().to_string();
        assert!(error.starts_with("the token has 6 characters; write at least 32"), "{error}");
        std::fs::write(&file, "0123456789abcdef0123456789abcdef\n").unwrap();
        assert_eq!(Token::read(&file).unwrap().0.len(), 32);
    }
}
