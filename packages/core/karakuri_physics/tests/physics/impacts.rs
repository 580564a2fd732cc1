//! Impacts give no energy, however unlike the masses and however many at once, and neither file order nor a mirror matters.

#![expect(clippy::unwrap_used, reason = "a helper of tests may stop them")]
#![expect(clippy::print_stdout, reason = "a benchmark shows what it measured")]
#![expect(clippy::format_push_string, reason = "scenes are text")]
#![expect(non_snake_case, reason = "monogram notation, docs/notation.md")]

use std::sync::Arc;

use karakuri_model::{Base, NoAssets, Source, load};
use karakuri_physics::{RobotId, Scene, StepOutcome, World};
use karakuri_spatial::{Motion, Vector3};

fn scene(text: &str) -> World {
    World::from_scene(&Scene::parse(text, "scene.yaml").unwrap(), &[]).unwrap()
}

fn step(world: &mut World) {
    let outcome = world.step();
    assert!(!matches!(outcome, StepOutcome::NonFinite(_)), "{outcome:?} at {} s", world.time());
}

fn velocity(world: &World, name: &str) -> Motion {
    world.body(world.find_body(name).unwrap()).velocity()
}

/// Runs, and says by how much the energy grew above its least value so far, relative to the start.
fn largest_gain(world: &mut World, seconds: f64) -> f64 {
    let start = world.energy().total();
    let (mut gain, mut least) = (f64::NEG_INFINITY, start);
    while world.time() < seconds {
        step(world);
        let now = world.energy().total();
        gain = gain.max((now - least) / start);
        least = least.min(now);
    }
    gain
}

/// 10 kg fall on 10 g that bounce: the ball between ground and weight is hit from both sides at once.
#[test]
fn a_weight_on_a_bouncing_ball_gains_nothing() {
    for e in [0.0, 0.6, 0.7, 0.9, 1.0] {
        let mut world = scene(&format!(
            "dt: 0.001\nground: {{friction: 0.5}}\nbodies:\n  \
             - {{name: ball, shape: {{sphere: {{radius: 0.02}}}}, mass: 0.01, friction: 0.5, restitution: {e}, pose: {{xyz: [0, 0, 0.3]}}}}\n  \
             - {{name: heavy, shape: {{sphere: {{radius: 0.1}}}}, mass: 10, friction: 0.5, pose: {{xyz: [0, 0, 0.8]}}}}\n"
        ));
        let gain = largest_gain(&mut world, 2.0);
        println!("squeeze, e = {e}: gains at most {gain:e}");
        assert!(gain <= 1e-9, "e = {e}: {gain:e}");
    }
}

/// The same with a plate, four points on a ball on the ground.
#[test]
fn a_plate_on_bouncing_balls_gains_nothing() {
    for e in [0.6, 1.0] {
        let mut text = "dt: 0.001\nground: {friction: 0.5}\nbodies:\n".to_owned();
        for (i, [x, y]) in [[0.2, 0.2], [0.2, -0.2], [-0.2, 0.2], [-0.2, -0.2]].iter().enumerate() {
            text += &format!(
                "  - {{name: ball{i}, shape: {{sphere: {{radius: 0.02}}}}, mass: 0.01, friction: 0.5, restitution: {e}, pose: {{xyz: [{x}, {y}, 0.3]}}}}\n"
            );
        }
        text += "  - {name: plate, shape: {box: [0.5, 0.5, 0.02]}, mass: 10, friction: 0.5, pose: {xyz: [0, 0, 0.8]}}\n";
        let gain = largest_gain(&mut scene(&text), 2.0);
        println!("plate, e = {e}: gains at most {gain:e}");
        assert!(gain <= 1e-9, "e = {e}: {gain:e}");
    }
}

/// Bernoulli's problem: a ball hits two equal ones that touch. By symmetry, momentum and energy it returns with a fifth of
/// its speed, and the others leave along the lines of centres.
#[test]
fn a_ball_that_hits_two_in_the_middle_favours_neither() {
    let line = |name: &str, y: f64| {
        format!(
            "  - {{name: {name}, shape: {{sphere: {{radius: 0.05}}}}, mass: 1, friction: 0, restitution: 1, pose: {{xyz: [0.28660254037844386, {y}, 1]}}}}\n"
        )
    };
    let (up, down) = (line("up", 0.05), line("down", -0.05));
    let cue = "  - {name: cue, shape: {sphere: {radius: 0.05}}, mass: 1, friction: 0, restitution: 1, pose: {xyz: [0, 0, 1]}, velocity: {linear: [1, 0, 0]}}\n";
    let orders =
        [[cue, &up, &down].concat(), [cue, &down, &up].concat(), [&down, &up, cue].concat()];
    for (order, bodies) in orders.iter().enumerate() {
        for dt in [1e-3, 1e-5] {
            let mut world = scene(&format!(
                "dt: {dt}\ngravity: [0, 0, 0]\nrestitution_threshold: 0\nbodies:\n{bodies}"
            ));
            while world.time() < 0.25 {
                step(&mut world);
            }
            let side = 0.12_f64.sqrt();
            for (name, expected) in
                [("cue", [-0.2, 0.0]), ("up", [0.6, side]), ("down", [0.6, -side])]
            {
                let v = velocity(&world, name).linear;
                let error = (v - Vector3::new(expected[0], expected[1], 0.0)).norm();
                println!("three balls, order {order}, h = {dt}: {name} {v:?}, error {error:e}");
                // They meet at a gap of 1 nm.
                assert!(error < 1e-8, "{name}: {v:?}");
            }
        }
    }
}

/// A ball that does not bounce and sticks where it lands rolls on with 5/7 of its speed, wherever in the step it meets.
#[test]
fn a_ball_without_bounce_lands_with_its_own_lever_arm() {
    for dt in [1e-3, 1e-4] {
        for phase in [0.0, 0.1, 0.25, 0.5, 0.75, 0.9] {
            let z = 0.02 + 20.0 * dt * (2.0 + phase);
            let mut world = scene(&format!(
                "dt: {dt}\ngravity: [0, 0, 0]\nmixing: {{friction: min}}\nground: {{friction: 2}}\nbodies:\n  \
                 - {{name: b, shape: {{sphere: {{radius: 0.02}}}}, mass: 0.05, friction: 2, pose: {{xyz: [0, 0, {z}]}}, velocity: {{linear: [10, 0, -20]}}}}\n"
            ));
            while world.time() < 0.02 {
                step(&mut world);
            }
            let v = velocity(&world, "b");
            let errors = [v.linear.x / (50.0 / 7.0) - 1.0, v.angular.y / (2500.0 / 7.0) - 1.0];
            println!("landing ball, h = {dt}, phase {phase}: {errors:?}");
            assert!(errors.iter().all(|e| e.abs() < 1e-9), "h = {dt}, {phase}: {errors:?}");
        }
    }
}

const RODS: &str = r#"<robot name="two">
<link name="a"><inertial><mass value="1"/><inertia ixx="0.08333333333333333" iyy="0.08333333333333333" izz="0.001" ixy="0" ixz="0" iyz="0"/></inertial><collision><origin xyz="0 0 -0.5"/><geometry><sphere radius="0.02"/></geometry></collision></link>
<link name="b"><inertial><origin xyz="0 0 0.5"/><mass value="1"/><inertia ixx="0.08333333333333333" iyy="0.08333333333333333" izz="0.001" ixy="0" ixz="0" iyz="0"/></inertial><collision><origin xyz="0 0 1"/><geometry><sphere radius="0.02"/></geometry></collision></link>
<joint name="j" type="continuous"><parent link="a"/><child link="b"/><origin xyz="0 0 0.5"/><axis xyz="0 1 0"/></joint>
</robot>"#;

/// Two rods with a hinge over the ground: Kane's double pendulum, let go.
fn rods(dt: f64, e: f64, start: &str) -> (World, RobotId) {
    let text = format!(
        "dt: {dt}\nmixing: {{friction: min}}\nground: {{friction: 2}}\nrobots:\n  - {{name: rods, urdf: rods.urdf, base: floating, {start}}}\n"
    );
    let config = format!(
        "collision: {{self: false, materials: {{a: {{friction: 0.8, restitution: {e}}}, b: {{friction: 0.8, restitution: {e}}}}}}}"
    );
    let source = Source::urdf("rods.urdf", RODS).with_base(Base::Floating);
    let source = source.with_config("robot.yaml", &config);
    let model = Arc::new(load(&source, &mut NoAssets).unwrap().model);
    let world = World::from_scene(&Scene::parse(&text, "s.yaml").unwrap(), &[model]).unwrap();
    let id = world.robot_ids().next().unwrap();
    (world, id)
}

/// Newton's law of restitution with friction gives energy here [Kane 1984]; Poisson's with its certificate does not.
#[test]
fn kanes_rods_gain_nothing_from_the_ground() {
    let kane = "pose: {xyz: [0, 0, 2], rpy: [0, 0.750572799628002, 0]}, joints: {j: 1.9860690048478773}, \
                velocity: {linear: [-0.8224135660866527, 0, -2.671775516271823], angular: [0, -2.2733539258586126, 0]}, \
                velocities: {j: -4.958232774982312}";
    for e in [0.0, 0.5, 0.9, 1.0] {
        let gain = largest_gain(&mut rods(1e-3, e, kane).0, 2.0);
        println!("Kane's rods, e = {e}: gains at most {gain:e}");
        assert!(gain <= 1e-3, "e = {e}: {gain:e}");
    }
    let mut random = karakuri_testkit::Random::new(1);
    for fall in 0..12 {
        let mut number = |size: f64| random.uniform(-size, size);
        let start = format!(
            "pose: {{xyz: [0, 0, 2], rpy: [0, {}, 0]}}, joints: {{j: {}}}, \
             velocity: {{linear: [{}, 0, {}], angular: [0, {}, 0]}}, velocities: {{j: {}}}",
            number(3.0),
            number(3.0),
            number(3.0),
            number(3.0),
            number(5.0),
            number(5.0)
        );
        // Of steps in contact, which are of first order.
        for (dt, error) in [(1e-3, 1e-2), (1e-4, 1e-3)] {
            for e in [0.9, 1.0] {
                let gain = largest_gain(&mut rods(dt, e, &start).0, 2.0);
                println!("rods, fall {fall}, h = {dt}, e = {e}: gains at most {gain:e}");
                assert!(gain <= error, "{fall}, e = {e}: {gain:e}");
            }
        }
    }
}

/// Four corners at once: each gives back its part, and nothing turns.
#[test]
fn a_box_that_lands_flat_rises_with_its_part_of_the_speed() {
    for e in [0.1, 0.5, 1.0] {
        let mut world = scene(&format!(
            "dt: 0.001\ngravity: [0, 0, 0]\nground: {{friction: 0.5}}\nbodies:\n  \
             - {{name: b, shape: {{box: [0.3, 0.2, 0.1]}}, mass: 2, friction: 0.5, restitution: {e}, pose: {{xyz: [0, 0, 0.0611]}}, velocity: {{linear: [0, 0, -2]}}}}\n"
        ));
        while world.time() < 0.01 {
            step(&mut world);
        }
        let v = velocity(&world, "b");
        assert!((v.linear - Vector3::z() * (2.0 * e)).norm() < 1e-8, "e = {e}: {v:?}");
        assert!(v.angular.norm() < 1e-8, "e = {e}: {v:?}");
    }
}

const ROD: &str = r#"<robot name="rod">
<link name="a"><inertial><mass value="1"/><inertia ixx="0.08333333333333333" iyy="0.08333333333333333" izz="0.001" ixy="0" ixz="0" iyz="0"/></inertial><collision><origin xyz="0 0 -0.5"/><geometry><sphere radius="0.02"/></geometry></collision></link>
</robot>"#;

/// A rod of 1 kg and 1 m falls on its rounded end, tilted, at 3 m/s: velocities along and up, and spin, by hand.
fn tilted_rod(tilt: f64, e: f64, friction: f64) -> [f64; 3] {
    let (x, z) = (-0.5 * tilt.sin(), -0.5 * tilt.cos() - 0.02); // arm of the contact
    let I = 1.0 / 12.0;
    // The point moves by `vx + ω z` along and `vz − ω x` up.
    let G = [1.0 + x * x / I, -x * z / I, 1.0 + z * z / I]; // normal, mixed, tangential
    let det = G[0] * G[2] - G[1] * G[1];
    let (stuck, pull) = (3.0 * G[2] / det, -3.0 * G[1] / det);
    let (mut n, mut t) = (stuck, pull);
    if pull.abs() > friction * stuck {
        let along = friction * pull.signum();
        n = 3.0 / (G[0] + along * G[1]);
        t = along * n;
    }
    // Friction against the slip that the returned impulse leaves.
    let back = e * n;
    n += back;
    let least = t - friction * back;
    t = (-G[1] * n / G[2]).clamp(least, t + friction * back);
    [t, n - 3.0, (z * t - x * n) / I]
}

#[test]
fn a_tilted_rod_bounces_by_poissons_law() {
    for tilt in [0.2_f64, 0.5, 0.9, 1.2] {
        for e in [0.0, 0.4, 0.8, 1.0] {
            for friction in [0.0, 0.2, 2.0] {
                let text = format!(
                    "dt: 0.001\ngravity: [0, 0, 0]\nmixing: {{friction: min}}\nground: {{friction: 5}}\nrobots:\n  \
                     - {{name: rod, urdf: rod.urdf, base: floating, pose: {{xyz: [0, 0, {}], rpy: [0, {tilt}, 0]}}, velocity: {{linear: [0, 0, -3]}}}}\n",
                    0.5 * tilt.cos() + 0.02
                );
                let config = format!(
                    "collision: {{materials: {{a: {{friction: {friction}, restitution: {e}}}}}}}"
                );
                let source = Source::urdf("rod.urdf", ROD).with_base(Base::Floating);
                let source = source.with_config("robot.yaml", &config);
                let model = Arc::new(load(&source, &mut NoAssets).unwrap().model);
                let read = Scene::parse(&text, "s.yaml").unwrap();
                let mut world = World::from_scene(&read, &[model]).unwrap();
                step(&mut world);
                let id = world.robot_ids().next().unwrap();
                let v = world.robot(id).base_velocity();
                let expected = tilted_rod(tilt, e, friction);
                let found = [v.linear.x, v.linear.z, v.angular.y];
                let error = (0..3).map(|k| (found[k] - expected[k]).abs()).fold(0.0, f64::max);
                assert!(error < 1e-6, "{tilt}, {e}, {friction}: {found:?} not {expected:?}");
            }
        }
    }
}

const ARM: &str = r#"<robot name="arm">
<link name="a"><inertial><origin xyz="0 0 -0.5"/><mass value="1"/><inertia ixx="0.08" iyy="0.08" izz="0.08" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="b"><inertial><origin xyz="0 0 -0.5"/><mass value="0.01"/><inertia ixx="0.0008" iyy="0.0008" izz="0.0008" ixy="0" ixz="0" iyz="0"/></inertial><collision><origin xyz="0 0 -1"/><geometry><sphere radius="0.02"/></geometry></collision></link>
<link name="base"/>
<joint name="i" type="revolute"><parent link="base"/><child link="a"/><axis xyz="0 1 0"/><limit lower="-0.3" upper="0.4" effort="1e9" velocity="1e9"/></joint>
<joint name="j" type="revolute"><parent link="a"/><child link="b"/><origin xyz="0 0 -1"/><axis xyz="0 1 0"/><limit lower="-0.5" upper="0.5" effort="1e9" velocity="1e9"/></joint>
</robot>"#;

/// A light link that hangs on a heavy one bounces between its own limits, those of the heavy one, and a wall.
#[test]
fn an_arm_that_swings_between_its_limits_gains_nothing() {
    for e in [[1.0, 1.0, 1.0], [0.9, 0.2, 0.5], [0.0, 1.0, 1.0], [1.0, 0.0, 0.7]] {
        let text = "dt: 0.001\ngravity: [0, 0, 0]\nbodies:\n  \
                    - {name: wall, fixed: true, friction: 0.5, shape: {box: [0.1, 1, 4]}, pose: {xyz: [-0.65, 0, 0]}}\n\
                    robots:\n  - {name: arm, urdf: arm.urdf, velocities: {i: 2, j: -3}}\n";
        let config = format!(
            "drives: {{i: {{limit_restitution: {}}}, j: {{limit_restitution: {}}}}}\n\
             collision: {{materials: {{b: {{friction: 0.5, restitution: {}}}}}}}",
            e[0], e[1], e[2]
        );
        let source = Source::urdf("arm.urdf", ARM).with_config("robot.yaml", &config);
        let model = Arc::new(load(&source, &mut NoAssets).unwrap().model);
        let read = Scene::parse(text, "s.yaml").unwrap();
        let mut world = World::from_scene(&read, &[model]).unwrap();
        let gain = largest_gain(&mut world, 5.0);
        println!("arm between limits, e = {e:?}: gains at most {gain:e}");
        assert!(gain <= 1e-3, "e = {e:?}: {gain:e}");
    }
}
