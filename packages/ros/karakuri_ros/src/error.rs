//! Why a call of the ROS layer failed.

use std::time::Duration;

use thiserror::Error;

/// Why an entity of a node could not be made. The text follows "failed to ...".
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RosError {
    /// The middleware refused.
    #[error("create {kind} `{name}`: {reason}")]
    Create {
        /// What was to be made, such as `publisher`.
        kind: &'static str,
        /// Its name as given.
        name: String,
        /// What the middleware said.
        reason: String,
    },
    /// A parameter given on the command line or in a file does not fit its declaration.
    #[error("set parameter `{name}`: {reason}")]
    Parameter {
        /// The parameter's name.
        name: String,
        /// Type that was found, and type that was asked for.
        reason: String,
    },
    /// Two parameters of one name.
    #[error("declare parameter `{0}`: it is declared already")]
    Duplicate(String),
}

/// Why a service call has no answer.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CallError {
    /// The server did not appear or did not answer in time.
    #[error("service `{service}`: no answer within {timeout:?} (is its node running?)")]
    Timeout {
        /// The service's name as given.
        service: String,
        /// The time that was allowed.
        timeout: Duration,
    },
    /// The request could not be sent.
    #[error("service `{service}`: request refused: {reason}")]
    Refused {
        /// The service's name as given.
        service: String,
        /// What the middleware said.
        reason: String,
    },
}
