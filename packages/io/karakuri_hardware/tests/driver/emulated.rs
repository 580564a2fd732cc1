//! An emulated bus, on a pseudo-terminal by the machine's clock or in this process in virtual time, and a robot whose joints its servos turn.

use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead, BufReader, Write as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use karakuri_hardware::driver::{HardwareFile, OpenError, open, open_on};
use karakuri_hardware::{
    Fault, Health, HealthLevel, JointCommand, RobotIo, RobotLayout, RobotState,
};
use karakuri_model::{
    Drive, JointSpec, Limits, LinkSpec, ModelBuilder, NoAssets, Posture, Source, load,
};
use karakuri_serial::emulator::{
    Bus, Emulation, Entrances, Event, FreeMotion, InProcess, RunError, run,
};
use karakuri_spatial::{Inertia, Matrix3, Vector3};
use serde_json::Value;

/// A chain of hinges.
pub(crate) fn layout(joints: &[&str]) -> RobotLayout {
    let about_com = Matrix3::identity() * 1e-4;
    let solid = Inertia { mass: 0.1, about_com, ..Inertia::ZERO };
    let base = karakuri_model::Base::Fixed(karakuri_spatial::Pose::IDENTITY);
    let mut model = ModelBuilder::new("arm", base).link(LinkSpec::new("base", Inertia::ZERO));
    let mut parent = "base".to_owned();
    for joint in joints {
        let child = format!("{joint}_link");
        let mut hinge = JointSpec::revolute(joint, &parent, &child, Vector3::z());
        hinge.limits = Limits { lower: -2.0, upper: 2.0, velocity: 5.0, effort: 2.0 };
        hinge.drive = Some(Drive { stiffness: 20.0, damping: 1.0 });
        model = model.link(LinkSpec::new(&child, solid)).joint(hinge);
        parent = child;
    }
    RobotLayout::new("arm", Arc::new(model.build().unwrap()))
}

/// A robot of the project, and its own hardware file.
pub(crate) fn robot(name: &str) -> (RobotLayout, HardwareFile) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let (urdf, config) = (format!("{name}.urdf"), format!("{name}.yaml"));
    let [urdf_text, config_text] =
        [root.join("urdf").join(name).join(&urdf), root.join("config").join(&config)]
            .map(|path| fs::read_to_string(path).unwrap());
    let source = Source::urdf(&urdf, &urdf_text).with_config(&config, &config_text);
    let layout = RobotLayout::new(name, Arc::new(load(&source, &mut NoAssets).unwrap().model));
    let file = HardwareFile::read(&root.join("config/hardware").join(&config), &layout).unwrap();
    (layout, file)
}

/// Command of a posture; joints that it leaves out go to 0.
pub(crate) fn command_of(layout: &RobotLayout, posture: &Posture) -> JointCommand {
    let mut command = JointCommand::new(layout);
    command.position.fill(0.0);
    for (body, position) in &posture.positions {
        let index = layout.joints.iter().position(|joint| joint.body == *body).unwrap();
        command.position[index] = *position;
    }
    command
}

/// Names of so many joints.
pub(crate) const NAMES: [&str; 17] = [
    "j1", "j2", "j3", "j4", "j5", "j6", "j7", "j8", "j9", "j10", "j11", "j12", "j13", "j14", "j15",
    "j16", "j17",
];

/// A bus until it is dropped.
pub(crate) struct Emulated {
    folder: tempfile::TempDir,
    line: Line,
}

enum Line {
    Terminal(#[expect(dead_code, reason = "ends the emulator when it is dropped")] Terminal),
    InProcess(InProcess),
}

/// An emulator that runs in a thread.
struct Terminal {
    is_over: Arc<AtomicBool>,
    events: Receiver<Event>,
    thread: Option<JoinHandle<Result<(), RunError>>>,
}

impl Terminal {
    fn start(bus: impl Bus + 'static, folder: &Path) -> Self {
        let entrances = Entrances { link: folder.join("bus"), side: Some(folder.join("side")) };
        let is_over = Arc::new(AtomicBool::new(false));
        let over = Arc::clone(&is_over);
        let (say, events) = channel();
        let thread = thread::spawn(move || {
            run(&mut emulation(bus), &entrances, &|| over.load(Ordering::Relaxed), &mut |event| {
                let _nobody_listens = say.send(event.clone());
            })
        });
        let terminal = Self { is_over, events, thread: Some(thread) };
        terminal.until("ready", |event| matches!(event, Event::Ready { .. }));
        terminal
    }

    fn until(&self, what: &str, is_it: impl Fn(&Event) -> bool) {
        let end = Instant::now() + Duration::from_secs(10);
        while let Ok(event) = self.events.recv_timeout(end - Instant::now()) {
            if is_it(&event) {
                return;
            }
        }
        panic!("{what} did not come");
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        let ended = self.thread.take().map(JoinHandle::join);
        assert!(thread::panicking() || matches!(ended, Some(Ok(Ok(())))), "{ended:?}");
    }
}

fn emulation(bus: impl Bus + 'static) -> Emulation {
    Emulation::new(Box::new(bus), Box::new(FreeMotion))
}

impl Emulated {
    /// On a pseudo-terminal, by the machine's clock: for what is about ports, processes and time.
    pub(crate) fn on_terminal(bus: impl Bus + 'static) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let line = Line::Terminal(Terminal::start(bus, folder.path()));
        Self { folder, line }
    }

    /// In this process, in a time that goes on while a driver waits.
    pub(crate) fn in_process(bus: impl Bus + 'static) -> Self {
        let line = Line::InProcess(InProcess::new(emulation(bus)));
        Self { folder: tempfile::tempdir().unwrap(), line }
    }

    pub(crate) fn link(&self) -> PathBuf {
        self.folder.path().join("bus")
    }

    /// Asks the side channel; its answer.
    pub(crate) fn ask(&self, request: &str) -> Value {
        let line = match &self.line {
            Line::InProcess(line) => line.ask(request),
            Line::Terminal(_) => {
                let stream = UnixStream::connect(self.folder.path().join("side")).unwrap();
                let mut side = BufReader::new(stream);
                side.get_mut().write_all(format!("{request}\n").as_bytes()).unwrap();
                let mut line = String::new();
                side.read_line(&mut line).unwrap();
                line
            }
        };
        let answer: Value = serde_json::from_str(&line).unwrap();
        assert!(answer.get("error").is_none(), "{answer}");
        answer
    }

    /// Lets time pass by itself.
    pub(crate) fn go_on(&self, time: Duration) {
        let end = self.now() + time;
        match &self.line {
            Line::Terminal(_) => {
                while Instant::now() < end {
                    thread::yield_now();
                }
            }
            Line::InProcess(line) => line.sleep_until(end),
        }
    }

    fn now(&self) -> Instant {
        match &self.line {
            Line::Terminal(_) => Instant::now(),
            Line::InProcess(line) => line.now(),
        }
    }

    pub(crate) fn fault(&self, name: &str) {
        self.ask(&format!("{{\"fault\": \"{name}\"}}"));
    }

    pub(crate) fn clear(&self, name: &str) {
        self.ask(&format!("{{\"clear\": \"{name}\"}}"));
    }

    /// A number of each servo.
    pub(crate) fn each(&self, field: &str) -> Vec<f64> {
        let state = self.ask("\"state\"");
        let servos = state["servos"].as_array().unwrap();
        servos.iter().map(|servo| servo[field].as_f64().unwrap()).collect()
    }

    /// Whether each servo has torque.
    pub(crate) fn torque(&self) -> Vec<bool> {
        let state = self.ask("\"state\"");
        let servos = state["servos"].as_array().unwrap();
        servos.iter().map(|servo| servo["torque_on"].as_bool().unwrap()).collect()
    }

    /// Waits until servos have torque, or not.
    pub(crate) fn until_torque(&self, expected: &[bool]) {
        let end = self.now() + Duration::from_secs(5);
        while self.torque() != expected {
            assert!(self.now() < end, "torque is {:?}", self.torque());
            self.go_on(Duration::from_millis(1));
        }
    }

    /// Writes a hardware file for this bus: keys of the file, and a line a joint.
    pub(crate) fn file(&self, keys: &str, servos: &[(&str, String)]) -> PathBuf {
        let mut text = format!("device: {}\n{keys}\nservos:\n", self.link().display());
        for (joint, keys) in servos {
            writeln!(text, "  {joint}: {{{keys}}}").unwrap();
        }
        let path = self.folder.path().join("robot.yaml");
        fs::write(&path, text).unwrap();
        path
    }

    /// Opens a robot on it.
    pub(crate) fn try_open(
        &self,
        keys: &str,
        servos: &[(&str, String)],
    ) -> Result<Box<dyn RobotIo>, OpenError> {
        let joints: Vec<&str> = servos.iter().map(|(joint, _)| *joint).collect();
        let layout = layout(&joints);
        self.open_file(&HardwareFile::read(&self.file(keys, servos), &layout).unwrap(), layout)
    }

    /// Opens the robot of a hardware file that names this bus.
    pub(crate) fn open_file(
        &self,
        file: &HardwareFile,
        layout: RobotLayout,
    ) -> Result<Box<dyn RobotIo>, OpenError> {
        match &self.line {
            Line::Terminal(_) => open(file, layout),
            Line::InProcess(line) => open_on(file, layout, Box::new(line.clone())),
        }
    }

    pub(crate) fn open(&self, keys: &str, servos: &[(&str, String)]) -> Box<dyn RobotIo> {
        self.try_open(keys, servos).unwrap()
    }
}

/// Servos 1 to n of joints j1 to jn.
pub(crate) fn servos(n: u8, keys: &str) -> Vec<(&'static str, String)> {
    (1..=n).map(|id| (NAMES[usize::from(id) - 1], format!("id: {id}{keys}"))).collect()
}

/// Takes samples for a time [s].
pub(crate) fn run_for(io: &mut dyn RobotIo, seconds: f64) {
    let end = io.time() + seconds;
    while io.time() < end {
        io.advance().unwrap();
    }
}

/// Takes samples until something holds, 10 s at most.
pub(crate) fn until(io: &mut dyn RobotIo, what: &str, holds: impl Fn(&dyn RobotIo) -> bool) {
    let end = io.time() + 10.0;
    while !holds(io) {
        assert!(io.time() < end, "{what}: {:?}", io.fault(0));
        io.advance().unwrap();
    }
}

/// Takes samples until a fault has come; its sentence.
pub(crate) fn fault(io: &mut dyn RobotIo) -> String {
    until(io, "no fault", |io| io.fault(0).is_some());
    match io.fault(0) {
        Some(Fault::Device { what }) => what.clone(),
        other => panic!("{other:?}"),
    }
}

/// Where the joints are. [rad]
pub(crate) fn positions(io: &dyn RobotIo) -> Vec<f64> {
    let mut state = RobotState::new(&io.robots()[0]);
    io.read(0, &mut state);
    state.position
}

/// Sends all joints to a position. [rad]
pub(crate) fn command(io: &mut dyn RobotIo, position: f64) {
    let mut command = JointCommand::new(&io.robots()[0]);
    command.position.fill(position);
    io.write(0, &command).unwrap();
}

pub(crate) fn health(io: &dyn RobotIo) -> Vec<Health> {
    let mut health = Vec::new();
    io.health(0, &mut health);
    health
}

/// What the first part says that is not well.
pub(crate) fn complaint(io: &dyn RobotIo, level: HealthLevel) -> String {
    let all = health(io);
    let found = all.iter().find(|health| health.level == level && health.part != all[0].part);
    found.map(|health| format!("{}: {}", health.part, health.what)).unwrap_or_default()
}

/// Whether all servos answer.
pub(crate) fn is_all_there(io: &dyn RobotIo) -> bool {
    health(io).iter().all(|health| !health.what.contains("does not answer; check"))
}
