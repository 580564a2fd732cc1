use super::*;

const PATIENCE: Duration = Duration::from_secs(1);

fn at(milliseconds: i64) -> Time {
    Time::from_nanoseconds(milliseconds * 1_000_000)
}

/// A message of a sample: the positions, or an input by its index.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Message {
    Positions(i64),
    Input(usize, i64),
}
use Message::{Input as Heard, Positions};

/// A gate with inertial sensor, foot and source, and the moment at which it is asked.
struct Trial {
    gate: SampleGate<u32>,
    inputs: [InputId; 3],
    now: Instant,
}

impl Trial {
    fn new(lockstep: bool) -> Self {
        let mut gate = SampleGate::new(lockstep, 0);
        let inputs = [
            gate.add_input("imu/torso", Awaits::Always),
            gate.add_input("wrench/foot", Awaits::InLockstep),
            gate.add_input("target", Awaits::OnceHeard),
        ];
        Self { gate, inputs, now: Instant::now() }
    }

    /// Stamps of the samples that are given out after this message. [ms]
    fn receive(&mut self, message: Message) -> Vec<i64> {
        match message {
            Positions(stamp) => {
                self.gate.offer(at(stamp), &[0.5]);
            }
            Heard(input, stamp) => self.gate.hear(self.inputs[input], at(stamp)),
        }
        let mut taken = Vec::new();
        while let Some(turn) = self.gate.take(self.now, PATIENCE) {
            taken.push(turn.stamp.nanoseconds() / 1_000_000);
        }
        taken
    }
}

/// A sample without its source.
fn sensors(trial: &mut Trial, stamp: i64) -> Vec<i64> {
    [Heard(0, stamp), Heard(1, stamp), Positions(stamp)].map(|m| trial.receive(m)).concat()
}

fn received(lockstep: bool, messages: &[Message]) -> Vec<Vec<i64>> {
    let mut trial = Trial::new(lockstep);
    messages.iter().map(|message| trial.receive(*message)).collect()
}

/// All orders of a few things.
fn orders<T: Copy>(things: &[T]) -> Vec<Vec<T>> {
    let Some((first, rest)) = things.split_first() else { return vec![Vec::new()] };
    let with_first = |order: Vec<T>| {
        let at = move |i| [&order[..i], &[*first], &order[i..]].concat();
        (0..things.len()).map(at).collect::<Vec<_>>()
    };
    orders(rest).into_iter().flat_map(with_first).collect()
}

#[test]
fn in_lockstep_the_last_message_of_a_sample_gives_it_out_whatever_the_order() {
    // The source was heard: it is waited for, too.
    let sample = |stamp| [Positions(stamp), Heard(0, stamp), Heard(1, stamp), Heard(2, stamp)];
    let all = orders(&sample(4));
    assert_eq!(all.len(), 24);
    for order in all {
        let mut trial = Trial::new(true);
        let first = sample(2).map(|message| trial.receive(message)).concat();
        assert_eq!(first, [2]);
        let taken: Vec<_> = order.iter().map(|message| trial.receive(*message)).collect();
        assert_eq!(taken, [vec![], vec![], vec![], vec![4]], "{order:?}");
    }
}

#[test]
fn in_real_time_a_sample_waits_for_the_first_message_of_what_is_always_awaited() {
    let messages =
        [Positions(2), Heard(1, 2), Heard(2, 2), Heard(0, 1), Positions(4), Positions(6)];
    let expected = [vec![], vec![], vec![], vec![2], vec![4], vec![6]];
    assert_eq!(received(false, &messages), expected);
}

#[test]
fn messages_of_another_sample_give_nothing_out() {
    for stamp in [1, 3] {
        let messages = [Positions(2), Heard(0, stamp), Heard(1, 2), Heard(0, 2)];
        assert_eq!(received(true, &messages), [vec![], vec![], vec![], vec![2]], "{stamp}");
    }
}

#[test]
fn a_sample_that_is_overtaken_is_not_given_out() {
    let messages = [Positions(2), Positions(4), Heard(0, 2), Heard(1, 2), Heard(0, 4), Heard(1, 4)];
    assert_eq!(received(true, &messages).concat(), [4]);
}

#[test]
fn the_same_sample_gets_the_same_answer() {
    let mut gate = SampleGate::new(true, 0);
    for time in [2, 4] {
        assert_eq!(gate.offer(at(time), &[0.5]), Offer::New);
        assert!(gate.take(Instant::now(), PATIENCE).is_some());
        assert_eq!(gate.offer(at(time), &[0.5]), Offer::Repeated(None), "not answered yet");
        *gate.answer() = 7;
        for _ in 0..3 {
            assert_eq!(gate.offer(at(time), &[0.5]), Offer::Repeated(Some(&7)));
            assert_eq!(gate.take(Instant::now(), PATIENCE), None, "given out once");
        }
    }
    gate.withdraw();
    assert_eq!(gate.offer(at(4), &[0.5]), Offer::Repeated(None));
    assert_eq!(gate.offer(at(4), &[0.6]), Offer::New, "the robot was put elsewhere");
    let turn = gate.take(Instant::now(), PATIENCE);
    assert_eq!(turn, Some(Turn { stamp: at(4), advance: Advance::Backward }));
    gate.renew(at(4));
    assert!(gate.take(Instant::now(), PATIENCE).is_some(), "on request it is given out again");
}

#[test]
fn an_answer_is_sent_once_and_not_while_it_is_withheld() {
    let mut gate = SampleGate::new(true, 0);
    gate.offer(at(2), &[]);
    gate.take(Instant::now(), PATIENCE);
    assert_eq!(gate.send(false), None, "there is none");
    *gate.answer() = 3;
    assert_eq!(gate.send(true), None);
    assert_eq!(gate.send(true), None);
    assert_eq!(gate.send(false), Some(&3));
    assert_eq!(gate.send(false), None);
    *gate.answer() = 4;
    gate.offer(at(4), &[]);
    gate.take(Instant::now(), PATIENCE);
    assert_eq!(gate.send(false), None, "an answer to an older sample is void");
}

#[test]
fn a_clock_that_jumps_back_is_reported_once() {
    let mut gate = SampleGate::new(true, ());
    let mut advance = |time| {
        gate.offer(at(time), &[]);
        gate.take(Instant::now(), PATIENCE).map(|turn| turn.advance)
    };
    assert_eq!(advance(500), Some(Advance::First));
    assert_eq!(advance(502), Some(Advance::Forward(0.002)));
    assert_eq!(advance(2), Some(Advance::Backward));
    assert_eq!(advance(4), Some(Advance::Forward(0.002)));
}

#[test]
fn samples_that_did_not_come_are_counted() {
    let elapsed = |advance| Turn { stamp: at(10), advance }.elapsed(0.002, 0.1);
    // Exact: filters of lockstep see the same period each time.
    for (gap, expected) in [(0.002, 0.002), (0.002_000_000_1, 0.002), (0.006, 0.006), (1e-4, 0.002)]
    {
        assert_eq!(elapsed(Advance::Forward(gap)).to_bits(), f64::to_bits(expected), "{gap}");
    }
    // What was away for long goes on from where it is.
    for advance in [Advance::First, Advance::Backward, Advance::Forward(0.2)] {
        assert_eq!(elapsed(advance).to_bits(), 0.002_f64.to_bits(), "{advance:?}");
    }
}

#[test]
fn a_source_that_falls_silent_is_waited_for_so_long_and_again_when_it_speaks() {
    let mut trial = Trial::new(true);
    assert_eq!(sensors(&mut trial, 2), [2], "a source that never spoke is not waited for");
    assert_eq!(trial.gate.awaited().collect::<Vec<_>>(), ["imu/torso", "wrench/foot"]);
    trial.receive(Heard(2, 2));
    assert_eq!(trial.gate.awaited().count(), 3);
    assert!(sensors(&mut trial, 4).is_empty(), "from now on it is");
    trial.now += PATIENCE.saturating_sub(Duration::from_millis(1));
    assert_eq!(trial.gate.take(trial.now, PATIENCE), None);
    trial.now += Duration::from_millis(1);
    assert!(trial.gate.take(trial.now, PATIENCE).is_some());
    assert_eq!(sensors(&mut trial, 6), [6], "nor later,");
    assert!(trial.receive(Heard(2, 6)).is_empty(), "until it speaks again");
    assert!(sensors(&mut trial, 8).is_empty());
    assert_eq!(trial.receive(Heard(2, 8)), [8]);
}

#[test]
fn sensors_are_waited_for_without_end() {
    let mut trial = Trial::new(true);
    trial.receive(Heard(0, 2));
    trial.receive(Positions(2));
    trial.now += 100 * PATIENCE;
    assert_eq!(trial.gate.take(trial.now, PATIENCE), None);
    assert_eq!(trial.gate.unheard().collect::<Vec<_>>(), ["wrench/foot"]);
    assert_eq!(trial.receive(Heard(1, 2)), [2]);
}
