//! Motion from phases: the centre of mass by preview control or by its divergent component, postures by whole-body inverse
//! kinematics, and a second pass that brings the ZMP of the whole robot to its reference.
//!
//! First pass: cart-table on the ZMP reference. Inverse dynamics of the resulting postures gives the wrench that the
//! floor must exert, hence the actual ZMP; its error passes through the same preview controller as a correction of the centre of
//! mass, once a pass. [Kajita 2003, §IV]
//!
//! Units: SI, world axes. Rates and accelerations are central differences over the sample period.

use karakuri_dynamics::{Data, difference, integrate, take_off_wrench};
use karakuri_spatial::{Force, Pose, Vector3};

use super::biped::{Biped, BipedError};
use super::error::PlanError;
use super::pendulum::Pendulum;
use super::place::{Place, turned};
use super::plan_state::{End, N_INCREMENTS, Pass, PlanState, Righting};
use super::preview::{CartState, PreviewDesign, PreviewGains};
use super::sample::{Sample, Samples};
use super::settings::{GeneratorKind, SettingError, WalkSettings};
use super::side::{Side, Support};
use super::stance::check_zmp;
use super::swing::Course;
use super::timeline::{Timeline, middle};
use super::upper_body::UpperBody;
use super::whole_body::{BodyTarget, OutOfReach, WholeBody};
use crate::geometry::ConvexPolygon;
use crate::zmp::{FloorReaction, WholeBodyMotion, whole_body_zmp};

/// Weights of the last increments in the next one, newest last: a quartic through five postures. [-]
const EXTRAPOLATION: [f64; N_INCREMENTS] = [-1.0, 4.0, -6.0, 4.0];

/// Part of their length to which legs are stretched at most. [-]
// A knee between equal links is then bent by 20 degrees. Straight, it has no Jacobian that could be inverted.
const STRETCHED: f64 = 0.985;
/// Part of the height of the centre of mass over which it begins to sink before a leg is stretched. [-]
const SOFT: f64 = 0.01;
/// Part of its height to which the centre of mass sinks at most. [-]
// Bounds the sinking where legs cannot reach at all, which the inverse kinematics then reports.
const LOWEST: f64 = 0.7;

/// Displacement of a plan's state.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Displacement {
    /// Change of the divergent component. [m] (2)
    pub(super) dcm: [f64; 2],
    /// Change of the centre of mass. [m] (2)
    pub(super) com: [f64; 2],
    /// Change of roll and pitch of the root link. [rad] (2)
    pub(super) lean: [f64; 2],
    /// Rates of roll and pitch, absolute. [rad/s] (2)
    pub(super) lean_rate: [f64; 2],
}

/// Method that moves the centre of mass.
#[derive(Debug, Clone)]
enum Motion {
    Preview(PreviewGains),
    Dcm(Pendulum),
}

impl Motion {
    /// Number of samples looked ahead.
    fn n_ahead(&self) -> usize {
        match self {
            Self::Preview(gains) => gains.n_ahead(),
            Self::Dcm(pendulum) => pendulum.n_ahead,
        }
    }

    /// State one period on; `desired`: ZMP from now on. [m] (n)
    fn step(&self, cart: &CartState, desired: &[f64]) -> CartState {
        match self {
            Self::Preview(gains) => gains.step(cart, desired.get(1..).unwrap_or_default()),
            Self::Dcm(pendulum) => pendulum.step(cart, desired),
        }
    }
}

/// Scratch memory of a plan.
#[derive(Debug, Clone, Default)]
struct Scratch {
    /// Desired ZMP of the current pass, from the first sample on, along each axis. [m] (2×n)
    desired: [Vec<f64>; 2],
    /// Centre of mass and its velocity, `(x, y, ẋ, ẏ)`. [m, m/s] (n×4)
    com: Vec<[f64; 4]>,
    end: End,
    q: Vec<f64>,
    increment: Vec<f64>,
}

/// Makes samples, chunk by chunk, each going on where the last one ended; from a sample within the last chunk the plan can be
/// another one.
#[derive(Debug, Clone)]
pub struct Generator {
    /// Robot with its legs and soles.
    pub biped: Biped,
    /// Gait of the robot.
    pub settings: WalkSettings,
    motion: Motion,
    kinematics: WholeBody,
    upper_body: UpperBody,
    data: Data,
    state: PlanState,
    scratch: Scratch,
    rates: [Vec<f64>; 2],
    polygon: ConvexPolygon,
}

impl Generator {
    /// Generator of a robot that stands at the origin, heading along X.
    ///
    /// # Errors
    /// When a setting is out of range, the ZMP lies outside the soles, or the preview gains have no solution for the
    /// height.
    pub fn new(biped: Biped, settings: WalkSettings) -> Result<Self, BipedError> {
        settings.check()?;
        check_zmp(&biped, &settings)?;
        let design = PreviewDesign {
            com_height: settings.com_height,
            period: settings.period,
            gravity: settings.gravity,
            error_weight: 1.0,
            jerk_weight: settings.jerk_weight,
            n_ahead: settings.samples(settings.preview_time),
        };
        let unsolvable = || SettingError {
            name: "com_height",
            value: settings.com_height,
            range: "a height that preview control can be designed for".into(),
        };
        let motion = match settings.generator {
            GeneratorKind::Preview => {
                Motion::Preview(PreviewGains::new(&design).ok_or_else(unsolvable)?)
            }
            GeneratorKind::Dcm => Motion::Dcm(Pendulum {
                omega: settings.natural_frequency(),
                period: design.period,
                n_ahead: design.n_ahead,
            }),
        };
        let mut kinematics = WholeBody::new(&biped, settings.com_height);
        // The upper body's gains are linear about this posture.
        let standing = standing(&settings);
        let upper_body = UpperBody::new(&biped, &standing, &mut kinematics, &settings.upper_body);
        let model = &biped.model;
        let mut data = Data::new(model);
        data.gravity = Vector3::new(0.0, 0.0, -settings.gravity);
        let mut generator = Self {
            kinematics,
            upper_body,
            data,
            state: PlanState::default(),
            scratch: Scratch::default(),
            rates: core::array::from_fn(|_| vec![0.0; model.nv]),
            polygon: ConvexPolygon::default(),
            motion,
            biped,
            settings,
        };
        generator.stand();
        Ok(generator)
    }

    /// Places of feet that stand side by side about the origin.
    pub fn standing_feet(&self) -> [Place; 2] {
        standing_feet(&self.settings)
    }

    fn stand(&mut self) {
        let zmp = middle(&self.settings, &self.standing_feet());
        let mut q = self.biped.posture.clone();
        // A start for Newton's method: the root link of a walker is about as high as its centre of mass.
        q[2] = self.settings.com_height;
        let nv = self.biped.model.nv;
        let end = End { q, increments: core::array::from_fn(|_| vec![0.0; nv]) };
        let pass = |cart: [CartState; 2]| Pass { cart, end: end.clone() };
        let mut states = vec![pass(zmp.map(CartState::at))];
        // Corrections start from nothing: standing, the cart-table and the robot have the same ZMP.
        for _ in 0..self.settings.passes {
            states.push(pass([CartState::default(); 2]));
        }
        self.state = PlanState { states, ..PlanState::default() };
    }

    /// Natural frequency `ω` of the gait's pendulum. [1/s]
    pub fn omega(&self) -> f64 {
        self.settings.natural_frequency()
    }

    /// Index of the sample that comes next.
    pub fn next_index(&self) -> u64 {
        self.state.next_index
    }

    fn n_passes(&self) -> usize {
        1 + self.settings.passes
    }

    /// State of a pass before a sample of the last chunk.
    fn state(&self, k: usize, pass: usize) -> &Pass {
        &self.state.states[k * self.n_passes() + pass]
    }

    /// Divergent component before the next sample. [m] (2)
    pub fn next_dcm(&self) -> [f64; 2] {
        let omega = self.omega();
        let last = self.state.n_states * self.n_passes();
        [0, 1].map(|axis| {
            let carts =
                self.state.states[last..last + self.n_passes()].iter().map(|p| p.cart[axis]);
            // `ξ` is linear in position and velocity, so those of cart-table and corrections add up.
            carts.map(|cart| cart.position + cart.velocity / omega).sum()
        })
    }

    /// Plans the next `n` samples of a timeline, on top of `samples`; nothing changes where one is out of reach.
    ///
    /// # Errors
    /// When the inverse kinematics do not reach a sample's targets.
    pub fn plan(
        &mut self,
        timeline: &Timeline,
        n: usize,
        samples: &mut Samples,
    ) -> Result<(), PlanError> {
        let (before, n_passes) = (samples.len(), self.n_passes());
        let from = self.state.n_states * n_passes;
        // Grown by copies and never shrunk, so that planning allocates nothing once warm.
        while self.state.states.len() < from + (n + 1) * n_passes {
            let like = self.state.states[from].clone();
            self.state.states.push(like);
        }
        // The new chunk's states lie behind the old one's until it is there.
        self.state.states.rotate_left(from);
        let planned = self.plan_passes(timeline, n, samples);
        if planned.is_ok() {
            self.state.n_states = n;
            self.state.next_index += n as u64;
        } else {
            self.state.states.rotate_right(from);
            samples.truncate(before);
        }
        planned
    }

    /// Whether no joint is faster than its limit, from a sample on.
    pub(super) fn is_slow_enough(&self, samples: &[Sample], from: usize) -> bool {
        // Joint 0 is the floating base, which has no motor.
        let joints = &self.biped.model.joints[1..];
        let slow = |v: &[f64]| joints.iter().all(|j| v[j.v_start].abs() <= j.limits.velocity);
        samples.iter().skip(from).all(|s| slow(&s.v))
    }

    /// Moves a plan's state by a displacement, as though the plan had come there at the rate that it has there. Corrections
    /// follow the ZMP's error of the plan that is left: the sum of its errors, which preview control takes back, begins at zero
    /// again.
    pub(super) fn displace(
        &mut self,
        state: &mut PlanState,
        timeline: &Timeline,
        by: &Displacement,
    ) {
        self.with_state(state, |generator| generator.displace_state(timeline, by));
    }

    /// Plans the next `n` samples of a timeline from another state than the plan's own, on top of `samples`.
    pub(super) fn plan_from(
        &mut self,
        state: &mut PlanState,
        timeline: &Timeline,
        n: usize,
        samples: &mut Samples,
    ) -> Result<(), PlanError> {
        self.with_state(state, |generator| generator.plan(timeline, n, samples))
    }

    /// Sets a state to the plan's own before one of the samples of the last chunk.
    pub(super) fn branch(&self, state: &mut PlanState, index: u64) {
        state.branch_off(&self.state, self.n_passes(), index);
    }

    /// Makes another state the plan's own.
    pub(super) fn adopt(&mut self, state: &PlanState) {
        self.state.assign(state, self.n_passes());
    }

    /// Works on another state, and leaves the plan's own as it is.
    fn with_state<R>(&mut self, state: &mut PlanState, work: impl FnOnce(&mut Self) -> R) -> R {
        core::mem::swap(&mut self.state, state);
        let result = work(self);
        core::mem::swap(&mut self.state, state);
        result
    }

    fn displace_state(&mut self, timeline: &Timeline, by: &Displacement) {
        let (n_passes, h, omega) = (self.n_passes(), self.settings.period, self.omega());
        let first = self.state.n_states * n_passes;
        let index = self.state.next_index;
        let lean = self.state.righting.lean(index);
        let course = |i: usize| Course {
            from: lean[i].0 + by.lean[i],
            rate: by.lean_rate[i] * h,
            ..Course::default()
        };
        // Upright again within a step.
        let span = self.settings.samples(self.settings.step_time) as f64;
        self.state.righting = Righting { from: index, span, lean: [course(0), course(1)] };
        // `ξ = c + ċ/ω`: a displacement of `ξ` beyond that of `c` is one of the velocity.
        let rate = [0, 1].map(|i| omega * (by.dcm[i] - by.com[i]));
        let mut q = core::mem::take(&mut self.scratch.q);
        let mut com = [0.0; 4];
        for pass in first..first + n_passes {
            for axis in 0..2 {
                if pass == first {
                    self.state.states[pass].cart[axis].position += by.com[axis];
                    self.state.states[pass].cart[axis].velocity += rate[axis];
                } else {
                    // These errors are of a plan that is left; preview control would make up for them in the new one.
                    self.state.states[pass].cart[axis].error_sum = 0.0;
                }
                let cart = self.state.states[pass].cart[axis];
                // Each pass has its part of the centre of mass: the cart-table's, then the corrections.
                com[axis] += cart.position;
                com[2 + axis] += cart.velocity;
            }
            // The extrapolation of postures starts afresh, from the posture one period before and its increment.
            let before = [com[0] - com[2] * h, com[1] - com[3] * h, com[2], com[3]];
            let end = &self.state.states[pass].end;
            q.clone_from(&end.q);
            let before = self.target(timeline, index - 1, &before);
            // Out of reach: left as it is, for planning on from here fails then and the change is dropped.
            if self.pose(&before, &mut q).is_err() {
                continue;
            }
            self.state.states[pass].end.q.copy_from_slice(&q);
            let now = self.target(timeline, index, &com);
            if self.pose(&now, &mut q).is_ok() {
                let end = &mut self.state.states[pass].end;
                let [first, rest @ ..] = &mut end.increments;
                difference(&self.biped.model, &end.q, &q, first);
                for increment in rest {
                    increment.copy_from_slice(first);
                }
            }
        }
        self.scratch.q = q;
    }

    fn plan_passes(
        &mut self,
        timeline: &Timeline,
        n: usize,
        samples: &mut Samples,
    ) -> Result<(), PlanError> {
        let first = self.state.next_index;
        let ahead = self.motion.n_ahead();
        let n_passes = self.n_passes();
        // Each pass looks `ahead` beyond what the next one needs, and one further for the central difference.
        let mut length = n + (n_passes - 1) * ahead + 1;
        let mut desired = core::mem::take(&mut self.scratch.desired);
        let mut com = core::mem::take(&mut self.scratch.com);
        desired.iter_mut().for_each(Vec::clear);
        // All of the reference that the first pass sees.
        for k in 0..=length + ahead {
            let zmp = timeline.zmp(first + k as u64);
            desired.iter_mut().zip(zmp).for_each(|(desired, zmp)| desired.push(zmp));
        }
        com.clear();
        com.resize(length, [0.0; 4]);
        let mut done = Ok(());
        // Pass 0 follows the ZMP reference; later passes follow the ZMP's error that is left and add to the centre of mass.
        for pass in 0..n_passes {
            let mut cart = self.state(0, pass).cart;
            for (k, com) in com.iter_mut().enumerate().take(length) {
                if k <= n {
                    self.state.states[k * n_passes + pass].cart = cart;
                }
                for axis in 0..2 {
                    com[axis] += cart[axis].position;
                    com[2 + axis] += cart[axis].velocity;
                    let from_now = desired[axis].get(k..).unwrap_or_default();
                    cart[axis] = self.motion.step(&cart[axis], from_now);
                }
            }
            let com = &com[..length];
            if pass + 1 == n_passes {
                done =
                    self.follow(pass, n, com, timeline, |generator, k, target, q, increments| {
                        let sample = samples.push();
                        let [_, _, vx, vy] = com[k];
                        sample.index = first + k as u64;
                        sample.com = target.com.into();
                        sample.com_velocity = [vx, vy];
                        sample.soles = target.soles;
                        generator.fill(sample, timeline, q, increments);
                    });
            } else {
                desired.iter_mut().for_each(Vec::clear);
                done = self.follow(pass, n, com, timeline, |generator, k, _, q, increments| {
                    let index = first + k as u64;
                    let zmp = generator.floor_reaction(timeline.floor(index), q, increments).zmp;
                    let reference = timeline.zmp(index);
                    for axis in 0..2 {
                        desired[axis].push(reference[axis] - zmp[axis]);
                    }
                });
                // The next pass needs the path over one horizon less.
                length -= ahead;
            }
            if done.is_err() {
                break;
            }
        }
        (self.scratch.desired, self.scratch.com) = (desired, com);
        done
    }

    /// Follows a path of the centre of mass, `(x, y, ẋ, ẏ)` a sample, with postures; `on_sample` gets the number of each but the
    /// last, its target, its posture, and the increments to it and from it.
    fn follow(
        &mut self,
        pass: usize,
        n: usize,
        com: &[[f64; 4]],
        timeline: &Timeline,
        mut on_sample: impl FnMut(&mut Self, usize, &BodyTarget, &[f64], [&[f64]; 2]),
    ) -> Result<(), PlanError> {
        let (first, n_passes) = (self.state.next_index, self.n_passes());
        let mut end = core::mem::take(&mut self.scratch.end);
        let mut q = core::mem::take(&mut self.scratch.q);
        let mut increment = core::mem::take(&mut self.scratch.increment);
        end.clone_from(&self.state(0, pass).end);
        q.clone_from(&end.q);
        increment.resize(self.biped.model.nv, 0.0);
        let mut done = Ok(());
        let mut target = self.target(timeline, first, &com[0]);
        for (k, c) in com.iter().enumerate() {
            let index = first + k as u64;
            if k <= n {
                self.state.states[k * n_passes + pass].end.clone_from(&end);
            }
            // First guess by extrapolation of the last postures, then Newton's method.
            for (i, increment) in increment.iter_mut().enumerate() {
                *increment = end
                    .increments
                    .iter()
                    .zip(EXTRAPOLATION)
                    .map(|(increments, w)| w * increments[i])
                    .sum();
            }
            integrate(&self.biped.model, &end.q, &increment, 1.0, &mut q);
            // The sample before is filled only now: its central differences need the posture after it.
            let before = target;
            target = self.target(timeline, index, c);
            let mut posed = self.pose(&target, &mut q);
            if posed.is_ok() && !self.can_bend(&q) {
                // Past a stretched knee the extrapolation leads to one that bends backward.
                q.copy_from_slice(&end.q);
                posed = self.pose(&target, &mut q);
            }
            if let Err(OutOfReach(left)) = posed {
                done = Err(PlanError { time: index as f64 * self.settings.period, left });
                break;
            }
            // The first posture has none before it: a robot that stands has no increment.
            if index == 0 {
                end.q.copy_from_slice(&q);
            }
            difference(&self.biped.model, &end.q, &q, &mut increment);
            let [.., back] = &end.increments;
            if k > 0 {
                on_sample(self, k - 1, &before, &end.q, [back, &increment]);
            }
            core::mem::swap(&mut end.q, &mut q);
            end.increments.rotate_left(1);
            let [.., newest] = &mut end.increments;
            newest.copy_from_slice(&increment);
        }
        (self.scratch.end, self.scratch.q, self.scratch.increment) = (end, q, increment);
        done
    }

    /// Whether no joint of a leg is beyond its limits.
    fn can_bend(&self, q: &[f64]) -> bool {
        let joints = self.biped.legs.iter().flat_map(|leg| &leg.joints);
        let mut joints = joints.map(|j| &self.biped.model.joints[j.0]);
        joints.all(|j| (j.limits.lower..=j.limits.upper).contains(&q[j.q_start]))
    }

    /// Moves `q` (nq) to a posture.
    fn pose(&mut self, target: &BodyTarget, q: &mut [f64]) -> Result<(), OutOfReach> {
        self.upper_body.write(target, q);
        self.kinematics.solve(&self.biped, target, q)
    }

    fn target(&self, timeline: &Timeline, index: u64, com: &[f64; 4]) -> BodyTarget {
        let (yaw, floor) = timeline.trunk(index);
        let [(roll, _), (pitch, _)] = self.state.righting.lean(index);
        let lean = Pose::from_xyz_rpy([0.0; 3], [roll, pitch + self.settings.lean, 0.0]).rotation;
        let mut target = BodyTarget {
            com: Vector3::new(com[0], com[1], floor + self.settings.com_height),
            trunk: turned(yaw) * lean,
            soles: timeline.feet(index),
        };
        target.com.z -= self.too_high(&target);
        target
    }

    /// Excess of the centre of mass over the height at which the legs reach, with a smooth beginning. [m]
    fn too_high(&self, target: &BodyTarget) -> f64 {
        let rim = SOFT * self.settings.com_height;
        // The hip is at most `√(l² − d²)` above the sole, d its horizontal distance; within ±`rim` a parabola begins the sinking.
        let over = |side: Side| {
            let leg = &self.biped.legs[side.index()];
            // By the centre of mass of the standing posture: that of the posture sought is not known yet.
            let com_to_hip = target.trunk * (leg.hip_in_root - self.biped.com_in_root);
            let away = target.com + com_to_hip - target.soles[side.index()].translation;
            let longest = STRETCHED * leg.length;
            let highest = (longest.powi(2) - away.xy().norm_squared()).max(0.0).sqrt();
            let over = away.z - highest;
            // At ±rim value and slope meet those of 0 and of `over`: a kink would be a jump of the vertical velocity.
            if over > rim { over } else { (over + rim).max(0.0).powi(2) / (4.0 * rim) }
        };
        let most = (1.0 - LOWEST) * self.settings.com_height;
        over(Side::Left).max(over(Side::Right)).min(most)
    }

    /// Zero moment point of the whole robot and the wrench at the root that the floor must exert, of a posture and the increments
    /// to it and from it; leaves rates and accelerations in `rates`.
    fn floor_reaction(
        &mut self,
        floor: f64,
        q: &[f64],
        [back, forth]: [&[f64]; 2],
    ) -> FloorReaction {
        let model = &*self.biped.model;
        let h = self.settings.period;
        // Central differences: `v = (d₊ + d₋)/2h`, `v̇ = (d₊ − d₋)/h²`.
        let [v, a] = &mut self.rates;
        for (i, (back, forth)) in back.iter().zip(forth).enumerate() {
            v[i] = (forth + back) / (2.0 * h);
            a[i] = (forth - back) / (h * h);
        }
        whole_body_zmp(model, &mut self.data, &WholeBodyMotion { q, v, vdot: a }, floor)
    }

    /// Fills the rest of a sample with index, soles and centre of mass, from the posture and the increments to it and from it.
    fn fill(
        &mut self,
        sample: &mut Sample,
        timeline: &Timeline,
        q: &[f64],
        increments: [&[f64]; 2],
    ) {
        let index = sample.index;
        let floor = timeline.floor(index);
        let FloorReaction { zmp, wrench: Force { moment, force } } =
            self.floor_reaction(floor, q, increments);
        sample.zmp_reference = timeline.zmp(index);
        sample.zmp = zmp;
        sample.support = timeline.support(index);
        self.biped.fit_support(sample.standing(), &mut self.polygon);
        // Of the whole robot's ZMP, not of the reference: what the soles feel.
        sample.margin = self.polygon.margin(zmp);
        // About the ZMP the wrench has no horizontal moment; the vertical one must be borne by friction.
        let point = Vector3::new(zmp[0], zmp[1], floor);
        let at_zmp = Force::new(moment - (point - self.data.origin).cross(&force), force);
        sample.yaw_moment = at_zmp.moment.z;
        self.stand_on(sample, &at_zmp, &point);
        let [v, _] = &self.rates;
        for (to, from) in [
            (&mut sample.effort, self.data.effort.as_slice()),
            (&mut sample.v, v.as_slice()),
            (&mut sample.q, q),
        ] {
            to.clear();
            to.extend_from_slice(from);
        }
    }

    /// Takes the floor's wrench, given at the ZMP, off the efforts by the feet that stand: shares by the lever rule.
    fn stand_on(&mut self, sample: &Sample, at_zmp: &Force, zmp: &Vector3) {
        // Where the ZMP rests in each sole: with both loads there, the lever rule gives the reference back.
        let rest = |side: Side| {
            let [x, y] = self.settings.zmp_in_sole;
            let X_WSole = &sample.soles[side.index()];
            X_WSole.transform_point(&Vector3::new(x, side.sign() * y, 0.0))
        };
        match sample.support {
            // The other foot is in the air: nothing is to be shared.
            Support::One(side) => self.bear(side, at_zmp, zmp),
            Support::Both => {
                let (p, q) = (rest(Side::Left), rest(Side::Right));
                let along = q - p;
                let k = ((zmp - p).dot(&along) / along.norm_squared()).clamp(0.0, 1.0);
                // Both soles bear the component across the line between the feet.
                // A moment about the line cannot be shared by the lever rule; both soles take it by the same offset.
                let across = zmp - (p + along * k);
                self.bear(Side::Left, &(*at_zmp * (1.0 - k)), &(p + across));
                self.bear(Side::Right, &(*at_zmp * k), &(q + across));
            }
        }
    }

    /// Takes a wrench at a point of the floor off the efforts, by one foot.
    fn bear(&mut self, side: Side, at_point: &Force, point: &Vector3) {
        let foot = self.biped.legs[side.index()].foot;
        let Some(body) = self.biped.model.frames[foot.0].body else { return };
        let moment = at_point.moment + (point - self.data.origin).cross(&at_point.force);
        // Inverse dynamics had the root link pushed by the floor; with the wrench on the feet the legs carry it.
        take_off_wrench(&mut self.data, body, &Force::new(moment, at_point.force));
    }
}

/// Places of feet that stand side by side about the origin.
fn standing_feet(settings: &WalkSettings) -> [Place; 2] {
    Side::BOTH.map(|side| {
        let y = 0.5 * side.sign() * settings.feet_apart;
        Place { tilt: settings.slope, ..Place::default() }.moved([0.0, y])
    })
}

/// Target of standing at the origin.
fn standing(settings: &WalkSettings) -> BodyTarget {
    let feet = standing_feet(settings);
    let [x, y] = middle(settings, &feet);
    BodyTarget {
        com: Vector3::new(x, y, settings.com_height),
        trunk: Pose::from_xyz_rpy([0.0; 3], [0.0, settings.lean, 0.0]).rotation,
        soles: feet.map(|place| place.pose()),
    }
}
