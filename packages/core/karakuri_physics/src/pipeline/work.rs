//! Work that comes into a world from outside, and whether its energy grew by more than that.
//!
//! Contacts, limits, loops, friction and dampers take energy away or keep it. So the mechanical energy less the work of
//! drives, motors, prescribed motions, applied wrenches and running surfaces never grows: `E(t₂) − W(t₂) ≤ E(t₁) − W(t₁)` for
//! `t₁ < t₂`. Where it does, the simulation created energy: the step is too long for what it moves, contacts were not solved, or
//! things overlapped at the start and were pushed apart.

use karakuri_spatial::{Force, Vector3};

use crate::world::World;

/// Part of the energy that a run turns over which its growth must exceed to count: the error of first order of coarse
/// but usable steps stays below. [-]
const NOTABLE: f64 = 0.05;
/// Height by which everything may be lifted without notice. [m]
const LIFT: f64 = 1e-3;
/// Speed with which everything may move without notice. [m/s]
const CREEP: f64 = 1e-3;

impl World {
    /// Work that drives, motors, prescribed motions, applied wrenches and running surfaces have done so far, and what changes
    /// of inertias, springs and gravity since the first step added to the energy. [J]
    pub fn work_done(&self) -> f64 {
        self.account.work_done
    }

    /// Makes a change from outside, and books as work of applied wrenches what it adds to the energy. What happens before the
    /// first step builds the world, and is no work.
    pub(crate) fn book_change<T>(&mut self, change: impl FnOnce(&mut Self) -> T) -> T {
        if self.steps == 0 {
            return change(self);
        }
        let before = self.energy();
        let result = change(self);
        let after = self.energy();
        let added = after.total() - before.total();
        self.account.work_done += added;
        if self.settings.energy_ledger {
            let total = &mut self.account.booking.total;
            total.kinetic += after.kinetic - before.kinetic;
            total.potential += after.potential - before.potential;
            total.external += added;
        }
        result
    }

    /// Adds the work of a step; needs the dynamics of the step's start and the impulses of its end.
    pub(crate) fn accumulate_work(&mut self) {
        let h = self.settings.dt;
        let (before, after) = (&self.pipeline.before, &self.pipeline.problem.velocity);
        // Impulses work at the mean of the rates before and after, exactly: `½ (v' − v)ᵀ M (v' + v)` is the change of energy.
        let mean = |k: usize| 0.5 * (before[k] + after[k]);
        let mut work = 0.0;
        for robot in self.state.robots.iter().flatten() {
            // Efforts and applied wrenches over the step, the latter by `Sᵀ F` about the origin of the tree's spatial vectors.
            for (k, effort) in robot.efforts.iter().enumerate() {
                work += h * effort * mean(robot.start + k);
            }
            let pushed = robot.applied.iter().enumerate().filter(|(_, F)| **F != Force::default());
            for (body, F) in pushed {
                let arm = robot.data.pose_in_world[body].translation - robot.data.origin;
                let about_origin = Force::new(F.moment + arm.cross(&F.force), F.force);
                for &k in robot.chains.of(karakuri_model::BodyId(body)) {
                    let power = robot.data.subspace[k].dot(&about_origin);
                    work += h * power * mean(robot.start + k);
                }
            }
        }
        for body in self.state.bodies.iter().flatten().filter(|b| b.is_awake() && !b.done) {
            let three = |i: usize| Vector3::new(mean(i), mean(i + 1), mean(i + 2));
            let Force { moment, force } = body.applied;
            if body.applied != Force::default() {
                work += h * (force.dot(&three(body.start)) + moment.dot(&three(body.start + 3)));
            }
        }
        // Work through rows: running belts, surfaces that move as prescribed.
        let kinds = self.constraints.kinds();
        for (row, block) in self.pipeline.rows.iter().zip(&self.pipeline.problem.blocks) {
            work += kinds[row.kind].outside_work(row, block);
        }
        self.account.work_done += work;
    }

    /// Mass of all that moves. [kg]
    fn moving_mass(&self) -> f64 {
        let links = self.state.robots.iter().flatten().flat_map(|r| &r.model.bodies);
        let free = self.state.bodies.iter().flatten().filter(|b| b.is_free());
        links.map(|b| b.inertia.mass).sum::<f64>() + free.map(|b| b.description.mass).sum::<f64>()
    }

    /// Whether surfaces or limits hold energy that [`World::energy`] does not count.
    fn has_hidden_springs(&self) -> bool {
        let mut joints = self.state.robots.iter().flatten().flat_map(|r| &r.model.joints);
        // Soft limits and surfaces hold energy by their own law, which no account of springs has.
        joints.any(|joint| joint.bumper.is_some())
            || self
                .constraints
                .contacts
                .active
                .iter()
                .any(|contact| contact.surface.bumper.is_some())
    }
}

/// Watches whether a world gains more energy than is done to it.
#[derive(Debug, Clone, Copy)]
pub struct EnergyMonitor {
    /// `E − W` at the start, and its least value so far. [J]
    start: f64,
    least: f64,
    growth: f64,
    kinetic: f64,
    /// Least and largest potential energy. [J]
    potential: [f64; 2],
    work: f64,
    /// Growth below which there is none. [J]
    floor: f64,
    hidden_springs: bool,
}

impl EnergyMonitor {
    /// Begins at the present state.
    pub fn new(world: &mut World) -> Self {
        let (energy, mass) = (world.energy(), world.moving_mass());
        let start = energy.total() - world.work_done();
        Self {
            start,
            least: start,
            growth: 0.0,
            kinetic: energy.kinetic,
            potential: [energy.potential; 2],
            work: world.work_done(),
            // `m (g · 1 mm + (1 mm/s)²)`.
            floor: mass * (LIFT * world.settings.gravity.norm() + CREEP * CREEP),
            hidden_springs: world.has_hidden_springs(),
        }
    }

    /// Looks at the world; some hundred times over a run will do.
    pub fn look(&mut self, world: &mut World) {
        let (energy, work) = (world.energy(), world.work_done());
        self.hidden_springs |= world.has_hidden_springs();
        let now = energy.total() - work;
        // What springs that are not counted give back grows, too, but never above the start.
        // So they may only give back what they took since the start.
        let lowest = if self.hidden_springs { self.start } else { self.least };
        self.growth = self.growth.max(now - lowest);
        self.least = self.least.min(now);
        self.kinetic = self.kinetic.max(energy.kinetic);
        self.potential[0] = self.potential[0].min(energy.potential);
        self.potential[1] = self.potential[1].max(energy.potential);
        // The largest in magnitude, with its sign.
        self.work = if work.abs() > self.work.abs() { work } else { self.work };
    }

    /// Most by which the energy grew beyond the work that was done. [J]
    pub fn growth(&self) -> f64 {
        self.growth
    }

    /// Energy that the run turned over: the largest of kinetic energy, change of potential energy and work. [J]
    pub fn turnover(&self) -> f64 {
        self.kinetic.max(self.potential[1] - self.potential[0]).max(self.work.abs())
    }

    /// Whether the growth is more than a twentieth of the turnover, and more than lifts everything by 1 mm.
    pub fn is_notable(&self) -> bool {
        self.growth > self.floor && self.growth > NOTABLE * self.turnover()
    }
}
