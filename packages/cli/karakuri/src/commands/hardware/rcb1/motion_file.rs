//! Motions of a KHR-1 as files: a table of channels as owners have it, or YAML.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context as _, Result, bail, ensure};
use karakuri_files::{read_text, read_yaml};
use karakuri_serial::codec::rcb1::{CHANNELS, Channel, POSITIONS, Pose, Speed};
use serde::Deserialize;

/// Boards of a robot, and their channels.
pub(super) const BOARDS: usize = 2;
const ALL: usize = BOARDS * CHANNELS;
/// Columns before the channels, in tables of others.
const MOST_LEADING: usize = 3;
/// Beyond this a table is of bytes, not of degrees from home. [deg]
const FARTHEST: i32 = 130;

/// Positions that both boards play back to back.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Motion {
    pub(super) positions: Vec<[Pose; BOARDS]>,
}

/// Degrees of the home position by channel; none where a channel has none. (24)
pub(super) type Home = [Option<i32>; ALL];

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct YamlMotion {
    positions: Vec<YamlPosition>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct YamlPosition {
    #[serde(default)]
    speed: u8,
    /// Degrees from 0 to 180 by channel. [deg]
    degrees: BTreeMap<usize, i32>,
}

/// One line of a table: speed and channels.
struct Line {
    number: usize,
    speed: u8,
    /// (24)
    channels: Vec<Option<i32>>,
}

impl Motion {
    /// Reads a file; its table is of degrees from home, or of bytes where one is beyond ±130.
    pub(super) fn read(path: &Path, home: &Home) -> Result<Self> {
        let ending = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
        let motion = match ending.as_str() {
            "yaml" | "yml" => Self::from_yaml(read_yaml::<YamlMotion>(path)?),
            _ => Self::from_table(&read_text(path)?, home),
        };
        let motion = motion.with_context(|| path.display().to_string())?;
        let n = motion.positions.len();
        ensure!(n > 0, "{}: there is no position; write one a line", path.display());
        ensure!(
            n <= POSITIONS.into(),
            "{}: {n} positions are more than the {POSITIONS} that a motion has; split it in several motions",
            path.display()
        );
        Ok(motion)
    }

    fn from_yaml(file: YamlMotion) -> Result<Self> {
        let positions = file.positions.into_iter().enumerate().map(|(i, position)| {
            let place = format!("positions[{i}]");
            let mut channels = [None; ALL];
            for (channel, degrees) in position.degrees {
                ensure!(
                    (1..=ALL).contains(&channel),
                    "{place}: there is no channel {channel}; write one from 1 to {ALL}"
                );
                channels[channel - 1] = Some(degrees);
            }
            poses(&place, position.speed, &channels)
        });
        Ok(Self { positions: positions.collect::<Result<_>>()? })
    }

    fn from_table(text: &str, home: &Home) -> Result<Self> {
        let lines = table(text)?;
        let far = |line: &Line| line.channels.iter().flatten().any(|x| x.abs() > FARTHEST);
        let is_absolute = lines.iter().any(far);
        let positions = lines.iter().map(|line| {
            let place = format!("line {}", line.number);
            let mut channels = [None; ALL];
            for (i, value) in line.channels.iter().enumerate() {
                channels[i] = match (value, home[i]) {
                    (Some(value), _) if is_absolute => Some(*value),
                    (Some(value), Some(home)) => Some(home + value),
                    (Some(_), None) => bail!(
                        "{place}: channel {} has no home to count from; leave its cell empty",
                        i + 1
                    ),
                    (None, _) => None,
                };
            }
            poses(&place, line.speed, &channels)
        });
        Ok(Self { positions: positions.collect::<Result<_>>()? })
    }

    /// Time that the boards take from `start` [deg] (24), as far as their speeds are known. [s]
    pub(super) fn duration(&self, start: &Home) -> f64 {
        let mut at = start.map(|degrees| f64::from(degrees.unwrap_or(90)));
        let mut time = 0.0;
        for poses in &self.positions {
            let mut longest: f64 = 0.0;
            for (board, pose) in poses.iter().enumerate() {
                for (channel, target) in pose.channels.iter().enumerate() {
                    let Channel::Degrees(degrees) = target else { continue };
                    let place = &mut at[board * CHANNELS + channel];
                    let way = (f64::from(*degrees) - *place).abs().to_radians();
                    *place = f64::from(*degrees);
                    longest = longest.max(way / pose.speed.rad_per_s());
                }
            }
            time += longest;
        }
        time
    }
}

/// Positions of both boards, within what they take.
fn poses(place: &str, speed: u8, channels: &[Option<i32>; ALL]) -> Result<[Pose; BOARDS]> {
    let speed = Speed::new(speed).with_context(|| place.to_owned())?;
    let mut poses = [Pose { speed, channels: [Channel::Keep; CHANNELS] }; BOARDS];
    for (i, degrees) in channels.iter().enumerate() {
        let Some(degrees) = degrees else { continue };
        let byte = u8::try_from(*degrees).ok().filter(|byte| *byte <= 180);
        let byte = byte.with_context(|| {
            format!("{place}: channel {} would go to {degrees} degrees; it has 0 to 180", i + 1)
        })?;
        poses[i / CHANNELS].channels[i % CHANNELS] = Channel::Degrees(byte);
    }
    Ok(poses)
}

/// Lines of a table: a head, then one to three columns, of which the last whose cells are all from 0 to 7 is the speed, and 24 channels.
fn table(text: &str) -> Result<Vec<Line>> {
    let rows = text.lines().enumerate().map(|(i, line)| (i + 1, line.trim()));
    let rows = rows.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    let rows: Vec<(usize, Vec<&str>)> = rows
        .map(|(number, line)| (number, line.split(',').map(str::trim).collect()))
        .skip(1)
        .collect();
    let width = rows.first().map_or(0, |(_, cells)| cells.len());
    let Some(leading) = width.checked_sub(ALL).filter(|n| (1..=MOST_LEADING).contains(n)) else {
        bail!("{width} columns; write a head and then NO, NAME, SPEED and 24 channels a line")
    };
    let is_speed = |column: &usize| {
        let mut cells = rows.iter().map(|(_, cells)| cells.get(*column));
        cells.all(|cell| cell.and_then(|text| text.parse::<u8>().ok()).is_some_and(|x| x <= 7))
    };
    let Some(speed) = (0..leading).rev().find(is_speed) else {
        bail!("no column before the channels is a speed from 0 to 7; write one, as 4")
    };
    rows.iter()
        .map(|(number, cells)| {
            ensure!(
                cells.len() == width,
                "line {number} has {} columns, the first one {width}; write as many",
                cells.len()
            );
            let channels = cells[leading..].iter().enumerate().map(|(i, cell)| match *cell {
                "" => Ok(None),
                text => text.parse().map(Some).with_context(|| {
                    format!("line {number}: channel {} is `{text}`; write whole degrees", i + 1)
                }),
            });
            let speed = cells[speed].parse().unwrap_or_default();
            Ok(Line { number: *number, speed, channels: channels.collect::<Result<_>>()? })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn home() -> Home {
        let mut home = [None; ALL];
        (home[0], home[12]) = (Some(5), Some(88));
        home
    }

    fn line(first: &str, thirteenth: &str) -> String {
        let mut cells = vec![""; ALL];
        (cells[0], cells[12]) = (first, thirteenth);
        cells.join(",")
    }

    #[test]
    fn tables_count_from_home_unless_they_are_of_bytes() {
        let text = format!("NO,NAME,SPEED,...\r\n# bow\r\n0,bow,4,{}\r\n", line("20", "-8"));
        let motion = Motion::from_table(&text, &home()).unwrap();
        let [first, second] = motion.positions[0];
        assert_eq!((first.speed.code(), first.channels[0]), (4, Channel::Degrees(25)));
        assert_eq!((second.channels[0], second.channels[1]), (Channel::Degrees(80), Channel::Keep));
        let text = format!("NO,SPEED\n1,7,{}\n2,7,{}", line("25", "80"), line("175", "80"));
        let motion = Motion::from_table(&text, &home()).unwrap();
        assert_eq!(motion.positions[0][0].channels[0], Channel::Degrees(25));
        // 20° and 150° at the slowest speed, 60 °/s.
        let seconds = motion.duration(&home());
        assert!((seconds - (20.0 + 150.0) / 60.0).abs() < 1e-9, "{seconds}");
    }

    #[test]
    fn mistakes_are_named() {
        for (text, expected) in [
            ("head\n1,2", "2 columns; write a head and then NO, NAME, SPEED and 24 channels"),
            (&*format!("head\nx,9,{}", line("1", "1")), "no column before the channels is a speed"),
            (
                &*format!("head\n1,{}\n1,2", line("1", "1")),
                "line 3 has 2 columns, the first one 25",
            ),
            (&*format!("head\n1,{}", line("-9", "")), "line 2: channel 1 would go to -4 degrees"),
            (
                &*format!("head\n1,{}", line("x", "")),
                "line 2: channel 1 is `x`; write whole degrees",
            ),
            (&*format!("head\n1,,7,,{}", line("1", "1")), "28 columns; write a head"),
        ] {
            let error = format!("{:#}", Motion::from_table(text, &home()).unwrap_err());
            assert!(error.contains(expected), "{error}");
        }
    }
}
