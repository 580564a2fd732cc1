//! Whether a robot can stand as its gait says, and which number to change where it cannot.

use super::settings::within;
use super::timeline::{Timeline, middle};
use super::{Biped, BipedError, Generator, PlanError, Samples, SettingError, Side, WalkSettings};

/// How exactly a range is told. [m]
const EXACT: f64 = 1e-4;
/// Coordinates of `zmp_in_sole`.
const NAMES: [&str; 2] = ["zmp_in_sole[0]", "zmp_in_sole[1]"];

/// Refuses a ZMP at rest that is in none of the soles.
pub(super) fn check_zmp(biped: &Biped, settings: &WalkSettings) -> Result<(), SettingError> {
    let ranges = sole(biped);
    for ((name, value), (low, high)) in NAMES.into_iter().zip(settings.zmp_in_sole).zip(ranges) {
        let range = format!("from {low:.4} to {high:.4} m, within the soles");
        within(name, value, (low, high), range)?;
    }
    Ok(())
}

/// What both soles have in common, forward and outward. [m] (2)
fn sole(biped: &Biped) -> [(f64, f64); 2] {
    let outward = |side: Side| {
        let [from, to] = biped.legs[side.index()].outline.y;
        if side == Side::Left { [from, to] } else { [-to, -from] }
    };
    let common = |[a, b]: [[f64; 2]; 2]| (a[0].max(b[0]), a[1].min(b[1]));
    [common(biped.legs.each_ref().map(|leg| leg.outline.x)), common(Side::BOTH.map(outward))]
}

/// The number of `zmp_in_sole` that is too far for the legs, with the range in which the robot stands; without one, the error itself.
pub(super) fn why_not_standing(generator: &Generator, error: PlanError) -> BipedError {
    let Generator { biped, settings, .. } = generator;
    for (axis, name) in NAMES.into_iter().enumerate() {
        let stands_with = |value: f64| {
            let mut settings = settings.clone();
            settings.zmp_in_sole[axis] = value;
            stands(biped, settings)
        };
        let (low, high) = sole(biped)[axis];
        let inside = 0_f64.clamp(low, high);
        if !stands_with(inside) {
            continue;
        }
        let [low, high] = [low, high].map(|end| furthest(inside, end, stands_with));
        let range = format!("from {low:.4} to {high:.4} m, where the legs reach");
        return SettingError { name, value: settings.zmp_in_sole[axis], range: range.into() }
            .into();
    }
    BipedError::Posture(error)
}

/// The furthest from `good` towards `end` that is good, by halving.
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

/// One sample of standing can be planned.
fn stands(biped: &Biped, settings: WalkSettings) -> bool {
    let Ok(mut generator) = Generator::new(biped.clone(), settings) else { return false };
    let feet = generator.standing_feet();
    let settings = &generator.settings;
    let zmp = middle(settings, &feet);
    let timeline = Timeline::new(settings, (0, feet, zmp), &[], (true, true));
    generator.plan(&timeline, 1, &mut Samples::default()).is_ok()
}
