//! The protocol over HTTP, on this machine only.
//!
//! Any page may make a browser send requests to this machine, and a name server may point any name at it: `Host` must be a name of
//! the loopback interface, and `Origin`, if there is one, this server's own. Tokens tell principals apart.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse as _, Response};
use futures::FutureExt as _;
use futures::future::BoxFuture;
use rmcp::ServerHandler;
use rmcp::transport::StreamableHttpServerConfig;
use rmcp::transport::streamable_http_server::StreamableHttpService;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::principal::{Principal, Tokens};
use crate::server::Server;

/// Path of the one endpoint.
const PATH: &str = "/mcp";
/// Greatest length of a request: arguments of verbs are a few numbers and names. [B]
const MOST_BYTES: usize = 256 * 1024;
/// How long open answers may take to end, once the server is to end, and again once they are cut off.
const GRACE: Duration = Duration::from_secs(1);

/// Why there is no server.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ListenError {
    /// The address cannot be read.
    #[error(
        "`{address}` is no address: write IP:PORT, as 127.0.0.1:8788; port 0 takes any that is free"
    )]
    Address {
        /// What was given.
        address: String,
    },
    /// Other machines could reach the address.
    #[error(
        "{address} can be reached by other machines: listen at 127.0.0.1 or [::1], and forward the port by ssh"
    )]
    Reachable {
        /// What was given.
        address: SocketAddr,
    },
    /// The system refuses the socket.
    #[error(
        "cannot listen at {address}: {error}; is another server running? choose another port, or 0 for any that is free"
    )]
    System {
        /// What was given.
        address: SocketAddr,
        /// Error of the system.
        error: io::Error,
    },
}

/// A socket that waits for clients.
#[derive(Debug)]
pub struct HttpServer {
    listener: TcpListener,
    address: SocketAddr,
}

impl HttpServer {
    /// Listens at an address of the loopback interface, as `127.0.0.1:8788`; port 0: any that is free.
    ///
    /// # Errors
    /// When the text is no such address, or the port is taken.
    pub async fn bind(address: &str) -> Result<Self, ListenError> {
        let Ok(address) = address.parse::<SocketAddr>() else {
            return Err(ListenError::Address { address: address.to_owned() });
        };
        if !address.ip().is_loopback() {
            return Err(ListenError::Reachable { address });
        }
        let fail = |error| ListenError::System { address, error };
        let listener = TcpListener::bind(address).await.map_err(fail)?;
        let address = listener.local_addr().map_err(fail)?;
        Ok(Self { listener, address })
    }

    /// Address for clients.
    pub fn url(&self) -> String {
        format!("http://{}{PATH}", self.address)
    }

    /// Serves until `stop` fires, the token that the server was made with. The future is boxed: its code is compiled here, and not in
    /// each program that awaits it.
    ///
    /// # Errors
    /// When the system takes the socket away.
    pub fn serve(
        self,
        server: Server,
        tokens: Tokens,
        stop: CancellationToken,
    ) -> BoxFuture<'static, io::Result<()>> {
        self.serve_handler(server, tokens, stop).boxed()
    }

    /// [`Self::serve`] for any handler of `rmcp`.
    ///
    /// # Errors
    /// When the system takes the socket away.
    pub async fn serve_handler<H>(
        self,
        handler: H,
        tokens: Tokens,
        stop: CancellationToken,
    ) -> io::Result<()>
    where
        H: ServerHandler + Clone,
    {
        let cut = CancellationToken::new();
        let service: StreamableHttpService<H, NeverSessionManager> = StreamableHttpService::new(
            move || Ok(handler.clone()),
            Arc::new(NeverSessionManager::default()),
            config(self.address, cut.clone()),
        );
        let app = Router::new()
            .nest_service(PATH, service)
            .layer(middleware::from_fn_with_state(Arc::new(tokens), identify));
        let ended = stop.clone().cancelled_owned();
        let serving = axum::serve(self.listener, app).with_graceful_shutdown(ended).into_future();
        tokio::pin!(serving);
        tokio::select! {
            result = &mut serving => return result,
            () = stop.cancelled() => {}
        }
        // Motions brake and say so, subscriptions say that they end.
        if let Ok(result) = tokio::time::timeout(GRACE, &mut serving).await {
            return result;
        }
        // What a client keeps open must not keep the program.
        cut.cancel();
        tokio::time::timeout(GRACE, serving).await.unwrap_or(Ok(()))
    }
}

fn config(address: SocketAddr, cut: CancellationToken) -> StreamableHttpServerConfig {
    let port = address.port();
    let hosts = ["127.0.0.1", "localhost", "[::1]"].map(|host| format!("{host}:{port}"));
    let origins = hosts.clone().map(|host| format!("http://{host}"));
    StreamableHttpServerConfig::default()
        .with_allowed_hosts(hosts)
        .with_allowed_origins(origins)
        // Also if the list were empty: that alone would switch the check off.
        .enforce_origin_validation()
        // With sessions a client that goes away would cancel nothing.
        .with_legacy_session_mode(false)
        .with_max_request_body_bytes(MOST_BYTES)
        .with_cancellation_token(cut)
}

/// Finds the principal of a request, or refuses it.
async fn identify(State(tokens): State<Arc<Tokens>>, mut request: Request, next: Next) -> Response {
    let Some(principal) = principal_of(&tokens, request.headers()) else {
        let how = [(header::WWW_AUTHENTICATE, "Bearer")];
        return (StatusCode::UNAUTHORIZED, how, "the token is missing or unknown\n")
            .into_response();
    };
    request.extensions_mut().insert(principal);
    next.run(request).await
}

fn principal_of(tokens: &Tokens, headers: &HeaderMap) -> Option<Principal> {
    if tokens.is_empty() {
        return Some(Principal::local());
    }
    let bearer = headers.get(header::AUTHORIZATION)?.to_str().ok()?.strip_prefix("Bearer ")?;
    tokens.find(bearer).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn objection(address: &str) -> String {
        HttpServer::bind(address).await.unwrap_err().to_string()
    }

    #[tokio::test]
    async fn a_wrong_address_is_refused_in_a_sentence() {
        for text in
            ["", "8788", "localhost:8788", "127.0.0.1", "127.0.0.1:99999", "http://127.0.0.1:1"]
        {
            let said = objection(text).await;
            assert!(said.starts_with(&format!("`{text}` is no address: write IP:PORT")), "{said}");
        }
        for text in ["0.0.0.0:0", "[::]:0", "192.0.2.1:8788"] {
            let said = objection(text).await;
            assert!(said.contains("can be reached by other machines"), "{said}");
        }
    }

    #[tokio::test]
    async fn a_port_in_use_is_named() {
        let first = HttpServer::bind("127.0.0.1:0").await.unwrap();
        let said = objection(&first.address.to_string()).await;
        assert!(said.starts_with(&format!("cannot listen at {}: ", first.address)), "{said}");
        assert!(said.ends_with("choose another port, or 0 for any that is free"), "{said}");
    }
}
