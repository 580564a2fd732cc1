//! Motions of `HeartToHeart` 3, `.RCB`: a flow chart of positions as INI text. Positions are read along the links from the start.
//!
//! An item's `Prm` is a time in frames of 15 ms and the 24 words of the channels, 16384 in the middle, 256 for 90 degrees; from
//! 32768 on a channel is left alone or commands the flow, which is not followed.

use std::collections::BTreeMap;

use super::cells::{error, lines};
use super::exchange::{FormatOptions, Servo};
use super::samples::{Row, Samples};
use crate::file::FileError;
use crate::motion::Ease;
use karakuri_model::BodyId;

/// Word of a servo in its middle, its position there [deg], and degrees a count.
const MIDDLE: f64 = 16384.0;
const MIDDLE_DEG: f64 = 90.0;
const DEG_PER_COUNT: f64 = 90.0 / 256.0;
/// Words from here on are no positions.
const COMMANDS: i64 = 32768;
/// Unit of an item's time. [s]
const FRAME: f64 = 0.015;

/// A section's keys, each with its line.
type Section<'a> = BTreeMap<&'a str, (&'a str, usize)>;

pub(super) fn read(
    file: &str,
    text: &str,
    options: &FormatOptions<'_>,
) -> Result<Samples, FileError> {
    let sections = sections(file, text)?;
    let Some(head) = sections.get("GraphicalEdit") else {
        return Err(error(
            file,
            [1, 1],
            "there is no [GraphicalEdit]; name a file of HeartToHeart 3",
        ));
    };
    let servos: Vec<(BodyId, &Servo)> = options
        .servos
        .iter()
        .filter_map(|servo| Some((options.performer.joint(&servo.joint)?, servo)))
        .collect();
    if servos.is_empty() {
        let message =
            "which channel turns which joint is not known; give the robot's hardware file";
        return Err(error(file, [0, 0], message));
    }
    let mut samples = Samples::new(servos.iter().map(|(id, _)| *id).collect(), Ease::Linear);
    let links = links(&sections);
    let mut at = integer(file, head, "Start")?.unwrap_or(0);
    let mut seen = Vec::new();
    let mut t = 0.0;
    loop {
        // Flow charts loop by a link back to an earlier item; a motion here ends there.
        if seen.contains(&at) {
            samples.note(
                0,
                format!("the flow comes back to item {at}: read once; `repeat` the scene"),
            );
            break;
        }
        seen.push(at);
        let Some(item) = sections.get(format!("Item{at}").as_str()) else {
            let message =
                format!("there is no [Item{at}], to which the flow leads; correct the links");
            return Err(error(file, [1, 1], &message));
        };
        let (words, line) = words(file, item)?;
        // Never 0, which would put two positions at one time; 150 s bounds what a broken word asks for.
        let duration = FRAME * words.first().copied().unwrap_or(0).clamp(1, 10_000) as f64;
        let channels = words.get(1..).unwrap_or_default();
        // Items that only branch, wait or change registers have nothing but command words.
        let is_position = channels.iter().any(|word| *word < COMMANDS);
        if is_position {
            // The first position is where the motion begins.
            t += if samples.rows.is_empty() { 0.0 } else { duration };
            let values = servos.iter().map(|(_, servo)| position(channels, servo)).collect();
            let note = item.get("Name").map_or_else(String::new, |(name, _)| (*name).to_owned());
            samples.rows.push(Row { line, t, values, root: None, note });
        } else {
            samples
                .note(line, format!("item {at} commands the flow and sets no position; left out"));
        }
        let next: Vec<i64> =
            links.iter().filter(|link| link[0] == at).map(|link| link[1]).collect();
        if next.len() > 1 {
            samples.note(line, format!("item {at} branches; its main link is followed"));
        }
        match next.first() {
            Some(next) => at = *next,
            None => break,
        }
    }
    Ok(samples)
}

/// Position of a channel, if the item sets it. [rad]
fn position(words: &[i64], servo: &Servo) -> Option<f64> {
    let word = *words.get(servo.channel.checked_sub(1)?)?;
    // Left alone, or a command: no key of this joint.
    if !(0..COMMANDS).contains(&word) {
        return None;
    }
    let degrees = MIDDLE_DEG + (word as f64 - MIDDLE) * DEG_PER_COUNT - servo.zero_deg;
    Some((if servo.reversed { -degrees } else { degrees }).to_radians())
}

/// Links as origin and target, the main one of an origin first.
fn links(sections: &BTreeMap<&str, Section<'_>>) -> Vec<[i64; 2]> {
    let number = |section: &Section<'_>, key: &str| -> Option<i64> {
        section.get(key).and_then(|(text, _)| text.parse().ok())
    };
    let links = sections.iter().filter(|(name, _)| name.starts_with("Link"));
    let mut links: Vec<(bool, [i64; 2])> = links
        .filter_map(|(_, section)| {
            // Branches hang on sensors and buttons, which a motion has not.
            let is_main = number(section, "Main") == Some(1);
            Some((!is_main, [number(section, "Origin")?, number(section, "Final")?]))
        })
        .collect();
    // Also by origin and target, so that the same file gives the same motion whatever the order of its sections.
    links.sort_by_key(|(is_branch, link)| (*is_branch, *link));
    links.into_iter().map(|(_, link)| link).collect()
}

fn integer(file: &str, section: &Section<'_>, key: &str) -> Result<Option<i64>, FileError> {
    section.get(key).map_or(Ok(None), |(text, line)| {
        text.parse()
            .map(Some)
            .map_err(|_| error(file, [*line, 1], &format!("`{key}` is no whole number; write one")))
    })
}

/// Numbers of an item's `Prm`, and its line.
fn words(file: &str, item: &Section<'_>) -> Result<(Vec<i64>, usize), FileError> {
    let Some((text, line)) = item.get("Prm") else {
        return Err(error(file, [1, 1], "an item has no `Prm`; write its time and 24 words"));
    };
    let words = text.split(',').map(|word| word.trim().parse::<i64>());
    let words: Result<Vec<i64>, _> = words.collect();
    let words = words.map_err(|_| {
        error(
            file,
            [*line, 5],
            "`Prm` has a word that is no whole number; write numbers and commas",
        )
    })?;
    // Some files leave the time out of a position of 24 words.
    match words.len() {
        25 => Ok((words, *line)),
        24 => Ok((std::iter::once(1).chain(words).collect(), *line)),
        n => {
            let message = format!("`Prm` has {n} numbers; write the time and 24 words");
            Err(error(file, [*line, 5], &message))
        }
    }
}

fn sections<'a>(file: &str, text: &'a str) -> Result<BTreeMap<&'a str, Section<'a>>, FileError> {
    let mut sections: BTreeMap<&str, Section<'_>> = BTreeMap::new();
    let mut current = "";
    for (number, line) in lines(text) {
        let line = line.trim();
        if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            current = name;
            sections.entry(name).or_default();
        } else if let Some((key, value)) = line.split_once('=') {
            sections.entry(current).or_default().insert(key.trim(), (value.trim(), number));
        } else {
            let message = "this is neither `[section]` nor `key=value`; write one of them";
            return Err(error(file, [number, 1], message));
        }
    }
    Ok(sections)
}
