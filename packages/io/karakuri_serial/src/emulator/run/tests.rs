use std::fs::{self, OpenOptions};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use serde_json::Value;

use super::super::device::{Answers, Bus, Line};
use super::super::servo::{FreeMotion, Rating, Servo};
use super::*;

/// Says every byte again, in capitals.
struct Parrot {
    servos: Vec<Servo>,
}

impl Bus for Parrot {
    fn line(&self) -> Line {
        Line::eight_n_one(38_400)
    }

    fn receive(&mut self, byte: u8, now: f64, answers: &mut Answers) {
        answers.send(now + 1e-3, &[byte.to_ascii_uppercase()]);
    }

    fn advance(&mut self, _now: f64, _answers: &mut Answers) {}

    fn servos(&self) -> &[Servo] {
        &self.servos
    }

    fn servos_mut(&mut self) -> &mut [Servo] {
        &mut self.servos
    }
}

/// A parrot that runs in a thread until it is dropped.
struct Running {
    folder: tempfile::TempDir,
    is_over: Arc<AtomicBool>,
    events: Arc<Mutex<Vec<Event>>>,
    thread: Option<JoinHandle<Result<(), RunError>>>,
}

impl Running {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let entrances =
            Entrances { link: folder.path().join("bus"), side: Some(folder.path().join("side")) };
        let is_over = Arc::new(AtomicBool::new(false));
        let events = Arc::new(Mutex::new(Vec::new()));
        let (over, heard) = (Arc::clone(&is_over), Arc::clone(&events));
        let thread = thread::spawn(move || {
            let servos = vec![Servo::new(1, Rating::SMALL)];
            let mut emulation = Emulation::new(Box::new(Parrot { servos }), Box::new(FreeMotion));
            run(&mut emulation, &entrances, &|| over.load(Ordering::Relaxed), &mut |event| {
                heard.lock().unwrap().push(event.clone());
            })
        });
        let running = Self { folder, is_over, events, thread: Some(thread) };
        running.until("ready", |event| matches!(event, Event::Ready { .. }));
        running
    }

    fn link(&self) -> PathBuf {
        self.folder.path().join("bus")
    }

    /// Opens the port at a baud rate.
    fn open(&self, baud: u32) -> fs::File {
        let file = OpenOptions::new().read(true).write(true).open(self.link()).unwrap();
        let mut attributes = rustix::termios::tcgetattr(&file).unwrap();
        attributes.set_speed(baud).unwrap();
        rustix::termios::tcsetattr(&file, rustix::termios::OptionalActions::Now, &attributes)
            .unwrap();
        file
    }

    /// Waits until an event has come; takes all up to it.
    fn until(&self, what: &str, is_it: impl Fn(&Event) -> bool) {
        let start = Instant::now();
        while start.elapsed() < Duration::from_secs(10) {
            let mut events = self.events.lock().unwrap();
            if let Some(place) = events.iter().position(&is_it) {
                events.drain(..=place);
                return;
            }
            drop(events);
            thread::yield_now();
        }
        panic!("{what} did not come; {:?}", self.events.lock().unwrap());
    }

    fn side(&self) -> BufReader<UnixStream> {
        BufReader::new(UnixStream::connect(self.folder.path().join("side")).unwrap())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        let ended = self.thread.take().map(|thread| thread.join().unwrap());
        assert!(matches!(ended, Some(Ok(()))), "{ended:?}");
        assert!(fs::symlink_metadata(self.link()).is_err(), "the link is gone");
    }
}

fn read(file: &mut fs::File, n: usize) -> String {
    let mut bytes = vec![0; n];
    file.read_exact(&mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

fn ask(side: &mut BufReader<UnixStream>, request: &str) -> Value {
    side.get_mut().write_all(format!("{request}\n").as_bytes()).unwrap();
    next(side)
}

fn next(side: &mut BufReader<UnixStream>) -> Value {
    let mut line = String::new();
    side.read_line(&mut line).unwrap();
    serde_json::from_str(&line).unwrap()
}

#[test]
fn a_program_talks_to_the_bus_and_may_come_back() {
    let running = Running::start();
    for _ in 0..3 {
        let mut port = running.open(38_400);
        port.write_all(b"hello").unwrap();
        assert_eq!(read(&mut port, 5), "HELLO");
        drop(port);
        running.until("closed", |event| *event == Event::Closed);
    }
}

#[test]
fn what_a_program_leaves_unread_is_not_for_the_next() {
    let running = Running::start();
    let mut port = running.open(38_400);
    rustix::termios::ioctl_tiocexcl(&port).unwrap();
    port.write_all(b"old").unwrap();
    while rustix::io::ioctl_fionread(&port).unwrap() < 3 {
        thread::yield_now();
    }
    drop(port);
    running.until("closed", |event| *event == Event::Closed);
    let mut port = running.open(38_400);
    port.write_all(b"new").unwrap();
    assert_eq!(read(&mut port, 3), "NEW");
}

#[test]
fn another_baud_rate_is_not_heard() {
    let running = Running::start();
    let mut port = running.open(1_250_000);
    port.write_all(b"x").unwrap();
    running.until("wrong baud", |event| {
        *event == Event::WrongBaud { host: 1_250_000, devices: 38_400 }
    });
    drop(port);
    let mut port = running.open(38_400);
    port.write_all(b"y").unwrap();
    assert_eq!(read(&mut port, 1), "Y");
}

#[test]
fn bytes_take_their_time() {
    let running = Running::start();
    let mut port = running.open(38_400);
    let start = Instant::now();
    // 200 bytes there, the last of them back: 52 ms on the wire.
    port.write_all(&[b'z'; 200]).unwrap();
    assert_eq!(read(&mut port, 200).len(), 200);
    let taken = start.elapsed().as_secs_f64();
    assert!((0.052..0.5).contains(&taken), "{taken} s");
}

#[test]
fn a_port_that_is_pulled_out_comes_back() {
    let running = Running::start();
    let mut side = running.side();
    ask(&mut side, r#"{"fault": "closed-mid-frame=0.05"}"#);
    let mut port = running.open(38_400);
    port.write_all(b"ab").unwrap();
    // A hang-up is an error of the system or an end of file.
    let mut rest = Vec::new();
    let _error = port.read_to_end(&mut rest);
    assert!(rest.len() <= 1, "{rest:?}");
    running.until("pulled out", |event| matches!(event, Event::PulledOut { .. }));
    running.until("back", |event| matches!(event, Event::Ready { .. }));
    let mut port = running.open(38_400);
    port.write_all(b"c").unwrap();
    assert_eq!(read(&mut port, 1), "C");
}

#[test]
fn the_side_channel_tells_and_disturbs() {
    let running = Running::start();
    let mut side = running.side();
    let state = ask(&mut side, "\"state\"");
    assert_eq!(
        (&state["late_s"], &state["servos"][0]["largest_goal_step_rad"]),
        (&0.0.into(), &0.0.into())
    );
    assert_eq!(state["servos"][0]["position_rad"], 0.0);
    assert_eq!(state["baud"], 38_400);
    let state = ask(&mut side, r#"{"turn": {"id": 1, "position_rad": 0.5}}"#);
    assert_eq!(state["servos"][0]["position_rad"], 0.5);
    assert_eq!(ask(&mut side, r#"{"fault": "drop=0.5"}"#)["faults"][0], "drop=0.5");
    assert_eq!(ask(&mut side, r#"{"clear": "drop"}"#)["faults"].as_array().unwrap().len(), 0);
    let first = ask(&mut side, r#"{"watch": {"period_s": 0.005}}"#);
    let second = next(&mut side);
    assert!(second["time_s"].as_f64() > first["time_s"].as_f64());
}

#[test]
fn the_side_channel_answers_nonsense_by_a_sentence() {
    let running = Running::start();
    let mut side = running.side();
    for (request, expected) in [
        ("{", "EOF while parsing"),
        (r#"{"fault": "dorp"}"#, "there is no fault `dorp`; write one of drop,"),
        (r#"{"clear": "drop"}"#, "fault `drop` is not on; on are: "),
        (r#"{"turn": {"id": 7, "position_rad": 0}}"#, "there is no servo 7; servos are [1]"),
        (
            r#"{"watch": {"period_s": -1}}"#,
            "`period_s` is -1; write a number from 0.001 to 3600, or 0",
        ),
        (
            r#"{"stops": {"id": 1, "least_rad": 1, "greatest_rad": 0}}"#,
            "`greatest_rad` is 0; write a number of `least_rad` or more",
        ),
    ] {
        let answer = ask(&mut side, request);
        let error = answer["error"].as_str().unwrap_or_default();
        assert!(error.starts_with(expected), "{request}: {answer}");
    }
}

#[test]
fn only_links_are_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let link = folder.path().join("bus");
    let terminal = |link: &Path| Pty::open(link).map(|pty| pty.terminal().to_owned());
    std::os::unix::fs::symlink("/nowhere", &link).unwrap();
    let first = Pty::open(&link).unwrap();
    assert_eq!(fs::read_link(&link).unwrap(), first.terminal());
    let second = Pty::open(&link).unwrap();
    drop(first);
    assert_eq!(fs::read_link(&link).unwrap(), second.terminal(), "the link of another stays");
    drop(second);
    fs::write(&link, "a file").unwrap();
    let error = terminal(&link).unwrap_err().to_string();
    assert!(error.ends_with("exists and is no link; name another place for the link"), "{error}");
    let error = terminal(&folder.path().join("no/bus")).unwrap_err().to_string();
    assert!(error.contains("name one in a folder that exists"), "{error}");
}

fn ago(seconds: f64) -> Instant {
    Instant::now().checked_sub(Duration::from_secs_f64(seconds)).unwrap()
}

#[test]
fn time_goes_slower_where_it_cannot_be_kept_up_with() {
    let mut clock = super::Clock { start: ago(0.05), ..super::Clock::start() };
    let turns = std::iter::repeat_with(|| clock.tick()).take(50).collect::<Vec<_>>();
    assert!(turns.windows(2).all(|two| two[1] - two[0] < 1.001 * super::TURN), "{turns:?}");
    assert!((turns[49] - 0.05).abs() < 0.002, "a short lag is made up for: {turns:?}");
    assert_eq!((clock.behind, clock.lag()), (0.0, None));
    clock.start = ago(3.0);
    clock.tick();
    assert!((clock.now() - 0.15).abs() < 0.02, "a long one is left out: {}", clock.now());
    clock.leave_out(super::LARGEST_LAG_OF_REQUEST);
    assert!(clock.now() - clock.last < 0.02, "and all of it where a request waits");
    let Some(Event::Lags { pace, behind_s }) = clock.lag() else { panic!("silent") };
    assert!((pace - 0.02).abs() < 0.01 && (behind_s - 2.95).abs() < 0.05, "{pace} {behind_s}");
    assert_eq!(clock.lag(), None, "not again at once");
}

#[test]
fn a_request_waits_until_a_lag_is_made_up_for_if_that_is_soon() {
    let mut clock = Clock { start: ago(0.09), ..Clock::start() };
    clock.tick();
    assert!(!clock.takes_requests(), "it is 89 ms behind");
    while !clock.takes_requests() {
        clock.tick();
    }
    assert!(clock.now() - clock.last < 0.02 && clock.behind == 0.0, "nothing is left out");
    clock.start = ago(0.2);
    let from = processor_time();
    while !clock.takes_requests() {
        assert!(
            processor_time() < from + 2 * CATCHING_UP,
            "a world that never catches up is silent"
        );
    }
    assert!(processor_time() >= from + CATCHING_UP);
}
