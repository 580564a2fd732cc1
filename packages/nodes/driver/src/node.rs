//! The node: a cycle of the bus, a sample, and what comes in between.

use std::path::Path;
use std::time::{Duration, Instant};

use karakuri_hardware::driver::{await_robot, find};
use karakuri_hardware::{Fault, Pacer, RobotIo, RobotIoError, RobotLayout, Tick};
use karakuri_robot_topics::{JointTopics, report};
use karakuri_ros::msg::sensor_msgs::msg::JointState;
use karakuri_ros::msg::std_srvs::srv::Trigger;
use karakuri_ros::msg::tf2_msgs::msg::TFMessage;
use karakuri_ros::{
    Clock, IntoMessage, Node, Publisher, RivalWatch, Throttle, Timer, error, info, qos, warn,
};

use crate::diagnosis;
use crate::parameters::Parameters;

/// State of the node.
pub(crate) struct Driver {
    pub(crate) pacer: Pacer<Box<dyn RobotIo>>,
    pub(crate) joints: JointTopics,
    pub(crate) rivals: RivalWatch,
    parameters: Parameters,
    tf_static: Publisher<TFMessage>,
    clock: Clock,
    pace: Timer,
    started: Instant,
    /// Fault that was reported last.
    reported: Option<Fault>,
    failed: Throttle,
}

/// Reads the robot and its hardware, and offers all topics and services. The machine itself may come later.
pub(crate) fn new(node: &mut Node<Driver>) -> Result<Driver, Box<dyn std::error::Error>> {
    let parameters = Parameters::declare(node)?;
    let model = parameters.robot.load()?;
    let name = model.name.clone();
    let layout = RobotLayout::new(&name, model);
    let (hardware, folder) = (parameters.hardware.get(), parameters.hardware_folder.get());
    let device = Some(parameters.device.get()).filter(|device| !device.is_empty());
    let file = find(&hardware, Path::new(&folder), device.as_deref().map(Path::new), &layout)
        .map_err(|problem| format!("parameter `hardware`: {problem}"))?;
    let joints = JointTopics::new(node, layout.clone(), "", &parameters.robot.frame_prefix.get())?;
    let io = await_robot(&file, layout);
    node.subscribe("joint_command", qos::samples(false), Driver::on_command)?;
    node.service::<Trigger::Service>("~/resume", |driver, _| driver.resume())?;
    node.service::<Trigger::Service>("~/release", |driver, _| driver.release())?;
    node.diagnose("robot", diagnosis::robot);
    for (index, part) in diagnosis::health(&io).iter().enumerate() {
        node.diagnose(&part.part, move |driver| diagnosis::part(driver, index));
    }
    node.on_parameters_changed(|driver| driver.pacer.set_settings(driver.parameters.pacing()));
    node.after_events(go_on);
    let (device, rate) = (file.device.display(), io.period().recip());
    info!(
        "`{name}`: {} servos of {} on {device} at {rate:.0} Hz",
        file.servos.len(),
        file.bus.name
    );
    let driver = Driver {
        reported: io.fault(0).cloned(),
        pacer: Pacer::new(io, parameters.pacing()),
        joints,
        rivals: RivalWatch::default(),
        parameters,
        tf_static: node.publisher("/tf_static", qos::latched())?,
        clock: node.clock().clone(),
        pace: node.wall_timer(Duration::ZERO, go_on),
        started: Instant::now(),
        failed: Throttle::new(Duration::from_secs(5)),
    };
    let base = driver.joints.base_transform(driver.clock.now());
    driver.tf_static.publish(&TFMessage { transforms: vec![base] });
    Ok(driver)
}

/// Takes the sample that is due, if one is.
fn go_on(driver: &mut Driver) {
    let wait = match driver.pacer.poll(driver.now()) {
        Ok(Tick::Advanced | Tick::Repeat) => {
            driver.publish();
            0.0
        }
        Ok(Tick::Wait(seconds)) => seconds,
        Err(e) => {
            if driver.failed.ready() {
                error!("{e}");
            }
            driver.pacer.io().period()
        }
    };
    driver.pace.set_period(Duration::from_secs_f64(wait.clamp(0.0, 0.05)));
    driver.tell();
}

impl Driver {
    /// Wall time since the start. [s]
    fn now(&self) -> f64 {
        self.started.elapsed().as_secs_f64()
    }

    fn on_command(&mut self, message: &JointState) {
        let now = self.now();
        self.joints.pass_on(message, &mut self.pacer, 0, now);
    }

    /// Publishes the present sample, unless nothing is measured.
    fn publish(&mut self) {
        let io = self.pacer.io();
        if io.is_present(0) {
            self.joints.read(io, 0);
            self.joints.publish(&self.clock.now().to_message());
        }
    }

    fn resume(&mut self) -> Trigger::Response {
        answer(self.pacer.io_mut().resume(0), "commands are followed, at first slowly")
    }

    fn release(&mut self) -> Trigger::Response {
        answer(self.pacer.io_mut().release(0), "the servos are limp until `~/resume`")
    }

    /// Tells of commanders and faults that come and go.
    fn tell(&mut self) {
        let name = &self.joints.layout().name;
        for event in self.pacer.take_events() {
            report(&event, name);
        }
        let fault = self.pacer.io().fault(0);
        if fault == self.reported.as_ref() {
            return;
        }
        match fault {
            Some(Fault::Device { what }) => warn!("{what}"),
            Some(other) => warn!("robot `{name}`: {other:?}"),
            None => info!("robot `{name}` follows commands"),
        }
        self.reported = fault.cloned();
    }
}

/// Answer to a request that was done, as the text says, or was not, for its reason.
fn answer(done: Result<(), RobotIoError>, text: &str) -> Trigger::Response {
    let (success, message) = match done {
        Ok(()) => (true, text.to_owned()),
        Err(reason) => (false, reason.to_string()),
    };
    Trigger::Response { success, message }
}
