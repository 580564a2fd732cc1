//! What parameters are declared in: a node, or the values that another node has.

use serde_yaml::Value;

use crate::{
    Node, ParameterBuilder, ParameterType, RosError, msg::rcl_interfaces::msg::ParameterValue,
    parameter_server::Entry,
};

/// What parameters can be declared in: a [`Node`], or [`RemoteParameters`](crate::RemoteParameters), where they have the values of another node.
pub trait Declares {
    /// State of the handlers of changes.
    type State: 'static;

    /// Declares a parameter with this name and default.
    fn parameter<T: ParameterType>(
        &mut self,
        name: &str,
        default: T,
    ) -> ParameterBuilder<'_, Self::State, T>;
}

impl<S: 'static> Declares for Node<S> {
    type State = S;

    fn parameter<T: ParameterType>(
        &mut self,
        name: &str,
        default: T,
    ) -> ParameterBuilder<'_, S, T> {
        ParameterBuilder::new(self, name, default)
    }
}

/// Value that is given for a parameter.
#[derive(Debug)]
pub(crate) enum Given {
    /// On the command line, or in a file.
    Text(Value),
    /// By another node.
    Message(ParameterValue),
}

/// What keeps declared parameters.
pub(crate) trait Registry<S> {
    /// Takes the value that is given for a parameter.
    fn take_given(&mut self, name: &str) -> Option<Given>;

    /// Keeps a declared parameter.
    fn keep(&mut self, entry: Entry<S>) -> Result<(), RosError>;
}

impl<S: 'static> Registry<S> for Node<S> {
    fn take_given(&mut self, name: &str) -> Option<Given> {
        self.take_override(name).filter(|value| *value != Value::Null).map(Given::Text)
    }

    fn keep(&mut self, entry: Entry<S>) -> Result<(), RosError> {
        self.add_parameter(entry)
    }
}
