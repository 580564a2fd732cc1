//! A floating tree in flight, by its centre of mass.
//!
//! Gravity and applied wrenches, constant in a step, move the centre of mass by `h c_v + ½ h² a` and change the angular momentum
//! about it by `h` times their moment. After a step the base is shifted and gets the velocity such that both are so:
//! `q_b ← q_b + c* − c(q')`, `V_b ← V_b + I_c(q')⁻¹ (h* − A(q') v')` about the centre of mass. Joints and their rates stay as
//! they are. The two go from step to step as they are: recomputed from positions and rates they would collect round-off.

use karakuri_dynamics::{Data, center_of_mass, forward_kinematics, update_velocities};
use karakuri_spatial::{Force, Matrix3, Vector3};

use crate::state::flight::Flight;
use crate::state::robot::Robot;

impl Robot {
    /// Notes the flight at the start of a step; needs the kinematics of the start.
    pub(crate) fn note_flight(&mut self) {
        // Equal bits: nobody has set the state since the last step ended.
        let goes_on = self.v == self.free_motion.rates_at_end && self.q == self.free_motion.target;
        self.free_motion.in_flight.goes_on = goes_on;
        if goes_on {
            self.free_motion.in_flight.start = self.free_motion.in_flight.end;
        } else {
            self.free_motion.in_flight.start = self.flight_now().0;
        }
        // NaN equals nothing: the flight goes on only if this step ends in flight, too.
        self.free_motion.rates_at_end.fill(f64::NAN);
        let com = self.free_motion.in_flight.start.com;
        self.free_motion.in_flight.push = Force::default();
        for (F, X_WB) in self.applied.iter().zip(&self.data.pose_in_world) {
            let moment = F.moment + (X_WB.translation - com).cross(&F.force);
            self.free_motion.in_flight.push += Force::new(moment, F.force);
        }
    }

    /// The flight at the present rates, and the inertia of the whole tree about its centre of mass; needs the kinematics.
    fn flight_now(&mut self) -> (Flight, Matrix3) {
        update_velocities(&self.model, &mut self.data, &self.v);
        self.flight_of_data()
    }

    /// [`Self::flight_now`] at the rates of the last `update_velocities`.
    pub(crate) fn flight_of_data(&self) -> (Flight, Matrix3) {
        let Data { com, velocity, pose_in_world, origin, .. } = &self.data;
        let bodies = &self.model.bodies;
        let (mut now, mut linear) = (Flight::default(), Vector3::zeros());
        let mut first_moment = Vector3::zeros();
        for ((body, c), V) in bodies.iter().zip(com).zip(velocity) {
            now.mass += body.inertia.mass;
            first_moment += c * body.inertia.mass;
            linear += (V.linear + V.angular.cross(c)) * body.inertia.mass;
        }
        // `V` is about the tree's origin, and `c` from there.
        now.velocity = linear / now.mass;
        let middle = first_moment / now.mass;
        now.com = origin + middle;
        let mut inertia = Matrix3::zeros();
        // Spin and inertia about the common centre of mass, by the parallel axis theorem.
        for (((body, c), V), X_WB) in bodies.iter().zip(com).zip(velocity).zip(pose_in_world) {
            let (R, mass, arm) = (&X_WB.rotation, body.inertia.mass, c - middle);
            let about_com = R * body.inertia.about_com * R.transpose();
            let against = V.linear + V.angular.cross(c) - now.velocity;
            now.spin += about_com * V.angular + arm.cross(&against) * mass;
            let steiner = Matrix3::identity() * arm.norm_squared() - arm * arm.transpose();
            inertia += about_com + steiner * mass;
        }
        (now, inertia)
    }

    /// Corrects the base at the end of a step without rows from outside.
    pub(crate) fn keep_flight(&mut self, h: f64) {
        let end = self.free_motion.in_flight.after(&self.data.gravity, h);
        // `q_b ← q_b + c* − c(q')`.
        let shift = end.com - center_of_mass(&self.model, &self.data);
        for (q, shift) in self.q.iter_mut().zip(&shift) {
            *q += shift;
        }
        forward_kinematics(&self.model, &mut self.data, &self.q);
        if !self.take_flight(&end) {
            return;
        }
        self.free_motion.in_flight.end = end;
        self.free_motion.target.copy_from_slice(&self.q);
        self.free_motion.rates_at_end.copy_from_slice(&self.v);
        // The base's velocity is no longer the one that the discrete momentum belongs to.
        self.free_motion.keeps_variational_momentum = false;
    }

    /// Takes the flight of the step's end once more, after joints' rates have changed and left it but for rounding.
    pub(crate) fn keep_flight_at_end(&mut self) {
        // NaN where the step did not end in flight.
        if self.free_motion.rates_at_end.iter().all(|v| v.is_finite()) {
            let end = self.free_motion.in_flight.end;
            self.take_flight(&end);
            self.free_motion.rates_at_end.copy_from_slice(&self.v);
        }
    }

    /// Gives the base the velocity of a flight; false for a tree whose mass is all on one line, whose rates stay as they are.
    fn take_flight(&mut self, end: &Flight) -> bool {
        let (now, inertia) = self.flight_now();
        // There is no inertia about that line.
        let Some(inverse) = inertia.try_inverse() else { return false };
        // `V_b ← V_b + I_c(q')⁻¹ (h* − A(q') v')`, the tree moved as one body about its centre of mass.
        let angular = inverse * (end.spin - now.spin);
        let arm = self.data.pose_in_world[0].translation - end.com;
        // From the centre of mass to the base's origin.
        let linear = end.velocity - now.velocity + angular.cross(&arm);
        for i in 0..3 {
            self.v[i] += linear[i];
            self.v[3 + i] += angular[i];
        }
        true
    }
}
