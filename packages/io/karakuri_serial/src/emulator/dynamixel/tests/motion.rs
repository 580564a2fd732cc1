//! Goals, profiles and modes.

use std::f64::consts::TAU;

use super::*;
use crate::codec::dynamixel::VELOCITY_UNIT;
use crate::emulator::servo::Trouble;

/// Time until a servo has moved by so many counts. [s]
fn time_to(rig: &mut Rig, counts: i32) -> f64 {
    let (start, begun) = (rig.position(1), rig.now);
    while (rig.position(1) - start).abs() < counts {
        rig.pass(1e-3);
        assert!(rig.now < begun + 10.0, "at {} from {start}", rig.position(1));
    }
    rig.now - begun
}

fn driven(model: &str, settings: &[(Register, i32)]) -> Rig {
    let mut rig = Rig::new(&[model]);
    for (register, value) in settings {
        rig.set(1, *register, *value);
    }
    rig.set(1, r::TORQUE_ENABLE, 1);
    rig
}

#[test]
fn a_goal_is_reached_to_the_count() {
    let mut rig = driven("XL330-M288", &[]);
    for goal in [3000, 2999, 0, 4095, 2048] {
        rig.set(1, r::GOAL_POSITION, goal);
        rig.pass(1.0);
        assert_eq!(rig.position(1), goal);
        assert_eq!((rig.get(1, r::MOVING), rig.get(1, r::MOVING_STATUS)), (0, 1));
    }
}

#[test]
fn a_profile_by_velocity_keeps_it() {
    // 100 counts of 0.229 rev/min: 1000 of 4096 counts take 0.64 s.
    let mut rig = driven("XL330-M077", &[(r::PROFILE_VELOCITY, 100)]);
    rig.set(1, r::GOAL_POSITION, 3048);
    rig.pass(0.3);
    assert_eq!(rig.get(1, r::VELOCITY_TRAJECTORY), 100);
    assert!((rig.get(1, r::PRESENT_VELOCITY) - 100).abs() <= 1);
    assert_eq!((rig.get(1, r::MOVING), rig.get(1, r::MOVING_STATUS)), (1, 0x12));
    let expected = 1000.0 / 4096.0 * TAU / (100.0 * VELOCITY_UNIT);
    let mut rig = driven("XL330-M077", &[(r::PROFILE_VELOCITY, 100)]);
    rig.set(1, r::GOAL_POSITION, 3048);
    let time = time_to(&mut rig, 1000);
    assert!((time - expected).abs() < 0.05, "{time} s, expected {expected} s");
}

#[test]
fn a_profile_by_time_takes_it_whatever_the_distance() {
    for goal in [2100, 3000, 4000] {
        let settings =
            [(r::DRIVE_MODE, 4), (r::PROFILE_VELOCITY, 800), (r::PROFILE_ACCELERATION, 200)];
        let mut rig = driven("XL330-M077", &settings);
        rig.set(1, r::GOAL_POSITION, goal);
        rig.pass(0.4);
        let half = (goal - 2048) / 2;
        let position = rig.position(1) - 2048;
        assert!((position - half).abs() <= half / 20 + 2, "{position}, half is {half}");
        rig.pass(0.45);
        let left = goal - rig.position(1);
        assert!(left.abs() <= 2, "{left} counts from {goal} after 0.85 s of 0.8 s");
        assert_eq!(rig.get(1, r::MOVING_STATUS) & 0x30, 0x30);
    }
}

#[test]
fn velocity_is_reached_at_the_acceleration_of_the_profile() {
    let settings = [(r::OPERATING_MODE, 1), (r::PROFILE_ACCELERATION, 10)];
    let mut rig = driven("XL330-M077", &settings);
    rig.set(1, r::GOAL_VELOCITY, -200);
    // The manual: 64 ms times the ratio of velocity and acceleration.
    rig.pass(0.64);
    let velocity = rig.get(1, r::PRESENT_VELOCITY);
    assert!((velocity + 100).abs() <= 3, "half of the velocity in half of 1.28 s: {velocity}");
    rig.pass(0.7);
    assert_eq!(rig.get(1, r::PRESENT_VELOCITY), -200);
    rig.set(1, r::TORQUE_ENABLE, 0);
    rig.pass(0.2);
    assert_eq!(rig.get(1, r::PRESENT_VELOCITY), 0);
}

#[test]
fn a_current_limits_the_torque() {
    for (mode, goal) in [(5, r::GOAL_POSITION), (0, r::GOAL_CURRENT)] {
        let mut rig = driven("XL330-M288", &[(r::OPERATING_MODE, mode)]);
        rig.bus.servos_mut()[0].set(Trouble::Blocked, true);
        rig.set(1, r::GOAL_CURRENT, 300);
        rig.set(1, goal, 300);
        rig.pass(0.5);
        let (load, current) = (rig.bus.servos()[0].load(), rig.get(1, r::PRESENT_CURRENT));
        let share = 0.3 / 1.47;
        assert!((load.abs() - share).abs() < 1e-6, "mode {mode}: {load}, expected {share}");
        assert!((300..=340).contains(&current.abs()), "mode {mode}: {current} mA");
    }
}

#[test]
fn a_current_turns_a_free_shaft_in_its_direction() {
    let mut rig = driven("XM430-W350", &[(r::OPERATING_MODE, 0)]);
    rig.pass(0.1);
    rig.set(1, r::GOAL_CURRENT, -100);
    rig.pass(0.5);
    assert!(rig.get(1, r::PRESENT_VELOCITY) < -50);
}

#[test]
fn a_duty_is_a_speed_without_load() {
    let mut rig = driven("XL430-W250", &[(r::OPERATING_MODE, 16)]);
    rig.set(1, r::GOAL_PWM, 443);
    rig.pass(0.5);
    let servo = &rig.bus.servos()[0];
    let half = 0.5 * servo.rating.no_load_speed;
    assert!((servo.velocity - half).abs() < 0.02 * half, "{} of {half} rad/s", servo.velocity);
    assert!((rig.get(1, r::PRESENT_PWM) - 443).abs() < 20);
}

#[test]
fn extended_positions_count_turns_until_they_are_cleared() {
    let mut rig = driven("XL330-M077", &[(r::OPERATING_MODE, 4)]);
    rig.set(1, r::GOAL_POSITION, 10_000);
    rig.pass(0.05);
    let moving = rig.answer(1, Instruction::ClearTurns).error;
    assert_eq!(moving, Some(ErrorNumber::Result), "it moves");
    rig.pass(2.0);
    assert_eq!(rig.position(1), 10_000);
    assert_eq!(rig.answer(1, Instruction::ClearTurns).error, None);
    assert_eq!(rig.position(1), 10_000 - 2 * 4096);
    rig.pass(0.5);
    assert_eq!(rig.position(1), 10_000 - 2 * 4096, "it stays where it is");
    assert_eq!(rig.put(1, r::GOAL_POSITION, 1_048_576), Some(ErrorNumber::Limit));
}

#[test]
fn a_reversed_servo_with_an_offset_turns_the_other_direction() {
    let mut rig = driven("XL330-M288", &[(r::DRIVE_MODE, 1), (r::HOMING_OFFSET, 100)]);
    assert_eq!(rig.position(1), 2148);
    rig.set(1, r::GOAL_POSITION, 2148 + 512);
    rig.pass(1.0);
    assert_eq!(rig.position(1), 2148 + 512);
    let angle = rig.bus.servos()[0].position;
    assert!((angle + TAU / 8.0).abs() < 2e-3, "{angle} rad");
}

#[test]
fn a_goal_can_switch_torque_on() {
    let mut rig = Rig::new(&["XL330-M288"]);
    rig.set(1, r::DRIVE_MODE, 8);
    rig.set(1, r::GOAL_POSITION, 2500);
    rig.pass(1.0);
    assert_eq!((rig.get(1, r::TORQUE_ENABLE), rig.position(1)), (1, 2500));
}

#[test]
fn a_goal_from_before_torque_is_followed_at_once() {
    let mut rig = Rig::new(&["XL330-M288"]);
    rig.set(1, r::GOAL_POSITION, 2500);
    rig.pass(0.1);
    assert_eq!(rig.position(1), 2048);
    rig.set(1, r::TORQUE_ENABLE, 1);
    rig.pass(1.0);
    assert_eq!(rig.position(1), 2500, "the jump that a goal of where it is prevents");
}
