//! Why a robot cannot be opened.

use super::bus::HelloError;

/// Why a robot cannot be opened.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// Its port.
    #[error(transparent)]
    Port(#[from] karakuri_serial::port::OpenError),
    /// What is behind the port.
    #[error(transparent)]
    Hello(#[from] HelloError),
    /// Servos do not answer.
    #[error("{0}")]
    Missing(String),
}
