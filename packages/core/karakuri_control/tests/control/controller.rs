//! The controller's payloads, forces and feedback against closed forms, and in the physics simulation.
#![expect(clippy::unwrap_used, reason = "a test says so")]
#![expect(non_snake_case, reason = "monogram notation, docs/notation.md")]

use std::sync::Arc;

use approx::assert_abs_diff_eq;
use karakuri_control::inverse_dynamics::METHODS;
use karakuri_control::{
    Axes, Command, Controller, ControllerError, FeedforwardController, FeedforwardSettings,
    ForceSettings, Gains, Payload, State, TargetWrench,
};
use karakuri_dynamics::{Data, forward_kinematics, frame_pose};
use karakuri_model::{
    Base, Drive, JointGroup, JointKind, JointSpec, LinkSpec, Model, ModelBuilder,
};
use karakuri_physics::{World, WorldSettings};
use karakuri_spatial::{Force, Inertia, Matrix3, Pose, Time, Vector3};

const LENGTH: f64 = 0.4;
const POSTURE: [f64; 3] = [0.4, -0.7, 0.9];
/// [s]
const H: f64 = 1e-3;
const STIFFNESS: f64 = 200.0;

/// Three links: about the vertical, then twice about the horizontal y.
fn arm() -> Model {
    let hinge = |axis: Vector3| Some(JointKind::Revolute { axis });
    let rod = |mass: f64| {
        let i = mass * LENGTH * LENGTH / 12.0;
        let about_com = Matrix3::from_diagonal(&Vector3::new(0.01 * i, i, i));
        Inertia { mass, com: Vector3::new(0.5 * LENGTH, 0.0, 0.0), about_com }
    };
    let out = Pose::from_translation(Vector3::new(LENGTH, 0.0, 0.0));
    let mut model = ModelBuilder::new("arm", Base::Fixed(Pose::IDENTITY))
        .link(LinkSpec::new("ground", Inertia::ZERO))
        .link(LinkSpec::new("turret", rod(0.5)))
        .link(LinkSpec::new("upper", rod(1.0)))
        .link(LinkSpec::new("fore", rod(0.8)))
        .link(LinkSpec::new("tool", Inertia::ZERO))
        .joint(JointSpec::new("turn", "ground", "turret", hinge(Vector3::z())))
        .joint(JointSpec::new("shoulder", "turret", "upper", hinge(Vector3::y())))
        .joint(JointSpec::new("elbow", "upper", "fore", hinge(Vector3::y())).at(out))
        .joint(JointSpec::new("flange", "fore", "tool", None).at(out))
        .build()
        .unwrap();
    let joints = ["turn", "shoulder", "elbow"].map(|name| model.joint(name).unwrap()).to_vec();
    for joint in &mut model.joints {
        joint.drive = Some(Drive { stiffness: STIFFNESS, damping: 20.0 });
        joint.limits.effort = 50.0;
    }
    model.groups.push(JointGroup { name: "arm".to_owned(), joints });
    model
}

/// Efforts change as fast as the formulas say.
fn settings_at_once() -> FeedforwardSettings {
    FeedforwardSettings { effort_rate: f64::INFINITY, ..FeedforwardSettings::default() }
}

fn seconds(t: f64) -> Time {
    Time::default().plus_seconds(t)
}

fn controller(model: &Arc<Model>, settings: FeedforwardSettings) -> FeedforwardController {
    FeedforwardController::new(Arc::clone(model), settings).unwrap()
}

/// Efforts at rest in the posture, at `t` [s].
fn efforts(controller: &mut FeedforwardController, model: &Model, t: f64) -> Vec<f64> {
    let mut command = Command::new(model);
    let state = State { q: &POSTURE, v: &[0.0; 3], effort: &[] };
    controller.update(&state, seconds(t), H, &mut command);
    command.effort
}

/// Place of a point of the tool in the world. [m] (3)
fn place(model: &Model, q: &[f64], point: &Vector3) -> Vector3 {
    let mut data = Data::new(model);
    forward_kinematics(model, &mut data, q);
    frame_pose(model, &data, model.frame("tool").unwrap()).transform_point(point)
}

/// `Jᵀ F` of a force at a point of the tool, by differences of its place.
fn lever(model: &Model, point: &Vector3, F: &Vector3) -> Vec<f64> {
    let step = 1e-6;
    let moved = |k: usize, sign: f64| {
        let mut q = POSTURE;
        q[k] += sign * step;
        place(model, &q, point)
    };
    (0..3).map(|k| ((moved(k, 1.0) - moved(k, -1.0)) / (2.0 * step)).dot(F)).collect()
}

fn payload(mass: f64, com: Vector3) -> Payload {
    Payload { link: "tool".to_owned(), mass, com }
}

#[test]
fn a_payload_adds_its_weight_by_every_method_and_live() {
    let model = Arc::new(arm());
    let com = Vector3::new(0.05, 0.02, -0.03);
    for method in METHODS {
        let method = (*method).to_owned();
        let settings = FeedforwardSettings { method, ..settings_at_once() };
        let mut controller = controller(&model, settings.clone());
        let empty = efforts(&mut controller, &model, 1.0);
        let loaded = FeedforwardSettings { payload: Some(payload(2.0, com)), ..settings.clone() };
        controller.set_settings(loaded).unwrap();
        let carried = efforts(&mut controller, &model, 1.001);
        let expected = lever(&model, &com, &Vector3::new(0.0, 0.0, 2.0 * 9.81));
        for ((carried, empty), expected) in carried.iter().zip(&empty).zip(&expected) {
            assert_abs_diff_eq!(carried - empty, *expected, epsilon = 1e-6);
        }
        controller.set_settings(settings).unwrap();
        for (again, empty) in efforts(&mut controller, &model, 1.002).iter().zip(&empty) {
            assert_abs_diff_eq!(*again, *empty, epsilon = 1e-12);
        }
    }
}

#[test]
fn what_cannot_be_carried_is_refused() {
    let model = Arc::new(arm());
    let mut controller = controller(&model, settings_at_once());
    let before = controller.settings().clone();
    let mut refused = |payload: Payload| {
        let payload = Some(payload);
        let settings = FeedforwardSettings { payload, ..settings_at_once() };
        controller.set_settings(settings).unwrap_err().to_string()
    };
    let named = |link: &str| Payload { link: link.to_owned(), mass: 1.0, com: Vector3::zeros() };
    assert_eq!(
        refused(named("hand")),
        "link `hand` is not in robot `arm`; its last link is `tool`"
    );
    assert!(refused(named("ground")).contains("fixed base; name one that a joint moves"));
    assert!(refused(payload(-1.0, Vector3::zeros())).contains("mass -1 kg at [0.0, 0.0, 0.0] m"));
    assert!(refused(payload(1.0, Vector3::repeat(f64::NAN))).contains("all numbers finite"));
    assert_eq!(*controller.settings(), before, "nothing was changed");
    let gains = vec![Gains::default(); 2];
    let error = controller.set_settings(FeedforwardSettings { gains, ..before }).unwrap_err();
    assert_eq!(error, ControllerError::GainCount { given: 2, joints: 3 });
}

#[test]
fn an_exerted_force_enters_with_its_lever_and_fades_in_silence() {
    let model = Arc::new(arm());
    let push = Vector3::new(3.0, -2.0, 5.0);
    let expected = lever(&model, &Vector3::zeros(), &push);
    for method in METHODS {
        let method = (*method).to_owned();
        let settings = FeedforwardSettings { method, ..settings_at_once() };
        let mut controller = controller(&model, settings);
        let point = controller.add_force_point("tool").unwrap();
        let free = efforts(&mut controller, &model, 1.0);
        let world = TargetWrench { wrench: Force::new(Vector3::zeros(), push), axes: Axes::World };
        let mut check = |target: Option<TargetWrench>, t: f64, share: f64| {
            if let Some(target) = target {
                controller.set_target_wrench(point, target, seconds(t));
            }
            let pushing = efforts(&mut controller, &model, t);
            for ((pushing, free), expected) in pushing.iter().zip(&free).zip(&expected) {
                assert_abs_diff_eq!(pushing - free, share * expected, epsilon = 1e-6);
            }
        };
        check(Some(world), 1.1, 1.0);
        check(None, 1.3, 1.0);
        check(None, 1.4, 0.5);
        check(None, 1.6, 0.0);
        // In the link's axes: what the world's are there.
        let mut data = Data::new(&model);
        forward_kinematics(&model, &mut data, &POSTURE);
        let R_WL = frame_pose(&model, &data, model.frame("tool").unwrap()).rotation;
        let wrench = Force::new(Vector3::zeros(), R_WL.transpose() * push);
        check(Some(TargetWrench { wrench, axes: Axes::Link }), 1.7, 1.0);
    }
}

#[test]
fn a_robot_that_was_lost_exerts_nothing() {
    let model = Arc::new(arm());
    let mut controller = controller(&model, settings_at_once());
    let point = controller.add_force_point("tool").unwrap();
    let free = efforts(&mut controller, &model, 1.0);
    let wrench = Force::new(Vector3::zeros(), Vector3::new(0.0, 0.0, 10.0));
    let target = TargetWrench { wrench, axes: Axes::World };
    controller.set_target_wrench(point, target, seconds(2.0));
    assert_eq!(efforts(&mut controller, &model, 2.0), free, "no state for a second");
}

/// Pushes a stiff wall that gives back what the tool exerts less `lost` [N]; gives the force at the end.
fn push_against(gain: f64, lost: f64) -> f64 {
    let model = Arc::new(arm());
    let force = ForceSettings { gain, ..ForceSettings::default() };
    let settings = FeedforwardSettings { force, ..settings_at_once() };
    let mut controller = controller(&model, settings);
    let point = controller.add_force_point("tool").unwrap();
    let free = efforts(&mut controller, &model, 1.0);
    let along = Vector3::new(0.0, 1.0, 0.0);
    let per_newton = lever(&model, &Vector3::zeros(), &along);
    let wrench = Force::new(Vector3::zeros(), 5.0 * along);
    let mut data = Data::new(&model);
    forward_kinematics(&model, &mut data, &POSTURE);
    let R_WL = frame_pose(&model, &data, model.frame("tool").unwrap()).rotation;
    let mut exerted = 0.0;
    for i in 1..500 {
        let t = 1.0 + f64::from(i) * H;
        controller.set_target_wrench(point, TargetWrench { wrench, axes: Axes::World }, seconds(t));
        // Friction across the push is none of the force feedback's business.
        let on_tool = R_WL.transpose() * (Vector3::new(2.0, 0.0, 0.0) - exerted * along);
        controller.set_measured_wrench(point, Force::new(Vector3::zeros(), on_tool), seconds(t));
        let pushing = efforts(&mut controller, &model, t);
        for k in 1..3 {
            let shift =
                pushing[k] - free[k] - (pushing[0] - free[0]) / per_newton[0] * per_newton[k];
            assert_abs_diff_eq!(shift, 0.0, epsilon = 1e-6);
        }
        exerted = (pushing[0] - free[0]) / per_newton[0] - lost;
    }
    exerted
}

#[test]
fn force_feedback_divides_the_error_by_one_plus_its_gain() {
    assert_abs_diff_eq!(push_against(0.0, 1.0), 4.0, epsilon = 1e-6);
    assert_abs_diff_eq!(push_against(3.0, 1.0), 4.75, epsilon = 1e-6);
    assert_abs_diff_eq!(push_against(9.0, 1.0), 4.9, epsilon = 1e-6);
}

/// Holds the posture for two seconds in the physics with a load that the controller does not know; the errors at the
/// end, and the largest step of an effort from one command to the next.
fn hold_unknown_load(integral: f64) -> ([f64; 3], f64) {
    let model = Arc::new(arm());
    let load = Payload { link: "tool".to_owned(), mass: 0.5, com: Vector3::zeros() };
    let robot_model = Arc::new(load.on(&model).unwrap());
    let gains = vec![Gains { i: integral, ..Gains::default() }; 3];
    let settings = FeedforwardSettings { gains, ..settings_at_once() };
    let mut controller = controller(&model, settings);
    let mut world = World::new(WorldSettings { dt: H, ..WorldSettings::default() });
    let robot = world.add_robot("arm", robot_model, &POSTURE).unwrap();
    let mut command = Command::new(&model);
    let (mut last, mut step) = (None::<Vec<f64>>, 0.0_f64);
    for i in 0..4000 {
        let (q, v) = (world.robot(robot).q().to_vec(), world.robot(robot).v().to_vec());
        controller.update(
            &State { q: &q, v: &v, effort: &[] },
            seconds(1.0 + f64::from(i) * H),
            H,
            &mut command,
        );
        if let Some(last) = last.replace(command.effort.clone()) {
            for (now, last) in command.effort.iter().zip(&last) {
                step = step.max((now - last).abs());
            }
        }
        let drives = world.drive_mut(robot);
        drives.enabled.fill(true);
        drives.position.copy_from_slice(&command.position);
        drives.velocity.copy_from_slice(&command.velocity);
        drives.effort.copy_from_slice(&command.effort);
        world.step();
    }
    let q = world.robot(robot).q();
    (core::array::from_fn(|k| POSTURE[k] - q[k]), step)
}

#[test]
fn an_unknown_load_leaves_no_error_with_integral_action() {
    let (without, _) = hold_unknown_load(0.0);
    let weight = lever(&arm(), &Vector3::zeros(), &Vector3::new(0.0, 0.0, -0.5 * 9.81));
    for (error, weight) in without.iter().zip(&weight) {
        // The arm sags by 2 degrees: its levers are a little longer then.
        assert_abs_diff_eq!(*error, -weight / STIFFNESS, epsilon = 5e-4);
    }
    let (with, step) = hold_unknown_load(600.0);
    for error in with {
        assert_abs_diff_eq!(error, 0.0, epsilon = 1e-6);
    }
    assert!(step < 0.05, "the integral makes no steps: {step} N·m");
}
