//! States from JSON; every wrong value is named by its place, as `samples[2].q.elbow`.

use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use karakuri_dynamics::Reduction;
use karakuri_model::{Base, Model};
use serde_json::{Map, Value};

use crate::commands::robot::unknown;
use crate::error::AtLine;

/// State of one sample in the model's coordinates.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct State {
    /// Positions. [rad or m] (nq)
    pub(super) q: Vec<f64>,
    /// Velocities. [rad/s or m/s] (nv)
    pub(super) v: Vec<f64>,
    /// Accelerations. [rad/s² or m/s²] (nv)
    pub(super) a: Vec<f64>,
    /// Efforts. [N·m or N] (nv)
    pub(super) tau: Vec<f64>,
}

const SAMPLE_KEYS: &[&str] = &["base", "q", "v", "a", "tau"];
/// Keys of `base`, each with its list, its first place in the list and its count of numbers.
const BASE_KEYS: &[(&str, List, usize, usize)] = &[
    ("position", List::Q, 0, 3),
    ("quaternion_xyzw", List::Q, 3, 4),
    ("linear_velocity", List::V, 0, 3),
    ("angular_velocity", List::V, 3, 3),
    ("linear_acceleration", List::A, 0, 3),
    ("angular_acceleration", List::A, 3, 3),
    ("force", List::Tau, 0, 3),
    ("torque", List::Tau, 3, 3),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum List {
    Q,
    V,
    A,
    Tau,
}

impl State {
    fn list(&mut self, list: List) -> &mut Vec<f64> {
        match list {
            List::Q => &mut self.q,
            List::V => &mut self.v,
            List::A => &mut self.a,
            List::Tau => &mut self.tau,
        }
    }
}

/// Reads all samples of a file's text.
pub(super) fn read(file: &Path, text: &str, model: &Model) -> Result<Vec<State>> {
    let root: Value = serde_json::from_str(text)
        .map_err(|e| AtLine::new(file, text, e.line().max(1), format!("not JSON: {e}"), None))?;
    let place = || file.display().to_string();
    let root = object(&root, "the file").with_context(place)?;
    known_keys(root, "", &["samples"]).with_context(place)?;
    let Some(samples) = root.get("samples").and_then(Value::as_array) else {
        bail!("{}: no list `samples`; write {{\"samples\": [{{\"q\": {{..}}}}]}}", place())
    };
    let read = |(i, sample)| sample_state(sample, &format!("samples[{i}]"), model);
    samples.iter().enumerate().map(read).collect::<Result<_>>().with_context(place)
}

fn sample_state(sample: &Value, place: &str, model: &Model) -> Result<State> {
    let sample = object(sample, place)?;
    known_keys(sample, place, SAMPLE_KEYS)?;
    let zeros = vec![0.0; model.nv];
    let mut state =
        State { q: model.neutral_position(), v: zeros.clone(), a: zeros.clone(), tau: zeros };
    if let Some(base) = sample.get("base") {
        read_base(base, &format!("{place}.base"), model, &mut state)?;
    }
    for (key, list) in [("q", List::Q), ("v", List::V), ("a", List::A), ("tau", List::Tau)] {
        let mut given = vec![false; model.joints.len()];
        if let Some(values) = sample.get(key) {
            let place = format!("{place}.{key}");
            read_joints(values, &place, model, list, state.list(list), &mut given)?;
        }
        if list != List::Tau {
            follow_leaders(model, list, state.list(list), &given);
        }
    }
    Ok(state)
}

fn read_base(base: &Value, place: &str, model: &Model, state: &mut State) -> Result<()> {
    let base = object(base, place)?;
    let keys: Vec<&str> = BASE_KEYS.iter().map(|key| key.0).collect();
    known_keys(base, place, &keys)?;
    for (key, list, first, n) in BASE_KEYS {
        let Some(value) = base.get(*key) else { continue };
        let place = format!("{place}.{key}");
        let mut numbers = list_of(value, *n, &place)?;
        if *n == 4 {
            let norm = numbers.iter().map(|x| x * x).sum::<f64>().sqrt();
            ensure!(
                (norm - 1.0).abs() < 1e-3,
                "{place}: its length is {norm}; expected a unit quaternion, x y z w"
            );
            for x in &mut numbers {
                *x /= norm;
            }
        }
        if matches!(model.base, Base::Floating) {
            state.list(*list)[*first..first + n].copy_from_slice(&numbers);
        } else {
            let neutral: &[f64] = if *n == 4 { &[0.0, 0.0, 0.0, 1.0] } else { &[0.0; 3] };
            ensure!(
                numbers == neutral,
                "{place}: the base is fixed and does not move; leave it out or use --base floating"
            );
        }
    }
    Ok(())
}

/// Reads values by joint name into a list of positions or of rates.
fn read_joints(
    values: &Value,
    place: &str,
    model: &Model,
    kind: List,
    list: &mut [f64],
    given: &mut [bool],
) -> Result<()> {
    for (name, value) in object(values, place)? {
        let place = format!("{place}.{name}");
        let first = usize::from(matches!(model.base, Base::Floating));
        let Some(i) = model.joint(name).filter(|joint| joint.0 >= first) else {
            let names = model.joints[first..].iter().map(|joint| joint.name.as_str());
            return Err(unknown("moving joint", name, names)).context(place);
        };
        let joint = &model.joints[i.0];
        let (start, n) = match kind {
            List::Q => (joint.q_start, joint.kind.nq()),
            _ => (joint.v_start, joint.kind.nv()),
        };
        let numbers =
            if n == 1 { vec![number(value, &place)?] } else { list_of(value, n, &place)? };
        list[start..start + n].copy_from_slice(&numbers);
        given[i.0] = true;
    }
    Ok(())
}

/// Fills in the mimic joints that are not given, from their leaders.
fn follow_leaders(model: &Model, kind: List, list: &mut [f64], given: &[bool]) {
    let mut followed = list.to_vec();
    let reduction = Reduction::new(model);
    match kind {
        List::Q => reduction.project_position(&mut followed),
        _ => reduction.project_velocity(&mut followed),
    }
    for coupling in &model.couplings {
        let joint = &model.joints[coupling.follower.0];
        let i = if kind == List::Q { joint.q_start } else { joint.v_start };
        if !given[coupling.follower.0] {
            list[i] = followed[i];
        }
    }
}

fn object<'a>(value: &'a Value, place: &str) -> Result<&'a Map<String, Value>> {
    value.as_object().with_context(|| format!("{place}: expected an object {{..}}, got {value}"))
}

fn known_keys(object: &Map<String, Value>, place: &str, known: &[&str]) -> Result<()> {
    match object.keys().find(|key| !known.contains(&key.as_str())) {
        None => Ok(()),
        Some(key) => {
            let dot = if place.is_empty() { "" } else { "." };
            bail!("{place}{dot}{key}: unknown key; known are {}", known.join(", "))
        }
    }
}

fn number(value: &Value, place: &str) -> Result<f64> {
    value
        .as_f64()
        .filter(|x| x.is_finite())
        .with_context(|| format!("{place}: expected a number, got {value}"))
}

fn list_of(value: &Value, n: usize, place: &str) -> Result<Vec<f64>> {
    let list = value.as_array().filter(|list| list.len() == n);
    let list = list.with_context(|| format!("{place}: expected {n} numbers, got {value}"))?;
    let each = list.iter().enumerate();
    each.map(|(i, value)| number(value, &format!("{place}[{i}]"))).collect()
}
