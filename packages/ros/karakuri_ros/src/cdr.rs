//! Reader of the middleware's bytes of a message by its definition: fields in order, numbers as they are (NaN, too).
//!
//! Source: OMG DDSI-RTPS 2.3, section 10 (plain CDR, encoding version 1), as every ROS 2 middleware writes messages:
//! a header of four bytes, then the fields, each aligned to its size, counted from the end of the header.

use serde_yaml::Value;

use crate::definition::{Count, Definition, Field, Kind, shortest};

const HEADER: usize = 4;

/// Message in `bytes`, or the position from which the bytes are not such a message.
pub(crate) fn read(bytes: &[u8], definition: &Definition) -> Result<Value, String> {
    let little = match bytes.get(..HEADER) {
        Some([0, 0, ..]) => false,
        Some([0, 1, ..]) => true,
        _ => return Err(format!("a {} in an unknown encoding came", definition.name)),
    };
    let mut reader = Reader { bytes: &bytes[HEADER..], at: 0, little };
    reader.message(definition).ok_or_else(|| format!("a {} came that is cut off", definition.name))
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    little: bool,
}

impl Reader<'_> {
    fn message(&mut self, definition: &Definition) -> Option<Value> {
        if definition.fields.is_empty() {
            // C has no empty structure: the generators insert one byte.
            self.take(1)?;
        }
        let mut read = |field: &Field| Some((field.name.clone().into(), self.field(field)?));
        let fields = definition.fields.iter().map(&mut read).collect::<Option<_>>()?;
        Some(Value::Mapping(fields))
    }

    fn field(&mut self, field: &Field) -> Option<Value> {
        let count = match field.count {
            Count::One => return self.value(&field.kind),
            Count::Fixed(count) => count,
            Count::Many(_) => usize::try_from(self.number::<4>().map(u32::from_le_bytes)?).ok()?,
        };
        // Each element takes one byte at least, so a count beyond the remaining bytes is invalid.
        if count > self.bytes.len().saturating_sub(self.at) {
            return None;
        }
        (0..count).map(|_| self.value(&field.kind)).collect::<Option<Vec<_>>>().map(Into::into)
    }

    fn value(&mut self, kind: &Kind) -> Option<Value> {
        Some(match kind {
            Kind::Bool => (self.take(1)?[0] != 0).into(),
            Kind::Integer { bytes: 1, signed: false } => u8::from_le_bytes(self.number()?).into(),
            Kind::Integer { bytes: 1, .. } => i8::from_le_bytes(self.number()?).into(),
            Kind::Integer { bytes: 2, signed: false } => u16::from_le_bytes(self.number()?).into(),
            Kind::Integer { bytes: 2, .. } => i16::from_le_bytes(self.number()?).into(),
            Kind::Integer { bytes: 4, signed: false } => u32::from_le_bytes(self.number()?).into(),
            Kind::Integer { bytes: 4, .. } => i32::from_le_bytes(self.number()?).into(),
            Kind::Integer { signed: false, .. } => u64::from_le_bytes(self.number()?).into(),
            Kind::Integer { .. } => i64::from_le_bytes(self.number()?).into(),
            Kind::Single => shortest(f32::from_le_bytes(self.number()?).into()).into(),
            Kind::Double => f64::from_le_bytes(self.number()?).into(),
            Kind::Text => self.text()?.into(),
            // Middlewares disagree on the encoding of its characters; no interface package of ours uses it.
            Kind::WideText => return None,
            Kind::Message(definition) => self.message(definition)?,
        })
    }

    /// Bytes of a number, least significant first.
    fn number<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.at = self.at.next_multiple_of(N);
        let mut bytes: [u8; N] = self.take(N)?.try_into().ok()?;
        if !self.little {
            bytes.reverse();
        }
        Some(bytes)
    }

    /// Text whose length counts the NUL at its end.
    fn text(&mut self) -> Option<String> {
        let length = usize::try_from(u32::from_le_bytes(self.number()?)).ok()?;
        let bytes = self.take(length)?;
        Some(String::from_utf8_lossy(bytes.strip_suffix(&[0]).unwrap_or(bytes)).into_owned())
    }

    fn take(&mut self, n: usize) -> Option<&[u8]> {
        let bytes = self.bytes.get(self.at..self.at.checked_add(n)?)?;
        self.at += n;
        Some(bytes)
    }
}

#[cfg(test)]
mod tests;
