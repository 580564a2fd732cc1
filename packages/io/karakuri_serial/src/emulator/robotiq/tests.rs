use super::super::{FreeMotion, move_servos};
use super::*;
use crate::codec::robotiq::{
    Activation, AnswerDecoder, GripperFault, Object, ReadFunction, Release, SLAVE, Status, TWO_F_85,
};

const STEP: f64 = 1e-3;

/// A gripper and its host's clock.
struct Bench {
    gripper: Gripper,
    answers: Answers,
    now: f64,
}

impl Bench {
    fn new() -> Self {
        let gripper = Gripper::new(TWO_F_85, SLAVE);
        let answers = Answers::new(gripper.line());
        Self { gripper, answers, now: 0.0 }
    }

    fn active() -> Self {
        let mut bench = Self::new();
        bench.write(Command { is_active: true, ..Command::default() });
        bench.wait(5.0);
        assert_eq!(bench.status().activation, Activation::Ready);
        bench
    }

    /// Lets time pass, with a read now and then. [s]
    fn wait(&mut self, time: f64) {
        let end = self.now + time;
        while self.now < end {
            self.pass((end - self.now).min(0.5));
            self.status();
        }
    }

    /// Lets time pass in silence. [s]
    fn pass(&mut self, time: f64) {
        let end = self.now + time;
        while self.now < end {
            self.now += STEP;
            self.gripper.advance(self.now, &mut self.answers);
            move_servos(self.gripper.servos_mut(), &mut FreeMotion, STEP);
        }
    }

    fn ask(&mut self, slave: u8, request: &Request) -> Option<Answer> {
        let mut frame = Vec::new();
        request.encode(slave, &mut frame);
        for byte in frame {
            self.gripper.receive(byte, self.now, &mut self.answers);
        }
        let mut decoder = AnswerDecoder::default();
        let (time, frame) = self.answers.drain().pop()?;
        assert!(time > self.now, "not before the request");
        let (from, answer) = frame.iter().find_map(|byte| decoder.push(*byte)).unwrap().unwrap();
        assert_eq!(from, slave);
        Some(answer)
    }

    fn write(&mut self, command: Command) {
        let words = Words::new(&command.to_words()).unwrap();
        let request = Request::Write { address: COMMAND_ADDRESS, words };
        let expected = Answer::Written { address: COMMAND_ADDRESS, count: 3 };
        assert_eq!(self.ask(SLAVE, &request), Some(expected));
    }

    fn status(&mut self) -> Status {
        let request =
            Request::Read { function: ReadFunction::Input, address: STATUS_ADDRESS, count: 3 };
        let Some(Answer::Words { words, .. }) = self.ask(SLAVE, &request) else {
            panic!("no status")
        };
        Status::from_words([words[0], words[1], words[2]])
    }

    fn exception(&mut self, request: &Request) -> Exception {
        match self.ask(SLAVE, request) {
            Some(Answer::Exception { exception, .. }) => exception,
            answer => panic!("{request:?}: {answer:?}"),
        }
    }
}

fn go(position: u8, speed: u8, force: u8) -> Command {
    Command { is_active: true, goes: true, release: Release::No, position, speed, force }
}

#[test]
fn an_activation_finds_both_ends_in_two_to_five_seconds() {
    let mut bench = Bench::new();
    assert_eq!(bench.status(), Status { position: 121, ..Status::default() }, "half open");
    bench.write(Command { is_active: true, ..Command::default() });
    assert_eq!(bench.status().activation, Activation::Activating);
    let start = bench.now;
    let mut seen = [255, 0];
    while bench.status().activation != Activation::Ready {
        bench.pass(0.01);
        let position = bench.status().position;
        seen = [seen[0].min(position), seen[1].max(position)];
        assert!(bench.now - start < 5.0, "{:?}", bench.gripper);
    }
    assert!(bench.now - start > 2.0, "{} s", bench.now - start);
    assert_eq!(seen, [12, 230]);
}

#[test]
fn it_goes_at_its_speed() {
    for (byte, speed) in [(0, 0.020), (255, 0.150)] {
        let mut bench = Bench::active();
        bench.write(go(255, byte, 255));
        bench.pass(0.2);
        let before = TWO_F_85.width(bench.status().position);
        assert_eq!(bench.status().object, Object::Moving);
        bench.pass(0.2);
        let measured = (before - TWO_F_85.width(bench.status().position)) / 0.2;
        assert!((measured - speed).abs() < 0.004, "{measured} m/s, expected {speed}");
        bench.wait(5.0);
        let status = bench.status();
        assert_eq!((status.object, status.position, status.goal), (Object::Arrived, 230, 255));
    }
}

#[test]
fn an_object_stops_it_while_closing_and_lets_go() {
    let mut bench = Bench::active();
    bench.gripper.servos_mut()[0].rating.stops = [0.0, 0.4];
    bench.write(go(255, 255, 0));
    bench.wait(2.0);
    let status = bench.status();
    assert_eq!((status.object, status.position), (Object::StoppedClosing, 121));
    let weak = status.current;
    bench.write(go(255, 255, 255));
    bench.wait(2.0);
    let strong = bench.status().current;
    assert!(strong > 5 * weak && weak > 0, "{weak} and {strong} at 20 N and 235 N");
    bench.gripper.servos_mut()[0].rating.stops = [0.0, 0.8];
    bench.wait(2.0);
    assert_eq!(bench.status().object, Object::Arrived, "the object is lost");
}

#[test]
fn an_object_around_it_stops_it_while_opening() {
    let mut bench = Bench::active();
    bench.write(go(255, 255, 255));
    bench.wait(2.0);
    bench.gripper.servos_mut()[0].rating.stops = [0.4, 0.8];
    bench.write(go(0, 255, 255));
    bench.wait(2.0);
    assert_eq!(bench.status().object, Object::StoppedOpening);
}

#[test]
fn it_stops_where_it_is() {
    let mut bench = Bench::active();
    bench.write(go(255, 0, 255));
    bench.pass(1.0);
    bench.write(Command { goes: false, ..go(255, 0, 255) });
    bench.pass(0.2);
    let before = bench.status().position;
    bench.wait(2.0);
    assert_eq!(bench.status().position, before);
    assert!((20..200).contains(&before), "{before}");
}

#[test]
fn faults_are_those_of_the_manual() {
    let mut bench = Bench::new();
    bench.write(Command { is_active: false, ..go(255, 255, 255) });
    assert_eq!(bench.status().fault, GripperFault::NotActive);
    bench.write(go(255, 255, 255));
    assert_eq!(bench.status().fault, GripperFault::Delayed);
    bench.wait(5.0);
    assert_eq!(bench.status().fault, GripperFault::None);
    bench.wait(2.0);
    assert_eq!(bench.status().position, 230, "it goes when it is active");
    bench.pass(1.5);
    assert_eq!(bench.status().fault, GripperFault::Silence);
    assert_eq!(bench.status().fault, GripperFault::None);
    for (trouble, fault) in
        [(Trouble::Overload, GripperFault::Current), (Trouble::Sensor, GripperFault::Internal)]
    {
        bench.gripper.servos_mut()[0].set(trouble, true);
        bench.wait(0.1);
        bench.gripper.servos_mut()[0].set(trouble, false);
        bench.wait(0.1);
        bench.write(go(0, 255, 255));
        assert_eq!(bench.status().fault, fault, "it lasts");
        bench.wait(2.0);
        assert_eq!(bench.status().position, 230, "it does not move");
        bench.write(Command::default());
        bench.write(go(255, 255, 255));
        bench.wait(7.0);
        assert_eq!(bench.status().fault, GripperFault::None);
    }
    bench.gripper.servos_mut()[0].set(Trouble::Hot, true);
    bench.wait(0.1);
    assert_eq!(bench.status().fault, GripperFault::Hot);
    bench.gripper.servos_mut()[0].set(Trouble::Hot, false);
    bench.wait(0.1);
    assert_eq!(bench.status().fault, GripperFault::None);
    bench.gripper.servos_mut()[0].voltage = 20.0;
    bench.wait(0.1);
    assert_eq!(bench.status().fault, GripperFault::Voltage);
}

#[test]
fn a_release_goes_to_the_end_and_needs_an_activation() {
    let mut bench = Bench::active();
    bench.write(go(255, 255, 255));
    bench.wait(2.0);
    bench.write(Command { release: Release::Opening, ..go(255, 255, 255) });
    bench.wait(1.0);
    assert_eq!(bench.status().fault, GripperFault::Releasing);
    bench.wait(6.0);
    let status = bench.status();
    assert_eq!((status.fault, status.position), (GripperFault::Released, 12));
    bench.write(go(255, 255, 255));
    bench.wait(1.0);
    assert_eq!(bench.status().position, 12);
}

#[test]
fn every_function_of_clients_is_answered() {
    let mut bench = Bench::active();
    let words = Words::new(&[0x0900, 0x0064, 0xFFFF]).unwrap();
    let request = Request::ReadWrite {
        read_address: STATUS_ADDRESS,
        read_count: 3,
        write_address: COMMAND_ADDRESS,
        words,
    };
    let Some(Answer::Words { function: 23, words }) = bench.ask(SLAVE, &request) else { panic!() };
    assert_eq!(words[1] & 0xFF, 100, "the write comes first");
    let function = ReadFunction::Holding;
    let request = Request::Read { function, address: COMMAND_ADDRESS, count: 3 };
    let Some(Answer::Words { words, .. }) = bench.ask(SLAVE, &request) else { panic!() };
    assert_eq!(words[..], [0x0900, 0x0064, 0xFFFF]);
    let request = Request::Read { function, address: STATUS_ADDRESS, count: 6 };
    assert!(bench.ask(SLAVE, &request).is_some_and(|answer| answer.is_of(&request)));
}

#[test]
fn what_it_cannot_do_is_an_exception() {
    let mut bench = Bench::new();
    let function = ReadFunction::Input;
    for (address, count, expected) in [
        (STATUS_ADDRESS, 0, Exception::Value),
        (STATUS_ADDRESS, 126, Exception::Value),
        (STATUS_ADDRESS, 9, Exception::Address),
        (COMMAND_ADDRESS, 9, Exception::Address),
        (0, 1, Exception::Address),
        (0xFFFF, 1, Exception::Address),
    ] {
        assert_eq!(bench.exception(&Request::Read { function, address, count }), expected);
    }
    let words = Words::new(&[0]).unwrap();
    let request = Request::Write { address: STATUS_ADDRESS, words };
    assert_eq!(bench.exception(&request), Exception::Address);
    let request = Request::Other { function: 6, data: [3, 0xE8, 1, 0] };
    assert_eq!(bench.exception(&request), Exception::Function);
}

#[test]
fn others_are_not_answered_and_all_are_obeyed() {
    let mut bench = Bench::new();
    let words = Words::new(&[0x0100]).unwrap();
    let request = Request::Write { address: COMMAND_ADDRESS, words };
    assert_eq!(bench.ask(SLAVE + 1, &request), None);
    assert_eq!(bench.status().activation, Activation::Reset);
    assert_eq!(bench.ask(BROADCAST, &request), None);
    assert_eq!(bench.status().activation, Activation::Activating);
    bench.gripper.servos_mut()[0].set(Trouble::Gone, true);
    assert_eq!(bench.ask(SLAVE, &request), None);
}

#[test]
fn a_frame_that_breaks_off_is_forgotten() {
    let mut bench = Bench::new();
    for byte in [SLAVE, 16, 3] {
        bench.gripper.receive(byte, bench.now, &mut bench.answers);
    }
    bench.now += 0.05;
    bench.status();
}
