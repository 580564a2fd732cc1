//! Scene over numbers of its own file: every combination is simulated, and its results are a row.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use karakuri_files::{Column, Panel, Plot, Series, TraceWriter, read_yaml};
use karakuri_physics::{EnergyMonitor, Scene, StepOutcome, World};
use karakuri_simulation::{Tally, fill_scene};
use serde::Deserialize;
use serde_yaml::Value;

use super::super::Outcome;
use super::super::simulate::soundness::{LOOKS, warnings};
use super::super::simulate::{count, trace};
use super::args::{Args, MOST, all, beside, say};
use crate::interrupt::Interrupt;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ScenesFile {
    /// Scene file, relative to the file of the sweep.
    scene: PathBuf,
    /// Duration of each simulation. [s]
    duration: f64,
    vary: Vec<Axis>,
    /// Measured columns of the trace of `karakuri simulate`.
    measure: Vec<String>,
}

/// Number of the scene, and the values that it takes.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Axis {
    name: String,
    #[serde(default)]
    unit: String,
    of: Places,
    values: Vec<f64>,
}

/// Places of a number in the scene: keys and names of list items, with dots between.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Places {
    One(String),
    Several(Vec<String>),
}

impl Places {
    fn all(&self) -> &[String] {
        match self {
            Self::One(place) => std::slice::from_ref(place),
            Self::Several(places) => places,
        }
    }
}

/// Last, least and largest value of a measured column.
#[derive(Debug, Clone, Copy)]
struct Measured {
    last: f64,
    least: f64,
    largest: f64,
}

/// Results of a simulated combination.
#[derive(Debug)]
struct Row {
    measured: Vec<Measured>,
    units: Vec<String>,
    /// Largest residual of any step. [m/s or rad/s]
    residual: f64,
    /// Reasons to doubt the run.
    warnings: Vec<String>,
    /// Reason why it ended before its time.
    failure: Option<String>,
}

impl ScenesFile {
    fn check(&self) -> Result<()> {
        if !(self.duration > 0.0 && self.duration <= 1e6) {
            bail!("`duration` is {}; write seconds above 0, at most 1000000", self.duration);
        }
        if self.vary.is_empty() || self.measure.is_empty() {
            bail!("`vary` and `measure` want an entry each");
        }
        for Axis { name, values, .. } in &self.vary {
            if values.is_empty() {
                bail!("`{name}` has no `values`; write some");
            }
            if let Some(bad) = values.iter().find(|x| !x.is_finite()) {
                bail!("`{name}` has {bad}; write finite numbers");
            }
        }
        if self.vary.iter().map(|axis| axis.values.len() as f64).product::<f64>() > MOST as f64 {
            bail!("more than {MOST} combinations; shorten the lists");
        }
        Ok(())
    }

    /// Every combination; the last list varies fastest.
    fn cases(&self) -> Vec<Vec<f64>> {
        self.vary.iter().fold(vec![Vec::new()], |cases, axis| {
            let longer = |case: Vec<f64>| {
                axis.values.iter().map(move |&value| [&case[..], &[value]].concat())
            };
            cases.into_iter().flat_map(longer).collect()
        })
    }

    /// Label `with name = value, name = value …` of a combination.
    fn label(&self, case: &[f64]) -> String {
        let values = self.vary.iter().zip(case);
        let each = values.map(|(axis, value)| format!("{} = {value}", axis.name));
        format!("with {}", each.collect::<Vec<_>>().join(", "))
    }
}

/// Simulates all combinations.
pub(super) fn run(args: &Args, file: &ScenesFile) -> Result<Outcome> {
    file.check().with_context(|| args.sweep.display().to_string())?;
    let scene_path = beside(&args.sweep, &file.scene);
    let scene: Value = read_yaml(&scene_path)?;
    let cases = file.cases();
    let mine = args.shard.of(&cases);
    let simulated = |case: &Vec<f64>, interrupt: &Interrupt| {
        let row = simulate(file, &scene, &scene_path, case, interrupt);
        row.with_context(|| format!("{}: {}", args.sweep.display(), file.label(case)))
    };
    let Some(rows) = all(args, &mine, simulated)? else {
        return Ok(Outcome::Failed("interrupted; nothing is written".to_owned()));
    };
    let rows: Vec<Row> = rows.into_iter().collect::<Result<_>>()?;
    write(&args.output, file, &mine, &rows)?;
    if let Some(plot) = &args.plot {
        figure(&args.sweep, file, &mine, &rows).write_svg(plot)?;
    }
    for (case, row) in mine.iter().zip(&rows) {
        for warning in &row.warnings {
            eprintln!("warning: {}: {warning}", file.label(case));
        }
    }
    let failed: Vec<String> = mine
        .iter()
        .zip(&rows)
        .filter_map(|(case, row)| Some(format!("{}: {}", file.label(case), row.failure.as_ref()?)))
        .collect();
    if failed.is_empty() {
        say(args, rows.len());
        return Ok(Outcome::Done);
    }
    Ok(Outcome::Failed(format!("{} of {} runs: {}", failed.len(), rows.len(), failed.join("; "))))
}

fn simulate(
    file: &ScenesFile,
    scene: &Value,
    path: &Path,
    case: &[f64],
    interrupt: &Interrupt,
) -> Result<Row> {
    let mut scene = scene.clone();
    for (axis, value) in file.vary.iter().zip(case) {
        for place in axis.of.all() {
            set(&mut scene, place, *value).with_context(|| format!("`{place}`"))?;
        }
    }
    // Its lines differ from those of the file; an error is located by its key.
    let name = format!("{} as varied", path.display());
    let mut scene = Scene::parse(&serde_yaml::to_string(&scene)?, &name)?;
    scene.settings.threads = 1;
    let mut world = fill_scene(scene, path)?.world()?;
    let columns = trace::columns(&world);
    let places = file.measure.iter().map(|name| {
        let found = columns.iter().position(|column| column.name == *name);
        found.ok_or_else(|| {
            let known: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
            anyhow!("`measure`: there is no `{name}`; there are {}", known.join(", "))
        })
    });
    let places: Vec<usize> = places.collect::<Result<_>>()?;
    let none = Measured { last: f64::NAN, least: f64::INFINITY, largest: f64::NEG_INFINITY };
    let mut row = Row {
        measured: vec![none; places.len()],
        units: places.iter().map(|&i| columns[i].unit.clone()).collect(),
        residual: 0.0,
        warnings: Vec::new(),
        failure: None,
    };
    world.record_reactions(file.measure.iter().any(|name| is_reaction(&world, name)));
    let (mut tally, mut watch) = (Tally::default(), EnergyMonitor::new(&mut world));
    let mut values = Vec::with_capacity(columns.len());
    let steps = count(file.duration / world.settings().dt);
    for step in 1..=steps {
        if interrupt.is_raised() {
            break;
        }
        let outcome = world.step();
        tally.add(&outcome, &world.statistics());
        if let StepOutcome::NonFinite(_) = outcome {
            row.failure = Some(format!("at {:.6} s: {}", world.time(), world.non_finite_report()));
            break;
        }
        if step % steps.div_ceil(LOOKS) == 0 || step == steps {
            watch.look(&mut world);
        }
        trace::sample(&world, &mut values);
        for (measured, &place) in row.measured.iter_mut().zip(&places) {
            let value = values[place];
            measured.last = value;
            measured.least = measured.least.min(value);
            measured.largest = measured.largest.max(value);
        }
    }
    row.residual = tally.worst_residual;
    row.warnings = warnings(&tally, &watch, &world);
    Ok(row)
}

/// Whether a column is a force that is recorded only on request: of a mimic joint, or of a loop.
fn is_reaction(world: &World, column: &str) -> bool {
    let mut robots = world.robot_ids().map(|id| world.robot(id));
    column.rsplit('.').next() == Some("mimic")
        || robots.any(|robot| !robot.model().loops.is_empty())
}

/// Writes a number to a place of a scene; missing keys are made, but no list items.
fn set(scene: &mut Value, place: &str, number: f64) -> Result<()> {
    let mut at = scene;
    for key in place.split('.') {
        if at.is_null() {
            *at = Value::Mapping(serde_yaml::Mapping::default());
        }
        at = match at {
            Value::Sequence(items) => {
                let named = |item: &Value| item.get("name").and_then(Value::as_str) == Some(key);
                let found = items.iter().position(named).or_else(|| key.parse().ok());
                let n = items.len();
                found.and_then(|i| items.get_mut(i)).ok_or_else(|| {
                    anyhow!("no item of the list is named `{key}`; name one, or write its place from 0 to {}", n.saturating_sub(1))
                })?
            }
            Value::Mapping(fields) => fields.entry(key.into()).or_insert(Value::Null),
            _ => bail!("before `{key}` stands a value, which has nothing in it"),
        };
    }
    *at = number.into();
    Ok(())
}

fn write(path: &Path, file: &ScenesFile, cases: &[&Vec<f64>], rows: &[Row]) -> Result<()> {
    let mut columns: Vec<Column> =
        file.vary.iter().map(|axis| Column::new(&axis.name, &axis.unit)).collect();
    columns.extend([Column::new("done", "-"), Column::new("residual", "m/s or rad/s")]);
    let units = rows.first().map_or(&[][..], |row| &row.units);
    for (name, unit) in file.measure.iter().zip(units) {
        columns.extend(
            ["last", "least", "largest"].map(|what| Column::new(format!("{name} {what}"), unit)),
        );
    }
    let mut writer = TraceWriter::create(path, &columns)?;
    for (case, row) in cases.iter().zip(rows) {
        let mut values = (*case).clone();
        values.extend([f64::from(u8::from(row.failure.is_none())), row.residual]);
        values.extend(row.measured.iter().flat_map(|m| [m.last, m.least, m.largest]));
        writer.row(&values)?;
    }
    writer.finish()?;
    Ok(())
}

/// Figure with a panel per measured column, a curve for each combination of all axes but the first.
fn figure(sweep: &Path, file: &ScenesFile, cases: &[&Vec<f64>], rows: &[Row]) -> Plot {
    let first = &file.vary[0];
    let with_unit = |name: &str, unit: &str| {
        if unit.is_empty() { name.to_owned() } else { format!("{name} [{unit}]") }
    };
    let panel = |(k, name): (usize, &String)| {
        let mut series: Vec<Series> = Vec::new();
        for (case, row) in cases.iter().zip(rows) {
            let others = file.vary.iter().zip(case.iter()).skip(1);
            let words: Vec<String> = others
                .map(|(axis, value)| with_unit(&format!("{} {value}", axis.name), &axis.unit))
                .collect();
            let label = if words.is_empty() { name.clone() } else { words.join(", ") };
            let at = series.iter().position(|s| s.name == label).unwrap_or_else(|| {
                series.push(Series::new(label, Vec::new()));
                series.len() - 1
            });
            series[at].points.push((case[0], row.measured[k].last));
        }
        Panel {
            x_label: with_unit(&first.name, &first.unit),
            y_label: with_unit(name, rows.first().map_or("", |row| &row.units[k])),
            series,
            ..Panel::default()
        }
    };
    Plot {
        title: sweep.display().to_string(),
        panels: file.measure.iter().enumerate().map(panel).collect(),
    }
}
