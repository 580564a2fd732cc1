//! Work done on a world, by closed forms, and the watch over its energy.

use karakuri_model::Shape;
use karakuri_physics::{
    BodyDescription, EnergyMonitor, Owner, Push, StepOutcome, World, WorldSettings,
};
use karakuri_spatial::{Force, Pose, Vector3};

const MASS: f64 = 2.0;

fn cube(z: f64) -> BodyDescription {
    let shape = Shape::Box { size: Vector3::repeat(0.2) };
    BodyDescription::new("cube", shape, MASS, Pose::from_xyz_rpy([0.0, 0.0, z], [0.0; 3]))
}

/// Steps, and looks at the energy after each.
fn run(world: &mut World, seconds: f64) -> EnergyMonitor {
    let mut watch = EnergyMonitor::new(world);
    let end = world.time() + seconds - 0.5 * world.settings().dt;
    while world.time() < end {
        assert!(!matches!(world.step(), StepOutcome::NonFinite(_)));
        watch.look(world);
    }
    watch
}

#[test]
fn a_push_does_the_work_of_its_way() {
    let mut world = World::new(WorldSettings { gravity: Vector3::zeros(), ..<_>::default() });
    let body = world.add_body(cube(0.0)).unwrap();
    let wrench = Force::new(Vector3::zeros(), Vector3::new(3.0, 0.0, 0.0));
    let push =
        Push { part: Owner::Body(body), point: Vector3::zeros(), wrench, from: 0.0, until: 1.0 };
    world.add_push(push).unwrap();
    let watch = run(&mut world, 2.0);
    // v = F t / m after 1 s.
    let kinetic = 0.5 * MASS * (3.0_f64 / MASS).powi(2);
    assert!((world.work_done() - kinetic).abs() < 1e-12, "{}", world.work_done());
    assert!(watch.growth() < 1e-12 && !watch.is_notable(), "{watch:?}");
}

#[test]
fn a_belt_does_twice_the_work_that_its_load_keeps() {
    let mut world = World::new(WorldSettings::default());
    let mut belt = cube(-0.1);
    (belt.fixed, belt.name) = (true, "belt".to_owned());
    belt.shape = Shape::Box { size: Vector3::new(10.0, 2.0, 0.2) };
    let belt = world.add_body(belt).unwrap();
    world.set_surface_velocity(Owner::Body(belt), Vector3::new(0.8, 0.0, 0.0)).unwrap();
    world.add_body(cube(0.1)).unwrap();
    let watch = run(&mut world, 1.0);
    // It slides at μ g until it has the belt's speed: half of the work is heat.
    let work = MASS * 0.8 * 0.8;
    assert!((world.work_done() - work).abs() < 1e-2 * work, "{} {work}", world.work_done());
    assert!(watch.growth() < 1e-6 && !watch.is_notable(), "{watch:?}");
}

#[test]
fn what_is_pushed_out_of_the_ground_grew_by_its_weight_times_the_way() {
    let mut world = World::new(WorldSettings::default());
    world.add_ground(0.5, 0.0);
    world.add_body(cube(0.06)).unwrap();
    let watch = run(&mut world, 0.5);
    assert!((watch.growth() - MASS * 9.81 * 0.04).abs() < 1e-3, "{watch:?}");
    assert!(watch.is_notable());
}

#[test]
fn a_bounce_and_a_rest_are_no_growth() {
    let mut world = World::new(WorldSettings::default());
    world.add_ground(0.5, 0.7);
    world.add_body(cube(0.4)).unwrap();
    let watch = run(&mut world, 3.0);
    assert!(watch.growth() < 1e-3 * watch.turnover() && !watch.is_notable(), "{watch:?}");
}
