//! Hands with suction cups on one vacuum generator: held by the vacuum, weighed by the wrist.
//!
//! The generator is commanded by the force of its vacuum over the area of all cups. A part is present in a cup whose vacuum is above a
//! threshold ([`PartThreshold`]). What the hand bears is the wrench of the wrist's sensor without that of the hand's own mass,
//! `f = F − m a`, against its value when nothing was held.
//!
//! Cups on bellows are pressed on by as much as their vacuum will shorten them: what they seal on stays where it is, and is put down where the
//! plan says.
//!
//! Limits: only a vacuum that falls tells of a grip that is about to be lost.

use core::f64::consts::FRAC_PI_2;

use karakuri_dynamics::frame_pose;
use karakuri_model::{
    BodyId, EndEffector as Config, FrameId, Model, SensorKind, SuctionCup, VacuumGenerator,
};
use karakuri_spatial::{Force, Time, Vector3};

use super::facets::{self, EDGE, Spot};
use super::hold::{Contact, Hold, looking_down};
use super::interface::{Channel, Engagement, Hand, Loss, Reading, Sample, Touch};
use super::lips::{Lips, Place, UNIT};
use super::payload::{Payload, too_heavy};
use super::revolved::as_hull;
use super::springs::Held;
use super::stated::{SQUARE, no_grip};
use super::tops::{self, On};
use crate::end_effector::{EndEffectorError, Numbers};
use crate::grip_force::{HandReference, filter_gain};
use crate::grip_monitor::GripTrend;
use crate::hull::Hull;
use crate::pick_and_place::PlanError;
use crate::pick_and_place::types::{
    Failure, Grasp, PickAndPlaceGoal, PickAndPlaceSettings, Profile,
};
use crate::suction::vacuum::{Part, PartThreshold};

/// Objects that cups take.
const NO_CONES: &str = "what has a flat or a round top, no cones";

/// Name of the kind in a robot YAML.
pub(super) const KIND: &str = "suction";

/// Time in which a cup has to be evacuated. [s]
// Ten times what 30 cm³ take at 20 l/min: what takes longer leaks.
const SEAL_TIME: f64 = 1.0;
/// Distance of the lips of a goal's grasp from the face up to which they are meant to be on it. [m]
const STATED: f64 = 0.005;
/// Share of the desired strength with which a grip is firm. [-]
const FIRM: f64 = 0.95;
/// Vacuum below which a cup has let go. [Pa]
const FREE: f64 = 500.0;
/// Share of the threshold by which a vacuum has to fall below it for the part to be lost. [-]
const HYSTERESIS: f64 = 0.25;
/// Largest distance of lips from one plane, and largest sine of the angle between their axes and the tool's. [m, -]
const EVEN: f64 = 1e-3;
/// Time in which the filter of the forces has forgotten what came before: 4 millionths are left. [s]
const SETTLED: f64 = 0.05;

/// A hand of suction cups.
#[derive(Debug, Clone)]
pub(crate) struct SuctionHand {
    tool_frame: FrameId,
    /// Position of the lips along the tool's x. [m]
    depth: f64,
    places: Vec<Place>,
    /// Bellows of the cups, where all have them.
    bellows: Option<Press>,
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

/// Bellows of all cups side by side.
#[derive(Debug, Clone, Copy)]
struct Press {
    /// Sum of the stiffnesses along the axis. [N/m]
    stiffness: f64,
    /// Shortening at which the first meets its stop. [m]
    stroke: f64,
}

impl Press {
    /// Bellows of cups; `None` where a lip is rigid on its link.
    fn of(cups: &[SuctionCup]) -> Option<Self> {
        let none = Self { stiffness: 0.0, stroke: f64::INFINITY };
        cups.iter().try_fold(none, |sum, cup| {
            let bellows = cup.bellows?;
            let stiffness = sum.stiffness + bellows.axial;
            Some(Self { stiffness, stroke: sum.stroke.min(bellows.stroke) })
        })
    }
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
            bellows: Press::of(&unit.cups),
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

    /// Shortening of the bellows by the goal's force less the object's weight. [m], gravity [m/s²]
    fn shortening(&self, goal: &PickAndPlaceGoal, gravity: f64) -> f64 {
        let force = goal.grip_force.min(self.force_max()) - goal.mass * gravity;
        self.bellows.map_or(0.0, |b| (force / b.stiffness).clamp(0.0, b.stroke))
    }

    /// Way to hold an object from above, by the middle of its top; its lips are `shortened` against their free length. [m]
    fn way(&self, goal: &PickAndPlaceGoal, quarter: u8, shortened: f64) -> Option<Hold> {
        let turn = FRAC_PI_2 * f64::from(quarter);
        let on = On { turn, is_along: quarter.is_multiple_of(2), along: 0.0 };
        self.way_at(goal, on, shortened)
    }

    /// Way to hold an object from above; its lips are `shortened` against their free length. [m]
    fn way_at(&self, goal: &PickAndPlaceGoal, on: On, shortened: f64) -> Option<Hold> {
        let (x, y) = (goal.size.x, goal.size.y);
        let On { turn, is_along, along } = on;
        let (width, other) = if is_along { (y, x) } else { (x, y) };
        let sink = tops::sink(&self.places, goal, on)?;
        let edges = Vector3::new(goal.size.z, width, other);
        let raise = 0.5 * goal.size.z - sink;
        let depth = self.depth - shortened;
        let at =
            |place: &Place| Place { center: place.center - Vector3::x() * shortened, ..*place };
        let places: Vec<_> = self.places.iter().map(at).collect();
        let middle = Vector3::x() * along;
        let com = Vector3::x() * (depth + raise) - looking_down(turn).transpose() * middle;
        Some(Hold {
            turn,
            middle,
            width,
            raise,
            depth,
            aside: 0.0,
            tip: 0.01,
            contact: Contact::Lips(Lips::with(&places, Held::new(com, &edges))?),
        })
    }

    /// Way to hold an object by a grasp on its round top, with the tool above the crest.
    fn on_crest(
        &self,
        goal: &PickAndPlaceGoal,
        grasp: &Grasp,
        shortened: f64,
    ) -> Result<Hold, PlanError> {
        let place = grasp.position;
        let lies = matches!(goal.profile, Profile::Lying { .. });
        let quarters = if lies { (grasp.turn / FRAC_PI_2).round() } else { 0.0 };
        let skew = if lies { (grasp.turn - quarters * FRAC_PI_2).abs() } else { 0.0 };
        if skew > SQUARE {
            return Err(no_grip(format!(
                "its lips are turned by {:.1} degrees against the axis of the object, at most {:.1} are taken",
                skew.to_degrees(),
                SQUARE.to_degrees()
            )));
        }
        let on = On {
            turn: if lies { quarters * FRAC_PI_2 } else { grasp.turn },
            is_along: quarters.rem_euclid(2.0) < 0.5,
            along: if lies { place.x } else { 0.0 },
        };
        let hold = self.way_at(goal, on, shortened);
        let hold = hold.ok_or_else(|| tops::no_room(&self.places, goal))?;
        let off = (place - hold.middle).xy().norm();
        if off > STATED {
            return Err(no_grip(format!(
                "its tool is {:.1} mm beside the crest of the object, at most {:.1} are taken",
                1e3 * off,
                1e3 * STATED
            )));
        }
        Ok(hold)
    }

    /// Ways to hold a convex object by the face that looks up.
    fn on_facet(&self, hull: &Hull) -> Result<Vec<Hold>, PlanError> {
        let spots = facets::spots(hull, &self.places, self.depth);
        let spots = spots.map_err(|fault| self.no_facet(fault))?;
        Ok(spots.into_iter().map(|spot| self.on(spot)).collect())
    }

    /// Way to hold a convex object by a spot on it.
    fn on(&self, Spot { turn, middle, lips }: Spot) -> Hold {
        Hold {
            turn,
            middle: Vector3::new(middle.x, middle.y, 0.0),
            width: 0.0,
            raise: middle.z,
            depth: self.depth,
            aside: 0.0,
            tip: 0.01,
            contact: Contact::Lips(lips),
        }
    }

    /// Refusal of a convex object without a face for the lips.
    fn no_facet(&self, fault: facets::Fault) -> PlanError {
        let why = match fault {
            facets::Fault::Leans(lean) => format!(
                "the face that looks up leans by {:.2} degrees, and lips lie on up to {:.2}; turn it so that a face is level",
                lean.to_degrees(),
                facets::largest_lean(&self.places).to_degrees()
            ),
            facets::Fault::Narrow => {
                let [across, along] = tops::room(&self.places);
                format!(
                    "{across:.4} by {along:.4} m do not fit on the face that looks up: the lips, with {EDGE} m to its edge"
                )
            }
        };
        PlanError::NoGrip { why }
    }

    /// Refuses what needs more vacuum than is allowed, or than there is.
    fn refuse_heavy(
        &self,
        hold: &Hold,
        goal: &PickAndPlaceGoal,
        s: &PickAndPlaceSettings,
    ) -> Result<(), PlanError> {
        let payload = Payload::of(goal, s);
        let (needed, highest) = (hold.contact.at_rest(&payload), self.force_max());
        let given = goal.max_grip_force;
        // A rounding above the greatest is no demand.
        if given > highest * (1.0 + 1e-9) || needed > given {
            return Err(too_heavy(&payload, needed, [given, highest], UNIT));
        }
        Ok(())
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
            return Err(PlanError::Shape { hand: KIND, taken: NO_CONES });
        }
        if let Profile::Hull(_) = goal.profile {
            // All that is refused is refused by each of its ways.
            return Ok(());
        }
        let shortened = self.shortening(goal, s.gravity);
        let hold = (0..2).find_map(|quarter| self.way(goal, quarter, shortened));
        let hold = hold.ok_or_else(|| tops::no_room(&self.places, goal))?;
        self.refuse_heavy(&hold, goal, s)
    }

    fn holds(
        &self,
        goal: &PickAndPlaceGoal,
        settings: &PickAndPlaceSettings,
    ) -> Result<Vec<Hold>, PlanError> {
        if let Profile::Hull(hull) = &goal.profile {
            let mut holds = self.on_facet(hull)?;
            let mut fault = None;
            // Turned otherwise, lips side by side bear a lever arm better or worse.
            holds.retain(|hold| match self.refuse_heavy(hold, goal, settings) {
                Ok(()) => true,
                Err(why) => {
                    fault.get_or_insert(why);
                    false
                }
            });
            return fault.filter(|_| holds.is_empty()).map_or(Ok(holds), Err);
        }
        let shortened = self.shortening(goal, settings.gravity);
        let found: Vec<_> =
            (0..4).filter_map(|quarter| self.way(goal, quarter, shortened)).collect();
        if found.is_empty() { Err(tops::no_room(&self.places, goal)) } else { Ok(found) }
    }

    fn grasp(
        &self,
        goal: &PickAndPlaceGoal,
        settings: &PickAndPlaceSettings,
        grasp: &Grasp,
    ) -> Result<Hold, PlanError> {
        let is_flat = matches!(
            goal.profile,
            Profile::Box | Profile::Hull(_) | Profile::Standing { has_flat_ends: true, .. }
        );
        let place = grasp.position - Vector3::z() * self.depth;
        let shortened = if is_flat { 0.0 } else { self.shortening(goal, settings.gravity) };
        let hold = if is_flat {
            let hull = as_hull(goal)?;
            let spot = facets::spot_at(&hull, &self.places, self.depth, grasp.turn, &place);
            self.on(spot.map_err(|fault| self.no_facet(fault))?)
        } else if goal.profile == Profile::Cone {
            return Err(PlanError::Shape { hand: KIND, taken: NO_CONES });
        } else {
            self.on_crest(goal, grasp, shortened)?
        };
        let off = place.z + shortened - hold.raise;
        if off.abs() > STATED {
            let why = format!(
                "the top of the object is {:.1} mm from the lips there, at most {:.1} are taken",
                1e3 * off.abs(),
                1e3 * STATED
            );
            return Err(no_grip(why));
        }
        self.refuse_heavy(&hold, goal, settings)?;
        Ok(hold)
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
#[derive(Debug, Clone)]
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
