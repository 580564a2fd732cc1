//! Motions of the document: performed, played, read and written.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use karakuri_files::read_yaml;
use karakuri_model::decode_text;
use karakuri_motion::formats::{Export, Format, FormatOptions, Import, Servo, export, import};
use karakuri_motion::{Document, MotionState, Performance, Performer, Problem};
use serde::Deserialize;
use serde_json::Value;

use super::project::refuse;
use super::state::{Session, to_value};
use crate::curves::times;
use crate::run::Playback;
use crate::wire::{Code, Exported, Imported, WireError};

/// Largest file that is imported. [bytes]
const IMPORT_LIMIT: usize = 64 << 20;

impl Session {
    /// Robot of the document, as motions need it.
    fn performer(&self) -> Result<Arc<Performer>, WireError> {
        self.project.performer.clone().ok_or_else(super::state::no_robot)
    }

    /// A motion of the document as it is shown.
    pub(super) fn performance(&self, motion: &str) -> Result<Performance, WireError> {
        let performer = self.performer()?;
        let shown = self.project.shown();
        if !shown.motions.contains_key(motion) {
            let known: Vec<&str> = shown.motions.keys().map(String::as_str).collect();
            let text = format!("there is no motion `{motion}`");
            let hint = format!("there are {}", known.join(", "));
            return Err(WireError::new(Code::NotFound, text, hint));
        }
        Performance::new(shown, motion, &performer).map_err(|problems| first(&problems))
    }

    /// A motion as drives follow it.
    pub(super) fn playback(&mut self, motion: &str) -> Result<Playback, WireError> {
        let mut performance = self.performance(motion)?;
        let model = Arc::clone(&performance.performer().model);
        let driven: Vec<_> = model.joints.iter().filter(|joint| joint.drive.is_some()).collect();
        let dt = performance.frame();
        let mut state = MotionState::default();
        performance.sample(0.0, &mut state);
        let start = state.q.clone();
        let rows = times(performance.duration(), dt)?
            .into_iter()
            .map(|t| {
                performance.sample(t, &mut state);
                let within = |j: &&karakuri_model::Joint| {
                    state.q[j.q_start].clamp(j.limits.lower, j.limits.upper)
                };
                driven.iter().map(within).collect()
            })
            .collect();
        let shown = self.project.shown();
        Ok(Playback {
            name: motion.to_owned(),
            dt,
            start,
            dofs: driven.iter().map(|joint| joint.v_start).collect(),
            rows,
            is_loop: shown.motions.get(motion).is_some_and(|m| m.is_loop),
        })
    }

    /// Reads a file of another program into the document.
    pub(super) fn import(
        &mut self,
        client: &str,
        name: &str,
        data: &str,
        rate: Option<f64>,
    ) -> Result<Value, WireError> {
        let invalid = |text: String| WireError::from_text(Code::Invalid, &text);
        if data.len() / 4 * 3 > IMPORT_LIMIT {
            return Err(WireError::new(Code::Limit, "the file is larger than 64 MB", "cut it"));
        }
        let bytes = crate::bytes_of(data).ok_or_else(|| {
            WireError::new(Code::Malformed, "`data` is no base64", "send the file's bytes so")
        })?;
        let text = decode_text(name, &bytes).map_err(|error| invalid(error.to_string()))?;
        let format = Format::guess(name, &text).ok_or_else(|| {
            let hint = "files are known by their endings and beginnings: .csv, .motion, .seq, .rcb";
            WireError::new(Code::Invalid, format!("the format of `{name}` is not known"), hint)
        })?;
        let performer = self.performer()?;
        let servos = self.servos();
        let options = FormatOptions {
            performer: &performer,
            unit: self.project.document.units.angle,
            frames_per_second: rate.filter(|r| (1.0..=10_000.0).contains(r)).unwrap_or(50.0),
            servos: &servos,
        };
        let imported =
            import(format, name, &text, &options).map_err(|error| invalid(error.to_string()))?;
        let report = imported.notes.iter().map(Into::into).collect();
        let motions = self.add_motion(client, imported, format!("import {name}"))?;
        to_value(&Imported { rev: self.project.rev, motions, report })
    }

    /// Adds a motion that came from elsewhere, as one step of history; its name in the document.
    pub(super) fn add_motion(
        &mut self,
        client: &str,
        imported: Import,
        label: String,
    ) -> Result<Vec<String>, WireError> {
        let ops = imported.ops(&self.project.document);
        let names = ops.iter().filter_map(|op| match op {
            karakuri_motion::Op::PutMotion { name, .. } => Some(name.clone()),
            _ => None,
        });
        let names = names.collect();
        self.edit(client, &ops, Some(label))?;
        Ok(names)
    }

    /// Writes a motion as a file of another program.
    pub(super) fn export(&self, format: &str, motion: &str) -> Result<Value, WireError> {
        let found = Format::ALL.iter().find(|(name, _)| *name == format);
        let (_, format) = found.ok_or_else(|| {
            let known: Vec<&str> = Format::ALL.iter().map(|(name, _)| *name).collect();
            let text = format!("there is no format `{format}`");
            WireError::new(Code::NotFound, text, format!("write one of {}", known.join(", ")))
        })?;
        let exported = self.exported(*format, motion)?;
        to_value(&Exported {
            name: format!("{motion}.{}", ending(*format)),
            data: crate::text_of(exported.text.as_bytes()),
            report: exported.notes.iter().map(Into::into).collect(),
        })
    }

    /// A motion as another program or a robot's board takes it.
    pub(super) fn exported(&self, format: Format, motion: &str) -> Result<Export, WireError> {
        let mut performance = self.performance(motion)?;
        let performer = self.performer()?;
        let servos = self.servos();
        let options = FormatOptions {
            performer: &performer,
            unit: self.project.document.units.angle,
            frames_per_second: 50.0,
            servos: &servos,
        };
        export(format, motion, &mut performance, &options)
            .map_err(|text| WireError::from_text(Code::Invalid, &text))
    }

    /// Servos of the robot's boards: those of `hardware/NAME.yaml` beside the robot's YAML, if it is of RCB-1 boards.
    fn servos(&self) -> Vec<Servo> {
        #[derive(Deserialize)]
        struct Hardware {
            bus: String,
            servos: std::collections::BTreeMap<String, Entry>,
        }
        #[derive(Deserialize)]
        struct Entry {
            id: usize,
            #[serde(default = "middle_deg")]
            zero: f64,
            #[serde(default)]
            trim: f64,
            #[serde(default)]
            reversed: bool,
        }
        let Some(config) = &self.project.document.robot.config else { return Vec::new() };
        let config = self.project.named_in(&self.folder).with_file_name(config);
        let (Some(folder), Some(name)) = (config.parent(), config.file_name()) else {
            return Vec::new();
        };
        let file: PathBuf = folder.join("hardware").join(Path::new(name));
        let Ok(hardware) = read_yaml::<Hardware>(&file) else { return Vec::new() };
        if hardware.bus != "rcb1" {
            return Vec::new();
        }
        let servo = |(joint, Entry { id, zero, trim, reversed })| Servo {
            joint,
            channel: id,
            zero_deg: zero + trim,
            reversed,
        };
        hardware.servos.into_iter().map(servo).collect()
    }
}

/// Position of a servo of RCB-1 boards in its middle. [degrees]
fn middle_deg() -> f64 {
    90.0
}

/// Names of the formats that can be written.
pub(super) fn export_formats() -> Vec<String> {
    let written = |format: &Format| !matches!(format, Format::Pseq | Format::Rcb);
    let all = Format::ALL.iter().filter(|(_, format)| written(format));
    all.map(|(name, _)| (*name).to_owned()).collect()
}

fn ending(format: Format) -> &'static str {
    match format {
        Format::Webots => "motion",
        Format::Seq => "seq",
        Format::Trajectory | Format::PlayMotion2 | Format::Khr1Yaml => "yaml",
        Format::Pseq => "pseq",
        Format::Rcb => "rcb",
        Format::Csv | Format::EditorCsv | Format::Khr1Csv => "csv",
    }
}

fn first(problems: &[Problem]) -> WireError {
    problems
        .first()
        .map_or_else(|| WireError::new(Code::Failed, "the motion is wrong", "report this"), refuse)
}

/// The document that is shown: that of the drag, if there is one.
impl super::project::Project {
    pub(super) fn shown(&self) -> &Document {
        self.drag.as_ref().map_or(&self.document, |drag| &drag.shown)
    }
}
