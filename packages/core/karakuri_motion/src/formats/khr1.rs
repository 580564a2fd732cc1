//! Tables of KHR-1 positions: channels of the RCB-1 boards in whole degrees from home, a speed code a line.

use karakuri_model::BodyId;
use karakuri_model::yaml::read_tree;
use serde::Deserialize;
use std::collections::BTreeMap;

use super::cells::{Cell, cells, error, lines};
use super::exchange::{Export, FormatOptions, Note, Servo};
use super::samples::{Row, Samples};
use crate::file::FileError;
use crate::motion::Ease;
use crate::performance::{MotionState, Performance};

/// Channels of the two boards.
const CHANNELS: usize = 24;
/// Beyond this a table is of bytes, not of degrees from home. [deg]
// Homes lie between 0 and 180, those of a shoulder at its end: bytes of a standing robot have values of 175 and 180, degrees
// from home stay within the half turn of a servo that most homes are amid.
const FARTHEST: i32 = 130;
/// Positions of a motion in the boards.
const POSITIONS: usize = 100;
/// Speed of each code, as far as owners know it. [deg/s]
// Reports of owners, not figures of the maker: the times of scenes hang on them, and every import says so.
const SPEEDS: [f64; 8] = [350.0, 320.0, 280.0, 240.0, 200.0, 150.0, 105.0, 60.0];
/// Times of a move that no servo makes. [s]
// One frame of the boards. It also keeps the times of equal positions apart, as keys must be.
const SHORTEST: f64 = 0.015;

/// A line of the table.
struct Line {
    number: usize,
    name: String,
    speed: usize,
    /// (24)
    channels: Vec<Option<i32>>,
}

pub(super) fn read(
    file: &str,
    text: &str,
    options: &FormatOptions<'_>,
) -> Result<Samples, FileError> {
    let table = table(file, text)?;
    let mut values = table.iter().flat_map(|line| line.channels.iter().flatten());
    let is_absolute = values.any(|x| !(-FARTHEST..=FARTHEST).contains(x));
    let mut samples = fill(file, &table, is_absolute, options)?;
    if is_absolute {
        samples.note(0, format!("a value is beyond ±{FARTHEST}: the table is of bytes"));
    }
    Ok(samples)
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PositionFile {
    positions: Vec<Position>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Position {
    #[serde(default)]
    speed: usize,
    /// Degrees from 0 to 180 by channel. [deg]
    degrees: BTreeMap<usize, i32>,
}

/// Reads the YAML of `karakuri hardware upload`: bytes of channels.
pub(super) fn read_positions(
    file: &str,
    text: &str,
    options: &FormatOptions<'_>,
) -> Result<Samples, FileError> {
    let root = read_tree(file, text)?;
    let PositionFile { positions } = root.to()?;
    let mut table = Vec::with_capacity(positions.len());
    for (k, Position { speed, degrees }) in positions.into_iter().enumerate() {
        let place = root.get("positions").map(|node| [node.place.line, node.place.column]);
        let wrong = |what: &str| error(file, place.unwrap_or([1, 1]), what);
        if speed >= SPEEDS.len() {
            return Err(wrong(&format!("positions[{k}] has speed {speed}; write one from 0 to 7")));
        }
        let mut channels = vec![None; CHANNELS];
        for (channel, degrees) in degrees {
            let Some(cell) = channel.checked_sub(1).and_then(|index| channels.get_mut(index))
            else {
                let message =
                    format!("positions[{k}] has channel {channel}; write one from 1 to {CHANNELS}");
                return Err(wrong(&message));
            };
            *cell = Some(degrees);
        }
        table.push(Line { number: 0, name: String::new(), speed, channels });
    }
    fill(file, &table, true, options)
}

/// Positions of the joints that channels turn.
fn fill(
    file: &str,
    table: &[Line],
    is_absolute: bool,
    options: &FormatOptions<'_>,
) -> Result<Samples, FileError> {
    let servos = known(file, options)?;
    let joints = servos.iter().map(|(id, _)| *id).collect();
    let mut samples = Samples::new(joints, Ease::Linear);
    samples.note(
        0,
        "the boards' speeds in degrees a second are guessed from owners' reports".to_owned(),
    );
    // A channel that stays at home turns nothing, so it is not worth a remark.
    let unused = |channel: &usize| servos.iter().all(|(_, servo)| servo.channel != channel + 1);
    for channel in (0..CHANNELS).filter(unused) {
        let set = table.iter().find(|line| line.channels[channel].is_some_and(|x| x != 0));
        if let Some(line) = set {
            let message = format!("channel {} turns no joint; left out", channel + 1);
            samples.note(line.number, message);
        }
    }
    // By channel: one that a line leaves out stays where an earlier line sent it.
    let (mut t, mut before) = (0.0, vec![0.0; CHANNELS]);
    for (k, line) in table.iter().enumerate() {
        let mut longest: f64 = 0.0;
        let mut values = Vec::with_capacity(servos.len());
        for (_, servo) in &servos {
            let degrees = line.channels[servo.channel - 1].map(|value| {
                // Both kinds of tables become degrees from home, as joints are.
                let value = f64::from(value) - if is_absolute { servo.zero_deg } else { 0.0 };
                let last = &mut before[servo.channel - 1];
                // The board takes one speed for all channels; a move ends when the farthest one arrives.
                longest = longest.max((value - *last).abs());
                *last = value;
                // Last, so that lengths of moves are those of the servos.
                if servo.reversed { -value } else { value }
            });
            values.push(degrees.map(f64::to_radians));
        }
        // The first position is where the motion begins.
        t += if k == 0 { 0.0 } else { (longest / SPEEDS[line.speed]).max(SHORTEST) };
        samples.rows.push(Row {
            line: line.number,
            t,
            values,
            root: None,
            note: line.name.clone(),
        });
    }
    Ok(samples)
}

/// Servos that turn a joint of the robot.
fn known<'a>(
    file: &str,
    options: &FormatOptions<'a>,
) -> Result<Vec<(BodyId, &'a Servo)>, FileError> {
    let servos = options.servos.iter().filter(|servo| (1..=CHANNELS).contains(&servo.channel));
    let known: Vec<(BodyId, &Servo)> =
        servos.filter_map(|servo| Some((options.performer.joint(&servo.joint)?, servo))).collect();
    if known.is_empty() {
        let message =
            "which channel turns which joint is not known; give the robot's hardware file";
        return Err(error(file, [0, 0], message));
    }
    Ok(known)
}

/// Lines of a table: a head, then one to three columns, of which the last whose cells are all from 0 to 7 is the speed, then 24
/// channels.
fn table(file: &str, text: &str) -> Result<Vec<Line>, FileError> {
    let mut rows = lines(text);
    rows.next();
    let rows: Vec<(usize, Vec<Cell<'_>>)> =
        rows.map(|(number, line)| (number, cells(line, number, ','))).collect();
    let Some((first, width)) = rows.first().map(|(number, row)| (*number, row.len())) else {
        return Err(error(file, [0, 0], "there is no position; write a head and one a line"));
    };
    let Some(leading) = width.checked_sub(CHANNELS).filter(|n| (1..=3).contains(n)) else {
        let message = format!("{width} columns; write NO, NAME, SPEED and 24 channels a line");
        return Err(error(file, [first, 1], &message));
    };
    let code = |cell: Option<&Cell<'_>>| {
        cell.and_then(|cell| cell.text.parse::<usize>().ok()).filter(|speed| *speed < SPEEDS.len())
    };
    let is_speed = |column: &usize| rows.iter().all(|(_, row)| code(row.get(*column)).is_some());
    // From the right: in a table of a few lines the numbers of the positions look like speeds as well.
    let Some(speed) = (0..leading).rev().find(is_speed) else {
        let message = "no column before the channels is a speed from 0 to 7; write one, as 4";
        return Err(error(file, [first, 1], message));
    };
    // The column next to the channels that is not the speed; a single column is the speed.
    let name = (0..leading).rev().find(|column| *column != speed).filter(|_| leading > 1);
    rows.iter()
        .map(|(number, row)| {
            super::csv::check_width(file, row, width, *number)?;
            let channels = row[leading..].iter().map(|cell| match cell.text {
                "" => Ok(None),
                text => text.parse::<i32>().map(Some).map_err(|_| {
                    let text: String = text.chars().take(30).collect();
                    error(file, cell.at, &format!("a channel is `{text}`; write whole degrees"))
                }),
            });
            Ok(Line {
                number: *number,
                name: name.map_or_else(String::new, |column| row[column].text.to_owned()),
                speed: code(row.get(speed)).unwrap_or_default(),
                channels: channels.collect::<Result<_, _>>()?,
            })
        })
        .collect()
}

/// Writes a table of degrees from home.
pub(super) fn write(
    performance: &mut Performance,
    options: &FormatOptions<'_>,
) -> Result<Export, String> {
    let Positions { lines, notes } = positions(performance, options, |_| 0.0)?;
    let mut text = "NO,NAME,SPEED".to_owned();
    for channel in 1..=CHANNELS {
        text.extend([format!(",CH{channel}")]);
    }
    text.push('\n');
    for (k, Line { name, speed, channels, .. }) in lines.iter().enumerate() {
        let cell = |value: &Option<i32>| value.map(|x| x.to_string()).unwrap_or_default();
        let cells: Vec<String> = channels.iter().map(cell).collect();
        text.extend([format!("{k},{name},{speed},{}\n", cells.join(","))]);
    }
    Ok(Export { text, notes })
}

/// Writes the YAML of `karakuri hardware upload`: bytes of channels, which no home of a board changes.
pub(super) fn write_positions(
    performance: &mut Performance,
    options: &FormatOptions<'_>,
) -> Result<Export, String> {
    let Positions { lines, notes } = positions(performance, options, |servo| servo.zero_deg)?;
    let mut text = "positions:\n".to_owned();
    for Line { speed, channels, .. } in &lines {
        let set =
            channels.iter().zip(1..).filter_map(|(value, channel)| Some((channel, (*value)?)));
        let cells: Vec<String> =
            set.map(|(channel, value)| format!("{channel}: {value}")).collect();
        text.extend([format!("  - {{speed: {speed}, degrees: {{{}}}}}\n", cells.join(", "))]);
    }
    Ok(Export { text, notes })
}

/// Positions of the boards, and what was rounded or clipped for them.
struct Positions {
    lines: Vec<Line>,
    notes: Vec<Note>,
}

/// Positions at the ends of scenes; channels count from `origin`, which is in degrees of the servo. [deg]
fn positions(
    performance: &mut Performance,
    options: &FormatOptions<'_>,
    origin: impl Fn(&Servo) -> f64,
) -> Result<Positions, String> {
    let servos = known("", options).map_err(|error| error.message)?;
    let model = std::sync::Arc::clone(&options.performer.model);
    let (mut notes, mut lines) = (Vec::new(), Vec::new());
    // The boards go straight from position to position, so the ends of scenes are all that they can hold.
    let mut ends: Vec<(f64, usize)> = vec![(0.0, 0)];
    ends.extend(performance.spans().iter().map(|span| (span.end, span.scene)));
    if ends.len() > POSITIONS {
        let message = format!(
            "{} positions are more than the {POSITIONS} that a motion of the boards has; split it",
            ends.len()
        );
        notes.push(Note { line: 0, message });
    }
    let (mut before, mut state) = ([0.0; CHANNELS], MotionState::default());
    let (mut rounded, mut late, mut last) = (0.0_f64, 0.0_f64, 0.0);
    for (k, (t, scene)) in ends.iter().enumerate() {
        performance.sample(*t, &mut state);
        // Lines from 1, after the head.
        let number = k + 2;
        let mut channels = vec![None; CHANNELS];
        let mut longest: f64 = 0.0;
        for (id, servo) in &servos {
            let degrees = state.q[model.joints[id.0].q_start].to_degrees();
            let origin = origin(servo);
            let value = origin + if servo.reversed { -degrees } else { degrees };
            // The servo's own range of 0 to 180 degrees, seen from there.
            let home = origin - servo.zero_deg;
            let taken = value.round().clamp(home, 180.0 + home);
            if (taken - value.round()).abs() > 0.0 {
                let message = format!(
                    "`{}` of scene {scene} would go to {:.1}° from home; clipped to {}°",
                    servo.joint,
                    value - origin,
                    taken - origin
                );
                notes.push(Note { line: number, message });
            } else {
                rounded = rounded.max((taken - value).abs());
            }
            let place = &mut before[servo.channel - 1];
            longest = longest.max((taken - *place).abs());
            // The rounded place: the board's next move begins there.
            *place = taken;
            #[expect(clippy::cast_possible_truncation, reason = "within half a turn")]
            let whole = taken.round() as i32;
            channels[servo.channel - 1] = Some(whole);
        }
        let time = t - last;
        last = *t;
        // To the first position from wherever the robot is: a middle speed, and no time to keep.
        let speed = if k == 0 { 4 } else { code_of(longest, time) };
        if k > 0 {
            late = late.max((longest / SPEEDS[speed] - time).abs());
        }
        lines.push(Line { number, name: format!("SCENE{scene}"), speed, channels });
    }
    notes.push(Note {
        line: 0,
        message: format!("rounded to whole degrees, by at most {rounded:.2}°"),
    });
    notes.push(Note {
        line: 0,
        message: format!("the boards' eight speeds miss the times of scenes by up to {late:.2} s; eases are not in the file"),
    });
    Ok(Positions { lines, notes })
}

/// The code whose time for a move is nearest.
fn code_of(degrees: f64, time: f64) -> usize {
    // Of the times, not the speeds: the scenes' times are what a motion keeps.
    let miss = |code: &usize| (degrees / SPEEDS[*code] - time).abs();
    (0..SPEEDS.len()).min_by(|a, b| miss(a).total_cmp(&miss(b))).unwrap_or(4)
}
