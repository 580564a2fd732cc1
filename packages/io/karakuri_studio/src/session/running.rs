//! Requests about the simulation.

use karakuri_files::LoadError;
use serde_json::{Value, json};

use super::keep;
use super::project::refuse_load;
use super::state::{Session, to_value};
use crate::run::{Answer, Order, Runner, SetReport, Start, list_parameters};
use crate::script::Scripts;
use crate::wire::{
    Code, Event, Operation, Parameter, ParameterValue, RunPhase, RunState, WireError,
};

/// A simulation and what it was started with.
#[derive(Debug)]
pub(super) struct Running {
    runner: Runner,
    /// Scene of the document when it started.
    key: String,
    /// Motion that it plays, as it was when it started.
    motion: Option<(String, std::sync::Arc<karakuri_motion::Motion>)>,
    undo: Vec<Change>,
    redo: Vec<Change>,
}

/// A changed parameter.
#[derive(Debug, Clone)]
struct Change {
    name: String,
    before: f64,
    after: f64,
    /// Steps of the document's history when it was changed.
    steps: usize,
}

impl Session {
    /// Does what is asked of the simulation.
    pub(super) fn answer_run(&mut self, operation: &Operation) -> Result<Value, WireError> {
        match operation {
            Operation::Run { motion, speed } => self.run_simulation(motion.as_deref(), *speed),
            Operation::Pause {} => self.order_run(Order::Pause),
            Operation::Step { steps } => {
                if self.running.is_none() {
                    self.start_simulation(None)?;
                }
                self.order_run(Order::Step(steps.unwrap_or(1)))
            }
            Operation::Stop {} => {
                self.running = None;
                let state = RunState::default();
                self.tell(&Event::Run(state.clone()));
                to_value(&state)
            }
            Operation::ParamGet { prefix } => {
                to_value(&self.parameters(prefix.as_deref().unwrap_or(""))?)
            }
            Operation::ParamSet { name, value } => self.set_parameter(name, value),
            Operation::Snapshot {} => {
                let report = to_value(&self.snapshot(Order::Snapshot)?);
                self.tell_run()?;
                report
            }
            Operation::Restore { id, time } => {
                let report = to_value(&self.snapshot(Order::Restore(*id, *time))?);
                if let Some(running) = &mut self.running {
                    // What was changed since is changed no more.
                    running.undo.clear();
                    running.redo.clear();
                }
                self.tell_run()?;
                report
            }
            Operation::Push { part, force, duration } => {
                let (part, force, duration) = (part.clone(), *force, *duration);
                self.order_run(Order::Push { part, force, duration })
            }
            Operation::Grab(grab) => self.order_run(Order::Grab(grab.clone())),
            Operation::Release {} => self.order_run(Order::Release),
            Operation::Record { on } => match self.ask(Order::Record(*on))? {
                Answer::Recording(recording) => to_value(&recording),
                other => Err(unexpected(&other)),
            },
            _ => Err(WireError::new(Code::UnknownOperation, "this is no run's", "")),
        }
    }

    fn run_simulation(
        &mut self,
        motion: Option<&str>,
        speed: Option<f64>,
    ) -> Result<Value, WireError> {
        let other = motion.is_some()
            && self.running.as_ref().is_some_and(|running| {
                running.motion.as_ref().map(|(name, _)| name.as_str()) != motion
            });
        if self.running.is_none() || other {
            self.start_simulation(motion)?;
        }
        self.order_run(Order::Run(speed))
    }

    fn start_simulation(&mut self, motion: Option<&str>) -> Result<(), WireError> {
        let playback = motion.map(|motion| self.playback(motion)).transpose()?;
        let project = &self.project;
        let world = project.scene.world().map_err(|error| refuse_load(&LoadError::from(error)))?;
        let allowed = project
            .document
            .scripts
            .iter()
            .filter(|(_, text)| self.allowed.contains(&crate::script::hash_of(text)));
        let parameters = project.document.parameters.iter();
        let start = Start {
            world,
            stage: project.stage.number,
            playback,
            scripts: Scripts::new(allowed),
            parameters: parameters
                .filter_map(|(name, value)| Some((name.clone(), value.as_f64()?)))
                .collect(),
        };
        // The old one ends before its successor shows anything.
        self.running = None;
        let runner = Runner::start(start, self.clients.audience().clone(), self.inputs.clone())?;
        let motion = motion
            .and_then(|name| Some((name.to_owned(), project.document.motions.get(name)?.clone())));
        let (undo, redo) = (Vec::new(), Vec::new());
        self.running = Some(Running { runner, key: project.scene_key(), motion, undo, redo });
        // Those that stopped in the last run are at their start.
        self.tell_scripts();
        Ok(())
    }

    fn ask(&self, order: Order) -> Result<Answer, WireError> {
        let running = self.running.as_ref().ok_or_else(|| {
            WireError::new(Code::State, "no simulation runs", "start one with `run`")
        })?;
        running.runner.ask(order)
    }

    /// Gives an order whose answer is the state, and tells all.
    fn order_run(&mut self, order: Order) -> Result<Value, WireError> {
        match self.ask(order)? {
            Answer::State(state) => {
                let state = self.with_staleness(state);
                self.tell(&Event::Run(state.clone()));
                to_value(&state)
            }
            other => Err(unexpected(&other)),
        }
    }

    /// The run's state, for a page that opens.
    pub(super) fn run_state(&self) -> RunState {
        match self.ask(Order::State) {
            Ok(Answer::State(state)) => self.with_staleness(state),
            _ => RunState::default(),
        }
    }

    fn with_staleness(&self, state: RunState) -> RunState {
        let project = &self.project;
        let stale = self.running.as_ref().is_some_and(|running| {
            let other_motion = running.motion.as_ref().is_some_and(|(name, motion)| {
                project.document.motions.get(name).is_none_or(|now| now != motion)
            });
            running.key != project.scene_key() || other_motion
        });
        RunState { stale, ..state }
    }

    pub(super) fn tell_run(&self) -> Result<(), WireError> {
        if let Answer::State(state) = self.ask(Order::State)? {
            self.tell(&Event::Run(self.with_staleness(state)));
        }
        Ok(())
    }

    fn snapshot(&self, order: Order) -> Result<crate::wire::SnapshotReport, WireError> {
        match self.ask(order)? {
            Answer::Snapshot(report) => Ok(report),
            other => Err(unexpected(&other)),
        }
    }

    fn parameters(&self, prefix: &str) -> Result<Vec<Parameter>, WireError> {
        if self.running.is_some() {
            return match self.ask(Order::Parameters(prefix.to_owned()))? {
                Answer::Parameters(all) => Ok(all),
                other => Err(unexpected(&other)),
            };
        }
        let world = self.project.scene.world();
        let world = world.map_err(|error| refuse_load(&LoadError::from(error)))?;
        let mut all = list_parameters(&world, &world);
        all.retain(|parameter| parameter.name.starts_with(prefix));
        for parameter in &mut all {
            let kept = self.project.document.parameters.get(&parameter.name);
            if let Some(value) = kept.and_then(Value::as_f64) {
                parameter.value = ParameterValue::Number(value);
            }
        }
        Ok(all)
    }

    fn set_parameter(&mut self, name: &str, value: &ParameterValue) -> Result<Value, WireError> {
        let SetReport { before, parameter, .. } = self.order_parameter(name, value.clone())?;
        if let (Some(running), ParameterValue::Number(after)) =
            (&mut self.running, &parameter.value)
        {
            let (name, after, steps) = (name.to_owned(), *after, self.project.history.undo.len());
            running.redo.clear();
            // A slider that is moved is one change.
            match running.undo.last_mut().filter(|c| c.name == name && c.steps == steps) {
                Some(change) if self.parameter_drag => change.after = after,
                _ => running.undo.push(Change { name, before, after, steps }),
            }
        }
        self.parameter_drag = true;
        to_value(&parameter)
    }

    /// Sets a parameter, and tells all what it and those that follow it are.
    fn order_parameter(
        &mut self,
        name: &str,
        value: ParameterValue,
    ) -> Result<SetReport, WireError> {
        let answer = self.ask(Order::Set(name.to_owned(), value))?;
        let Answer::Set(report) = answer else { return Err(unexpected(&answer)) };
        for parameter in std::iter::once(&report.parameter).chain(&report.followers) {
            self.tell(&Event::Param(parameter.clone()));
        }
        Ok(report)
    }

    /// Takes the last changed parameter back, if nothing of the document was changed since; its name.
    pub(super) fn undo_parameter(&mut self) -> Option<Result<String, WireError>> {
        self.parameter_drag = false;
        let steps = self.project.history.undo.len();
        let running = self.running.as_mut()?;
        let change = running.undo.pop_if(|change| change.steps >= steps)?;
        running.redo.push(change.clone());
        Some(self.put_parameter(&change.name, change.before))
    }

    /// Makes the change of a parameter again that was taken back last.
    pub(super) fn redo_parameter(&mut self) -> Option<Result<String, WireError>> {
        let running = self.running.as_mut()?;
        let change = running.redo.pop()?;
        running.undo.push(change.clone());
        Some(self.put_parameter(&change.name, change.after))
    }

    fn put_parameter(&mut self, name: &str, value: f64) -> Result<String, WireError> {
        self.order_parameter(name, ParameterValue::Number(value))?;
        Ok(name.to_owned())
    }

    /// Takes the changed parameters into the document, as one step.
    pub(super) fn keep_parameters(&mut self, client: &str) -> Result<Value, WireError> {
        let Answer::Changed(changed) = self.ask(Order::Changed)? else {
            return Err(WireError::new(Code::Failed, "the simulation gave no answer", ""));
        };
        if changed.is_empty() {
            return Err(WireError::new(Code::State, "no parameter differs", "change one first"));
        }
        let ops = keep::operations(&self.project, &changed)?;
        let kept = self.edit(client, &ops, Some("keep parameters".to_owned()))?;
        if let Some(running) = &mut self.running {
            // They are the document's now: undo takes them out of it.
            running.undo.clear();
            running.redo.clear();
            running.key = self.project.scene_key();
        }
        Ok(kept)
    }

    /// News of a run that ended by itself.
    pub(super) fn run_news(&mut self, state: RunState) {
        if self.running.is_some() {
            debug_assert_ne!(state.phase, RunPhase::Running);
            self.tell(&Event::Run(self.with_staleness(state)));
        }
    }

    /// Tells all how the scripts are.
    pub(super) fn tell_scripts(&self) {
        for state in self.script_states() {
            self.tell(&Event::Script(state));
        }
    }

    /// States of the document's scripts, of the run's where it has them.
    pub(super) fn script_states(&self) -> Vec<crate::wire::ScriptState> {
        let running = match self.ask(Order::Scripts) {
            Ok(Answer::Scripts(states)) => states,
            _ => Vec::new(),
        };
        let scripts = self.project.document.scripts.iter();
        scripts
            .map(|(name, text)| {
                let hash = crate::script::hash_of(text);
                let runs = running.iter().find(|s| s.name == *name && s.hash == hash);
                runs.cloned().unwrap_or_else(|| {
                    let (error, line) = crate::script::problem(text).unwrap_or_default();
                    let allowed = self.allowed.contains(&hash);
                    let said = String::new();
                    crate::wire::ScriptState {
                        name: name.clone(),
                        hash,
                        allowed,
                        error,
                        line,
                        said,
                    }
                })
            })
            .collect()
    }

    /// Allows a script as its reader saw it.
    pub(super) fn allow_script(&mut self, name: &str, hash: &str) -> Result<Value, WireError> {
        let text = self.project.document.scripts.get(name).ok_or_else(|| {
            let text = format!("there is no script `{name}`");
            WireError::new(Code::NotFound, text, "`script.list` names them")
        })?;
        if crate::script::hash_of(text) != hash {
            let hint = "read it as it is now, and allow that";
            return Err(WireError::new(Code::Conflict, "the script is another one by now", hint));
        }
        self.allowed.insert(hash.to_owned());
        let state = self.script_states().into_iter().find(|state| state.name == name);
        if let Some(state) = &state {
            self.tell(&Event::Script(state.clone()));
        }
        Ok(json!(state))
    }
}

fn unexpected(answer: &Answer) -> WireError {
    WireError::new(Code::Failed, format!("an answer of another kind: {answer:?}"), "report this")
}
