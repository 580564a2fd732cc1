//! Rehearsals of orders, and the forecasts that they become.

use karakuri_commands::{Code, Envelope, Forecast, Refusal, ToolSample, is_name};
use karakuri_rehearsal::{
    Act, Cell, Film, Prediction, RehearsalError, RehearsalSettings, Variation, least_probability,
    observe, random, rehearse, worst,
};
use karakuri_render::{Camera, Image};
use karakuri_simulation::Digest;
use karakuri_spatial::{Pose, Vector3};

use crate::band::{self, Band};
use crate::order::Order;
use crate::refusals::{code, described, of_error};
use crate::seen::yaw;

/// Number of times that an order is slowed down for the envelope's speed.
const SLOWINGS: usize = 3;
/// Share of a limit that a slower run is to have. [-]
const SHARE: f64 = 0.95;

/// Distance of the camera from the tool. [m]
const DISTANCE: f64 = 1.6;

/// Distance of the camera from a robot that walks, over the height of its root link. [-]
const HEIGHTS: f64 = 8.0;

/// What was rehearsed, kept until its ticket is used.
#[derive(Debug, Clone)]
pub(crate) struct Preview {
    /// What was ordered, as slow as the envelope has it.
    pub(crate) order: Order,
    pub(crate) forecast: Forecast,
    /// The copy that is worst, for its picture.
    pub(crate) worst: Variation,
    /// Times of the worst copy: of its worst instant, and of its end. [s] (2)
    pub(crate) worst_at: [f64; 2],
    /// Digest of the nominal copy's commands up to each period.
    pub(crate) stream: Vec<Digest>,
    /// Where the joints of all copies are over time.
    pub(crate) band: Band,
}

/// Rehearses an order in copies of a cell, within the limits of an envelope.
///
/// # Errors
/// When it cannot be begun, its path leaves the envelope, or a copy fails.
pub(crate) fn preview(cell: &Cell, order: &Order, envelope: &Envelope) -> Result<Preview, Refusal> {
    let refused = |error| of_error(cell, &error);
    let mut order = order.clone();
    let limit = envelope.limits.duration_s;
    let mut scale = 1.0;
    let mut nominal = observed(cell, &order, limit).map_err(refused)?;
    for _ in 0..SLOWINGS {
        // A move has its own speed; what it is too fast by is refused below.
        let faster = nominal.fastest / envelope.limits.tool_speed_m_s;
        if faster <= 1.0
            || matches!(order.act, Act::Move(_) | Act::Walk(_) | Act::ChangeTool { .. })
        {
            break;
        }
        scale *= SHARE / faster;
        order = order.at_speed(scale);
        nominal = observed(cell, &order, limit).map_err(refused)?;
    }
    let path = match order.act {
        Act::Walk(_) => envelope.check_walk(&nominal.path),
        _ => envelope.check_path(&nominal.path),
    };
    if let Some(failure) = nominal.prediction.failure() {
        return Err(failed(cell, 0, &nominal.prediction, code(failure)));
    }
    path?;
    let rules = envelope.rehearsal;
    let copies = rules.copies as usize;
    let settings = RehearsalSettings {
        copies,
        seed: rules.seed,
        limit,
        path_period: band::PERIOD,
        ..RehearsalSettings::default()
    };
    let object = order.object.as_deref();
    let predictions = rehearse(cell, object, &order.act, &settings, |_| {}).map_err(refused)?;
    let fails = predictions.iter().enumerate().find_map(|(n, p)| Some((n, p, p.failure()?)));
    if let Some((number, prediction, failure)) = fails {
        return Err(failed(cell, number, prediction, code(failure)));
    }
    let worst = worst(&predictions).unwrap_or(&nominal.prediction);
    Ok(Preview {
        forecast: forecast(&predictions),
        worst: worst.variation,
        worst_at: [worst.worst_at, worst.duration],
        stream: nominal.stream,
        band: Band::of(&order.act, &predictions),
        order,
    })
}

/// Camera that looks at the tool, or at a robot that walks.
pub(crate) fn camera(cell: &Cell) -> Camera {
    if cell.gait.is_some() {
        let root = cell.robot_pose().translation;
        return Camera::orbiting(root, HEIGHTS * root.z, 0.6, 0.2, 0.5);
    }
    let flange = cell.flange_pose().filter(|_| cell.hand.is_none());
    let tool = flange.unwrap_or_else(|| cell.tool_pose()).translation;
    Camera::orbiting(tool - Vector3::z() * 0.1, DISTANCE, 0.6, 0.35, 0.5)
}

/// The nominal copy, watched.
struct Observed {
    prediction: Prediction,
    /// Path of the tool, of a walk that of the root link, of a change of tools that of the flange.
    path: Vec<ToolSample>,
    /// Largest speed of the tool. [m/s]
    fastest: f64,
    stream: Vec<Digest>,
}

fn observed(cell: &Cell, order: &Order, limit: f64) -> Result<Observed, RehearsalError> {
    let (mut path, mut stream) = (Vec::<ToolSample>::new(), Vec::new());
    let (mut fastest, mut digest) = (0.0_f64, Digest::default());
    let object = order.object.as_deref();
    let see = |time_s: f64, cell: &Cell| {
        let moving = match order.act {
            Act::Walk(_) => cell.robot_pose(),
            // The tool is another one in the end.
            Act::ChangeTool { .. } => cell.flange_pose().unwrap_or_default(),
            _ => cell.tool_pose(),
        };
        let position = moving.translation;
        cell.add_command(&mut digest);
        stream.push(digest);
        if let Some(last) = path.last() {
            let way = (position - Vector3::from(last.position_m)).norm();
            fastest = fastest.max(way / (time_s - last.time_s));
        }
        path.push(ToolSample { time_s, position_m: position.into() });
    };
    let prediction = observe(cell, object, &order.act, &Variation::NONE, limit, see)?;
    Ok(Observed { prediction, path, fastest, stream })
}

/// Picture of the worst copy: its start, its worst instant and its end.
pub(crate) fn film(cell: &Cell, preview: &Preview) -> Result<Image, RehearsalError> {
    let camera = camera(cell);
    let [worst, end] = preview.worst_at;
    let film = Film { variation: preview.worst, instants: [0.0, worst, end], limit: end, camera };
    film.take(cell, preview.order.object.as_deref(), &preview.order.act)
}

/// What copies that all succeed tell.
fn forecast(predictions: &[Prediction]) -> Forecast {
    let largest = |of: fn(&Prediction) -> f64| predictions.iter().map(of).fold(0.0, f64::max);
    let mut moved: Vec<_> = predictions.iter().flat_map(|p| p.moved.iter().cloned()).collect();
    moved.retain(|name| is_name(name));
    moved.sort();
    moved.dedup();
    let end = predictions.first().map_or_else(Pose::default, |nominal| nominal.end);
    let off = |prediction: &Prediction| (prediction.end.translation - end.translation).norm();
    Forecast {
        copies: u32::try_from(predictions.len()).unwrap_or(u32::MAX),
        failed: 0,
        margin: predictions.iter().map(|p| p.margin).fold(1.0, f64::min),
        contact_force_n: largest(|prediction| prediction.largest_force),
        duration_s: largest(|prediction| prediction.duration),
        probability: least_probability(random(predictions).len()),
        holds: predictions.iter().all(|prediction| prediction.holds),
        moved,
        end_xyz_m: end.translation.into(),
        end_yaw_rad: yaw(&end),
        end_spread_m: predictions.iter().map(off).fold(0.0, f64::max),
        commands: predictions.first().map(|p| p.commands.to_string()).unwrap_or_default(),
    }
}

/// Refusal of an order whose copy of a number fails.
fn failed(cell: &Cell, number: usize, prediction: &Prediction, code: Code) -> Refusal {
    let why = prediction.message();
    let hint = "choose another way: a copy of the world shows a failure";
    let text = format!("copy {number} ends with {}: {why}", name(code));
    described(Refusal::new(Code::PredictedFailure, hint), cell, "outcome", &text)
}

/// Name of a code, as in answers.
pub(crate) fn name(code: Code) -> String {
    serde_json::json!(code).as_str().unwrap_or_default().to_owned()
}
