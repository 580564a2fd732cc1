//! Declaration and reading of a parameter.

use std::{cell::RefCell, fmt, ops::RangeInclusive, rc::Rc, sync::Arc};

use arc_swap::ArcSwap;

use crate::{
    Node, ParameterType, Ranged, RosError,
    declares::{Given, Registry},
    msg::rcl_interfaces::msg::{ParameterDescriptor, ParameterValue},
    parameter_server::{Accepted, Entry},
    parameter_types::{kind_name, yaml_name},
};

/// Declared parameter. Clones share it; reading takes no lock, from any thread.
pub struct Parameter<T> {
    cell: Arc<ArcSwap<T>>,
}

impl<T> Clone for Parameter<T> {
    fn clone(&self) -> Self {
        Self { cell: Arc::clone(&self.cell) }
    }
}

impl<T: fmt::Debug> fmt::Debug for Parameter<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Parameter").field(&self.cell.load()).finish()
    }
}

impl<T: ParameterType> Parameter<T> {
    /// Present value of the parameter.
    pub fn get(&self) -> T {
        T::clone(&self.cell.load())
    }
}

type Check<T> = Box<dyn Fn(&T) -> Result<(), String>>;
type OnChange<S, T> = Box<dyn FnMut(&mut S, &T)>;

impl<S: 'static> Node<S> {
    /// Declares a parameter with this name and default.
    pub fn parameter<T: ParameterType>(
        &mut self,
        name: &str,
        default: T,
    ) -> ParameterBuilder<'_, S, T> {
        ParameterBuilder::new(self, name, default)
    }
}

/// Parameter being declared; ends with [`ParameterBuilder::declare`].
#[must_use = "a parameter exists once `declare` was called"]
pub struct ParameterBuilder<'n, S, T> {
    place: &'n mut dyn Registry<S>,
    default: T,
    descriptor: ParameterDescriptor,
    checks: Vec<Check<T>>,
    on_change: Option<OnChange<S, T>>,
}

impl<S, T> fmt::Debug for ParameterBuilder<'_, S, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ParameterBuilder")
            .field("name", &self.descriptor.name)
            .finish_non_exhaustive()
    }
}

impl<'n, S: 'static, T: ParameterType> ParameterBuilder<'n, S, T> {
    pub(crate) fn new(place: &'n mut dyn Registry<S>, name: &str, default: T) -> Self {
        let descriptor = ParameterDescriptor {
            name: name.to_owned(),
            type_: T::KIND,
            ..ParameterDescriptor::default()
        };
        Self { place, default, descriptor, checks: Vec::new(), on_change: None }
    }

    /// Sets the description, with its unit, such as `"Rate of joint_states. [Hz]"`.
    pub fn describe(mut self, description: &str) -> Self {
        description.clone_into(&mut self.descriptor.description);
        self
    }

    /// Restricts sets to the start: later ones are refused.
    pub fn read_only(mut self) -> Self {
        self.descriptor.read_only = true;
        self
    }

    /// Refuses values for which `check` gives a reason. `rule` describes the allowed values.
    pub fn validate(
        mut self,
        rule: &str,
        check: impl Fn(&T) -> Result<(), String> + 'static,
    ) -> Self {
        rule.clone_into(&mut self.descriptor.additional_constraints);
        self.checks.push(Box::new(check));
        self
    }

    /// Registers a callback on the spin thread for changes from outside.
    pub fn on_change(mut self, callback: impl FnMut(&mut S, &T) + 'static) -> Self {
        self.on_change = Some(Box::new(callback));
        self
    }

    /// Puts the parameter in its place, with the value given from outside if there is one.
    ///
    /// # Errors
    /// When the given value is of another type or fails a check, or the name is declared already.
    pub fn declare(self) -> Result<Parameter<T>, RosError> {
        let name = self.descriptor.name.clone();
        let bad = |reason: String| RosError::Parameter { name: name.clone(), reason };
        let checks = self.checks;
        let check = move |value: &T| checks.iter().try_for_each(|check| check(value));
        let other = |got: &str| bad(format!("got {got}, want {}", kind_name(T::KIND)));
        let value = match self.place.take_given(&name) {
            None => self.default,
            Some(Given::Text(yaml)) => {
                T::from_yaml(&yaml).ok_or_else(|| other(&yaml_name(&yaml)))?
            }
            Some(Given::Message(message)) => {
                T::from_message(&message).ok_or_else(|| other(kind_name(message.type_)))?
            }
        };
        check(&value).map_err(bad)?;

        let cell = Arc::new(ArcSwap::from_pointee(value.clone()));
        let parameter = Parameter { cell: Arc::clone(&cell) };
        let on_change = Rc::new(RefCell::new(self.on_change));
        let accept = move |message: &ParameterValue| {
            let value = T::from_message(message).ok_or_else(|| {
                format!("got {}, want {}", kind_name(message.type_), kind_name(T::KIND))
            })?;
            check(&value)?;
            let (cell, on_change) = (Arc::clone(&cell), Rc::clone(&on_change));
            let message = value.to_message();
            let commit = Box::new(move |state: &mut S| {
                cell.store(Arc::new(value.clone()));
                if let Some(callback) = on_change.borrow_mut().as_mut() {
                    callback(state, &value);
                }
            });
            Ok(Accepted { value: message, commit: commit as Box<dyn FnOnce(&mut S)> })
        };
        let entry = Entry {
            descriptor: self.descriptor,
            value: value.to_message(),
            accept: Box::new(accept),
        };
        self.place.keep(entry)?;
        Ok(parameter)
    }
}

impl<S: 'static, T: Ranged> ParameterBuilder<'_, S, T> {
    /// Refuses values outside `range`; NaN is outside of every range.
    pub fn range(mut self, range: RangeInclusive<T::Bound>) -> Self {
        T::describe(&range, &mut self.descriptor);
        self.checks.push(Box::new(move |value: &T| match value.outside(&range) {
            None => Ok(()),
            Some(value) => Err(format!(
                "{value:?} is outside its range {:?} to {:?}",
                range.start(),
                range.end()
            )),
        }));
        self
    }
}
