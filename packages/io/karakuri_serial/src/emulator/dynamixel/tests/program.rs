//! Control table: what can be written when, and what follows from it.

use super::*;
use crate::codec::dynamixel::{BROADCAST, Keep};
use crate::emulator::servo::Trouble;

#[test]
fn settings_are_written_with_torque_off_only() {
    let mut rig = Rig::new(&["XM430-W350"]);
    rig.set(1, r::OPERATING_MODE, 5);
    rig.set(1, r::TORQUE_ENABLE, 1);
    assert_eq!(rig.put(1, r::OPERATING_MODE, 3), Some(ErrorNumber::Access));
    assert_eq!(rig.get(1, r::OPERATING_MODE), 5);
    rig.set(1, r::POSITION_P_GAIN, 640);
}

#[test]
fn each_refusal_has_its_number() {
    let mut rig = Rig::new(&["XM430-W350"]);
    rig.set(1, r::MAX_POSITION_LIMIT, 3000);
    rig.set(1, r::CURRENT_LIMIT, 200);
    for (register, value, error) in [
        (r::GOAL_POSITION, 3001, ErrorNumber::Limit),
        (r::GOAL_POSITION, -1, ErrorNumber::Limit),
        (r::GOAL_CURRENT, -201, ErrorNumber::Limit),
        (r::GOAL_VELOCITY, 201, ErrorNumber::Limit),
        (r::GOAL_PWM, 886, ErrorNumber::Limit),
        (r::CURRENT_LIMIT, 1194, ErrorNumber::Range),
        (r::STATUS_RETURN_LEVEL, 3, ErrorNumber::Range),
        (r::OPERATING_MODE, 2, ErrorNumber::Range),
        (r::DRIVE_MODE, 2, ErrorNumber::Range),
        (r::BUS_WATCHDOG, 200, ErrorNumber::Range),
        (r::ID, 253, ErrorNumber::Range),
        (r::PRESENT_POSITION, 0, ErrorNumber::Access),
        (r::MODEL_NUMBER, 1, ErrorNumber::Access),
    ] {
        assert_eq!(rig.put(1, register, value), Some(error), "{register:?} := {value}");
    }
    let mut write = |address, data| rig.answer(1, Instruction::Write { address, data }).error;
    assert_eq!(write(116, &[0, 8]), Some(ErrorNumber::Length), "half of a register");
    assert_eq!(write(117, &[0, 8, 0]), Some(ErrorNumber::Access), "not the start of one");
    assert_eq!(write(66, &[0]), Some(ErrorNumber::Access), "no register");
    let mut read = |address, length| rig.answer(1, Instruction::Read(Block { address, length }));
    assert_eq!(read(660, 4).error, Some(ErrorNumber::Access), "beyond the table");
    assert_eq!(read(132, 0).error, Some(ErrorNumber::Length));
    assert_eq!(read(64, 84).data.len(), 84, "gaps read as 0");
    let mut plain = Rig::new(&["XL430-W250"]);
    assert_eq!(plain.put(1, r::GOAL_CURRENT, 1), Some(ErrorNumber::Access));
    assert_eq!(plain.put(1, r::OPERATING_MODE, 5), Some(ErrorNumber::Range));
}

#[test]
fn a_write_that_is_refused_in_part_is_refused_as_a_whole() {
    let mut rig = Rig::new(&["XL330-M288"]);
    // Profile acceleration, velocity, and a goal beyond its limit.
    let data = [10, 0, 0, 0, 20, 0, 0, 0, 0, 0x20, 0, 0];
    let answer = rig.answer(1, Instruction::Write { address: 108, data: &data });
    assert_eq!(answer.error, Some(ErrorNumber::Limit));
    assert_eq!(rig.get(1, r::PROFILE_VELOCITY), 0);
    let answer = rig.answer(1, Instruction::Write { address: 108, data: &data[..8] });
    assert_eq!(answer.error, None);
    assert_eq!(rig.get(1, r::PROFILE_VELOCITY), 20);
}

#[test]
fn indirect_addresses_put_registers_side_by_side() {
    for (model, data) in [("XL330-M288", 208), ("XM430-W350", 224)] {
        let mut rig = Rig::new(&[model]);
        let map: Vec<u8> =
            (126..136).chain([146, 70]).flat_map(|address: u16| address.to_le_bytes()).collect();
        let write = Instruction::Write { address: 168, data: &map };
        assert_eq!(rig.answer(1, write).error, None, "{model}");
        rig.bus.servos_mut()[0].place(0.5);
        rig.bus.servos_mut()[0].temperature = 40.2;
        let state = rig.answer(1, Instruction::Read(Block { address: data, length: 12 })).data;
        assert_eq!(r::PRESENT_POSITION.value(&state[6..10]), 2374, "{model}");
        assert_eq!(state[10..], [40, 0], "{model}");
        // The other direction: a goal through its bytes' addresses.
        let goal: Vec<u8> = (116..120).flat_map(|address: u16| address.to_le_bytes()).collect();
        rig.answer(1, Instruction::Write { address: 168 + 24, data: &goal });
        let at = data + 12;
        let write = |data| Instruction::Write { address: at, data };
        assert_eq!(rig.answer(1, write(&[0, 4, 0, 0])).error, None);
        assert_eq!(rig.get(1, r::GOAL_POSITION), 1024);
        assert_eq!(rig.answer(1, write(&[0, 4])).error, Some(ErrorNumber::Length));
        let settings = Instruction::Write { address: 168, data: &[7, 0] };
        assert_eq!(rig.answer(1, settings).error, Some(ErrorNumber::Range));
    }
}

#[test]
fn a_write_can_wait_for_its_action() {
    let mut rig = Rig::new(&["XL330-M288"]);
    let write = Instruction::RegWrite { address: 116, data: &[0, 4, 0, 0] };
    assert_eq!(rig.answer(1, write).error, None);
    assert_eq!((rig.get(1, r::REGISTERED_INSTRUCTION), rig.get(1, r::GOAL_POSITION)), (1, 2048));
    assert!(rig.ask(BROADCAST, Instruction::Action).is_empty());
    assert_eq!((rig.get(1, r::REGISTERED_INSTRUCTION), rig.get(1, r::GOAL_POSITION)), (0, 1024));
    let beyond = Instruction::RegWrite { address: 116, data: &[0, 0x20, 0, 0] };
    assert_eq!(rig.answer(1, beyond).error, Some(ErrorNumber::Limit));
}

#[test]
fn a_reboot_forgets_ram_and_keeps_settings() {
    let mut rig = Rig::new(&["XM430-W350"]);
    rig.set(1, r::HOMING_OFFSET, 100);
    rig.set(1, r::POSITION_P_GAIN, 123);
    rig.set(1, r::TORQUE_ENABLE, 1);
    assert_eq!(rig.answer(1, Instruction::Reboot).error, None);
    assert!(rig.ask(1, Instruction::Ping).is_empty(), "it starts");
    rig.pass(0.3);
    assert_eq!((rig.get(1, r::HOMING_OFFSET), rig.get(1, r::POSITION_P_GAIN)), (100, 800));
    assert_eq!(rig.get(1, r::TORQUE_ENABLE), 0);
    assert_eq!(rig.get(1, r::GOAL_CURRENT), 1193);
    rig.set(1, r::STARTUP_CONFIGURATION, 1);
    rig.answer(1, Instruction::Reboot);
    rig.pass(0.3);
    assert_eq!(rig.get(1, r::TORQUE_ENABLE), 1);
}

#[test]
fn a_factory_reset_keeps_what_it_is_asked_to() {
    let reset = |keep, id| {
        let mut rig = Rig::new(&["XL330-M288", "XL330-M288"]);
        rig.set(2, r::RETURN_DELAY_TIME, 0);
        rig.ask(id, Instruction::FactoryReset(keep));
        rig.pass(0.3);
        let program = &rig.bus.chain.servos[1];
        (program.id, rig.bus.line().baud, rig)
    };
    let (id, _, mut rig) = reset(Keep::IdAndBaud, 2);
    assert_eq!((id, rig.get(2, r::RETURN_DELAY_TIME)), (2, 250));
    let (id, baud, _) = reset(Keep::Id, BROADCAST);
    assert_eq!((id, baud), (2, 57_600));
    let (id, baud, _) = reset(Keep::Nothing, 2);
    assert_eq!((id, baud), (1, 1_000_000), "servo 1 still listens at the old rate");
    let (id, _, mut rig) = reset(Keep::Nothing, BROADCAST);
    assert_eq!((id, rig.get(2, r::RETURN_DELAY_TIME)), (2, 0), "not obeyed: all would be 1");
}

#[test]
fn settings_come_back_from_their_copy() {
    let mut rig = Rig::new(&["XM430-W350"]);
    assert_eq!(rig.answer(1, Instruction::Restore).error, Some(ErrorNumber::Result), "no copy");
    rig.set(1, r::HOMING_OFFSET, 100);
    rig.set(1, r::TORQUE_ENABLE, 1);
    assert_eq!(rig.answer(1, Instruction::Store).error, Some(ErrorNumber::Result), "torque is on");
    rig.set(1, r::TORQUE_ENABLE, 0);
    assert_eq!(rig.answer(1, Instruction::Store).error, None);
    assert_eq!(rig.get(1, r::BACKUP_READY), 1);
    rig.set(1, r::HOMING_OFFSET, -5);
    assert_eq!(rig.answer(1, Instruction::Restore).error, None);
    rig.pass(0.3);
    assert_eq!(rig.get(1, r::HOMING_OFFSET), 100);
}

#[test]
fn an_overload_switches_torque_off_until_a_reboot() {
    let mut rig = Rig::new(&["XM430-W350"]);
    rig.set(1, r::TORQUE_ENABLE, 1);
    rig.bus.servos_mut()[0].set(Trouble::Overload, true);
    rig.pass(5e-3);
    rig.bus.servos_mut()[0].set(Trouble::Overload, false);
    rig.pass(5e-3);
    let answer = rig.answer(1, Instruction::Ping);
    assert!(answer.alert && answer.error.is_none() && answer.data.len() == 3, "{answer:?}");
    assert_eq!((rig.get(1, r::HARDWARE_ERROR_STATUS), rig.get(1, r::TORQUE_ENABLE)), (0x20, 0));
    rig.set(1, r::TORQUE_ENABLE, 1);
    assert_eq!(rig.get(1, r::TORQUE_ENABLE), 0, "not before a reboot");
    rig.answer(1, Instruction::Reboot);
    rig.pass(0.3);
    rig.set(1, r::TORQUE_ENABLE, 1);
    assert_eq!((rig.get(1, r::HARDWARE_ERROR_STATUS), rig.get(1, r::TORQUE_ENABLE)), (0, 1));
}

#[test]
fn the_shutdown_mask_says_which_errors_switch_torque_off() {
    // A voltage out of bounds does so in the XL330 alone, as they leave the factory.
    for (model, volts, stays_on) in [("XL330-M288", 3.0, 0), ("XM430-W350", 9.0, 1)] {
        let mut rig = Rig::new(&[model]);
        rig.set(1, r::TORQUE_ENABLE, 1);
        rig.bus.servos_mut()[0].voltage = volts;
        rig.pass(5e-3);
        assert_eq!(rig.get(1, r::HARDWARE_ERROR_STATUS), 1, "{model}");
        assert_eq!(rig.get(1, r::TORQUE_ENABLE), stays_on, "{model}");
    }
    let mut rig = Rig::new(&["XM430-W350"]);
    rig.set(1, r::TORQUE_ENABLE, 1);
    rig.bus.servos_mut()[0].set(Trouble::Hot, true);
    rig.pass(5e-3);
    assert_eq!((rig.get(1, r::HARDWARE_ERROR_STATUS), rig.get(1, r::TORQUE_ENABLE)), (4, 0));
}

#[test]
fn torque_that_is_lost_shows_in_the_register() {
    let mut rig = Rig::new(&["XM430-W350"]);
    rig.set(1, r::TORQUE_ENABLE, 1);
    rig.bus.servos_mut()[0].set(Trouble::TorqueLost, true);
    rig.pass(5e-3);
    assert_eq!(rig.get(1, r::TORQUE_ENABLE), 0);
}

#[test]
fn a_silent_bus_trips_the_watchdog() {
    let mut rig = Rig::new(&["XL330-M288"]);
    rig.set(1, r::OPERATING_MODE, 1);
    rig.set(1, r::BUS_WATCHDOG, 5);
    rig.pass(0.2);
    assert_eq!(rig.get(1, r::BUS_WATCHDOG), 5, "it does not watch while torque is off");
    rig.set(1, r::TORQUE_ENABLE, 1);
    rig.set(1, r::GOAL_VELOCITY, 100);
    for _ in 0..5 {
        rig.pass(0.09);
        rig.ask(7, Instruction::Ping);
    }
    rig.pass(0.09);
    assert!(rig.bus.servos()[0].velocity > 2.0, "a request to anybody keeps it going");
    rig.pass(0.03);
    assert_eq!(rig.get(1, r::BUS_WATCHDOG), 255);
    rig.pass(0.2);
    assert!(rig.bus.servos()[0].velocity.abs() < 1e-3);
    assert_eq!(rig.put(1, r::GOAL_VELOCITY, 100), Some(ErrorNumber::Range));
    assert_eq!(rig.put(1, r::GOAL_POSITION, 100), Some(ErrorNumber::Range));
    assert_eq!(rig.put(1, r::BUS_WATCHDOG, 5), Some(ErrorNumber::Range));
    rig.set(1, r::BUS_WATCHDOG, 0);
    rig.set(1, r::GOAL_VELOCITY, 100);
    rig.pass(0.05);
    assert!(rig.bus.servos()[0].velocity > 2.0);
}
