//! Diagnosis of a robot that cannot stand as its gait says: the number to change.

use super::biped::{Biped, BipedError};
use super::error::PlanError;
use super::generator::Generator;
use super::sample::Samples;
use super::settings::{SettingError, WalkSettings};
use super::stance::{NAMES, sole};
use super::timeline::{Timeline, TimelineStart, middle};

/// Resolution of a reported range. [m]
// A tenth of a millimetre: a user writes no finer number.
const EXACT: f64 = 1e-4;
/// Error of the number of `zmp_in_sole` that is too far for the legs, with the range in which the robot stands; else `error`.
pub(super) fn why_not_standing(generator: &Generator, error: PlanError) -> BipedError {
    let Generator { biped, settings, .. } = generator;
    for (axis, name) in NAMES.into_iter().enumerate() {
        let stands_with = |value: f64| {
            let mut settings = settings.clone();
            settings.zmp_in_sole[axis] = value;
            stands(biped, settings)
        };
        let (low, high) = sole(biped)[axis];
        // The foot's origin is under the ankle in most robots, where standing is easiest.
        let inside = 0_f64.clamp(low, high);
        if !stands_with(inside) {
            continue;
        }
        // By trial, as the range in which legs reach has no closed form for any legs.
        let [low, high] = [low, high].map(|end| furthest(inside, end, stands_with));
        let range = format!("from {low:.4} to {high:.4} m, where the legs reach");
        return SettingError { name, value: settings.zmp_in_sole[axis], range: range.into() }
            .into();
    }
    BipedError::Posture(error)
}

/// The point furthest from `good` towards `end` that is good, by bisection.
fn furthest(mut good: f64, end: f64, is_good: impl Fn(f64) -> bool) -> f64 {
    if is_good(end) {
        return end;
    }
    let mut bad = end;
    while (bad - good).abs() > EXACT {
        let middle = 0.5 * (good + bad);
        if is_good(middle) {
            good = middle;
        } else {
            bad = middle;
        }
    }
    good
}

/// Whether one sample of standing can be planned.
fn stands(biped: &Biped, settings: WalkSettings) -> bool {
    let Ok(mut generator) = Generator::new(biped.clone(), settings) else { return false };
    let feet = generator.standing_feet();
    let settings = &generator.settings;
    let zmp = middle(settings, &feet);
    let start = TimelineStart { index: 0, feet, zmp, from_rest: true };
    let timeline = Timeline::new(settings, &start, &[], true);
    generator.plan(&timeline, 1, &mut Samples::default()).is_ok()
}
