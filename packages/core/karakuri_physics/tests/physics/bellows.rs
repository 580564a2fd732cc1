//! Suction cups on bellows: springs in series with the lip, by closed forms.

#![expect(clippy::unwrap_used, reason = "a helper of tests may stop them")]
#![expect(non_snake_case, reason = "monogram notation, docs/notation.md")]
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "counts of steps are small"
)]

use core::f64::consts::TAU;
use std::sync::Arc;

use karakuri_model::{Base, Bellows, BodyId, GeometrySpec, LinkSpec, ModelBuilder, Shape};
use karakuri_physics::solver::SOLVERS;
use karakuri_physics::{
    BodyDescription, Bushing, JointDescription, ObjectId, Owner, RobotId, SolverSettings,
    StepOutcome, SuctionId, SuctionReport, World, WorldSettings,
};
use karakuri_spatial::{Force, Inertia, Matrix3, Motion, Pose, UnitQuaternion, Vector3};

use crate::suction::{DOWN, FRICTION, RADIUS, lip};

const FORCE: f64 = 69.0;
const MASS: f64 = 0.5;

/// Bellows of which 69 N use a third of the stroke.
fn stiff() -> Bellows {
    Bellows { axial: 26e3, lateral: 20e3, tilt: 20.0, torsion: 30.0, damping: 0.003, stroke: 0.008 }
}

/// Bellows that 7.2 N press to their stop.
fn soft() -> Bellows {
    Bellows { axial: 900.0, lateral: 700.0, tilt: 2.0, torsion: 3.0, damping: 0.02, stroke: 0.008 }
}

/// A plate of 0.5 kg below a cup that is fixed to the world and looks down at it from the origin.
struct Held {
    world: World,
    plate: ObjectId,
    cup: SuctionId,
}

impl Held {
    fn new(bellows: Bellows, force: f64) -> Self {
        Self::of(WorldSettings::default(), bellows, force)
    }

    /// Without gravity.
    fn of(settings: WorldSettings, bellows: Bellows, force: f64) -> Self {
        let mut world = World::new(WorldSettings { gravity: Vector3::zeros(), ..settings });
        let size = Vector3::new(0.2, 0.2, 0.01);
        let pose = Pose::from_translation(Vector3::new(0.0, 0.0, -0.005));
        let plate = BodyDescription::new("plate", Shape::Box { size }, MASS, pose);
        let plate = world.add_body(plate).unwrap();
        let lip = lip(Owner::Ground, Owner::Body(plate));
        let cup = world.attach_suction_on_bellows("cup", lip, bellows, &Pose::IDENTITY).unwrap();
        world.set_suction(cup, force).unwrap();
        Self { world, plate, cup }
    }

    /// Pulls for so long with a force at a point of the plate's top and a moment; the largest residual. [N; m; N·m; s]
    fn pull(&mut self, force: Vector3, point: Vector3, moment: Vector3, seconds: f64) -> f64 {
        let mut worst = 0.0_f64;
        for _ in 0..(seconds / self.world.settings().dt).round() as usize {
            let arm = self.pose().rotation * (point + Vector3::z() * 0.005);
            let wrench = Force::new(moment + arm.cross(&force), force);
            self.world.apply_body_wrench(self.plate, wrench);
            worst = worst.max(match self.world.step() {
                StepOutcome::Solved { residual, .. }
                | StepOutcome::MaxIterations { residual, .. } => residual,
                StepOutcome::NonFinite(_) => f64::INFINITY,
            });
        }
        worst
    }

    /// Lets the vacuum lift the plate, brings a pull up in a second and holds it for so long; whether it is held. [s]
    fn bears(&mut self, force: Vector3, point: Vector3, moment: Vector3, seconds: f64) -> bool {
        let none = Vector3::zeros();
        self.pull(none, none, none, 1.0);
        for part in 1..=100 {
            let part = f64::from(part) / 100.0;
            self.pull(force * part, point, moment * part, 0.01);
        }
        self.pull(force, point, moment, seconds);
        !self.report().lost
    }

    fn report(&self) -> SuctionReport {
        self.world.suction(self.cup).unwrap()
    }

    fn pose(&self) -> Pose {
        self.world.body(self.plate).pose()
    }

    /// Rotation and displacement of the plate from where it was, in world axes. [rad; m] (3, 3)
    fn moved(&self) -> (Vector3, Vector3) {
        let X = self.pose();
        (X.quaternion().scaled_axis(), X.translation + Vector3::z() * 0.005)
    }
}

fn near(value: f64, known: f64) {
    assert!((value - known).abs() <= 1e-6 * known.abs(), "{value}, not {known}");
}

/// A vacuum shortens the bellows by `(V − f)/k`, and lifts what it holds by that.
#[test]
fn a_vacuum_lifts_by_its_force_over_the_stiffness() {
    for (force, pull) in [(3.0, 0.0), (7.0, 0.0), (69.0, 65.0), (20.0, 19.0)] {
        let mut held = Held::new(soft(), force);
        held.pull(DOWN * pull, Vector3::zeros(), Vector3::zeros(), 3.0);
        near(held.moved().1.z, (force - pull) / 900.0);
        near(held.report().lip_force, force - pull);
        near(held.report().deflection[5], -(force - pull) / 900.0);
    }
}

/// Beyond `k stroke` it is the stop that bears the rest, and nothing moves on: neither with the speed of the lift, nor in time.
#[test]
fn the_stop_ends_the_lift() {
    for (force, pull) in [(7.3, 0.0), (69.0, 0.0), (69.0, 61.0)] {
        let mut held = Held::new(soft(), force);
        let mut highest = 0.0_f64;
        for _ in 0..2000 {
            held.pull(DOWN * pull, Vector3::zeros(), Vector3::zeros(), 1e-3);
            highest = highest.max(held.moved().1.z);
        }
        near(held.moved().1.z, 0.008);
        near(held.report().lip_force, force - pull);
        assert!(highest < 0.008 + 1e-9, "{highest} m");
        // Pulled off its stop it yields again.
        held.pull(DOWN * (force - 3.6), Vector3::zeros(), Vector3::zeros(), 3.0);
        near(held.moved().1.z, 0.004);
    }
}

/// Shear, twist and tilt yield by the load over the stiffness, and go back without it.
#[test]
fn loads_across_deflect_by_their_stiffness() {
    let (bellows, none) = (stiff(), Vector3::zeros());
    let mut held = Held::new(bellows, FORCE);
    assert!(held.bears(Vector3::x() * 9.0, none, none, 2.0));
    near(held.moved().1.x, 9.0 / bellows.lateral);
    assert!(held.report().opening < 1e-9 && !held.report().slips);
    let mut held = Held::new(bellows, FORCE);
    assert!(held.bears(none, none, Vector3::z() * 0.4, 2.0));
    near(held.moved().0.z, 0.4 / bellows.torsion);
    let mut held = Held::new(bellows, FORCE);
    assert!(held.bears(none, none, Vector3::y() * 0.8, 2.0));
    near(held.moved().0.y, 0.8 / bellows.tilt);
    // What the bellows take is no opening of the lip.
    assert!(held.report().opening < 1e-9, "{:?}", held.report());
    held.pull(Vector3::zeros(), Vector3::zeros(), Vector3::zeros(), 2.0);
    let (turned, moved) = held.moved();
    assert!(turned.norm() < 1e-7 && moved.xy().norm() < 1e-9, "{turned} {moved}");
}

/// A weight beside the axis tilts, `k_t φ = f e cos φ`, and nothing else: the vacuum pulls along the axis of the cup, whatever the tilt.
#[test]
fn an_eccentric_load_tilts_the_bellows() {
    let (bellows, f, e) = (stiff(), 20.0, 0.02);
    let mut held = Held::new(bellows, FORCE);
    assert!(held.bears(DOWN * f, Vector3::x() * e, Vector3::zeros(), 2.0));
    let (turned, _) = held.moved();
    let [.., x, _, z] = held.report().deflection;
    // The lip's axes are those of the world, turned upside down about x.
    near(bellows.tilt * turned.y, f * e * turned.y.cos());
    near(bellows.axial * -z, FORCE - f);
    assert!(x.abs() < 1e-9 && !held.report().slips, "{x} m");
}

/// Schmalz SUF 90, SUF 80, SAF 40 and SMC's pads: bellows change nothing of the force at which a lip comes off.
#[test]
fn breaks_off_at_the_force_of_its_vacuum() {
    let none = Vector3::zeros();
    for force in [328.0, 254.0, FORCE, 12.0, 117.0] {
        for bellows in [stiff(), soft()] {
            // From the start: what a vacuum has lifted would swing when it comes down.
            let bears = |part: f64| {
                let mut held = Held::new(bellows, force);
                held.pull(DOWN * (part * force), none, none, 2.0);
                !held.report().lost
            };
            assert!(bears(0.995) && !bears(1.005), "{force} N");
        }
    }
}

/// `V/(1 + e/R)`, as of a rigid lip.
#[test]
fn an_eccentric_pull_tips_the_lip() {
    for e in [0.005, 0.01, 0.02, 0.05] {
        let most = FORCE / (1.0 + e / RADIUS);
        for angle in [0.0_f64, 1.0] {
            let point = Vector3::new(e * angle.cos(), e * angle.sin(), 0.0);
            let bears = |part: f64| {
                Held::new(stiff(), FORCE).bears(DOWN * (part * most), point, Vector3::zeros(), 1.0)
            };
            assert!(bears(0.98) && !bears(1.02), "{e} m");
        }
    }
}

/// The lip as a light ring of 24 points on a bushing with the stiffnesses of the bellows, below the same vacuum: both come off at the same
/// eccentric pull, on short bellows and on long ones.
#[test]
fn twenty_four_points_come_off_at_the_same_pull() {
    for (bellows, e) in [(stiff(), 0.01), (stiff(), 0.03), (long(), 0.01), (long(), 0.03)] {
        let [ring, points] = [false, true].map(|of_points| {
            let (mut low, mut high) = (0.0, FORCE);
            while high - low > 0.004 * FORCE {
                let pull = 0.5 * (low + high);
                let holds = if of_points {
                    Points::new(bellows).bears(pull, e)
                } else {
                    let point = Vector3::x() * e;
                    Held::new(bellows, FORCE).bears(DOWN * pull, point, Vector3::zeros(), 0.5)
                };
                if holds { low = pull } else { high = pull }
            }
            0.5 * (low + high)
        });
        // The plate hangs at the angle at which the lip tips: `k_t φ = R N`, `N = V − f cos φ`.
        let most = FORCE / (1.0 + e / RADIUS);
        let angle = (FORCE - most) * RADIUS / bellows.tilt;
        assert!((ring - points).abs() < 0.02 * ring, "{e} m: {ring} N, {points} N");
        assert!((ring - most / angle.cos()).abs() < 0.01 * ring, "{e} m: {ring} N");
    }
}

/// Bellows that tilt by 10 degrees before a lip under 69 N tips.
fn long() -> Bellows {
    Bellows { axial: 5e3, lateral: 5e3, tilt: 4.0, torsion: 4.0, damping: 0.01, stroke: 0.03 }
}

/// The plate below a ring of 24 points.
struct Points {
    world: World,
    ring: RobotId,
    plate: ObjectId,
}

impl Points {
    fn new(bellows: Bellows) -> Self {
        let settings = WorldSettings { gravity: Vector3::zeros(), ..WorldSettings::default() };
        let mut world = World::new(settings);
        // Small, so that they touch on the circle when they are tilted, too.
        let tip = 1e-4;
        let inertia = Matrix3::identity() * 2e-6;
        let mut ring = LinkSpec::new(
            "ring",
            Inertia { mass: 0.005, com: Vector3::zeros(), about_com: inertia },
        );
        for i in 0..24 {
            let (sin, cos) = (TAU * f64::from(i) / 24.0).sin_cos();
            let place = Pose::from_translation(Vector3::new(RADIUS * cos, RADIUS * sin, tip));
            ring.collisions.push(GeometrySpec::new(place, Shape::Sphere { radius: tip }));
        }
        let model = ModelBuilder::new("ring", Base::Floating).link(ring).build().unwrap();
        let frame = model.frame("ring").unwrap();
        let ring =
            world.add_robot("ring", Arc::new(model), &[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]).unwrap();
        let size = Vector3::new(0.2, 0.2, 0.01);
        let pose = Pose::from_translation(Vector3::new(0.0, 0.0, -0.005));
        let plate =
            world.add_body(BodyDescription::new("plate", Shape::Box { size }, MASS, pose)).unwrap();
        let Bellows { axial, lateral, tilt, torsion, damping, .. } = bellows;
        let stiffness = [tilt, tilt, torsion, lateral, lateral, axial];
        let mount = JointDescription {
            a: Owner::Ground,
            b: Owner::Link { robot: ring, frame },
            pose_in_a: Pose::IDENTITY,
            locked: [false; 6],
            bushing: Some(Bushing { stiffness, damping: stiffness.map(|k| damping * k) }),
            strength: None,
        };
        world.attach_joint("bellows", mount).unwrap();
        Self { world, ring, plate }
    }

    /// As [`Held::bears`]: the vacuum pulls the plate along its normal at the ring's centre. [N; m]
    fn bears(&mut self, pull: f64, e: f64) -> bool {
        for i in 0..1500 {
            let X = self.world.body(self.plate).pose();
            let q = self.world.robot(self.ring).q();
            let center = Vector3::new(q[0], q[1], q[2]);
            let vacuum = X.rotation.column(2) * FORCE;
            let load = DOWN * (pull * (f64::from(i) / 1000.0).min(1.0));
            let about = |point: Vector3, force: Vector3| {
                Force::new((point - X.translation).cross(&force), force)
            };
            self.world.apply_body_wrench(self.plate, about(center, vacuum));
            // What the walls of the bellows press the ring with.
            let walls = Force::new(Vector3::zeros(), Vector3::z() * FORCE - vacuum);
            self.world.apply_link_wrench(self.ring, BodyId(0), walls);
            let point = X.transform_point(&Vector3::new(e, 0.0, 0.005));
            self.world.apply_body_wrench(self.plate, about(point, load));
            self.world.step();
            if (center - X.transform_point(&(Vector3::z() * 0.005))).norm() > 2e-3 {
                return false;
            }
        }
        true
    }
}

/// At 1/1.01 of the limit of shear and twist, with a pull beside the axis, for 10 s: after it came to rest nothing creeps.
#[test]
fn what_is_held_keeps_its_place() {
    for bellows in [stiff(), soft()] {
        let (pull, e) = (20.0, 0.003);
        let most = FRICTION * (FORCE - pull);
        let mut held = Held::new(bellows, FORCE);
        // Shear and twist at 1/1.01 of what they share.
        let (s, c) = (0.6_f64, 0.8_f64);
        let place = Vector3::y() * e;
        let force = Vector3::new(c * most / 1.01, 0.0, -pull);
        let twist = Vector3::z() * (s * most * RADIUS / 1.01);
        assert!(held.bears(force, place, twist, 3.0));
        let (before, deflection) = (held.pose(), held.report().deflection);
        held.pull(force, place, twist, 10.0);
        let crept = (held.pose().translation - before.translation).norm();
        let turned =
            (before.rotation.transpose() * held.pose().rotation - Matrix3::identity()).norm();
        assert!(crept < 1e-6 && turned < 1e-5, "{crept} m, {turned} rad, {deflection:?}");
        assert!(!held.report().slips);
    }
}

/// Friction has the limit of a rigid lip, and what slipped stays: the plate goes back by the deflection alone.
#[test]
fn a_lip_slips_at_its_limit_and_springs_back_by_what_it_bears() {
    let bellows = stiff();
    let limit = FRICTION * FORCE;
    let at_lip = Vector3::zeros();
    let pulled = |part: f64, seconds: f64| {
        let mut held = Held::new(bellows, FORCE);
        held.bears(Vector3::x() * (limit * part), at_lip, Vector3::zeros(), seconds);
        held
    };
    let mut held = pulled(0.98, 1.0);
    assert!(!held.report().slips);
    near(held.moved().1.x, 0.98 * limit / bellows.lateral);
    held.pull(Vector3::zeros(), Vector3::zeros(), Vector3::zeros(), 2.0);
    assert!(held.moved().1.x.abs() < 1e-8, "{} m", held.moved().1.x);
    // Beyond it slides with what friction leaves.
    let mut held = pulled(1.01, 0.0);
    held.pull(Vector3::x() * (limit * 1.05), at_lip, Vector3::zeros(), 0.2);
    let before = held.world.body(held.plate).velocity().linear.x;
    held.pull(Vector3::x() * (limit * 1.05), at_lip, Vector3::zeros(), 0.05);
    let gained = held.world.body(held.plate).velocity().linear.x - before;
    let known = 0.05 * limit / MASS * 0.05;
    assert!((gained - known).abs() < 0.01 * known, "{gained} m/s, not {known}");
    assert!(held.report().slips);
    let borne = held.report().deflection[3];
    // Its inertia tilts it a little, so that a part of the vacuum is across the cup.
    assert!((borne * bellows.lateral / limit - 1.0).abs() < 2e-3, "{borne} m");
}

/// Every solver gives the same motion of a lip that yields, slides and turns.
#[test]
fn all_solvers_agree() {
    let run = |method: &'static str, bellows: Bellows| {
        let found = SOLVERS.iter().find(|s| s.name == method).unwrap();
        let solver = SolverSettings { method, iterations: found.iterations, ..Default::default() };
        let mut held =
            Held::of(WorldSettings { solver, ..WorldSettings::default() }, bellows, FORCE);
        let force = Vector3::new(30.0, 10.0, -20.0);
        let residual = held.pull(force, Vector3::new(0.004, -0.003, 0.0), Vector3::z() * 0.3, 0.1);
        let (turned, moved) = held.moved();
        (residual, turned, moved)
    };
    for bellows in [stiff(), soft()] {
        let (_, turned, moved) = run("newton", bellows);
        // The accelerated gradient knows no friction that shares its limit with a moment.
        for method in ["block_gauss_seidel", "admm"] {
            let (residual, w, x) = run(method, bellows);
            assert!(residual < 1e-6, "{method}: {residual} m/s");
            assert!((w - turned).norm() < 1e-7 && (x - moved).norm() < 1e-8, "{method}: {w} {x}");
        }
    }
}

/// Dropped, caught by the bellows, pulled until it slides and comes off: all work is booked, what slips and what is damped takes
/// energy, and the rest is the method's own, which goes with the step.
#[test]
fn the_ledger_is_closed_over_a_drop_and_a_pull() {
    let run = |dt: f64| {
        let settings = WorldSettings { dt, energy_ledger: true, ..WorldSettings::default() };
        let mut held = Held::of(settings, soft(), 40.0);
        let X = held.pose();
        let flies = Motion::new(Vector3::zeros(), Vector3::new(0.1, 0.0, 0.5));
        held.world.set_body_state(held.plate, X, flies).unwrap();
        let start = held.world.energy().total();
        held.pull(DOWN * 25.0, Vector3::x() * 0.002, Vector3::zeros(), 0.1);
        held.pull(Vector3::new(12.0, 0.0, -25.0), Vector3::zeros(), Vector3::zeros(), 0.03);
        assert!(!held.report().lost);
        held.pull(DOWN * 45.0, Vector3::zeros(), Vector3::zeros(), 0.05);
        assert!(held.report().lost);
        (held.world.ledger(), held.world.energy().total() - start)
    };
    let [(coarse, change), (fine, _)] = [run(1e-3), run(2e-4)];
    for ledger in [coarse, fine] {
        assert!(ledger.unexplained.abs() < 1e-10, "{ledger:?}");
        assert!(ledger.contacts < -1e-3 && ledger.dampers < -1e-3, "{ledger:?}");
        assert!(ledger.loops == 0.0 && ledger.servos == 0.0, "{ledger:?}");
    }
    assert!((coarse.kinetic + coarse.potential - change).abs() < 1e-9, "{change} J, {coarse:?}");
    let ratio = coarse.integration / fine.integration;
    assert!((3.3..6.0).contains(&ratio), "{coarse:?} {fine:?}");
}

/// Without a damper the energy of the springs is that of what it lifts: a plate swings at `√(k/m)`.
#[test]
fn a_plate_swings_on_undamped_bellows() {
    let bellows = Bellows { damping: 0.0, stroke: 0.1, ..soft() };
    let mut held = Held::of(WorldSettings { dt: 1e-5, ..WorldSettings::default() }, bellows, 20.0);
    let period = TAU * (MASS / bellows.axial).sqrt();
    held.pull(Vector3::zeros(), Vector3::zeros(), Vector3::zeros(), 0.5 * period);
    let lifted = held.moved().1.z;
    assert!((lifted - 2.0 * 20.0 / bellows.axial).abs() < 1e-3 * lifted, "{lifted} m");
}

/// Below the full vacuum a plate that was tilted swings without a damper: it neither gains nor loses, as the vacuum works on a volume.
#[test]
fn a_vacuum_drives_no_swing() {
    let bellows = Bellows { lateral: 900.0, tilt: 0.16, damping: 0.0, stroke: 0.004, ..soft() };
    let settings = WorldSettings { dt: 1e-4, energy_ledger: true, ..WorldSettings::default() };
    let mut held = Held::of(settings, bellows, FORCE);
    let none = Vector3::zeros();
    held.pull(none, none, none, 0.5);
    let turns = Motion::new(Vector3::new(2.0, 0.5, 0.3), Vector3::zeros());
    let X = held.pose();
    held.world.set_body_state(held.plate, X, turns).unwrap();
    let energy = |held: &mut Held| held.world.energy().total() - held.world.work_done();
    let start = energy(&mut held);
    let swing = 0.5 * MASS * 0.04 / 12.0 * 4.25;
    let mut widest = [0.0_f64; 2];
    for (part, widest) in widest.iter_mut().enumerate() {
        for _ in 0..200 {
            held.pull(none, none, none, 0.01);
            *widest = widest.max(held.moved().0.norm());
            let gained = energy(&mut held) - start;
            assert!(gained < 0.01 * swing, "{gained} J of {swing} J in part {part}");
        }
    }
    assert!(widest[0] > 0.1 && widest[1] < 1.01 * widest[0], "{widest:?} rad");
    assert!(held.world.ledger().unexplained.abs() < 1e-10);
}

/// Cup and object pull each other through the bellows, tilted ones too: momentum stays.
#[test]
fn bellows_give_no_momentum() {
    let settings = WorldSettings { gravity: Vector3::zeros(), ..WorldSettings::default() };
    let mut world = World::new(settings);
    let mut body = |name: &str, mass: f64, z: f64, vx: f64| {
        let pose = Pose::from_translation(Vector3::new(0.01, 0.0, z));
        let shape = Shape::Box { size: Vector3::repeat(0.05) };
        let mut body = BodyDescription::new(name, shape, mass, pose);
        body.inertia = Some(Matrix3::identity() * (mass * 4e-4));
        body.velocity.linear.x = vx;
        world.add_body(body).unwrap()
    };
    let (above, below) = (body("above", 1.0, 0.025, 0.3), body("below", 2.0, -0.025, 0.0));
    let mut description = lip(Owner::Body(above), Owner::Body(below));
    description.pose_in_cup.translation.z = -0.025;
    let tilted = UnitQuaternion::from_scaled_axis(Vector3::new(0.1, -0.05, 0.0));
    let on = Pose::from_quaternion(&tilted, Vector3::new(0.0, 0.0, -0.002));
    let cup = world.attach_suction_on_bellows("cup", description, soft(), &on).unwrap();
    world.set_suction(cup, 50.0).unwrap();
    let momentum = |world: &World| {
        [(above, 1.0), (below, 2.0)].into_iter().fold(
            (Vector3::zeros(), Vector3::zeros()),
            |(p, L), (id, m)| {
                let (x, V) = (world.body(id).pose().translation, world.body(id).velocity());
                (p + V.linear * m, L + x.cross(&V.linear) * m + V.angular * (m * 4e-4))
            },
        )
    };
    let (p, L) = momentum(&world);
    for _ in 0..500 {
        world.step();
    }
    let (p_now, L_now) = momentum(&world);
    assert!(
        (p_now - p).norm() < 1e-12 && (L_now - L).norm() < 1e-12,
        "{} {}",
        p_now - p,
        L_now - L
    );
}

#[test]
fn a_snapshot_goes_on_bit_by_bit() {
    let run = || {
        let mut held = Held::new(soft(), FORCE);
        let pull = |held: &mut Held| {
            let (force, place) = (Vector3::new(33.0, 0.0, -10.0), Vector3::x() * 0.004);
            held.pull(force, place, Vector3::z() * 0.1, 0.1);
            held.world.state_hash()
        };
        pull(&mut held);
        let snapshot = held.world.snapshot();
        let first = pull(&mut held);
        held.world.restore(&snapshot);
        assert_eq!(pull(&mut held), first);
        first
    };
    assert_eq!(run(), run());
}

#[test]
fn refuses_bellows_that_cannot_be() {
    let mut held = Held::new(soft(), 10.0);
    let plate = Owner::Body(held.plate);
    let mut refused = |bellows: Bellows| {
        let lip = lip(Owner::Ground, plate);
        let attached =
            held.world.attach_suction_on_bellows("another", lip, bellows, &Pose::IDENTITY);
        attached.unwrap_err().to_string()
    };
    assert!(refused(Bellows { axial: 0.0, ..soft() }).contains("stiffness"));
    assert!(refused(Bellows { tilt: f64::NAN, ..soft() }).contains("stiffness"));
    assert!(refused(Bellows { stroke: -1.0, ..soft() }).contains("stroke"));
    assert!(refused(Bellows { damping: -0.1, ..soft() }).contains("damping"));
}
