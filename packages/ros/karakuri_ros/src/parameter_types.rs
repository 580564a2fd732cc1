//! Value types of parameters, and their conversion from YAML and messages.
//!
//! An integer is accepted where a double is declared (`rate: 3` means 3.0): nobody means anything else by it. Nothing
//! else is converted.

use std::ops::RangeInclusive;

use serde_yaml::Value;

use crate::msg::rcl_interfaces::msg::{
    FloatingPointRange, IntegerRange, ParameterDescriptor, ParameterType as Kind, ParameterValue,
};

/// Type that a parameter can have: `bool`, `i64`, `f64`, `String` and `Vec`s of them.
pub trait ParameterType: Clone + PartialEq + Send + Sync + 'static {
    /// Number of the type in `rcl_interfaces/msg/ParameterType`.
    const KIND: u8;
    /// Reads a value of the command line or a file.
    fn from_yaml(value: &Value) -> Option<Self>;
    /// Reads a value of a message.
    fn from_message(value: &ParameterValue) -> Option<Self>;
    /// Writes a value to a message.
    fn to_message(&self) -> ParameterValue;
}

/// Parameter type whose values can be bounded; arrays are bounded element by element.
pub trait Ranged: ParameterType {
    /// Type of a bound.
    type Bound: Copy + PartialOrd + std::fmt::Debug + Send + Sync + 'static;
    /// First element outside the range.
    fn outside(&self, range: &RangeInclusive<Self::Bound>) -> Option<Self::Bound>;
    /// Enters the range into the parameter's description.
    fn describe(range: &RangeInclusive<Self::Bound>, descriptor: &mut ParameterDescriptor);
}

pub(crate) mod kind {
    use super::Kind;
    pub(crate) const NOT_SET: u8 = Kind::PARAMETER_NOT_SET as u8;
    pub(crate) const BOOL: u8 = Kind::PARAMETER_BOOL as u8;
    pub(crate) const INTEGER: u8 = Kind::PARAMETER_INTEGER as u8;
    pub(crate) const DOUBLE: u8 = Kind::PARAMETER_DOUBLE as u8;
    pub(crate) const STRING: u8 = Kind::PARAMETER_STRING as u8;
    pub(crate) const BYTES: u8 = Kind::PARAMETER_BYTE_ARRAY as u8;
    pub(crate) const BOOLS: u8 = Kind::PARAMETER_BOOL_ARRAY as u8;
    pub(crate) const INTEGERS: u8 = Kind::PARAMETER_INTEGER_ARRAY as u8;
    pub(crate) const DOUBLES: u8 = Kind::PARAMETER_DOUBLE_ARRAY as u8;
    pub(crate) const STRINGS: u8 = Kind::PARAMETER_STRING_ARRAY as u8;
}

/// Name of a type in messages to the user.
pub(crate) fn kind_name(kind: u8) -> &'static str {
    match kind {
        kind::NOT_SET => "nothing",
        kind::BOOL => "a bool",
        kind::INTEGER => "an integer",
        kind::DOUBLE => "a double",
        kind::STRING => "a string",
        kind::BYTES => "a byte array",
        kind::BOOLS => "a bool array",
        kind::INTEGERS => "an integer array",
        kind::DOUBLES => "a double array",
        kind::STRINGS => "a string array",
        _ => "an unknown type",
    }
}

/// Text of a value in messages to the user.
pub(crate) fn value_text(value: &ParameterValue) -> String {
    match value.type_ {
        kind::BOOL => value.bool_value.to_string(),
        kind::INTEGER => value.integer_value.to_string(),
        kind::DOUBLE => format!("{:?}", value.double_value),
        kind::STRING => format!("{:?}", value.string_value),
        kind::BYTES => format!("{:?}", value.byte_array_value),
        kind::BOOLS => format!("{:?}", value.bool_array_value),
        kind::INTEGERS => format!("{:?}", value.integer_array_value),
        kind::DOUBLES => format!("{:?}", value.double_array_value),
        kind::STRINGS => format!("{:?}", value.string_array_value),
        _ => kind_name(value.type_).to_owned(),
    }
}

/// Type and text of a YAML value in messages to the user.
pub(crate) fn yaml_name(value: &Value) -> String {
    let kind = match value {
        Value::Null => "nothing",
        Value::Bool(_) => "the bool",
        Value::Number(number) if number.is_f64() => "the double",
        Value::Number(_) => "the integer",
        Value::String(_) => "the string",
        Value::Sequence(_) => "the list",
        Value::Mapping(_) => "the mapping",
        Value::Tagged(_) => "the tagged value",
    };
    let text = match value {
        Value::Null => return kind.to_owned(),
        Value::Sequence(items) => {
            let items: Vec<String> =
                items.iter().map(|v| serde_yaml::to_string(v).unwrap_or_default()).collect();
            format!("[{}]", items.iter().map(|i| i.trim()).collect::<Vec<_>>().join(", "))
        }
        other => serde_yaml::to_string(other).unwrap_or_default(),
    };
    format!("{kind} {}", text.trim())
}

impl ParameterType for bool {
    const KIND: u8 = kind::BOOL;
    fn from_yaml(value: &Value) -> Option<Self> {
        match value {
            Value::Bool(value) => Some(*value),
            // ROS files follow YAML 1.1, which has these words for truth values
            Value::String(text) => match text.to_ascii_lowercase().as_str() {
                "yes" | "on" | "y" | "true" => Some(true),
                "no" | "off" | "n" | "false" => Some(false),
                _ => None,
            },
            _ => None,
        }
    }
    fn from_message(value: &ParameterValue) -> Option<Self> {
        (value.type_ == Self::KIND).then_some(value.bool_value)
    }
    fn to_message(&self) -> ParameterValue {
        ParameterValue { type_: Self::KIND, bool_value: *self, ..ParameterValue::default() }
    }
}

impl ParameterType for i64 {
    const KIND: u8 = kind::INTEGER;
    fn from_yaml(value: &Value) -> Option<Self> {
        value.as_i64()
    }
    fn from_message(value: &ParameterValue) -> Option<Self> {
        (value.type_ == Self::KIND).then_some(value.integer_value)
    }
    fn to_message(&self) -> ParameterValue {
        ParameterValue { type_: Self::KIND, integer_value: *self, ..ParameterValue::default() }
    }
}

impl ParameterType for f64 {
    const KIND: u8 = kind::DOUBLE;
    fn from_yaml(value: &Value) -> Option<Self> {
        match value {
            Value::Number(number) => number.as_f64(),
            // `1e3` is a double for ROS, a string for some YAML readers
            Value::String(text)
                if text.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c)) =>
            {
                text.parse().ok()
            }
            _ => None,
        }
    }
    fn from_message(value: &ParameterValue) -> Option<Self> {
        match value.type_ {
            kind::DOUBLE => Some(value.double_value),
            kind::INTEGER => Some(value.integer_value as f64),
            _ => None,
        }
    }
    fn to_message(&self) -> ParameterValue {
        ParameterValue { type_: Self::KIND, double_value: *self, ..ParameterValue::default() }
    }
}

impl ParameterType for String {
    const KIND: u8 = kind::STRING;
    fn from_yaml(value: &Value) -> Option<Self> {
        value.as_str().map(str::to_owned)
    }
    fn from_message(value: &ParameterValue) -> Option<Self> {
        (value.type_ == Self::KIND).then(|| value.string_value.clone())
    }
    fn to_message(&self) -> ParameterValue {
        ParameterValue {
            type_: Self::KIND,
            string_value: self.clone(),
            ..ParameterValue::default()
        }
    }
}

/// Implements array types: the same rules element by element.
macro_rules! array_parameter {
    ($element:ty, $kind:expr, $field:ident, $($from:tt)*) => {
        impl ParameterType for Vec<$element> {
            const KIND: u8 = $kind;
            fn from_yaml(value: &Value) -> Option<Self> {
                value.as_sequence()?.iter().map(<$element>::from_yaml).collect()
            }
            fn from_message(value: &ParameterValue) -> Option<Self> {
                if value.type_ == Self::KIND {
                    return Some(value.$field.clone());
                }
                ($($from)*)(value)
            }
            fn to_message(&self) -> ParameterValue {
                ParameterValue { type_: Self::KIND, $field: self.clone(), ..ParameterValue::default() }
            }
        }
    };
}
array_parameter!(bool, kind::BOOLS, bool_array_value, |_| None);
array_parameter!(i64, kind::INTEGERS, integer_array_value, |_| None);
array_parameter!(String, kind::STRINGS, string_array_value, |_| None);
array_parameter!(f64, kind::DOUBLES, double_array_value, |value: &ParameterValue| {
    let integers = (value.type_ == kind::INTEGERS).then_some(&value.integer_array_value)?;
    Some(integers.iter().map(|&i| i as f64).collect())
});

impl Ranged for f64 {
    type Bound = f64;
    fn outside(&self, range: &RangeInclusive<f64>) -> Option<f64> {
        (!range.contains(self)).then_some(*self)
    }
    fn describe(range: &RangeInclusive<f64>, descriptor: &mut ParameterDescriptor) {
        let range =
            FloatingPointRange { from_value: *range.start(), to_value: *range.end(), step: 0.0 };
        descriptor.floating_point_range = vec![range];
    }
}

impl Ranged for i64 {
    type Bound = i64;
    fn outside(&self, range: &RangeInclusive<i64>) -> Option<i64> {
        (!range.contains(self)).then_some(*self)
    }
    fn describe(range: &RangeInclusive<i64>, descriptor: &mut ParameterDescriptor) {
        descriptor.integer_range =
            vec![IntegerRange { from_value: *range.start(), to_value: *range.end(), step: 0 }];
    }
}

impl<T: Ranged> Ranged for Vec<T>
where
    Self: ParameterType,
{
    type Bound = T::Bound;
    fn outside(&self, range: &RangeInclusive<T::Bound>) -> Option<T::Bound> {
        self.iter().find_map(|element| element.outside(range))
    }
    fn describe(range: &RangeInclusive<T::Bound>, descriptor: &mut ParameterDescriptor) {
        T::describe(range, descriptor);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn yaml<T: ParameterType>(text: &str) -> Option<T> {
        T::from_yaml(&serde_yaml::from_str(text).unwrap())
    }

    #[test]
    fn yaml_follows_the_declared_type() {
        assert_eq!(yaml::<f64>("3"), Some(3.0));
        assert_eq!(yaml::<f64>("1e3"), Some(1000.0));
        assert_eq!(yaml::<f64>("-.inf"), Some(f64::NEG_INFINITY));
        assert!(yaml::<f64>(".nan").unwrap().is_nan());
        assert_eq!(yaml::<f64>("fast"), None);
        assert_eq!(yaml::<i64>("0x10"), Some(16));
        assert_eq!(yaml::<i64>("3.0"), None);
        assert_eq!(yaml::<bool>("yes"), Some(true));
        assert_eq!(yaml::<bool>("Off"), Some(false));
        assert_eq!(yaml::<bool>("1"), None);
        assert_eq!(yaml::<String>("'1'"), Some("1".to_owned()));
        assert_eq!(yaml::<String>("1"), None);
        assert_eq!(yaml::<String>("2024-01-01"), Some("2024-01-01".to_owned()));
        assert_eq!(yaml::<Vec<f64>>("[1, 2.5]"), Some(vec![1.0, 2.5]));
        assert_eq!(yaml::<Vec<String>>("[]"), Some(vec![]));
        assert_eq!(yaml::<Vec<i64>>("[1, x]"), None);
    }

    #[test]
    fn messages_survive_the_round_trip_and_integers_widen() {
        let numbers = vec![1.5, -2.0];
        assert_eq!(Vec::<f64>::from_message(&numbers.to_message()), Some(numbers));
        assert_eq!(f64::from_message(&3_i64.to_message()), Some(3.0));
        assert_eq!(Vec::<f64>::from_message(&vec![1_i64].to_message()), Some(vec![1.0]));
        assert_eq!(i64::from_message(&3.0.to_message()), None);
        assert_eq!(bool::from_message(&"true".to_owned().to_message()), None);
    }

    #[test]
    fn ranges_hold_for_each_element_and_never_for_nan() {
        assert_eq!(vec![1.0, 9.0].outside(&(0.0..=5.0)), Some(9.0));
        assert!(f64::NAN.outside(&(0.0..=5.0)).is_some());
        assert_eq!(5_i64.outside(&(0..=5)), None);
    }

    #[test]
    fn values_are_named_for_the_user() {
        assert_eq!(yaml_name(&Value::from(1.5)), "the double 1.5");
        assert_eq!(yaml_name(&serde_yaml::from_str("[1, a]").unwrap()), "the list [1, a]");
    }
}
