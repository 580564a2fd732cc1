//! The protocol on standard input and output. Nothing else may write there: logs go to standard error.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures::FutureExt as _;
use futures::future::BoxFuture;
use rmcp::service::{ServerInitializeError, serve_server_with_ct};
use rmcp::transport::io::stdio_pipes;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_util::sync::CancellationToken;

use crate::server::Server;

/// Why the protocol ended.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StdioError {
    /// The client speaks something else.
    #[error("the client did not begin with a request of the protocol: {0}")]
    Start(String),
    /// The server's task ended.
    #[error("the server ended: {0}")]
    Task(#[from] tokio::task::JoinError),
}

/// Serves the client that started this program, until it closes standard input or the server is stopped. The future is boxed, as that of
/// [`HttpServer::serve`](crate::HttpServer::serve).
///
/// # Errors
/// When the client does not speak the protocol.
pub fn serve_stdio(server: Server) -> BoxFuture<'static, Result<(), StdioError>> {
    // Pipes that can be let go: a read of `tokio::io::stdin` would keep the program after its end.
    let (input, output) = stdio_pipes();
    serve_stream(server, input, output).boxed()
}

/// Serves one client at the other ends of two streams.
pub(crate) async fn serve_stream<R, W>(
    server: Server,
    input: R,
    output: W,
) -> Result<(), StdioError>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let stop = server.stop().child_token();
    // `rmcp` waits for the answers of all calls before it cancels them: an arm would move on for that long.
    let gone = stop.child_token();
    let input = Watched { input, gone: gone.clone() };
    let server = server.that_stops_with(gone);
    let service = match serve_server_with_ct(server, (input, output), stop).await {
        Ok(service) => service,
        // Nothing was asked, or nobody waits any more.
        Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => {
            return Ok(());
        }
        Err(error) => return Err(StdioError::Start(error.to_string())),
    };
    service.waiting().await?;
    Ok(())
}

/// Input that says when the client has closed it.
struct Watched<R> {
    input: R,
    gone: CancellationToken,
}

impl<R: AsyncRead + Unpin> AsyncRead for Watched<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let result = ready!(Pin::new(&mut self.input).poll_read(context, buffer));
        if result.is_err() || buffer.filled().len() == before {
            self.gone.cancel();
        }
        Poll::Ready(result)
    }
}
