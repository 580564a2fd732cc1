//! Who answers what, and when.

use proptest::prelude::*;

use super::*;
use crate::codec::dynamixel::{BROADCAST, BulkReads, BulkWrites, SyncItems, append_frame};
use crate::emulator::servo::Trouble;

const POSITION: Block = Block { address: 132, length: 4 };

#[test]
fn a_ping_is_answered_with_model_and_firmware() {
    let mut rig = Rig::new(&["XL330-M288", "XM430-W350"]);
    assert_eq!(rig.answer(1, Instruction::Ping).data, [0xB0, 0x04, 52]);
    assert_eq!(rig.answer(2, Instruction::Ping).data, [0xFC, 0x03, 46]);
    assert!(rig.ask(3, Instruction::Ping).is_empty());
    let all = rig.ask(BROADCAST, Instruction::Ping);
    assert_eq!(all.iter().map(|answer| answer.id).collect::<Vec<_>>(), [1, 2]);
    assert!(all[1].time > all[0].time + 14.0 * 10e-6, "one after the other: {all:?}");
}

#[test]
fn an_answer_waits_for_the_return_delay() {
    let mut rig = Rig::new(&["XL330-M288"]);
    let time = rig.answer(1, Instruction::Ping).time;
    assert!((time - 500e-6).abs() < 1e-9, "{time} s as it leaves the factory");
    rig.set(1, r::RETURN_DELAY_TIME, 0);
    assert!(rig.answer(1, Instruction::Ping).time.abs() < 1e-9);
}

#[test]
fn servos_of_a_list_answer_in_its_order() {
    let mut rig = Rig::new(&["XL330-M288", "XL330-M288", "XL330-M288"]);
    let list = rig.ask(BROADCAST, Instruction::SyncRead { block: POSITION, ids: &[3, 1] });
    assert_eq!(list.iter().map(|answer| answer.id).collect::<Vec<_>>(), [3, 1]);
    let apart = list[1].time - list[0].time;
    assert!((apart - (15.0 * 10e-6 + 500e-6)).abs() < 1e-9, "a frame and a delay: {apart} s");
    let reads = BulkReads(&[2, 144, 0, 2, 0, 1, 146, 0, 1, 0]);
    let bulk = rig.ask(BROADCAST, Instruction::BulkRead(reads));
    assert_eq!((bulk[0].id, bulk[0].data.len()), (2, 2));
    assert_eq!((bulk[1].id, &bulk[1].data[..]), (1, &[25][..]));
}

#[test]
fn a_silent_servo_silences_those_after_it() {
    let mut rig = Rig::new(&["XL330-M288", "XL330-M288", "XL330-M288"]);
    rig.bus.servos_mut()[1].set(Trouble::Gone, true);
    let read = Instruction::SyncRead { block: POSITION, ids: &[1, 2, 3] };
    assert_eq!(rig.ask(BROADCAST, read).len(), 1);
    let mut request = Vec::new();
    let fast = Instruction::FastSyncRead { block: POSITION, ids: &[1, 2, 3] };
    Request::to_all(fast).encode(&mut request);
    let sent = rig.bytes(&request);
    assert_eq!(sent[0].1.len(), 8 + 8, "header and the first servo's part: {sent:?}");
    assert!(rig.ask(2, Instruction::Ping).is_empty());
}

#[test]
fn a_fast_read_is_answered_in_one_frame() {
    let mut rig = Rig::new(&["XL330-M288", "XM430-W350"]);
    rig.bus.servos_mut()[1].place(-1.0);
    let mut request = Vec::new();
    let fast = Instruction::FastSyncRead { block: POSITION, ids: &[2, 1] };
    Request::to_all(fast).encode(&mut request);
    let sent = rig.bytes(&request);
    assert_eq!(sent.len(), 1);
    let mut decoder = Decoder::default();
    let (last, before) = sent[0].1.split_last().unwrap();
    assert!(before.iter().all(|byte| decoder.push(*byte).is_none()));
    let frame = decoder.push(*last).unwrap().unwrap();
    let mut parts = FastParts::new(&frame).unwrap();
    let mut next = || parts.next_part(4).unwrap().unwrap();
    let (second, first) = (next(), next());
    assert_eq!((second.id, r::PRESENT_POSITION.value(second.data)), (2, 1396));
    assert_eq!((first.id, r::PRESENT_POSITION.value(first.data)), (1, 2048));
}

#[test]
fn writes_to_several_are_not_answered() {
    let mut rig = Rig::new(&["XL330-M288", "XL330-M288"]);
    let items = SyncItems { length: 4, bytes: &[1, 0, 4, 0, 0, 2, 0, 8, 0, 0, 9, 0, 8, 0, 0] };
    assert!(rig.ask(BROADCAST, Instruction::SyncWrite { address: 116, items }).is_empty());
    assert_eq!((rig.get(1, r::GOAL_POSITION), rig.get(2, r::GOAL_POSITION)), (1024, 2048));
    let writes = BulkWrites(&[2, 116, 0, 4, 0, 0, 1, 0, 0, 1, 64, 0, 1, 0, 1]);
    assert!(rig.ask(BROADCAST, Instruction::BulkWrite(writes)).is_empty());
    assert_eq!((rig.get(1, r::TORQUE_ENABLE), rig.get(2, r::GOAL_POSITION)), (1, 256));
    let all_off = Instruction::Write { address: 64, data: &[0] };
    assert!(rig.ask(BROADCAST, all_off).is_empty());
    assert_eq!(rig.get(1, r::TORQUE_ENABLE), 0);
}

#[test]
fn the_status_level_says_what_is_answered() {
    let mut rig = Rig::new(&["XL330-M288"]);
    rig.ask(1, Instruction::Write { address: 68, data: &[1] });
    assert!(rig.ask(1, Instruction::Write { address: 64, data: &[1] }).is_empty());
    assert_eq!(rig.get(1, r::TORQUE_ENABLE), 1, "obeyed all the same");
    rig.ask(1, Instruction::Write { address: 68, data: &[0] });
    assert!(rig.ask(1, Instruction::Read(POSITION)).is_empty());
    assert_eq!(rig.ask(1, Instruction::Ping).len(), 1);
    let fast = Instruction::FastSyncRead { block: POSITION, ids: &[1] };
    assert!(rig.ask(BROADCAST, fast).is_empty());
}

#[test]
fn a_second_id_is_obeyed_and_not_answered() {
    let mut rig = Rig::new(&["XL330-M288", "XL330-M288"]);
    rig.set(1, r::SECONDARY_ID, 5);
    rig.set(2, r::SECONDARY_ID, 5);
    assert!(rig.ask(5, Instruction::Write { address: 64, data: &[1] }).is_empty());
    assert_eq!((rig.get(1, r::TORQUE_ENABLE), rig.get(2, r::TORQUE_ENABLE)), (1, 1));
    assert!(rig.ask(5, Instruction::Ping).is_empty());
}

#[test]
fn a_new_id_is_answered_with_the_old_one() {
    let mut rig = Rig::new(&["XL330-M288"]);
    let answer = rig.answer(1, Instruction::Write { address: 7, data: &[42] });
    assert_eq!((answer.id, answer.error), (1, None));
    assert_eq!(rig.answer(42, Instruction::Ping).id, 42);
    assert_eq!(rig.bus.servos()[0].id, 42);
}

#[test]
fn two_servos_of_one_id_are_not_understood() {
    let mut rig = Rig::new(&["XL330-M288", "XL330-M288"]);
    rig.set(2, r::ID, 1);
    let mut ping = Vec::new();
    Request { id: 1, instruction: Instruction::Ping }.encode(&mut ping);
    let answers = rig.bytes(&ping);
    let mut decoder = Decoder::default();
    let bytes = answers.iter().flat_map(|(_, bytes)| bytes);
    for byte in bytes {
        assert!(decoder.push(*byte).is_none_or(|found| found.is_err()));
    }
    rig.bus.servos_mut()[0].set(Trouble::Gone, true);
    assert_eq!(rig.ask(1, Instruction::Ping).len(), 1, "one is unplugged");
}

#[test]
fn a_servo_is_deaf_to_other_baud_rates() {
    let mut rig = Rig::new(&["XL330-M288", "XL330-M288"]);
    rig.set(1, r::BAUD_RATE, 6);
    assert_eq!(rig.bus.line().baud, 1_000_000);
    assert!(rig.ask(1, Instruction::Ping).is_empty(), "deaf");
    rig.bus.attune(4_000_000);
    assert!(rig.ask(2, Instruction::Ping).is_empty(), "now the other one is");
    assert_eq!(rig.ask(1, Instruction::Ping).len(), 1);
    rig.bus.attune(115_200);
    assert_eq!(rig.bus.line().baud, 4_000_000, "nobody listens with that");
    rig.bus.attune(1_000_000);
    rig.set(2, r::BAUD_RATE, 6);
    assert_eq!(rig.bus.line().baud, 4_000_000);
    assert_eq!(rig.ask(BROADCAST, Instruction::Ping).len(), 2);
    assert_eq!(rig.put(1, r::BAUD_RATE, 7), Some(ErrorNumber::Range), "no 4.5 M in this series");
}

#[test]
fn a_strict_servo_does_not_hear_what_is_not_stuffed() {
    // A goal of FDFFFFh, as the maker's library sends it.
    let goal = [
        0xFF, 0xFF, 0xFD, 0x00, 0x01, 0x09, 0x00, 0x03, 0x74, 0x00, 0xFF, 0xFF, 0xFD, 0x00, 0xC9,
        0x07,
    ];
    assert!(Rig::new(&["XL330-M288"]).bytes(&goal).is_empty());
    let lenient = Settings { baud: 1_000_000, is_strict: false };
    let mut rig = Rig::with(&["XL330-M288"], lenient);
    let answers = rig.bytes(&goal);
    assert_eq!(answers[0].1[8], ErrorNumber::Limit as u8, "far beyond: {answers:?}");
}

#[test]
fn a_wrong_crc_is_reported() {
    let mut rig = Rig::new(&["XL330-M288"]);
    let answers = rig.bytes(&[0xFF, 0xFF, 0xFD, 0x00, 0x01, 0x03, 0x00, 0x01, 0x19, 0x4F]);
    assert_eq!(answers[0].1[8], ErrorNumber::Crc as u8);
    let others = rig.bytes(&[0xFF, 0xFF, 0xFD, 0x00, 0x02, 0x03, 0x00, 0x01, 0x19, 0x4F]);
    assert!(others.is_empty());
}

#[test]
fn a_frame_that_breaks_off_is_forgotten_after_a_pause() {
    let lenient = Settings { baud: 1_000_000, is_strict: false };
    let mut rig = Rig::with(&["XL330-M288"], lenient);
    assert!(rig.bytes(&[0xFF, 0xFF, 0xFD, 0x00, 0x01, 0x40, 0x00, 0x03]).is_empty());
    rig.pass(0.05);
    assert_eq!(rig.ask(1, Instruction::Ping).len(), 1);
}

#[test]
fn what_no_servo_knows_is_an_instruction_error() {
    let mut rig = Rig::new(&["XL330-M288"]);
    assert_eq!(rig.answer(1, Instruction::Action).error, Some(ErrorNumber::Instruction));
    let answers = rig.bytes(&[0xFF, 0xFF, 0xFD, 0x00, 0x01, 0x03, 0x00, 0x09, 0x2A, 0xCE]);
    assert_eq!(answers[0].1[8], ErrorNumber::Instruction as u8, "{answers:?}");
}

proptest! {
    #[test]
    fn no_request_breaks_a_servo(
        requests in prop::collection::vec(
            (0..4_u8, any::<u8>(), prop::collection::vec(any::<u8>(), 0..24)), 1..12),
    ) {
        const CODES: [u8; 15] = [1, 2, 3, 4, 5, 6, 8, 16, 32, 0x82, 0x83, 0x8A, 0x92, 0x93, 0x9A];
        let mut rig = Rig::new(&["XL330-M288", "XL430-W250", "XM430-W350"]);
        for (id, code, params) in requests {
            let id = if id == 0 { BROADCAST } else { id };
            let code = CODES[usize::from(code) % CODES.len()];
            let mut frame = Vec::new();
            append_frame(&mut frame, id, code, &params);
            rig.bytes(&frame);
            rig.pass(2e-3);
            for servo in rig.bus.servos() {
                prop_assert!(servo.position.is_finite() && servo.goal.is_finite());
            }
        }
    }
}
