//! One joint of a driver: its target, the path to it, and how its servo is.

use super::bus::Servo;
use super::servo_map::ServoMap;

/// Answers in a row after which a servo's silence is worth a warning, and after which it is lost.
const SILENT: u32 = 3;
const LOST: u32 = 10;
/// Shortest silence of a servo that is lost: a machine that is busy elsewhere for a moment is no pulled cable. [s]
const SHORTEST_LOSS: f64 = 0.2;
/// How far below its limit a servo is called hot. [°C]
const HOT_MARGIN: f64 = 10.0;
/// For how long a joint may be off its goal without a word. [s]
const LONGEST_ERROR: f64 = 1.0;

/// A joint and its servo.
#[derive(Debug)]
pub(super) struct Joint {
    /// Joint of the layout.
    pub(super) index: usize,
    pub(super) map: ServoMap,
    /// Whether it is one of the end effector's.
    pub(super) grips: bool,
    /// Where it is to go. [rad or m]
    pub(super) target: f64,
    /// Where it is sent now, on its path there. [rad or m]
    goal: f64,
    /// From the target to the goal while it follows: what is left of the distance at which it began to. [rad or m]
    offset: f64,
    /// How far it can go in a period: as fast as the joint may be. [rad or m]
    reach: f64,
    course: Course,
    /// Whether its servo is still to be sent where it is.
    is_to_hold: bool,
    pub(super) position: f64,
    pub(super) velocity: f64,
    pub(super) effort: f64,
    /// Cycles since its last answer.
    pub(super) silence: u32,
    /// For how long it has been off its goal at rest. [s]
    off_for: f64,
    /// What keeps it without torque.
    pub(super) limp: Option<&'static str>,
}

/// How a joint gets to its target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Course {
    /// It has no command, and is held.
    Held,
    /// At a limited speed, until it was near once.
    Approach,
    /// As the target moves, while the rest of the distance to it is made up at that speed.
    Follow,
}

/// What a reading asks the robot to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Go on.
    Good,
    /// Let this servo go.
    LetGo(&'static str),
    /// Stop all.
    Stop(&'static str),
    /// It is lost.
    Lost,
}

impl Joint {
    /// Joint that can go so far in a period. [rad or m]
    pub(super) fn new(index: usize, map: ServoMap, grips: bool, reach: f64) -> Self {
        Self {
            index,
            map,
            grips,
            target: 0.0,
            goal: 0.0,
            offset: 0.0,
            reach,
            course: Course::Held,
            is_to_hold: false,
            position: 0.0,
            velocity: 0.0,
            effort: f64::NAN,
            silence: 0,
            off_for: 0.0,
            limp: None,
        }
    }

    /// Begins where its servo is: goal and target are there, and the next command is approached.
    pub(super) fn begin(&mut self, servo: &mut Servo) {
        self.position = self.map.position(servo.reading.position.into());
        self.velocity = 0.0;
        (self.target, self.goal, self.course) = (self.position, self.position, Course::Held);
        (self.silence, self.off_for, self.limp) = (0, 0.0, None);
        self.is_to_hold = false;
        servo.goal = servo.reading.position;
    }

    /// Keeps its place, or its goal where that is within `tolerance` [rad or m] of it: a drive under load is always a little behind, and
    /// would sag with each hold. The next command is approached.
    pub(super) fn hold(&mut self, tolerance: f64) {
        if self.course == Course::Held {
            return;
        }
        if (self.goal - self.position).abs() > tolerance {
            self.goal = self.position;
            self.is_to_hold = true;
        }
        (self.target, self.course) = (self.goal, Course::Held);
    }

    /// Takes a command. [rad or m]
    pub(super) fn command(&mut self, target: f64) {
        self.target = target.clamp(self.map.limits.0, self.map.limits.1);
        if self.course == Course::Held {
            self.course = Course::Approach;
        }
    }

    /// Goes on along its path by a period; the servo's goal. It approaches by `stride` [rad or m] until it is within `tolerance` [rad or m]
    /// of its target, then goes with it and makes up the rest by a stride each time. A target that is suddenly elsewhere, as after a pause
    /// of the machine, is followed as fast as the joint may be, and what is left of the distance is made up in the same manner.
    pub(super) fn step(&mut self, stride: f64, tolerance: f64, servo: &mut Servo) {
        if std::mem::take(&mut self.is_to_hold) {
            // As it was read: where it is may be beyond the limits of what it can be sent to.
            servo.goal = servo.reading.position;
        }
        if self.course == Course::Held {
            return;
        }
        let ahead = self.target - self.goal;
        if self.course == Course::Approach && ahead.abs() <= tolerance {
            (self.course, self.offset) = (Course::Follow, -ahead);
        }
        self.goal = if self.course == Course::Follow {
            let rest = self.offset - self.offset.clamp(-stride, stride);
            let ahead = self.target + rest - self.goal;
            let goal = self.goal + ahead.clamp(-self.reach, self.reach);
            self.offset = goal - self.target;
            goal
        } else {
            self.goal + ahead.clamp(-stride, stride)
        };
        servo.goal = self.map.counts(self.goal);
    }

    /// Takes what its servo said in a cycle that ended a `period` [s] after the last one.
    pub(super) fn digest(&mut self, servo: &Servo, period: f64) -> Verdict {
        let reading = &servo.reading;
        if !reading.answered {
            self.silence += 1;
            if self.silence >= SILENT {
                self.velocity = 0.0;
            }
            let is_lost = self.silence >= LOST && f64::from(self.silence) * period >= SHORTEST_LOSS;
            return if is_lost { Verdict::Lost } else { Verdict::Good };
        }
        let elapsed = f64::from(self.silence + 1) * period;
        let position = self.map.position(reading.position.into());
        self.velocity = match reading.velocity {
            Some(velocity) => self.map.velocity(velocity),
            None => (position - self.position) / elapsed,
        };
        self.position = position;
        self.effort = self.map.effort(reading.current);
        self.silence = 0;
        self.watch_error(servo.is_engaged, elapsed);
        judge(servo)
    }

    /// Counts how long it has been at rest off its goal: a low-torque stall trips nothing in the servo.
    fn watch_error(&mut self, is_engaged: bool, elapsed: f64) {
        const AT_REST: f64 = 0.05;
        const ERROR: f64 = 0.1;
        // Fingers press on what they grip, off their goal.
        let is_off = is_engaged && !self.grips && (self.goal - self.position).abs() > ERROR;
        let is_stuck = is_off && self.velocity.abs() < AT_REST;
        self.off_for = if is_stuck { self.off_for + elapsed } else { 0.0 };
    }

    /// What is worth a warning; none while all is well.
    pub(super) fn warning(&self, servo: &Servo) -> Option<String> {
        let reading = &servo.reading;
        if let (Some(limit), Some(temperature)) = (servo.heat_limit, reading.temperature)
            && temperature >= limit - HOT_MARGIN
        {
            return Some(format!("{temperature} °C, let go at {limit} °C; give it a rest"));
        }
        if self.silence >= SILENT {
            return Some(format!("no answer {} times in a row; check its cable", self.silence));
        }
        if self.off_for >= LONGEST_ERROR {
            let off = (self.goal - self.position).abs();
            return Some(format!(
                "stays {off:.2} off its goal; free the joint or lighten its load"
            ));
        }
        None
    }
}

/// What a reading asks for.
fn judge(servo: &Servo) -> Verdict {
    let reading = &servo.reading;
    let limit = servo.heat_limit.unwrap_or(f64::INFINITY);
    let is_hot = reading.temperature.is_some_and(|temperature| temperature >= limit);
    if !servo.is_engaged {
        return Verdict::Good;
    }
    if reading.alarms.sensor {
        return Verdict::LetGo("its angle sensor fails; replace it");
    }
    if reading.alarms.heat || is_hot {
        return Verdict::LetGo("it is too hot; let it cool down");
    }
    if reading.alarms.overload {
        return Verdict::Stop("it is overloaded; free it");
    }
    if reading.alarms.silence {
        return Verdict::Stop(
            "it heard nothing for so long that it stopped; give the driver more of the processor",
        );
    }
    if reading.is_on == Some(false) {
        return Verdict::LetGo("it has switched its torque off by itself; check its supply");
    }
    Verdict::Good
}

#[cfg(test)]
mod tests {
    use super::super::bus::Reading;
    use super::*;

    fn joint() -> Joint {
        let map = ServoMap {
            zero: 2048.0,
            counts_per_radian: 1000.0,
            limits: (-1.0, 1.0),
            range: (0, 4095),
            torque_per_amp: 2.0,
        };
        Joint::new(0, map, false, 0.3)
    }

    fn servo(position: i32) -> Servo {
        let mut servo = Servo::new(1, "elbow");
        servo.reading = Reading { answered: true, position, ..Reading::default() };
        (servo.is_present, servo.is_engaged) = (true, true);
        servo
    }

    #[test]
    fn a_far_command_is_approached_and_then_followed() {
        let (mut joint, mut servo) = (joint(), servo(2048));
        joint.begin(&mut servo);
        joint.command(0.5);
        let goals: Vec<i32> = (0..9)
            .map(|_| {
                joint.step(0.1, 0.15, &mut servo);
                servo.goal - 2048
            })
            .collect();
        assert_eq!(goals, [100, 200, 300, 400, 500, 500, 500, 500, 500]);
        joint.command(0.25);
        joint.step(0.1, 0.15, &mut servo);
        assert_eq!(servo.goal - 2048, 250, "followed since");
        joint.command(-0.4);
        let goals: Vec<i32> = (0..6)
            .map(|_| {
                joint.step(0.1, 0.15, &mut servo);
                servo.goal - 2048
            })
            .collect();
        assert_eq!(goals, [-50, -150, -250, -350, -400, -400], "no faster than the joint may be");
        joint.hold(0.15);
        joint.step(0.1, 0.15, &mut servo);
        assert_eq!(servo.goal - 2048, 0, "far from its goal, it keeps its place");
        joint.command(0.5);
        joint.step(0.1, 0.15, &mut servo);
        assert_eq!(servo.goal - 2048, 100, "approached again after a hold");
    }

    #[test]
    fn the_last_of_an_approach_is_no_jump_while_the_target_moves() {
        let (mut joint, mut servo) = (joint(), servo(2048));
        joint.begin(&mut servo);
        let goals: Vec<i32> = (0..6)
            .map(|sample| {
                joint.command(0.1 + 0.1 * f64::from(sample));
                joint.step(0.04, 0.15, &mut servo);
                servo.goal - 2048
            })
            .collect();
        // 60 behind, 20 behind, then with it.
        assert_eq!(goals, [40, 180, 300, 400, 500, 600]);
    }

    #[test]
    fn a_joint_beyond_its_limits_stays_until_it_is_commanded() {
        let (mut joint, mut servo) = (joint(), servo(3500));
        joint.begin(&mut servo);
        joint.step(0.1, 0.15, &mut servo);
        assert_eq!(servo.goal, 3500);
        joint.command(7.0);
        joint.step(0.1, 0.05, &mut servo);
        assert_eq!(servo.goal, 3400, "on its path back to the limit");
    }

    #[test]
    fn readings_are_judged() {
        let (mut joint, mut servo) = (joint(), servo(2148));
        joint.begin(&mut servo);
        servo.reading.current = Some(0.5);
        assert_eq!(joint.digest(&servo, 0.02), Verdict::Good);
        assert!((joint.position - 0.1).abs() < 1e-12 && (joint.effort - 1.0).abs() < 1e-12);
        servo.reading.answered = false;
        for silence in 1..=LOST {
            let verdict = joint.digest(&servo, 0.02);
            assert_eq!(verdict == Verdict::Lost, silence == LOST, "{silence}");
            assert_eq!(joint.warning(&servo).is_some(), silence >= SILENT);
        }
        servo.reading = Reading { answered: true, position: 2259, ..servo.reading };
        joint.digest(&servo, 0.02);
        assert!(
            (joint.velocity - 0.111 / 0.22).abs() < 1e-9,
            "over the silence: {}",
            joint.velocity
        );
        (servo.heat_limit, servo.reading.temperature) = (Some(70.0), Some(60.0));
        assert_eq!(joint.digest(&servo, 0.02), Verdict::Good);
        assert!(joint.warning(&servo).unwrap().starts_with("60 °C, let go at 70 °C"));
        servo.reading.temperature = Some(70.0);
        assert!(matches!(joint.digest(&servo, 0.02), Verdict::LetGo(_)));
    }
}
