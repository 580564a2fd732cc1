//! Motions as files of other programs: read into a motion of a document, written from its samples.
//!
//! Readers say what they rounded, clipped or guessed, and refuse a broken file with line and column. Writers say what a format
//! cannot express. Units of files are converted to the document's.

mod cells;
mod choreonoid;
mod csv;
mod exchange;
mod khr1;
mod rcb;
mod samples;
mod trajectory;
mod webots;

use crate::file::FileError;
use crate::performance::Performance;

pub use exchange::{Export, FormatOptions, Import, Note, Servo};

/// A file format of motions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// CSV with a header of `time`, joints and `base.x` … `base.qw`; s, rad, m.
    Csv,
    /// CSV of `robot_motion_editor`: root pose and joints in the order of the URDF, without header and times.
    EditorCsv,
    /// Webots `.motion`.
    Webots,
    /// Choreonoid `.seq`.
    Seq,
    /// Choreonoid `.pseq`.
    Pseq,
    /// Table of KHR-1 positions, degrees from home.
    Khr1Csv,
    /// Positions of KHR-1 boards as YAML: bytes of channels.
    Khr1Yaml,
    /// Motion of `HeartToHeart` 3, `.RCB`.
    Rcb,
    /// `trajectory_msgs/JointTrajectory` as YAML or JSON.
    Trajectory,
    /// Motions of PAL's `play_motion2`.
    PlayMotion2,
}

impl Format {
    /// All formats, with their names on a command line.
    pub const ALL: [(&'static str, Self); 10] = [
        ("csv", Self::Csv),
        ("editor-csv", Self::EditorCsv),
        ("webots", Self::Webots),
        ("seq", Self::Seq),
        ("pseq", Self::Pseq),
        ("khr1-csv", Self::Khr1Csv),
        ("khr1-yaml", Self::Khr1Yaml),
        ("rcb", Self::Rcb),
        ("trajectory", Self::Trajectory),
        ("play-motion2", Self::PlayMotion2),
    ];

    /// The format that a file's name and beginning say.
    pub fn guess(name: &str, text: &str) -> Option<Self> {
        let name = name.to_ascii_lowercase();
        let first =
            text.trim_start_matches('\u{feff}').lines().find(|line| !line.trim().is_empty());
        let first = first.unwrap_or_default().trim();
        let ends = |ending: &str| name.ends_with(ending);
        // From what only one format has to what several share: `.csv` is last, as three formats have it.
        if first.starts_with("#WEBOTS_MOTION") || ends(".motion") {
            Some(Self::Webots)
        } else if first == "[GraphicalEdit]" || ends(".rcb") {
            Some(Self::Rcb)
        } else if ends(".pseq") || text.contains("type: PoseSeq") {
            Some(Self::Pseq)
        } else if ends(".seq") || text.contains("type: CompositeSeq") {
            Some(Self::Seq)
        } else if text.contains("play_motion2:") {
            Some(Self::PlayMotion2)
        } else if text.lines().any(|line| line.starts_with("positions:")) {
            Some(Self::Khr1Yaml)
        } else if text.contains("joint_names") {
            Some(Self::Trajectory)
        } else if ends(".csv") {
            let cells = first.split(',').count();
            let is_header = first.split(',').next() == Some("time");
            Some(if is_header {
                Self::Csv
            // 24 channels behind one to three columns, with words in the head; tables of the editor have numbers from the first line on.
            } else if (25..=27).contains(&cells)
                && first.parse::<f64>().is_err()
                && has_words(first)
            {
                Self::Khr1Csv
            } else {
                Self::EditorCsv
            })
        } else {
            None
        }
    }
}

fn has_words(line: &str) -> bool {
    line.split(',').any(|cell| cell.trim().parse::<f64>().is_err() && !cell.trim().is_empty())
}

/// Reads a file of another program; `file` is its name in messages and the motion's.
///
/// # Errors
/// When the file is not of the format, or a value of it does not fit; with line and column.
pub fn import(
    format: Format,
    file: &str,
    text: &str,
    options: &FormatOptions<'_>,
) -> Result<Import, FileError> {
    // A byte order mark, as Windows programs write it, would be part of the first cell.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let table = match format {
        Format::Csv => csv::read(file, text, options),
        Format::EditorCsv => csv::read_editor(file, text, options),
        Format::Webots => webots::read(file, text, options),
        Format::Seq => choreonoid::read_seq(file, text, options),
        Format::Pseq => choreonoid::read_pseq(file, text, options),
        Format::Khr1Csv => khr1::read(file, text, options),
        Format::Khr1Yaml => khr1::read_positions(file, text, options),
        Format::Rcb => rcb::read(file, text, options),
        Format::Trajectory => trajectory::read(file, text, options),
        Format::PlayMotion2 => Err(cells::error(
            file,
            [0, 0],
            "motions of play_motion2 are written, not read; convert its trajectory instead",
        )),
    }?;
    table.into_import(file, options)
}

/// Writes a motion as a file of another program.
///
/// # Errors
/// When the format is one that is only read, asks for servos that are not known, or has no times so late.
pub fn export(
    format: Format,
    name: &str,
    performance: &mut Performance,
    options: &FormatOptions<'_>,
) -> Result<Export, String> {
    match format {
        Format::Csv => Ok(csv::write(performance)),
        Format::EditorCsv => Ok(csv::write_editor(performance, options)),
        Format::Webots => webots::write(performance),
        Format::Seq => Ok(choreonoid::write_seq(performance)),
        Format::Trajectory => Ok(trajectory::write(performance)),
        Format::PlayMotion2 => Ok(trajectory::write_play_motion2(name, performance)),
        Format::Khr1Csv => khr1::write(performance, options),
        Format::Khr1Yaml => khr1::write_positions(performance, options),
        Format::Pseq | Format::Rcb => {
            Err("this format is read, not written; write csv, webots, seq or khr1-csv".to_owned())
        }
    }
}

#[cfg(test)]
mod tests;
