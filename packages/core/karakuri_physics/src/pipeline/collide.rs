//! The first stage of a step: the contacts in reach.

use crate::constraint::contact::match_contacts;
use crate::world::World;

/// Gap up to which contacts are found, beside what the fastest motion covers in two steps. [m]
const CONTACT_MARGIN: f64 = 1e-3;

/// A little more, by an eighth at most: a reach that stays the same while speeds hardly change.
fn rounded_up(reach: f64) -> f64 {
    const FINE: u64 = (1 << 49) - 1; // all of the mantissa but three bits
    f64::from_bits((reach.to_bits() + FINE) & !FINE)
}

impl World {
    pub(crate) fn find_contacts(&mut self) {
        let h = self.settings.dt;
        // Speeds of the step's end, as gravity acts before positions move.
        let reach = self.fastest_speed() + h * self.settings.gravity.norm();
        // Two steps of motion, as the impulses of this one may double a speed before positions move.
        let reach = rounded_up(CONTACT_MARGIN + 2.0 * h * reach);
        self.pipeline.reach = reach;
        self.state.collision.update(reach);
        // Before contacts are matched, so that what is woken has its memory back.
        self.wake_touched(reach);
        let contacts = &mut self.constraints.contacts;
        std::mem::swap(&mut contacts.active, &mut contacts.previous);
        match_contacts(&self.state, contacts);
        self.constraints.drop_joined_contacts(&self.state.attachments);
    }

    /// Largest speed of any collider's reference point and edge, as a bound for the contact search. [m/s]
    pub(crate) fn fastest_speed(&mut self) -> f64 {
        let mut fastest: f64 = 0.0;
        for body in self.state.bodies.iter().flatten().filter(|b| b.is_free()) {
            let spin = body.spin_speed(self.settings.dt);
            fastest = fastest.max(body.velocity.linear.norm() + spin);
        }
        // Prescribed bodies have no velocity in the solve, but their surfaces come as fast.
        fastest = fastest.max(self.fastest_prescribed());
        for robot in self.state.robots.iter_mut().flatten() {
            if !robot.model.collisions.is_empty() {
                fastest = fastest.max(robot.fastest_speed(self.settings.dt));
            }
        }
        fastest
    }
}
