//! Numbers worked by hand, and the ratio against the loop's closure.

use std::f64::consts::{FRAC_PI_2, FRAC_PI_4};

use approx::assert_relative_eq;

use super::*;

/// Bars at the back, square to the straight finger: ρ = 15/50 there.
const FINGER: UnderactuatedFinger = UnderactuatedFinger {
    first_phalanx: 0.05,
    drive_link: 0.05,
    coupler: 0.061_032_778_078_668_51,
    arm: 0.015,
    arm_angle: -FRAC_PI_2,
};
const CONTACTS: [f64; 2] = [0.025, 0.02];
const TORQUES: FingerTorques = FingerTorques { drive: 1.0, spring: 0.0 };

fn bent(bend: f64, ratio: f64) -> BentFinger {
    BentFinger { first_phalanx: 0.05, bend, drive_angle: 0.0, ratio }
}

/// l₁ 50, k₁ 25, k₂ 20 mm, ρ 0.3, 1 N·m.
#[test]
fn worked_forces() {
    for (bend, first) in [(0.0, -2.0), (FRAC_PI_4, 6.7868), (FRAC_PI_2, 28.0)] {
        let forces = bent(bend, 0.3).forces(CONTACTS, &TORQUES);
        assert_relative_eq!(forces[0], first, max_relative = 1e-5);
        assert_relative_eq!(forces[1], 15.0, max_relative = 1e-12);
    }
}

/// As above with a spring of 0.1 N·m: 5 N less on the second phalanx, `T₂ (k₂ + l₁ cos θ₂)/(k₁ k₂)` more on the first.
#[test]
fn a_spring_moves_force_to_the_first_phalanx() {
    let torques = FingerTorques { spring: 0.1, ..TORQUES };
    for (bend, first) in [(0.0, -2.0 + 14.0), (FRAC_PI_2, 28.0 + 4.0)] {
        let forces = bent(bend, 0.3).forces(CONTACTS, &torques);
        assert_relative_eq!(forces[0], first, max_relative = 1e-12);
        assert_relative_eq!(forces[1], 10.0, max_relative = 1e-12);
    }
}

/// The work of drive and spring is that of the contacts, whatever moves.
#[test]
fn forces_balance_the_virtual_work() {
    let torques = FingerTorques { drive: 0.7, spring: 0.05 };
    for (bend, ratio) in [(0.2, 0.3), (1.1, 0.45), (1.9, -0.2), (0.6, 1.4)] {
        let [first, second] = bent(bend, ratio).forces(CONTACTS, &torques);
        for (v1, v2) in [(1.0, 0.0), (0.0, 1.0), (0.4, -1.3)] {
            let given = torques.drive * (v1 + ratio * v2) - torques.spring * v2;
            // Speed of the second contact along its normal, by its two coordinates.
            let (at, normal) =
                ([0.05 + 0.02 * bend.cos(), 0.02 * bend.sin()], [-bend.sin(), bend.cos()]);
            let turned = v1 * (at[0] * normal[1] - at[1] * normal[0]);
            let taken = first * 0.025 * v1 + second * (turned + 0.02 * v2);
            assert_relative_eq!(given, taken, epsilon = 1e-14, max_relative = 1e-12);
        }
    }
}

/// A stop bears `f₁ k₁ k₂/(k₂ + l₁ cos θ₂)`: the pinch is lost where the first phalanx would leave.
#[test]
fn what_the_stop_bears_is_the_first_force() {
    let torques = FingerTorques { drive: 0.7, spring: 0.05 };
    for (bend, ratio) in [(0.0, 0.3), (0.2, 0.6), (1.1, 0.45)] {
        let bent = bent(bend, ratio);
        let first = bent.forces(CONTACTS, &torques)[0];
        let bears = first * 0.025 * 0.02 / (0.02 + 0.05 * bend.cos());
        assert_relative_eq!(bent.stop_torque(0.02, &torques), bears, max_relative = 1e-12);
    }
}

#[test]
fn the_straight_finger_has_the_ratio_of_its_bars() {
    let straight = FINGER.at(0.0).unwrap();
    assert_relative_eq!(straight.ratio, 0.3, max_relative = 1e-12);
    assert_relative_eq!(straight.drive_angle, -FRAC_PI_2, max_relative = 1e-12);
    let [first, second] = straight.forces(CONTACTS, &TORQUES);
    assert_relative_eq!(first, -2.0, max_relative = 1e-11);
    assert_relative_eq!(second, 15.0, max_relative = 1e-12);
}

/// Fingers with bars at the back and at the front, with the arm shorter than the drive link, as long and longer.
fn fingers() -> [UnderactuatedFinger; 4] {
    let at_the_front =
        UnderactuatedFinger { arm_angle: 2.4, coupler: 0.04, drive_link: 0.035, ..FINGER };
    let parallel = UnderactuatedFinger { coupler: 0.05, arm: 0.05, ..FINGER };
    let long_arm = UnderactuatedFinger { coupler: 0.06, arm: 0.035, drive_link: 0.03, ..FINGER };
    [FINGER, at_the_front, parallel, long_arm]
}

#[test]
fn the_ratio_is_the_slope_of_the_drive_angle() {
    let h = 1e-5;
    for finger in fingers() {
        for bend in [-0.2, 0.0, 0.3, 0.7, 1.1] {
            let angle = |bend| finger.at(bend).unwrap().drive_angle;
            let slope = (angle(bend + h) - angle(bend - h)) / (2.0 * h);
            let ratio = finger.at(bend).unwrap().ratio;
            assert!((slope - ratio).abs() < 1e-8, "{finger:?} at {bend}: {ratio}, not {slope}");
        }
    }
    // A parallelogram keeps the second phalanx parallel to the drive link.
    assert_relative_eq!(fingers()[2].at(0.7).unwrap().ratio, 1.0, max_relative = 1e-12);
}

#[test]
fn the_coupler_fits_and_its_line_cuts_off_h() {
    for finger in fingers() {
        for bend in [-0.2, 0.0, 0.3, 0.7, 1.1] {
            let bent = finger.at(bend).unwrap();
            let (l1, angle) = (finger.first_phalanx, bend + finger.arm_angle);
            let end = [l1 + finger.arm * angle.cos(), finger.arm * angle.sin()];
            let start =
                [bent.drive_angle.cos(), bent.drive_angle.sin()].map(|x| x * finger.drive_link);
            let along = [end[0] - start[0], end[1] - start[1]];
            assert_relative_eq!(along[0].hypot(along[1]), finger.coupler, max_relative = 1e-12);
            // From joint 2 to where the coupler's line cuts that of the first phalanx.
            let h = end[0] - end[1] * along[0] / along[1] - l1;
            if h.abs() < 1e3 {
                assert_relative_eq!(bent.ratio, h / (h + l1), max_relative = 1e-11);
            }
        }
    }
}

#[test]
fn bars_that_do_not_meet_have_no_posture() {
    assert!(UnderactuatedFinger { coupler: 0.2, ..FINGER }.at(0.0).is_none());
    assert!(UnderactuatedFinger { drive_link: 0.0, ..FINGER }.at(0.0).is_none());
    // Bent, the arm's end is farther from joint 1 than drive link and coupler reach together.
    let long_arm = UnderactuatedFinger { arm: 0.045, ..fingers()[3] };
    assert!(long_arm.at(0.9).is_some() && long_arm.at(1.0).is_none());
}

/// ρ 0.3 and l₁ 50 mm: pinches from k₂ = 21.43 mm on, where f₁ of the straight finger changes its sign.
#[test]
fn a_straight_finger_pinches_far_from_its_joint() {
    let least = 0.3 * 0.05 / 0.7;
    let straight = bent(0.0, 0.3);
    assert!(straight.pinch_holds(1.001 * least, &TORQUES));
    assert!(!straight.pinch_holds(0.999 * least, &TORQUES));
    assert_relative_eq!(
        straight.stop_torque(0.03, &TORQUES),
        3.0 / 8.0 - 0.3,
        max_relative = 1e-12
    );
    assert!(straight.forces([0.025, least], &TORQUES)[0].abs() < 1e-12);
    // A spring presses on the stop as well: 2/7 − 0.3 + 0.02 at 20 mm.
    assert!(!straight.pinch_holds(0.02, &TORQUES));
    assert!(straight.pinch_holds(0.02, &FingerTorques { spring: 0.02, ..TORQUES }));
}
