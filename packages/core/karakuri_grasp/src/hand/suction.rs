//! Hands with suction cups on one vacuum generator: held by the vacuum, weighed by the wrist.
//!
//! The generator is commanded by the force of its vacuum over the area of all cups. A part is present in a cup whose vacuum is above a
//! threshold ([`PartThreshold`]). What the hand bears is the wrench of the wrist's sensor without that of the hand's own mass,
//! `f = F − m a`, against its value when nothing was held.
//!
//! Limits: only a vacuum that falls tells of a grip that is about to be lost.

use karakuri_dynamics::frame_pose;
use karakuri_model::{
    BodyId, EndEffector as Config, FrameId, Model, SensorKind, SuctionCup, VacuumGenerator,
};
use karakuri_spatial::{Force, Time, Vector3};

use super::hold::{Contact, Hold};
use super::interface::{Channel, Engagement, Hand, Loss, Reading, Sample, Touch};
use super::lips::{Lips, Place, UNIT};
use super::payload::{Payload, too_heavy};
use crate::end_effector::{EndEffectorError, Numbers};
use crate::grip_force::{HandReference, filter_gain};
use crate::grip_monitor::GripTrend;
use crate::pick_and_place::PlanError;
use crate::pick_and_place::types::{Failure, PickAndPlaceGoal, PickAndPlaceSettings, Profile};
use crate::suction::seal::sagitta;
use crate::suction::vacuum::{Part, PartThreshold};

/// Name of the kind in a robot YAML.
pub(super) const KIND: &str = "suction";

/// Time in which a cup has to be evacuated. [s]
// Ten times what 30 cm³ take at 20 l/min: what takes longer leaks.
const SEAL_TIME: f64 = 1.0;
/// Share of the desired strength with which a grip is firm. [-]
const FIRM: f64 = 0.95;
/// Vacuum below which a cup has let go. [Pa]
const FREE: f64 = 500.0;
/// Share of the threshold by which a vacuum has to fall below it for the part to be lost. [-]
const HYSTERESIS: f64 = 0.25;
/// Distance that a lip keeps from the edge of a face: errors of the arm and of the object's pose. [m]
const EDGE: f64 = 0.002;
/// Largest distance of lips from one plane, and largest sine of the angle between their axes and the tool's. [m, -]
const EVEN: f64 = 1e-3;
/// Time in which the filter of the forces has forgotten what came before: 4 millionths are left. [s]
const SETTLED: f64 = 0.05;

/// A hand of suction cups.
#[derive(Debug)]
pub(crate) struct SuctionHand {
    tool_frame: FrameId,
    /// Position of the lips along the tool's x. [m]
    depth: f64,
    places: Vec<Place>,
    /// Name of the generator.
    generator: [String; 1],
    reference: [HandReference; 1],
    /// The cups' vacuums. [Pa]
    cups: Vec<Channel>,
    /// Greatest vacuum. [Pa]
    vacuum_max: f64,
    threshold: PartThreshold,
    wrist: Option<Wrist>,
    parts: Vec<Part>,
    /// Desired strength; 0 lets go. [N]
    desired: f64,
    /// Time since it began to take an object. [s]
    engaging: f64,
}

impl SuctionHand {
    /// Hand of a model's `end_effector`.
    ///
    /// # Errors
    /// When the robot has not exactly one vacuum generator, its cups are not fixed to the tool, side by side and along its x, a parameter is
    /// missing or out of range, or a sensor is not the wrist's.
    pub(super) fn new(model: &Model, config: &Config) -> Result<Self, EndEffectorError> {
        let numbers = Numbers { kind: KIND, config };
        let parts = |want, got| EndEffectorError::Parts { kind: KIND, want, got };
        if !config.joints.is_empty() {
            return Err(parts("no joints", config.joints.len()));
        }
        let [unit] = &model.suctions[..] else {
            return Err(parts("one vacuum generator under `suction`", model.suctions.len()));
        };
        let vacuum_max = numbers.positive("vacuum")?;
        let largest = match &unit.generator {
            VacuumGenerator::Pump { largest, .. } => *largest,
            VacuumGenerator::Table(rows) => rows.last().map_or(0.0, |[vacuum, _]| *vacuum),
        };
        if vacuum_max > largest {
            let range = "at most the largest vacuum of the generator";
            return Err(numbers.out_of_range("vacuum", vacuum_max, range));
        }
        let present = numbers.positive("present")?;
        if present > 0.5 * vacuum_max {
            return Err(numbers.out_of_range("present", present, "at most half of vacuum"));
        }
        let places = unit.cups.iter().map(|cup| place(model, config.tool_frame, cup));
        let places = places.collect::<Option<Vec<_>>>().filter(|places| is_even(places));
        let places = places.ok_or_else(|| {
            parts("cups that are fixed to the tool, side by side and along its x", unit.cups.len())
        })?;
        let wrist = Wrist::new(model, config)?;
        Ok(Self {
            tool_frame: config.tool_frame,
            depth: places.first().map_or(0.0, |place| place.center.x),
            cups: unit.cups.iter().map(|cup| Channel::new(&cup.name, "Pa")).collect(),
            generator: [unit.name.clone()],
            reference: [HandReference::default()],
            vacuum_max,
            threshold: PartThreshold { present, hysteresis: HYSTERESIS * present },
            wrist,
            parts: vec![Part::Detached; places.len()],
            places,
            desired: 0.0,
            engaging: 0.0,
        })
    }

    /// Lets go of what it holds.
    pub(super) fn release(&mut self) {
        self.desired = 0.0;
        if let Some(wrist) = &mut self.wrist {
            wrist.tare();
        }
    }

    /// Area of all cups. [m²]
    fn area(&self) -> f64 {
        self.places.iter().map(|place| place.area).sum()
    }

    /// Force of the vacuums over their areas. [N]
    fn force(&self) -> f64 {
        self.places.iter().zip(&self.cups).map(|(place, cup)| place.area * cup.value).sum()
    }

    /// Way to hold an object from above after so many quarters of a turn: the tool's y along the object's y at 0 and 2, along its x at 1 and 3.
    fn way(&self, goal: &PickAndPlaceGoal, quarter: u8) -> Option<Hold> {
        let (x, y) = (goal.size.x, goal.size.y);
        let is_along = quarter.is_multiple_of(2);
        let (width, other) = if is_along { (y, x) } else { (x, y) };
        let sink = self.sink(goal, is_along)?;
        let edges = Vector3::new(goal.size.z, width, other);
        let raise = 0.5 * goal.size.z - sink;
        Some(Hold {
            turn: core::f64::consts::FRAC_PI_2 * f64::from(quarter),
            width,
            raise,
            depth: self.depth,
            aside: 0.0,
            tip: 0.01,
            contact: Contact::Lips(Lips::on(&self.places, self.depth, raise, &edges)?),
        })
    }

    /// Distance of the lips from the object's top, on the mean over their rings [m], where all of them find room; `is_along` where the tool's
    /// y is along the object's.
    fn sink(&self, goal: &PickAndPlaceGoal, is_along: bool) -> Option<f64> {
        // Places in the object's axes: along its x and its y.
        let places = || {
            self.places.iter().map(|place| {
                let (y, z) = (place.center.y, place.center.z);
                (place, if is_along { [z, y] } else { [y, z] })
            })
        };
        let radius = 0.5 * goal.size.z;
        // A lip on a crest lies on a round face; beside it, it would not lie at all.
        let bears = |place: &Place, off: f64| off.abs() < EVEN && place.least_radius <= radius;
        let room =
            |off: f64, place: &Place, edge: f64| off.abs() + place.radius + EDGE <= 0.5 * edge;
        let sagittas =
            |radius: f64| self.places.iter().map(|p| sagitta(radius, p.radius)).fold(0.0, f64::max);
        let (has_room, sink) = match goal.profile {
            Profile::Box => {
                let fits = |(place, [x, y]): (&Place, [f64; 2])| {
                    room(x, place, goal.size.x) && room(y, place, goal.size.y)
                };
                (places().all(fits), 0.0)
            }
            Profile::Standing { has_flat_ends: true, .. } => {
                let fits =
                    |(place, [x, y]): (&Place, [f64; 2])| room(x.hypot(y), place, goal.size.x);
                (places().all(fits), 0.0)
            }
            Profile::Lying { straight } => {
                let fits = |(place, [x, y]): (&Place, [f64; 2])| {
                    bears(place, y) && room(x, place, straight)
                };
                // Over the circle a cylinder is on the mean half as far below as at its sides.
                (places().all(fits), 0.5 * sagittas(radius))
            }
            // There is no room on a point.
            Profile::Cone => (false, 0.0),
            Profile::Ball | Profile::Standing { .. } => {
                // The half-ball of a capsule that stands is as wide as the capsule.
                let radius = 0.5 * goal.size.x;
                let fits = |(place, [x, y]): (&Place, [f64; 2])| {
                    x.hypot(y) < EVEN && place.least_radius <= radius
                };
                (places().all(fits), sagittas(radius))
            }
        };
        has_room.then_some(sink)
    }

    /// Refusal of an object that has no room for the lips.
    fn no_room(&self, goal: &PickAndPlaceGoal) -> PlanError {
        let reach = |of: fn(&Place) -> f64| {
            let each = self.places.iter().map(|place| of(place).abs() + place.radius + EDGE);
            each.fold(0.0, f64::max)
        };
        let (across, along) = (2.0 * reach(|p| p.center.y), 2.0 * reach(|p| p.center.z));
        let least = self.places.iter().map(|place| place.least_radius).fold(0.0, f64::max);
        let (value, range) = match goal.profile {
            Profile::Box | Profile::Standing { has_flat_ends: true, .. } => (
                goal.size.x.min(goal.size.y),
                format!(
                    "such that {across:.4} by {along:.4} m fit on the top: the lips, with {EDGE} m to its edge"
                ),
            ),
            _ if self.places.len() > 1 => (
                goal.size.y,
                "that of a flat top: lips side by side do not lie on a round one".to_owned(),
            ),
            _ => (
                goal.size.y,
                format!(
                    "at least {:.4}, for a radius of {least} m, and {along:.4} long",
                    2.0 * least
                ),
            ),
        };
        PlanError::Range { what: "object_size, the narrow side of its top [m],", value, range }
    }

    fn kilopascals(&self) -> String {
        let each = self.cups.iter();
        let each: Vec<_> =
            each.map(|cup| format!("{:.1} kPa in `{}`", 1e-3 * cup.value, cup.name)).collect();
        format!("vacuum {}", each.join(", "))
    }
}

/// Place of a cup on the tool; `None` where it is not fixed to it.
fn place(model: &Model, tool: FrameId, cup: &SuctionCup) -> Option<Place> {
    let [tool, link] = [tool, cup.link].map(|frame| &model.frames[frame.0]);
    let X_TL = tool.pose_in_body.inverse() * link.pose_in_body * cup.lip;
    let is_along = X_TL.rotation.column(2).yz().norm() < EVEN && X_TL.rotation[(0, 2)] > 0.0;
    let place = Place {
        area: cup.area,
        radius: cup.radius,
        least_radius: cup.least_radius,
        center: X_TL.translation,
    };
    (tool.body == link.body && is_along).then_some(place)
}

/// Whether lips are in one plane.
fn is_even(places: &[Place]) -> bool {
    let Some(first) = places.first() else { return false };
    places.iter().all(|place| (place.center.x - first.center.x).abs() < EVEN)
}

impl Hand for SuctionHand {
    fn kind(&self) -> &'static str {
        KIND
    }

    fn drives(&self) -> &[String] {
        &self.generator
    }

    fn cups(&self) -> &[Channel] {
        &self.cups
    }

    fn suction_mut(&mut self) -> Option<&mut SuctionHand> {
        Some(self)
    }

    fn tool_frame(&self) -> FrameId {
        self.tool_frame
    }

    fn sensors(&self) -> &[usize] {
        self.wrist.as_ref().map_or(&[], |wrist| core::slice::from_ref(&wrist.sensor))
    }

    fn lacks(&self) -> Option<&'static str> {
        self.wrist.is_none().then_some("a force sensor of the wrist")
    }

    fn force_max(&self) -> f64 {
        self.area() * self.vacuum_max
    }

    fn usual_strength(&self, _setting: f64) -> f64 {
        // What is sealed may as well be held with all there is.
        self.force_max()
    }

    fn check(&self, goal: &PickAndPlaceGoal, s: &PickAndPlaceSettings) -> Result<(), PlanError> {
        if goal.profile == Profile::Cone {
            let taken = "what has a flat or a round top, no cones";
            return Err(PlanError::Shape { hand: KIND, taken });
        }
        let hold = (0..2).find_map(|quarter| self.way(goal, quarter));
        let hold = hold.ok_or_else(|| self.no_room(goal))?;
        let payload = Payload::of(goal, s);
        let (needed, highest) = (hold.contact.at_rest(&payload), self.force_max());
        let given = goal.max_grip_force;
        // A rounding above the greatest is no demand.
        if given > highest * (1.0 + 1e-9) || needed > given {
            return Err(too_heavy(&payload, needed, [given, highest], UNIT));
        }
        Ok(())
    }

    fn holds(
        &self,
        goal: &PickAndPlaceGoal,
        _settings: &PickAndPlaceSettings,
    ) -> Result<Vec<Hold>, PlanError> {
        let found: Vec<_> = (0..4).filter_map(|quarter| self.way(goal, quarter)).collect();
        if found.is_empty() { Err(self.no_room(goal)) } else { Ok(found) }
    }

    fn update(&mut self, sample: &Sample<'_>) {
        for (cup, measured) in self.cups.iter_mut().zip(sample.measured.vacuums) {
            // One that is not known holds nothing.
            cup.value = if measured.is_finite() { *measured } else { 0.0 };
        }
        let force = self.force();
        if sample.is_first && self.cups.iter().any(|cup| cup.value > self.threshold.present) {
            // What a hand before this one holds stays held.
            self.desired = force.min(self.force_max());
        }
        let releases = self.desired <= 0.0;
        for (part, cup) in self.parts.iter_mut().zip(&self.cups) {
            *part = self.threshold.next(*part, cup.value, releases);
        }
        self.engaging += sample.dt;
        if let (Some(wrist), Some(wrench)) = (&mut self.wrist, sample.measured.wrenches.first()) {
            wrist.feel(sample, wrench);
        }
        self.reference[0].effort = self.desired;
    }

    fn references(&self) -> &[HandReference] {
        &self.reference
    }

    fn reset(&mut self) {
        self.parts.fill(Part::Detached);
        if let Some(wrist) = &mut self.wrist {
            wrist.reset();
        }
    }

    fn stay(&mut self) {}

    fn open(&mut self, _hold: &Hold) {
        self.release();
    }

    fn engage(&mut self, strength: f64, _tolerance: f64) {
        (self.desired, self.engaging) = (strength, 0.0);
        self.parts.fill(Part::Detached);
        if let Some(wrist) = &mut self.wrist {
            wrist.tare();
        }
    }

    fn hold(&mut self, strength: f64, _tolerance: f64) {
        self.desired = strength;
    }

    fn reading(&self) -> Reading {
        let felt = self.wrist.as_ref().map_or_else(Vector3::zeros, Wrist::felt);
        Reading {
            opening: 0.0,
            forces: [0.0; 2],
            strength: self.force(),
            load: felt.z,
            touch: felt.norm(),
        }
    }

    fn channels(&self) -> &[Channel] {
        &self.cups
    }

    fn trend(&mut self, _carries: bool, _elapsed: f64) -> GripTrend {
        GripTrend {
            speed: 0.0,
            target_force: self.desired,
            holding: self.desired > 0.0 && self.touch() == Touch::Whole,
            slipping: false,
        }
    }

    fn engagement(&self, _tolerance: f64) -> Engagement {
        if self.touch() == Touch::Whole && self.is_firm(self.desired) {
            return Engagement::Held;
        }
        if self.engaging < SEAL_TIME {
            return Engagement::Engaging;
        }
        let text = format!(
            "no seal {SEAL_TIME:.1} s after the lips were on the object: {}, {:.1} kPa are desired; clean lips and face, or take it where it is even",
            self.kilopascals(),
            1e-3 * self.desired / self.area()
        );
        Engagement::Failed(Failure::NoSeal, text)
    }

    fn touch(&self) -> Touch {
        // A pad that is sealed in part is not drawn to a side: nothing to centre.
        let is_whole = self.parts.iter().all(|part| *part == Part::Present);
        if is_whole { Touch::Whole } else { Touch::Nothing }
    }

    fn engaging_time(&self) -> f64 {
        SEAL_TIME
    }

    fn is_firm(&self, strength: f64) -> bool {
        self.force() >= FIRM * strength
    }

    fn loss(&self, strength: f64, _tolerance: f64) -> Loss {
        let gone = self.parts.iter().all(|part| *part == Part::Lost);
        Loss { weak: self.force() < 0.5 * strength, gone, left: gone }
    }

    fn lost(&self) -> Failure {
        Failure::PressureLost
    }

    fn is_free(&self) -> bool {
        self.cups.iter().all(|cup| cup.value < FREE)
    }

    fn part(&self) -> &'static str {
        "the hand"
    }

    fn describe(&self) -> String {
        self.kilopascals()
    }

    fn describe_lost(&self) -> String {
        format!("{}, {:.1} N", self.kilopascals(), self.force())
    }

    fn describe_stuck(&self) -> String {
        self.kilopascals()
    }

    fn late(&self) -> &'static str {
        "the vacuum did not come"
    }
}

/// Force on the hand beyond its own weight and inertia, by the wrist's sensor.
#[derive(Debug)]
struct Wrist {
    sensor: usize,
    frame: FrameId,
    /// What the sensor carries.
    body: BodyId,
    /// Time of the last sample, and the velocity of its centre of mass then. [m/s] (3)
    last: Option<(Time, Vector3)>,
    /// Force of the hand on the wrist, without inertia: downwards where something hangs. [N] (3)
    filtered: Option<Vector3>,
    /// The same with nothing held, once the filter has settled. [N] (3)
    tare: Option<Vector3>,
    /// Time since the first reading. [s]
    age: f64,
}

impl Wrist {
    /// Wrist of a model's `end_effector`; `None` where it names no sensor.
    fn new(model: &Model, config: &Config) -> Result<Option<Self>, EndEffectorError> {
        let name = match &config.sensors[..] {
            [] => return Ok(None),
            [name] => name,
            other => {
                let (kind, want, got) = (KIND, "one sensor, of the wrist", other.len());
                return Err(EndEffectorError::Parts { kind, want, got });
            }
        };
        let unknown = || EndEffectorError::UnknownSensor { name: name.clone() };
        let sensor = model.sensors.iter().position(|s| s.name == *name).ok_or_else(unknown)?;
        let (frame, kind) = (model.sensors[sensor].frame, model.sensors[sensor].kind);
        let body = model.frames[frame.0].body;
        match (kind, body) {
            (SensorKind::JointWrench, Some(body)) => Ok(Some(Self {
                sensor,
                frame,
                body,
                last: None,
                filtered: None,
                tare: None,
                age: 0.0,
            })),
            _ => Err(EndEffectorError::Parts {
                kind: KIND,
                want: "a sensor of the kind joint_wrench on a link that moves",
                got: 0,
            }),
        }
    }

    fn feel(&mut self, sample: &Sample<'_>, wrench: &Force) {
        let Sample { model, data, measured, .. } = *sample;
        let mass = model.bodies[self.body.0].inertia.mass;
        // Spatial velocities are those at the origin of the tree.
        let V = data.velocity[self.body.0];
        let velocity = V.linear + V.angular.cross(&data.com[self.body.0]);
        let last = self.last.replace((measured.time, velocity));
        let (time, before) = last.unwrap_or((measured.time, velocity));
        // Not the period: samples may have been lost in between.
        let dt = Some(measured.time.seconds_since(time)).filter(|dt| *dt > 0.0);
        let dt = dt.unwrap_or(sample.dt);
        let acceleration = (velocity - before) / dt;
        let R_WS = frame_pose(model, data, self.frame).rotation;
        // The arm on the hand is what the sensor measures; less what moves the hand, it is what pulls at it.
        let pull = R_WS * wrench.force - acceleration * mass;
        let filtered = self.filtered.get_or_insert(pull);
        *filtered += (pull - *filtered) * filter_gain(dt);
        self.age += dt;
        if self.tare.is_none() && self.age > SETTLED {
            self.tare = Some(*filtered);
        }
    }

    /// Pull beyond that of the empty hand; upwards is positive where something hangs. [N] (3)
    fn felt(&self) -> Vector3 {
        let felt = self.filtered.zip(self.tare).map(|(filtered, tare)| filtered - tare);
        felt.unwrap_or_default()
    }

    fn tare(&mut self) {
        // The first reading may be from before the sensor had one.
        self.tare = self.filtered.filter(|_| self.age > SETTLED);
    }

    fn reset(&mut self) {
        *self = Self { last: None, filtered: None, tare: None, age: 0.0, ..*self };
    }
}
