use super::*;

const STEP: f64 = 0.001;

fn servo() -> Servo {
    Servo::new(1, Rating::SMALL)
}

/// Moves one servo for a time [s]; its greatest speed [rad/s] on the way.
fn run(servo: &mut Servo, time: f64) -> f64 {
    let mut fastest = 0.0_f64;
    let mut now = 0.0;
    while now < time {
        move_servos(std::slice::from_mut(servo), &mut FreeMotion, STEP);
        fastest = fastest.max(servo.velocity.abs());
        now += STEP;
    }
    fastest
}

#[test]
fn a_limp_servo_stays_where_it_is() {
    let mut servo = servo();
    servo.place(0.3);
    servo.goal = 1.0;
    run(&mut servo, 1.0);
    assert_eq!((servo.position, servo.effort, servo.current), (0.3, 0.0, 0.0));
}

#[test]
fn it_reaches_its_goal_within_the_motors_speed() {
    let mut servo = servo();
    (servo.torque_on, servo.goal) = (true, -2.0);
    let fastest = run(&mut servo, 0.5);
    assert!((servo.position + 2.0).abs() < 1e-3, "{}", servo.position);
    assert!(fastest <= 5.0 + 1e-9 && fastest > 4.5, "{fastest} rad/s");
}

#[test]
fn it_keeps_its_limits_of_speed_and_acceleration() {
    let mut servo = servo();
    (servo.torque_on, servo.goal) = (true, 1.0);
    (servo.speed_limit, servo.acceleration_limit) = (0.5, 1.0);
    // 0.5 s up, 1.5 s along, 0.5 s down.
    let fastest = run(&mut servo, 1.25);
    assert!((servo.position - 0.5).abs() < 0.01, "half at half the time: {}", servo.position);
    assert!(fastest < 0.51, "{fastest} rad/s");
    run(&mut servo, 1.35);
    assert!((servo.position - 1.0).abs() < 1e-3 && servo.velocity.abs() < 1e-3, "{servo:?}");
}

#[test]
fn friction_takes_its_current_against_the_motion() {
    for goal in [2.0_f64, -2.0] {
        let mut servo = servo();
        (servo.torque_on, servo.goal, servo.speed_limit) = (true, goal, 0.5);
        run(&mut servo, 1.0);
        assert!(servo.current * goal > 0.0 && servo.current.abs() < 0.1, "{servo:?}");
    }
}

#[test]
fn a_wheel_turns_at_its_velocity() {
    let mut servo = servo();
    (servo.torque_on, servo.mode, servo.goal_velocity) = (true, Mode::Velocity, -2.0);
    run(&mut servo, 1.0);
    assert!(
        (servo.velocity + 2.0).abs() < 0.01 && (servo.position + 2.0).abs() < 0.05,
        "{servo:?}"
    );
}

#[test]
fn half_the_supply_is_half_the_speed() {
    let mut servo = servo();
    (servo.torque_on, servo.mode, servo.goal_duty) = (true, Mode::Duty, 0.5);
    run(&mut servo, 1.0);
    assert!((servo.velocity - 2.5).abs() < 0.05, "{} rad/s", servo.velocity);
}

#[test]
fn a_blocked_shaft_pushes_with_what_it_may_then_overloads() {
    let mut servo = servo();
    servo.set(Trouble::Blocked, true);
    (servo.torque_on, servo.goal, servo.torque_limit) = (true, 1.0, 0.5);
    run(&mut servo, 3.0);
    assert!((servo.load() - 0.5).abs() < 1e-9, "{}", servo.load());
    assert!(!servo.is_raised(Alarm::Overload), "half of its torque is no overload");
    servo.torque_limit = 1.0;
    run(&mut servo, 1.9);
    assert!(!servo.is_raised(Alarm::Overload));
    run(&mut servo, 0.2);
    assert!(servo.is_raised(Alarm::Overload) && servo.temperature > 26.0, "{servo:?}");
    servo.set(Trouble::Blocked, false);
    run(&mut servo, 1.0);
    assert!(servo.is_raised(Alarm::Overload), "it stays until it is cleared");
    servo.clear_overload();
    assert!(!Alarm::ALL.iter().any(|alarm| servo.is_raised(*alarm)));
}

#[test]
fn stops_of_the_gears_hold() {
    let mut servo = Servo::new(1, Rating { stops: [-0.1, 0.1], ..Rating::SMALL });
    (servo.torque_on, servo.goal) = (true, 1.0);
    run(&mut servo, 1.0);
    assert!((servo.position - 0.1).abs() < 1e-12 && servo.load() > 0.99, "{servo:?}");
}

#[test]
fn a_shaft_turned_beyond_a_stop_by_hand_stays_at_it() {
    let mut servo = Servo::new(1, Rating { stops: [-0.1, 0.1], ..Rating::SMALL });
    servo.place(0.15);
    let fastest = run(&mut servo, 0.5);
    assert_eq!((servo.position, fastest), (0.1, 0.0));
}

#[test]
fn troubles_are_felt() {
    let mut servo = servo();
    (servo.torque_on, servo.goal) = (true, 1.0);
    servo.set(Trouble::Hot, true);
    run(&mut servo, 0.01);
    assert!(servo.is_raised(Alarm::Heat));
    servo.set(Trouble::Hot, false);
    servo.set(Trouble::Gone, true);
    let place = servo.position;
    run(&mut servo, 0.5);
    assert!(
        (servo.position - place).abs() < 0.05 && servo.torque_on,
        "limp, and knows nothing of it"
    );
    servo.set(Trouble::Gone, false);
    servo.set(Trouble::TorqueLost, true);
    run(&mut servo, 0.01);
    assert!(!servo.torque_on);
    servo.voltage = 3.0;
    assert!(servo.is_raised(Alarm::Voltage) && !servo.is_raised(Alarm::Heat));
}
