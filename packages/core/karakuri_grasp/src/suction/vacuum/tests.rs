use approx::assert_relative_eq;

use super::*;

const LITRE_PER_MINUTE: f64 = 1e-3 / 60.0;
/// A line so wide that cup and manifold are one volume. [m³/(s·Pa)]
const WIDE: f64 = 1e-3;
const DT: f64 = 1e-4;

fn cup(volume: f64, leak: Leak) -> CupNode {
    CupNode { volume, conductance: WIDE, has_check_valve: false, leak, vacuum: 0.0 }
}

fn on(generator: VacuumGenerator, cups: Vec<CupNode>) -> Vacuum {
    Vacuum { generator, is_on: true, blow_off: 0.0, volume: 1e-9, vacuum: 0.0, cups }
}

/// Time until the first cup has a vacuum [Pa]. [s]
fn time_to(system: &mut Vacuum, vacuum: f64) -> f64 {
    let mut n = 0;
    while system.cups[0].vacuum < vacuum {
        system.step(DT);
        n += 1;
        assert!(n < 100_000, "{system:?}");
    }
    DT * f64::from(n)
}

fn run(system: &mut Vacuum, seconds: f64) {
    let mut time = 0.0;
    while time < seconds {
        system.step(1e-3);
        time += 1e-3;
    }
}

/// `V u_max/(p_a q₀) ln(1/(1 − u/u_max))`: 30 cm³ by 20 l/min to 60 of 85 kPa in 92 ms.
#[test]
fn a_linear_pump_evacuates_with_its_time_constant() {
    let pump = VacuumGenerator::Pump { free_flow: 20.0 * LITRE_PER_MINUTE, largest: 85e3 };
    let took = time_to(&mut on(pump, vec![cup(30e-6, Leak::none())]), 60e3);
    let tau = 30e-6 * 85e3 / (ATMOSPHERE * 20.0 * LITRE_PER_MINUTE);
    assert_relative_eq!(took, tau * (1.0_f64 / (1.0 - 60.0 / 85.0)).ln(), max_relative = 2e-3);
    assert!((took - 0.092).abs() < 6e-4, "{took} s");
}

/// Schmalz, "Evacuation time": 564 cm³ by 6.95 m³/h from 1013 to 400 mbar; without the experience factor 1.3 it is 0.27 s.
#[test]
fn a_pump_of_constant_volume_flow_takes_the_makers_time() {
    let pump = VacuumGenerator::Pump { free_flow: 6.95 / 3600.0, largest: ATMOSPHERE };
    let took = time_to(&mut on(pump, vec![cup(564e-6, Leak::none())]), ATMOSPHERE - 40e3);
    assert_relative_eq!(1.3 * took, 0.35, max_relative = 0.02);
    assert_relative_eq!(took, 564e-6 * 3600.0 / 6.95 * 2.53312_f64.ln(), max_relative = 2e-3);
}

/// `u_max/(1 + k u_max/q₀)` with a leak `k u`.
#[test]
fn a_leak_and_a_pump_find_their_balance() {
    let (free_flow, largest, k) = (20.0 * LITRE_PER_MINUTE, 85e3, 2e-9);
    let mut leak = Leak::none();
    leak.add_porous(k, 1.0);
    let mut system = on(VacuumGenerator::Pump { free_flow, largest }, vec![cup(30e-6, leak)]);
    run(&mut system, 3.0);
    let balance = largest / (1.0 + k * largest / free_flow);
    assert_relative_eq!(system.cups[0].vacuum, balance, max_relative = 1e-4);
}

#[test]
fn an_ejector_is_straight_between_its_rows() {
    let table = VacuumGenerator::Table(vec![[0.0, 3e-4], [40e3, 1e-4], [85e3, 0.0]]);
    for (vacuum, flow) in [(0.0, 3e-4), (20e3, 2e-4), (40e3, 1e-4), (62.5e3, 5e-5), (90e3, 0.0)] {
        assert_relative_eq!(flow_of(&table, vacuum), flow, epsilon = 1e-12);
    }
}

/// `V u/(p_a q_b)`.
#[test]
fn a_blow_off_lets_go_in_its_time() {
    let pump = VacuumGenerator::Pump { free_flow: 20.0 * LITRE_PER_MINUTE, largest: 85e3 };
    let mut system = on(pump, vec![cup(30e-6, Leak::none())]);
    run(&mut system, 1.0);
    let from = system.cups[0].vacuum;
    (system.is_on, system.blow_off) = (false, 1e-4);
    let mut n = 0;
    while system.cups[0].vacuum > 1.0 {
        system.step(DT);
        n += 1;
    }
    let expected = 30e-6 * from / (ATMOSPHERE * 1e-4);
    assert_relative_eq!(DT * f64::from(n), expected, max_relative = 5e-3);
}

/// One cup of four is off its object: it drains the others, unless lines are narrow or check valves close.
#[test]
fn a_lost_cup_drains_the_others_unless_it_is_restricted() {
    let others = |conductance: f64, has_check_valve: bool| {
        let pump = VacuumGenerator::Pump { free_flow: 60.0 * LITRE_PER_MINUTE, largest: 85e3 };
        let node = CupNode { conductance, has_check_valve, ..cup(20e-6, Leak::none()) };
        let mut system = on(pump, vec![node; 4]);
        run(&mut system, 1.0);
        assert!(system.cups[3].vacuum > 80e3, "{system:?}");
        system.cups[3].leak.add_slit(0.12, 1e-3, 1e-3);
        run(&mut system, 1.0);
        system.cups[0].vacuum
    };
    assert!(others(WIDE, false) < 10e3);
    // 10 l/min at 50 kPa through each.
    assert!(others(10.0 * LITRE_PER_MINUTE / 50e3, false) > 60e3);
    assert!(others(WIDE, true) > 80e3);
}

#[test]
fn a_part_is_present_lost_and_let_go() {
    let threshold = PartThreshold { present: 40e3, hysteresis: 10e3 };
    let mut part = Part::Detached;
    let mut after = |vacuum, releases| {
        part = threshold.next(part, vacuum, releases);
        part
    };
    assert_eq!(after(35e3, false), Part::Detached);
    assert_eq!(after(45e3, false), Part::Present);
    assert_eq!(after(35e3, false), Part::Present);
    assert_eq!(after(25e3, false), Part::Lost);
    assert_eq!(after(25e3, true), Part::Detached);
    assert_eq!(after(45e3, false), Part::Present);
    assert_eq!(after(45e3, true), Part::Present);
    assert_eq!(after(20e3, true), Part::Detached);
}
