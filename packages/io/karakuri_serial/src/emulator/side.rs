//! A second entrance to an emulator, past the bus: the truth about its servos, faults, and a hand that turns shafts.
//!
//! A Unix socket takes a request a line and answers each with a line of JSON, the state after it or `{"error": "..."}`:
//!
//! ```text
//! "state"                                          nothing but the answer
//! {"fault": "drop=0.1"}                            switches a fault on; names as on the command line
//! {"clear": "drop"}                                switches faults of this name off; "all" for all
//! {"turn": {"id": 1, "position_rad": 0.3}}         turns a shaft by hand
//! {"stops": {"id": 9, "least_rad": 0, "greatest_rad": 0.4}}   puts something hard in the shaft's path
//! {"watch": {"period_s": 0.02}}                    the state again and again, from now on; 0 ends it
//! ```

use std::fs;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::emulation::Emulation;
use super::fault::{Fault, FaultError};
use super::run::RunError;
use super::servo::{Alarm, Servo};

/// A partner that reads so little of what it asked for is left. [byte]
const LARGEST_BACKLOG: usize = 1 << 20;
/// Longest request. [byte]
const LONGEST_REQUEST: usize = 4096;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum Request {
    State,
    Fault(String),
    Clear(String),
    Turn(Turn),
    Stops(Stops),
    Watch(Watch),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Turn {
    id: u8,
    position_rad: f64,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stops {
    id: u8,
    least_rad: f64,
    greatest_rad: f64,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Watch {
    period_s: f64,
}

#[derive(Debug, Serialize)]
struct State {
    time_s: f64,
    /// By how much the emulated time is behind the machine's clock, of which it leaves out what it cannot keep up with.
    late_s: f64,
    baud: u32,
    faults: Vec<String>,
    /// Root link of the robot that the servos move; null without one.
    robot: Option<RootState>,
    servos: Vec<ServoState>,
    /// What else can move in the scene; empty without one.
    objects: Vec<ObjectState>,
}

#[derive(Debug, Serialize)]
struct ObjectState {
    name: String,
    position_m: [f64; 3],
    orientation_xyzw: [f64; 4],
}

#[derive(Debug, Serialize)]
struct RootState {
    position_m: [f64; 3],
    orientation_xyzw: [f64; 4],
    has_fallen: bool,
    is_held: bool,
}

#[derive(Debug, Serialize)]
struct ServoState {
    id: u8,
    board: usize,
    torque_on: bool,
    goal_rad: f64,
    /// Largest step between two goals that it has accepted while its torque was on, the first from where it was.
    largest_goal_step_rad: f64,
    position_rad: f64,
    velocity_rad_per_s: f64,
    effort_nm: f64,
    current_a: f64,
    temperature_c: f64,
    voltage_v: f64,
    alarms: Vec<&'static str>,
}

#[derive(Debug, thiserror::Error)]
enum RequestError {
    #[error(
        "{0}; write one of \"state\", {{\"fault\": \"NAME=VALUE\"}}, {{\"clear\": \"NAME\"}}, {{\"turn\": ...}}, {{\"stops\": ...}}, {{\"watch\": ...}}"
    )]
    Json(#[from] serde_json::Error),
    #[error(transparent)]
    Fault(#[from] FaultError),
    #[error("fault `{name}` is not on; on are: {on}")]
    NotOn { name: String, on: String },
    #[error("there is no servo {id}; servos are {known:?}")]
    NoServo { id: u8, known: Vec<u8> },
    #[error("nobody listens on in a call; ask for the \"state\" again and again")]
    WatchInCall,
    #[error("`{field}` is {value}; write a number {range}")]
    Number { field: &'static str, value: f64, range: &'static str },
}

/// When something is asked.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moment {
    /// Emulated time. [s]
    pub(crate) now: f64,
    /// By how much that is behind the machine's clock. [s]
    pub(crate) late: f64,
}

/// The socket and who has connected to it.
#[derive(Debug)]
pub(crate) struct SideChannel {
    path: PathBuf,
    listener: UnixListener,
    partners: Vec<Partner>,
}

#[derive(Debug)]
struct Partner {
    stream: UnixStream,
    input: Vec<u8>,
    output: Vec<u8>,
    /// When it gets the next state and the time between two. [s]
    watch: Option<[f64; 2]>,
    is_gone: bool,
}

impl SideChannel {
    /// Listens at `path`, in the place of a socket that nobody listens at any more.
    pub(crate) fn open(path: &Path) -> Result<Self, RunError> {
        let failed = |source| RunError::Side { path: path.to_owned(), source };
        let listener = match UnixListener::bind(path) {
            Err(error) if error.kind() == ErrorKind::AddrInUse => {
                match UnixStream::connect(path) {
                    Err(error) if error.kind() == ErrorKind::ConnectionRefused => {}
                    _ => return Err(failed(error)),
                }
                fs::remove_file(path).map_err(failed)?;
                UnixListener::bind(path)
            }
            other => other,
        };
        let listener = listener.map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        Ok(Self { path: path.to_owned(), listener, partners: Vec::new() })
    }

    /// What becomes readable when partners come or write.
    pub(crate) fn sources(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        let partners = self.partners.iter().map(|partner| partner.stream.as_fd());
        std::iter::once(self.listener.as_fd()).chain(partners)
    }

    /// When the next state is due. [s]
    pub(crate) fn next_time(&self) -> Option<f64> {
        self.partners
            .iter()
            .filter_map(|partner| partner.watch.map(|[next, _]| next))
            .reduce(f64::min)
    }

    /// Answers requests and sends states that are due.
    pub(crate) fn serve(&mut self, emulation: &mut Emulation, at: Moment) {
        while let Ok((stream, _)) = self.listener.accept() {
            if stream.set_nonblocking(true).is_ok() {
                self.partners.push(Partner {
                    stream,
                    input: Vec::new(),
                    output: Vec::new(),
                    watch: None,
                    is_gone: false,
                });
            }
        }
        for partner in &mut self.partners {
            partner.serve(emulation, at);
        }
        self.partners.retain(|partner| !partner.is_gone);
    }
}

impl Drop for SideChannel {
    fn drop(&mut self) {
        let _gone = fs::remove_file(&self.path);
    }
}

impl Partner {
    fn serve(&mut self, emulation: &mut Emulation, at: Moment) {
        self.is_gone |= self.read().is_err();
        while let Some(end) = self.input.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.input.drain(..=end).collect();
            let answer = self.answer(&line, emulation, at.now);
            self.send(&answer, emulation, at);
        }
        if let Some([next, period]) = self.watch
            && at.now >= next
        {
            self.watch = Some([(next + period).max(at.now), period]);
            self.send(&Ok(()), emulation, at);
        }
        self.is_gone |= self.write().is_err() || self.output.len() > LARGEST_BACKLOG;
    }

    fn read(&mut self) -> io::Result<()> {
        let mut buffer = [0; 1024];
        loop {
            match self.stream.read(&mut buffer) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(n) => self.input.extend_from_slice(&buffer[..n]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            }
            if self.input.len() > LONGEST_REQUEST && !self.input.contains(&b'\n') {
                return Err(ErrorKind::InvalidData.into());
            }
        }
    }

    fn write(&mut self) -> io::Result<()> {
        while !self.output.is_empty() {
            match self.stream.write(&self.output) {
                Ok(n) => drop(self.output.drain(..n)),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn answer(
        &mut self,
        line: &[u8],
        emulation: &mut Emulation,
        now: f64,
    ) -> Result<(), RequestError> {
        match serde_json::from_slice(line)? {
            Request::Watch(watch) => {
                let is_period = |x: f64| x == 0.0 || (0.001..=3600.0).contains(&x);
                let period =
                    within("period_s", watch.period_s, is_period, "from 0.001 to 3600, or 0")?;
                self.watch = (period > 0.0).then_some([now + period, period]);
                Ok(())
            }
            request => obey(request, emulation),
        }
    }

    fn send(&mut self, answer: &Result<(), RequestError>, emulation: &Emulation, at: Moment) {
        self.output.extend(reply(answer, emulation, at));
        self.output.push(b'\n');
    }
}

/// Answers a request that comes without a socket, as a call.
pub(super) fn ask(request: &[u8], emulation: &mut Emulation, at: Moment) -> Vec<u8> {
    let request = serde_json::from_slice(request).map_err(RequestError::from);
    let answer = request.and_then(|request| obey(request, emulation));
    reply(&answer, emulation, at)
}

fn obey(request: Request, emulation: &mut Emulation) -> Result<(), RequestError> {
    match request {
        Request::State => {}
        Request::Fault(text) => emulation.switch_on(text.parse()?),
        Request::Clear(name) => {
            let which = |fault: &Fault| name == "all" || fault.name() == name;
            if emulation.switch_off(&which) == 0 && name != "all" {
                let on: Vec<_> = emulation.faults().iter().map(ToString::to_string).collect();
                return Err(RequestError::NotOn { name, on: on.join(", ") });
            }
        }
        Request::Turn(turn) => {
            let position = within("position_rad", turn.position_rad, f64::is_finite, "of rad")?;
            servo(emulation, turn.id)?.position = position;
        }
        Request::Stops(Stops { id, least_rad, greatest_rad }) => {
            let above = |x: f64| x >= least_rad;
            within("greatest_rad", greatest_rad, above, "of `least_rad` or more")?;
            servo(emulation, id)?.rating.stops = [least_rad, greatest_rad];
        }
        Request::Watch(_) => return Err(RequestError::WatchInCall),
    }
    Ok(())
}

/// A line of JSON: the state, or what is wrong with the request.
fn reply(answer: &Result<(), RequestError>, emulation: &Emulation, at: Moment) -> Vec<u8> {
    let line = match answer {
        Ok(()) => serde_json::to_vec(&state(emulation, at)),
        Err(error) => serde_json::to_vec(&serde_json::json!({ "error": error.to_string() })),
    };
    line.unwrap_or_default()
}

fn within(
    field: &'static str,
    value: f64,
    is_good: impl Fn(f64) -> bool,
    range: &'static str,
) -> Result<f64, RequestError> {
    if is_good(value) { Ok(value) } else { Err(RequestError::Number { field, value, range }) }
}

fn servo(emulation: &mut Emulation, id: u8) -> Result<&mut Servo, RequestError> {
    let known: Vec<u8> = emulation.servos().iter().map(|servo| servo.id).collect();
    let servo = emulation.servos_mut().iter_mut().find(|servo| servo.id == id);
    servo.ok_or(RequestError::NoServo { id, known })
}

fn state(emulation: &Emulation, at: Moment) -> State {
    let servo = |(servo, largest_step): (&Servo, f64)| ServoState {
        id: servo.id,
        board: servo.board,
        torque_on: servo.torque_on,
        goal_rad: servo.goal,
        largest_goal_step_rad: largest_step,
        position_rad: servo.position,
        velocity_rad_per_s: servo.velocity,
        effort_nm: servo.effort,
        current_a: servo.current,
        temperature_c: servo.temperature,
        voltage_v: servo.voltage,
        alarms: Alarm::ALL.iter().filter(|a| servo.is_raised(**a)).map(|a| a.name()).collect(),
    };
    State {
        time_s: at.now,
        late_s: at.late,
        baud: emulation.baud(),
        faults: emulation.faults().iter().map(ToString::to_string).collect(),
        robot: emulation.root().map(|root| RootState {
            position_m: root.position,
            orientation_xyzw: root.orientation,
            has_fallen: root.has_fallen,
            is_held: root.is_held,
        }),
        servos: emulation.servos().iter().zip(emulation.largest_goal_steps()).map(servo).collect(),
        objects: emulation
            .objects()
            .into_iter()
            .map(|object| ObjectState {
                name: object.name,
                position_m: object.position,
                orientation_xyzw: object.orientation,
            })
            .collect(),
    }
}
