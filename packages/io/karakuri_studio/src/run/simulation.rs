//! A world, the motion that its robot plays, and what users do to it.

use karakuri_dynamics::center_of_mass;
use karakuri_physics::{Ledger, Owner, Push, StepOutcome, World, WorldSettings};
use karakuri_spatial::{Force, Vector3};

use super::grab::{self, Pulled};
use super::parameters::{self, Number, Setting};
use super::playback::Playback;
use super::recording::Recorder;
use super::snapshots::{Snapshots, digest};
use crate::script::Scripts;
use crate::stage::world_numbers;
use crate::wire::frame::{Header, Kind, encode};
use crate::wire::{
    Code, Grab, Parameter, ParameterValue, Recording, RunPhase, RunState, SnapshotReport, WireError,
};

/// Duration of a push if none is given. [s]
const PUSH_TIME: f64 = 0.1;
/// Quantities that are plotted of every run.
const PLOTS: [&str; 7] = [
    "energy.kinetic_J",
    "energy.potential_J",
    "energy.work_J",
    "com.x_m",
    "com.y_m",
    "com.z_m",
    "contacts",
];

/// What a simulation begins with.
#[derive(Debug)]
pub(crate) struct Start {
    /// World at time zero.
    pub(crate) world: World,
    /// Number of the stage that it is of.
    pub(crate) stage: u16,
    /// What the first robot plays.
    pub(crate) playback: Option<Playback>,
    /// Scripts that are allowed.
    pub(crate) scripts: Scripts,
    /// Parameters of the document, set before the first step.
    pub(crate) parameters: Vec<(String, f64)>,
}

/// A parameter that was set.
#[derive(Debug)]
pub(crate) struct SetReport {
    /// Value that it had.
    pub(crate) before: f64,
    /// The parameter as it is now.
    pub(crate) parameter: Parameter,
    /// Parameters that changed with it, as moments of inertia do with the mass.
    pub(crate) followers: Vec<Parameter>,
}

/// A simulation.
#[derive(Debug)]
pub(crate) struct Simulation {
    world: World,
    /// World as the scene has it, for the values of parameters.
    initial: World,
    numbers: Vec<Number>,
    stage: u16,
    playback: Option<Playback>,
    scripts: Scripts,
    snapshots: Snapshots,
    pulled: Option<Pulled>,
    recorder: Option<Recorder>,
    /// Scratch of state frames.
    row: Vec<f64>,
}

impl Simulation {
    /// Begins at time zero.
    pub(crate) fn new(start: Start) -> Result<Self, WireError> {
        let Start { mut world, stage, playback, scripts, parameters } = start;
        // The page shows what came and went by which cause.
        world.set_settings(WorldSettings { energy_ledger: true, ..*world.settings() });
        let robot = world.robot_ids().next();
        if let (Some(playback), Some(robot)) = (&playback, robot) {
            let rest = vec![0.0; world.robot(robot).model().nv];
            world
                .set_robot_state(robot, &playback.start, &rest)
                .map_err(|error| WireError::from_text(Code::Invalid, &error))?;
            playback.command(&mut world, robot, 0.0);
        }
        let initial = world.clone();
        let mut simulation = Self {
            numbers: parameters::numbers(&world),
            initial,
            world,
            stage,
            playback,
            scripts,
            snapshots: Snapshots::default(),
            pulled: None,
            recorder: None,
            row: Vec::new(),
        };
        simulation.set_all(&parameters)?;
        simulation.scripts.start(&mut simulation.world);
        simulation.tell_parameters();
        simulation.snapshots.tick(&simulation.world, &simulation.scripts);
        Ok(simulation)
    }

    /// Tells the scripts what all parameters are.
    fn tell_parameters(&mut self) {
        for number in &self.numbers {
            if let Some(value) = number.get(&self.world) {
                self.scripts.set_parameter(&number.name, value);
            }
        }
    }

    /// One time step.
    pub(crate) fn step(&mut self) -> Result<(), String> {
        let (robot, time) = (self.world.robot_ids().next(), self.world.time());
        if let (Some(playback), Some(robot)) = (&self.playback, robot) {
            playback.command(&mut self.world, robot, time);
        }
        self.scripts.step(&mut self.world);
        if let StepOutcome::NonFinite { .. } = self.world.step() {
            return Err(self.world.non_finite_report());
        }
        self.snapshots.tick(&self.world, &self.scripts);
        if let Some(mut recorder) = self.recorder.take() {
            let plots = self.plots();
            recorder.add(&self.world, &plots);
            self.recorder = Some(recorder);
        }
        Ok(())
    }

    /// Simulated time. [s]
    pub(crate) fn time(&self) -> f64 {
        self.world.time()
    }

    /// Time step. [s]
    pub(crate) fn dt(&self) -> f64 {
        self.world.settings().dt
    }

    /// The scripts of the run.
    pub(crate) fn scripts(&self) -> &Scripts {
        &self.scripts
    }

    /// Whether a script stopped, or said something, since this was asked last.
    pub(crate) fn take_script_news(&mut self) -> bool {
        self.scripts.take_news()
    }

    /// Frames of the present instant.
    pub(crate) fn frames(&mut self) -> Vec<Vec<u8>> {
        let header = |kind| Header { kind, stream: self.stage, seq: 0, time: self.world.time() };
        let (state, contacts, plots) =
            (header(Kind::State), header(Kind::Contacts), header(Kind::Plots));
        world_numbers(&self.world, &mut self.row);
        let state = encode(state, &self.row);
        let contacts = encode(contacts, &self.contact_numbers());
        let values = self.plots();
        vec![state, contacts, encode(plots, &values)]
    }

    /// Per contact: point, force on the second thing, and the indices of both bodies.
    fn contact_numbers(&self) -> Vec<f64> {
        self.world
            .contacts()
            .flat_map(|c| {
                let [a, b] = [c.a, c.b].map(|owner| self.body_index(owner));
                let (p, f) = (c.position, c.force);
                [p.x, p.y, p.z, f.x, f.y, f.z, a, b]
            })
            .collect()
    }

    /// Index of a thing's body among those of a state frame; -1 of what does not move and is no body.
    fn body_index(&self, owner: Owner) -> f64 {
        let bodies_of = |id| self.world.robot(id).model().bodies.len();
        match owner {
            Owner::Ground => -1.0,
            Owner::Link { robot, frame } => {
                let Some(body) = self.world.robot(robot).model().frames[frame.0].body else {
                    return -1.0;
                };
                let before: usize =
                    self.world.robot_ids().take_while(|id| *id != robot).map(bodies_of).sum();
                (before + body.0) as f64
            }
            Owner::Body(body) => {
                let robots: usize = self.world.robot_ids().map(bodies_of).sum();
                let before = self.world.body_ids().take_while(|id| *id != body).count();
                (robots + before) as f64
            }
        }
    }

    fn plots(&mut self) -> Vec<f64> {
        let energy = self.world.energy();
        let com = match self.world.robot_ids().next() {
            Some(id) => {
                let robot = self.world.robot(id);
                center_of_mass(robot.model(), robot.data())
            }
            None => Vector3::zeros(),
        };
        let contacts = self.world.contacts().count() as f64;
        let work = self.world.work_done();
        let mut values =
            vec![energy.kinetic, energy.potential, work, com.x, com.y, com.z, contacts];
        values.extend(self.world.ledger().causes().map(|(_, joules)| joules));
        values.extend(self.scripts.plots().map(|(_, value)| value));
        values
    }

    /// Names of what is plotted.
    fn plot_names(&self) -> Vec<String> {
        let own = PLOTS.map(str::to_owned).into_iter();
        let causes = Ledger::default().causes().map(|(cause, _)| format!("ledger.{cause}_J"));
        own.chain(causes)
            .chain(self.scripts.plots().map(|(name, _)| format!("script.{name}")))
            .collect()
    }

    /// The run as clients get it.
    pub(crate) fn state(&self, phase: RunPhase, speed: f64) -> RunState {
        RunState {
            phase,
            time: self.world.time(),
            speed,
            motion: self.playback.as_ref().map(|p| p.name.clone()),
            digest: digest(&self.world),
            changed: self.changed().map(|(name, _)| name).collect(),
            stale: false,
            snapshots: self.snapshots.reports(),
            error: String::new(),
            plots: self.plot_names(),
        }
    }

    /// Parameters that differ from the scene's, and their values.
    pub(crate) fn changed(&self) -> impl Iterator<Item = (String, f64)> + '_ {
        let all = parameters::changed(&self.numbers, &self.world, &self.initial);
        all.into_iter().map(|(number, value)| (number.name.clone(), value))
    }

    /// Parameters whose names begin with `prefix`.
    pub(crate) fn parameters(&self, prefix: &str) -> Vec<Parameter> {
        let all = self.numbers.iter().filter(|number| number.name.starts_with(prefix));
        all.map(|number| number.report(&self.world, &self.initial)).collect()
    }

    /// Sets a parameter; returns what it was, it, and those that changed with it.
    pub(crate) fn set(
        &mut self,
        name: &str,
        value: &ParameterValue,
    ) -> Result<SetReport, WireError> {
        let number = find(&self.numbers, name)?.clone();
        let ParameterValue::Number(value) = value else {
            let text = format!("`{name}` is a number");
            return Err(WireError::new(Code::Invalid, text, "write a number").at(name));
        };
        let before = number.get(&self.world).unwrap_or(*value);
        let siblings: Vec<&Number> =
            self.numbers.iter().filter(|n| n.name != name && number.acts_with(n)).collect();
        let earlier: Vec<_> = siblings.iter().map(|n| n.get(&self.world)).collect();
        number.set(&mut self.world, *value)?;
        let report = |n: &Number| n.report(&self.world, &self.initial);
        let moved = siblings.iter().zip(earlier).filter(|(n, was)| n.get(&self.world) != *was);
        let followers = moved.map(|(n, _)| report(n)).collect();
        let set = SetReport { before, parameter: report(&number), followers };
        for one in std::iter::once(&set.parameter).chain(&set.followers) {
            if let ParameterValue::Number(value) = one.value {
                self.scripts.set_parameter(&one.name, value);
            }
        }
        Ok(set)
    }

    fn set_all(&mut self, values: &[(String, f64)]) -> Result<(), WireError> {
        let setting = |(name, value): &(String, f64)| {
            find(&self.numbers, name).map(|number| Setting { number, value: *value })
        };
        let settings = values.iter().map(setting).collect::<Result<Vec<_>, _>>()?;
        parameters::set_all(&mut self.world, &settings)
    }

    /// Remembers the state.
    pub(crate) fn snapshot(&mut self) -> SnapshotReport {
        self.snapshots.take(&self.world, &self.scripts, true)
    }

    /// Goes back to a remembered state; parameters and all go back with it.
    pub(crate) fn restore(
        &mut self,
        id: Option<u32>,
        time: Option<f64>,
    ) -> Result<SnapshotReport, WireError> {
        let Some(kept) = self.snapshots.find(id, time) else {
            let hint = "the run's state lists the snapshots";
            return Err(WireError::new(Code::NotFound, "there is no such snapshot", hint));
        };
        let report = kept.report.clone();
        self.world.restore(&kept.state);
        self.scripts.recall(&kept.memory);
        // A spring of the pointer may not have been there.
        self.pulled = None;
        self.snapshots.forget_after(report.time);
        self.tell_parameters();
        Ok(report)
    }

    /// Pushes a part for a while.
    pub(crate) fn push(
        &mut self,
        part: &str,
        force: [f64; 3],
        duration: Option<f64>,
    ) -> Result<(), WireError> {
        let found = self.world.find_part(part);
        let part = found.map_err(|error| WireError::from_text(Code::NotFound, &error))?;
        let from = self.world.time();
        let wrench = Force { moment: Vector3::zeros(), force: force.into() };
        let until = from + duration.unwrap_or(PUSH_TIME);
        let push = Push { part, point: Vector3::zeros(), wrench, from, until };
        let added = self.world.add_push(push);
        added.map(|_| ()).map_err(|error| WireError::from_text(Code::Invalid, &error))
    }

    /// Pulls a part with a spring.
    pub(crate) fn grab(&mut self, grab: &Grab) -> Result<(), WireError> {
        grab::pull(&mut self.world, &mut self.pulled, grab)
    }

    /// Lets go of what is pulled.
    pub(crate) fn release(&mut self) {
        grab::release(&mut self.world, &mut self.pulled);
    }

    /// Begins a recording, or ends it with its table.
    pub(crate) fn record(&mut self, on: bool) -> Recording {
        match (on, self.recorder.take()) {
            (true, running) => {
                let names = self.plot_names();
                let recorder = running.unwrap_or_else(|| Recorder::new(&self.world, &names));
                let rows = recorder.rows();
                self.recorder = Some(recorder);
                recording(true, rows, None)
            }
            (false, Some(recorder)) => {
                recording(false, recorder.rows(), Some(crate::text_of(recorder.csv().as_bytes())))
            }
            (false, None) => recording(false, 0, None),
        }
    }
}

/// The number of this name.
fn find<'a>(numbers: &'a [Number], name: &str) -> Result<&'a Number, WireError> {
    numbers.iter().find(|number| number.name == name).ok_or_else(|| {
        let text = format!("there is no parameter `{name}`");
        WireError::new(Code::NotFound, text, "`param.get` lists them")
    })
}

fn recording(on: bool, rows: usize, csv: Option<String>) -> Recording {
    Recording { on, n_rows: u32::try_from(rows).unwrap_or(u32::MAX), csv }
}
