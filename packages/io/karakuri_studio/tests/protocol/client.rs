//! A client, and a studio to talk to.

use std::collections::VecDeque;
use std::fs::Permissions;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use karakuri_studio::{Board, Listening, RobotLink, Settings, Studio, Token};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::handshake::client::Response;
use tokio_tungstenite::tungstenite::http::HeaderValue;
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::tungstenite::{Error, Message, WebSocket, client};

/// Longest time that an answer takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Kind of a frame of rows.
pub(crate) const CLIP: u8 = 2;

/// A folder with khr1, and a studio that opens a file in it.
pub(crate) struct Place {
    pub(crate) folder: TempDir,
    pub(crate) studio: Option<Studio>,
    pub(crate) port: u16,
    pub(crate) token: String,
    board: Option<Board>,
}

pub(crate) fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

impl Place {
    /// A studio of khr1.
    pub(crate) fn of_khr1() -> Self {
        Self::open("khr1.urdf", |_| {})
    }

    /// A studio of a file, after `prepare` has put things into the folder.
    pub(crate) fn open(file: &str, prepare: impl Fn(&Path)) -> Self {
        let mut place = Self::prepare(prepare);
        place.start(file);
        place
    }

    /// A studio of a file with a robot behind it.
    pub(crate) fn with_link(file: &str, link: Box<dyn RobotLink>, prepare: impl Fn(&Path)) -> Self {
        let mut place = Self::prepare(prepare);
        place.start_with(file, Some(link));
        place
    }

    /// A studio of a file with boards behind a program that stands for `karakuri`.
    pub(crate) fn with_board(file: &str, program: &str, prepare: impl Fn(&Path)) -> Self {
        let mut place = Self::prepare(prepare);
        let (device, path) = ("/dev/board".into(), place.folder.path().join("karakuri"));
        std::fs::write(&path, program).unwrap();
        std::fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
        place.board = Some(Board { device, program: path });
        place.start(file);
        place
    }

    fn prepare(prepare: impl Fn(&Path)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (from, to) in [("urdf/khr1/khr1.urdf", "khr1.urdf"), ("config/khr1.yaml", "khr1.yaml")]
        {
            std::fs::copy(repository().join(from), folder.path().join(to)).unwrap();
        }
        prepare(folder.path());
        Self { folder, studio: None, port: 0, token: String::new(), board: None }
    }

    /// Starts a studio, in place of the last one.
    pub(crate) fn start(&mut self, file: &str) {
        self.start_with(file, None);
    }

    fn start_with(&mut self, file: &str, link: Option<Box<dyn RobotLink>>) {
        self.studio = None;
        let settings = Settings {
            file: self.folder.path().join(file),
            config: None,
            folder: Some(self.folder.path().to_owned()),
            page: None,
            board: self.board.clone(),
        };
        let listening = Listening { address: None, port: 0 };
        let token = Token::random().unwrap();
        let studio = Studio::start(&settings, link, listening, token).unwrap();
        let address = studio.address().to_owned();
        let (host, token) = address.split_once("/#token=").unwrap();
        self.port = host.rsplit_once(':').unwrap().1.parse().unwrap();
        self.token = token.to_owned();
        self.studio = Some(studio);
    }

    /// A connection before `hello`, with these headers in place of the usual ones.
    pub(crate) fn connect(&self, headers: &[(&'static str, &str)]) -> Result<Client, Response> {
        let host = format!("127.0.0.1:{}", self.port);
        let mut request = format!("ws://{host}/ws").into_client_request().unwrap();
        let usual = [("Sec-WebSocket-Protocol", "karakuri.studio.v1")];
        for (name, value) in usual.iter().chain(headers) {
            request.headers_mut().insert(*name, HeaderValue::from_str(value).unwrap());
        }
        let stream = TcpStream::connect(host).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        match client(request, stream) {
            Ok((socket, _)) => Ok(Client {
                socket,
                next: 1,
                events: VecDeque::new(),
                frames: Vec::new(),
                confirms: true,
            }),
            Err(error) => {
                let tokio_tungstenite::tungstenite::HandshakeError::Failure(Error::Http(response)) =
                    error
                else {
                    panic!("{error:?}")
                };
                let (parts, _) = response.into_parts();
                Err(Response::from_parts(parts, None))
            }
        }
    }

    /// A client that has said `hello`, and what it was welcomed with.
    pub(crate) fn client(&self) -> (Client, Value) {
        let mut client = self.connect(&[]).unwrap();
        let welcome = client.ask("hello", json!({ "token": self.token })).unwrap();
        (client, welcome)
    }

    /// Status and head of an HTTP answer, and its body.
    pub(crate) fn get(&self, path: &str, headers: &[(&str, &str)]) -> (String, Vec<u8>) {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut request = format!("GET {path} HTTP/1.1\r\nConnection: close\r\n");
        if !headers.iter().any(|(name, _)| *name == "Host") {
            request += &format!("Host: 127.0.0.1:{}\r\n", self.port);
        }
        for (name, value) in headers {
            request += &format!("{name}: {value}\r\n");
        }
        stream.write_all((request + "\r\n").as_bytes()).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let end = answer.windows(4).position(|w| w == b"\r\n\r\n").unwrap();
        (String::from_utf8_lossy(&answer[..end]).to_lowercase(), answer[end + 4..].to_vec())
    }

    /// Text of a file in the folder.
    pub(crate) fn text(&self, file: &str) -> String {
        std::fs::read_to_string(self.folder.path().join(file)).unwrap()
    }
}

/// A client.
pub(crate) struct Client {
    pub(crate) socket: WebSocket<TcpStream>,
    next: u32,
    /// Events that came meanwhile.
    pub(crate) events: VecDeque<Value>,
    /// Binary frames that came meanwhile.
    pub(crate) frames: Vec<Vec<u8>>,
    /// Whether it confirms frames.
    pub(crate) confirms: bool,
}

impl Client {
    pub(crate) fn send(&mut self, text: String) {
        self.socket.send(Message::Text(text.into())).unwrap();
    }

    /// Asks for something: its result, or the error.
    pub(crate) fn ask(&mut self, op: &str, args: Value) -> Result<Value, Value> {
        let id = self.next;
        self.next += 1;
        self.send(json!({ "id": id, "op": op, "args": args }).to_string());
        self.answer(&json!(id))
    }

    /// Waits for the answer to a request.
    pub(crate) fn answer(&mut self, id: &Value) -> Result<Value, Value> {
        loop {
            let message = self.read().unwrap();
            if message.get("ev").is_some() {
                self.events.push_back(message);
            } else if message["id"] == *id {
                return match message.get("error") {
                    Some(error) => Err(error.clone()),
                    None => Ok(message["result"].clone()),
                };
            }
        }
    }

    /// The next event of a kind that fulfils a condition.
    pub(crate) fn event(&mut self, kind: &str, fits: impl Fn(&Value) -> bool) -> Value {
        let deadline = Instant::now() + PATIENCE;
        loop {
            while let Some(event) = self.events.pop_front() {
                if event["ev"] == kind && fits(&event) {
                    return event;
                }
            }
            assert!(Instant::now() < deadline, "no event {kind}");
            let message = self.read().unwrap();
            if message.get("ev").is_some() {
                self.events.push_back(message);
            }
        }
    }

    /// The next frame of a kind.
    pub(crate) fn frame(&mut self, kind: u8) -> Vec<u8> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(at) = self.frames.iter().position(|frame| frame[0] == kind) {
                return self.frames.drain(..=at).next_back().unwrap();
            }
            assert!(Instant::now() < deadline, "no frame of kind {kind}");
            let message = self.read_any().unwrap();
            self.events.extend(message);
        }
    }

    /// The next text; the error is how it closed.
    pub(crate) fn read(&mut self) -> Result<Value, Option<CloseFrame>> {
        loop {
            if let Some(message) = self.read_any()? {
                return Ok(message);
            }
        }
    }

    fn read_any(&mut self) -> Result<Option<Value>, Option<CloseFrame>> {
        match self.socket.read() {
            Ok(Message::Text(text)) => Ok(Some(serde_json::from_str(&text).unwrap())),
            Ok(Message::Binary(bytes)) => {
                // Rows of a preview are numbered by themselves.
                if self.confirms && bytes[0] != CLIP {
                    let seq = u32::from_le_bytes(bytes[4..8].try_into().unwrap());
                    self.send(json!({ "id": 0, "op": "ack", "args": { "seq": seq } }).to_string());
                }
                self.frames.push(bytes.to_vec());
                Ok(None)
            }
            Ok(Message::Close(frame)) => Err(frame),
            Ok(_) => Ok(None),
            Err(error) => {
                assert!(
                    matches!(
                        error,
                        Error::ConnectionClosed
                            | Error::AlreadyClosed
                            | Error::Protocol(_)
                            | Error::Io(_)
                    ),
                    "{error:?}"
                );
                Err(None)
            }
        }
    }
}

/// Numbers of a frame.
pub(crate) fn numbers(frame: &[u8]) -> Vec<f32> {
    frame[16..].chunks(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect()
}
