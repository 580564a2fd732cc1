//! Files' texts to a [`Model`].

use crate::assets::Assets;
use crate::diagnostic::{Diagnostic, Diagnostics, Place, Report};
use crate::{Base, Model, config, urdf};

/// A robot's files.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    /// URDF: name as the user knows it.
    pub urdf_name: &'a str,
    /// URDF: text.
    pub urdf_text: &'a str,
    /// Robot YAML: name and text.
    pub config: Option<(&'a str, &'a str)>,
    /// What the robot stands on; `None` leaves it to the robot YAML, and to the world's origin without one.
    pub base: Option<Base>,
}

impl<'a> Source<'a> {
    /// A URDF alone.
    pub fn urdf(name: &'a str, text: &'a str) -> Self {
        Self { urdf_name: name, urdf_text: text, config: None, base: None }
    }

    /// The same with a robot YAML.
    #[must_use]
    pub fn with_config(self, name: &'a str, text: &'a str) -> Self {
        Self { config: Some((name, text)), ..self }
    }

    /// The same on this base.
    #[must_use]
    pub fn with_base(self, base: Base) -> Self {
        Self { base: Some(base), ..self }
    }
}

/// A robot, and what was ignored or mended.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// The robot.
    pub model: Model,
    /// In the order of the files.
    pub warnings: Vec<Diagnostic>,
}

/// Reads a robot from its files' texts; every problem of all of them at once.
pub fn load(source: &Source<'_>, assets: &mut dyn Assets) -> Result<Loaded, Diagnostics> {
    let mut report = Report::default();
    let builder = urdf::read(source.urdf_name, source.urdf_text, assets, &mut report);
    let config = source.config.map(|(name, text)| (name, config::read(name, text, &mut report)));
    let model = builder.and_then(|mut builder| {
        if let Some((name, config)) = config {
            config.apply(name, &mut builder, assets, &mut report);
        }
        if let Some(base) = source.base {
            builder.base = base;
        }
        builder.check_and_build(&mut report)
    });
    report.finish(model).map(|(model, warnings)| Loaded { model, warnings })
}

/// Text of a file's bytes: UTF-8, or UTF-16 with its byte-order mark, as Windows editors write.
pub fn decode_text(name: &str, bytes: &[u8]) -> Result<String, Diagnostics> {
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
