//! Loading: files' texts to a [`Model`].

use crate::assets::Assets;
use crate::diagnostic::{Diagnostic, Diagnostics, Report};
use crate::{Base, Model, config, urdf};

/// A robot's files.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    /// Name of the URDF as the user knows it.
    pub urdf_name: &'a str,
    /// Text of the URDF.
    pub urdf_text: &'a str,
    /// Name and text of the robot YAML.
    pub config: Option<(&'a str, &'a str)>,
    /// Base of the robot; `None` leaves it to the robot YAML, and to the world's origin without one.
    pub base: Option<Base>,
}

impl<'a> Source<'a> {
    /// Source with a URDF alone.
    pub fn urdf(name: &'a str, text: &'a str) -> Self {
        Self { urdf_name: name, urdf_text: text, config: None, base: None }
    }

    /// Adds a robot YAML.
    #[must_use]
    pub fn with_config(self, name: &'a str, text: &'a str) -> Self {
        Self { config: Some((name, text)), ..self }
    }

    /// Sets the base.
    #[must_use]
    pub fn with_base(self, base: Base) -> Self {
        Self { base: Some(base), ..self }
    }
}

/// A robot, and what was ignored or mended.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// Model of the robot.
    pub model: Model,
    /// Warnings, in the order of the files.
    pub warnings: Vec<Diagnostic>,
}

/// Reads a robot from its files' texts; every problem of all of them at once.
///
/// # Errors
/// When a text is not what its format asks for or describes no robot that can be built; all problems, with the
/// warnings.
pub fn load(source: &Source<'_>, assets: &mut dyn Assets) -> Result<Loaded, Diagnostics> {
    let mut report = Report::default();
    // Problems go to the report; what could be read comes back, so that later stages find theirs in the same run.
    let builder = urdf::read(source.urdf_name, source.urdf_text, assets, &mut report);
    // Read even if the URDF is wrong: the problems of both files come in one report.
    let config = source.config.map(|(name, text)| (name, config::read(name, text, &mut report)));
    let model = builder.and_then(|mut builder| {
        if let Some((name, config)) = config {
            // Before any check, which is of the whole robot and not of its URDF.
            config.apply(name, &mut builder, assets, &mut report);
        }
        // After the file: a scene that places the robot knows better than the robot's own YAML.
        if let Some(base) = source.base {
            builder.base = base;
        }
        builder.check_and_build(&mut report)
    });
    report.finish(model).map(|(model, warnings)| Loaded { model, warnings })
}
