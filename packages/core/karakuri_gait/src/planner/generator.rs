//! From phases to motion: preview control for the centre of mass, whole-body inverse kinematics, and a second pass that
//! brings the ZMP of the whole robot to where it shall be.
//!
//! First pass: cart-table on the ZMP reference. Of the posture that follows, inverse dynamics gives the wrench that the
//! floor must exert, hence the real ZMP; its error goes through the same preview controller as a correction of the centre of
//! mass, once a pass. [Kajita 2003, §IV]
//!
//! Units: SI, world axes. Rates and accelerations are central differences over the sample period.

use karakuri_dynamics::{Data, difference, integrate, rnea, rnea_at_velocity};
use karakuri_spatial::{Force, Pose, Vector3};

use super::timeline::{Support, Timeline, middle};
use super::whole_body::{BodyTarget, OutOfReach, WholeBody};
use super::{
    Biped, BipedError, CartState, Place, PreviewDesign, PreviewGains, Side, WalkSettings, dcm,
    footstep::turned,
};

/// One instant of a planned walk.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    /// Number, from the start.
    pub index: u64,
    /// `p_WCom`. [m] (3)
    pub com: [f64; 3],
    /// Rate of the centre of mass, horizontal. [m/s] (2)
    pub com_velocity: [f64; 2],
    /// Where the ZMP shall be. [m] (2)
    pub zmp_reference: [f64; 2],
    /// ZMP of the whole robot's motion. [m] (2)
    pub zmp: [f64; 2],
    /// Signed distance of that ZMP to the edge of the soles that stand, positive inside. [m]
    pub margin: f64,
    /// `X_WSole`. (2)
    pub soles: [Pose; 2],
    /// What stands.
    pub support: Support,
    /// Positions. (nq)
    pub q: Vec<f64>,
    /// Rates. (nv)
    pub v: Vec<f64>,
    /// Efforts of the joints, the floor's wrench taken by the soles that stand. [N·m or N] (nv)
    pub effort: Vec<f64>,
}

impl Sample {
    /// The soles that stand, `X_WSole`.
    pub fn standing(&self) -> impl Iterator<Item = (Side, Pose)> {
        Side::BOTH.into_iter().zip(self.soles).filter(|(side, _)| self.support.stands(*side))
    }
}

/// A part of a walk that cannot be.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error(
    "at {time:.3} s the legs do not reach (an error of {left:.1e} remains); lower `com_height`, or make the steps shorter"
)]
pub struct PlanError {
    /// From the start. [s]
    pub time: f64,
    /// Largest error. [rad, or part of the height of the centre of mass]
    pub left: f64,
}

/// How the next way follows from the last ones, newest last: on a cubic through four postures. [-]
const EXTRAPOLATION: [f64; 3] = [1.0, -3.0, 3.0];

/// One round of motion: where its cart is, and the last posture.
#[derive(Debug, Clone)]
struct Pass {
    cart: [CartState; 2],
    end: End,
}

/// Where a row of postures has got to.
#[derive(Debug, Clone)]
struct End {
    /// Last posture. (nq)
    q: Vec<f64>,
    /// From posture to posture, newest last. (3 × nv)
    ways: [Vec<f64>; EXTRAPOLATION.len()],
}

/// Makes samples, chunk by chunk, each going on where the last one ended.
#[derive(Debug, Clone)]
pub struct Generator {
    /// The robot.
    pub biped: Biped,
    /// Its gait.
    pub settings: WalkSettings,
    gains: PreviewGains,
    kinematics: WholeBody,
    data: Data,
    /// First pass, then one a correction.
    passes: Vec<Pass>,
    rates: [Vec<f64>; 2],
    external: Vec<Force>,
    next_index: u64,
}

impl Generator {
    /// Standing at the origin, heading along X.
    pub fn new(biped: Biped, settings: WalkSettings) -> Result<Self, BipedError> {
        settings.check()?;
        let design = PreviewDesign {
            com_height: settings.com_height,
            period: settings.period,
            gravity: 9.81,
            error_weight: 1.0,
            jerk_weight: settings.jerk_weight,
            n_ahead: settings.samples(settings.preview_time),
        };
        let unsolvable = || super::SettingError {
            name: "com_height",
            value: settings.com_height,
            range: "a height that preview control can be designed for",
        };
        let gains = PreviewGains::new(&design).ok_or_else(unsolvable)?;
        let model = &biped.model;
        let mut generator = Self {
            kinematics: WholeBody::new(&biped, settings.com_height),
            data: Data::new(model),
            passes: Vec::new(),
            rates: core::array::from_fn(|_| vec![0.0; model.nv]),
            external: vec![Force::default(); model.bodies.len()],
            next_index: 0,
            gains,
            biped,
            settings,
        };
        generator.stand();
        Ok(generator)
    }

    /// Feet side by side about the origin.
    pub fn standing_feet(&self) -> [Place; 2] {
        Side::BOTH.map(|side| {
            let y = 0.5 * side.sign() * self.settings.feet_apart;
            Place { position: [0.0, y, 0.0], yaw: 0.0 }
        })
    }

    fn stand(&mut self) {
        let zmp = middle(&self.settings, &self.standing_feet());
        let mut q = self.biped.posture.clone();
        q[2] = self.settings.com_height;
        let nv = self.biped.model.nv;
        let end = End { q, ways: core::array::from_fn(|_| vec![0.0; nv]) };
        let pass = |cart: [CartState; 2]| Pass { cart, end: end.clone() };
        self.passes = vec![pass(zmp.map(CartState::at))];
        for _ in 0..self.settings.passes {
            self.passes.push(pass([CartState::default(); 2]));
        }
        self.next_index = 0;
    }

    /// `ω` of the gait. [1/s]
    pub fn omega(&self) -> f64 {
        dcm::natural_frequency(self.settings.com_height, 9.81)
    }

    /// The sample that comes next.
    pub fn next_index(&self) -> u64 {
        self.next_index
    }

    /// The next `n` samples of a timeline; nothing changes where one is out of reach.
    pub fn plan(&mut self, timeline: &Timeline, n: usize) -> Result<Vec<Sample>, PlanError> {
        let before = self.passes.clone();
        let planned = self.plan_passes(timeline, n);
        match planned {
            Ok(samples) => {
                self.next_index += n as u64;
                Ok(samples)
            }
            Err(error) => {
                self.passes = before;
                Err(error)
            }
        }
    }

    fn plan_passes(&mut self, timeline: &Timeline, n: usize) -> Result<Vec<Sample>, PlanError> {
        let first = self.next_index;
        let ahead = self.gains.n_ahead();
        let n_passes = self.passes.len();
        // Each pass looks `ahead` beyond what the next one needs, and one further for the central difference.
        let mut length = n + (n_passes - 1) * ahead + 1;
        let mut wanted: Vec<[f64; 2]> =
            (0..=length + ahead).map(|k| timeline.zmp(first + k as u64)).collect();
        let mut com = vec![[0.0; 4]; length];
        let mut samples = Vec::new();
        for pass in 0..n_passes {
            let mut cart = self.passes[pass].cart;
            let mut kept = cart;
            for (k, com) in com.iter_mut().enumerate().take(length) {
                if k == n {
                    kept = cart;
                }
                for axis in 0..2 {
                    com[axis] += cart[axis].position;
                    com[2 + axis] += cart[axis].velocity;
                    let reference = |i: usize| wanted[(k + i).min(wanted.len() - 1)][axis];
                    cart[axis] = self.gains.step(&cart[axis], reference);
                }
            }
            self.passes[pass].cart = kept;
            let com = &com[..length];
            if pass + 1 == n_passes {
                self.follow((pass, n), com, timeline, |generator, k, q, ways| {
                    samples.push(generator.sample(timeline, first + k as u64, &com[k], q, ways));
                })?;
            } else {
                wanted.clear();
                self.follow((pass, n), com, timeline, |generator, k, q, ways| {
                    let index = first + k as u64;
                    let (zmp, _) = generator.floor_wrench(timeline.floor(index), q, ways);
                    let reference = timeline.zmp(index);
                    wanted.push([reference[0] - zmp[0], reference[1] - zmp[1]]);
                })?;
                length -= ahead;
            }
        }
        Ok(samples)
    }

    /// Postures of a path of the centre of mass, `(x, y, ẋ, ẏ)` a sample; `on_sample` gets the number of each but the last, the
    /// posture, and the ways to it and from it.
    fn follow(
        &mut self,
        (pass, n): (usize, usize),
        com: &[[f64; 4]],
        timeline: &Timeline,
        mut on_sample: impl FnMut(&mut Self, usize, &[f64], [&[f64]; 2]),
    ) -> Result<(), PlanError> {
        let first = self.next_index;
        let mut end = self.passes[pass].end.clone();
        let mut kept = end.clone();
        let (mut q, mut way) = (end.q.clone(), vec![0.0; self.biped.model.nv]);
        self.kinematics.forget();
        for (k, c) in com.iter().enumerate() {
            let index = first + k as u64;
            if k == n {
                kept.clone_from(&end);
            }
            for (i, way) in way.iter_mut().enumerate() {
                *way = end.ways.iter().zip(EXTRAPOLATION).map(|(ways, w)| w * ways[i]).sum();
            }
            integrate(&self.biped.model, &end.q, &way, 1.0, &mut q);
            let target = self.target(timeline, index, c);
            let time = index as f64 * self.settings.period;
            self.kinematics
                .solve(&self.biped, &target, &mut q)
                .map_err(|OutOfReach(left)| PlanError { time, left })?;
            if index == 0 {
                end.q.copy_from_slice(&q);
            }
            difference(&self.biped.model, &end.q, &q, &mut way);
            let [.., back] = &end.ways;
            if k > 0 {
                on_sample(self, k - 1, &end.q, [back, &way]);
            }
            core::mem::swap(&mut end.q, &mut q);
            end.ways.rotate_left(1);
            let [.., newest] = &mut end.ways;
            newest.copy_from_slice(&way);
        }
        self.passes[pass].end = kept;
        Ok(())
    }

    fn target(&self, timeline: &Timeline, index: u64, com: &[f64; 4]) -> BodyTarget {
        let (yaw, floor) = timeline.trunk(index);
        let lean = Pose::from_axis_angle(&Vector3::y(), self.settings.lean).rotation;
        BodyTarget {
            com: Vector3::new(com[0], com[1], floor + self.settings.com_height),
            trunk: turned(yaw) * lean,
            soles: timeline.feet(index),
        }
    }

    /// ZMP of the whole robot and the wrench at the root that the floor must exert, of a posture and the ways to it and from it;
    /// leaves rates and accelerations in `rates`.
    fn floor_wrench(
        &mut self,
        floor: f64,
        q: &[f64],
        [back, forth]: [&[f64]; 2],
    ) -> ([f64; 2], Force) {
        let model = &*self.biped.model;
        let h = self.settings.period;
        let [v, a] = &mut self.rates;
        for (i, (back, forth)) in back.iter().zip(forth).enumerate() {
            v[i] = (forth + back) / (2.0 * h);
            a[i] = (forth - back) / (h * h);
        }
        let tau = rnea(model, &mut self.data, q, v, a, &[]);
        let force = Vector3::new(tau[0], tau[1], tau[2]);
        let moment = Vector3::new(tau[3], tau[4], tau[5]);
        // About the point of the floor under the root.
        let (x, y, z) = (q[0], q[1], q[2] - floor);
        let zmp = [x - (moment.y + z * force.x) / force.z, y + (moment.x - z * force.y) / force.z];
        (zmp, Force::new(moment, force))
    }

    fn sample(
        &mut self,
        timeline: &Timeline,
        index: u64,
        com: &[f64; 4],
        q: &[f64],
        ways: [&[f64]; 2],
    ) -> Sample {
        let floor = timeline.floor(index);
        let (zmp, Force { moment, force }) = self.floor_wrench(floor, q, ways);
        let (soles, support) = (timeline.feet(index), timeline.support(index));
        let standing: Vec<(Side, Pose)> =
            Side::BOTH.into_iter().zip(soles).filter(|(side, _)| support.stands(*side)).collect();
        let margin = self.biped.support_polygon(&standing).margin(zmp);
        let point = Vector3::new(zmp[0], zmp[1], floor);
        let root = Vector3::new(q[0], q[1], q[2]);
        self.shared(&standing, &Force::new(moment - (point - root).cross(&force), force), &point);
        let [v, a] = &self.rates;
        let effort =
            rnea_at_velocity(&self.biped.model, &mut self.data, v, a, &self.external).to_vec();
        Sample {
            index,
            com: [com[0], com[1], timeline.trunk(index).1 + self.settings.com_height],
            com_velocity: [com[2], com[3]],
            zmp_reference: timeline.zmp(index),
            zmp,
            margin,
            soles,
            support,
            q: q.to_vec(),
            v: v.clone(),
            effort,
        }
    }

    /// The floor's wrench, given at the ZMP, on the feet that stand: each takes its share by the lever rule.
    fn shared(&mut self, standing: &[(Side, Pose)], at_zmp: &Force, zmp: &Vector3) {
        self.external.fill(Force::default());
        let rest = |(side, X_WSole): &(Side, Pose)| {
            let [x, y] = self.settings.zmp_in_sole;
            X_WSole.transform_point(&Vector3::new(x, side.sign() * y, 0.0))
        };
        let shares: Vec<(Side, f64, Vector3)> = match standing {
            [a, b] => {
                let (p, q) = (rest(a), rest(b));
                let along = q - p;
                let k = ((zmp - p).dot(&along) / along.norm_squared()).clamp(0.0, 1.0);
                // What is across the line between the feet, both take.
                let across = zmp - (p + along * k);
                vec![(a.0, 1.0 - k, p + across), (b.0, k, q + across)]
            }
            _ => standing.iter().map(|(side, _)| (*side, 1.0, *zmp)).collect(),
        };
        for (side, share, point) in shares {
            let foot = self.biped.legs[side.index()].foot;
            let Some(body) = self.biped.model.frames[foot.0].body else { continue };
            let arm = point - self.data.pose_in_world[body.0].translation;
            let force = at_zmp.force * share;
            self.external[body.0] = Force::new(at_zmp.moment * share + arm.cross(&force), force);
        }
    }
}
