//! Walks over conditions: whether they stand, their lateral drift, their margin.
//!
//! Each walk of the file is a table of options of `karakuri gait walk`; where an option has a list, every combination is walked.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, Result, anyhow, bail};
use karakuri_files::{Column, Panel, Plot, Series, TraceWriter, read_text};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use serde_yaml::{Mapping, Value};

use super::super::Outcome;
use super::super::gait::walk::walk_by;
use super::args::{Args, Shard, beside, say};
use crate::interrupt::Interrupt;
use crate::progress;

/// Largest number of walks.
const MOST: usize = 10_000;

/// Columns of the report that are written: key, name, unit.
const COLUMNS: [(&str, &str, &str); 10] = [
    ("distance_m", "distance", "m"),
    ("speed_m_s", "speed", "m/s"),
    ("lateral_drift_m", "drift", "m"),
    ("yaw_rad", "yaw", "rad"),
    ("margin_95_percent_m", "margin 95 %", "m"),
    ("largest_lean_rad", "lean", "rad"),
    ("largest_dcm_error_m", "dcm error", "m"),
    ("least_margin_m", "least margin", "m"),
    ("heading_error_rad", "heading error", "rad"),
    ("joint_error_rms_rad", "joint error", "rad"),
];

/// Column of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum TableColumn {
    Distance,
    Speed,
    Aside,
    Turned,
    Margin,
    HeadingError,
    JointError,
    Limited,
}

/// Columns of a table that names none.
const USUAL: [TableColumn; 5] = [
    TableColumn::Distance,
    TableColumn::Speed,
    TableColumn::Aside,
    TableColumn::Turned,
    TableColumn::Margin,
];

impl TableColumn {
    fn head(self) -> &'static str {
        match self {
            Self::Distance => "distance [m]",
            Self::Speed => "speed [m/s]",
            Self::Aside => "aside [mm]",
            Self::Turned => "turned [°]",
            Self::Margin => "margin [mm]",
            Self::HeadingError => "heading error [°]",
            Self::JointError => "joints off [°]",
            Self::Limited => "at torque limit [%]",
        }
    }

    /// The worst number of the walks of a row.
    fn cell(self, rows: &[&Row]) -> String {
        let numbers = |key: &'static str| rows.iter().map(move |row| number(&row.report, key));
        let by_size = |a: &f64, b: &f64| a.abs().total_cmp(&b.abs());
        let most = |key| numbers(key).max_by(by_size).unwrap_or(f64::NAN);
        let least = |key| numbers(key).min_by(by_size).unwrap_or(f64::NAN);
        let (value, n_digits) = match self {
            Self::Distance => (least("distance_m"), 2),
            Self::Speed => (least("speed_m_s"), 3),
            Self::Aside => (1e3 * most("lateral_drift_m"), 1),
            Self::Turned => (most("yaw_rad").to_degrees(), 1),
            Self::Margin => (1e3 * numbers("margin_95_percent_m").fold(f64::INFINITY, f64::min), 1),
            Self::HeadingError => (most("heading_error_rad").to_degrees(), 1),
            Self::JointError => (most("joint_error_rms_rad").to_degrees(), 2),
            Self::Limited => (1e2 * most("part_of_time_at_effort_limit"), 1),
        };
        if value.is_nan() { "-".to_owned() } else { format!("{value:.n_digits$}") }
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WalksFile {
    walks: Vec<Walk>,
    /// Columns of the tables; the usual ones without it.
    columns: Option<Vec<TableColumn>>,
}

impl WalksFile {
    fn columns(&self) -> &[TableColumn] {
        self.columns.as_deref().unwrap_or(&USUAL)
    }
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Walk {
    /// Name of the table that it is in.
    table: String,
    what: String,
    /// Gait file, relative to the file of the sweep.
    gait: String,
    #[serde(default)]
    options: Mapping,
    /// Bounds of numbers of the report: the sweep fails if one is outside.
    #[serde(default)]
    expect: BTreeMap<String, [f64; 2]>,
    /// Whether a fall is no failure of the sweep, as the walk is beyond the robot's limits.
    #[serde(default)]
    may_fall: bool,
    /// Whether all its combinations are one row of the table.
    #[serde(default)]
    together: bool,
}

/// One walk: its row of the file, its options on the command line, and those that are not the same for the whole row.
#[derive(Debug)]
struct Case {
    walk: usize,
    line: Vec<String>,
    label: String,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Row {
    report: Json,
    failure: Option<String>,
}

/// Walks all combinations.
pub(super) fn run(args: &Args, file: &WalksFile) -> Result<Outcome> {
    let mut cases = Vec::new();
    for (i, walk) in file.walks.iter().enumerate() {
        cases.extend(combinations(&args.sweep, i, walk)?);
    }
    if cases.len() > MOST {
        bail!("{}: {} walks; at most {MOST}", args.sweep.display(), cases.len());
    }
    let Shard { index, count } = args.shard;
    if args.page.is_some() && count > 1 {
        bail!("--page needs the whole sweep; leave --shard out");
    }
    let mine: Vec<&Case> = cases.iter().skip(index - 1).step_by(count).collect();
    let interrupt = Interrupt::watch()?;
    let bar = progress::bar(mine.len() as u64, "walking");
    let log = args.resume.as_deref().map(Log::open).transpose()?;
    let rows: Result<Vec<Row>> = args.pool()?.install(|| {
        mine.par_iter()
            .map(|case| {
                let row = walked(&case.line, log.as_ref(), &interrupt);
                bar.inc(1);
                row.with_context(|| {
                    format!("{}: walk {}", args.sweep.display(), case.line.join(" "))
                })
            })
            .collect()
    });
    bar.finish_and_clear();
    let rows = rows?;
    if interrupt.is_raised() {
        return Ok(Outcome::Failed("interrupted; nothing is written".to_owned()));
    }
    write(&args.output, &mine, &rows)?;
    if let Some(page) = &args.page {
        write_page(page, file, &mine, &rows)?;
    }
    if let Some(plot) = &args.plot {
        figure(&args.sweep, &rows).write_svg(plot)?;
    }
    let wrong: Vec<String> = mine
        .iter()
        .zip(&rows)
        .flat_map(|(case, row)| {
            let wrong = wrong(&file.walks[case.walk], row);
            wrong.into_iter().map(|what| format!("{}: {what}", case.line.join(" ")))
        })
        .collect();
    if wrong.is_empty() {
        say(args, rows.len());
        return Ok(Outcome::Done);
    }
    Ok(Outcome::Failed(format!("not as it must be: {}", wrong.join("; "))))
}

/// Violations of the expectations by a walk.
fn wrong(walk: &Walk, row: &Row) -> Vec<String> {
    match &row.failure {
        Some(_) if walk.may_fall => return Vec::new(),
        Some(why) => return vec![why.clone()],
        None => {}
    }
    let wrong = |(key, [least, most]): (&String, &[f64; 2])| {
        let value = number(&row.report, key);
        let fits = (*least..=*most).contains(&value);
        (!fits).then(|| format!("{key} is {value:.4}, not from {least} to {most}"))
    };
    walk.expect.iter().filter_map(wrong).collect()
}

/// Log of the walks done before, to which further ones are appended.
#[derive(Debug)]
struct Log {
    rows: Vec<Entry>,
    file: Mutex<File>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Entry {
    line: Vec<String>,
    row: Row,
}

impl Log {
    fn open(path: &Path) -> Result<Self> {
        let place = || path.display().to_string();
        let file = File::options().create(true).append(true).open(path).with_context(place)?;
        let text = read_text(path)?;
        // The last line may have been cut short.
        let rows = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        Ok(Self { rows, file: Mutex::new(file) })
    }

    fn find(&self, line: &[String]) -> Option<&Row> {
        self.rows.iter().find(|entry| entry.line == line).map(|entry| &entry.row)
    }

    fn add(&self, entry: &Entry) -> Result<()> {
        let mut text = serde_json::to_string(entry)?;
        text.push('\n');
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.write_all(text.as_bytes())?;
        Ok(())
    }
}

fn walked(line: &[String], log: Option<&Log>, interrupt: &Interrupt) -> Result<Row> {
    if let Some(row) = log.and_then(|log| log.find(line)) {
        return Ok(row.clone());
    }
    let (report, failure) = walk_by(line, interrupt)?;
    let row = Row { report, failure };
    if let Some(log) = log.filter(|_| !interrupt.is_raised()) {
        log.add(&Entry { line: line.to_vec(), row: row.clone() })?;
    }
    Ok(row)
}

/// Every combination of a walk's options.
fn combinations(file: &Path, walk: usize, from: &Walk) -> Result<Vec<Case>> {
    let gait = beside(file, Path::new(&from.gait));
    let mut cases =
        vec![Case { walk, line: vec![gait.display().to_string()], label: String::new() }];
    for (key, value) in &from.options {
        let wrong = || {
            anyhow!(
                "{}: `{}`: options are names with numbers, words or lists",
                file.display(),
                from.what
            )
        };
        let key = key.as_str().ok_or_else(wrong)?;
        let values = value.as_sequence().cloned();
        let is_list = values.is_some();
        let values = values.unwrap_or_else(|| vec![value.clone()]);
        let mut more = Vec::new();
        for case in &cases {
            for value in &values {
                let word = match value {
                    Value::Bool(true) => None,
                    Value::Number(n) => Some(n.to_string()),
                    Value::String(s) => Some(s.clone()),
                    _ => return Err(wrong()),
                };
                let mut line = case.line.clone();
                line.push(word.as_ref().map_or(format!("--{key}"), |w| format!("--{key}={w}")));
                let mut label = case.label.clone();
                if is_list {
                    let comma = if label.is_empty() { "" } else { ", " };
                    let word = word.unwrap_or_default();
                    label = format!("{label}{comma}{key} {word}");
                }
                more.push(Case { walk, line, label });
            }
        }
        cases = more;
    }
    Ok(cases)
}

fn number(report: &Json, key: &str) -> f64 {
    report[key].as_f64().unwrap_or(f64::NAN)
}

fn write(file: &Path, cases: &[&Case], rows: &[Row]) -> Result<()> {
    let mut columns = vec![Column::new("walk", "-"), Column::new("stands", "-")];
    columns.extend(COLUMNS.map(|(_, name, unit)| Column::new(name, unit)));
    let mut writer = TraceWriter::create(file, &columns)?;
    for (case, row) in cases.iter().zip(rows) {
        let mut values = vec![case.walk as f64, f64::from(u8::from(row.failure.is_none()))];
        values.extend(COLUMNS.map(|(key, ..)| number(&row.report, key)));
        writer.row(&values)?;
    }
    writer.finish()?;
    Ok(())
}

/// Line of a table: the worst of each number over the walks of the row.
fn line(name: &str, columns: &[TableColumn], rows: &[&Row]) -> String {
    let standing = || rows.iter().filter(|row| row.failure.is_none());
    let result = match rows {
        [row] => match &row.failure {
            Some(why) => why.split(" in step").next().unwrap_or(why).to_owned(),
            None => "stands".to_owned(),
        },
        _ => format!("{} of {} stand", standing().count(), rows.len()),
    };
    let cells: Vec<String> = columns.iter().map(|column| column.cell(rows)).collect();
    format!("| {name} | {} | {result} |\n", cells.join(" | "))
}

/// Table in Markdown.
fn table(name: &str, file: &WalksFile, cases: &[&Case], rows: &[Row]) -> String {
    let columns = file.columns();
    let heads: Vec<&str> = columns.iter().map(|column| column.head()).collect();
    let mut text = format!("| walk | {} | result |\n", heads.join(" | "));
    text.push_str(&"|---".repeat(columns.len() + 2));
    text.push_str("|\n");
    for (i, walk) in file.walks.iter().enumerate().filter(|(_, walk)| walk.table == name) {
        let of_walk = cases.iter().zip(rows).filter(|(case, _)| case.walk == i);
        if walk.together {
            let all: Vec<&Row> = of_walk.map(|(_, row)| row).collect();
            text.push_str(&line(&walk.what, columns, &all));
        } else {
            for (case, row) in of_walk {
                let comma = if case.label.is_empty() { "" } else { ", " };
                text.push_str(&line(
                    &format!("{}{comma}{}", walk.what, case.label),
                    columns,
                    &[row],
                ));
            }
        }
    }
    text
}

/// Inserts the tables at their places in the page.
fn write_page(page: &Path, file: &WalksFile, cases: &[&Case], rows: &[Row]) -> Result<()> {
    const END: &str = "<!-- end -->";
    let mut text = read_text(page)?;
    let mut names: Vec<&str> = file.walks.iter().map(|walk| walk.table.as_str()).collect();
    names.dedup();
    for name in names {
        let mark = format!("<!-- walks {name} -->");
        let missing = || anyhow!("{}: there is no `{mark}` with `{END}` after it", page.display());
        let start = text.find(&mark).ok_or_else(missing)? + mark.len();
        let end = start + text[start..].find(END).ok_or_else(missing)?;
        text.replace_range(start..end, &format!("\n{}", table(name, file, cases, rows)));
    }
    std::fs::write(page, text).with_context(|| page.display().to_string())
}

/// Figure of drift and margin of each walk that stands.
fn figure(sweep: &Path, rows: &[Row]) -> Plot {
    let panel = |key: &str, label: &str, factor: f64| Panel {
        x_label: "walk, in the order of the table [-]".to_owned(),
        y_label: label.to_owned(),
        series: vec![Series::new(
            "stands".to_owned(),
            rows.iter()
                .enumerate()
                .filter(|(_, row)| row.failure.is_none())
                .map(|(i, row)| (i as f64, factor * number(&row.report, key)))
                .collect(),
        )],
        ..Panel::default()
    };
    Plot {
        title: sweep.display().to_string(),
        panels: vec![
            panel("lateral_drift_m", "drift to the left [mm]", 1e3),
            panel("margin_95_percent_m", "margin for 95 % of the time [mm]", 1e3),
            panel("largest_lean_rad", "largest lean [rad]", 1.0),
        ],
    }
}
