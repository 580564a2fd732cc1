//! The momentum of a floating tree, kept to round-off.
//!
//! A step in joint coordinates keeps `M(q) v`-like sums at the old position, not the momentum at the new one. After
//! the position is known, the base's velocity is changed so that the momentum about a fixed point is what it was
//! plus the impulses from outside: `V_b ← V_b + I_c(q')⁻¹ (h* − A(q') v')`, with `I_c` the inertia of the whole tree
//! as one body and `h* = A(q) v + Σ impulses`. Joint rates stay as they are.
//!
//! In flight [`flight`](super::flight) keeps the path of the centre of mass as well.

use karakuri_dynamics::update_velocities;
use karakuri_model::Base;
use karakuri_spatial::{Force, Matrix3, Vector3};

use crate::state::robot::Robot;

/// Motion of a coordinate in a step in contact from which on the default, too, keeps the momentum: it is off by the
/// mass times the cube of this over the step. [rad or m]
const FAR: f64 = 1e-4;

/// The tree as one body: mass, momentum about the world's origin, centre of mass.
struct Whole {
    mass: f64,
    momentum: Force,
    com: Vector3,
}

impl Robot {
    /// Whether the robot's momentum is its own: floating, and neither a loop nor a spring holds it to anything else.
    pub(crate) fn floats(&self) -> bool {
        // A loop or spring to the world takes momentum out of the tree.
        let held = |l: &karakuri_model::LoopJoint| l.body_a.is_none() || l.body_b.is_none();
        self.model.base == Base::Floating
            && !self.springs.hold_elsewhere
            && !self.model.loops.iter().any(held)
    }

    /// Whether a step in contact that ends with these rates turns a floating tree so far that its momentum is to be kept.
    pub(crate) fn turns_fast(&self, after: &[f64], h: f64) -> bool {
        let fast = |v: &[f64]| v.iter().any(|v| v.abs() * h > FAR);
        self.model.base == Base::Floating && (fast(after) || fast(&self.v)) && self.floats()
    }

    /// Notes the momentum at the start of a step; needs the kinematics of the start.
    pub(crate) fn note_momentum(&mut self) {
        // About the world's origin: a fixed point, unlike the centre of mass, which moves over the step.
        let whole = self.whole();
        (self.free_motion.momentum, self.free_motion.com) = (whole.momentum, whole.com);
        self.free_motion.push = Force::default();
        for (F, X_WB) in self.applied.iter().zip(&self.data.pose_in_world) {
            let moment = F.moment + X_WB.translation.cross(&F.force);
            self.free_motion.push += Force::new(moment, F.force);
        }
    }

    /// Gives the base the velocity that makes up the momentum: `impulse` of contacts about the world's
    /// origin. [N·m·s; N·s]
    pub(crate) fn keep_momentum(&mut self, h: f64, impulse: Force) {
        let now = self.whole();
        let weight = self.data.gravity * (now.mass * h);
        // Gravity acts at the mean of the centres of mass before and after.
        let arm = (self.free_motion.com + now.com) * 0.5;
        let push = Force::new(self.free_motion.push.moment * h, self.free_motion.push.force * h);
        let gravity = Force::new(arm.cross(&weight), weight);
        let desired = self.free_motion.momentum + impulse + push + gravity;
        let missing =
            Force::new(desired.moment - now.momentum.moment, desired.force - now.momentum.force);
        // All bodies move with the base as one: what is missing about the centre of mass gives the rates of that rigid body.
        let spin = missing.moment - now.com.cross(&missing.force);
        // A tree in one straight line has no inertia about it.
        let Some(inverse) = self.inertia_about(&now.com).try_inverse() else { return };
        let angular = inverse * spin;
        let arm = self.data.pose_in_world[0].translation - now.com;
        let linear = missing.force / now.mass + angular.cross(&arm);
        // Rates of a floating base: linear first, of its origin, in world axes.
        for i in 0..3 {
            self.v[i] += linear[i];
            self.v[3 + i] += angular[i];
        }
    }

    fn whole(&mut self) -> Whole {
        update_velocities(&self.model, &mut self.data, &self.v);
        let mut whole = Whole { mass: 0.0, momentum: Force::default(), com: Vector3::zeros() };
        let parts = self.model.bodies.iter().zip(&self.data.pose_in_world);
        // Sums over the bodies: momentum about the world's origin, and the common centre of mass.
        for ((body, X_WB), V) in parts.zip(&self.data.velocity) {
            let R = &X_WB.rotation;
            let (mass, p_WCom) = (body.inertia.mass, X_WB.transform_point(&body.inertia.com));
            // From the tree's origin, about which `V` is.
            let arm = p_WCom - self.data.origin;
            let linear = (V.linear + V.angular.cross(&arm)) * mass;
            let spin = R * (body.inertia.about_com * R.tr_mul(&V.angular));
            whole.momentum += Force::new(spin + p_WCom.cross(&linear), linear);
            whole.mass += mass;
            whole.com += p_WCom * mass;
        }
        whole.com /= whole.mass;
        whole
    }

    /// Inertia of the tree as one body about its centre of mass, in world axes, by the parallel axis theorem. [kg·m²]
    fn inertia_about(&self, com: &Vector3) -> Matrix3 {
        let mut about_com = Matrix3::zeros();
        for (body, X_WB) in self.model.bodies.iter().zip(&self.data.pose_in_world) {
            let R = &X_WB.rotation;
            let d = X_WB.transform_point(&body.inertia.com) - com;
            let steiner = Matrix3::identity() * d.norm_squared() - d * d.transpose();
            about_com += R * body.inertia.about_com * R.transpose() + steiner * body.inertia.mass;
        }
        about_com
    }
}
