use super::super::device::Line;
use super::super::servo::{FreeMotion, Mode, Rating, Trouble};
use super::*;

const LINE: Line = Line::eight_n_one(10_000);

/// Answers a letter by `<letter>!` 2 ms later; `b` doubles the baud rate, `g` makes the servo go.
struct Toy {
    line: Line,
    servos: Vec<Servo>,
}

impl Bus for Toy {
    fn line(&self) -> Line {
        self.line
    }

    fn receive(&mut self, byte: u8, now: f64, answers: &mut Answers) {
        if self.servos[0].has(Trouble::Gone) {
            return;
        }
        answers.send(now + 2e-3, &[byte, b'!']);
        match byte {
            b'b' => self.line.baud *= 2,
            b'g' => {
                let servo = &mut self.servos[0];
                (servo.mode, servo.torque_on, servo.goal) = (Mode::Position, true, 1.0);
            }
            _ => {}
        }
    }

    fn advance(&mut self, _now: f64, _answers: &mut Answers) {}

    fn servos(&self) -> &[Servo] {
        &self.servos
    }

    fn servos_mut(&mut self) -> &mut [Servo] {
        &mut self.servos
    }
}

fn toy() -> Emulation {
    let servos = vec![Servo::new(1, Rating::SMALL)];
    let mut emulation = Emulation::new(Box::new(Toy { line: LINE, servos }), Box::new(FreeMotion));
    emulation.advance(0.0, &mut Vec::new());
    emulation
}

/// What the host has heard by `now` [s].
fn by(emulation: &mut Emulation, now: f64) -> String {
    let mut bytes = Vec::new();
    assert_eq!(emulation.advance(now, &mut bytes), PortState::Open);
    String::from_utf8_lossy(&bytes).into_owned()
}

#[test]
fn bytes_take_their_time_in_both_directions() {
    let mut emulation = toy();
    emulation.hear(b"xy", 10_000, 0.0);
    // 1 ms a byte: x is there at 1 ms, its answer starts at 3 ms; that of y, due at 4 ms, waits for the wire.
    for (now, expected) in
        [(3.9e-3, ""), (4.01e-3, "x"), (5.01e-3, "!"), (7.01e-3, "y!"), (0.1, "")]
    {
        assert_eq!(by(&mut emulation, now), expected, "at {now} s");
    }
    assert_eq!(emulation.next_time(), None);
}

#[test]
fn it_wakes_when_the_host_may_notice_something() {
    let mut emulation = toy();
    emulation.hear(b"x", 10_000, 0.0);
    assert!((emulation.next_time().unwrap() - 1e-3).abs() < 1e-9);
    by(&mut emulation, 1.001e-3);
    assert!((emulation.next_time().unwrap() - 3e-3).abs() < 1e-9);
    by(&mut emulation, 3.001e-3);
    assert!((emulation.next_time().unwrap() - 5e-3).abs() < 1e-9, "the end of the frame");
}

#[test]
fn another_baud_rate_is_not_heard_and_reported_once() {
    let mut emulation = toy();
    for i in 0..3 {
        emulation.hear(b"x", 20_000, f64::from(i) * 0.1);
        assert_eq!(by(&mut emulation, f64::from(i) * 0.1 + 0.05), "");
    }
    let events: Vec<_> = emulation.events().collect();
    assert_eq!(events, [Event::WrongBaud { host: 20_000, devices: 10_000 }]);
}

#[test]
fn an_answer_leaves_at_the_baud_rate_of_its_request() {
    let mut emulation = toy();
    emulation.hear(b"b", 10_000, 0.0);
    assert_eq!(by(&mut emulation, 0.1), "b!");
    emulation.hear(b"x", 10_000, 0.2);
    assert_eq!(by(&mut emulation, 0.3), "");
    emulation.hear(b"x", 20_000, 0.4);
    assert_eq!(by(&mut emulation, 0.5), "x!");
    assert_eq!(emulation.events().next(), Some(Event::BaudChanged { baud: 20_000 }));
}

#[test]
fn faults_of_the_wire_strike_answers() {
    for (fault, expected) in [
        ("drop", ""),
        ("bad-checksum", "xt"),
        ("noise", "\0\u{FFFD}Zx!"),
        ("echo", "xx!"),
        ("wrong-baud", ""),
        ("servo-gone", ""),
        ("drop=0", "x!"),
    ] {
        let mut emulation = toy();
        emulation.switch_on(fault.parse().unwrap());
        emulation.hear(b"x", 10_000, 0.0);
        assert_eq!(by(&mut emulation, 0.1), expected, "{fault}");
        let name = fault.split('=').next().unwrap();
        assert_eq!(emulation.switch_off(&|fault| fault.name() == name), 1);
        emulation.hear(b"x", 10_000, 0.2);
        assert_eq!(by(&mut emulation, 0.3), "x!", "without {fault}");
    }
}

#[test]
fn a_share_of_answers_is_lost() {
    let mut emulation = toy();
    emulation.switch_on(Fault::Drop { share: 0.25 });
    let n_heard = (0..1000)
        .filter(|i| {
            let now = f64::from(*i) * 0.01;
            emulation.hear(b"x", 10_000, now);
            by(&mut emulation, now + 0.009) == "x!"
        })
        .count();
    assert!((700..800).contains(&n_heard), "{n_heard} of 1000");
}

#[test]
fn late_answers_are_late_by_as_much() {
    let mut emulation = toy();
    emulation.switch_on(Fault::Delay { delay_ms: 20.0 });
    emulation.hear(b"x", 10_000, 0.0);
    assert_eq!(by(&mut emulation, 0.0239), "");
    assert_eq!(by(&mut emulation, 0.0251), "x!");
}

#[test]
fn the_port_is_pulled_out_in_the_middle_of_a_frame() {
    let mut emulation = toy();
    emulation.switch_on(Fault::Closed { away_s: 3.0 });
    emulation.hear(b"x", 10_000, 0.0);
    let mut bytes = Vec::new();
    assert_eq!(emulation.advance(0.1, &mut bytes), PortState::PulledOut { away_s: 3.0 });
    assert_eq!(bytes, b"x");
    emulation.hear(b"x", 10_000, 3.1);
    assert_eq!(by(&mut emulation, 3.2), "x!", "once");
}

#[test]
fn servos_move_while_time_passes() {
    let mut emulation = toy();
    emulation.hear(b"g", 10_000, 0.0);
    by(&mut emulation, 0.11);
    let place = emulation.servos()[0].position;
    assert!((0.2..0.6).contains(&place), "{place} rad after 0.1 s at 5 rad/s");
    by(&mut emulation, 0.5);
    assert!((emulation.servos()[0].position - 1.0).abs() < 1e-3);
}

#[test]
fn alarms_are_reported_as_they_come_and_go() {
    let mut emulation = toy();
    emulation.switch_on("hot=1".parse().unwrap());
    by(&mut emulation, 0.1);
    emulation.switch_off(&|_| true);
    by(&mut emulation, 0.2);
    let lines: Vec<_> = emulation.events().map(|event| event.to_string()).collect();
    assert_eq!(
        lines,
        [
            "fault on: hot=1",
            "servo 1: alarm heat",
            "fault off: hot=1",
            "servo 1: alarm heat cleared"
        ]
    );
}

#[test]
fn a_fault_of_one_servo_does_not_end_that_of_another() {
    let mut emulation = toy();
    emulation.switch_on("servo-gone=1".parse().unwrap());
    emulation.switch_on("servo-gone=2".parse().unwrap());
    emulation.switch_on("servo-gone=1".parse().unwrap());
    assert_eq!(emulation.faults().len(), 2);
    emulation.switch_on("voltage-v=9".parse().unwrap());
    emulation.switch_on("voltage-v=8".parse().unwrap());
    assert_eq!(emulation.faults().len(), 3);
    assert!((emulation.servos()[0].voltage - 8.0).abs() < 1e-12);
}

#[test]
fn steps_of_goals_count_while_there_is_torque() {
    let mut emulation = toy();
    let largest = |emulation: &Emulation| emulation.largest_goal_steps().next().unwrap();
    let goal = |emulation: &mut Emulation, goal: f64, time: f64| {
        emulation.servos_mut()[0].goal = goal;
        emulation.advance(time, &mut Vec::new());
    };
    emulation.servos_mut()[0].place(0.3);
    goal(&mut emulation, 2.0, 0.01);
    assert!(largest(&emulation) < 1e-12, "limp, it follows no goal");
    goal(&mut emulation, 0.35, 0.02);
    emulation.servos_mut()[0].torque_on = true;
    goal(&mut emulation, 0.35, 0.03);
    assert!((largest(&emulation) - 0.05).abs() < 1e-9, "from where it is: {}", largest(&emulation));
    goal(&mut emulation, 0.15, 0.04);
    goal(&mut emulation, 0.10, 0.05);
    assert!((largest(&emulation) - 0.2).abs() < 1e-9, "{}", largest(&emulation));
}
