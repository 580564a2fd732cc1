//! Scenes that are right and scenes that are wrong.

use super::*;
use crate::{SolverSettings, Surface};
use karakuri_model::Shape;
use karakuri_spatial::Motion;

const GOOD: &str = "\
gravity: [0, 0, -1.62]
dt: 0.002
solver: {method: block_gauss_seidel, iterations: 50, tolerance: 1e-8}
threads: 2
ground: {friction: 0.3}
bodies:
  - name: ball
    shape: {sphere: {radius: 0.1}}
    mass: 2
    pose: {xyz: [1, 2, 3]}
    velocity: {linear: [0.5, 0, 0]}
  - name: shelf
    shape: {box: [1, 1, 0.1]}
    fixed: true
    pose: {rpy: [0, 0, 1.5707963267948966]}
";

#[test]
#[expect(clippy::float_cmp, reason = "what is read is what was written")]
fn a_scene_becomes_a_world() {
    let scene = Scene::parse(GOOD, "moon.yaml").unwrap();
    assert_eq!(scene.settings.gravity.z, -1.62);
    assert_eq!(scene.settings.dt, 0.002);
    assert_eq!(scene.settings.solver.iterations, 50);
    assert_eq!(scene.settings.threads, 2);
    assert_eq!(scene.ground, Some(Ground { friction: 0.3, restitution: 0.0 }));
    assert_eq!(scene.bodies[0].description.shape, Shape::Sphere { radius: 0.1 });
    let mut world = World::from_scene(&scene, &[]).unwrap();
    let ball = world.find_body("ball").unwrap();
    for _ in 0..100 {
        world.step();
    }
    let p = world.body(ball).pose().translation;
    assert!((p - Vector3::new(1.1, 2.0, 3.0 - 0.5 * 1.62 * 0.04)).norm() < 1e-12, "{p}");
    assert!(Scene::parse("# empty\n", "empty.yaml").unwrap().ground.is_none());
}

#[test]
fn other_keys_of_the_solver_override_its_preset() {
    let solver = |text: &str| Scene::parse(text, "s.yaml").unwrap().settings.solver;
    let realtime = SolverSettings::realtime();
    assert_eq!(solver("solver: {preset: realtime}"), realtime);
    assert_eq!(solver("solver: {preset: default}"), SolverSettings::default());
    let own = solver("solver: {budget: 2e4, preset: realtime, method: admm}");
    assert_eq!(
        own,
        SolverSettings { budget: 20_000, method: "admm", iterations: 2000, ..realtime }
    );
}

/// The text, the line of the problem, and words of the message.
const WRONG: [(&str, usize, &str); 25] = [
    ("dt: 0.5", 1, "dt: 0.5 is out of range; write a number from 0.000001 to 0.1 [s]"),
    ("dt: fast", 1, "dt: expected a number, found `fast`"),
    ("dt: .nan", 1, "dt: expected a number"),
    ("\ngravity: [0, 0]", 2, "gravity has 2 numbers, not 3"),
    ("gravty: [0, 0, 0]", 1, "unknown key gravty; did you mean `gravity`?"),
    (
        "solver: {method: magic}",
        1,
        "there is no solver `magic`; write one of projected_gauss_seidel, block_gauss_seidel, newton, admm, accelerated_gradient",
    ),
    ("solver: {iterations: 1.5}", 1, "1.5 is no whole number"),
    ("solver: {budget: -1}", 1, "solver.budget: -1 is out of range"),
    ("solver: {preset: fast}", 1, "solver.preset: `fast` is neither default nor realtime"),
    ("threads: 0", 1, "threads: 0 is out of range"),
    (
        "ground: {friction: -1}",
        1,
        "ground.friction: -1 is out of range; write a number from 0 to 10",
    ),
    ("ground: {restitution: 2}", 1, "ground.restitution: 2 is out of range"),
    ("robots:\n  - name: arm", 2, "robots.urdf is missing"),
    (
        "robots:\n  - {name: arm, urdf: a.urdf, base: flying}",
        2,
        "`flying` is neither fixed nor floating",
    ),
    ("bodies:\n  - {name: a, shape: {box: [1, 1, 1]}}", 2, "bodies.mass is missing"),
    ("bodies:\n  - {name: a, mass: 1, shape: {box: [1, 1, 0]}}", 2, "a length is out of range"),
    ("bodies:\n  - {name: a, mass: 1, shape: {torus: 1}}", 2, "unknown key bodies.shape.torus"),
    ("bodies:\n  - {name: a, mass: 1, shape: {cone: 1}}", 2, "bodies.shape.cone.radius is missing"),
    (
        "bodies:\n  - {name: a, mass: 1, shape: {sphere: {radius: -0.1}}}",
        2,
        "radius: -0.1 is out of range",
    ),
    ("bodies:\n  - {name: a, mass: 0, shape: {box: [1, 1, 1]}}", 2, "mass: 0 is out of range"),
    ("bodies:\n  - {name: a, fixed: maybe, shape: {box: [1, 1, 1]}}", 2, "neither true nor false"),
    (
        "bodies:\n  - {name: a, mass: 1, shape: {box: [1, 1, 1]}}\n  - {name: a, mass: 1, shape: {box: [1, 1, 1]}}",
        3,
        "`a` is already in the world; give every robot and body its own name",
    ),
    (
        "bodies:\n  - {name: a, mass: 1, shape: {box: [1, 1, 1]}, inertia: {ixx: 0, iyy: 1, izz: 1}}",
        2,
        "inertia is not positive definite",
    ),
    (
        "bodies:\n  - {name: a, mass: 1, shape: {box: [1, 1, 1]}, inertia: {ixx: 1, iyy: 1, izz: 10}}",
        2,
        "inertia: principal moment 1.0000e1 kg·m² exceeds the sum 2.0000e0 of the other two",
    ),
    ("bodies: [{", 1, "not readable as YAML"),
];

/// A solid cone has its centre of mass a quarter of its height above the base, and about it `3/80 m (4 r² + h²)` across and `3/10 m r²` along.
#[test]
fn a_cone_is_about_its_centre_of_mass_and_may_move() {
    let text = "bodies:\n  - {name: c, mass: 2, shape: {cone: {radius: 0.05, length: 0.12}}}";
    let scene = Scene::parse(text, "cone.yaml").unwrap();
    let world = World::from_scene(&scene, &[]).unwrap();
    let body = &world.body(world.find_body("c").unwrap());
    let (middle, edges) = body.description().shape.bounds();
    assert!((middle - Vector3::z() * 0.03).norm() < 1e-12, "{middle:?}");
    assert!((edges - Vector3::new(0.1, 0.1, 0.12)).norm() < 1e-12, "{edges:?}");
    let shape = karakuri_collision::ColliderShape::convex(&body.description().shape);
    let (com, unit) = shape.unit_inertia().unwrap();
    // Of 64 sides: a thousandth less than of a round one.
    assert!(com.norm() < 1e-4 * 0.12, "{com:?}");
    let (across, along) =
        (3.0 / 80.0 * (4.0 * 0.05_f64.powi(2) + 0.12_f64.powi(2)), 0.3 * 0.05_f64.powi(2));
    assert!((unit[(0, 0)] / across - 1.0).abs() < 3e-3, "{unit}");
    assert!((unit[(2, 2)] / along - 1.0).abs() < 5e-3, "{unit}");
}

#[test]
fn every_wrong_scene_names_file_line_and_remedy() {
    for (text, line, words) in WRONG {
        let result = Scene::parse(text, "bad.yaml").and_then(|s| World::from_scene(&s, &[]));
        let message = result.expect_err(text).to_string();
        assert!(message.contains(&format!("bad.yaml:{line}: error: ")), "{text}\n{message}");
        assert!(message.contains(words), "{text}\n{message}");
    }
}

#[test]
fn all_problems_are_reported_at_once() {
    let error = Scene::parse("dt: 1\ngravity: 9.81\nground: {grip: 1}", "bad.yaml").unwrap_err();
    assert_eq!(error.errors().count(), 3, "{error}");
}

#[test]
fn a_box_rests_on_a_height_field() {
    let text = "\
dt: 0.002
bodies:
  - {name: hill, fixed: true, shape: {heightfield: {cell: 0.1, heights: [[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0.2]]}}}
  - {name: box, mass: 1, shape: {box: [0.1, 0.1, 0.1]}, pose: {xyz: [-0.05, 0, 0.0501]}}
";
    let scene = Scene::parse(text, "hill.yaml").unwrap();
    let mut world = World::from_scene(&scene, &[]).unwrap();
    let id = world.find_body("box").unwrap();
    for _ in 0..200 {
        world.step();
    }
    let p = world.body(id).pose().translation;
    assert!((p - Vector3::new(-0.05, 0.0, 0.05)).norm() < 2e-5, "{p}");
    assert_eq!(world.contacts().count(), 4);
    let wrong = |text: &str| Scene::parse(text, "hill.yaml").unwrap_err().to_string();
    let ragged = wrong(
        "bodies: [{name: h, fixed: true, shape: {heightfield: {cell: 1, heights: [[0, 0], [0]]}}}]",
    );
    assert!(ragged.contains("rows of equally many heights"), "{ragged}");
    let moving = wrong(
        "bodies: [{name: h, mass: 1, shape: {heightfield: {cell: 1, heights: [[0, 0], [0, 1]]}}}]",
    );
    assert!(moving.contains("a height field cannot move"), "{moving}");
}

#[test]
fn materials_of_a_scene_mix_and_pair() {
    let text = "materials:
  rubber: {friction: 0.9, dynamic_friction: 0.8, restitution: 0.3, rolling: 0.002}
  steel: {friction: 0.4, spinning: 0.001}
mixing: {friction: min, restitution: product}
pairs:
  - {between: [steel, rubber], rolling: 0.005}
ground: {material: rubber}
bodies:
  - {name: ball, mass: 1, shape: {sphere: {radius: 0.1}}, material: steel, pose: {xyz: [0, 0, 0.1]}}";
    let scene = Scene::parse(text, "felt.yaml").unwrap();
    let mut world = World::from_scene(&scene, &[]).unwrap();
    let [rubber, steel] = ["rubber", "steel"].map(|name| world.find_material(name).unwrap());
    let pair = Surface {
        friction: 0.4,
        dynamic_friction: 0.4,
        restitution: 0.0,
        rolling: 0.005,
        spinning: 0.001,
        soft_finger: false,
        bumper: None,
    };
    assert_eq!(world.pair(rubber, steel), pair);
    let ball = world.find_body("ball").unwrap();
    let rolling = Motion::new(Vector3::y() * 5.0, Vector3::x() * 0.5);
    world.set_body_state(ball, scene.bodies[0].description.pose, rolling).unwrap();
    for _ in 0..100 {
        world.step();
    }
    let slower = 0.5 - world.body(ball).velocity().linear.x;
    assert!((slower - 0.1 * 5.0 / 7.0 * 9.81 * 0.05).abs() < 1e-8, "{slower}");
    for (text, line, words) in [
        ("materials: {felt: {grip: 1}}", 1, "unknown key materials.felt.grip"),
        ("materials: {felt: {rolling: -1}}", 1, "materials.felt.rolling: -1 is out of range"),
        ("materials: {felt: {stiffness: 0}}", 1, "materials.felt.stiffness: 0 is out of range"),
        (
            "materials: {felt: {damping: 10}}",
            1,
            "materials.felt.damping: a rigid surface has no damper; give `stiffness`, too",
        ),
        (
            "materials: {felt: {stiffness: 10, restitution: 0.1}}",
            1,
            "material `felt`: it has a stiffness and a restitution; a soft surface bounces by its spring",
        ),
        (
            "materials:\n  felt: {friction: 0.2, dynamic_friction: 0.3}",
            2,
            "material `felt`: `dynamic_friction` is above `friction`; what slides",
        ),
        ("mixing: {friction: most}", 1, "there is no rule `most`; write one of min, max, mean"),
        ("materials: {a: {}}\npairs: [{between: [a]}]", 2, "a pair has two materials"),
        ("materials: {a: {}}\npairs: [{between: [a, b]}]", 2, "there is no material `b`"),
        ("ground: {material: felt}", 1, "no material `felt`; describe it under `materials`"),
        (
            "materials: {a: {}}\nground: {material: a, friction: 1}",
            2,
            "ground.friction: the material has its own; leave out `friction` or `material`",
        ),
    ] {
        let result = Scene::parse(text, "bad.yaml").and_then(|s| World::from_scene(&s, &[]));
        let message = result.expect_err(text).to_string();
        assert!(message.contains(&format!("bad.yaml:{line}: error: ")), "{text}\n{message}");
        assert!(message.contains(words), "{text}\n{message}");
    }
}

#[test]
fn a_belt_of_a_scene_runs() {
    let text = "bodies:
  - {name: belt, shape: {box: [10, 1, 0.1]}, fixed: true, pose: {xyz: [0, 0, -0.05]}, surface_velocity: [0, 0.2, 0]}
  - {name: box, shape: {box: [0.1, 0.1, 0.1]}, mass: 1, pose: {xyz: [0, 0, 0.05]}}";
    let scene = Scene::parse(text, "belt.yaml").unwrap();
    let mut world = World::from_scene(&scene, &[]).unwrap();
    for _ in 0..100 {
        world.step();
    }
    let id = world.find_body("box").unwrap();
    assert!((world.body(id).velocity().linear - Vector3::y() * 0.2).norm() < 1e-8);
}

/// A wheel on a hinge about z, and a slide along x beside it.
const WHEEL: &str = r#"<robot name="drum"><link name="world"/>
  <link name="wheel"><inertial><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="rack"><inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="turn" type="continuous"><parent link="world"/><child link="wheel"/><axis xyz="0 0 1"/></joint>
  <joint name="slide" type="prismatic"><parent link="world"/><child link="rack"/><axis xyz="1 0 0"/>
    <limit lower="-9" upper="9" effort="0" velocity="0"/></joint>
</robot>"#;

fn with_wheel(text: &str) -> Result<World, Diagnostics> {
    let scene = Scene::parse(text, "drum.yaml")?;
    let base = scene.robots[0].base();
    let source = karakuri_model::Source::urdf("drum.urdf", WHEEL).with_base(base);
    let model = Arc::new(karakuri_model::load(&source, &mut karakuri_model::NoAssets)?.model);
    World::from_scene(&scene, &[model])
}

#[test]
fn gears_efforts_and_velocities_of_a_scene() {
    let mut world = with_wheel(
        "robots:
  - {name: drum, urdf: drum.urdf, velocities: {turn: 2, slide: 1}, drives: {turn: {effort: 0.3}}}
gears:
  - {name: teeth, a: {joint: drum/turn}, b: {joint: drum/slide}, ratio: 0.5}",
    )
    .unwrap();
    let id = world.find_robot("drum").unwrap();
    for _ in 0..1000 {
        world.step();
    }
    // The rack of 2 kg at half a metre a radian adds 0.5 kg·m² to the wheel's 0.1.
    let v = world.robot(id).v();
    assert!((v[0] - (2.0 + 0.3 / 0.6)).abs() < 1e-9 && (v[1] - 0.5 * v[0]).abs() < 1e-9, "{v:?}");
    let gear = world.find_gear("teeth").unwrap();
    // To the solver's tolerance over a step.
    let torque = world.gear(gear).unwrap().torque;
    assert!((torque - 2.0 * 0.5 * 0.5).abs() < 1e-5, "{torque} N");
}

#[test]
fn springs_joints_and_pushes_of_a_scene() {
    let scene = "gravity: [0, 0, 0]
bodies:
  - {name: left, shape: {box: [0.2, 0.2, 0.2]}, mass: 1, pose: {xyz: [0, 0, 1]}}
  - {name: right, shape: {box: [0.2, 0.2, 0.2]}, mass: 1, pose: {xyz: [0.3, 0, 1]}}
  - {name: weight, shape: {sphere: {radius: 0.1}}, mass: 2, pose: {xyz: [5, 0, 1]}}
springs:
  - {a: {part: world, point: [5, 0, 1]}, b: {part: weight, point: [0, 0, 0.01]}, stiffness: 50, rest_length: 0}
joints:
  - {name: glue, a: left, b: right, type: fixed, pose: {xyz: [0.15, 0, 0]}, strength: {force: 3, failure: breaks}}
pushes:
  - {part: left, force: [-4, 0, 0], from: 0.1, until: 0.2}
  - {part: weight, force: [0, 0, 1], torque: [0, 0, 0], until: 0.05}";
    let mut world = World::from_scene(&Scene::parse(scene, "ties.yaml").unwrap(), &[]).unwrap();
    let [left, right] = ["left", "right"].map(|name| world.find_body(name).unwrap());
    let glue = world.find_joint("glue").unwrap();
    for _ in 0..300 {
        world.step();
    }
    // 2 N hold at the glue, half of the push: both have an eighth of its impulse a kilogram.
    for id in [left, right] {
        let v = world.body(id).velocity().linear.x;
        assert!((v + 0.2).abs() < 1e-9, "{v} m/s");
    }
    assert!(!world.joint(glue).unwrap().broken);
    let push = crate::Push {
        part: Owner::Body(left),
        point: Vector3::zeros(),
        wrench: karakuri_spatial::Force::new(Vector3::zeros(), Vector3::x() * -8.0),
        from: 0.0,
        until: f64::INFINITY,
    };
    let id = world.add_push(push).unwrap();
    for _ in 0..10 {
        world.step();
    }
    assert!(world.joint(glue).unwrap().broken, "4 N are above its 3 N");
    let before = world.body(left).velocity();
    world.remove_push(id);
    world.step();
    assert!((world.body(left).velocity().linear - before.linear).norm() < 1e-12);
    // The end that is 1 cm above the middle hangs where the world's is.
    let weight = world.body(world.find_body("weight").unwrap());
    assert!((weight.pose().translation.z - 1.0).abs() < 0.05);
}

/// One of two balls falls through the plate that the other lies on.
#[test]
fn ignored_pairs_pass_through_each_other() {
    let scene = "bodies:
  - {name: plate, shape: {box: [2, 2, 0.1]}, fixed: true}
  - {name: lies, shape: {sphere: {radius: 0.1}}, mass: 1, pose: {xyz: [0.5, 0, 0.15]}}
  - {name: falls, shape: {sphere: {radius: 0.1}}, mass: 1, pose: {xyz: [-0.5, 0, 0.15]}}
ignore:
  - [plate, falls]";
    let mut world = World::from_scene(&Scene::parse(scene, "pairs.yaml").unwrap(), &[]).unwrap();
    for _ in 0..500 {
        world.step();
    }
    let height = |name: &str| world.body(world.find_body(name).unwrap()).pose().translation.z;
    assert!((height("lies") - 0.15).abs() < 1e-4, "{}", height("lies"));
    assert!((height("falls") - 0.15 + 0.5 * 9.81 * 0.25).abs() < 5e-3, "{}", height("falls"));
}

/// A robot's name stands for all its links.
#[test]
fn a_robot_is_ignored_as_a_whole() {
    let urdf = r#"<robot name="table">
<link name="top"><collision><geometry><box size="2 2 0.1"/></geometry></collision></link>
<link name="leaf"><collision><origin xyz="1 0 0"/><geometry><box size="2 2 0.1"/></geometry></collision>
<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="hinge" type="revolute"><origin xyz="1 0 0"/><parent link="top"/><child link="leaf"/><axis xyz="0 0 1"/>
<limit lower="0" upper="1" effort="1" velocity="1"/></joint></robot>"#;
    let source = karakuri_model::Source::urdf("table.urdf", urdf);
    let model = karakuri_model::load(&source, &mut karakuri_model::NoAssets).unwrap().model;
    let model = Arc::new(model);
    let heights = |ignored: &str| {
        let text = format!(
            "robots: [{{name: table, urdf: table.urdf}}]
bodies:
  - {{name: on_top, shape: {{sphere: {{radius: 0.1}}}}, mass: 0.1, pose: {{xyz: [0.2, 0, 0.15]}}}}
  - {{name: on_leaf, shape: {{sphere: {{radius: 0.1}}}}, mass: 0.1, pose: {{xyz: [2.5, 0, 0.15]}}}}
{ignored}"
        );
        let scene = Scene::parse(&text, "table.yaml").unwrap();
        let mut world = World::from_scene(&scene, std::slice::from_ref(&model)).unwrap();
        for _ in 0..300 {
            world.step();
        }
        ["on_top", "on_leaf"].map(|n| world.body(world.find_body(n).unwrap()).pose().translation.z)
    };
    assert!(heights("").iter().all(|z| (z - 0.15).abs() < 1e-3), "{:?}", heights(""));
    let [top, leaf] = heights("ignore: [[table, on_top], [table/leaf, on_leaf]]");
    assert!(top < -0.2 && leaf < -0.2, "{top}, {leaf}");
    let [top, leaf] = heights("ignore: [[table, on_top]]");
    assert!(top < -0.2 && (leaf - 0.15).abs() < 1e-3, "{top}, {leaf}");
}

#[test]
fn wrong_ties_name_line_and_remedy() {
    let body = "bodies: [{name: box, shape: {box: [1, 1, 1]}, mass: 1}]\n";
    for (text, words) in [
        ("springs: [{a: {part: box}, b: {part: bix}, stiffness: 1, rest_length: 0}]", "no `bix`"),
        ("springs: [{a: {part: box}, stiffness: 1, rest_length: 0}]", "springs.b is missing"),
        ("pushes: [{part: world, force: [1, 0, 0]}]", "`world` cannot move; name a free body"),
        ("pushes: [{part: box, force: [1, 0]}]", "pushes.force has 2 numbers, not 3"),
        ("ignore: [[box, bix]]", "no `bix`"),
        ("ignore: [[box]]", "ignore: a pair has two things"),
        ("joints: [{name: j, a: box, b: world, type: weld}]", "joints.type: unknown"),
        ("joints: [{name: j, a: box, b: box, type: fixed}]", "both ends are one rigid body"),
        (
            "joints: [{name: j, a: box, b: world, type: fixed, strength: {force: 1, failure: rips}}]",
            "unknown failure mode `rips`; write breaks or yields",
        ),
        (
            "joints: [{name: j, a: box, b: world, type: fixed, strength: {force: 0, failure: breaks}}]",
            "its strength must be positive",
        ),
        (
            "gears: [{name: g, a: {part: box}, b: {joint: arm/elbow}, ratio: 1}]",
            "names no joint, and no part with its axis",
        ),
        (
            "gears: [{name: g, a: {part: box, axis: [0, 0, 1]}, b: {joint: arm/elbow}, ratio: 1}]",
            "no `arm/elbow`",
        ),
    ] {
        let scene = Scene::parse(&format!("{body}{text}"), "bad.yaml");
        let message = scene.and_then(|s| World::from_scene(&s, &[])).expect_err(text).to_string();
        assert!(message.contains("bad.yaml:2: error: "), "{text}\n{message}");
        assert!(message.contains(words), "{text}\n{message}");
    }
    let robot = "robots: [{name: drum, urdf: drum.urdf, velocity: {linear: [1, 0, 0]}}]";
    let message = with_wheel(robot).unwrap_err().to_string();
    assert!(message.contains("a fixed base has none; write `base: floating`"), "{message}");
}
