//! Files into types: a tree of nodes as a source of `serde`, every problem with its line and its key.
//!
//! Words are what YAML 1.2's core schema makes of them: `true`, `null`, `0x1f`, `.inf`; what is quoted is a text.

use std::fmt;
use std::sync::Arc;

use serde::de::value::{MapAccessDeserializer, StrDeserializer};
use serde::de::{
    self, DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, IntoDeserializer, MapAccess,
    SeqAccess, Unexpected, VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;

use super::{Node, Value, parse};
use crate::diagnostic::{Place, Report};

/// An error of a file: its place, its key and the message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct YamlError {
    /// Place of the innermost node that is known.
    pub place: Place,
    /// The key, as `walk.limits.width[0]`; empty for the whole file.
    pub path: String,
    /// Message for a user.
    pub message: String,
}

impl fmt::Display for YamlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.place)?;
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for YamlError {}

impl de::Error for YamlError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self { place: Place::default(), path: String::new(), message: message.to_string() }
    }
}

impl YamlError {
    /// The place, unless one further inside is known.
    fn at(mut self, place: &Place) -> Self {
        // Errors rise from the inside out, so the first place that they get is the innermost.
        if self.place.line == 0 {
            self.place = place.clone();
        }
        self
    }

    /// The step that led to the node: `key` or `[index]`.
    fn below(mut self, step: &str) -> Self {
        // `scenes[1]`, but `walk.limits`.
        let separator = if self.path.is_empty() || self.path.starts_with('[') { "" } else { "." };
        self.path = format!("{step}{separator}{}", self.path);
        self
    }
}

/// Reads a file's text into a type.
///
/// # Errors
/// If the text is no YAML or holds what the type does not take; with line and key.
pub fn read<T: DeserializeOwned>(file: &str, text: &str) -> Result<T, YamlError> {
    read_tree(file, text)?.to()
}

/// Reads a file's text into a tree, for files of which a key says what they are; an empty file is an empty mapping.
///
/// # Errors
/// If the text is no YAML; with the line.
pub fn read_tree(file: &str, text: &str) -> Result<Arc<Node>, YamlError> {
    let mut report = Report::default();
    let root = parse(file, text, &mut report);
    // serde stops at the first problem, so there is one to hand on.
    if let Err(diagnostics) = report.finish(Some(())) {
        let first = diagnostics.0.into_iter().next();
        return Err(first.map_or_else(
            || de::Error::custom("not readable as YAML"),
            |d| YamlError {
                place: d.place,
                path: String::new(),
                message: format!("{}; {}", d.message, d.remedy),
            },
        ));
    }
    // So that a type whose keys are all optional is read from an empty file.
    let empty = || Node { place: Place::file(file), value: Value::Map(Vec::new()), tag: None };
    Ok(root.unwrap_or_else(|| empty().into()))
}

impl Node {
    /// The value of a key, if this is a mapping that has it.
    pub fn get(&self, key: &str) -> Option<&Self> {
        let Value::Map(entries) = &self.value else { return None };
        entries.iter().find(|(name, ..)| name == key).map(|(_, _, node)| node.as_ref())
    }

    /// The node as a type.
    ///
    /// # Errors
    /// If the node holds what the type does not take; with line and key.
    pub fn to<T: DeserializeOwned>(&self) -> Result<T, YamlError> {
        T::deserialize(self)
    }
}

impl<'n> Deserializer<'n> for &'n Node {
    type Error = YamlError;

    fn deserialize_any<V: Visitor<'n>>(self, visitor: V) -> Result<V::Value, YamlError> {
        let result = match &self.value {
            Value::Scalar { text, plain } => visit_scalar(text, *plain, visitor),
            Value::List(items) => visitor.visit_seq(Items { items: items.iter().enumerate() }),
            Value::Map(entries) => {
                // serde's derive would let the second one win in some types, and report it in others without a place.
                if let Some((key, place)) = twice(entries) {
                    let error: YamlError = de::Error::custom("is there twice; delete one");
                    return Err(error.at(place).below(key));
                }
                visitor.visit_map(Entries { entries: entries.iter(), value: None })
            }
        };
        result.map_err(|error| error.at(&self.place))
    }

    fn deserialize_option<V: Visitor<'n>>(self, visitor: V) -> Result<V::Value, YamlError> {
        // `key:` is the same as no key, as in the other reader.
        if self.is_nothing() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_newtype_struct<V: Visitor<'n>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, YamlError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_str<V: Visitor<'n>>(self, visitor: V) -> Result<V::Value, YamlError> {
        match &self.value {
            Value::Scalar { text, .. } => {
                // Where a type asks for a text, `12` is one: names may look like numbers.
                visitor.visit_str(text).map_err(|error: YamlError| error.at(&self.place))
            }
            Value::List(_) | Value::Map(_) => self.deserialize_any(visitor),
        }
    }

    fn deserialize_string<V: Visitor<'n>>(self, visitor: V) -> Result<V::Value, YamlError> {
        self.deserialize_str(visitor)
    }

    fn deserialize_enum<V: Visitor<'n>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, YamlError> {
        // `!contacts {...}`; without a tag a variant is a word, or a mapping with one key.
        if let Some(variant) = &self.tag {
            let tagged = Tagged { variant, node: self };
            return visitor.visit_enum(tagged).map_err(|error| error.at(&self.place));
        }
        let result = match &self.value {
            Value::Scalar { text, .. } => {
                let word: StrDeserializer<'_, YamlError> = text.as_str().into_deserializer();
                word.deserialize_enum(name, variants, visitor)
            }
            Value::Map(entries) => {
                let entries = Entries { entries: entries.iter(), value: None };
                visitor.visit_enum(MapAccessDeserializer::new(entries))
            }
            Value::List(_) => Err(de::Error::invalid_type(Unexpected::Seq, &"one word")),
        };
        result.map_err(|error| error.at(&self.place))
    }

    forward_to_deserialize_any! {
        <V: Visitor<'n>>
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char bytes byte_buf unit unit_struct seq tuple tuple_struct
        map struct identifier ignored_any
    }
}

/// A key that is there twice, where it is the second time.
fn twice(entries: &[(String, Place, Arc<Node>)]) -> Option<(&str, &Place)> {
    let mut seen = std::collections::BTreeSet::new();
    // At its second place, which is the one to delete.
    entries.iter().find(|(key, ..)| !seen.insert(key)).map(|(key, place, _)| (key.as_str(), place))
}

/// A word as YAML's core schema reads it.
enum Scalar {
    Nothing,
    Bool(bool),
    Integer(i128),
    Float(f64),
    Text,
}

/// Apart from [`visit_scalar`], which is compiled for every type that is read.
fn scalar(text: &str, plain: bool) -> Scalar {
    if !plain {
        return Scalar::Text;
    }
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Scalar::Nothing,
        "true" | "True" | "TRUE" => return Scalar::Bool(true),
        "false" | "False" | "FALSE" => return Scalar::Bool(false),
        _ => {}
    }
    let number = integer(text).map(Scalar::Integer).or_else(|| float(text).map(Scalar::Float));
    number.unwrap_or(Scalar::Text)
}

fn visit_scalar<'n, V: Visitor<'n>>(
    text: &str,
    plain: bool,
    visitor: V,
) -> Result<V::Value, YamlError> {
    match scalar(text, plain) {
        Scalar::Nothing => visitor.visit_unit(),
        Scalar::Bool(flag) => visitor.visit_bool(flag),
        // Types check the range: an integer goes to the smallest kind that holds it.
        Scalar::Integer(integer) => match (u64::try_from(integer), i64::try_from(integer)) {
            (Ok(integer), _) => visitor.visit_u64(integer),
            (_, Ok(integer)) => visitor.visit_i64(integer),
            _ => visitor.visit_i128(integer),
        },
        Scalar::Float(number) => visitor.visit_f64(number),
        Scalar::Text => visitor.visit_str(text),
    }
}

/// Decimal, or `0x`, `0o`, `0b`; zeros in front make a word, as of a telephone.
fn integer(text: &str) -> Option<i128> {
    let (is_negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let based = [("0x", 16), ("0o", 8), ("0b", 2)]
        .into_iter()
        .find_map(|(prefix, base)| digits.strip_prefix(prefix).map(|digits| (digits, base)));
    let (digits, base) = based.unwrap_or((digits, 10));
    // Telephone numbers and versions: `007` as a number would come back as `7`.
    let is_word = base == 10 && digits.len() > 1 && digits.starts_with('0');
    let are_digits = !digits.is_empty() && digits.chars().all(|c| c.is_digit(base));
    if is_word || !are_digits {
        return None;
    }
    let value = i128::from_str_radix(digits, base).ok()?;
    Some(if is_negative { -value } else { value })
}

fn float(text: &str) -> Option<f64> {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    match unsigned {
        ".inf" | ".Inf" | ".INF" => {
            return Some(if text.starts_with('-') { f64::NEG_INFINITY } else { f64::INFINITY });
        }
        // Accepted here, refused by whoever needs a finite number, with the key.
        ".nan" | ".NaN" | ".NAN" => return Some(f64::NAN),
        _ => {}
    }
    // Rust also parses `inf` and `nan`, which are words in YAML without their points.
    let is_number = unsigned.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        && unsigned.chars().all(|c| c.is_ascii_digit() || ".eE+-".contains(c));
    // `007` is a word, `0.7` and `1e7` are numbers.
    let is_word = unsigned.len() > 1
        && unsigned.chars().all(|c| c.is_ascii_digit())
        && unsigned.starts_with('0');
    if is_number && !is_word { text.parse().ok() } else { None }
}

/// A tagged node, `!variant value`.
struct Tagged<'n> {
    variant: &'n str,
    node: &'n Node,
}

impl<'n> EnumAccess<'n> for Tagged<'n> {
    type Error = YamlError;
    type Variant = &'n Node;

    fn variant_seed<T: DeserializeSeed<'n>>(
        self,
        seed: T,
    ) -> Result<(T::Value, &'n Node), YamlError> {
        let variant: StrDeserializer<'_, YamlError> = self.variant.into_deserializer();
        Ok((seed.deserialize(variant)?, self.node))
    }
}

impl<'n> VariantAccess<'n> for &'n Node {
    type Error = YamlError;

    fn unit_variant(self) -> Result<(), YamlError> {
        Ok(())
    }

    fn newtype_variant_seed<T: DeserializeSeed<'n>>(self, seed: T) -> Result<T::Value, YamlError> {
        seed.deserialize(self)
    }

    fn tuple_variant<V: Visitor<'n>>(self, _: usize, visitor: V) -> Result<V::Value, YamlError> {
        self.deserialize_any(visitor)
    }

    fn struct_variant<V: Visitor<'n>>(
        self,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, YamlError> {
        self.deserialize_any(visitor)
    }
}

/// A key: a word, unless the type asks for a number.
struct Key<'n>(&'n str);

impl<'n> Key<'n> {
    fn number<V: Visitor<'n>>(self, visitor: V) -> Result<V::Value, YamlError> {
        visit_scalar(self.0, true, visitor)
    }
}

/// The types whose keys are numbers.
macro_rules! numbers {
    ($($method:ident)*) => {
        $(fn $method<V: Visitor<'n>>(self, visitor: V) -> Result<V::Value, YamlError> {
            self.number(visitor)
        })*
    };
}

impl<'n> Deserializer<'n> for Key<'n> {
    type Error = YamlError;

    fn deserialize_any<V: Visitor<'n>>(self, visitor: V) -> Result<V::Value, YamlError> {
        visitor.visit_str(self.0)
    }

    fn deserialize_enum<V: Visitor<'n>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, YamlError> {
        let word: StrDeserializer<'_, YamlError> = self.0.into_deserializer();
        word.deserialize_enum(name, variants, visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'n>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, YamlError> {
        visitor.visit_newtype_struct(self)
    }

    numbers! {
        deserialize_bool deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128 deserialize_u8
        deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128 deserialize_f32 deserialize_f64
    }

    forward_to_deserialize_any! {
        <V: Visitor<'n>>
        char str string bytes byte_buf option unit unit_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

struct Items<'n> {
    items: std::iter::Enumerate<std::slice::Iter<'n, Arc<Node>>>,
}

impl<'n> SeqAccess<'n> for Items<'n> {
    type Error = YamlError;

    fn next_element_seed<T: DeserializeSeed<'n>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, YamlError> {
        let Some((index, node)) = self.items.next() else { return Ok(None) };
        // On the way back up each level adds its place, if none is known, and its step of the path.
        let value = seed.deserialize(node.as_ref());
        value.map(Some).map_err(|error| error.at(&node.place).below(&format!("[{index}]")))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.items.len())
    }
}

struct Entries<'n> {
    entries: std::slice::Iter<'n, (String, Place, Arc<Node>)>,
    value: Option<(&'n str, &'n Node)>,
}

impl<'n> MapAccess<'n> for Entries<'n> {
    type Error = YamlError;

    fn next_key_seed<K: DeserializeSeed<'n>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, YamlError> {
        let Some((key, place, node)) = self.entries.next() else { return Ok(None) };
        // Kept for the error's path, in which the key comes before what its value lacks.
        self.value = Some((key, node));
        // At the key: an unknown one is wrong where it is written, not where its value is.
        seed.deserialize(Key(key)).map(Some).map_err(|error| error.at(place))
    }

    fn next_value_seed<V: DeserializeSeed<'n>>(&mut self, seed: V) -> Result<V::Value, YamlError> {
        let Some((key, node)) = self.value.take() else {
            return Err(de::Error::custom("a value without its key"));
        };
        seed.deserialize(node).map_err(|error| error.at(&node.place).below(key))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.entries.len())
    }
}

#[cfg(test)]
mod tests;
