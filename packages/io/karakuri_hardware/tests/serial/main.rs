//! A driver in one file, on a bus that the test plays: it passes the suite, is paced as any other, and names its faults.

#![expect(clippy::unwrap_used, reason = "a helper of tests may stop them")]

mod driver;

use std::io::{ErrorKind, Read, Result, Write};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use karakuri_hardware::conformance::{Trial, check};
use karakuri_hardware::{
    Fault, JointCommand, Pacer, PacingSettings, RobotIo, RobotLayout, RobotState, Tick,
};
use karakuri_model::{JointSpec, Limits, LinkSpec, ModelBuilder};
use karakuri_spatial::{Inertia, Matrix3, Pose, Vector3};

use driver::{LARGEST_LOSS, MOVE, SerialServos, angle, frame};

/// How far a servo turns between two frames. [rad]
const STRIDE: f64 = 0.02;
const PERIOD: f64 = 0.01;

/// The servos' end of the bus.
#[derive(Clone)]
struct Bus {
    servos: Arc<Mutex<Vec<(f64, f64)>>>,
    /// Answers still to be lost.
    losses: Arc<AtomicU32>,
    answer: Vec<u8>,
}

impl Bus {
    fn new(positions: &[f64]) -> Self {
        let servos = positions.iter().map(|&p| (p, p)).collect();
        Self { servos: Arc::new(Mutex::new(servos)), losses: Arc::default(), answer: Vec::new() }
    }
}

impl Write for Bus {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        let request: [u8; 8] = bytes.try_into().unwrap();
        assert_eq!(request, frame(request[1], request[2], angle(request)), "a good frame");
        let (position, target) = &mut self.servos.lock().unwrap()[usize::from(request[1])];
        if request[2] == MOVE {
            *target = angle(request);
        }
        *position += (*target - *position).clamp(-STRIDE, STRIDE);
        self.answer = frame(request[1], request[2], *position).to_vec();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> Result<()> {
        Ok(())
    }
}

impl Read for Bus {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        let lost = self.losses.load(Ordering::Relaxed);
        if lost > 0 {
            self.losses.store(lost - 1, Ordering::Relaxed);
            return Err(ErrorKind::TimedOut.into());
        }
        buffer.copy_from_slice(&self.answer);
        Ok(buffer.len())
    }
}

/// A shoulder and an elbow.
fn layout() -> RobotLayout {
    let hinge = |name: &str, parent: &str, child: &str| {
        let mut joint = JointSpec::revolute(name, parent, child, Vector3::z());
        joint.limits = Limits { lower: -1.0, upper: 1.0, velocity: 5.0, effort: 2.0 };
        joint
    };
    let about_com = Matrix3::identity() * 1e-4;
    let solid = Inertia { mass: 0.1, about_com, ..Inertia::ZERO };
    let model = ModelBuilder::new("arm", karakuri_model::Base::Fixed(Pose::IDENTITY))
        .link(LinkSpec::new("base", Inertia::ZERO))
        .link(LinkSpec::new("upper", solid))
        .link(LinkSpec::new("lower", solid))
        .joint(hinge("shoulder", "base", "upper"))
        .joint(hinge("elbow", "upper", "lower"));
    RobotLayout::new("arm", Arc::new(model.build().unwrap()))
}

fn driver(bus: &Bus) -> SerialServos<Bus> {
    SerialServos::open(bus.clone(), layout(), PERIOD).unwrap()
}

#[test]
fn the_driver_conforms() {
    let trial = Trial { joint: "elbow".into(), stroke: 0.3, tolerance: 1e-5, settle: 1.0 };
    check(&mut driver(&Bus::new(&[0.4, -0.1])), &trial).unwrap();
}

#[test]
fn a_target_beyond_the_limits_is_the_limit() {
    let bus = Bus::new(&[0.0, 0.0]);
    let mut io = driver(&bus);
    let mut command = JointCommand::new(&io.robots()[0]);
    (command.position[0], command.position[1]) = (100.0, -100.0);
    io.write(0, &command).unwrap();
    (0..100).for_each(|_| io.advance().unwrap());
    for ((position, _), limit) in bus.servos.lock().unwrap().iter().zip([1.0, -1.0]) {
        assert!((position - limit).abs() < 1e-6, "{position}, not {limit}");
    }
}

#[test]
fn a_bus_that_falls_silent_is_a_fault_until_it_answers_again() {
    let bus = Bus::new(&[0.2, 0.0]);
    let mut io = driver(&bus);
    bus.losses.store(LARGEST_LOSS - 1, Ordering::Relaxed);
    (0..LARGEST_LOSS).for_each(|_| io.advance().unwrap());
    assert_eq!(io.fault(0), None, "single frames are lost on any bus");
    bus.losses.store(u32::MAX, Ordering::Relaxed);
    assert!((0..LARGEST_LOSS).any(|_| io.advance().is_err()));
    assert!(
        matches!(io.fault(0), Some(Fault::Device { what }) if what.contains("servo")),
        "{:?}",
        io.fault(0)
    );
    assert!(io.is_present(0), "a robot with a fault is still there");
    bus.losses.store(0, Ordering::Relaxed);
    io.advance().unwrap();
    assert_eq!(io.fault(0), None);
}

#[test]
fn it_is_paced_in_lockstep_as_any_other() {
    let settings = PacingSettings {
        lockstep: true,
        real_time_factor: 0.0,
        command_timeout: 0.1,
        lockstep_timeout: 0.1,
    };
    let mut pacer = Pacer::new(driver(&Bus::new(&[0.0, 0.0])), settings);
    let mut state = RobotState::new(&pacer.io().robots()[0]);
    let mut command = JointCommand::new(&pacer.io().robots()[0]);
    for sample in 0..40 {
        assert_ne!(pacer.poll(0.0), Ok(Tick::Advanced), "sample {sample} is not answered yet");
        command.position.fill(0.5);
        pacer.command(0, pacer.stamp(), &command, 0.0).unwrap();
        assert_eq!(pacer.poll(0.0), Ok(Tick::Advanced));
    }
    pacer.io().read(0, &mut state);
    assert!(state.position.iter().all(|p| (p - 0.5).abs() < 1e-6), "{:?}", state.position);
}
