//! Emulated RCB-1 boards with khr1 on its floor behind them, moved by the driver of its hardware file, in virtual time.

#![expect(clippy::unwrap_used, reason = "a helper of tests may stop them")]

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use karakuri_hardware::driver::{HardwareFile, open_on};
use karakuri_hardware::{JointCommand, RobotLayout, RobotState};
use karakuri_physics::World;
use karakuri_serial::emulator::rcb1::{Rcb1, Setup};
use karakuri_serial::emulator::{Bus, InProcess, Plant, Servo};
use karakuri_simulation::{ServoWorld, ServoWorldError, load_scene};

fn config(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../config").join(path)
}

struct Khr1 {
    world: Arc<Mutex<World>>,
    layout: RobotLayout,
    file: HardwareFile,
}

impl Khr1 {
    fn new() -> Self {
        let scene = load_scene(&config("scenes/walk.yaml")).unwrap();
        let layout = RobotLayout::new("khr1", Arc::clone(&scene.models[0]));
        let file = HardwareFile::read(&config("hardware/khr1.yaml"), &layout).unwrap();
        Self { world: Arc::new(Mutex::new(scene.world().unwrap())), layout, file }
    }

    fn plant(&self, servos: &[Servo]) -> Result<ServoWorld, ServoWorldError> {
        let robot = self.world.lock().unwrap().find_robot("khr1").unwrap();
        ServoWorld::new(Arc::clone(&self.world), robot, &self.file, servos)
    }

    /// Turns the shafts to where the joints are.
    fn place(&self, servos: &mut [Servo]) {
        let world = self.world.lock().unwrap();
        let q = world.robot(world.find_robot("khr1").unwrap()).q();
        for setup in &self.file.servos {
            let servo = servos.iter_mut().find(|servo| servo.id == setup.id).unwrap();
            servo.place(setup.shaft(q[self.layout.joints[setup.joint].q]));
        }
    }

    fn height(&self) -> f64 {
        let world = self.world.lock().unwrap();
        world.robot(world.find_robot("khr1").unwrap()).q()[2]
    }

    fn time(&self) -> f64 {
        self.world.lock().unwrap().time()
    }
}

fn boards() -> Rcb1 {
    Rcb1::new(&Setup::default())
}

/// A plant with its servos at the places of the joints, all on.
fn servos_on(khr1: &Khr1) -> (ServoWorld, Vec<Servo>) {
    let mut servos = boards().servos().to_vec();
    khr1.place(&mut servos);
    for servo in &mut servos {
        servo.torque_on = true;
    }
    (khr1.plant(&servos).unwrap(), servos)
}

fn go_on(plant: &mut ServoWorld, servos: &mut [Servo], milliseconds: u32) {
    for _ in 0..milliseconds {
        karakuri_serial::emulator::move_servos(servos, plant, 1e-3);
    }
}

#[test]
fn the_driver_starts_it_where_it_stands_and_it_stays() {
    let khr1 = Khr1::new();
    let start = khr1.height();
    let bus = boards();
    let emulation = khr1.plant(bus.servos()).unwrap().emulate(Box::new(bus));
    let line = Box::new(InProcess::new(emulation));
    let mut robot = open_on(&khr1.file, khr1.layout.clone(), line).unwrap();
    let (mut state, command) = (RobotState::new(&khr1.layout), JointCommand::new(&khr1.layout));
    for _ in 0..60 {
        robot.write(0, &command).unwrap();
        robot.advance().unwrap();
    }
    robot.read(0, &mut state);
    assert!(robot.fault(0).is_none(), "{:?}", robot.fault(0));
    assert!((khr1.height() - start).abs() < 1e-3, "{} of {start} m", khr1.height());
    let world = khr1.world.lock().unwrap();
    let view = world.robot(world.find_robot("khr1").unwrap());
    for (joint, position) in khr1.layout.joints.iter().zip(&state.position) {
        let truth = view.q()[joint.q];
        assert!(
            (truth - position).abs() < 1.5_f64.to_radians(),
            "{}: {truth}, {position}",
            joint.name
        );
    }
}

#[test]
fn equal_runs_have_equal_bits() {
    let hash = || {
        let khr1 = Khr1::new();
        let bus = boards();
        let line = InProcess::new(khr1.plant(bus.servos()).unwrap().emulate(Box::new(bus)));
        let mut robot = open_on(&khr1.file, khr1.layout.clone(), Box::new(line)).unwrap();
        let mut command = JointCommand::new(&khr1.layout);
        command.position[0] = 0.3;
        robot.write(0, &command).unwrap();
        (0..20).for_each(|_| robot.advance().unwrap());
        khr1.world.lock().unwrap().state_hash()
    };
    assert_eq!(hash(), hash());
}

#[test]
fn it_is_held_until_its_servos_are_on_and_falls_when_they_go_off() {
    let khr1 = Khr1::new();
    let mut servos = boards().servos().to_vec();
    khr1.place(&mut servos);
    let mut plant = khr1.plant(&servos).unwrap();
    go_on(&mut plant, &mut servos, 1000);
    assert!(plant.root().unwrap().is_held && khr1.time() == 0.0, "{} s", khr1.time());
    let (mut plant, mut servos) = servos_on(&khr1);
    go_on(&mut plant, &mut servos, 1000);
    let root = plant.root().unwrap();
    assert!(!root.is_held && !root.has_fallen, "{root:?}");
    assert!((khr1.time() - 1.0).abs() < 2e-3, "{} s", khr1.time());
    let knee = servos.iter().find(|servo| servo.id == 15).unwrap();
    // The weight over a bent knee: what the servo feels is what its drive exerts.
    assert!((0.05..0.3).contains(&knee.effort.abs()), "{} N·m", knee.effort);
    for servo in &mut servos {
        servo.torque_on = false;
    }
    go_on(&mut plant, &mut servos, 1500);
    assert!(plant.root().unwrap().has_fallen, "{:?}", plant.root());
    assert!(servos.iter().all(|servo| servo.effort == 0.0));
}

#[test]
fn a_hand_and_a_jam_move_and_stop_joints() {
    let khr1 = Khr1::new();
    let (mut plant, mut servos) = servos_on(&khr1);
    go_on(&mut plant, &mut servos, 100);
    // The head, by hand, against its drive: let go, it comes back.
    let head = servos.iter().position(|servo| servo.id == 6).unwrap();
    servos[head].position += 0.3;
    go_on(&mut plant, &mut servos, 2);
    assert!(servos[head].position > 0.2, "{}", servos[head].position);
    go_on(&mut plant, &mut servos, 500);
    assert!(servos[head].position.abs() < 0.02, "{}", servos[head].position);
    servos[head].set(karakuri_serial::emulator::Trouble::Blocked, true);
    servos[head].goal = 0.5;
    go_on(&mut plant, &mut servos, 500);
    assert!(servos[head].position.abs() < 0.03, "{}", servos[head].position);
    assert!(servos[head].effort > 0.8, "it pushes in vain: {} N·m", servos[head].effort);
}

#[test]
fn no_motor_is_faster_than_without_load() {
    let khr1 = Khr1::new();
    let (mut plant, mut servos) = servos_on(&khr1);
    let arm = servos.iter().position(|servo| servo.id == 3).unwrap();
    servos[arm].goal = 1.5;
    let mut fastest: f64 = 0.0;
    for _ in 0..500 {
        go_on(&mut plant, &mut servos, 1);
        fastest = fastest.max(servos[arm].velocity.abs());
    }
    let limit = servos[arm].rating.no_load_speed;
    assert!((0.6 * limit..1.05 * limit).contains(&fastest), "{fastest} of {limit} rad/s");
}

#[test]
fn servos_that_are_not_there_are_named() {
    let khr1 = Khr1::new();
    let mut servos = boards().servos().to_vec();
    servos.retain(|servo| servo.id != 14);
    let error = khr1.plant(&servos).unwrap_err().to_string();
    assert!(error.starts_with("the hardware file has servo 14 for joint `l_hip_pitch`"), "{error}");
}
