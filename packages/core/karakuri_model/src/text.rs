//! Decoding of files' texts.

use crate::diagnostic::{Diagnostics, Place, Report};

/// Text of a file's bytes: UTF-8, or UTF-16 with its byte-order mark, as Windows editors write.
///
/// # Errors
/// When the bytes are neither; the diagnostic names the line.
pub fn decode_text(name: &str, bytes: &[u8]) -> Result<String, Diagnostics> {
    // An odd last byte is cut off: it is no character of any kind.
    let utf16 = |unit: fn([u8; 2]) -> u16| {
        let units: Vec<u16> = bytes[2..].as_chunks().0.iter().map(|&pair| unit(pair)).collect();
        String::from_utf16(&units).ok()
    };
    let text = match bytes {
        [0xff, 0xfe, ..] => utf16(u16::from_le_bytes),
        [0xfe, 0xff, ..] => utf16(u16::from_be_bytes),
        [0xef, 0xbb, 0xbf, rest @ ..] => String::from_utf8(rest.to_vec()).ok(),
        _ => String::from_utf8(bytes.to_vec()).ok(),
    };
    text.ok_or_else(|| {
        // The text up to the first wrong byte has the number of its line.
        let valid = bytes.utf8_chunks().next().map_or("", |chunk| chunk.valid());
        let place = Place::in_text(name, valid, valid.len()..valid.len());
        let mut report = Report::default();
        report.error_at(
            place,
            "not text: a byte here is not UTF-8".to_owned(),
            "save the file as UTF-8, or name a text file",
        );
        Diagnostics(report.finish::<()>(None).err().map(|d| d.0).unwrap_or_default())
    })
}
