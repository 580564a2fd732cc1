//! A driver for servos on a serial bus, one frame a servo and sample.
//!
//! A frame is `[0xA5, id, operation, value, sum]`: the value an angle in µrad (i32, little endian), the sum that of all bytes
//! before it. The answer is the same frame with the angle at which the servo is.

use std::io::{Error, ErrorKind, Read, Result, Write};

use karakuri_hardware::{Fault, JointCommand, RobotIo, RobotIoError, RobotLayout, RobotState};

pub(crate) const START: u8 = 0xA5;
pub(crate) const READ: u8 = 1;
pub(crate) const MOVE: u8 = 2;
/// A bus drops a frame now and then; a servo that misses so many in a row is gone.
pub(crate) const LARGEST_LOSS: u32 = 3;

/// A frame with its sum.
pub(crate) fn frame(id: u8, operation: u8, angle: f64) -> [u8; 8] {
    #[expect(clippy::cast_possible_truncation, reason = "an angle is far below 2147 rad")]
    let [a, b, c, d] = ((angle * 1e6).round() as i32).to_le_bytes();
    let sum = [START, id, operation, a, b, c, d].iter().fold(0_u8, |sum, x| sum.wrapping_add(*x));
    [START, id, operation, a, b, c, d, sum]
}

/// The angle in a frame. [rad]
pub(crate) fn angle(frame: [u8; 8]) -> f64 {
    f64::from(i32::from_le_bytes([frame[3], frame[4], frame[5], frame[6]])) * 1e-6
}

/// One robot, whose joint `i` is turned by servo `i`.
pub(crate) struct SerialServos<Port> {
    port: Port,
    layouts: Vec<RobotLayout>,
    period: f64,
    n_samples: u64,
    servos: Vec<Servo>,
    fault: Option<Fault>,
}

#[derive(Clone, Default)]
struct Servo {
    /// None until commanded: the servo keeps its place by itself. [rad]
    target: Option<f64>,
    position: f64,
    velocity: f64,
    /// Frames in a row without a good answer.
    lost: u32,
}

impl<Port: Read + Write + Send> SerialServos<Port> {
    pub(crate) fn open(port: Port, layout: RobotLayout, period: f64) -> Result<Self> {
        let servos = vec![Servo::default(); layout.joints.len()];
        let layouts = vec![layout];
        let mut driver = Self { port, layouts, period, n_samples: 0, servos, fault: None };
        for id in 0..driver.servos.len() {
            driver.servos[id].position = driver.exchange(id)?;
        }
        Ok(driver)
    }

    /// Sends a servo its target, if it has one; where the servo is. [rad]
    fn exchange(&mut self, id: usize) -> Result<f64> {
        let request = match (u8::try_from(id), self.servos[id].target) {
            (Ok(id), Some(target)) => frame(id, MOVE, target),
            (Ok(id), None) => frame(id, READ, 0.0),
            (Err(_), _) => return Err(Error::new(ErrorKind::InvalidInput, "256 servos at most")),
        };
        self.port.write_all(&request)?;
        let mut answer = [0; 8];
        self.port.read_exact(&mut answer)?;
        if answer != frame(request[1], request[2], angle(answer)) {
            return Err(Error::new(ErrorKind::InvalidData, "the answer's sum is wrong"));
        }
        Ok(angle(answer))
    }
}

impl<Port: Read + Write + Send> RobotIo for SerialServos<Port> {
    fn robots(&self) -> &[RobotLayout] {
        &self.layouts
    }

    fn period(&self) -> f64 {
        self.period
    }

    fn time(&self) -> f64 {
        self.n_samples as f64 * self.period
    }

    fn write(
        &mut self,
        robot: usize,
        command: &JointCommand,
    ) -> core::result::Result<(), RobotIoError> {
        self.layouts[robot].check(command)?;
        for ((servo, joint), target) in
            self.servos.iter_mut().zip(&self.layouts[robot].joints).zip(&command.position)
        {
            if target.is_finite() {
                servo.target = Some(target.clamp(joint.limits.0, joint.limits.1));
            }
        }
        Ok(())
    }

    fn hold(&mut self, robot: usize, gripping: bool) {
        for (servo, joint) in self.servos.iter_mut().zip(&self.layouts[robot].joints) {
            if !(gripping && joint.grips) {
                servo.target = Some(servo.position);
            }
        }
    }

    /// The bus paces itself: the frames of a sample take the period.
    fn advance(&mut self) -> core::result::Result<(), RobotIoError> {
        self.n_samples += 1;
        for id in 0..self.servos.len() {
            match self.exchange(id) {
                Ok(position) => {
                    let servo = &mut self.servos[id];
                    servo.velocity = (position - servo.position) / self.period;
                    (servo.position, servo.lost) = (position, 0);
                }
                Err(error) => {
                    self.servos[id].lost += 1;
                    if self.servos[id].lost >= LARGEST_LOSS {
                        let what = format!("servo {id} does not answer: {error}; check its cable");
                        self.fault = Some(Fault::Device { what: what.clone() });
                        return Err(RobotIoError::Device { what });
                    }
                }
            }
        }
        self.fault = None;
        Ok(())
    }

    fn read(&self, _robot: usize, state: &mut RobotState) {
        for (i, servo) in self.servos.iter().enumerate() {
            (state.position[i], state.velocity[i]) = (servo.position, servo.velocity);
        }
    }

    fn fault(&self, _robot: usize) -> Option<&Fault> {
        self.fault.as_ref()
    }
}
