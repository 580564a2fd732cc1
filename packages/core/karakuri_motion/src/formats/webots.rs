//! Motion files of Webots: a header of joints, rows of `MM:SS:mmm`, a pose's name and positions in rad, `*` where none is set.

use super::cells::{Cell, cells, error, number};
use super::csv::{check_width, joint, sampled};
use super::exchange::{Export, FormatOptions, notes};
use super::samples::{Row, Samples};
use crate::file::FileError;
use crate::motion::Ease;
use crate::performance::{MotionState, Performance};

const HEADER: &str = "#WEBOTS_MOTION";
const VERSION: &str = "V1.0";
/// Largest number of minutes of a time.
const MINUTES: u32 = 60;

pub(super) fn read(
    file: &str,
    text: &str,
    options: &FormatOptions<'_>,
) -> Result<Samples, FileError> {
    // Not `cells::lines`: the header begins with the `#` of a comment.
    let mut rows = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let Some((first, header)) = rows.next() else {
        return Err(error(
            file,
            [1, 1],
            "the file is empty; write `#WEBOTS_MOTION,V1.0,<joint>,...`",
        ));
    };
    let header = cells(header, first + 1, ',');
    if header[0].text != HEADER || header.get(1).map(|cell| cell.text) != Some(VERSION) {
        let message = "the first line is not `#WEBOTS_MOTION,V1.0,<joint>,...`; write it so";
        return Err(error(file, header[0].at, message));
    }
    let names = &header[2..];
    let joints = names.iter().map(|name| joint(file, *name, options)).collect::<Result<_, _>>()?;
    let mut samples = Samples::new(joints, Ease::Linear);
    for (index, row) in rows {
        let line = index + 1;
        let row = cells(row, line, ',');
        check_width(file, &row, header.len(), line)?;
        let t = time(file, row[0])?;
        let values = row[2..].iter().map(|cell| match cell.text {
            // Not set in this pose: the joint goes on to the next that sets it.
            "*" => Ok(None),
            _ => number(file, *cell, "a position").map(Some),
        });
        let values = values.collect::<Result<_, _>>()?;
        samples.rows.push(Row { line, t, values, root: None, note: row[1].text.to_owned() });
    }
    Ok(samples)
}

/// Seconds of `MM:SS:mmm`.
fn time(file: &str, cell: Cell<'_>) -> Result<f64, FileError> {
    let parts: Vec<Option<u32>> = cell.text.split(':').map(|part| part.parse().ok()).collect();
    match parts[..] {
        [Some(minutes), Some(seconds), Some(ms)]
            if minutes <= MINUTES && seconds < 60 && ms < 1000 =>
        {
            Ok(f64::from(minutes * 60_000 + seconds * 1000 + ms) / 1000.0)
        }
        _ => Err(error(file, cell.at, "the time is not MM:SS:mmm; write it as 00:01:250")),
    }
}

pub(super) fn write(performance: &mut Performance) -> Result<Export, String> {
    let duration = performance.duration();
    // Readers refuse more minutes than these, ours as well.
    if milliseconds(duration) / 60_000 > MINUTES {
        return Err(format!(
            "the motion takes {duration} s; times of this format end with minute {MINUTES}: split it"
        ));
    }
    let performer = std::sync::Arc::clone(performance.performer());
    let (model, joints) = (&performer.model, performance.joints().collect::<Vec<_>>());
    let mut text = format!("{HEADER},{VERSION}");
    for id in &joints {
        text.extend([format!(",{}", model.joints[id.0].name)]);
    }
    text.push('\n');
    let mut state = MotionState::default();
    let mut said: Vec<String> = sampled(performance).into();
    let (mut last, mut n) = (None, 0);
    for t in performance.times() {
        let ms = milliseconds(t);
        // The end may be less than a millisecond after the last frame.
        if last == Some(ms) {
            continue;
        }
        last = Some(ms);
        // Sampled where the file says, not where its rounding began.
        performance.sample(f64::from(ms) / 1000.0, &mut state);
        text.extend([format!("{:02}:{:02}:{:03}", ms / 60_000, ms / 1000 % 60, ms % 1000)]);
        n += 1;
        text.extend([format!(",Pose{n}")]);
        for id in &joints {
            text.extend([format!(",{}", state.q[model.joints[id.0].q_start])]);
        }
        text.push('\n');
    }
    said.push("times are whole milliseconds; the root link's path is not in the file".to_owned());
    Ok(Export { text, notes: notes(said) })
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "positive; a cast saturates"
)]
fn milliseconds(t: f64) -> u32 {
    (t * 1000.0).round() as u32
}
