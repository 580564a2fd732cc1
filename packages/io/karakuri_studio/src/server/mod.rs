//! The server: the page, buffers by hash, and the WebSocket.

mod outbox;
mod page;
mod security;
mod shared;
mod socket;

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::sync::mpsc::Sender;

use axum::Router;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware;
use axum::response::{IntoResponse as _, Response};
use axum::routing::{any, get};
use axum::serve::ListenerExt as _;
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};

use crate::assets::Assets;
use crate::link::RobotLink;
use crate::session::input::Input;
use crate::session::{OpenError, Session, Settings};

pub(crate) use outbox::Outbox;
pub use security::{Token, TokenError};

use security::Guard;
use shared::Shared;

/// Why the studio does not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The file cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The system refuses a socket or a thread.
    #[error(
        "cannot listen at {address}: {error}; is another studio running? choose another port with `--port`"
    )]
    Listen {
        /// Address that was asked for.
        address: SocketAddr,
        /// Error of the system.
        error: io::Error,
    },
    /// The system refuses threads or random numbers.
    #[error("cannot start the server: {0}")]
    System(#[from] io::Error),
}

/// Where the studio listens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Listening {
    /// Address; `None`: this machine alone, by both of its loopback addresses.
    pub address: Option<IpAddr>,
    /// Port; 0: any that is free.
    pub port: u16,
}

/// A studio that serves until it is dropped.
#[derive(Debug)]
pub struct Studio {
    runtime: Option<Runtime>,
    session: Option<std::thread::JoinHandle<()>>,
    inputs: Sender<Input>,
    address: String,
    lacks_page: bool,
}

impl Studio {
    /// Opens a file and serves it, with the robot behind it if there is one.
    ///
    /// # Errors
    /// When the file cannot be opened, or the address is taken.
    pub fn start(
        settings: &Settings,
        link: Option<Box<dyn RobotLink>>,
        listening: Listening,
        token: Token,
    ) -> Result<Self, ServeError> {
        let page = page::Page::find(settings.page.as_deref());
        let lacks_page = page.is_missing();
        let assets = Assets::default();
        let (inputs, receiver) = std::sync::mpsc::channel();
        let session = Session::open(settings, link, assets.clone(), inputs.clone())?;
        let runtime = Builder::new_multi_thread()
            .worker_threads(2)
            .thread_name("studio-network")
            .enable_all()
            .build()?;
        let listeners = runtime.block_on(listen(listening))?;
        let port = listeners.first().map_or(0, |(_, address)| address.port());
        let address = match listening.address {
            Some(IpAddr::V6(address)) => format!("http://[{address}]:{port}/#token={token}"),
            Some(address) => format!("http://{address}:{port}/#token={token}"),
            None => format!("http://127.0.0.1:{port}/#token={token}"),
        };
        let shared = Shared {
            guard: Arc::new(Guard::new(token, listening.address, port)),
            assets,
            inputs: inputs.clone(),
            page: Arc::new(page),
        };
        for (listener, _) in listeners {
            let app = router(shared.clone());
            let listener = listener.tap_io(|stream| {
                // Small messages follow each other: with Nagle's algorithm one of them waits 40 ms for a delayed acknowledgement.
                if let Err(error) = stream.set_nodelay(true) {
                    tracing::warn!(
                        "answers may take 40 ms longer: cannot set TCP_NODELAY: {error}"
                    );
                }
            });
            runtime.spawn(async move {
                // It ends with the runtime.
                if let Err(error) = axum::serve(listener, app).await {
                    tracing::error!("the server ended: {error}");
                }
            });
        }
        let session = std::thread::Builder::new()
            .name("studio-session".to_owned())
            .spawn(move || session.run(&receiver))?;
        Ok(Self { runtime: Some(runtime), session: Some(session), inputs, address, lacks_page })
    }

    /// Waits while it serves.
    pub fn wait(&self, time: std::time::Duration) {
        if let Some(runtime) = &self.runtime {
            // Made inside: a timer needs its runtime.
            runtime.block_on(async { tokio::time::sleep(time).await });
        }
    }

    /// Address to open in a browser, with its secret.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Whether this build has no page: only programs that speak the protocol can use it.
    pub fn lacks_page(&self) -> bool {
        self.lacks_page
    }
}

impl Drop for Studio {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
        // A session that has ended already hears nothing.
        let _ended = self.inputs.send(Input::Quit);
        if let Some(session) = self.session.take() {
            let _panicked = session.join();
        }
    }
}

/// Listens at the address, or at both loopback addresses with one port.
async fn listen(listening: Listening) -> Result<Vec<(TcpListener, SocketAddr)>, ServeError> {
    let bind = async |ip: IpAddr, port: u16| {
        let address = SocketAddr::new(ip, port);
        let fail = |error| ServeError::Listen { address, error };
        let listener = TcpListener::bind(address).await.map_err(fail)?;
        let bound = listener.local_addr().map_err(fail)?;
        Ok::<_, ServeError>((listener, bound))
    };
    if let Some(ip) = listening.address {
        return Ok(vec![bind(ip, listening.port).await?]);
    }
    let first = bind(Ipv4Addr::LOCALHOST.into(), listening.port).await?;
    let port = first.1.port();
    let mut all = vec![first];
    // A machine without IPv6, or with something else at that port, has the first alone: the printed address is that.
    all.extend(bind(Ipv6Addr::LOCALHOST.into(), port).await.ok());
    Ok(all)
}

fn router(shared: Shared) -> Router {
    Router::new()
        .route("/ws", any(socket::upgrade))
        .route("/mesh/{hash}", get(mesh))
        .route("/clip/{hash}", get(clip))
        .fallback(get(page::serve))
        .layer(middleware::from_fn_with_state(shared.clone(), security::check))
        .with_state(shared)
}

async fn mesh(
    State(shared): State<Shared>,
    Path(hash): Path<String>,
    headers: HeaderMap,
) -> Response {
    buffer(&shared, &headers, shared.assets.mesh(&hash))
}

async fn clip(
    State(shared): State<Shared>,
    Path(hash): Path<String>,
    headers: HeaderMap,
) -> Response {
    buffer(&shared, &headers, shared.assets.clip(&hash))
}

/// A buffer, which its hash names: it never changes.
fn buffer(shared: &Shared, headers: &HeaderMap, found: Option<Arc<Vec<u8>>>) -> Response {
    let bearer = headers
        .get(header::AUTHORIZATION)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.strip_prefix("Bearer "));
    if !bearer.is_some_and(|token| shared.guard.knows(token)) {
        let how = [(header::WWW_AUTHENTICATE, "Bearer")];
        return (StatusCode::UNAUTHORIZED, how, "the token is missing or wrong\n").into_response();
    }
    let Some(bytes) = found else {
        return (StatusCode::NOT_FOUND, "there is nothing of that hash\n").into_response();
    };
    let kind = [
        (header::CONTENT_TYPE, "application/octet-stream"),
        (header::CACHE_CONTROL, "private, max-age=31536000, immutable"),
    ];
    (kind, bytes.as_ref().clone()).into_response()
}
