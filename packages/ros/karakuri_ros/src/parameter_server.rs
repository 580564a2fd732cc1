//! The declared parameters of a node: checked when they are set, published on `/parameter_events`.
//!
//! Undeclared names, other types, values out of range and sets of read-only parameters are refused with a reason.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    Clock, IntoMessage, Publisher, RosError,
    msg::rcl_interfaces::msg::{
        ListParametersResult, Parameter as ParameterMessage, ParameterDescriptor, ParameterEvent,
        ParameterValue, SetParametersResult,
    },
    parameter_types::kind_name,
};

/// Value that passed all checks, with the function that applies it.
pub(crate) struct Accepted<S> {
    pub(crate) value: ParameterValue,
    pub(crate) commit: Box<dyn FnOnce(&mut S)>,
}

type Callback<S> = Box<dyn FnMut(&mut S)>;
type Accept<S> = Box<dyn Fn(&ParameterValue) -> Result<Accepted<S>, String>>;

/// Declared parameter of a node.
pub(crate) struct Entry<S> {
    pub(crate) descriptor: ParameterDescriptor,
    pub(crate) value: ParameterValue,
    pub(crate) accept: Accept<S>,
}

/// All declared parameters.
pub(crate) struct ParameterServer<S> {
    entries: BTreeMap<String, Entry<S>>,
    after_change: Vec<Callback<S>>,
    /// Whether the parameters were announced: from then on each change is an event of its own.
    announced: bool,
    events: Publisher<ParameterEvent>,
    node_name: String,
    clock: Clock,
}

impl<S: 'static> ParameterServer<S> {
    pub(crate) fn new(events: Publisher<ParameterEvent>, node_name: String, clock: Clock) -> Self {
        Self {
            entries: BTreeMap::new(),
            after_change: Vec::new(),
            announced: false,
            events,
            node_name,
            clock,
        }
    }

    pub(crate) fn add(&mut self, entry: Entry<S>) -> Result<(), RosError> {
        let name = entry.descriptor.name.clone();
        if self.entries.contains_key(&name) {
            return Err(RosError::Duplicate(name));
        }
        let new = message(&name, &entry.value);
        self.entries.insert(name, entry);
        if self.announced {
            self.publish(ParameterEvent { new_parameters: vec![new], ..ParameterEvent::default() });
        }
        Ok(())
    }

    pub(crate) fn remove(&mut self, name: &str) {
        if let Some(entry) = self.entries.remove(name) {
            let deleted_parameters = vec![message(name, &entry.value)];
            self.publish(ParameterEvent { deleted_parameters, ..ParameterEvent::default() });
        }
    }

    pub(crate) fn after_change(&mut self, callback: Callback<S>) {
        self.after_change.push(callback);
    }

    /// Descriptors in the order of the names.
    pub(crate) fn descriptors(&self) -> impl Iterator<Item = &ParameterDescriptor> {
        self.entries.values().map(|entry| &entry.descriptor)
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.keys().map(String::as_str)
    }

    /// Announces all parameters in one event.
    pub(crate) fn announce(&mut self) {
        self.announced = true;
        let all = self.entries.iter().map(|(name, entry)| message(name, &entry.value)).collect();
        self.publish(ParameterEvent { new_parameters: all, ..ParameterEvent::default() });
    }

    fn publish(&self, event: ParameterEvent) {
        let stamp = self.clock.now().to_message();
        self.events.publish(&ParameterEvent { stamp, node: self.node_name.clone(), ..event });
    }

    fn accept(&self, parameter: &ParameterMessage) -> Result<Accepted<S>, String> {
        let name = &parameter.name;
        let entry =
            self.entries.get(name).ok_or_else(|| format!("parameter `{name}` is not declared"))?;
        if entry.descriptor.read_only {
            return Err(format!("parameter `{name}` is read-only: give it at start"));
        }
        (entry.accept)(&parameter.value).map_err(|reason| format!("parameter `{name}`: {reason}"))
    }

    fn commit(&mut self, changes: Vec<(String, Accepted<S>)>, state: &mut S) {
        if changes.is_empty() {
            return;
        }
        let mut event = ParameterEvent::default();
        for (name, accepted) in changes {
            event.changed_parameters.push(message(&name, &accepted.value));
            if let Some(entry) = self.entries.get_mut(&name) {
                entry.value = accepted.value;
            }
            (accepted.commit)(state);
        }
        for callback in &mut self.after_change {
            callback(state);
        }
        self.publish(event);
    }

    pub(crate) fn set_each(
        &mut self,
        parameters: &[ParameterMessage],
        state: &mut S,
    ) -> Vec<SetParametersResult> {
        let set = |parameter: &ParameterMessage| {
            let accepted = self.accept(parameter);
            let result = outcome(accepted.as_ref().err());
            self.commit(accepted.into_iter().map(|a| (parameter.name.clone(), a)).collect(), state);
            result
        };
        parameters.iter().map(set).collect()
    }

    pub(crate) fn set_all(
        &mut self,
        parameters: &[ParameterMessage],
        state: &mut S,
    ) -> SetParametersResult {
        let accepted: Result<Vec<_>, _> = parameters
            .iter()
            .map(|p| self.accept(p).map(|accepted| (p.name.clone(), accepted)))
            .collect();
        let result = outcome(accepted.as_ref().err());
        self.commit(accepted.unwrap_or_default(), state);
        result
    }

    pub(crate) fn value(&self, name: &str) -> ParameterValue {
        self.entries.get(name).map(|entry| entry.value.clone()).unwrap_or_default()
    }

    pub(crate) fn describe(&self, name: &str) -> ParameterDescriptor {
        let unknown =
            || ParameterDescriptor { name: name.to_owned(), ..ParameterDescriptor::default() };
        self.entries.get(name).map_or_else(unknown, |entry| entry.descriptor.clone())
    }

    pub(crate) fn list(&self, prefixes: &[String], depth: u64) -> ListParametersResult {
        let within = |part: &str| depth == 0 || (part.matches('.').count() as u64) < depth;
        let selected = |name: &&String| {
            let below = |prefix: &String| match name.strip_prefix(prefix.as_str()) {
                Some("") => true,
                Some(rest) => rest.starts_with('.') && within(rest),
                None => false,
            };
            if prefixes.is_empty() { within(name) } else { prefixes.iter().any(below) }
        };
        let names: Vec<String> = self.entries.keys().filter(selected).cloned().collect();
        let prefixes: BTreeSet<&str> =
            names.iter().filter_map(|n| n.rsplit_once('.')).map(|(p, _)| p).collect();
        ListParametersResult { prefixes: prefixes.into_iter().map(str::to_owned).collect(), names }
    }
}

fn message(name: &str, value: &ParameterValue) -> ParameterMessage {
    ParameterMessage { name: name.to_owned(), value: value.clone() }
}

fn outcome(refusal: Option<&String>) -> SetParametersResult {
    SetParametersResult {
        successful: refusal.is_none(),
        reason: refusal.cloned().unwrap_or_default(),
    }
}

/// Hint for a mistyped name: the closest declared one, if any is close.
pub(crate) fn closest<'a>(name: &str, declared: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let common = |other: &str| name.chars().zip(other.chars()).take_while(|(a, b)| a == b).count();
    declared.map(|d| (common(d), d)).max().filter(|(n, _)| 2 * n >= name.len()).map(|(_, d)| d)
}

impl<S> std::fmt::Debug for Entry<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({})", self.descriptor.name, kind_name(self.value.type_))
    }
}
