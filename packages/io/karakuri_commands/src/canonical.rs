//! Canonical texts and their hashes: equal values have equal texts, so that a hash of the text is one of the value.

use std::fmt::Write as _;

use serde::Serialize;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

/// JSON with keys sorted by their bytes, no spaces, and numbers as the shortest decimals that read back as the same.
pub(crate) fn canonical<T: Serialize>(value: &T) -> String {
    let mut text = String::new();
    // The types of this crate have texts as keys, which is all that could fail.
    write(&serde_json::to_value(value).unwrap_or_default(), &mut text);
    text
}

fn write(value: &Value, text: &mut String) {
    match value {
        Value::Object(object) => {
            // Sorted here: another crate of a program may let maps keep their order.
            let mut entries: Vec<_> = object.iter().collect();
            entries.sort_by_key(|(key, _)| key.as_str());
            text.push('{');
            for (i, (key, value)) in entries.into_iter().enumerate() {
                text.push_str(if i > 0 { "," } else { "" });
                text.push_str(&Value::from(key.as_str()).to_string());
                text.push(':');
                write(value, text);
            }
            text.push('}');
        }
        Value::Array(items) => {
            text.push('[');
            for (i, item) in items.iter().enumerate() {
                text.push_str(if i > 0 { "," } else { "" });
                write(item, text);
            }
            text.push(']');
        }
        other => text.push_str(&other.to_string()),
    }
}

/// SHA-256 in hexadecimal digits.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    hexadecimal(&Sha256::digest(bytes))
}

/// Bytes in hexadecimal digits.
pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string does not fail.
        let _written = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_sorted_at_every_level() {
        let value: Value =
            serde_json::from_str(r#"{"b": [1.0, {"z": null, "a\n": true}], "a": 0.1, "B": -1e-9}"#)
                .unwrap();
        assert_eq!(canonical(&value), r#"{"B":-1e-9,"a":0.1,"b":[1.0,{"a\n":true,"z":null}]}"#);
    }

    /// From FIPS 180-2, appendix B.1.
    #[test]
    fn the_hash_is_sha_256() {
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(sha256(b"abc"), expected);
    }
}
