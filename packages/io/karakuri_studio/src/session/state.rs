//! The session's state, and what all its parts do with it.

use std::collections::BTreeSet;
use std::sync::mpsc::Sender;

use serde_json::Value;

use super::clients::Clients;
use super::folder::Folder;
use super::input::Input;
use super::live::Live;
use super::motion_keys::MotionKeys;
use super::project::Project;
use super::running::Running;
use crate::assets::Assets;
use crate::board::Boards;
use crate::curves::Curves;
use crate::preview::Previews;
use crate::wire::{Code, Event, WireError};

/// The one owner of the document.
#[derive(Debug)]
pub(crate) struct Session {
    pub(super) folder: Folder,
    pub(super) assets: Assets,
    pub(super) clients: Clients,
    pub(super) project: Project,
    pub(super) running: Option<Running>,
    pub(super) previews: Previews,
    pub(super) curves: Curves,
    /// What motions of the present revision depend on.
    pub(super) keys: MotionKeys,
    pub(super) live: Live,
    pub(super) boards: Option<Boards>,
    /// Hashes of the scripts that may run.
    pub(super) allowed: BTreeSet<String>,
    /// Whether the last request set a parameter: the next one of the same goes on with that change.
    pub(super) parameter_drag: bool,
    pub(super) inputs: Sender<Input>,
}

impl Session {
    /// Tells all clients.
    pub(crate) fn tell(&self, event: &Event) {
        match serde_json::to_string(event) {
            Ok(text) => self.clients.send(&text),
            Err(error) => tracing::error!("an event has no text: {error}"),
        }
    }
}

/// A result as JSON.
pub(super) fn to_value(result: &impl serde::Serialize) -> Result<Value, WireError> {
    serde_json::to_value(result)
        .map_err(|e| WireError::new(crate::wire::Code::Failed, e.to_string(), "report this"))
}

/// What a document without a robot cannot do.
pub(super) fn no_robot() -> WireError {
    WireError::new(Code::State, "the document has no robot", "open a URDF")
}
