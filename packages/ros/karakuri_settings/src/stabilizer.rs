//! Gains of the stabiliser as parameters; all may change during a walk.

use karakuri_gait::planner::{
    Biped, LandingSettings, Reach, ReactionSettings, StabilizerSettings, WalkSettings,
};
use karakuri_ros::{Declares, Parameter, RosError};

/// Shortest time constant of a landing. [s]
const SHORTEST: f64 = 0.01;

/// Gains as parameters, read at every tick; a negative one stands for the gait file's.
#[derive(Debug)]
pub struct StabilizerParameters {
    dcm: Parameter<f64>,
    rate: Parameter<f64>,
    ankle: Parameter<f64>,
    rim: Parameter<f64>,
    filter: Parameter<f64>,
    steps_on: Parameter<i64>,
    steps_reach: Parameter<Vec<f64>>,
    steps_hurry: Parameter<f64>,
    steps_least: Parameter<f64>,
    landing_tilt: Parameter<f64>,
    landing_seek: Parameter<f64>,
    landing_settling: Parameter<f64>,
    landing_time: Parameter<f64>,
    file_reach: Reach,
}

/// Declares a gain with an upper bound; a negative value stands for the gait file's.
fn gain<N: Declares>(
    node: &mut N,
    name: &str,
    most: f64,
    description: &str,
) -> Result<Parameter<f64>, RosError> {
    let description = describe(description);
    node.parameter(&format!("stabilizer.{name}"), -1.0)
        .describe(&description)
        .range(-1.0..=most)
        .declare()
}

/// Inserts the meaning of negative values before the unit of a description.
fn describe(description: &str) -> String {
    let (meaning, unit) = description.rsplit_once(". ").unwrap_or((description, ""));
    format!("{meaning}; negative: the gait file's. {unit}")
}

impl StabilizerParameters {
    /// Declares the gains of a robot.
    ///
    /// # Errors
    /// When a given value does not fit its parameter, or a name is declared already.
    pub fn declare<N: Declares>(
        node: &mut N,
        biped: &Biped,
        settings: &WalkSettings,
    ) -> Result<Self, RosError> {
        Ok(Self {
            file_reach: file_reach(settings),
            dcm: gain(node, "dcm", 20.0, "How much further than the divergent component of motion the ZMP goes. [-]")?,
            rate: gain(node, "rate", 20.0, "Moment against the rate of the lean, by weight and height. [-]")?,
            ankle: gain(node, "ankle", 1.0, "Part of the desired moment that the ankles get, 0 is off. [-]")?,
            rim: rim(node, biped)?,
            filter: gain(node, "filter", 1.0, "Time constant of the filter on the divergent component of motion. [s]")?,
            steps_on: node
                .parameter("stabilizer.steps.on", -1)
                .describe("1: steps are placed by what is measured, 0: where planned, -1: as the gait file says.")
                .range(-1..=1)
                .declare()?,
            steps_reach: reach(node, settings)?,
            steps_hurry: node
                .parameter("stabilizer.steps.hurry", -1.0)
                .describe(&describe("How much faster than planned a foot may swing. [-]"))
                .range(-1.0..=5.0)
                .validate("at least 1, or negative", |hurry: &f64| {
                    let fits = *hurry < 0.0 || *hurry >= 1.0;
                    fits.then_some(()).ok_or_else(|| {
                        format!("{hurry} would have feet swing slower than planned; give 1 (as planned) or more")
                    })
                })
                .declare()?,
            steps_least: gain(node, "steps.least", 1.0, "Errors at landing smaller than about this are left to the ankles. [m]")?,
            landing_tilt: gain(node, "landing.tilt", 10.0, "Rate at which a sole that feels the floor turns, by moment, 0 is off. [-]")?,
            landing_seek: gain(node, "landing.seek", 10.0, "How fast a foot goes down to a floor that is lower than planned, by natural frequency and height of the centre of mass, 0 is off. [-]")?,
            landing_settling: gain(node, "landing.settling", 100.0, "How long a sole gives way after it has touched, by natural frequency. [-]")?,
            landing_time: node
                .parameter("stabilizer.landing.time", -1.0)
                .describe(&describe("Within this a standing foot comes back to where it was planned. [s]"))
                .range(-1.0..=100.0)
                .validate("at least 0.01 s, or negative", |time: &f64| {
                    let fits = *time < 0.0 || *time >= SHORTEST;
                    fits.then_some(()).ok_or_else(|| {
                        format!("within {time} s a foot would jump back to its place; give at least {SHORTEST} s")
                    })
                })
                .declare()?,
        })
    }

    /// The gains in force, with those of the gait file where the parameters say so.
    pub fn get(&self, file: &StabilizerSettings) -> StabilizerSettings {
        let or =
            |own: &Parameter<f64>, file: f64| Some(own.get()).filter(|x| *x >= 0.0).unwrap_or(file);
        StabilizerSettings {
            dcm: or(&self.dcm, file.dcm),
            rate: or(&self.rate, file.rate),
            ankle: or(&self.ankle, file.ankle),
            rim: or(&self.rim, file.rim),
            filter: or(&self.filter, file.filter),
            steps: ReactionSettings {
                on: match self.steps_on.get() {
                    0 => false,
                    1 => true,
                    _ => file.steps.on,
                },
                reach: merged(&self.steps_reach.get(), &self.file_reach),
                hurry: or(&self.steps_hurry, file.steps.hurry),
                least: or(&self.steps_least, file.steps.least),
            },
            landing: LandingSettings {
                tilt: or(&self.landing_tilt, file.landing.tilt),
                seek: or(&self.landing_seek, file.landing.seek),
                settling: or(&self.landing_settling, file.landing.settling),
                time: or(&self.landing_time, file.landing.time),
            },
        }
    }
}

/// Declares the rim, less than half of the narrowest sole.
fn rim<N: Declares>(node: &mut N, biped: &Biped) -> Result<Parameter<f64>, RosError> {
    let sides = biped.legs.iter().flat_map(|leg| leg.outline.size());
    let narrowest = sides.fold(f64::INFINITY, f64::min);
    node.parameter("stabilizer.rim", -1.0)
        .describe(&describe("Rim of the soles that the ZMP is kept out of. [m]"))
        .range(-1.0..=1.0)
        .validate("less than half of the narrowest sole", move |rim: &f64| {
            let fits = 2.0 * rim < narrowest;
            fits.then_some(()).ok_or_else(|| {
                format!("{rim} m on both sides leave nothing of a sole that is {narrowest:.4} m wide; give less than {:.4} m", 0.5 * narrowest)
            })
        })
        .declare()
}

/// Declares the reach, no narrower than the gait's least width; a negative number stands for the gait file's.
fn reach<N: Declares>(
    node: &mut N,
    settings: &WalkSettings,
) -> Result<Parameter<Vec<f64>>, RosError> {
    let (least, file) = (settings.limits.width[0], file_reach(settings));
    node.parameter("stabilizer.steps.reach", vec![-1.0; 4])
        .describe(&describe("How far a foot may be put from the standing one when need be: forward, backward, least and greatest distance across. [m] (4)"))
        .range(-1.0..=10.0)
        .validate("4 numbers, the third at most the fourth and not below the gait's least width", move |reach: &Vec<f64>| {
            let n = reach.len();
            let own = merged(reach, &file);
            let Reach { width: [narrow, wide], .. } = own.ok_or_else(|| {
                format!("{n} numbers; give forward, backward, least and greatest distance across")
            })?;
            let fits = (least..=wide).contains(&narrow);
            fits.then_some(()).ok_or_else(|| {
                format!("{narrow} to {wide} m across: nearer than {least} m (`limits.width` of the gait) the feet touch, and the second number must not be below the first")
            })
        })
        .declare()
}

/// Reach of the gait file.
fn file_reach(settings: &WalkSettings) -> Reach {
    settings.stabilizer.steps.reach.unwrap_or_else(|| Reach::from(&settings.limits))
}

/// Reach with the file's number for each negative one; `None` unless there are four. [m] (4)
fn merged(own: &[f64], file: &Reach) -> Option<Reach> {
    let or = |own: f64, file: f64| if own < 0.0 { file } else { own };
    let [forward, backward, narrow, wide] = <[f64; 4]>::try_from(own).ok()?;
    Some(Reach {
        forward: or(forward, file.forward),
        backward: or(backward, file.backward),
        width: [or(narrow, file.width[0]), or(wide, file.width[1])],
    })
}
