use super::*;

fn at(opening: f64, gripped: bool) -> GripState {
    GripState { opening, gripped, ..GripState::default() }
}

const CLOSE: GripTask = GripTask::Close { force: 10.0, slow_below: 0.0 };

#[test]
fn the_speed_is_the_mean_since_the_last_report() {
    let mut monitor = GripMonitor::default();
    monitor.report(&at(0.04, false), GripTask::Stay, false, 0.02);
    let trend = monitor.report(&at(0.03, false), CLOSE, false, 0.02);
    assert!((trend.speed + 0.5).abs() < 1e-12, "{trend:?}");
    assert!(trend.target_force.total_cmp(&10.0).is_eq());
    let trend = monitor.report(&at(0.03, false), GripTask::Stay, false, 0.02);
    assert!(trend.speed.abs() < 1e-12 && trend.target_force.abs() < 1e-12, "{trend:?}");
}

#[test]
fn an_object_is_held_while_it_is_carried_or_pressed() {
    for (gripped, task, carries, holding) in [
        (false, CLOSE, false, false),
        (true, CLOSE, false, true),
        (true, GripTask::Stay, false, false),
        (false, GripTask::Stay, true, true),
    ] {
        let trend = GripMonitor::default().report(&at(0.0, gripped), task, carries, 0.02);
        assert_eq!(trend.holding, holding, "{gripped} {task:?} {carries}");
    }
}

#[test]
fn what_is_carried_slips_when_the_fingers_close_on() {
    for (rate, carries, slipping) in
        [(-0.0021, true, true), (-0.0019, true, false), (0.1, true, false), (-0.1, false, false)]
    {
        let mut monitor = GripMonitor::default();
        monitor.report(&at(0.04, true), CLOSE, carries, 0.02);
        let trend = monitor.report(&at(0.04 + 0.02 * rate, true), CLOSE, carries, 0.02);
        assert_eq!(trend.slipping, slipping, "{rate} m/s");
    }
}
