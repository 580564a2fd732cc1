//! The parameters of another node: what they are, and which of them differ.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::{
    Call, CallError, Declares, Node, ParameterBuilder, ParameterType, RosError, ServiceClient,
    declares::{Given, Registry},
    msg::rcl_interfaces::msg::ParameterValue,
    msg::rcl_interfaces::srv::{GetParameters, ListParameters},
    parameter_server::Entry,
    parameter_types::{kind, value_text},
};

/// Values of the parameters of another node. A parameter that is declared here as there has the value that it has there.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RemoteParameters {
    values: BTreeMap<String, ParameterValue>,
}

impl RemoteParameters {
    /// What differs from values before, as `` `speed` is 0.3 in place of 1.0 ``; `None` where nothing does.
    pub fn difference(&self, before: &Self) -> Option<String> {
        let names = self.values.keys().chain(before.values.keys());
        let text = |of: &Self, name: &String| {
            of.values.get(name).map_or_else(|| "none".to_owned(), value_text)
        };
        let differs = |name: &&String| self.values.get(*name) != before.values.get(*name);
        let (now, then) = (self, before);
        names
            .into_iter()
            .find(differs)
            .map(|name| format!("`{name}` is {} in place of {}", text(now, name), text(then, name)))
    }
}

impl<N: Into<String>> FromIterator<(N, ParameterValue)> for RemoteParameters {
    fn from_iter<I: IntoIterator<Item = (N, ParameterValue)>>(values: I) -> Self {
        Self { values: values.into_iter().map(|(name, value)| (name.into(), value)).collect() }
    }
}

impl Declares for RemoteParameters {
    type State = ();

    fn parameter<T: ParameterType>(
        &mut self,
        name: &str,
        default: T,
    ) -> ParameterBuilder<'_, (), T> {
        ParameterBuilder::new(self, name, default)
    }
}

impl Registry<()> for RemoteParameters {
    fn take_given(&mut self, name: &str) -> Option<Given> {
        let value = self.values.get(name).filter(|value| value.type_ != kind::NOT_SET);
        value.cloned().map(Given::Message)
    }

    fn keep(&mut self, _: Entry<()>) -> Result<(), RosError> {
        Ok(())
    }
}

/// Client of the parameter services of another node.
#[derive(Debug, Clone)]
pub struct ParameterClient {
    list: ServiceClient<ListParameters::Service>,
    get: ServiceClient<GetParameters::Service>,
}

impl<S: 'static> Node<S> {
    /// Makes a client of the parameters of another node.
    ///
    /// # Errors
    /// When the middleware refuses a client.
    pub fn parameter_client(&mut self, node: &str) -> Result<ParameterClient, RosError> {
        Ok(ParameterClient {
            list: self.service_client(&format!("{node}/list_parameters"))?,
            get: self.service_client(&format!("{node}/get_parameters"))?,
        })
    }
}

impl ParameterClient {
    /// Whether the node is there.
    pub fn is_ready(&self) -> bool {
        self.list.is_ready() && self.get.is_ready()
    }

    /// Asks for the values of all parameters, from any thread; each of two answers must come within `timeout`.
    pub fn read(&self, timeout: Duration) -> ParameterCall {
        let list = self.list.call(ListParameters::Request::default(), timeout);
        ParameterCall { get: self.get.clone(), timeout, pending: Pending::Names(list) }
    }
}

/// Pending question for the parameters of another node.
#[derive(Debug)]
#[must_use = "the answer arrives here"]
pub struct ParameterCall {
    get: ServiceClient<GetParameters::Service>,
    timeout: Duration,
    pending: Pending,
}

#[derive(Debug)]
enum Pending {
    Names(Call<ListParameters::Service>),
    Values(Vec<String>, Call<GetParameters::Service>),
}

impl ParameterCall {
    /// The values, or why there are none, once, when the question has ended.
    pub fn take(&mut self) -> Option<Result<RemoteParameters, CallError>> {
        if let Pending::Names(list) = &self.pending {
            let names = match list.take()? {
                Ok(listed) => listed.result.names,
                Err(error) => return Some(Err(error)),
            };
            let request = GetParameters::Request { names: names.clone() };
            self.pending = Pending::Values(names, self.get.call(request, self.timeout));
        }
        let Pending::Values(names, get) = &mut self.pending else { return None };
        let answer = get.take()?;
        Some(answer.map(|answer| std::mem::take(names).into_iter().zip(answer.values).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    crate::parameters! {
        /// Parameters of an arm within.
        struct Inner {
            scale ["arm.scale"]: f64 = 1.0, "Scale. [-]", range(0.0..=2.0);
        }
    }

    crate::parameters! {
        /// Parameters of a hand.
        struct Table [inner: Inner] {
            force: f64 = 10.0, "Force. [N]", range(0.1..=1000.0), read_only();
            names: Vec<String> = Vec::new(), "Names.";
            is_on: bool = false, "Whether it is on.";
        }
    }

    fn remote<const N: usize>(values: [(&str, ParameterValue); N]) -> RemoteParameters {
        values.into_iter().collect()
    }

    #[test]
    fn a_table_has_the_values_of_the_other_node_and_defaults_for_what_it_lacks() {
        let names = vec!["a".to_owned()];
        let mut other = remote([
            ("arm.scale", 0.3.to_message()),
            ("force", 3_i64.to_message()),
            ("names", names.to_message()),
            ("is_on", ParameterValue::default()),
            ("unknown", true.to_message()),
        ]);
        let table = Table::declare(&mut other).unwrap();
        assert_eq!(table.inner.scale.get().to_bits(), 0.3_f64.to_bits());
        assert_eq!((table.force.get(), table.names.get(), table.is_on.get()), (3.0, names, false));
        let table = Table::declare(&mut RemoteParameters::default()).unwrap();
        assert_eq!((table.inner.scale.get(), table.force.get()), (1.0, 10.0));
    }

    #[test]
    fn values_that_do_not_fit_are_refused_by_name() {
        let said = |other: &mut RemoteParameters| Table::declare(other).unwrap_err().to_string();
        let text = said(&mut remote([("force", true.to_message())]));
        assert!(text.contains("force") && text.contains("got a bool, want a double"), "{text}");
        let text = said(&mut remote([("arm.scale", 3.0.to_message())]));
        assert!(text.contains("arm.scale") && text.contains("outside its range"), "{text}");
    }

    #[test]
    fn the_first_difference_is_reported() {
        let before = remote([("a", 1.0.to_message()), ("b", vec![1.0, 2.0].to_message())]);
        assert_eq!(before.difference(&before.clone()), None);
        let after = remote([("a", 1.0.to_message()), ("b", vec![1.0, 2.5].to_message())]);
        let reported = "`b` is [1.0, 2.5] in place of [1.0, 2.0]";
        assert_eq!(after.difference(&before).as_deref(), Some(reported));
        let reported = "`a` is none in place of 1.0";
        assert_eq!(remote([]).difference(&before).as_deref(), Some(reported));
    }
}
