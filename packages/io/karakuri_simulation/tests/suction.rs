//! A cup on a gantry: what it seals on, how soon, and what it lifts.

#![expect(clippy::unwrap_used, reason = "a helper of tests may stop them")]

use std::sync::Arc;

use karakuri_hardware::{JointCommand, RobotIo, RobotIoError, RobotState};
use karakuri_model::{NoAssets, Shape, Source, load};
use karakuri_physics::{BodyDescription, ObjectId, World, WorldSettings};
use karakuri_simulation::SimulatedWorld;
use karakuri_spatial::{Pose, UnitQuaternion, Vector3};

/// A slider that moves a cup up and down; the lip looks down, 1 m above the ground at zero. Within the lip there is room.
const URDF: &str = r#"<robot name="gantry">
  <link name="base"/>
  <link name="head">
    <inertial><mass value="1"/><inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.01"/></inertial>
    <collision><origin xyz="0 0 0.024"/><geometry><cylinder radius="0.02" length="0.04"/></geometry></collision>
  </link>
  <joint name="lift" type="prismatic">
    <parent link="base"/><child link="head"/><origin xyz="0 0 1"/><axis xyz="0 0 1"/>
    <limit lower="-1" upper="1" effort="500" velocity="1"/>
  </joint>
</robot>"#;

/// A Schmalz SAF 40 on a pump of 20 l/min.
const CONFIG: &str = "
drives:
  lift: {stiffness: 20000, damping: 600}
suction:
  vacuum:
    pump: {flow: 3.333e-4, vacuum: 85000}
    volume: 1.0e-6
    blow_off: 1.0e-3
    cups:
      cup: {link: head, lip: {rpy: [3.14159265358979, 0, 0]}, radius: 0.0191, force: 69, least_radius: 0.06, volume: 29.0e-6, conductance: 1.0e-4}
";

/// Thickness of the plate. [m]
const THICK: f64 = 0.01;
/// Vacuum at which the maker states the force, 69 N. [Pa]
const VACUUM: f64 = 60e3;

struct Cell {
    io: SimulatedWorld,
    state: RobotState,
    object: ObjectId,
}

impl Cell {
    /// Two cups on the pump, the second one 30 mm beside the plate's edge. [m³/(s·Pa)]
    fn with_a_lost_cup(conductance: f64) -> Self {
        // On goods without a gap.
        let first = format!("roughness: 0, conductance: {conductance:e}");
        let second = "      lost: {link: head, lip: {xyz: [0.13, 0, 0], rpy: [3.14159265358979, 0, 0]}, radius: 0.0191, force: 69, ";
        let config = CONFIG.replace("conductance: 1.0e-4", &first);
        let shape = Shape::Box { size: Vector3::new(0.2, 0.2, THICK) };
        let pose = Pose::from_translation(Vector3::new(0.0, 0.0, 0.5 * THICK));
        Self::of(&format!("{config}{second}{first}}}\n"), shape, 0.5, pose)
    }

    /// A plate on the ground, off the cup's axis by `off`. [kg; m]
    fn with_plate(mass: f64, off: f64) -> Self {
        let shape = Shape::Box { size: Vector3::new(0.2, 0.2, THICK) };
        Self::new(shape, mass, Pose::from_translation(Vector3::new(off, 0.0, 0.5 * THICK)))
    }

    fn new(shape: Shape, mass: f64, pose: Pose) -> Self {
        Self::of(CONFIG, shape, mass, pose)
    }

    fn of(config: &str, shape: Shape, mass: f64, pose: Pose) -> Self {
        Self::of_robot(URDF, config, shape, mass, pose)
    }

    fn of_robot(urdf: &str, config: &str, shape: Shape, mass: f64, pose: Pose) -> Self {
        let source = Source::urdf("gantry.urdf", urdf).with_config("gantry.yaml", config);
        let model = load(&source, &mut NoAssets).unwrap().model;
        let mut world = World::new(WorldSettings::default());
        world.add_ground(0.5, 0.0);
        world.add_robot("gantry", Arc::new(model), &[0.0]).unwrap();
        let object = world.add_body(BodyDescription::new("object", shape, mass, pose)).unwrap();
        let io = SimulatedWorld::new(world, 1);
        let state = RobotState::new(&io.robots()[0]);
        Self { io, state, object }
    }

    /// Moves the lip to a height at 0.2 m/s, with a vacuum. [m; Pa]
    fn go(&mut self, height: f64, vacuum: f64) {
        self.io.read(0, &mut self.state);
        let from = 1.0 + self.state.position[0];
        let seconds = (height - from).abs() / 0.2;
        let n = (seconds / self.io.period()).ceil();
        let mut i = 0.0;
        while i < n {
            i += 1.0;
            self.tick(from + (height - from) * i / n, vacuum);
        }
        self.wait(height, vacuum, 0.2);
    }

    fn wait(&mut self, height: f64, vacuum: f64, seconds: f64) {
        let end = self.io.time() + seconds;
        while self.io.time() < end {
            self.tick(height, vacuum);
        }
    }

    fn tick(&mut self, height: f64, vacuum: f64) {
        let mut command = JointCommand::new(&self.io.robots()[0]);
        command.position[0] = height - 1.0;
        command.vacuum[0] = vacuum;
        self.io.write(0, &command).unwrap();
        self.io.advance().unwrap();
        self.io.read(0, &mut self.state);
    }

    fn vacuum(&self) -> f64 {
        self.state.vacuums[0]
    }

    fn height(&self) -> f64 {
        self.io.world().body(self.object).pose().translation.z
    }
}

#[test]
fn a_plate_is_lifted_and_let_go() {
    let mut cell = Cell::with_plate(0.5, 0.0);
    cell.go(THICK, 0.0);
    cell.wait(THICK, VACUUM, 0.5);
    assert!((cell.vacuum() - VACUUM).abs() < 500.0, "{} Pa", cell.vacuum());
    cell.go(0.3, VACUUM);
    cell.wait(0.3, VACUUM, 1.0);
    let lifted = cell.height();
    assert!((lifted - (0.3 - 0.5 * THICK)).abs() < 1e-3, "{lifted} m");
    cell.wait(0.3, VACUUM, 10.0);
    assert!((cell.height() - lifted).abs() < 1e-6, "it creeps to {} m", cell.height());
    cell.wait(0.3, 0.0, 1.0);
    assert!(
        cell.height() < THICK && cell.vacuum() < 1.0,
        "{} m, {} Pa",
        cell.height(),
        cell.vacuum()
    );
}

/// Of 69 N at 60 kPa, 6.9 kg are lifted slowly and 7.2 kg are not.
#[test]
fn what_is_heavier_than_the_vacuum_stays() {
    for (mass, is_lifted) in [(6.9, true), (7.2, false)] {
        let mut cell = Cell::with_plate(mass, 0.0);
        cell.go(THICK, 0.0);
        cell.wait(THICK, VACUUM, 0.5);
        let mut height = THICK;
        // So slowly that nothing but the weight counts.
        while height < THICK + 0.02 {
            height += 1e-5;
            cell.tick(height, VACUUM);
        }
        let lifted = cell.height() > 0.5 * THICK + 0.015;
        assert_eq!(lifted, is_lifted, "{mass} kg at {} m, {} Pa", cell.height(), cell.vacuum());
        // A cup that came off draws air.
        assert_eq!(cell.vacuum() > 1e3, is_lifted, "{mass} kg: {} Pa", cell.vacuum());
    }
}

/// `V u_max/(p_a q₀) ln(1/(1 − u/u_max))`: 30 cm³ from 0 to 60 of 85 kPa in 92 ms.
#[test]
fn a_sealed_cup_is_evacuated_in_time() {
    let mut cell = Cell::with_plate(0.5, 0.0);
    cell.go(THICK, 0.0);
    let start = cell.io.time();
    while cell.vacuum() < VACUUM {
        cell.tick(THICK, 80e3);
        assert!(cell.io.time() < start + 0.5, "{} Pa", cell.vacuum());
    }
    let time: f64 = cell.io.time() - start;
    let exact = 30e-6 * 85e3 / (101_325.0 * 3.333e-4) * (85.0_f64 / 25.0).ln();
    assert!((time - exact).abs() < 0.03 * exact, "{time} s, not {exact} s");
}

#[test]
fn nothing_is_held_over_an_edge_or_from_afar() {
    // The edge of the plate is 10 mm from the axis, less than the lip's radius.
    for (off, height) in [(0.09, THICK), (0.0, THICK + 0.005)] {
        let mut cell = Cell::with_plate(0.5, off);
        cell.go(height, 0.0);
        cell.wait(height, VACUUM, 0.5);
        assert!(cell.vacuum() < 1e3, "{off} m: {} Pa", cell.vacuum());
        cell.go(0.3, VACUUM);
        assert!(cell.height() < THICK, "{off} m: lifted to {} m", cell.height());
    }
}

/// A lip for radii from 60 mm holds a ball of 70 mm, and none of 40 mm.
#[test]
fn balls_are_held_down_to_the_least_radius() {
    for (radius, is_held) in [(0.07, true), (0.04, false)] {
        let pose = Pose::from_translation(Vector3::z() * radius);
        let mut cell = Cell::new(Shape::Sphere { radius }, 0.2, pose);
        // The top of the ball is inside the lip.
        let height = 2.0 * radius - 1.5e-3;
        cell.go(height, 0.0);
        cell.wait(height, VACUUM, 0.5);
        assert_eq!(cell.vacuum() > 0.9 * VACUUM, is_held, "{radius} m: {} Pa", cell.vacuum());
    }
}

/// A skirt about the cup, a link of its own, ends 1 mm above the lip: the rays begin inside it.
#[test]
fn a_palm_beside_the_lip_does_not_keep_it_from_sealing() {
    let skirt = r#"<link name="skirt"><collision><origin xyz="0 0 0.011"/><geometry><cylinder radius="0.03" length="0.02"/></geometry></collision></link>
  <joint name="skirt" type="fixed"><parent link="head"/><child link="skirt"/></joint></robot>"#;
    let urdf = URDF.replace("</robot>", skirt);
    let shape = Shape::Box { size: Vector3::new(0.2, 0.2, THICK) };
    let pose = Pose::from_translation(Vector3::z() * (0.5 * THICK));
    let mut cell = Cell::of_robot(&urdf, CONFIG, shape, 0.5, pose);
    cell.go(THICK, 0.0);
    cell.wait(THICK, VACUUM, 0.5);
    assert!(cell.vacuum() > 0.9 * VACUUM, "{} Pa", cell.vacuum());
}

/// A cup that holds nothing draws air through its line: `q₀ (1 − u/u_max) = C u`. Wide lines leave no vacuum for the others.
#[test]
fn a_lost_cup_drains_the_others_unless_its_line_is_narrow() {
    for conductance in [2e-9, 1e-8, 1e-4] {
        let mut cell = Cell::with_a_lost_cup(conductance);
        cell.go(THICK, 0.0);
        cell.wait(THICK, 84e3, 2.0);
        let balance = 3.333e-4 / (conductance + 3.333e-4 / 85e3);
        let [held, lost] = cell.state.vacuums[..] else { panic!("{:?}", cell.state.vacuums) };
        // What leaks below the lip that is sealed, and the pressure in the open one, take a little of it.
        assert!(
            (held - balance).abs() < 0.03 * balance + 5.0,
            "{conductance}: {held}, not {balance} Pa"
        );
        assert!(lost < 20.0, "{conductance}: {lost} Pa");
    }
}

#[test]
fn a_state_brings_its_vacuum_back() {
    let mut cell = Cell::with_plate(0.5, 0.0);
    cell.go(THICK, 0.0);
    cell.wait(THICK, VACUUM, 0.05);
    let (saved, then) = (cell.io.save(), cell.vacuum());
    let run = |cell: &mut Cell| {
        cell.go(0.2, VACUUM);
        cell.wait(0.2, 0.0, 0.3);
        (cell.io.world().state_hash(), cell.vacuum().to_bits())
    };
    let first = run(&mut cell);
    cell.io.restore(&saved);
    cell.io.read(0, &mut cell.state);
    assert_eq!(cell.vacuum().to_bits(), then.to_bits());
    assert_eq!(run(&mut cell), first);
}

#[test]
fn what_it_held_may_go_away() {
    let mut cell = Cell::with_plate(0.5, 0.0);
    cell.go(THICK, 0.0);
    cell.wait(THICK, VACUUM, 0.5);
    let object = cell.object;
    cell.io.world_mut().remove_body(object);
    for _ in 0..500 {
        let mut command = JointCommand::new(&cell.io.robots()[0]);
        command.position[0] = 0.3 - 1.0;
        cell.io.write(0, &command).unwrap();
        cell.io.advance().unwrap();
    }
    cell.io.read(0, &mut cell.state);
    assert!(cell.vacuum() < 1e3, "{} Pa", cell.vacuum());
}

/// A tilted plate is out of the lip's reach on one side: its plane is fitted, so that the lip turns with it.
#[test]
fn a_tilted_plate_is_held() {
    let tilt = UnitQuaternion::from_axis_angle(&Vector3::y_axis(), 0.03);
    let pose = Pose::from_quaternion(&tilt, Vector3::z() * 0.5);
    let shape = Shape::Box { size: Vector3::new(0.1, 0.1, THICK) };
    let mut description = BodyDescription::new("tilted", shape, 0.2, pose);
    description.fixed = true;
    let mut cell = Cell::with_plate(0.5, 0.5);
    cell.object = cell.io.world_mut().add_body(description).unwrap();
    let top = 0.5 + 0.5 * THICK;
    cell.go(top, 0.0);
    cell.wait(top, VACUUM, 0.5);
    assert!(cell.vacuum() > 0.9 * VACUUM, "{} Pa", cell.vacuum());
}

/// The cup on bellows, its shape out of the way of the stroke; the lip takes little but planes.
fn on_bellows(bellows: &str) -> [String; 2] {
    let urdf = URDF.replace("xyz=\"0 0 0.024\"", "xyz=\"0 0 0.034\"");
    let config = CONFIG.replace("least_radius: 0.06", "least_radius: 0.2");
    [urdf, config.replace("conductance: 1.0e-4", &format!("conductance: 1.0e-4{bellows}"))]
}

/// Pressed on by half of the stroke, the cup lifts the plate by what the vacuum leaves: soft bellows up to their stop, stiff ones by
/// `(V − m g)/k`.
#[test]
fn bellows_lift_by_their_stroke_or_by_their_stiffness() {
    for stiffness in [900.0, 20e3] {
        let bellows =
            format!(", bellows: {{stiffness: {stiffness}, stroke: 0.008, damping: 0.01}}");
        let [urdf, config] = on_bellows(&bellows);
        let shape = Shape::Box { size: Vector3::new(0.2, 0.2, THICK) };
        let pose = Pose::from_translation(Vector3::z() * (0.5 * THICK));
        let mut cell = Cell::of_robot(&urdf, &config, shape, 0.5, pose);
        let lip = THICK - 0.004;
        cell.go(lip, 0.0);
        // Nothing presses before the valve opens.
        assert!((cell.height() - 0.5 * THICK).abs() < 1e-4 && cell.vacuum() < 1.0);
        cell.wait(lip, VACUUM, 1.0);
        cell.go(0.2, VACUUM);
        cell.wait(0.2, VACUUM, 1.0);
        let force = 69.0 * cell.vacuum() / VACUUM - 0.5 * 9.81;
        let shortened = (force / stiffness).min(0.008);
        // The drive of the gantry sags by the weights of head and plate.
        let sag = 0.2 - (1.0 + cell.state.position[0]);
        let known = 0.2 - sag + shortened - 0.5 * THICK;
        assert!((cell.height() - known).abs() < 2e-5, "{} m, not {known} m", cell.height());
        cell.wait(0.2, 0.0, 1.0);
        assert!(cell.height() < THICK && cell.vacuum() < 1.0, "{} m", cell.height());
    }
}

/// By 10 degrees the circle of the lip is off by 3.4 mm on either side: bellows with a stroke of 8 mm follow that, and not 4.8 mm at 14 degrees.
#[test]
fn bellows_seal_on_what_is_tilted() {
    let bellows = ", bellows: {stiffness: 900, stroke: 0.008}";
    for (degrees, bellows, seals) in
        [(10.0, bellows, true), (14.0, bellows, false), (10.0, "", false)]
    {
        let angle = f64::to_radians(degrees);
        let tilt = UnitQuaternion::from_axis_angle(&Vector3::y_axis(), angle);
        let pose = Pose::from_quaternion(&tilt, Vector3::z() * 0.5);
        let shape = Shape::Box { size: Vector3::new(0.1, 0.1, THICK) };
        let mut description = BodyDescription::new("tilted", shape.clone(), 0.2, pose);
        description.fixed = true;
        let [urdf, config] = on_bellows(bellows);
        let aside = Pose::from_translation(Vector3::new(0.5, 0.0, 0.05));
        let mut cell = Cell::of_robot(&urdf, &config, shape, 0.5, aside);
        cell.object = cell.io.world_mut().add_body(description).unwrap();
        let lip = 0.5 + 0.5 * THICK / angle.cos() - 0.001;
        cell.go(lip, 0.0);
        cell.wait(lip, VACUUM, 0.5);
        assert_eq!(cell.vacuum() > 0.9 * VACUUM, seals, "{degrees} degrees: {} Pa", cell.vacuum());
        if seals {
            let world = cell.io.world();
            let report = world.suction(world.find_suction("gantry/cup").unwrap()).unwrap();
            assert!(
                (report.deflection[1].abs() - angle).abs() < 1e-9 && !report.lost,
                "{report:?}"
            );
        }
    }
}

#[test]
fn a_state_brings_its_bellows_back() {
    let [urdf, config] = on_bellows(", bellows: {stiffness: 900, stroke: 0.008}");
    let shape = Shape::Box { size: Vector3::new(0.2, 0.2, THICK) };
    let pose = Pose::from_translation(Vector3::new(0.01, 0.0, 0.5 * THICK));
    let mut cell = Cell::of_robot(&urdf, &config, shape, 0.5, pose);
    cell.go(THICK - 0.002, 0.0);
    cell.wait(THICK - 0.002, VACUUM, 0.03);
    let saved = cell.io.save();
    let run = |cell: &mut Cell| {
        cell.go(0.2, VACUUM);
        cell.wait(0.2, 0.0, 0.3);
        (cell.io.world().state_hash(), cell.vacuum().to_bits())
    };
    let first = run(&mut cell);
    cell.io.restore(&saved);
    cell.io.read(0, &mut cell.state);
    assert_eq!(run(&mut cell), first);
}

#[test]
fn a_vacuum_that_is_no_number_is_refused_by_name() {
    let mut cell = Cell::with_plate(0.5, 0.0);
    let mut command = JointCommand::new(&cell.io.robots()[0]);
    command.vacuum[0] = f64::INFINITY;
    let refused = cell.io.write(0, &command).unwrap_err();
    assert!(
        matches!(&refused, RobotIoError::CommandNotFinite { part, .. } if part == "vacuum generator `vacuum`"),
        "{refused}"
    );
}
