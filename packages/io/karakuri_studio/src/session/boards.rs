//! Requests about boards that keep motions.

use karakuri_motion::formats::Format;
use serde_json::Value;

use super::input::Input;
use super::state::{Session, to_value};
use crate::board::Boards;
use crate::wire::{Code, Event, WireError};

impl Session {
    /// Writes a motion into the memory of the boards. As they will play it without anybody who looks on, it has to be sound.
    pub(super) fn upload(&mut self, motion: &str, number: u8) -> Result<Value, WireError> {
        let refused = |text: &str, hint: &str| Err(WireError::new(Code::State, text, hint));
        if self.boards()?.state().busy {
            return refused("another motion is on its way to the boards", "wait for it");
        }
        self.sound_preview(motion)?;
        let positions = self.exported(Format::Khr1Yaml, motion)?;
        let report = positions.notes.iter().map(Into::into).collect();
        let inputs = self.inputs.clone();
        let done = move |result| {
            // A session that has ended asks for nothing more.
            let _ended = inputs.send(Input::Uploaded(result));
        };
        let boards = self.boards()?;
        if let Err(error) = boards.upload(number, positions.text, report, done) {
            return refused(&format!("nothing can be uploaded: {error}"), "end other programs");
        }
        let state = boards.state().clone();
        self.tell(&Event::Board(state.clone()));
        to_value(&state)
    }

    fn boards(&mut self) -> Result<&mut Boards, WireError> {
        let none = || {
            WireError::new(Code::State, "this studio has no boards", "start it with --board PORT")
        };
        self.boards.as_mut().ok_or_else(none)
    }

    /// Takes what became of an upload.
    pub(super) fn uploaded(&mut self, result: Result<String, String>) {
        let Some(boards) = &mut self.boards else { return };
        boards.ended(result);
        let state = boards.state().clone();
        self.tell(&Event::Board(state));
    }
}
