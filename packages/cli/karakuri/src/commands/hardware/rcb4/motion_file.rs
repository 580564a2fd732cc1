//! Motions of an RCB-4 as files: a table of servos, or YAML.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use anyhow::{Context as _, Result, bail, ensure};
use karakuri_files::{read_text, read_yaml};
use karakuri_serial::codec::ics::{CENTRE, COUNTS_PER_RADIAN, MAX_COUNTS, MIN_COUNTS};
use karakuri_serial::codec::rcb4::{Goal, SERVOS};
use serde::Deserialize;
use serde::de::{Error, Visitor};

/// Moves that the board makes back to back.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Motion {
    pub(super) moves: Vec<Move>,
}

/// One move, in which all its servos arrive together.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Move {
    /// Where in the file it is, for messages.
    pub(super) place: String,
    /// How long it takes. [s]
    pub(super) time: f64,
    /// Where servos go, by ICS number; none stays as it is. (35)
    pub(super) goals: [Option<Goal>; SERVOS],
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct YamlMotion {
    positions: Vec<YamlMove>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct YamlMove {
    time: f64,
    /// By ICS number.
    degrees: BTreeMap<usize, Target>,
}

/// Degrees from the middle, or a word. [deg]
#[derive(Debug, Clone, PartialEq)]
struct Target(String);

impl<'de> Deserialize<'de> for Target {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Scalar;
        impl Visitor<'_> for Scalar {
            type Value = Target;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("degrees, `hold` or `free`")
            }

            fn visit_i64<E: Error>(self, value: i64) -> Result<Target, E> {
                Ok(Target(value.to_string()))
            }

            fn visit_u64<E: Error>(self, value: u64) -> Result<Target, E> {
                Ok(Target(value.to_string()))
            }

            fn visit_f64<E: Error>(self, value: f64) -> Result<Target, E> {
                Ok(Target(value.to_string()))
            }

            fn visit_str<E: Error>(self, value: &str) -> Result<Target, E> {
                Ok(Target(value.to_owned()))
            }
        }
        deserializer.deserialize_any(Scalar)
    }
}

impl Motion {
    /// Reads a file.
    pub(super) fn read(path: &Path) -> Result<Self> {
        let ending = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
        let motion = match ending.as_str() {
            "yaml" | "yml" => Self::from_yaml(read_yaml::<YamlMotion>(path)?),
            _ => Self::from_table(&read_text(path)?),
        };
        let motion = motion.with_context(|| path.display().to_string())?;
        ensure!(!motion.moves.is_empty(), "{}: there is no move; write one", path.display());
        Ok(motion)
    }

    fn from_yaml(file: YamlMotion) -> Result<Self> {
        let moves = file.positions.into_iter().enumerate().map(|(i, position)| {
            let place = format!("positions[{i}]");
            let targets = position.degrees.iter();
            let targets = targets.map(|(servo, target)| (*servo, target.0.as_str()));
            Move::of(place, position.time, targets)
        });
        Ok(Self { moves: moves.collect::<Result<_>>()? })
    }

    /// A head that names the columns, then a move a line.
    fn from_table(text: &str) -> Result<Self> {
        let lines = text.lines().enumerate().map(|(i, line)| (i + 1, line.trim()));
        let mut lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
        let (_, head) = lines.next().context("there is no head; write TIME and ICS numbers")?;
        let head: Vec<&str> = head.split(',').map(str::trim).collect();
        let time = head.iter().position(|name| name.eq_ignore_ascii_case("time"));
        let time = time.context("no column of the head is TIME; name the one of the times [s]")?;
        let servos: Vec<Option<usize>> = head.iter().map(|name| name.parse().ok()).collect();
        ensure!(
            servos.iter().any(Option::is_some),
            "no column of the head is a servo; name each by its ICS number, 0 to {}",
            SERVOS - 1
        );
        let moves = lines.map(|(number, line)| {
            let cells: Vec<&str> = line.split(',').map(str::trim).collect();
            ensure!(
                cells.len() == head.len(),
                "line {number} has {} columns, the head {}; write as many",
                cells.len(),
                head.len()
            );
            let place = format!("line {number}");
            let seconds = cells[time].parse().with_context(|| {
                format!("{place}: the time is `{}`; write seconds, as 0.5", cells[time])
            })?;
            let targets = servos.iter().zip(&cells);
            let targets = targets.filter_map(|(servo, cell)| Some(((*servo)?, *cell)));
            Move::of(place, seconds, targets.filter(|(_, cell)| !cell.is_empty()))
        });
        Ok(Self { moves: moves.collect::<Result<_>>()? })
    }
}

impl Move {
    fn of<'a>(
        place: String,
        time: f64,
        targets: impl Iterator<Item = (usize, &'a str)>,
    ) -> Result<Self> {
        let mut goals = [None; SERVOS];
        for (servo, target) in targets {
            let Some(goal) = goals.get_mut(servo) else {
                bail!("{place}: there is no servo {servo}; write one from 0 to {}", SERVOS - 1)
            };
            *goal = Some(goal_of(target).with_context(|| format!("{place}: servo {servo}"))?);
        }
        ensure!(goals.iter().any(Option::is_some), "{place}: no servo moves; give one degrees");
        Ok(Self { place, time, goals })
    }
}

/// Where a servo is to go.
fn goal_of(target: &str) -> Result<Goal> {
    match target {
        "hold" => return Ok(Goal::Hold),
        "free" => return Ok(Goal::Free),
        _ => {}
    }
    let degrees: f64 = target
        .parse()
        .ok()
        .filter(|degrees: &f64| degrees.is_finite())
        .with_context(|| format!("`{target}` is no place; write degrees, `hold` or `free`"))?;
    let counts = (f64::from(CENTRE) + degrees.to_radians() * COUNTS_PER_RADIAN).round();
    let (least, most) = (f64::from(MIN_COUNTS), f64::from(MAX_COUNTS));
    ensure!(
        (least..=most).contains(&counts),
        "{degrees} degrees are beyond what it has; write -135 to 135"
    );
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within the range")]
    let counts = counts as u16;
    Ok(Goal::Position(counts))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_head_names_time_and_servos() {
        let text =
            "NO,NAME,TIME,0,2,34\r\n# a wave\r\n0,up,0.5,90,-45.5,\r\n1,down,1,hold,free,0\r\n";
        let motion = Motion::from_table(text).unwrap();
        let [up, down] = &motion.moves[..] else { panic!("{motion:?}") };
        assert_eq!((up.place.as_str(), up.time, down.time), ("line 3", 0.5, 1.0));
        // 8000 counts are 270 degrees.
        let expected = [Goal::Position(7500 + 2667), Goal::Position(7500 - 1348)];
        assert_eq!(
            [up.goals[0], up.goals[2], up.goals[34]],
            [Some(expected[0]), Some(expected[1]), None]
        );
        let expected = [Goal::Hold, Goal::Free, Goal::Position(7500)];
        assert_eq!([down.goals[0], down.goals[2], down.goals[34]], expected.map(Some));
        assert_eq!(up.goals.iter().flatten().count(), 2);
    }

    #[test]
    fn mistakes_are_named() {
        for (text, expected) in [
            ("", "there is no head; write TIME and ICS numbers"),
            ("NO,0,1\n", "no column of the head is TIME"),
            (
                "TIME,l_knee\n1,2",
                "no column of the head is a servo; name each by its ICS number, 0 to 34",
            ),
            ("TIME,0\n1", "line 2 has 1 columns, the head 2; write as many"),
            ("TIME,0\nsoon,1", "line 2: the time is `soon`; write seconds, as 0.5"),
            ("TIME,35\n1,2", "line 2: there is no servo 35; write one from 0 to 34"),
            (
                "TIME,3\n1,limp",
                "line 2: servo 3: `limp` is no place; write degrees, `hold` or `free`",
            ),
            (
                "TIME,3\n1,136",
                "line 2: servo 3: 136 degrees are beyond what it has; write -135 to 135",
            ),
            ("TIME,3\n1,", "line 2: no servo moves; give one degrees"),
        ] {
            let error = format!("{:#}", Motion::from_table(text).unwrap_err());
            assert!(error.starts_with(expected), "{error}");
        }
    }
}
