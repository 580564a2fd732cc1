//! A robot whose joints are servos on one bus.

use std::time::{Duration, Instant};

use karakuri_serial::port::PortError;

use super::bus::{Reading, Servo, ServoBus};
use super::deadlines::Deadlines;
use super::error::OpenError;
use super::joint::{Joint, Verdict};
use super::kind::Machine;
use super::link::Link;
use super::ports::Ports;
use super::setup::{AtExit, HardwareFile, Missing};
use super::start::{Started, nobody, reopen, start, switch_on};
use crate::{
    Fault, Health, HealthLevel, JointCommand, RobotIo, RobotIoError, RobotLayout, RobotState,
};

/// Time between two attempts to reach what is gone.
const RETRY: Duration = Duration::from_secs(1);
/// Share of a period in which a cycle's answers have to come. [-]
const PATIENCE: f64 = 0.8;

/// One robot whose joints are servos on one bus.
///
/// [`advance`](RobotIo::advance) never fails: [`fault`](RobotIo::fault) and [`health`](RobotIo::health) say
/// what is wrong, and time goes on. A robot that a fault has stopped holds, whatever it is commanded, until [`resume`](RobotIo::resume).
#[derive(Debug)]
pub struct ServoRobot<Bus: ServoBus> {
    file: HardwareFile,
    bus: Bus,
    layouts: [RobotLayout; 1],
    joints: Vec<Joint>,
    /// Those of `joints`, in their order.
    servos: Vec<Servo>,
    /// None while the port is gone.
    link: Option<Link>,
    deadlines: Deadlines,
    fault: Option<Fault>,
    /// Whether it was met once: to be lost after that needs a person.
    was_met: bool,
    /// Time that the last cycle took.
    cycle_time: Duration,
    /// When what is gone is looked for next.
    retry: Instant,
    /// The lost servo that is looked for next.
    look: usize,
    ports: Box<dyn Ports>,
}

impl<Bus: ServoBus> ServoRobot<Bus> {
    /// Robot of a hardware file, whose port is not open yet.
    pub fn new(file: &HardwareFile, bus: Bus, layout: RobotLayout, ports: Box<dyn Ports>) -> Self {
        let servos = file.servos.iter();
        let servos = servos.map(|s| Servo {
            torque_limit: s.torque_limit,
            ..Servo::new(s.id, &layout.joints[s.joint].name)
        });
        let servos = servos.collect();
        let joints = file.servos.iter().map(|setup| {
            let joint = &layout.joints[setup.joint];
            let reach = layout.model.joints[joint.body.0].limits.velocity * file.period;
            Joint::new(setup.joint, setup.map, joint.grips, reach)
        });
        let what = format!("{} is not open yet", file.device.display());
        Self {
            file: file.clone(),
            bus,
            joints: joints.collect(),
            layouts: [layout],
            servos,
            link: None,
            deadlines: Deadlines::new(file.period),
            fault: Some(Fault::Device { what }),
            was_met: false,
            cycle_time: Duration::ZERO,
            retry: ports.now(),
            look: 0,
            ports,
        }
    }

    /// Goes on from the first start.
    fn begin(&mut self, started: Started) {
        (self.was_met, self.fault) = (true, None);
        if let Started::Held(what) = started {
            self.stop(&what);
        }
    }

    fn start(&mut self, link: Link) -> Result<Started, OpenError> {
        let (link, started) =
            start(&self.file, &mut self.bus, link, &mut self.servos, &mut self.joints)?;
        self.link = Some(link);
        Ok(started)
    }

    /// The whole start after a loss.
    fn start_again(&mut self) -> Result<Started, OpenError> {
        self.look = (self.look + 1) % self.servos.len();
        let servo = &mut self.servos[self.look];
        let link = reopen(&self.file, &mut self.bus, servo, &mut *self.ports)?;
        self.start(link)
    }

    /// One cycle on an open port.
    fn cycle(&mut self, link: &mut Link, by: Instant) -> Result<(), PortError> {
        let stride = self.file.ramp_speed * self.file.period;
        let tolerance = self.file.start_tolerance;
        for (joint, servo) in self.joints.iter_mut().zip(&mut self.servos) {
            joint.step(stride, tolerance, servo);
            servo.reading.answered = false;
        }
        let rest = Duration::from_secs_f64(self.file.period * (1.0 - PATIENCE));
        let by = by.checked_sub(rest).unwrap_or(by);
        self.bus.exchange(link, &mut self.servos, by)?;
        self.digest(link)?;
        link.set_hurry(Some(by));
        let result = self.look_for_lost(link);
        link.set_hurry(None);
        result
    }

    /// Takes what the servos said.
    fn digest(&mut self, link: &mut Link) -> Result<(), PortError> {
        for index in 0..self.servos.len() {
            let servo = &self.servos[index];
            if !servo.is_present {
                self.joints[index].silence = self.joints[index].silence.saturating_add(1);
                continue;
            }
            match self.joints[index].digest(servo, self.file.period) {
                Verdict::Good => {}
                Verdict::Stop(why) => {
                    if self.fault.is_none() {
                        let what = sentence(servo, why);
                        self.stop(&what);
                    }
                }
                Verdict::LetGo(why) => {
                    self.bus.limp(link, servo)?;
                    let what = sentence(servo, why);
                    self.servos[index].is_engaged = false;
                    self.joints[index].limp = Some(why);
                    self.do_without(&what);
                }
                Verdict::Lost => {
                    let why = "it does not answer any more; check its cable and its supply";
                    let what = sentence(servo, why);
                    self.servos[index].is_present = false;
                    self.servos[index].is_engaged = false;
                    self.do_without(&what);
                }
            }
        }
        if self.servos.iter().any(|servo| servo.is_present) {
            return Ok(());
        }
        // With the supply gone and back, servos are limp and elsewhere: the whole start again.
        self.away(nobody(&self.file, link));
        Ok(())
    }

    /// Looks for one of the servos that were lost, once a second.
    fn look_for_lost(&mut self, link: &mut Link) -> Result<(), PortError> {
        let n = self.servos.len();
        let now = self.ports.now();
        let lost = (0..n).map(|i| (self.look + i) % n).find(|i| !self.servos[*i].is_present);
        let (Some(index), true) = (lost, now >= self.retry) else { return Ok(()) };
        (self.look, self.retry) = (index + 1, now + RETRY);
        let servo = &mut self.servos[index];
        if self.bus.look(link, servo)? {
            // Others may be back with it.
            self.retry = now;
            // It stays as it is until a person resumes.
            servo.is_present = true;
            self.joints[index].limp = Some("it was away; resume");
        }
        Ok(())
    }

    /// A servo is out: the rest stops, unless the file says otherwise.
    fn do_without(&mut self, what: &str) {
        if self.file.missing != Missing::Ignore && self.fault.is_none() {
            self.stop(what);
        }
    }

    /// Holds until somebody resumes.
    fn stop(&mut self, what: &str) {
        let tolerance = self.file.start_tolerance;
        self.joints.iter_mut().for_each(|joint| joint.hold(tolerance));
        let what = format!("{what}; the robot holds until it is resumed (`~/resume`)");
        self.fault = Some(Fault::Device { what });
    }

    /// The port or all servos are gone.
    fn away(&mut self, what: String) {
        for (joint, servo) in self.joints.iter_mut().zip(&mut self.servos) {
            joint.hold(0.0);
            joint.velocity = 0.0;
            (servo.is_present, servo.is_engaged) = (false, false);
        }
        self.fault = Some(Fault::Device { what });
        self.retry = self.ports.now() + RETRY;
    }

    /// Tries to come back, once a second.
    fn come_back(&mut self) {
        for joint in &mut self.joints {
            joint.silence = joint.silence.saturating_add(1);
        }
        if self.ports.now() < self.retry {
            return;
        }
        match self.start_again() {
            Ok(started) if !self.was_met => self.begin(started),
            Ok(Started::Whole) => {
                let device = self.file.device.display();
                let what = format!("{device} is back, and its servos hold where they are");
                self.stop(&what);
            }
            Ok(Started::Held(what)) => self.stop(&what),
            Err(error) => self.away(error.to_string()),
        }
    }

    /// The open port, to be put back.
    fn take_link(&mut self) -> Result<Link, RobotIoError> {
        self.link.take().ok_or_else(|| {
            let what = match &self.fault {
                Some(Fault::Device { what }) => what.clone(),
                _ => nobody_yet(),
            };
            RobotIoError::Device { what }
        })
    }

    /// Switches on what is there and was let go.
    fn switch_on_again(&mut self, link: &mut Link) -> Result<(), String> {
        for (servo, joint) in self.servos.iter_mut().zip(&mut self.joints) {
            if !servo.is_present {
                if self.file.missing == Missing::Ignore {
                    continue;
                }
                return Err(sentence(servo, "it does not answer; check its cable and its supply"));
            }
            let Reading { alarms, is_on, .. } = servo.reading;
            let is_well = !alarms.overload && !alarms.silence && is_on != Some(false);
            if servo.is_engaged && is_well {
                continue;
            }
            self.bus.recover(link, servo).map_err(|error| error.to_string())?;
            let is_there = self.bus.look(link, servo).map_err(|error| error.to_string())?;
            if !is_there {
                return Err(sentence(servo, "it does not answer; check its cable and its supply"));
            }
            if servo.reading.alarms.heat {
                return Err(sentence(servo, "it is still too hot; let it cool down"));
            }
            switch_on(&mut self.bus, link, servo, joint).map_err(|error| error.to_string())?;
        }
        Ok(())
    }

    /// Leaves the servos as the file says.
    fn leave(&mut self) {
        let Some(link) = &mut self.link else { return };
        let result = match self.file.at_exit {
            AtExit::Limp => self.bus.limp_all(link, &self.servos),
            AtExit::Hold => {
                for servo in &mut self.servos {
                    servo.goal = servo.reading.position;
                }
                let by = link.deadline(1024);
                self.bus.exchange(link, &mut self.servos, by)
            }
        };
        // The process ends; nobody is left to be informed.
        drop(result);
    }

    /// Joints that follow others.
    fn follow_couplings(&self, state: &mut RobotState) {
        let layout = &self.layouts[0];
        let index = |body| layout.joints.iter().position(|j| j.body == body);
        for coupling in &layout.model.couplings {
            let (Some(to), Some(from)) = (index(coupling.follower), index(coupling.leader)) else {
                continue;
            };
            if self.joints.iter().all(|joint| joint.index != to) {
                let position = coupling.multiplier * state.position[from] + coupling.offset;
                state.position[to] = position;
                state.velocity[to] = coupling.multiplier * state.velocity[from];
            }
        }
    }

    fn health_of(&self, joint: &Joint, servo: &Servo) -> Health {
        let reading = &servo.reading;
        let (level, what) = if !servo.is_present {
            (HealthLevel::Error, "does not answer; check its cable and its supply".to_owned())
        } else if let Some(why) = joint.limp {
            (HealthLevel::Error, format!("has no torque: {why}"))
        } else if reading.alarms.overload {
            (HealthLevel::Error, "is overloaded; free it, then resume".to_owned())
        } else if reading.alarms.voltage {
            let voltage = reading.voltage.unwrap_or(f64::NAN);
            (HealthLevel::Error, format!("supply of {voltage:.1} V; charge or check it"))
        } else if let Some(warning) = joint.warning(servo) {
            (HealthLevel::Warn, warning)
        } else {
            (HealthLevel::Ok, String::new())
        };
        Health {
            part: servo.joint.clone(),
            level,
            what,
            temperature: reading.temperature,
            voltage: reading.voltage,
            current: reading.current,
            errors: reading.errors,
            age: f64::from(joint.silence) * self.file.period,
            missed_deadlines: 0,
            cycle_time: None,
        }
    }
}

/// What a servo has, and the joint that it turns.
fn sentence(servo: &Servo, why: &str) -> String {
    format!("servo {} of joint `{}`: {why}", servo.id, servo.joint)
}

impl<Bus: ServoBus> RobotIo for ServoRobot<Bus> {
    fn robots(&self) -> &[RobotLayout] {
        &self.layouts
    }

    fn period(&self) -> f64 {
        self.file.period
    }

    fn time(&self) -> f64 {
        self.deadlines.passed() as f64 * self.file.period
    }

    fn write(&mut self, _robot: usize, command: &JointCommand) -> Result<(), RobotIoError> {
        self.layouts[0].check(command)?;
        if self.fault.is_some() {
            return Ok(());
        }
        for (joint, servo) in self.joints.iter_mut().zip(&self.servos) {
            let target = command.position[joint.index];
            if target.is_finite() && servo.is_engaged {
                joint.command(target);
            }
        }
        Ok(())
    }

    fn hold(&mut self, _robot: usize, gripping: bool) {
        let tolerance = self.file.start_tolerance;
        let held = self.joints.iter_mut().filter(|joint| !(gripping && joint.grips));
        held.for_each(|joint| joint.hold(tolerance));
    }

    fn advance(&mut self) -> Result<(), RobotIoError> {
        let by = self.deadlines.wait(&mut *self.ports);
        let begun = self.ports.now();
        let Some(mut link) = self.link.take() else {
            self.come_back();
            // To meet servos takes longer than a cycle, and none was skipped for it.
            self.deadlines.pass_by(self.ports.now());
            return Ok(());
        };
        match self.cycle(&mut link, by) {
            Ok(()) if self.servos.iter().any(|servo| servo.is_present) => self.link = Some(link),
            // Dropped, and thereby closed, at once: its name is taken as long as anybody has it open.
            Ok(()) => {}
            Err(error) => self.away(error.to_string()),
        }
        self.cycle_time = self.ports.now().saturating_duration_since(begun);
        Ok(())
    }

    fn due_in(&self) -> Option<f64> {
        Some(self.deadlines.until_next(self.ports.now()))
    }

    fn read(&self, _robot: usize, state: &mut RobotState) {
        for joint in &self.joints {
            state.position[joint.index] = joint.position;
            state.velocity[joint.index] = joint.velocity;
            state.effort[joint.index] = joint.effort;
        }
        self.follow_couplings(state);
    }

    fn fault(&self, _robot: usize) -> Option<&Fault> {
        self.fault.as_ref()
    }

    fn is_present(&self, _robot: usize) -> bool {
        self.link.is_some()
    }

    fn resume(&mut self, _robot: usize) -> Result<(), RobotIoError> {
        let mut link = self.take_link()?;
        let result = self.switch_on_again(&mut link);
        self.link = Some(link);
        self.deadlines.pass_by(self.ports.now());
        match result {
            Ok(()) => {
                self.fault = None;
                Ok(())
            }
            Err(what) => Err(RobotIoError::Device { what }),
        }
    }

    fn release(&mut self, _robot: usize) -> Result<(), RobotIoError> {
        let mut link = self.take_link()?;
        let result = self.bus.limp_all(&mut link, &self.servos);
        self.link = Some(link);
        self.deadlines.pass_by(self.ports.now());
        result.map_err(|error| RobotIoError::Device { what: error.to_string() })?;
        let tolerance = self.file.start_tolerance;
        for (joint, servo) in self.joints.iter_mut().zip(&mut self.servos) {
            joint.hold(tolerance);
            joint.limp = Some("it was let go; resume");
            servo.is_engaged = false;
        }
        let what = "its servos were let go; the robot is limp until it is resumed (`~/resume`)";
        self.fault = Some(Fault::Device { what: what.to_owned() });
        Ok(())
    }

    fn health(&self, _robot: usize, health: &mut Vec<Health>) {
        let bus = self.file.bus.name;
        let latency = self.link.as_ref().and_then(Link::latency_ms).filter(|ms| *ms > 1);
        let (level, what) = match (&self.fault, latency) {
            (Some(Fault::Device { what }), _) => (HealthLevel::Error, what.clone()),
            (_, Some(ms)) => (
                HealthLevel::Warn,
                format!(
                    "the adapter holds answers back for {ms} ms; add the rule for udev of docs/howto/add-hardware.md"
                ),
            ),
            _ if self.deadlines.was_late(self.ports.now()) => (
                HealthLevel::Warn,
                format!(
                    "the machine was late: {} cycles were skipped so far; let less run beside the driver",
                    self.deadlines.missed()
                ),
            ),
            _ => (HealthLevel::Ok, String::new()),
        };
        let silence = self.joints.iter().map(|joint| joint.silence).min().unwrap_or(0);
        health.push(Health {
            part: bus.to_owned(),
            level,
            what,
            temperature: None,
            voltage: None,
            current: None,
            errors: 0,
            age: f64::from(silence) * self.file.period,
            missed_deadlines: self.deadlines.missed(),
            cycle_time: self.link.as_ref().map(|_| self.cycle_time.as_secs_f64()),
        });
        let parts = self.joints.iter().zip(&self.servos);
        health.extend(parts.map(|(joint, servo)| self.health_of(joint, servo)));
    }
}

impl<Bus: ServoBus> Machine for ServoRobot<Bus> {
    fn start_now(&mut self) -> Result<(), OpenError> {
        let settings = self.bus.port_settings();
        let link = Link::open(&mut *self.ports, &self.file.device, settings)?;
        let started = self.start(link)?;
        self.begin(started);
        Ok(())
    }
}

fn nobody_yet() -> String {
    "the bus is not open; wait a second and resume again".to_owned()
}

impl<Bus: ServoBus> Drop for ServoRobot<Bus> {
    fn drop(&mut self) {
        self.leave();
    }
}
