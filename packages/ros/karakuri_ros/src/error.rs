//! Reasons why a call of the ROS layer failed.

use std::time::Duration;

use thiserror::Error;

/// Reason why an entity of a node could not be made. The text follows "failed to ...".
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RosError {
    /// The middleware refused.
    #[error("create {kind} `{name}`: {reason}")]
    Create {
        /// Kind of the entity, such as `publisher`.
        kind: &'static str,
        /// Name of the entity as given.
        name: String,
        /// Reason that the middleware gave.
        reason: String,
    },
    /// A parameter given on the command line or in a file does not fit its declaration.
    #[error("set parameter `{name}`: {reason}")]
    Parameter {
        /// The parameter's name.
        name: String,
        /// Type that was found, and type that was expected.
        reason: String,
    },
    /// Two parameters have one name.
    #[error("declare parameter `{0}`: it is declared already")]
    Duplicate(String),
}

/// Reason why a service call has no answer.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CallError {
    /// The server did not appear or did not answer in time.
    #[error("service `{service}`: no answer within {timeout:?} (is its node running?)")]
    Timeout {
        /// The service's name as given.
        service: String,
        /// Time within which the answer was expected.
        timeout: Duration,
    },
    /// The request could not be sent.
    #[error("service `{service}`: request refused: {reason}")]
    Refused {
        /// The service's name as given.
        service: String,
        /// Reason that the middleware gave.
        reason: String,
    },
}
