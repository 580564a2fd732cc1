//! Suction cups: what a lip bears, by the law of a ring, and by makers' tables.

#![expect(clippy::unwrap_used, reason = "a helper of tests may stop them")]
#![expect(non_snake_case, reason = "monogram notation, docs/notation.md")]
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "counts of steps are small"
)]

use karakuri_model::Shape;
use karakuri_physics::{
    BodyDescription, ObjectId, Owner, StepOutcome, SuctionDescription, SuctionId, SuctionReport,
    World, WorldError, WorldSettings,
};
use karakuri_spatial::{Force, Matrix3, Motion, Pose, Vector3};

/// Radius of a Schmalz SAF 40: its table gives 69 N at 0.6 bar, which is a disc of this radius. [m]
pub(crate) const RADIUS: f64 = 0.0191;
pub(crate) const FRICTION: f64 = 0.5;

/// A plate of 0.5 kg below a cup that is fixed to the world and looks down at it from the origin, without gravity.
struct Held {
    world: World,
    plate: ObjectId,
    cup: SuctionId,
}

impl Held {
    fn new(force: f64) -> Self {
        let settings = WorldSettings { gravity: Vector3::zeros(), ..WorldSettings::default() };
        let mut world = World::new(settings);
        let size = Vector3::new(0.2, 0.2, 0.01);
        let pose = Pose::from_translation(Vector3::new(0.0, 0.0, -0.005));
        let plate = BodyDescription::new("plate", Shape::Box { size }, 0.5, pose);
        let plate = world.add_body(plate).unwrap();
        let cup = world.attach_suction("cup", lip(Owner::Ground, Owner::Body(plate))).unwrap();
        world.set_suction(cup, force).unwrap();
        Self { world, plate, cup }
    }

    /// Pulls with a force at a point below the lip's centre and a moment, for so long; whether it is held. [N; N·m; s]
    fn bears(&mut self, force: Vector3, point: Vector3, moment: Vector3, seconds: f64) -> bool {
        let wrench = Force::new(moment + point.cross(&force), force);
        for _ in 0..(seconds / self.world.settings().dt).round() as usize {
            // About the plate's centre of mass, as it lies under the cup.
            let arm = -self.world.body(self.plate).pose().translation;
            let about_com = Force::new(wrench.moment + arm.cross(&force), force);
            self.world.apply_body_wrench(self.plate, about_com);
            // What slides as a soft finger may stay a little above the tolerance for a step, and says so.
            let residual = match self.world.step() {
                StepOutcome::Solved { residual, .. }
                | StepOutcome::MaxIterations { residual, .. } => residual,
                StepOutcome::NonFinite(_) => f64::NAN,
            };
            assert!(residual < 1e-7, "residual {residual}");
        }
        let moved = self.world.body(self.plate).pose().translation + Vector3::z() * 0.005;
        !self.report().lost && moved.norm() < 1e-6
    }

    fn report(&self) -> SuctionReport {
        self.world.suction(self.cup).unwrap()
    }
}

/// Frame that looks down, at the object. [m]
fn downwards(z: f64) -> Pose {
    let rotation = Matrix3::new(1.0, 0.0, 0.0, 0.0, -1.0, 0.0, 0.0, 0.0, -1.0);
    Pose { rotation, translation: Vector3::z() * z }
}

pub(crate) fn lip(cup: Owner, object: Owner) -> SuctionDescription {
    SuctionDescription {
        cup,
        object,
        pose_in_cup: downwards(0.0),
        radius: RADIUS,
        friction: FRICTION,
        flexion: 1e-3,
    }
}

pub(crate) const DOWN: Vector3 = Vector3::new(0.0, 0.0, -1.0);

/// A ball that hits a held plate from below: lips are no contacts of the impact's own, and bear it as rigid ones.
#[test]
fn what_hits_a_held_plate_bounces_off() {
    let Held { mut world, plate, cup } = Held::new(60.0);
    let mut beside = lip(Owner::Ground, Owner::Body(plate));
    beside.pose_in_cup.translation.x = 0.06;
    let beside = world.attach_suction("beside", beside).unwrap();
    world.set_suction(beside, 60.0).unwrap();
    let pose = Pose::from_translation(Vector3::new(0.03, 0.0, -0.05));
    let ball = BodyDescription::new("ball", Shape::Sphere { radius: 0.02 }, 0.1, pose);
    let velocity = Motion::new(Vector3::zeros(), Vector3::z());
    let ball = BodyDescription { restitution: 0.8, velocity, ..ball };
    let ball = world.add_body(ball).unwrap();
    for _ in 0..100 {
        world.step();
    }
    let speed = world.body(ball).velocity().linear.z;
    assert!((speed + 0.8).abs() < 1e-3, "leaves with {speed} m/s, 1 m/s came");
    assert!(![cup, beside].into_iter().any(|id| world.suction(id).unwrap().lost));
    assert!(world.body(plate).velocity().linear.norm() < 1e-6);
}

/// Schmalz SUF 90, SUF 80 and SAF 40, and SMC's row of pads at −60 kPa. [N]
#[test]
fn breaks_off_at_the_force_of_its_vacuum() {
    for force in [328.0, 254.0, 69.0, 12.0, 18.0, 29.0, 48.0, 75.0, 117.0] {
        let none = Vector3::zeros();
        assert!(Held::new(force).bears(DOWN * (0.999 * force), none, none, 1.0), "{force} N");
        assert!(!Held::new(force).bears(DOWN * (1.001 * force), none, none, 1.0), "{force} N");
    }
}

/// `V/(1 + e/R)`.
#[test]
fn an_eccentric_pull_tips_the_lip() {
    for e in [0.005, 0.01, 0.02, 0.05] {
        let most = 69.0 / (1.0 + e / RADIUS);
        for angle in [0.0_f64, 1.0, 2.5] {
            let point = Vector3::new(e * angle.cos(), e * angle.sin(), 0.0);
            let none = Vector3::zeros();
            assert!(Held::new(69.0).bears(DOWN * (0.999 * most), point, none, 1.0), "{e} m");
            assert!(!Held::new(69.0).bears(DOWN * (1.005 * most), point, none, 1.0), "{e} m");
        }
    }
}

/// `(t/(μN))² + (s/(μRN))² ≤ 1` with the `N` that a pull leaves.
#[test]
fn shear_and_spin_share_the_friction() {
    for (share, pull) in [(0.0, 0.0), (0.3, 0.0), (0.7, 20.0), (1.0, 40.0)] {
        let limit = FRICTION * (69.0 - pull);
        let (s, c) = (share * std::f64::consts::FRAC_PI_2).sin_cos();
        let at = |part: f64| {
            let force = Vector3::new(c * limit * part, 0.0, -pull);
            let moment = Vector3::z() * (s * limit * RADIUS * part);
            Held::new(69.0).bears(force, Vector3::zeros(), moment, 1.0)
        };
        assert!(at(0.995), "share {share}, pull {pull} N");
        let mut turned = Held::new(69.0);
        let force = Vector3::new(c * limit * 1.01, 0.0, -pull);
        let moment = Vector3::z() * (s * limit * RADIUS * 1.01);
        let held = turned.bears(force, Vector3::zeros(), moment, 1.0);
        let X = turned.world.body(turned.plate).pose();
        assert!(!held || X.quaternion().angle() > 1e-3, "share {share}, pull {pull} N: {X:?}");
    }
}

/// However long it slides and turns, the lip takes energy, and its limit stays.
#[test]
fn a_lip_that_slides_takes_energy() {
    for (share, pull) in [(0.05, 0.0), (0.2, 40.0), (0.42, 2.3), (0.5, 20.0), (0.92, 38.6)] {
        let limit = FRICTION * (69.0 - pull);
        let (s, c) = (share * std::f64::consts::FRAC_PI_2).sin_cos();
        let mut held = Held::new(69.0);
        let force = Vector3::new(c, 0.0, 0.0) * (limit * 1.05) - Vector3::z() * pull;
        let moment = Vector3::z() * (s * limit * RADIUS * 1.05);
        for _ in 0..50 {
            held.bears(force, Vector3::zeros(), moment, 0.01);
            let (report, plate) = (held.report(), held.world.body(held.plate));
            let at_lip = report.position - plate.pose().translation;
            let velocity = plate.velocity().linear + plate.velocity().angular.cross(&at_lip);
            let power = report.wrench.force.dot(&velocity)
                + report.wrench.moment.dot(&plate.velocity().angular);
            assert!(power <= 0.0, "share {share}, pull {pull} N: {power} W");
            let shear = report.wrench.force.xy().norm() / limit;
            let spin = report.wrench.moment.z / (limit * RADIUS);
            let used = shear.hypot(spin);
            assert!((used - 1.0).abs() < 0.01, "share {share}, pull {pull} N: {used} of 1");
        }
    }
}

/// Nothing creeps: half of the limit in all directions at once.
#[test]
fn what_is_held_keeps_its_place() {
    let mut held = Held::new(69.0);
    let force = Vector3::new(6.0, 6.0, -20.0);
    assert!(held.bears(force, Vector3::new(0.003, 0.0, 0.0), Vector3::z() * 0.05, 10.0));
    assert!(held.world.body(held.plate).pose().quaternion().angle() < 1e-5);
    let wrench = held.report().wrench;
    // The cup gives what the plate is pulled with.
    assert!((wrench.force + force).norm() < 1e-6, "{wrench:?}");
}

/// Cup and object pull each other: the momentum of both together stays.
#[test]
fn a_vacuum_gives_no_momentum() {
    let settings = WorldSettings { gravity: Vector3::zeros(), ..WorldSettings::default() };
    let mut world = World::new(settings);
    let mut body = |name: &str, mass: f64, z: f64, vx: f64| {
        let size = Vector3::repeat(0.05);
        let pose = Pose::from_translation(Vector3::new(0.01, 0.0, z));
        let mut body = BodyDescription::new(name, Shape::Box { size }, mass, pose);
        body.velocity.linear.x = vx;
        world.add_body(body).unwrap()
    };
    let (above, below) = (body("above", 1.0, 0.025, 0.3), body("below", 2.0, -0.025, 0.0));
    let mut description = lip(Owner::Body(above), Owner::Body(below));
    description.pose_in_cup.translation.z = -0.025;
    let cup = world.attach_suction("cup", description).unwrap();
    world.set_suction(cup, 50.0).unwrap();
    for _ in 0..500 {
        world.step();
    }
    let [v_a, v_b] = [above, below].map(|id| world.body(id).velocity().linear);
    let momentum = v_a + v_b * 2.0;
    assert!((momentum - Vector3::x() * 0.3).norm() < 1e-12, "{momentum}");
    // They turn as one by now.
    let [w_a, w_b] = [above, below].map(|id| world.body(id).velocity().angular);
    assert!((w_a - w_b).norm() < 1e-6, "{w_a} {w_b}");
}

#[test]
fn a_snapshot_goes_on_bit_by_bit() {
    let mut held = Held::new(69.0);
    let pull = |held: &mut Held| {
        _ = held.bears(Vector3::new(10.0, 0.0, -30.0), Vector3::x() * 0.004, Vector3::zeros(), 0.2);
        held.world.state_hash()
    };
    pull(&mut held);
    let snapshot = held.world.snapshot();
    let first = pull(&mut held);
    held.world.restore(&snapshot);
    assert_eq!(pull(&mut held), first);
}

#[test]
fn without_a_vacuum_it_holds_nothing() {
    let mut held = Held::new(69.0);
    assert!(held.bears(DOWN * 50.0, Vector3::zeros(), Vector3::zeros(), 0.1));
    held.world.set_suction(held.cup, 0.0).unwrap();
    assert!(!held.bears(DOWN * 1.0, Vector3::zeros(), Vector3::zeros(), 0.5));
    // What came off stays off.
    held.world.set_suction(held.cup, 69.0).unwrap();
    assert!(held.report().lost);
    assert!(held.report().vacuum_force <= 0.0);
}

#[test]
fn refuses_what_cannot_be() {
    let mut held = Held::new(10.0);
    let plate = Owner::Body(held.plate);
    let refused = |world: &mut World, change: &dyn Fn(&mut SuctionDescription)| {
        let mut description = lip(Owner::Ground, plate);
        change(&mut description);
        world.attach_suction("another", description).unwrap_err().to_string()
    };
    assert!(refused(&mut held.world, &|d| d.radius = 0.0).contains("radius"));
    assert!(refused(&mut held.world, &|d| d.friction = -1.0).contains("friction"));
    assert!(refused(&mut held.world, &|d| d.object = Owner::Ground).contains("one rigid body"));
    let taken = held.world.attach_suction("cup", lip(Owner::Ground, plate)).unwrap_err();
    assert!(matches!(taken, WorldError::Suction { .. }), "{taken}");
    let negative = held.world.set_suction(held.cup, f64::NAN).unwrap_err();
    assert!(negative.to_string().contains("force from 0 N"), "{negative}");
}
