//! Answers to requests.

use karakuri_motion::Op;
use serde_json::Value;

use super::project::{Drag, Project};
use super::state::{Session, no_robot, to_value};
use crate::wire::{
    Code, DocumentPatch, Edited, Event, Operation, Request, Saved, Undone, Welcome, WireError,
};

/// Labels of changes whose client gave none.
const UNNAMED: &str = "edit";

impl Session {
    /// Does what a client asks for; `Null` where there is no answer.
    pub(super) fn answer(&mut self, client: &str, request: &Request) -> Result<Value, WireError> {
        if request.operation.needs_lease() {
            self.clients.check_lease(client)?;
        }
        if !matches!(
            request.operation,
            Operation::ParamSet { .. } | Operation::Ping {} | Operation::Ack { .. }
        ) {
            self.parameter_drag = false;
        }
        match &request.operation {
            Operation::Hello { .. } => to_value(&self.welcome(client)),
            Operation::Open { path, discard } => self.open_file(client, path, *discard),
            Operation::Files { folder } => {
                to_value(&self.folder.list(folder.as_deref().unwrap_or(""))?)
            }
            Operation::Save { path, force } => self.save(path.as_deref(), *force),
            Operation::Recover { accept } => self.recover(client, *accept),
            Operation::Edit { ops, label } => {
                self.check_revision(request.rev, ops)?;
                self.edit(client, ops, label.clone())
            }
            Operation::Undo {} => self.undo(client),
            Operation::Redo {} => self.redo(client),
            Operation::Begin { label } => self.begin(client, label.clone()),
            Operation::Update { ops } => self.update(client, ops),
            Operation::Commit { ops } => self.commit(client, ops.as_deref()),
            Operation::Cancel {} => {
                self.drag_of(client)?;
                self.end_drag();
                self.edited()
            }
            Operation::Evaluate(pose) => {
                let project = &mut self.project;
                let document = project.drag.as_ref().map_or(&project.document, |d| &d.shown);
                let poser = project.poser.as_mut().ok_or_else(no_robot)?;
                to_value(&poser.evaluate(document, pose)?)
            }
            Operation::Ik(goal) => {
                let project = &mut self.project;
                let document = project.drag.as_ref().map_or(&project.document, |d| &d.shown);
                let poser = project.poser.as_mut().ok_or_else(no_robot)?;
                to_value(&poser.reach(document, goal)?)
            }
            Operation::LeaseTake {} => {
                self.clients.take_lease(client);
                self.lease_changed()
            }
            Operation::LeaseGive {} => {
                self.clients.give_lease(client);
                if self.project.drag.as_ref().is_some_and(|d| d.by == client) {
                    self.end_drag();
                }
                self.lease_changed()
            }
            Operation::Ack { .. } | Operation::Ping {} => Ok(Value::Null),
            Operation::Preview { motion } => self.preview(motion),
            Operation::PreviewCancel {} => self.cancel_preview(),
            Operation::Import { name, data, rate } => self.import(client, name, data, *rate),
            Operation::Export { format, motion } => self.export(format, motion),
            Operation::LiveRecord { on, tolerance } => self.record_robot(client, *on, *tolerance),
            Operation::BoardUpload { motion, number } => self.upload(motion, *number),
            Operation::ParamKeep {} => self.keep_parameters(client),
            Operation::ScriptAllow { name, hash } => self.allow_script(name, hash),
            Operation::ScriptList {} => to_value(&self.script_states()),
            operation @ (Operation::LiveArm { .. }
            | Operation::LiveFollow { .. }
            | Operation::LiveSend { .. }
            | Operation::LiveStop {}
            | Operation::Play { .. }) => self.answer_live(operation),
            operation => self.answer_run(operation),
        }
    }

    /// All that a page shows at first.
    pub(super) fn welcome(&self, client: &str) -> Welcome {
        let project = &self.project;
        Welcome {
            client: client.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            rev: project.rev,
            document: project.document.clone().into(),
            stage: project.stage.clone(),
            file: project.file_state(&self.folder),
            recovery: project.journal.recovery().cloned(),
            lease: self.clients.state(),
            run: self.run_state(),
            preview: self.previews.state().clone(),
            live: self.live.state(),
            board: self.boards.as_ref().map(|boards| boards.state().clone()),
            scripts: self.script_states(),
            export_formats: super::motions::export_formats(),
            undo: project.history.next_undo(),
            redo: project.history.next_redo(),
        }
    }

    fn edited(&self) -> Result<Value, WireError> {
        to_value(&Edited { rev: self.project.rev })
    }

    fn lease_changed(&mut self) -> Result<Value, WireError> {
        let state = self.clients.state();
        self.tell(&Event::Lease(state.clone()));
        to_value(&state)
    }

    fn open_file(&mut self, client: &str, path: &str, discard: bool) -> Result<Value, WireError> {
        if self.project.is_changed() && !discard {
            let hint = "save it, or say that it may be lost";
            return Err(WireError::new(Code::State, "the document is not saved", hint));
        }
        let path = self.folder.find(path)?;
        let number = self.project.stage.number.wrapping_add(1);
        let mut project = Project::open(&path, None, &self.folder, &self.assets)
            .map_err(|error| WireError::from_text(Code::Invalid, &error))?;
        project.stage.number = number;
        project.rev = self.project.rev + 1;
        self.project = project;
        self.running = None;
        self.leave_preview();
        self.assets.keep_meshes(&self.project.stage);
        let welcome = self.welcome(client);
        for event in [
            Event::Stage(self.project.stage.clone()),
            Event::File(self.project.file_state(&self.folder)),
        ] {
            self.tell(&event);
        }
        self.tell_document(client, "open", &karakuri_motion::Document::default());
        to_value(&welcome)
    }

    fn save(&mut self, path: Option<&str>, force: bool) -> Result<Value, WireError> {
        let target = match (path, &self.project.path) {
            (Some(path), _) => self.folder.target(path)?,
            (None, Some(own)) => own.clone(),
            (None, None) => {
                let hint = "name one, as `motions/greet.yaml`";
                return Err(WireError::new(Code::State, "the document has no file yet", hint));
            }
        };
        self.project.save(&target, force, &self.folder)?;
        self.tell(&Event::File(self.project.file_state(&self.folder)));
        to_value(&Saved { path: self.folder.name_of(&target), rev: self.project.rev })
    }

    fn recover(&mut self, client: &str, accept: bool) -> Result<Value, WireError> {
        if self.project.journal.recovery().is_none() {
            let text = "no unsaved session was left";
            return Err(WireError::new(Code::State, text, "go on"));
        }
        if !accept {
            self.project.journal.drop_left();
            return self.edited();
        }
        let before = self.project.document.clone();
        let Some(recovered) = self.project.journal.take_left(&before) else { return self.edited() };
        self.project.adopt(recovered, &self.folder, &self.assets)?;
        self.project.journal.forget_left();
        self.tell(&Event::Stage(self.project.stage.clone()));
        self.tell_document(client, "recover", &before);
        self.edited()
    }

    /// Checks an edit of an old revision: what it is about must still be there, which the edit itself finds out; what goes by
    /// index must not have moved.
    fn check_revision(&self, rev: Option<u32>, ops: &[Op]) -> Result<(), WireError> {
        let goes_by_index = |op: &Op| {
            matches!(
                op,
                Op::InsertScene { .. }
                    | Op::PutScene { .. }
                    | Op::SetSceneJoints { .. }
                    | Op::RemoveScene { .. }
                    | Op::MoveScene { .. }
                    | Op::SetSupport { .. }
                    | Op::InsertMarker { .. }
                    | Op::PutMarker { .. }
                    | Op::RemoveMarker { .. }
                    | Op::InsertPanel { .. }
                    | Op::PutPanel { .. }
                    | Op::RemovePanel { .. }
            )
        };
        match rev {
            Some(rev) if rev != self.project.rev && ops.iter().any(goes_by_index) => {
                let text = format!("the document is at revision {}, not {rev}", self.project.rev);
                Err(WireError::new(Code::Conflict, text, "look at it as it is now, and try again"))
            }
            _ => Ok(()),
        }
    }

    pub(super) fn edit(
        &mut self,
        client: &str,
        ops: &[Op],
        label: Option<String>,
    ) -> Result<Value, WireError> {
        if self.project.drag.is_some() {
            let hint = "end the drag first";
            return Err(WireError::new(Code::State, "a drag goes on", hint));
        }
        let before = self.project.document.clone();
        let label = label.unwrap_or_else(|| UNNAMED.to_owned());
        let effect = self.project.commit(ops, label.clone(), &self.folder, &self.assets)?;
        self.leave_old_preview();
        if effect.stage {
            self.tell(&Event::Stage(self.project.stage.clone()));
        }
        self.tell_document(client, &label, &before);
        self.edited()
    }

    fn undo(&mut self, client: &str) -> Result<Value, WireError> {
        if let Some(undone) = self.undo_parameter() {
            return self.undone(undone?);
        }
        let step = self.project.history.undo.last().cloned();
        let step =
            step.ok_or_else(|| WireError::new(Code::State, "nothing is left to undo", ""))?;
        let redo = self.replay(client, &step.label, &step.inverse)?;
        let history = &mut self.project.history;
        history.undo.pop();
        history.redo.push(super::history::Step::new(step.label.clone(), redo));
        self.undone(step.label)
    }

    fn redo(&mut self, client: &str) -> Result<Value, WireError> {
        if let Some(redone) = self.redo_parameter() {
            return self.undone(redone?);
        }
        let step = self.project.history.redo.last().cloned();
        let step =
            step.ok_or_else(|| WireError::new(Code::State, "nothing is left to redo", ""))?;
        let undo = self.replay(client, &step.label, &step.inverse)?;
        let history = &mut self.project.history;
        history.redo.pop();
        history.undo.push(super::history::Step::new(step.label.clone(), undo));
        self.undone(step.label)
    }

    fn undone(&self, label: String) -> Result<Value, WireError> {
        to_value(&Undone { rev: self.project.rev, label })
    }

    /// Applies a step of history; returns the operations that take it back.
    fn replay(&mut self, client: &str, label: &str, ops: &[Op]) -> Result<Vec<Op>, WireError> {
        self.end_drag();
        let before = self.project.document.clone();
        let (inverse, effect) = self.project.apply(ops, &self.folder, &self.assets)?;
        self.leave_old_preview();
        if effect.stage {
            self.tell(&Event::Stage(self.project.stage.clone()));
        }
        self.tell_document(client, label, &before);
        Ok(inverse)
    }

    fn begin(&mut self, client: &str, label: Option<String>) -> Result<Value, WireError> {
        self.end_drag();
        let label = label.unwrap_or_else(|| UNNAMED.to_owned());
        let shown = self.project.document.clone();
        self.project.drag = Some(Drag { by: client.to_owned(), label, shown, ops: Vec::new() });
        self.edited()
    }

    fn drag_of(&self, client: &str) -> Result<&Drag, WireError> {
        let drag = self.project.drag.as_ref().filter(|drag| drag.by == client);
        drag.ok_or_else(|| WireError::new(Code::State, "no drag has begun", "send `begin`"))
    }

    fn update(&mut self, client: &str, ops: &[Op]) -> Result<Value, WireError> {
        let before = self.drag_of(client)?.shown.clone();
        self.project.update_drag(ops.to_vec(), &self.folder)?;
        let patch = DocumentPatch::between(&before, &self.drag_of(client)?.shown);
        if !patch.is_empty() {
            self.tell(&Event::Drag { by: client.to_owned(), patch });
        }
        self.edited()
    }

    fn commit(&mut self, client: &str, ops: Option<&[Op]>) -> Result<Value, WireError> {
        let drag = self.drag_of(client)?;
        let (label, last) = (drag.label.clone(), drag.ops.clone());
        self.end_drag();
        let ops = ops.map_or(last, <[Op]>::to_vec);
        if ops.is_empty() {
            return self.edited();
        }
        self.edit(client, &ops, Some(label))
    }

    /// Ends a drag; all see the document as it was.
    pub(super) fn end_drag(&mut self) {
        let Some(drag) = self.project.drag.take() else { return };
        let patch = DocumentPatch::between(&drag.shown, &self.project.document);
        if !patch.is_empty() {
            self.tell(&Event::Drag { by: drag.by, patch });
        }
    }

    /// Tells all what has changed since `before`.
    pub(super) fn tell_document(&self, by: &str, label: &str, before: &karakuri_motion::Document) {
        let project = &self.project;
        self.tell(&Event::Doc {
            rev: project.rev,
            by: by.to_owned(),
            label: label.to_owned(),
            patch: DocumentPatch::between(before, &project.document),
            undo: project.history.next_undo(),
            redo: project.history.next_redo(),
        });
        self.tell(&Event::File(project.file_state(&self.folder)));
    }
}
