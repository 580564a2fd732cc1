//! Tables of positions: our own CSV, and that of `robot_motion_editor`.

use karakuri_model::{Base, BodyId};
use karakuri_spatial::{Pose, UnitQuaternion, Vector3};

use super::cells::{Cell, cells, error, lines, number};
use super::exchange::{Export, FormatOptions, notes};
use super::samples::{Row, Samples};
use crate::file::FileError;
use crate::motion::Ease;
use crate::performance::{MotionState, Performance};

/// Columns of the root link.
const BASE: [&str; 7] = ["base.x", "base.y", "base.z", "base.qx", "base.qy", "base.qz", "base.qw"];

/// What a column holds.
#[derive(Clone, Copy)]
enum Column {
    Joint(usize),
    Base(usize),
}

pub(super) fn read(
    file: &str,
    text: &str,
    options: &FormatOptions<'_>,
) -> Result<Samples, FileError> {
    let mut rows = lines(text);
    let Some((line, header)) = rows.next() else {
        return Err(error(file, [1, 1], "the file is empty; write `time,<joint>,...` and rows"));
    };
    let names = cells(header, line, ',');
    if names[0].text != "time" {
        return Err(error(file, names[0].at, "the first column is not `time`; name it so"));
    }
    let mut samples = Samples::new(Vec::new(), Ease::Linear);
    let mut columns = Vec::new();
    for name in &names[1..] {
        if let Some(part) = BASE.iter().position(|base| *base == name.text) {
            columns.push(Column::Base(part));
            continue;
        }
        let joint = joint(file, *name, options)?;
        if samples.joints.contains(&joint) {
            return Err(error(
                file,
                name.at,
                &format!("`{}` is there twice; delete one", name.text),
            ));
        }
        columns.push(Column::Joint(samples.joints.len()));
        samples.joints.push(joint);
    }
    // A part of a pose is none: the rest would have to be guessed.
    let n_base = columns.iter().filter(|column| matches!(column, Column::Base(_))).count();
    if n_base != 0 && n_base != BASE.len() {
        let message =
            format!("the root link has {n_base} of its 7 columns; write {}", BASE.join(", "));
        return Err(error(file, [line, 1], &message));
    }
    for (line, row) in rows {
        let row = cells(row, line, ',');
        check_width(file, &row, names.len(), line)?;
        let t = number(file, row[0], "the time")?;
        let mut values = vec![None; samples.joints.len()];
        let mut base = [0.0; 7];
        for (column, cell) in columns.iter().zip(&row[1..]) {
            match column {
                // An empty cell is no key: the joint goes on to the next row that has a number.
                Column::Joint(k) if cell.text.is_empty() => values[*k] = None,
                Column::Joint(k) => values[*k] = Some(number(file, *cell, "a position")?),
                Column::Base(k) => base[*k] = number(file, *cell, "a coordinate of the root")?,
            }
        }
        let root = (n_base > 0).then(|| pose(file, line, &base)).transpose()?;
        samples.rows.push(Row { line, t, values, root, note: String::new() });
    }
    Ok(samples)
}

/// Pose of `x y z qx qy qz qw`.
pub(super) fn pose(file: &str, line: usize, base: &[f64; 7]) -> Result<Pose, FileError> {
    let [x, y, z, qx, qy, qz, qw] = *base;
    let quaternion = nalgebra::Quaternion::new(qw, qx, qy, qz);
    // Rounded digits are normalised below; a length this far off shows columns in another order.
    if !(0.5..=2.0).contains(&quaternion.norm()) {
        let message =
            format!("the quaternion has the length {}; write one of length 1", quaternion.norm());
        return Err(error(file, [line, 1], &message));
    }
    let rotation = UnitQuaternion::from_quaternion(quaternion);
    Ok(Pose::from_quaternion(&rotation, Vector3::new(x, y, z)))
}

/// The joint that a cell names.
pub(super) fn joint(
    file: &str,
    cell: Cell<'_>,
    options: &FormatOptions<'_>,
) -> Result<BodyId, FileError> {
    options.performer.joint(cell.text).ok_or_else(|| {
        let model = &options.performer.model;
        let joints = options.performer.joints();
        let known: Vec<&str> = joints.map(|id| model.joints[id.0].name.as_str()).collect();
        let name: String = cell.text.chars().take(40).collect();
        let message = format!(
            "robot `{}` has no joint `{name}` to move; the joints are {}",
            model.name,
            known.join(", ")
        );
        error(file, cell.at, &message)
    })
}

pub(super) fn check_width(
    file: &str,
    row: &[Cell<'_>],
    width: usize,
    line: usize,
) -> Result<(), FileError> {
    if row.len() == width {
        return Ok(());
    }
    let column = row.last().map_or(1, |cell| cell.at[1]);
    let message = format!("{} cells, the first line has {width}; write as many", row.len());
    Err(error(file, [line, column], &message))
}

pub(super) fn write(performance: &mut Performance) -> Export {
    let performer = std::sync::Arc::clone(performance.performer());
    // The joints that the motion moves: a column for each that rests would bring keys into a motion that had none.
    let (model, joints) = (&performer.model, performance.joints().collect::<Vec<_>>());
    let is_floating = model.base == Base::Floating;
    let mut text = "time".to_owned();
    for id in &joints {
        text.extend([format!(",{}", model.joints[id.0].name)]);
    }
    if is_floating {
        for name in BASE {
            text.extend([format!(",{name}")]);
        }
    }
    text.push('\n');
    let mut state = MotionState::default();
    for t in performance.times() {
        performance.sample(t, &mut state);
        text.extend([format!("{t}")]);
        for id in &joints {
            text.extend([format!(",{}", state.q[model.joints[id.0].q_start])]);
        }
        if is_floating {
            for value in &state.q[..7] {
                text.extend([format!(",{value}")]);
            }
        }
        text.push('\n');
    }
    Export { text, notes: notes(sampled(performance)) }
}

/// What every table of samples loses.
pub(super) fn sampled(performance: &Performance) -> [String; 1] {
    let ms = 1e3 * performance.frame();
    [format!(
        "sampled every {ms} ms: eases, pose names and the supporting feet are not in the file"
    )]
}

pub(super) fn read_editor(
    file: &str,
    text: &str,
    options: &FormatOptions<'_>,
) -> Result<Samples, FileError> {
    let joints: Vec<BodyId> = options.performer.joints().collect();
    let width = 7 + joints.len();
    let mut samples = Samples::new(joints, Ease::Linear);
    let fps = options.frames_per_second;
    samples.note(0, format!("the file has no times: {fps} frames a second are taken"));
    for (k, (line, row)) in lines(text).enumerate() {
        let row = cells(row, line, ',');
        if row.len() != width {
            let joints = width - 7;
            let message = format!(
                "{} cells; write x, y, z, qx, qy, qz, qw and the {joints} joints of the URDF in their order",
                row.len()
            );
            return Err(error(file, [line, 1], &message));
        }
        let mut base = [0.0; 7];
        for (value, cell) in base.iter_mut().zip(&row) {
            *value = number(file, *cell, "a coordinate of the root")?;
        }
        let root = Some(pose(file, line, &base)?);
        let values = row[7..].iter().map(|cell| number(file, *cell, "a position").map(Some));
        let values = values.collect::<Result<_, _>>()?;
        samples.rows.push(Row { line, t: k as f64 / fps, values, root, note: String::new() });
    }
    Ok(samples)
}

pub(super) fn write_editor(performance: &mut Performance, options: &FormatOptions<'_>) -> Export {
    let performer = std::sync::Arc::clone(performance.performer());
    let model = &performer.model;
    let mut text = String::new();
    let mut state = MotionState::default();
    let period = 1.0 / options.frames_per_second;
    let mut k = 0.0;
    // Counted, not summed: sums of the period drift by rounding and would lose or add the last row.
    while k * period <= performance.duration() + 1e-9 {
        performance.sample(k * period, &mut state);
        let root = if model.base == Base::Floating {
            state.q[..7].to_vec()
        } else {
            // The editor wants a root in every row, also of a robot that is bolted down.
            vec![0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]
        };
        let joints = performer.joints().map(|id| state.q[model.joints[id.0].q_start]);
        let cells: Vec<String> = root.into_iter().chain(joints).map(|x| x.to_string()).collect();
        text += &cells.join(",");
        text.push('\n');
        k += 1.0;
    }
    let said = format!(
        "sampled at {} frames a second, which the file does not say",
        options.frames_per_second
    );
    Export { text, notes: notes([said]) }
}
