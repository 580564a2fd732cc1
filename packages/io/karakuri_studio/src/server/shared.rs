//! What the handlers of requests share.

use std::sync::Arc;
use std::sync::mpsc::Sender;

use super::page::Page;
use super::security::Guard;
use crate::assets::Assets;
use crate::session::input::Input;

/// What the handlers share.
#[derive(Debug, Clone)]
pub(crate) struct Shared {
    pub(crate) guard: Arc<Guard>,
    pub(crate) assets: Assets,
    pub(crate) inputs: Sender<Input>,
    pub(crate) page: Arc<Page>,
}
