//! The thread of the simulation: it steps as time goes by, and does what it is ordered between steps.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, TryRecvError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::simulation::{SetReport, Simulation, Start};
use crate::server::Outbox;
use crate::session::input::Input;
use crate::wire::{
    Code, Grab, Parameter, ParameterValue, Recording, RunPhase, RunState, ScriptState,
    SnapshotReport, WireError,
};

/// Time between frames.
const FRAME: Duration = Duration::from_micros(16_667);
/// Least time between news of scripts while the simulation runs.
const NEWS: Duration = Duration::from_millis(100);
/// Longest time of steps without a look at the orders: *Pause* acts within it, and one step.
const LOOK: Duration = Duration::from_millis(5);
/// Longest time that an order waits: far longer than any step.
const PATIENCE: Duration = Duration::from_secs(5);
/// Delay after which the simulation no longer tries to catch up.
const LATE: Duration = Duration::from_millis(100);

/// The clients that see the frames.
#[derive(Debug, Clone, Default)]
pub(crate) struct Audience(Arc<Mutex<Vec<Arc<Outbox>>>>);

impl Audience {
    /// Lets these clients see the frames, and no others.
    pub(crate) fn set(&self, outboxes: Vec<Arc<Outbox>>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = outboxes;
    }

    /// Shows frames to all.
    pub(crate) fn show(&self, frames: &[Vec<u8>]) {
        for outbox in self.0.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            outbox.show(frames.to_vec());
        }
    }

    /// Whether nobody looks.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    /// Shows a frame of another source, as of the robot, beside those of the simulation.
    pub(crate) fn show_beside(&self, frame: &[u8]) {
        for outbox in self.0.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            outbox.show_beside(frame.to_vec());
        }
    }
}

/// Orders to the simulation; each is answered.
#[derive(Debug)]
pub(crate) enum Order {
    /// Goes on, at this speed.
    Run(Option<f64>),
    /// Says how it is.
    State,
    /// Stands still.
    Pause,
    /// Makes some steps while it stands still.
    Step(u32),
    /// Lists parameters.
    Parameters(String),
    /// Sets a parameter.
    Set(String, ParameterValue),
    /// Says which parameters differ.
    Changed,
    /// Remembers the state.
    Snapshot,
    /// Goes back.
    Restore(Option<u32>, Option<f64>),
    /// Pushes a part.
    Push {
        /// Name of the part.
        part: String,
        /// Force. [N] (3)
        force: [f64; 3],
        /// Duration. [s]
        duration: Option<f64>,
    },
    /// Pulls a part.
    Grab(Grab),
    /// Lets go.
    Release,
    /// Begins or ends a recording.
    Record(bool),
    /// Says how the scripts are.
    Scripts,
}

/// Answers to orders.
#[derive(Debug)]
pub(crate) enum Answer {
    /// The run.
    State(RunState),
    /// Parameters.
    Parameters(Vec<Parameter>),
    /// Value before, and the parameter now.
    Set(SetReport),
    /// Names and values.
    Changed(Vec<(String, f64)>),
    /// Snapshot.
    Snapshot(SnapshotReport),
    /// Recording.
    Recording(Recording),
    /// Scripts.
    Scripts(Vec<ScriptState>),
}

type Letter = (Order, SyncSender<Result<Answer, WireError>>);

/// A simulation in its thread; it ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Runner {
    orders: Option<Sender<Letter>>,
    thread: Option<JoinHandle<()>>,
}

impl Runner {
    /// Begins a simulation, standing still.
    pub(crate) fn start(
        start: Start,
        audience: Audience,
        news: Sender<Input>,
    ) -> Result<Self, WireError> {
        let simulation = Simulation::new(start)?;
        let (orders, letters) = std::sync::mpsc::channel();
        let thread = std::thread::Builder::new()
            .name("studio-run".to_owned())
            .spawn(move || {
                let phase = RunPhase::Paused;
                let mut run = Run { simulation, audience, news, phase, speed: 1.0 };
                run.serve(&letters);
            })
            .map_err(|error| WireError::new(Code::Failed, error.to_string(), "free memory"))?;
        Ok(Self { orders: Some(orders), thread: Some(thread) })
    }

    /// Tells the simulation something, and waits for its answer.
    pub(crate) fn ask(&self, order: Order) -> Result<Answer, WireError> {
        let gone = || WireError::new(Code::Failed, "the simulation has ended", "run it again");
        let (reply, answer) = std::sync::mpsc::sync_channel(1);
        let orders = self.orders.as_ref().ok_or_else(gone)?;
        orders.send((order, reply)).map_err(|_| gone())?;
        answer.recv_timeout(PATIENCE).map_err(|_| gone())?
    }
}

impl Drop for Runner {
    fn drop(&mut self) {
        self.orders = None;
        if let Some(thread) = self.thread.take() {
            let _panicked = thread.join();
        }
    }
}

struct Run {
    simulation: Simulation,
    audience: Audience,
    news: Sender<Input>,
    phase: RunPhase,
    speed: f64,
}

impl Run {
    fn serve(&mut self, letters: &Receiver<Letter>) {
        self.show();
        self.tell_of_scripts();
        loop {
            let letter = match self.phase {
                RunPhase::Running => match self.run(letters) {
                    Some(letter) => Some(letter),
                    None => continue,
                },
                _ => letters.recv().ok(),
            };
            let Some((order, reply)) = letter else { return };
            let answer = self.obey(order);
            // Whoever asked may have lost patience.
            let _late = reply.send(answer);
        }
    }

    /// Steps until an order comes; `None` where the run came to its end by itself.
    fn run(&mut self, letters: &Receiver<Letter>) -> Option<Letter> {
        let mut anchor = (Instant::now(), self.simulation.time());
        let (mut next_frame, mut next_news) = (Instant::now(), Instant::now());
        loop {
            let began = Instant::now();
            let mut due = f64::INFINITY;
            if self.speed > 0.0 {
                due = anchor.1 + anchor.0.elapsed().as_secs_f64() * self.speed;
                let late = (due - self.simulation.time()) / self.speed;
                if late > LATE.as_secs_f64() {
                    // Slower than it should be: from here on, rather than ever faster after a delay.
                    anchor = (began, self.simulation.time());
                    due = self.simulation.time() + self.simulation.dt();
                }
            }
            while self.simulation.time() + 0.5 * self.simulation.dt() < due
                && began.elapsed() < LOOK
            {
                if let Err(reason) = self.simulation.step() {
                    self.stop(reason);
                    return None;
                }
            }
            if Instant::now() >= next_frame {
                next_frame = Instant::now() + FRAME;
                self.show();
            }
            if Instant::now() >= next_news {
                next_news = Instant::now() + NEWS;
                self.tell_of_scripts();
            }
            let ahead = self.simulation.time() - due;
            let letter = if self.speed > 0.0 && ahead >= 0.0 {
                let wait = Duration::from_secs_f64((ahead / self.speed).clamp(5e-4, 5e-3));
                letters.recv_timeout(wait).map_err(|e| e == RecvTimeoutError::Disconnected)
            } else {
                letters.try_recv().map_err(|e| e == TryRecvError::Disconnected)
            };
            match letter {
                Ok(letter) => return Some(letter),
                Err(true) => {
                    // Nobody is left to run for.
                    self.phase = RunPhase::Paused;
                    return None;
                }
                Err(false) => {}
            }
        }
    }

    fn stop(&mut self, reason: String) {
        self.phase = RunPhase::Paused;
        self.show();
        self.tell_of_scripts();
        let state = RunState { error: reason, ..self.state() };
        // A session that has ended needs no news.
        let _ended = self.news.send(Input::Run(state));
    }

    fn show(&mut self) {
        let frames = self.simulation.frames();
        self.audience.show(&frames);
    }

    fn tell_of_scripts(&mut self) {
        if self.simulation.take_script_news() {
            // A session that has ended needs no news.
            let _ended = self.news.send(Input::Scripts);
        }
    }

    fn state(&self) -> RunState {
        self.simulation.state(self.phase, self.speed)
    }

    fn obey(&mut self, order: Order) -> Result<Answer, WireError> {
        let simulation = &mut self.simulation;
        match order {
            Order::Run(speed) => {
                if let Some(speed) = speed {
                    if !(speed >= 0.0 && speed.is_finite()) {
                        let hint = "write 1 for real time, 0 for as fast as it goes";
                        let text = format!("a speed of {speed}");
                        return Err(WireError::new(Code::Limit, text, hint).at("speed"));
                    }
                    self.speed = speed;
                }
                self.phase = RunPhase::Running;
            }
            Order::State => {}
            Order::Pause => {
                self.phase = RunPhase::Paused;
                self.show();
                self.tell_of_scripts();
            }
            Order::Step(steps) => {
                self.phase = RunPhase::Paused;
                let began = Instant::now();
                for _ in 0..steps {
                    simulation.step().map_err(|reason| {
                        WireError::new(Code::Failed, reason, "go back to a snapshot")
                    })?;
                    if began.elapsed() > PATIENCE / 2 {
                        break;
                    }
                }
                self.show();
                self.tell_of_scripts();
            }
            Order::Parameters(prefix) => {
                return Ok(Answer::Parameters(simulation.parameters(&prefix)));
            }
            Order::Set(name, value) => {
                return Ok(Answer::Set(simulation.set(&name, &value)?));
            }
            Order::Changed => return Ok(Answer::Changed(simulation.changed().collect())),
            Order::Snapshot => return Ok(Answer::Snapshot(simulation.snapshot())),
            Order::Restore(id, time) => {
                let report = simulation.restore(id, time)?;
                self.show();
                self.tell_of_scripts();
                return Ok(Answer::Snapshot(report));
            }
            Order::Push { part, force, duration } => simulation.push(&part, force, duration)?,
            Order::Grab(grab) => simulation.grab(&grab)?,
            Order::Release => simulation.release(),
            Order::Record(on) => return Ok(Answer::Recording(simulation.record(on))),
            Order::Scripts => return Ok(Answer::Scripts(simulation.scripts().states())),
        }
        Ok(Answer::State(self.state()))
    }
}
