//! A client's WebSocket: `hello` first, then requests in, answers, events and frames out.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::State;
use axum::extract::ws::{CloseFrame, Message, WebSocket, WebSocketUpgrade};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use futures::stream::{SplitSink, SplitStream};
use futures::{SinkExt as _, StreamExt as _};
use tokio::sync::Semaphore;
use tokio::time::timeout;

use super::outbox::{Outbox, Outgoing};
use super::shared::Shared;
use crate::session::input::Input;
use crate::wire::{Code, MESSAGE_LIMIT, Operation, PROTOCOL, Request, WireError};

/// Longest time until `hello`. [s]
const HELLO_TIME: Duration = Duration::from_secs(5);
/// Requests of one client that wait for the session: what more it sends waits in its socket.
const WAITING_REQUESTS: usize = 64;
/// Codes of closing: RFC 6455, 7.4, and ours from 4000.
const POLICY_VIOLATION: u16 = 1008;
const TOO_BIG: u16 = 1009;
const UNAUTHORIZED: u16 = 4401;

/// Turns a request into a WebSocket, if it asks for our protocol.
pub(super) async fn upgrade(
    State(shared): State<Shared>,
    headers: HeaderMap,
    upgrade: Result<WebSocketUpgrade, axum::extract::ws::rejection::WebSocketUpgradeRejection>,
) -> Response {
    let upgrade = match upgrade {
        Ok(upgrade) => upgrade,
        Err(rejection) => return rejection.into_response(),
    };
    let asked = headers.get_all(header::SEC_WEBSOCKET_PROTOCOL).iter();
    let knows = asked
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .any(|protocol| protocol.trim() == PROTOCOL);
    if !knows {
        let text = format!("this studio speaks {PROTOCOL}; reload the page\n");
        return (StatusCode::BAD_REQUEST, text).into_response();
    }
    upgrade
        .protocols([PROTOCOL])
        .max_message_size(MESSAGE_LIMIT)
        .max_frame_size(MESSAGE_LIMIT)
        .on_upgrade(move |socket| serve(socket, shared))
}

async fn serve(socket: WebSocket, shared: Shared) {
    let (mut sink, mut stream) = socket.split();
    let (id, name) = match timeout(HELLO_TIME, hello(&mut stream, &shared)).await {
        Ok(Ok(greeting)) => greeting,
        Ok(Err(Refusal { id, error })) => {
            // The client may be gone already.
            let _gone = sink.send(Message::Text(error.reply(id).into())).await;
            return close(&mut sink, UNAUTHORIZED, "hello").await;
        }
        Err(_elapsed) => return close(&mut sink, UNAUTHORIZED, "no hello within 5 s").await,
    };
    let outbox = Arc::new(Outbox::default());
    let join = Input::Join { id, name, outbox: Arc::clone(&outbox) };
    if shared.inputs.send(join).is_err() {
        return;
    }
    let why = tokio::select! {
        why = read(&mut stream, &outbox, &shared) => why,
        why = write(&mut sink, &outbox) => why,
        () = outbox.overflowed() => Some((POLICY_VIOLATION, "the client reads too slowly")),
    };
    // A session that has ended needs no word.
    let _ended = shared.inputs.send(Input::Leave { outbox });
    if let Some((code, reason)) = why {
        // A client that does not read is not waited for.
        let _late = timeout(Duration::from_secs(1), close(&mut sink, code, reason)).await;
    }
}

/// A client that is not let in.
struct Refusal {
    id: Option<u32>,
    error: WireError,
}

/// Waits for `hello`: its id and the name of the client.
async fn hello(
    stream: &mut SplitStream<WebSocket>,
    shared: &Shared,
) -> Result<(u32, String), Refusal> {
    let refuse = |id, text: &str| {
        let hint = "open the address that the studio printed";
        Refusal { id, error: WireError::new(Code::Unauthorized, text, hint) }
    };
    let Some(Ok(Message::Text(text))) = stream.next().await else {
        return Err(refuse(None, "the first message is no `hello`"));
    };
    let request = Request::parse(&text).map_err(|(id, error)| Refusal { id, error })?;
    let Operation::Hello { token, name, .. } = request.operation else {
        return Err(refuse(Some(request.id), "the first message is no `hello`"));
    };
    if !shared.guard.knows(&token) {
        return Err(refuse(Some(request.id), "the token is wrong"));
    }
    Ok((request.id, name.unwrap_or_default()))
}

/// Why a connection ends: code and reason; `None`: the client closed it.
type Ending = Option<(u16, &'static str)>;

async fn read(
    stream: &mut SplitStream<WebSocket>,
    outbox: &Arc<Outbox>,
    shared: &Shared,
) -> Ending {
    let room = Arc::new(Semaphore::new(WAITING_REQUESTS));
    loop {
        let text = match stream.next().await {
            None | Some(Ok(Message::Close(_))) => return None,
            Some(Ok(Message::Text(text))) => text,
            Some(Ok(Message::Binary(_))) => {
                return Some((POLICY_VIOLATION, "clients send texts only"));
            }
            Some(Ok(Message::Ping(_) | Message::Pong(_))) => continue,
            Some(Err(error)) => {
                let is_big = error.to_string().contains("too long");
                return is_big.then_some((TOO_BIG, "a message is longer than 16 MiB"));
            }
        };
        let request = match Request::parse(&text) {
            Ok(request) => request,
            Err((id, error)) => {
                outbox.send(error.reply(id));
                continue;
            }
        };
        if let Operation::Ack { seq } = request.operation {
            outbox.confirm(seq);
            continue;
        }
        let Ok(permit) = Arc::clone(&room).acquire_owned().await else { return None };
        let outbox = Arc::clone(outbox);
        if shared.inputs.send(Input::Request { outbox, request, permit: Some(permit) }).is_err() {
            return Some((POLICY_VIOLATION, "the studio ends"));
        }
    }
}

async fn write(sink: &mut SplitSink<WebSocket, Message>, outbox: &Outbox) -> Ending {
    loop {
        let sent = match outbox.next().await {
            Outgoing::Text(text) => sink.send(Message::Text(text.into())).await,
            Outgoing::Frames(frames) => {
                let mut sent = Ok(());
                for bytes in frames {
                    sent = sent.and(sink.send(Message::Binary(Bytes::from(bytes))).await);
                }
                sent
            }
            // A copy of one part, not of what waits.
            Outgoing::Rows(part) => sink.send(Message::Binary(Bytes::from(part.to_vec()))).await,
            Outgoing::Close(reason) => return Some((POLICY_VIOLATION, reason)),
        };
        if sent.is_err() {
            return None;
        }
    }
}

async fn close(sink: &mut SplitSink<WebSocket, Message>, code: u16, reason: &'static str) {
    let frame = CloseFrame { code, reason: reason.into() };
    // The client may be gone already.
    let _gone = sink.send(Message::Close(Some(frame))).await;
}
