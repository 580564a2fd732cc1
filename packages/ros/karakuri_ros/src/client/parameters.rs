//! Parameters of other nodes.

use serde_yaml::Value;

use super::{Client, ClientError, absolute, failed, listed, wrong};
use crate::{
    ParameterType,
    msg::rcl_interfaces::{
        msg::{Parameter, ParameterValue},
        srv::{DescribeParameters, GetParameters, ListParameters, SetParameters},
    },
    parameter_types::kind,
};

/// Value of a parameter and the name of its type.
#[derive(Debug, Clone, PartialEq)]
pub struct ParameterText {
    /// Type as `ros2 param get` prints it, such as `Double value`.
    pub kind: &'static str,
    /// Value as YAML.
    pub value: Value,
}

impl Client {
    /// Names of a node's parameters, sorted.
    ///
    /// # Errors
    /// When the node does not appear or does not answer in time, or a signal interrupts.
    pub fn parameters(&mut self, node: &str) -> Result<Vec<String>, ClientError> {
        let node = self.node_that_is_there(node)?;
        self.names(&node)
    }

    fn names(&mut self, node: &str) -> Result<Vec<String>, ClientError> {
        let request = ListParameters::Request::default();
        let service = format!("{node}/list_parameters");
        let mut names = self.call::<ListParameters::Service>(&service, &request)?.result.names;
        names.sort();
        Ok(names)
    }

    /// Values of parameters, all of which the node must have; of all its parameters if none are named.
    ///
    /// # Errors
    /// When the node does not appear or does not answer in time, a parameter is unknown, or a signal interrupts.
    pub fn get_parameters(
        &mut self,
        node: &str,
        names: &[String],
    ) -> Result<Vec<(String, ParameterText)>, ClientError> {
        let node = self.node_that_is_there(node)?;
        let names = if names.is_empty() { self.names(&node)? } else { names.to_vec() };
        let request = GetParameters::Request { names: names.clone() };
        let service = format!("{node}/get_parameters");
        let values = self.call::<GetParameters::Service>(&service, &request)?.values;
        let unset = values.iter().position(|v| v.type_ == kind::NOT_SET);
        // `rclcpp` answers for none of them if it lacks one.
        if unset.is_some() || values.len() != names.len() {
            return self.refuse_unknown(&node, &names);
        }
        Ok(names.into_iter().zip(values.iter().map(text)).collect())
    }

    /// Sets a parameter to a value written as YAML; the error of a node that refuses is its reason.
    ///
    /// # Errors
    /// When the node does not appear or does not answer in time, the parameter is unknown, the value is of another
    /// type, or the node refuses it.
    pub fn set_parameter(
        &mut self,
        node: &str,
        name: &str,
        value: &Value,
    ) -> Result<(), ClientError> {
        let node = self.node_that_is_there(node)?;
        let declared = self.declared_type(&node, name)?;
        let value = message(value, declared)
            .map_err(|what| ClientError::Wrong(format!("{name}: {what}")))?;
        let request =
            SetParameters::Request { parameters: vec![Parameter { name: name.to_owned(), value }] };
        let service = format!("{node}/set_parameters");
        let results = self.call::<SetParameters::Service>(&service, &request)?.results;
        match results.first() {
            Some(result) if result.successful => Ok(()),
            Some(result) => wrong(format!("{node} refuses: {}", result.reason)),
            None => Err(failed(&format!("{service} gave no answer"))),
        }
    }

    /// Declared type of a parameter, 0 where it is not declared.
    fn declared_type(&mut self, node: &str, name: &str) -> Result<u8, ClientError> {
        let request = DescribeParameters::Request { names: vec![name.to_owned()] };
        let service = format!("{node}/describe_parameters");
        let answer = self.call::<DescribeParameters::Service>(&service, &request)?;
        Ok(answer.descriptors.first().map_or(0, |descriptor| descriptor.type_))
    }

    fn refuse_unknown<T>(&mut self, node: &str, names: &[String]) -> Result<T, ClientError> {
        let known = self.names(node)?;
        let unknown = names.iter().find(|name| !known.contains(name));
        let unknown = unknown.or(names.first()).cloned().unwrap_or_default();
        let alike: Vec<_> = known.iter().filter(|name| is_alike(name, &unknown)).take(5).collect();
        let alike =
            if alike.is_empty() { String::new() } else { format!("alike {}; ", listed(alike)) };
        wrong(format!(
            "{node} has no parameter `{unknown}`; {alike}`karakuri param list {node}` lists them"
        ))
    }

    /// Waits for a node; its full name.
    fn node_that_is_there(&mut self, node: &str) -> Result<String, ClientError> {
        let name = absolute(node);
        let found = self.spin_until(self.wait, |client| {
            let known = client.visible_nodes().contains(&name);
            known.then_some(())
        })?;
        if found.is_none() {
            self.settle()?;
            return wrong(format!(
                "there is no node {name}; there {}",
                listed(self.visible_nodes())
            ));
        }
        Ok(name)
    }
}

/// Whether somebody who wrote `given` may have meant `name`: one is part of the other, or one letter is wrong.
fn is_alike(name: &str, given: &str) -> bool {
    if name.contains(given) || given.contains(name) {
        return !given.is_empty();
    }
    let (a, b) = (name.as_bytes(), given.as_bytes());
    let begin = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let end =
        a[begin..].iter().rev().zip(b[begin..].iter().rev()).take_while(|(a, b)| a == b).count();
    a.len().max(b.len()) - begin - end <= 2 && begin + end > 2
}

/// Value of a parameter and its type, as `ros2 param get` prints them.
fn text(value: &ParameterValue) -> ParameterText {
    let list = |kind, values: Vec<Value>| (kind, Value::Sequence(values));
    let (kind, value) = match value.type_ {
        kind::BOOL => ("Boolean value", value.bool_value.into()),
        kind::INTEGER => ("Integer value", value.integer_value.into()),
        kind::DOUBLE => ("Double value", value.double_value.into()),
        kind::STRING => ("String value", value.string_value.clone().into()),
        kind::BYTES => {
            list("Byte values", value.byte_array_value.iter().map(|&v| v.into()).collect())
        }
        kind::BOOLS => {
            list("Boolean values", value.bool_array_value.iter().map(|&v| v.into()).collect())
        }
        kind::INTEGERS => {
            list("Integer values", value.integer_array_value.iter().map(|&v| v.into()).collect())
        }
        kind::DOUBLES => {
            list("Double values", value.double_array_value.iter().map(|&v| v.into()).collect())
        }
        kind::STRINGS => list(
            "String values",
            value.string_array_value.iter().map(|v| v.clone().into()).collect(),
        ),
        _ => ("Parameter not set", Value::Null),
    };
    ParameterText { kind, value }
}

/// Message of a value for a parameter of the declared type; of the value's own type where none is declared or it does not fit,
/// which the node then refuses in its own words.
fn message(value: &Value, declared: u8) -> Result<ParameterValue, String> {
    let as_declared = match declared {
        kind::DOUBLE => f64::from_yaml(value).map(|v| v.to_message()),
        kind::DOUBLES => Vec::<f64>::from_yaml(value).map(|v| v.to_message()),
        kind::BOOLS => Vec::<bool>::from_yaml(value).map(|v| v.to_message()),
        kind::STRINGS => Vec::<String>::from_yaml(value).map(|v| v.to_message()),
        _ => None,
    };
    as_declared
        .or_else(|| i64::from_yaml(value).map(|v| v.to_message()))
        .or_else(|| value.as_bool().map(|v| v.to_message()))
        .or_else(|| value.as_f64().map(|v| v.to_message()))
        .or_else(|| String::from_yaml(value).map(|v| v.to_message()))
        .or_else(|| Vec::<i64>::from_yaml(value).map(|v| v.to_message()))
        .or_else(|| Vec::<bool>::from_yaml(value).map(|v| v.to_message()))
        .or_else(|| Vec::<f64>::from_yaml(value).map(|v| v.to_message()))
        .or_else(|| Vec::<String>::from_yaml(value).map(|v| v.to_message()))
        .ok_or_else(|| {
            "a parameter is true, false, a number, a text, or a list of one of these".to_owned()
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_have_been_meant_is_found() {
        for given in ["real_time_facto", "real_tme_factor", "real_time_fcator", "factor"] {
            assert!(is_alike("real_time_factor", given), "{given}");
        }
        for given in ["lockstep", "", "gravity"] {
            assert!(!is_alike("real_time_factor", given), "{given}");
        }
    }

    #[test]
    fn a_value_takes_the_declared_type() {
        let typed = |yaml: &str, declared| {
            let value = message(&serde_yaml::from_str(yaml).unwrap(), declared).unwrap();
            (text(&value).kind, text(&value).value)
        };
        assert_eq!(typed("3", kind::DOUBLE), ("Double value", 3.0.into()));
        assert_eq!(typed("3", 0), ("Integer value", 3.into()));
        assert_eq!(typed("[1, 2]", kind::DOUBLES).0, "Double values");
        assert_eq!(typed("[1, 2]", 0).0, "Integer values");
        assert_eq!(typed("[1, 2.5]", 0).0, "Double values");
        assert_eq!(typed("true", kind::BOOL), ("Boolean value", true.into()));
        assert_eq!(typed("on", 0), ("String value", "on".into()));
        assert_eq!(typed("a.b", kind::STRING), ("String value", "a.b".into()));
        assert!(message(&serde_yaml::from_str("{a: 1}").unwrap(), 0).is_err());
    }
}
